//! Giving back what a shard no longer needs: segments are merged, and sparse slabs are emptied.
//! Each call does a bounded part of it, under the shard's lock.
//!
//! Merging a segment into the one it was split from:
//!
//! | step | a reader finds | a survivor finds, if we die after it |
//! |---|---|---|
//! | its slots are copied over | its own segment, whole | copies that do not belong: cleared |
//! | the directory no longer leads to it | the merged one | an unreferenced segment page: freed |
//! | the layout word rises | a reader that is still in the old one starts again | the same |
//!
//! Moving an item: a new block is written, the slot is repointed by one store, the bucket's version
//! rises, the entry of its uid changes, the old block is freed. Readers find what they find when
//! the same bytes are set again, so nothing has to be announced.

use super::dir::{depth_of, layout_word, publish_layout};
use super::displace::make_room;
use super::ghosts::forget_ghosts;
use super::hash::Hash;
use super::slots::{own_hint, put, repoint, slots_in, slots_used};
use crate::alloc::{
    Item, Step, Stop, choose_source, discard_block, give, give_empty_chunk, has_empty_chunk,
    lose_empty_page, next_used, resolve_uid, spare_source, take_block_there,
};
use crate::layout::{BUCKETS, CLASSES, Class, PageWord, SLOTS, Segment, ShardHead, slot_tag};
use crate::lock::ShardLock;
use crate::region::Region;
use crate::sync::Ordering;

/// Two segments are merged if they fill at most this many slots of one: three fifths.
const MERGE_AT_MOST: usize = BUCKETS * SLOTS * 3 / 5;
/// Directory entries that one step examines.
const ENTRIES_A_STEP: u32 = 8;
/// A class is compacted if one in this many of its blocks is free, and more than a page of them.
const SPARSE_PART: u64 = 4;

/// Returns whether the shard has far more segments than its keys need.
fn is_sparse(lock: &ShardLock<'_>) -> bool {
    let segments = u64::from(lock.head.segments.load(Ordering::Relaxed));
    let slots = slots_in(segments);
    lock.head.items.load(Ordering::Relaxed).saturating_mul(10) < slots * 3
}

/// Merges at most one pair of segments. Returns false if the cursor has come to the end of the
/// directory, or if the shard is not sparse.
pub(crate) fn shrink_step(lock: &ShardLock<'_>) -> bool {
    if lock.head.segments.load(Ordering::Relaxed) < 2 || !is_sparse(lock) {
        return false;
    }
    let depth = layout_word(lock.head)
        .depth()
        .min(lock.region.geometry().dir_log2);
    let entries = 1u32 << depth;
    for _ in 0..ENTRIES_A_STEP {
        let hand = lock.head.shrink_cursor.load(Ordering::Relaxed);
        // Downwards: children before the parents they were split from.
        let index = if hand == 0 || hand > entries {
            entries - 1
        } else {
            hand - 1
        };
        lock.head.shrink_cursor.store(index, Ordering::Relaxed);
        if index == 0 {
            return false;
        }
        if merge(lock, depth, index) {
            return true;
        }
    }
    true
}

/// Merges the segment at `index` into the one it was split from, if both are equally deep and fit.
fn merge(lock: &ShardLock<'_>, depth: u32, index: u32) -> bool {
    let (region, shard) = (lock.region, lock.number);
    let top = index.ilog2();
    let parent = index & !(1 << top);
    let page = region.dir_entry(shard, index).load(Ordering::Relaxed);
    let parent_page = region.dir_entry(shard, parent).load(Ordering::Relaxed);
    let is_leaf = depth_of(region, shard, depth, index) == top + 1
        && depth_of(region, shard, depth, parent) == top + 1;
    let (Some(from), Some(into), true) = (lock.segment(page), lock.segment(parent_page), is_leaf)
    else {
        return false;
    };
    if slots_used(from) + slots_used(into) > MERGE_AT_MOST {
        return false;
    }
    if region.is_cache() {
        [from, into].into_iter().for_each(forget_ghosts);
    }
    if !copy_all(lock, from, into) {
        uncopy(into, top);
        return false;
    }
    region.dir_entry(shard, index).store(0, Ordering::Release);
    lock.head.levels[top as usize].sub_owned(1);
    lock.head.segments.sub_owned(1);
    publish_layout(lock.head, least_depth(lock, depth));
    give(region, lock.me, &[page]);
    true
}

fn least_depth(lock: &ShardLock<'_>, depth: u32) -> u32 {
    (0..depth)
        .rev()
        .find(|top| lock.head.levels[*top as usize].load(Ordering::Relaxed) != 0)
        .map_or(0, |top| top + 1)
}

/// Copies every slot to a place in the other segment. Returns false if there was no place for one.
fn copy_all(lock: &ShardLock<'_>, from: &Segment, into: &Segment) -> bool {
    for (b, bucket) in from.buckets.iter().enumerate() {
        for (i, slot) in bucket.slots.iter().enumerate() {
            let word = slot.load(Ordering::Relaxed);
            if word == 0 {
                continue;
            }
            let tag = slot_tag(word);
            let other = super::hash::other_bucket(b as u32, tag);
            let home = if bucket.is_away(i) { other } else { b as u32 };
            let hash = Hash::in_shard(lock.number, home, tag);
            let state = bucket.state(i);
            if !put(into, hash, word, state) {
                let room = make_room(lock, into, hash.home(), 2);
                if room.is_none() || !put(into, hash, word, state) {
                    return false;
                }
            }
        }
    }
    // A scan that has passed the segment scans it again: the versions rise first, then the count,
    // and then the directory changes.
    into.buckets
        .iter()
        .for_each(|bucket| bucket.increment_version());
    let moves = lock.head.moves.load(Ordering::Relaxed);
    lock.head
        .moves
        .store(moves.wrapping_add(1), Ordering::Release);
    true
}

/// Clears the copies after a merge has failed.
fn uncopy(segment: &Segment, bit: u32) {
    for (b, bucket) in segment.buckets.iter().enumerate() {
        for (i, slot) in bucket.slots.iter().enumerate() {
            let word = slot.load(Ordering::Relaxed);
            if word != 0 && slot_tag(word) >> bit & 1 == 1 {
                let was_away = bucket.is_away(i);
                slot.store(0, Ordering::Release);
                bucket.set_slot_meta(i, 0, false);
                if was_away {
                    let home = super::hash::other_bucket(b as u32, slot_tag(word));
                    segment.buckets[home as usize].hint_down();
                }
            }
        }
        bucket.increment_version();
    }
}

/// Returns whether there may be something to shrink in a shard; needs no lock.
pub(crate) fn needs_maintenance(head: &ShardHead) -> bool {
    let segments = u64::from(head.segments.load(Ordering::Relaxed));
    let items = head.items.load(Ordering::Relaxed);
    let slots = segments * (BUCKETS * SLOTS) as u64;
    let too_many_segments = segments > u64::from(items > 0) && items.saturating_mul(10) < slots * 3;
    too_many_segments
        || has_empty_chunk(head)
        || head.source.load(Ordering::Relaxed) != 0
        || (0..CLASSES as u32).any(|number| {
            let class = &head.classes[number as usize];
            let pages = class.pages.load(Ordering::Relaxed);
            pages > 0 && (class.used.load(Ordering::Relaxed) == 0 || is_class_sparse(head, number))
        })
}

/// Frees the last segment of a shard without keys.
pub(crate) fn free_root(lock: &ShardLock<'_>) -> bool {
    let entry = lock.region.dir_entry(lock.number, 0);
    let page = entry.load(Ordering::Relaxed);
    let is_last = lock.head.segments.load(Ordering::Relaxed) == 1
        && lock.head.items.load(Ordering::Relaxed) == 0;
    if !is_last
        || lock
            .segment(page)
            .is_none_or(|segment| slots_used(segment) > 0)
    {
        return false;
    }
    entry.store(0, Ordering::Release);
    lock.head.segments.store(0, Ordering::Relaxed);
    publish_layout(lock.head, 0);
    give(lock.region, lock.me, &[page]);
    true
}

/// The result of [`compact_some`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compacted {
    /// The pool has one page more, and the shard one less.
    Page,
    /// No class has that many free blocks, or an item cannot be moved.
    Nothing,
    /// The counts of a class promised free blocks that do not exist: they are wrong.
    Contradicted,
}

/// Frees a page of a class in which as many blocks are free as a page has, by moving the items of
/// one page to the other pages.
pub(crate) fn compact_some(lock: &ShardLock<'_>, key: &mut Vec<u8>) -> Step<Compacted> {
    let free_bytes = |number: u32| {
        let (class, blocks, free) = blocks_of(lock.head, number)?;
        (blocks > u64::from(class.blocks) && free >= u64::from(class.blocks))
            .then(|| free * u64::from(class.block))
    };
    let most = (0..CLASSES as u32).max_by_key(|number| free_bytes(*number));
    let Some(number) = most.filter(|number| free_bytes(*number).is_some()) else {
        return Ok(Compacted::Nothing);
    };
    if lock.head.source.load(Ordering::Relaxed) != 0 {
        spare_source(lock);
    }
    let Some(page) = choose_source(lock, number) else {
        return Ok(Compacted::Contradicted);
    };
    let blocks = Class::get(number).map_or(0, |class| class.blocks);
    // If the counts are right, the free blocks of the other pages are enough for its items.
    if empty(lock, blocks, key)? == Emptied::NoRoom {
        return Ok(Compacted::Contradicted);
    }
    let is_free = lock.head.source.load(Ordering::Relaxed) != page && !is_slab(lock, page);
    Ok(match is_free {
        true => Compacted::Page,
        false => Compacted::Nothing,
    })
}

fn is_slab(lock: &ShardLock<'_>, page: u32) -> bool {
    class_of_page(lock.region, lock.number, page).is_some()
}

/// Returns a class, its number of blocks, and how many of them are free.
fn blocks_of(head: &ShardHead, number: u32) -> Option<(&'static Class, u64, u64)> {
    let class_head = &head.classes[number as usize];
    let class = Class::get(number)?;
    let blocks = u64::from(class_head.pages.load(Ordering::Relaxed)) * u64::from(class.blocks);
    let used = u64::from(class_head.used.load(Ordering::Relaxed));
    Some((class, blocks, blocks.saturating_sub(used)))
}

fn sparse_class(lock: &ShardLock<'_>) -> Option<u32> {
    (0..CLASSES as u32).find(|number| is_class_sparse(lock.head, *number))
}

fn is_class_sparse(head: &ShardHead, number: u32) -> bool {
    let Some((class, blocks, free)) = blocks_of(head, number) else {
        return false;
    };
    let page = u64::from(class.blocks);
    blocks > page && free > page && free * SPARSE_PART > blocks
}

/// Moves at most `most` items out of a sparse page. Returns whether there may be more to do. `key`
/// is a buffer for one key, which the caller has reserved before it locked.
pub(crate) fn empty_slabs(lock: &ShardLock<'_>, most: u32, key: &mut Vec<u8>) -> Step<bool> {
    Ok(empty(lock, most, key)? == Emptied::Some)
}

/// The result of moving items out of a page.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Emptied {
    /// There may be more to do.
    Some,
    /// There is nothing to do, or an item cannot be moved.
    Nothing,
    /// The other pages of the class have no free block.
    NoRoom,
}

fn empty(lock: &ShardLock<'_>, most: u32, key: &mut Vec<u8>) -> Step<Emptied> {
    let mut page = lock.head.source.load(Ordering::Relaxed);
    if page == 0 {
        (0..CLASSES as u32).for_each(|number| lose_empty_page(lock, number));
        give_empty_chunk(lock);
        let Some(number) = sparse_class(lock) else {
            return Ok(Emptied::Nothing);
        };
        let Some(chosen) = choose_source(lock, number) else {
            return Ok(Emptied::Nothing);
        };
        page = chosen;
    }
    let Some((number, class)) = class_of_page(lock.region, lock.number, page) else {
        spare_source(lock);
        return Ok(Emptied::Some);
    };
    for _ in 0..most {
        if lock.head.source.load(Ordering::Relaxed) != page {
            return Ok(Emptied::Some);
        }
        let from = lock.head.source_block.load(Ordering::Relaxed);
        let Some((block, item_ref)) = next_used(lock, page, class, from) else {
            spare_source(lock);
            return Ok(Emptied::Some);
        };
        lock.head.source_block.store(block + 1, Ordering::Relaxed);
        match move_item(lock, number, item_ref, key) {
            Ok(Moved::Away) => {}
            // The page stays as it is.
            Ok(Moved::NoRoom) => {
                spare_source(lock);
                return Ok(Emptied::NoRoom);
            }
            Ok(Moved::Not) | Err(Stop::Need(_)) => {
                spare_source(lock);
                return Ok(Emptied::Nothing);
            }
            Err(stop) => return Err(stop),
        }
    }
    Ok(Emptied::Some)
}

fn class_of_page(region: &Region, shard: u32, page: u32) -> Option<(u32, &'static Class)> {
    if !region.is_page(page) {
        return None;
    }
    match PageWord::decode(region.page_word(page).load(Ordering::Relaxed)) {
        PageWord::Slab {
            shard: owner,
            class,
        } if owner == shard => Some((class, Class::get(class)?)),
        _ => None,
    }
}

/// The result of moving one item.
enum Moved {
    Away,
    /// The other pages of its class have no free block.
    NoRoom,
    /// It cannot be moved: its key is too long, it is damaged, or no slot leads to it.
    Not,
}

fn move_item(lock: &ShardLock<'_>, class: u32, old: u64, key: &mut Vec<u8>) -> Step<Moved> {
    let (Some(item), Some(shape)) = (Item::at(lock.region, old), Class::get(class)) else {
        return Ok(Moved::Not);
    };
    let fits = item.block_bytes() <= u64::from(shape.block);
    if !fits || item.key_len() > key.capacity() as u64 {
        return Ok(Moved::Not);
    }
    key.clear();
    if !item.copy_key(key) {
        return Ok(Moved::Not);
    }
    let hash = Hash::of_item(&item, key);
    // A uid that leads elsewhere is damage: the item stays where it is.
    let Ok(hint) = own_hint(lock, &item) else {
        return Ok(Moved::Not);
    };
    // Taking a page from the pool would cost the page that this is to free.
    let Some(new) = take_block_there(lock, class)? else {
        return Ok(Moved::NoRoom);
    };
    item.move_to(new);
    if hash.shard() == lock.number && repoint(lock, hash, old, new)? {
        resolve_uid(lock, hint, new);
        discard_block(lock, old)?;
        return Ok(Moved::Away);
    }
    discard_block(lock, new)?;
    Ok(Moved::Not)
}

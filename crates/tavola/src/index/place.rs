//! Placing, moving and removing keys under the shard's lock.

use super::find::{Found, segment_of};
use super::group::matches;
use super::hash::{Hash, other_bucket};
use super::split::{new_root, split};
use crate::alloc::{Step, announce, corrupt, discard, free_uid, settle_uid};
use crate::layout::{Bucket, Hint, SLOTS, Segment, slot_ref, slot_tag, slot_word};
use crate::lock::ShardLock;
use crate::sync::{Ordering, prefetch};

/// Splits in a row before an insert gives up: each halves the keys of the segment.
const MOST_SPLITS: u32 = 8;

/// Lets a key lead to another item, by one store; and its uid, which is that of the new item. The
/// old item may be freed after this.
#[inline(always)]
pub(crate) fn replace(
    lock: &ShardLock<'_>,
    found: &Found<'_>,
    hash: Hash,
    item_ref: u64,
    hint: Hint,
) {
    announce(lock, hint, item_ref);
    // Pairs with the acquire load of the slot in `read`: the item's bytes are seen.
    found.bucket.slots[found.slot].store(slot_word(hash.tag(), item_ref), Ordering::Release);
    found.bucket.bump();
    settle_uid(lock, hint, item_ref);
}

/// Takes a key out, and its uid. Its item may be freed after this.
#[inline(always)]
pub(crate) fn remove(lock: &ShardLock<'_>, found: &Found<'_>) -> Step<()> {
    let hint = found.hint(lock)?;
    announce(lock, hint, found.item_ref);
    found.bucket.slots[found.slot].store(0, Ordering::Release);
    found.bucket.bump();
    free_uid(lock, hint);
    if found.bucket.is_away(found.slot) {
        found.bucket.set_slot_meta(found.slot, false);
        found.home.hint_down();
    }
    Ok(())
}

/// Takes a key out and frees its item.
#[inline(always)]
pub(crate) fn drop_key(lock: &ShardLock<'_>, found: &Found<'_>) -> Step<()> {
    remove(lock, found)?;
    lock.head.items.sub_owned(1);
    lock.head.payload.sub_owned(found.payload);
    discard(lock, found.item_ref)
}

/// Puts a key that is not there yet into the index, by one store, and its uid. The segment is that
/// of its [`Spot`], found under this hold of the lock.
#[inline(always)]
pub(crate) fn insert(
    lock: &ShardLock<'_>,
    hash: Hash,
    segment: Option<&Segment>,
    item_ref: u64,
    hint: Hint,
) -> Step<()> {
    announce(lock, hint, item_ref);
    let word = slot_word(hash.tag(), item_ref);
    let is_put = segment.is_some_and(|segment| put(segment, hash, word));
    if !is_put {
        insert_crowded(lock, hash, word)?;
    }
    settle_uid(lock, hint, item_ref);
    Ok(())
}

/// Both buckets are full, or there is no segment yet.
#[cold]
fn insert_crowded(lock: &ShardLock<'_>, hash: Hash, word: u64) -> Step<()> {
    for _ in 0..MOST_SPLITS {
        let Some(segment) = segment_of(lock, hash)? else {
            new_root(lock)?;
            continue;
        };
        if put(segment, hash, word) {
            return Ok(());
        }
        let room = make_room(lock, segment, hash.home(), 2)
            .or_else(|| make_room(lock, segment, hash.away(), 2));
        if room.is_some() && put(segment, hash, word) {
            return Ok(());
        }
        split(lock, hash.tag())?;
    }
    corrupt("an index that splits without end")
}

/// Puts the word into a free slot of the home bucket or of the other one.
#[inline(always)]
pub(super) fn put(segment: &Segment, hash: Hash, word: u64) -> bool {
    let home = &segment.buckets[hash.home() as usize];
    if let Some(slot) = free_slot(home) {
        home.set_slot_meta(slot, false);
        // Pairs with the acquire load of the slot in `read`: the item's bytes are seen.
        home.slots[slot].store(word, Ordering::Release);
        return true;
    }
    let away = &segment.buckets[hash.away() as usize];
    if let Some(slot) = free_slot(away) {
        home.hint_up();
        away.set_slot_meta(slot, true);
        // As above; and the hint is seen by who sees the slot's absence elsewhere.
        away.slots[slot].store(word, Ordering::Release);
        return true;
    }
    false
}

#[inline(always)]
pub(super) fn free_slot(bucket: &Bucket) -> Option<usize> {
    matches(bucket, 0).find(|slot| bucket.slots[*slot].load(Ordering::Relaxed) == 0)
}

/// Frees a slot of a full bucket by moving residents to their other buckets, `moves` at most.
pub(super) fn make_room(
    lock: &ShardLock<'_>,
    segment: &Segment,
    bucket: u32,
    moves: u32,
) -> Option<usize> {
    let b = &segment.buckets[bucket as usize];
    let others: [u32; SLOTS] = std::array::from_fn(|slot| {
        other_bucket(bucket, slot_tag(b.slots[slot].load(Ordering::Relaxed)))
    });
    // One wait for all of them.
    for other in others {
        prefetch(&segment.buckets[other as usize]);
    }
    for (slot, other) in others.iter().enumerate() {
        if let Some(free) = free_slot(&segment.buckets[*other as usize]) {
            move_key(lock, segment, (bucket, slot), (*other, free));
            return Some(slot);
        }
    }
    if moves < 2 {
        return None;
    }
    for (slot, other) in others.iter().enumerate() {
        if let Some(free) = make_room(lock, segment, *other, moves - 1) {
            move_key(lock, segment, (bucket, slot), (*other, free));
            return Some(slot);
        }
    }
    None
}

/// Moves a key to its other bucket: there first, then away from here (I3).
pub(super) fn move_key(
    lock: &ShardLock<'_>,
    segment: &Segment,
    from: (u32, usize),
    to: (u32, usize),
) {
    let (source, target) = (
        &segment.buckets[from.0 as usize],
        &segment.buckets[to.0 as usize],
    );
    let was_away = source.is_away(from.1);
    if !was_away {
        source.hint_up();
    }
    target.set_slot_meta(to.1, !was_away);
    target.slots[to.1].store(
        source.slots[from.1].load(Ordering::Relaxed),
        Ordering::Release,
    );
    target.bump();
    // Iterators that miss the key on both sides see this count changed.
    lock.head.moves.add_owned(1);
    source.slots[from.1].store(0, Ordering::Release);
    source.bump();
    source.set_slot_meta(from.1, false);
    if was_away {
        target.hint_down();
    }
}

/// Lets the slot that leads to `old` lead to `new`; false: no slot of that key does.
pub(crate) fn repoint(lock: &ShardLock<'_>, hash: Hash, old: u64, new: u64) -> Step<bool> {
    let Some(segment) = segment_of(lock, hash)? else {
        return Ok(false);
    };
    for bucket in [hash.home(), hash.away()] {
        let bucket = &segment.buckets[bucket as usize];
        for slot in matches(bucket, hash.tag()) {
            if slot_ref(bucket.slots[slot].load(Ordering::Relaxed)) == old {
                bucket.slots[slot].store(slot_word(hash.tag(), new), Ordering::Release);
                bucket.bump();
                return Ok(true);
            }
        }
    }
    Ok(false)
}

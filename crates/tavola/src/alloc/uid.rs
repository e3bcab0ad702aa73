//! Uids: allocating and freeing them, and changing their entries. All of it is done under the
//! shard's lock.
//!
//! Every write that concerns a uid keeps this order: the entry becomes `InTransition`; the slot is
//! stored and its bucket's version rises; the entry becomes `Live` or `Free`; only then is the old
//! block freed. A reader that finds `InTransition` reads by key: so both ways to a value agree at
//! every moment. If the writer dies in between, the entry stays `InTransition` until recovery
//! rebuilds the entries from the items.

use super::{Item, Need, Step, Stop, corrupt, pool};
use crate::error::Error;
use crate::layout::{
    Hint, PageWord, UID_ENTRIES, UID_FIRST, UID_UNBACKED, UidEntry, UidLayout, UidPage, UidPlace,
};
use crate::lock::ShardLock;
use crate::region::Region;
use crate::sync::{Ordering, W64};

const NO_UIDS: &str = "all uids of a shard are in use; create the table with more shards";

/// Returns the page of a chunk, or `None` if the chunk never existed, was given back, or is
/// damaged.
pub(crate) fn chunk_page(region: &Region, shard: u32, chunk: u32) -> Option<u32> {
    let layout = UidLayout(region.shard(shard).uid_layout.load(Ordering::Relaxed));
    if chunk >= layout.chunks().min(1 << region.geometry().uid_dir_log2) {
        return None;
    }
    let page = region.uid_dir(shard, chunk).load(Ordering::Relaxed);
    let state = PageWord::Uids { shard, chunk }.encode();
    let is_chunk = region.is_page(page) && region.page_word(page).load(Ordering::Relaxed) == state;
    is_chunk.then_some(page)
}

fn layout_of(lock: &ShardLock<'_>) -> UidLayout {
    UidLayout(lock.head.uid_layout.load(Ordering::Relaxed))
}

/// Returns the entry of a uid of this shard.
pub(crate) fn entry_of(region: &Region, shard: u32, hint: Hint) -> Option<&W64> {
    let place = UidPlace::of(hint.uid(), region.geometry().shards_log2);
    if place.shard != shard || place.entry < UID_FIRST {
        return None;
    }
    region.uid_entry(chunk_page(region, shard, place.chunk)?, place.entry)
}

/// Returns whether a uid leads to this item, as it should. A damaged uid is not followed.
pub(crate) fn leads_to(lock: &ShardLock<'_>, hint: Hint, item_ref: u64) -> bool {
    entry_of(lock.region, lock.number, hint).is_some_and(|entry| {
        UidEntry::decode(entry.load(Ordering::Relaxed)) == UidEntry::Live { item_ref }
    })
}

/// Returns for how many epochs of its shard a tag was not used, or 0 if there is no such tag.
/// Without the lock, the entry may belong to another tag by now.
#[inline]
pub(crate) fn unused_for(region: &Region, tag: Hint) -> u64 {
    let shard = region.uid_place(tag.uid()).shard;
    let epoch = region.shard(shard).tag_epoch.load(Ordering::Relaxed);
    entry_of(region, shard, tag).map_or(0, |entry| {
        UidEntry::unused_for(entry.load(Ordering::Relaxed), epoch)
    })
}

/// Notes that a tag is used, if it still exists.
pub(crate) fn mark_use(lock: &ShardLock<'_>, tag: Hint) {
    let Some(entry) = entry_of(lock.region, lock.number, tag) else {
        return;
    };
    let word = entry.load(Ordering::Relaxed);
    let UidEntry::Live { item_ref } = UidEntry::decode(word) else {
        return;
    };
    if Item::at(lock.region, item_ref).is_some_and(|item| item.is_tag() && item.hint() == tag) {
        let epoch = lock.head.tag_epoch.load(Ordering::Relaxed);
        // A process that reads by uid at this moment reads again.
        entry.store(UidEntry::used_in(word, epoch), Ordering::Release);
    }
}

/// Allocates a uid. Its entry stays `Free` until it becomes `InTransition`.
pub(crate) fn take_uid(lock: &ShardLock<'_>) -> Step<Hint> {
    if lock.region.fixed().is_some_and(|fixed| !fixed.uids) {
        return Err(Stop::Fail(Error::NoUids));
    }
    let chunk = match lock.head.uid_partial.load(Ordering::Relaxed) {
        0 => add_chunk(lock)?,
        partial => partial - 1,
    };
    let found = chunk_page(lock.region, lock.number, chunk).and_then(|page| {
        let head = lock.region.uid_page(page);
        let entry = head.free.load(Ordering::Relaxed);
        let word = lock.region.uid_entry(page, entry)?.load(Ordering::Relaxed);
        match UidEntry::decode(word) {
            UidEntry::Free { next } if (UID_FIRST..UID_ENTRIES).contains(&entry) => {
                Some((head, entry, next))
            }
            _ => None,
        }
    });
    let Some((head, entry, next)) = found else {
        return corrupt("the list of free uids");
    };
    head.free.store(next, Ordering::Relaxed);
    head.used.add_owned(1);
    if next == 0 {
        unlink_chunk(lock, chunk, head);
    }
    lock.head.uids.add_owned(1);
    let generation = next_generation(lock);
    let place = UidPlace {
        shard: lock.number,
        chunk,
        entry,
    };
    let uid = place.uid(lock.region.geometry().shards_log2);
    Ok(Hint::new(uid, generation))
}

/// Returns the generation of the next uid.
///
/// A region that is new may be the memory of a table that had another one before, and programs may
/// still have hints and tags of that. So a region does not begin with 1, but with a number of its
/// own that was drawn at random when it was made: a part of its uuid.
fn next_generation(lock: &ShardLock<'_>) -> u32 {
    let births = &lock.head.uid_births;
    let last = match births.load(Ordering::Relaxed) {
        0 => lock.region.superblock().uuid[0].load(Ordering::Relaxed) as u32,
        last => last,
    };
    let generation = last.wrapping_add(1).max(1);
    births.store(generation, Ordering::Relaxed);
    generation
}

/// Marks the entry of a uid as in transition, before its key leads to another item, which is this
/// one, or is removed: readers by uid read by key from here on (UID-1). Does nothing without a uid.
#[inline(always)]
pub(crate) fn announce(lock: &ShardLock<'_>, hint: Hint, item_ref: u64) {
    if hint.is_some() {
        change(lock, hint, UidEntry::InTransition { item_ref });
    }
}

/// Lets the entry of a uid lead to this item, after its key does, and before the old item is freed
/// (UID-1). Does nothing without a uid.
#[inline(always)]
pub(crate) fn resolve_uid(lock: &ShardLock<'_>, hint: Hint, item_ref: u64) {
    if hint.is_some() {
        change(lock, hint, UidEntry::Live { item_ref });
    }
}

#[cold]
fn change(lock: &ShardLock<'_>, hint: Hint, state: UidEntry) {
    if let Some(entry) = entry_of(lock.region, lock.number, hint) {
        store(lock, entry, state);
    }
}

/// Changes an entry. If its version wraps around, the layout word rises, so that readers notice.
pub(crate) fn store(lock: &ShardLock<'_>, entry: &W64, state: UidEntry) {
    let (word, wraps) = state.after(entry.load(Ordering::Relaxed));
    if wraps {
        count_change(lock, layout_of(lock).chunks());
    }
    // Pairs with the acquire load of the entry in `index::by_uid`.
    entry.store(word, Ordering::Release);
}

/// Counts a change in the layout word, and stores how many chunks there ever were.
pub(crate) fn count_change(lock: &ShardLock<'_>, chunks: u32) {
    let layout = layout_of(lock).changed(chunks);
    // Pairs with the acquire load of the word in `index::by_uid`: a reader that sees the count sees
    // those chunks. Also pairs with the fence there: a reader that saw what is now gone sees the
    // new word.
    lock.head.uid_layout.store(layout.0, Ordering::Release);
}

/// Frees a uid. Does nothing without a uid.
pub(crate) fn free_uid(lock: &ShardLock<'_>, hint: Hint) {
    if !hint.is_some() {
        return;
    }
    let place = UidPlace::of(hint.uid(), lock.region.geometry().shards_log2);
    let (Some(entry), Some(page)) = (
        entry_of(lock.region, lock.number, hint),
        chunk_page(lock.region, lock.number, place.chunk),
    ) else {
        return;
    };
    let head = lock.region.uid_page(page);
    let next = head.free.load(Ordering::Relaxed);
    store(lock, entry, UidEntry::Free { next });
    head.free.store(place.entry, Ordering::Relaxed);
    head.used.sub_owned(1);
    lock.head.uids.sub_owned(1);
    if next == 0 {
        link_chunk(lock, place.chunk, head);
    }
    let is_alone = head.next.load(Ordering::Relaxed) == 0 && head.prev.load(Ordering::Relaxed) == 0;
    if !is_alone && is_empty(lock.region, page) {
        // One empty chunk stays, so that taking and freeing a uid in turn does not fetch a chunk
        // each time.
        give_chunk(lock, place.chunk, page);
    }
}

/// Adds a chunk, all of whose entries are free.
#[cold]
fn add_chunk(lock: &ShardLock<'_>) -> Step<u32> {
    let (head, shard) = (lock.head, lock.number);
    let layout = layout_of(lock);
    let unbacked = head.uid_unbacked.load(Ordering::Relaxed);
    let chunk = unbacked.checked_sub(1).unwrap_or(layout.chunks());
    if chunk >= 1 << lock.region.geometry().uid_dir_log2 {
        return Err(Stop::Fail(Error::Full { reason: NO_UIDS }));
    }
    if chunk >= head.uid_backed.load(Ordering::Relaxed) {
        return Err(Stop::Need(Need::UidDirectory { shard }));
    }
    let dir_entry = lock.region.uid_dir(shard, chunk);
    let was = dir_entry.load(Ordering::Relaxed);
    if unbacked != 0 && was & UID_UNBACKED == 0 {
        return corrupt("the list of uid chunks");
    }
    let next_unbacked = next_unbacked(was);
    let (page, _) = pool::take(lock.region, lock.me, PageWord::Uids { shard, chunk })?;
    free_entries(lock.region, page);
    // Pairs with the acquire load of the entry in `index::by_uid`: a reader sees the chunk's
    // entries.
    dir_entry.store(page, Ordering::Release);
    if unbacked != 0 {
        head.uid_unbacked.store(next_unbacked, Ordering::Relaxed);
    } else {
        count_change(lock, chunk + 1);
    }
    link_chunk(lock, chunk, lock.region.uid_page(page));
    Ok(chunk)
}

/// Fills the entries of a new chunk, which no reader can reach yet.
fn free_entries(region: &Region, page: u32) {
    let head = region.uid_page(page);
    head.used.store(0, Ordering::Relaxed);
    head.free.store(UID_FIRST, Ordering::Relaxed);
    for entry in UID_FIRST..UID_ENTRIES {
        let next = (entry + 1) % UID_ENTRIES;
        if let Some(word) = region.uid_entry(page, entry) {
            word.store(UidEntry::Free { next }.after(0).0, Ordering::Relaxed);
        }
    }
}

/// Returns one more than the number of the next chunk in the list of those that were given back, or
/// 0 at its end.
pub(crate) fn next_unbacked(entry: u32) -> u32 {
    if entry & UID_UNBACKED != 0 {
        entry & !UID_UNBACKED
    } else {
        0
    }
}

/// Empties the lists of chunks, for recovery to rebuild them.
pub(crate) fn forget_chunks(lock: &ShardLock<'_>) {
    lock.head.uid_partial.store(0, Ordering::Relaxed);
    lock.head.uid_unbacked.store(0, Ordering::Relaxed);
}

/// Makes a chunk one without a page.
pub(crate) fn make_unbacked(lock: &ShardLock<'_>, chunk: u32) {
    let next = lock.head.uid_unbacked.load(Ordering::Relaxed);
    let entry = lock.region.uid_dir(lock.number, chunk);
    // A reader that sees this finds no chunk there. A reader that has found the old page rejects
    // what it read, as the layout word rises next.
    entry.store(UID_UNBACKED | next, Ordering::Relaxed);
    lock.head.uid_unbacked.store(chunk + 1, Ordering::Relaxed);
}

/// Returns whether no entry of a chunk is in use: its counter alone may be wrong.
fn is_empty(region: &Region, page: u32) -> bool {
    region.uid_page(page).used.load(Ordering::Relaxed) == 0
        && (UID_FIRST..UID_ENTRIES).all(|entry| {
            region.uid_entry(page, entry).is_some_and(|word| {
                let state = UidEntry::decode(word.load(Ordering::Relaxed));
                matches!(state, UidEntry::Free { .. })
            })
        })
}

/// Gives back a chunk of which no uid is in use.
fn give_chunk(lock: &ShardLock<'_>, chunk: u32, page: u32) {
    unlink_chunk(lock, chunk, lock.region.uid_page(page));
    make_unbacked(lock, chunk);
    // Before the page's bytes mean something else (UID-2).
    count_change(lock, layout_of(lock).chunks());
    pool::give(lock.region, lock.me, &[page]);
}

/// Returns whether a shard in which no uid is in use has kept a chunk; needs no lock.
pub(crate) fn has_empty_chunk(head: &crate::layout::ShardHead) -> bool {
    head.uids.load(Ordering::Relaxed) == 0 && head.uid_partial.load(Ordering::Relaxed) != 0
}

/// Gives back the empty chunk that a shard may have kept.
pub(crate) fn give_empty_chunk(lock: &ShardLock<'_>) {
    if !has_empty_chunk(lock.head) {
        return;
    }
    let chunk = lock.head.uid_partial.load(Ordering::Relaxed) - 1;
    if let Some(page) = chunk_page(lock.region, lock.number, chunk)
        && is_empty(lock.region, page)
    {
        give_chunk(lock, chunk, page);
    }
}

/// Puts a chunk into the list of those with a free entry.
pub(crate) fn link_chunk(lock: &ShardLock<'_>, chunk: u32, head: &UidPage) {
    let first = lock.head.uid_partial.load(Ordering::Relaxed);
    head.next.store(first, Ordering::Relaxed);
    head.prev.store(0, Ordering::Relaxed);
    if let Some(other) = listed(lock, first) {
        other.prev.store(chunk + 1, Ordering::Relaxed);
    }
    lock.head.uid_partial.store(chunk + 1, Ordering::Relaxed);
}

fn unlink_chunk(lock: &ShardLock<'_>, chunk: u32, head: &UidPage) {
    let next = head.next.load(Ordering::Relaxed);
    let prev = head.prev.load(Ordering::Relaxed);
    if let Some(other) = listed(lock, next) {
        other.prev.store(prev, Ordering::Relaxed);
    }
    match listed(lock, prev) {
        Some(other) => other.next.store(next, Ordering::Relaxed),
        None if lock.head.uid_partial.load(Ordering::Relaxed) == chunk + 1 => {
            lock.head.uid_partial.store(next, Ordering::Relaxed);
        }
        None => {}
    }
    head.next.store(0, Ordering::Relaxed);
    head.prev.store(0, Ordering::Relaxed);
}

/// Returns the head of a chunk that a list names by one more than its number.
fn listed<'a>(lock: &ShardLock<'a>, number: u32) -> Option<&'a UidPage> {
    let page = chunk_page(lock.region, lock.number, number.checked_sub(1)?)?;
    Some(lock.region.uid_page(page))
}

//! Recovery and check of the uid table: its entries follow from the items that the index leads to.
//!
//! 1. Every `Live` entry becomes `InTransition`. From then on readers by uid read by key, which
//!    finds what the index finds. The uid layout word rises, as chunks may be given back in step 3.
//! 2. Each item that the index leads to, and that has a uid, makes its entry `Live`.
//! 3. An entry that is still `InTransition` belongs to no key and becomes free. Chunks without a
//!    uid are given back.

use super::report::CheckReport;
use crate::alloc::{
    Item, chunk_page, count_change, entry_of, forget_chunks, link_chunk, make_unbacked,
    next_unbacked, resolve_uid, store_entry,
};
use crate::layout::{UID_ENTRIES, UID_FIRST, UidEntry, UidLayout};
use crate::lock::ShardLock;
use crate::region::Region;
use crate::sync::{Ordering, W64};

/// Returns how many chunks the shard has had, bounded in case the word is damaged.
fn chunks(region: &Region, shard: u32) -> u32 {
    let head = region.shard(shard);
    UidLayout(head.uid_layout.load(Ordering::Relaxed))
        .chunks()
        .min(head.uid_backed.load(Ordering::Relaxed))
        .min(1 << region.geometry().uid_dir_log2)
}

fn entries(region: &Region, page: u32) -> impl Iterator<Item = (u32, &W64)> {
    (UID_FIRST..UID_ENTRIES).filter_map(move |entry| Some((entry, region.uid_entry(page, entry)?)))
}

fn state_of(entry: &W64) -> UidEntry {
    UidEntry::decode(entry.load(Ordering::Relaxed))
}

/// Step 1: makes every entry in use `InTransition`.
pub(super) fn forget(lock: &ShardLock<'_>) {
    let chunks = chunks(lock.region, lock.number);
    count_change(lock, chunks);
    for chunk in 0..chunks {
        let Some(page) = chunk_page(lock.region, lock.number, chunk) else {
            continue;
        };
        for (_, entry) in entries(lock.region, page) {
            if let UidEntry::Live { item_ref } = state_of(entry) {
                store_entry(lock, entry, UidEntry::InTransition { item_ref });
            }
        }
    }
}

/// Step 2, for one item: makes its entry `Live`. If the uid cannot belong to the item, because
/// another item has the entry or the chunk is missing, it is removed from the item.
pub(super) fn claim(lock: &ShardLock<'_>, item: &Item<'_>) {
    let hint = item.hint();
    if !hint.is_some() {
        return;
    }
    let is_own = entry_of(lock.region, lock.number, hint)
        .is_some_and(|entry| !matches!(state_of(entry), UidEntry::Live { .. }));
    if is_own {
        resolve_uid(lock, hint, item.item_ref);
    } else {
        item.forget_hint();
    }
}

/// Step 3: frees the entries that no item claimed, and rebuilds the lists of chunks.
pub(super) fn resolve(lock: &ShardLock<'_>) {
    forget_chunks(lock);
    let chunks = chunks(lock.region, lock.number);
    let mut uids = 0;
    // From the last to the first, so that the lowest chunk is the first of the list.
    for chunk in (0..chunks).rev() {
        let Some(page) = chunk_page(lock.region, lock.number, chunk) else {
            make_unbacked(lock, chunk);
            continue;
        };
        let head = lock.region.uid_page(page);
        let (mut used, mut free) = (0, 0);
        for entry in (UID_FIRST..UID_ENTRIES).rev() {
            let Some(word) = lock.region.uid_entry(page, entry) else {
                continue;
            };
            if matches!(state_of(word), UidEntry::Live { .. }) {
                used += 1;
            } else {
                if state_of(word) != (UidEntry::Free { next: free }) {
                    store_entry(lock, word, UidEntry::Free { next: free });
                }
                free = entry;
            }
        }
        head.used.store(used, Ordering::Relaxed);
        head.free.store(free, Ordering::Relaxed);
        if used == 0 {
            // Nothing leads to its page now, and `resolve_all` gives it to the pool.
            make_unbacked(lock, chunk);
        } else if free != 0 {
            link_chunk(lock, chunk, head);
        }
        uids += u64::from(used);
    }
    lock.head.uids.store(uids, Ordering::Relaxed);
    // Must precede any reuse of the pages of the chunks that were given back (UID-2).
    count_change(lock, chunks);
}

/// Returns whether the uid of an item leads back to it, or `None` if it has no uid.
pub(super) fn is_own(region: &Region, shard: u32, item: &Item<'_>) -> Option<bool> {
    let hint = item.hint();
    let item_ref = item.item_ref;
    hint.is_some().then(|| {
        entry_of(region, shard, hint)
            .is_some_and(|entry| state_of(entry) == UidEntry::Live { item_ref })
    })
}

/// Checks a shard's uid table and returns how many pages it has. `reached` is the number of uids
/// that the shard's items have.
pub(super) fn check(region: &Region, shard: u32, reached: u64, report: &mut CheckReport) -> u64 {
    let head = region.shard(shard);
    let (mut uids, mut pages, mut partial, mut unbacked) = (0, 0, 0, 0);
    for chunk in 0..chunks(region, shard) {
        let Some(page) = chunk_page(region, shard, chunk) else {
            unbacked += 1;
            continue;
        };
        pages += 1;
        let (mut used, mut free) = (0, 0);
        for (entry, word) in entries(region, page) {
            match state_of(word) {
                UidEntry::Live { .. } => used += 1,
                UidEntry::Free { .. } => free += 1,
                _ => report.problem(|| {
                    format!("shard {shard}: entry {entry} of uid chunk {chunk} is no one's")
                }),
            }
        }
        let listed = free_len(region, page);
        let counted = region.uid_page(page).used.load(Ordering::Relaxed);
        report.expect(listed == free && counted == used, || {
            format!(
                "shard {shard}: uid chunk {chunk} has {used} uids and {free} free ones, its \
                 counter says {counted}, its list {listed}"
            )
        });
        uids += u64::from(used);
        partial += u32::from(free > 0);
    }
    let counted = head.uids.load(Ordering::Relaxed);
    report.expect(uids == reached && uids == counted, || {
        format!("shard {shard}: {uids} uids, {reached} are reachable, the counter says {counted}")
    });
    let next = |chunk| {
        let page = chunk_page(region, shard, chunk)?;
        Some(region.uid_page(page).next.load(Ordering::Relaxed))
    };
    let listed = list_len(head.uid_partial.load(Ordering::Relaxed), partial, next);
    report.expect(listed == partial, || {
        format!("shard {shard}: {partial} uid chunks have free uids, the list has {listed}")
    });
    let listed = list_len(
        head.uid_unbacked.load(Ordering::Relaxed),
        unbacked,
        |chunk| {
            Some(next_unbacked(
                region.uid_dir(shard, chunk).load(Ordering::Relaxed),
            ))
        },
    );
    report.expect(listed == unbacked, || {
        format!("shard {shard}: {unbacked} uid chunks were given back, the list has {listed}")
    });
    pages
}

/// Returns the length of a chunk's list of free entries.
fn free_len(region: &Region, page: u32) -> u32 {
    let mut entry = region.uid_page(page).free.load(Ordering::Relaxed);
    let mut len = 0;
    while (UID_FIRST..UID_ENTRIES).contains(&entry) && len < UID_ENTRIES {
        len += 1;
        entry = match region.uid_entry(page, entry).map(state_of) {
            Some(UidEntry::Free { next }) => next,
            _ => 0,
        };
    }
    len
}

/// Returns the length of a list of chunks, whose links are chunk numbers plus 1.
fn list_len(first: u32, most: u32, next: impl Fn(u32) -> Option<u32>) -> u32 {
    let (mut number, mut len) = (first, 0);
    while number != 0 && len <= most {
        len += 1;
        number = next(number - 1).unwrap_or(0);
    }
    len
}

//! Tells those who watch a key that it has changed.
//!
//! | step, under the shard's lock | a watcher finds | a survivor finds, if we die after it |
//! |---|---|---|
//! | the key's slot or value is stored | the new value, when it looks | the lock of a dead owner |
//! | `changes` of the records rises | that it has changed | the same: recovery tells all again |
//! | those who sleep are woken | | the same |
//!
//! `watched` of the shard head says whether there may be a watcher: the one load that a write
//! costs without one. It is set under the lock before a record counts, and made 0 under the lock
//! by a write that finds every record over.

use super::hash::Hash;
use crate::alloc::Item;
use crate::layout::WATCHES;
use crate::lock::{ShardLock, wake};
use crate::region::Region;
use crate::sync::{Ordering, fence};

/// Whether keys of the shard may be watched. Under its lock.
#[inline(always)]
pub(crate) fn is_watched(lock: &ShardLock<'_>) -> bool {
    lock.head.watched.load(Ordering::Relaxed) != 0
}

/// Which key an item that is about to be dropped has; `None` if its bytes do not say so.
#[cold]
#[inline(never)]
pub(super) fn key_of(lock: &ShardLock<'_>, item_ref: u64) -> Option<Hash> {
    let item = Item::at(lock.region, item_ref)?;
    let mut key = Vec::new();
    item.copy_key(&mut key).then(|| Hash::of_item(&item, &key))
}

/// Counts a change of this key, or of all keys of the shard, and wakes.
#[cold]
#[inline(never)]
pub(super) fn wake_watchers(lock: &ShardLock<'_>, hash: Option<Hash>) {
    if !wake_shard(lock.region, lock.number, hash) {
        lock.head.watched.store(0, Ordering::Relaxed);
    }
}

/// As [`tell`]. False: every record is over.
fn wake_shard(region: &Region, shard: u32, hash: Option<Hash>) -> bool {
    if !region.has_watches() {
        return false;
    }
    let now = region.now_ms();
    let mut is_watched = false;
    for number in 0..=WATCHES {
        let record = region.watch(shard, number);
        if record.is_over(now) {
            continue;
        }
        is_watched = true;
        if number == WATCHES || hash.is_none_or(|hash| record.is_of(hash.in_watch())) {
            record.count();
            wake(&record.changes, u32::MAX);
        }
    }
    is_watched
}

/// A tag is gone, and with it keys of all shards, whose locks are not held.
#[cold]
pub(super) fn wake_tag(region: &Region) {
    if !region.has_watches() {
        return;
    }
    // Pairs with the fence of who begins to watch: it sees that the tag is gone, or we see it.
    fence(Ordering::SeqCst);
    for shard in 0..region.geometry().shards() {
        if region.shard(shard).watched.load(Ordering::Relaxed) != 0 {
            wake_shard(region, shard, None);
        }
    }
}

/// Tells that any key of the shard may have changed: after a death, or when it was cleared.
pub(crate) fn all_changed(lock: &ShardLock<'_>) {
    if is_watched(lock) {
        wake_watchers(lock, None);
    }
}

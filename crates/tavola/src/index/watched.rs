//! Reporting changes to processes that watch a key. The writer that changes a key counts that in
//! the watch records, and wakes the threads that sleep on them.
//!
//! | step, under the shard's lock | a watcher finds | a survivor finds, if we die after it |
//! |---|---|---|
//! | the key's slot or value is stored | the new value, if it reads | the lock of a dead owner |
//! | `changes` of the records rises | that it has changed | the same: recovery counts again |
//! | the sleepers are woken | | the same |
//!
//! `watched` of the shard head says whether there may be a watcher: without one, a write costs one
//! load. The word is set under the lock before a record counts. A write that finds every record
//! over makes it 0, under the lock.

use super::hash::Hash;
use crate::alloc::Item;
use crate::layout::WATCHES;
use crate::lock::{ShardLock, wake};
use crate::region::Region;
use crate::sync::{Ordering, fence};

/// Returns whether keys of the shard may be watched. Under its lock.
#[inline(always)]
pub(crate) fn is_watched(lock: &ShardLock<'_>) -> bool {
    lock.head.watched.load(Ordering::Relaxed) != 0
}

/// Returns the hash of an item that is about to be dropped, or `None` if its key cannot be read.
#[cold]
#[inline(never)]
pub(super) fn key_of(lock: &ShardLock<'_>, item_ref: u64) -> Option<Hash> {
    let item = Item::at(lock.region, item_ref)?;
    let mut key = Vec::new();
    item.copy_key(&mut key).then(|| Hash::of_item(&item, &key))
}

/// Counts a change of this key, or of all keys of the shard, and wakes its watchers.
#[cold]
#[inline(never)]
pub(super) fn wake_watchers(lock: &ShardLock<'_>, hash: Option<Hash>) {
    if !wake_shard(lock.region, lock.number, hash) {
        lock.head.watched.store(0, Ordering::Relaxed);
    }
}

/// Counts and wakes as [`wake_watchers`] does. Returns false if every record is over.
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

/// Wakes the watchers of all shards, whose locks are not held, as a removed tag takes its keys
/// along.
#[cold]
pub(super) fn wake_tag(region: &Region) {
    if !region.has_watches() {
        return;
    }
    // Pairs with the fence of a process that begins to watch: it sees that the tag is gone, or we
    // see it.
    fence(Ordering::SeqCst);
    for shard in 0..region.geometry().shards() {
        if region.shard(shard).watched.load(Ordering::Relaxed) != 0 {
            wake_shard(region, shard, None);
        }
    }
}

/// Reports that any key of the shard may have changed: after a death, or after the shard was
/// cleared.
pub(crate) fn all_changed(lock: &ShardLock<'_>) {
    if is_watched(lock) {
        wake_watchers(lock, None);
    }
}

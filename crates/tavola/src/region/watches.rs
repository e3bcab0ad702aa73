//! The records of watches. They are backed by memory when a table's first key is watched.

use super::{Region, Words};
use crate::layout::{WATCHES, WATCHES_BACKED, WatchRecord};
use crate::sync::Ordering;
use std::io;

impl Region {
    /// Returns whether the records of watches are backed by memory. If not, no key is watched.
    pub(crate) fn has_watches(&self) -> bool {
        // Pairs with the release in `back_watches`.
        self.superblock().watches.load(Ordering::Acquire) == WATCHES_BACKED
    }

    /// Backs the records. If we die before the store, the next process backs them again.
    pub(crate) fn back_watches(&self) -> io::Result<()> {
        let (offset, len) = self.geometry.watches();
        self.allocate(offset, len)?;
        let word = &self.superblock().watches;
        word.store(WATCHES_BACKED, Ordering::Release);
        Ok(())
    }

    /// Returns a record of a shard, if the records are backed; [`WATCHES`] is the one for all keys.
    pub(crate) fn watch(&self, shard: u32, number: u32) -> &WatchRecord {
        let first = self.geometry.watches_of(shard & self.near.shard_mask);
        self.at(first + u64::from(number.min(WATCHES)) * size_of::<WatchRecord>() as u64)
    }
}

// SAFETY: words, held to their layout by assert_layout!.
unsafe impl Words for WatchRecord {}

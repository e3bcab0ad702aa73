//! The records of watches, which are backed by memory when a table's first key is watched.

use super::{Region, Words};
use crate::layout::{WATCHES, WATCHES_BACKED, WatchRecord};
use crate::sync::Ordering;
use std::io;

impl Region {
    /// Whether the records of watches are backed by memory: else there is none.
    pub(crate) fn has_watches(&self) -> bool {
        // Pairs with the release in `back_watches`.
        self.superblock().watches.load(Ordering::Acquire) == WATCHES_BACKED
    }

    /// Backs them. A death between the two leaves them backed once more by the next.
    pub(crate) fn back_watches(&self) -> io::Result<()> {
        let (offset, len) = self.geometry.watches();
        self.allocate(offset, len)?;
        let word = &self.superblock().watches;
        word.store(WATCHES_BACKED, Ordering::Release);
        Ok(())
    }

    /// One of the records of a shard, when they are backed; [`WATCHES`]: the one for all keys.
    pub(crate) fn watch(&self, shard: u32, number: u32) -> &WatchRecord {
        let first = self.geometry.watches_of(shard & self.near.shard_mask);
        self.at(first + u64::from(number.min(WATCHES)) * size_of::<WatchRecord>() as u64)
    }
}

// SAFETY: words, held to their layout by assert_layout!.
unsafe impl Words for WatchRecord {}

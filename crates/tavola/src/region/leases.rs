//! The records of leases. They are backed by memory when a table's first lease is requested.

use super::{Region, Words};
use crate::layout::{LEASES, LEASES_BACKED, LeaseRecord};
use crate::sync::Ordering;
use std::io;

impl Region {
    /// Returns whether the records of leases are backed by memory. If not, the table has no lease.
    #[inline(always)]
    pub(crate) fn has_leases(&self) -> bool {
        // Pairs with the release in `back_leases`.
        self.superblock().leases.load(Ordering::Acquire) == LEASES_BACKED
    }

    /// Backs the records. If we die before the store, the next process backs them again.
    pub(crate) fn back_leases(&self) -> io::Result<()> {
        let (offset, len) = self.geometry.leases();
        self.allocate(offset, len)?;
        let word = &self.superblock().leases;
        word.store(LEASES_BACKED, Ordering::Release);
        Ok(())
    }

    /// Returns a record of a shard, if the records are backed. Numbers wrap, so that every record
    /// lies in the region.
    pub(crate) fn lease(&self, shard: u32, number: u32) -> &LeaseRecord {
        let first = self.geometry.leases_of(shard & self.near.shard_mask);
        self.at(first + u64::from(number % LEASES) * size_of::<LeaseRecord>() as u64)
    }
}

// SAFETY: words, held to their layout by assert_layout!.
unsafe impl Words for LeaseRecord {}

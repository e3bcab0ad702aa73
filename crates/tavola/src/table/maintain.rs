//! Housekeeping that is asked for: clearing, compaction, huge pages.

use super::Table;
use crate::error::Result;
use crate::values::Maintained;

impl Table {
    /// Removes all keys.
    ///
    /// # Errors
    /// As [`Table::remove`].
    ///
    /// # Concurrency
    /// All keys that existed at the beginning are removed at the end; a key that is set meanwhile
    /// may stay. A lock is held for about 200 keys at a time, and at most 1,792 if others write all
    /// the time.
    pub fn clear(&self) -> Result<()> {
        self.core()?.clear()
    }

    /// Removes all expired keys from memory. Writes and [`Table::maintain`] also do this in small
    /// steps; readers never see expired keys.
    ///
    /// # Errors
    /// As [`Table::remove`].
    ///
    /// # Concurrency
    /// As [`Table::clear`].
    pub fn remove_expired(&self) -> Result<()> {
        self.core()?.remove_expired()
    }

    /// Returns all unused memory to the system, and returns the number of bytes. It removes expired
    /// keys, merges sparse parts of the index, empties sparse pages, and waits up to 2.5 seconds
    /// until freed pages are no longer in use by readers. 8 bytes of page table remain for each
    /// page of 16 KiB that the table ever had.
    ///
    /// # Errors
    /// As [`Table::remove`].
    ///
    /// # Concurrency
    /// Moves at most 64 items while it holds a lock.
    pub fn compact(&self) -> Result<u64> {
        self.core()?.compact()
    }

    /// Runs a step of maintenance: moves up to `budget_bytes` of the table to huge pages if the
    /// kernel supports it (`MADV_COLLAPSE`, Linux 6.1; about 1 s per GiB), searches up to 256
    /// buckets of each shard for expired keys, and returns some unused memory to the system.
    /// Shrinks a cache to its capacity, except for pages freed less than two seconds ago. Each call
    /// continues where the last one ended; `done` says that nothing is left to move.
    ///
    /// # Errors
    /// As [`Table::remove`].
    pub fn maintain(&self, budget_bytes: u64) -> Result<Maintained> {
        self.core()?.maintain(budget_bytes)
    }
}

//! Watch records: let threads sleep until a key changes.
//!
//! A thread takes a record for its key and sleeps on `changes`; a writer of the key raises that
//! word and wakes it. A writer reads records only if the shard's word `watched` is not 0.
//!
//! ```text
//! key        of the key: tag in bits 0..24, home bucket in bits 24..32
//! until_ms   until when the record is in use, in time of the table's clock
//! takes      how often it was taken
//! changes    rises with every change of the key; waiters sleep on it
//! ```
//!
//! A shard has [`WATCHES`] records for one key each, and one more for all keys of the shard.
//! Records are taken and renewed under the shard's lock. A record is free if its time is over, or
//! further away than any that is ever stored.

use super::assert_layout;
use crate::sync::{Ordering, W32, W64};

/// Records of a shard for one key each; the record after them is for all keys.
pub(crate) const WATCHES: u32 = 8;
/// The longest time that a record is in use without being renewed.
const LONGEST_WATCH_MS: u64 = 3_600_000;
/// The value of `watches` in the superblock when the records are backed by memory.
pub(crate) const WATCHES_BACKED: u32 = 0x5741_5443;

/// One of the records of a shard.
#[repr(C, align(64))]
pub(crate) struct WatchRecord {
    key: W64,
    until_ms: W64,
    takes: W32,
    /// Rises with every change of the key.
    pub(crate) changes: W32,
    reserved: [W64; 5],
}
assert_layout!(WatchRecord, size 64, {
    key: 0, until_ms: 8, takes: 16, changes: 20, reserved: 24,
});

impl WatchRecord {
    /// Returns whether the record is free.
    pub(crate) fn is_over(&self, now_ms: u64) -> bool {
        let left = self.until_ms.load(Ordering::Relaxed).saturating_sub(now_ms);
        left == 0 || left > LONGEST_WATCH_MS
    }

    /// Returns whether the record is of that key.
    pub(crate) fn is_of(&self, key: u64) -> bool {
        self.key.load(Ordering::Relaxed) == key
    }

    /// Takes the record for a key, and returns how often it was taken. Call under the shard's lock,
    /// when the record is free.
    pub(crate) fn take(&self, key: u64) -> u32 {
        // If this process dies between the stores, the record is still free.
        self.takes.add_owned(1);
        self.key.store(key, Ordering::Relaxed);
        self.takes()
    }

    pub(crate) fn takes(&self) -> u32 {
        self.takes.load(Ordering::Relaxed)
    }

    /// Keeps the record in use at least until `until_ms`. Call under the shard's lock.
    pub(crate) fn renew(&self, now_ms: u64, until_ms: u64) {
        if self.is_over(now_ms) || self.until_ms.load(Ordering::Relaxed) < until_ms {
            self.until_ms.store(until_ms, Ordering::Relaxed);
        }
    }

    /// Counts a change. The caller must then wake the threads that sleep on `changes`.
    pub(crate) fn count(&self) {
        // Pairs with the waiter's load under the shard's lock, or with the kernel's load before a
        // sleep.
        self.changes.fetch_add(1, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_over_when_its_time_is_or_is_impossible() {
        let record = WatchRecord {
            key: W64::new(0),
            until_ms: W64::new(0),
            takes: W32::new(0),
            changes: W32::new(0),
            reserved: std::array::from_fn(|_| W64::new(0)),
        };
        assert!(record.is_over(1000));
        assert_eq!(record.take(7), 1);
        record.renew(1000, 2000);
        record.renew(1000, 1500);
        assert!(record.is_of(7) && !record.is_over(1999) && record.is_over(2000));
        record.until_ms.store(1 << 60, Ordering::Relaxed);
        assert!(record.is_over(1000));
        record.renew(1000, 2000);
        assert!(!record.is_over(1000));
    }
}

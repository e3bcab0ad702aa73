//! Watch records: who sleeps until a key changes.
//!
//! ```text
//! key        of the key: tag in bits 0..24, home bucket in bits 24..32
//! until_ms   until when the record is in use; a time of the table's clock
//! takes      how often it was taken
//! changes    rises with every change of the key; slept on
//! ```
//!
//! A shard has [`WATCHES`] records for a key each, and one more that stands for all keys of the
//! shard. Records are taken and renewed under the shard's lock. One whose time is over, or further
//! away than any that is ever stored, is free.

use super::assert_layout;
use crate::sync::{Ordering, W32, W64};

/// Records of a shard for a key each; the one behind them stands for all keys.
pub(crate) const WATCHES: u32 = 8;
/// No record is in use for longer without being renewed.
const LONGEST_WATCH_MS: u64 = 3_600_000;
/// `watches` of the superblock, when the records are backed by memory.
pub(crate) const WATCHES_BACKED: u32 = 0x5741_5443;

/// One of the records of a shard.
#[repr(C, align(64))]
pub(crate) struct WatchRecord {
    key: W64,
    until_ms: W64,
    takes: W32,
    /// Rises with every change.
    pub(crate) changes: W32,
    reserved: [W64; 5],
}
assert_layout!(WatchRecord, size 64, {
    key: 0, until_ms: 8, takes: 16, changes: 20, reserved: 24,
});

impl WatchRecord {
    /// Whether nobody uses it.
    pub(crate) fn is_over(&self, now_ms: u64) -> bool {
        let left = self.until_ms.load(Ordering::Relaxed).saturating_sub(now_ms);
        left == 0 || left > LONGEST_WATCH_MS
    }

    /// Whether it is of that key.
    pub(crate) fn is_of(&self, key: u64) -> bool {
        self.key.load(Ordering::Relaxed) == key
    }

    /// Takes it for a key. Under the shard's lock, when it is over. Returns how often it was taken.
    pub(crate) fn take(&self, key: u64) -> u32 {
        // A death in between leaves a record that is over.
        self.takes.add_owned(1);
        self.key.store(key, Ordering::Relaxed);
        self.takes()
    }

    pub(crate) fn takes(&self) -> u32 {
        self.takes.load(Ordering::Relaxed)
    }

    /// Keeps it in use until then at least. Under the shard's lock.
    pub(crate) fn renew(&self, now_ms: u64, until_ms: u64) {
        if self.is_over(now_ms) || self.until_ms.load(Ordering::Relaxed) < until_ms {
            self.until_ms.store(until_ms, Ordering::Relaxed);
        }
    }

    /// Counts a change. Those who sleep on `changes` must be woken.
    pub(crate) fn count(&self) {
        // Pairs with the load under the shard's lock, or with that of the kernel, before a sleep.
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

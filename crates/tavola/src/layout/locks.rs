//! Named locks and semaphores, in an extent: a head, then a record for each.
//!
//! ```text
//! 0          head                        64 B
//! 512        records                     512 B each, the first `named` of which have names
//! ```
//!
//! A table has up to four such extents, each eight times as large as the one before it.

use super::{Name, PAGE, assert_layout};
use crate::sync::{Ordering, W32, W64};

/// The most extents of locks.
pub(crate) const LOCK_EXTENTS: u32 = 4;
/// How many participants or threads share a lock at once, and the most permits of a semaphore.
pub(crate) const MOST_SHARING: u32 = 96;
/// The name of a lock: 56 bytes at most.
pub(crate) type LockName = Name<7>;

/// `TavolaLK`.
const MAGIC: u64 = u64::from_le_bytes(*b"TavolaLK");
const RECORD: u64 = 512;

/// The beginning of an extent of locks. Only `named` ever changes.
#[repr(C, align(64))]
pub(crate) struct LocksHead {
    /// `TavolaLK`.
    magic: W64,
    /// Records that there is room for.
    records: W32,
    reserved: W32,
    /// Of the words before it.
    checksum: W64,
    /// How many records, counted from the first, have names. Names never change. The number rises
    /// under the pool's lock, and never falls.
    named: W32,
    reserved_named: W32,
    unused: [W64; 4],
}
assert_layout!(LocksHead, size 64, {
    magic: 0, records: 8, reserved: 12, checksum: 16, named: 24, reserved_named: 28, unused: 32,
});

/// A named lock, or a semaphore.
#[repr(C, align(64))]
pub(crate) struct LockRecord {
    /// The lock word of the one that holds it exclusively, see `lock`.
    pub(crate) word: W32,
    /// How many words of `sharing`, counted from the first, were ever used.
    pub(crate) reach: W32,
    /// 1: somebody may sleep on `leaves`.
    pub(crate) wanted: W32,
    /// Rises before those that sleep on it are woken.
    pub(crate) leaves: W32,
    /// 0: a lock. Otherwise a semaphore with so many permits. Never changes.
    pub(crate) permits: W32,
    reserved: W32,
    unused: [W64; 5],
    pub(crate) name: LockName,
    /// The participants that share the lock, or hold a permit; 0: nobody.
    pub(crate) sharing: [W32; MOST_SHARING as usize],
}
assert_layout!(LockRecord, size 512, {
    word: 0, reach: 4, wanted: 8, leaves: 12, permits: 16, reserved: 20, unused: 24, name: 64,
    sharing: 128,
});

/// Returns the bytes of an extent of locks, by its number.
pub(crate) fn locks_len(extent: u32) -> u64 {
    PAGE << (3 * extent)
}

/// Returns how many records an extent of locks has room for.
pub(crate) fn records_of(extent: u32) -> u32 {
    (locks_len(extent) / RECORD) as u32 - 1
}

/// Returns the offset of a record in its extent.
pub(crate) fn record_off(record: u32) -> u64 {
    RECORD + u64::from(record) * RECORD
}

impl LocksHead {
    pub(crate) fn init(&self, records: u32) {
        self.set_named(0);
        self.records.store(records, Ordering::Relaxed);
        self.magic.store(MAGIC, Ordering::Relaxed);
        self.checksum.store(self.sum(), Ordering::Relaxed);
    }

    /// Returns how many records the extent has room for, or `None` if the head is damaged.
    pub(crate) fn verify(&self) -> Option<u32> {
        let is_whole = self.magic.load(Ordering::Relaxed) == MAGIC
            && self.checksum.load(Ordering::Relaxed) == self.sum();
        let records = self.records.load(Ordering::Relaxed);
        let is_size = (0..LOCK_EXTENTS).any(|extent| records_of(extent) == records);
        (is_whole && is_size).then_some(records)
    }

    /// Returns how many of `records` have names, or `None` if the number is damaged.
    pub(crate) fn named(&self, records: u32) -> Option<u32> {
        // Pairs with the release in `set_named`.
        let named = self.named.load(Ordering::Acquire);
        (named <= records).then_some(named)
    }

    /// Sets how many records have names, after these records were filled.
    pub(crate) fn set_named(&self, named: u32) {
        // Pairs with the acquire in `named`: a process that sees the count also sees the records.
        self.named.store(named, Ordering::Release);
    }

    fn sum(&self) -> u64 {
        let records = self.records.load(Ordering::Relaxed);
        super::fold::fold(&[MAGIC, u64::from(records)])
    }
}

impl LockRecord {
    /// Makes it a free lock, or a semaphore.
    pub(crate) fn init(&self, name: &[u8], permits: u32) {
        let order = Ordering::Relaxed;
        for word in [&self.word, &self.reach, &self.wanted, &self.leaves] {
            word.store(0, order);
        }
        for word in &self.sharing {
            word.store(0, order);
        }
        self.permits.store(permits, order);
        self.name.set(name);
    }

    /// Returns the number of permits, 0 for a lock, or `None` if it is damaged.
    pub(crate) fn permits(&self) -> Option<u32> {
        let permits = self.permits.load(Ordering::Relaxed);
        (permits <= MOST_SHARING).then_some(permits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_records_fill_their_extent() {
        for extent in 0..LOCK_EXTENTS {
            assert_eq!(record_off(records_of(extent)), locks_len(extent));
            assert!(locks_len(extent).is_multiple_of(PAGE));
        }
        assert_eq!([0, 3].map(records_of), [31, 16383]);
    }
}

//! Lease records: which participant computes the value of a key that is missing or stale.
//!
//! A record is a few words, written under the shard's lock and read without it. It counts only if
//! its checksum is right, so a reader that meets a half-written record, or one that is damaged,
//! takes it for free.
//!
//! ```text
//! state      kind 2 | owner 31 | times 31: how often the record was taken
//! hash       of the key
//! until_ms   when the lease or the pause ends
//! check      checksum of state, hash, until_ms, error_len and error
//! ends       rises whenever the record becomes free; waiters sleep on it
//! error_len  of a computation that failed: length of its message
//! error      the message
//! ```
//!
//! | kind | meaning | next, under the shard's lock |
//! |---|---|---|
//! | `FREE` | the record is unused; the other words mean nothing | `HELD`, `FAILED` |
//! | `HELD` | the owner computes the value of a key | `FREE` |
//! | `FAILED` | it could not be computed, and is not tried again before `until_ms` | `FREE` |
//!
//! The check is stored after the other words and before `state`, and is right for that state only.
//! So whatever a death leaves of these stores, and any flipped bit, reads as free. So does a time
//! further away than any that is ever stored.

use super::assert_layout;
use super::fold::fold;
use crate::sync::{Ordering, W32, W64};

/// Records of a shard.
pub(crate) const LEASES: u32 = 16;
/// The longest message of a computation that failed.
const MOST_ERROR: usize = 88;
const ERROR_WORDS: usize = MOST_ERROR / 8;
/// The longest lease or pause: an hour.
pub(crate) const LONGEST_LEASE_MS: u64 = 3_600_000;
/// The value of `leases` in the superblock when the records are backed by memory.
pub(crate) const LEASES_BACKED: u32 = 0x4C45_4153;

const FREE: u64 = 0;
const HELD: u64 = 1;
const FAILED: u64 = 2;
const KIND_MASK: u64 = 3;
const OWNER_SHIFT: u32 = 2;
const OWNER_MASK: u64 = (1 << 31) - 1;
const TIMES_SHIFT: u32 = 33;

/// One of the records of a shard.
#[repr(C, align(64))]
pub(crate) struct LeaseRecord {
    state: W64,
    hash: W64,
    until_ms: W64,
    check: W64,
    /// Rises whenever the record becomes free.
    pub(crate) ends: W32,
    error_len: W32,
    error: [W64; ERROR_WORDS],
}
assert_layout!(LeaseRecord, size 128, {
    state: 0, hash: 8, until_ms: 16, check: 24, ends: 32, error_len: 36, error: 40,
});

/// The contents of a record that is not free.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LeaseView {
    /// `state`: as long as the record has the same, the lease is the same.
    pub(crate) word: u64,
    pub(crate) hash: u64,
    pub(crate) until_ms: u64,
    error: [u64; ERROR_WORDS],
    error_len: usize,
}

impl LeaseView {
    /// Returns a lease of this participant, which follows the state `before`.
    fn held(before: u64, owner: u32, hash: u64, until_ms: u64) -> Self {
        Self {
            word: next(before) | u64::from(owner) << OWNER_SHIFT | HELD,
            hash,
            until_ms,
            error: [0; ERROR_WORDS],
            error_len: 0,
        }
    }

    /// Returns a failure, which follows the state `before`.
    fn failed(before: u64, hash: u64, until_ms: u64, message: &[u8]) -> Self {
        let message = &message[..message.len().min(MOST_ERROR)];
        let mut bytes = [0; MOST_ERROR];
        bytes[..message.len()].copy_from_slice(message);
        let mut error = [0; ERROR_WORDS];
        for (word, bytes) in error.iter_mut().zip(bytes.as_chunks::<8>().0) {
            *word = u64::from_le_bytes(*bytes);
        }
        Self {
            word: next(before) | FAILED,
            hash,
            until_ms,
            error,
            error_len: message.len(),
        }
    }

    /// Returns the words of the error that are in use.
    fn words(&self) -> &[u64] {
        &self.error[..self.error_len.div_ceil(8).min(ERROR_WORDS)]
    }

    fn sum(&self) -> u64 {
        let mut all = [0; 4 + ERROR_WORDS];
        all[..4].copy_from_slice(&[self.word, self.hash, self.until_ms, self.error_len as u64]);
        all[4..][..self.words().len()].copy_from_slice(self.words());
        fold(&all[..4 + self.words().len()])
    }

    /// Returns the participant that has the lease, or `None` if the computation failed.
    pub(crate) fn owner(&self) -> Option<u32> {
        let owner = (self.word >> OWNER_SHIFT & OWNER_MASK) as u32;
        (self.word & KIND_MASK == HELD).then_some(owner)
    }

    /// Returns whether its time is over. A time that is too far away counts as damage, and as over.
    pub(crate) fn is_over(&self, now_ms: u64) -> bool {
        self.left_ms(now_ms) == 0
    }

    /// Returns the milliseconds until its end.
    pub(crate) fn left_ms(&self, now_ms: u64) -> u64 {
        match self.until_ms.saturating_sub(now_ms) {
            left if left <= LONGEST_LEASE_MS => left,
            _ => 0,
        }
    }

    /// Returns the message of the computation that failed.
    pub(crate) fn error(&self) -> Vec<u8> {
        let mut message: Vec<u8> = self.words().iter().flat_map(|w| w.to_le_bytes()).collect();
        message.truncate(self.error_len);
        message
    }
}

/// Returns the state, still free, of a record that is taken once more.
fn next(before: u64) -> u64 {
    freed(before).wrapping_add(1 << TIMES_SHIFT)
}

/// Returns the state of a record after it was freed.
fn freed(before: u64) -> u64 {
    before >> TIMES_SHIFT << TIMES_SHIFT
}

impl LeaseRecord {
    /// Returns the contents, or `None` if the record is free, damaged or just being changed.
    pub(crate) fn read(&self) -> Option<LeaseView> {
        // Pairs with the release in `publish`.
        let word = self.state.load(Ordering::Acquire);
        if !matches!(word & KIND_MASK, HELD | FAILED) {
            return None;
        }
        let view = LeaseView {
            word,
            hash: self.hash.load(Ordering::Relaxed),
            until_ms: self.until_ms.load(Ordering::Relaxed),
            error_len: self.error_len.load(Ordering::Relaxed) as usize,
            error: match word & KIND_MASK {
                FAILED => std::array::from_fn(|i| self.error[i].load(Ordering::Relaxed)),
                _ => [0; ERROR_WORDS],
            },
        };
        let is_whole = view.error_len <= MOST_ERROR
            && (view.owner().is_none() || view.error_len == 0)
            && self.check.load(Ordering::Relaxed) == view.sum();
        is_whole.then_some(view)
    }

    /// Returns the contents if the record is of this key.
    pub(crate) fn read_of(&self, hash: u64) -> Option<LeaseView> {
        if self.hash.load(Ordering::Relaxed) != hash {
            return None;
        }
        self.read().filter(|view| view.hash == hash)
    }

    /// Returns whether the record still has this state, so whether the lease is still the same.
    pub(crate) fn is_still(&self, word: u64) -> bool {
        // Pairs with the release in `free`: a thread that finds the lease over sees what was
        // written before it ended.
        self.state.load(Ordering::Acquire) == word
    }

    /// Makes the record a lease, and returns its state. Call under the shard's lock.
    pub(crate) fn hold(&self, owner: u32, hash: u64, until_ms: u64) -> u64 {
        let before = self.free();
        self.publish(&LeaseView::held(before, owner, hash, until_ms))
    }

    /// Notes that the computation failed. Call under the shard's lock.
    pub(crate) fn fail(&self, hash: u64, until_ms: u64, error: &[u8]) {
        let before = self.free();
        self.publish(&LeaseView::failed(before, hash, until_ms, error));
    }

    /// Frees the record, and returns the state it had. Call under the shard's lock, and wake the
    /// threads that sleep on `ends` when the lock is free.
    pub(crate) fn free(&self) -> u64 {
        let before = self.state.load(Ordering::Relaxed);
        if before & KIND_MASK != FREE {
            self.state.store(freed(before), Ordering::Release);
            let ends = self.ends.load(Ordering::Relaxed).wrapping_add(1);
            // Pairs with the load in `Pending::wait`: a thread that sees it sees that the lease is
            // over.
            self.ends.store(ends, Ordering::Release);
        }
        before
    }

    fn publish(&self, view: &LeaseView) -> u64 {
        self.hash.store(view.hash, Ordering::Relaxed);
        self.until_ms.store(view.until_ms, Ordering::Relaxed);
        self.error_len
            .store(view.error_len as u32, Ordering::Relaxed);
        for (place, word) in self.error.iter().zip(view.words()) {
            place.store(*word, Ordering::Relaxed);
        }
        self.check.store(view.sum(), Ordering::Relaxed);
        self.state.store(view.word, Ordering::Release);
        view.word
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> LeaseRecord {
        LeaseRecord {
            state: W64::new(0),
            hash: W64::new(0),
            until_ms: W64::new(0),
            check: W64::new(0),
            ends: W32::new(0),
            error_len: W32::new(0),
            error: std::array::from_fn(|_| W64::new(0)),
        }
    }

    #[test]
    fn what_is_stored_is_read_and_a_flipped_bit_is_noticed() {
        let record = record();
        assert!(record.read().is_none());
        let word = record.hold(0x7FFF_FFFF, 5, 1000);
        let held = record.read_of(5).unwrap();
        assert_eq!((held.word, held.owner()), (word, Some(0x7FFF_FFFF)));
        assert_eq!((held.left_ms(900), held.is_over(1000)), (100, true));
        assert!(record.read_of(6).is_none() && record.is_still(word));
        record.fail(5, 2000, b"no such user");
        let failed = record.read_of(5).unwrap();
        assert_eq!(
            (failed.owner(), failed.error()),
            (None, b"no such user".to_vec())
        );
        assert_eq!(record.ends.load(Ordering::Relaxed), 1);
        let words = [&record.state, &record.hash, &record.until_ms, &record.check];
        for word in words.into_iter().chain(&record.error[..2]) {
            for bit in 0..64 {
                let there = word.load(Ordering::Relaxed);
                word.store(there ^ 1 << bit, Ordering::Relaxed);
                assert!(record.read().is_none(), "bit {bit}");
                word.store(there, Ordering::Relaxed);
            }
        }
        record.free();
        assert!(record.read().is_none() && record.ends.load(Ordering::Relaxed) == 2);
        assert_ne!(record.hold(0x7FFF_FFFF, 5, 1000), word);
    }

    #[test]
    fn what_is_stored_has_bounds() {
        let record = record();
        record.fail(1, LONGEST_LEASE_MS + 1, &[7; 100]);
        let view = record.read().unwrap();
        assert_eq!(view.error(), [7; MOST_ERROR]);
        assert!(view.is_over(0) && !view.is_over(1));
    }
}

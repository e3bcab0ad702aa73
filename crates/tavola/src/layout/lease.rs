//! Lease records: who computes the value of a key that is missing or stale.
//!
//! ```text
//! state      kind 2 | owner 31 | times 31: how often the record was taken
//! hash       of the key
//! until_ms   when it is over
//! check      over all that is told
//! ends       rises whenever what the record told is over; slept on
//! error_len  of a computation that failed: bytes of what is told of it
//! error      these bytes
//! ```
//!
//! | kind | meaning | next, under the shard's lock |
//! |---|---|---|
//! | `FREE` | nothing; the other words mean nothing | `HELD`, `FAILED` |
//! | `HELD` | the owner computes the value of a key | `FREE` |
//! | `FAILED` | it could not be computed, and is not tried again before `until_ms` | `FREE` |
//!
//! A record that is not `FREE` counts only with the right check. It is stored behind the other
//! words and before `state`, and is right for that state only: whatever some of the stores leave,
//! or a flipped bit, reads as free. So does a time further away than any that is ever stored.

use super::assert_layout;
use super::fold::fold;
use crate::sync::{Ordering, W32, W64};

/// Records of a shard.
pub(crate) const LEASES: u32 = 16;
/// The longest that is told of a computation that failed.
const MOST_ERROR: usize = 88;
const ERROR_WORDS: usize = MOST_ERROR / 8;
/// No lease or pause is longer: an hour.
pub(crate) const LONGEST_LEASE_MS: u64 = 3_600_000;
/// `leases` of the superblock, when the records are backed by memory.
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
    /// Rises whenever what the record told is over.
    pub(crate) ends: W32,
    error_len: W32,
    error: [W64; ERROR_WORDS],
}
assert_layout!(LeaseRecord, size 128, {
    state: 0, hash: 8, until_ms: 16, check: 24, ends: 32, error_len: 36, error: 40,
});

/// What a record tells that is not free.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LeaseView {
    /// `state`: as long as it is the same, so is the lease.
    pub(crate) word: u64,
    pub(crate) hash: u64,
    pub(crate) until_ms: u64,
    error: [u64; ERROR_WORDS],
    error_len: usize,
}

impl LeaseView {
    /// A lease of this participant, in the place of what `before` told.
    fn held(before: u64, owner: u32, hash: u64, until_ms: u64) -> Self {
        Self {
            word: next(before) | u64::from(owner) << OWNER_SHIFT | HELD,
            hash,
            until_ms,
            error: [0; ERROR_WORDS],
            error_len: 0,
        }
    }

    fn failed(before: u64, hash: u64, until_ms: u64, told: &[u8]) -> Self {
        let told = &told[..told.len().min(MOST_ERROR)];
        let mut bytes = [0; MOST_ERROR];
        bytes[..told.len()].copy_from_slice(told);
        let mut error = [0; ERROR_WORDS];
        for (word, bytes) in error.iter_mut().zip(bytes.as_chunks::<8>().0) {
            *word = u64::from_le_bytes(*bytes);
        }
        Self {
            word: next(before) | FAILED,
            hash,
            until_ms,
            error,
            error_len: told.len(),
        }
    }

    /// Words of the error that mean something.
    fn words(&self) -> &[u64] {
        &self.error[..self.error_len.div_ceil(8).min(ERROR_WORDS)]
    }

    fn sum(&self) -> u64 {
        let mut all = [0; 4 + ERROR_WORDS];
        all[..4].copy_from_slice(&[self.word, self.hash, self.until_ms, self.error_len as u64]);
        all[4..][..self.words().len()].copy_from_slice(self.words());
        fold(&all[..4 + self.words().len()])
    }

    /// Whose lease it is; `None`: the computation failed.
    pub(crate) fn owner(&self) -> Option<u32> {
        let owner = (self.word >> OWNER_SHIFT & OWNER_MASK) as u32;
        (self.word & KIND_MASK == HELD).then_some(owner)
    }

    /// Whether its time has passed. One that is further away than any is damage.
    pub(crate) fn is_over(&self, now_ms: u64) -> bool {
        self.left_ms(now_ms) == 0
    }

    /// Milliseconds to its end.
    pub(crate) fn left_ms(&self, now_ms: u64) -> u64 {
        match self.until_ms.saturating_sub(now_ms) {
            left if left <= LONGEST_LEASE_MS => left,
            _ => 0,
        }
    }

    /// What is told of the computation that failed.
    pub(crate) fn error(&self) -> Vec<u8> {
        let mut told: Vec<u8> = self.words().iter().flat_map(|w| w.to_le_bytes()).collect();
        told.truncate(self.error_len);
        told
    }
}

/// Taken once more.
fn next(before: u64) -> u64 {
    freed(before).wrapping_add(1 << TIMES_SHIFT)
}

/// The state of a record that tells nothing any more.
fn freed(before: u64) -> u64 {
    before >> TIMES_SHIFT << TIMES_SHIFT
}

impl LeaseRecord {
    /// What it tells, unless it is free, damaged or just being changed.
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

    /// As [`Self::read`], if it is of that key.
    pub(crate) fn read_of(&self, hash: u64) -> Option<LeaseView> {
        if self.hash.load(Ordering::Relaxed) != hash {
            return None;
        }
        self.read().filter(|view| view.hash == hash)
    }

    /// Whether it still tells what it told with that state.
    pub(crate) fn is_still(&self, word: u64) -> bool {
        // Pairs with the release in `free`: who does not sleep, as it is over, sees what came
        // before that.
        self.state.load(Ordering::Acquire) == word
    }

    /// Makes it a lease. Under the shard's lock. Says its state.
    pub(crate) fn hold(&self, owner: u32, hash: u64, until_ms: u64) -> u64 {
        let before = self.free();
        self.publish(&LeaseView::held(before, owner, hash, until_ms))
    }

    /// Tells that the computation failed. Under the shard's lock.
    pub(crate) fn fail(&self, hash: u64, until_ms: u64, error: &[u8]) {
        let before = self.free();
        self.publish(&LeaseView::failed(before, hash, until_ms, error));
    }

    /// Ends what it tells. Under the shard's lock. Who sleeps on `ends` is to be woken when the
    /// lock is free.
    pub(crate) fn free(&self) -> u64 {
        let before = self.state.load(Ordering::Relaxed);
        if before & KIND_MASK != FREE {
            self.state.store(freed(before), Ordering::Release);
            let ends = self.ends.load(Ordering::Relaxed).wrapping_add(1);
            // Pairs with the load in `Pending::wait`: who sees it sees that the lease is over.
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
    fn what_is_told_is_read_and_a_flipped_bit_is_noticed() {
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
    fn what_is_told_has_bounds() {
        let record = record();
        record.fail(1, LONGEST_LEASE_MS + 1, &[7; 100]);
        let view = record.read().unwrap();
        assert_eq!(view.error(), [7; MOST_ERROR]);
        assert!(view.is_over(0) && !view.is_over(1));
    }
}

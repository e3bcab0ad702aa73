//! Samples of a cache's counters: one a second, for the last minute.
//!
//! They form a ring; [`SampledWord`] in the superblock says which is the last, and when it was
//! taken. A process that counts something, and finds that the last sample is old, claims the next
//! place by one exchange of that word, and writes its sample there. It may be stopped for longer
//! than the ring lasts, or killed, so the words of a sample may come from two writers or be
//! incomplete. Therefore a sample counts only if its check is right.

use super::assert_layout;
use super::fold::fold;
use crate::sync::{Ordering, W64};

/// How many samples the ring has: more than there are in a minute.
pub(crate) const SAMPLES: u32 = 64;
/// A sample is due when the last is this old. With the feature `torture`, which counts stores, one
/// is always due.
const EVERY_MS: u64 = if cfg!(feature = "torture") { 0 } else { 1000 };
/// A sample that is ahead of the clock by more than this is damaged, or is of an earlier start of
/// the machine.
const MOST_AHEAD_MS: u64 = 60_000;

/// One place of the ring.
#[repr(C, align(64))]
pub(crate) struct CacheSample {
    /// When the sample was taken, in milliseconds of the clock of keys.
    at_ms: W64,
    /// The counters of the same names at that time.
    hits: W64,
    misses: W64,
    writes: W64,
    /// Probationary and protected keys.
    evicted: W64,
    expired: W64,
    reserved: W64,
    /// Checksum of all words before it.
    check: W64,
}
assert_layout!(CacheSample, size 64, {
    at_ms: 0, hits: 8, misses: 16, writes: 24, evicted: 32, expired: 40, reserved: 48, check: 56,
});

/// The contents of a sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sampled {
    pub(crate) at_ms: u64,
    pub(crate) hits: u64,
    pub(crate) misses: u64,
    pub(crate) writes: u64,
    pub(crate) evicted: u64,
    pub(crate) expired: u64,
}

impl Sampled {
    fn words(&self) -> [u64; 7] {
        [
            self.at_ms,
            self.hits,
            self.misses,
            self.writes,
            self.evicted,
            self.expired,
            0,
        ]
    }
}

impl CacheSample {
    fn words(&self) -> [&W64; 7] {
        [
            &self.at_ms,
            &self.hits,
            &self.misses,
            &self.writes,
            &self.evicted,
            &self.expired,
            &self.reserved,
        ]
    }

    /// Writes a sample. Other processes may write the same place meanwhile.
    pub(crate) fn write(&self, sampled: &Sampled) {
        let words = sampled.words();
        for (place, word) in self.words().into_iter().zip(words) {
            place.store(word, Ordering::Relaxed);
        }
        self.check.store(fold(&words), Ordering::Relaxed);
    }

    /// Returns the sample, or `None` if none was ever written here, or not completely.
    pub(crate) fn read(&self) -> Option<Sampled> {
        let words = self.words().map(|word| word.load(Ordering::Relaxed));
        let [at_ms, hits, misses, writes, evicted, expired, _] = words;
        (self.check.load(Ordering::Relaxed) == fold(&words)).then_some(Sampled {
            at_ms,
            hits,
            misses,
            writes,
            evicted,
            expired,
        })
    }
}

/// Which sample is the last: `number 22 | at_ms 42`. Advice: any word is safe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SampledWord {
    /// How many samples there were, modulo 2^22; its place is this number modulo [`SAMPLES`].
    pub(crate) number: u32,
    /// When it was taken, by the clock of keys.
    pub(crate) at_ms: u64,
}

const AT_BITS: u32 = 42;

impl SampledWord {
    pub(crate) fn decode(word: u64) -> Self {
        Self {
            number: (word >> AT_BITS) as u32,
            at_ms: word & ((1 << AT_BITS) - 1),
        }
    }

    pub(crate) fn encode(self) -> u64 {
        u64::from(self.number) << AT_BITS | self.at_ms & ((1 << AT_BITS) - 1)
    }

    /// Returns the word of the next sample, if one is due.
    pub(crate) fn next(self, now_ms: u64) -> Option<Self> {
        let is_due = now_ms >= self.at_ms.saturating_add(EVERY_MS)
            || self.at_ms > now_ms.saturating_add(MOST_AHEAD_MS);
        is_due.then_some(Self {
            number: self.number.wrapping_add(1),
            at_ms: now_ms,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn empty() -> CacheSample {
        CacheSample {
            at_ms: W64::new(0),
            hits: W64::new(0),
            misses: W64::new(0),
            writes: W64::new(0),
            evicted: W64::new(0),
            expired: W64::new(0),
            reserved: W64::new(0),
            check: W64::new(0),
        }
    }

    fn sampled(number: u64) -> Sampled {
        Sampled {
            at_ms: 1_795_000_000_000 + number,
            hits: 100 + number,
            misses: 10 + number,
            writes: 20 + number,
            evicted: 5 + number,
            expired: 1 + number,
        }
    }

    #[test]
    fn a_sample_that_was_never_written_or_not_as_a_whole_is_not_read() {
        let place = empty();
        assert_eq!(place.read(), None);
        place.write(&sampled(1));
        assert_eq!(place.read(), Some(sampled(1)));
        // Another writer, stopped before each of its stores but the first.
        for stopped in 1..8 {
            let place = empty();
            place.write(&sampled(1));
            let words = sampled(2).words();
            for (word, new) in place.words().into_iter().zip(words).take(stopped) {
                word.store(new, Ordering::Relaxed);
            }
            assert_eq!(place.read(), None, "after {stopped} stores");
            place.write(&sampled(3));
            assert_eq!(place.read(), Some(sampled(3)));
        }
        for word in place.words() {
            let whole = word.load(Ordering::Relaxed);
            for bit in 0..64 {
                word.store(whole ^ 1 << bit, Ordering::Relaxed);
                assert_eq!(place.read(), None, "bit {bit}");
            }
            word.store(whole, Ordering::Relaxed);
        }
    }

    #[cfg(not(feature = "torture"))]
    #[test]
    fn the_next_is_due_after_a_second_and_where_the_last_is_absurd() {
        let at_ms = 1_795_000_000_000;
        let last = SampledWord { number: 7, at_ms };
        assert_eq!(SampledWord::decode(last.encode()), last);
        assert_eq!(last.next(at_ms + 999), None);
        let next = last.next(at_ms + 1000).unwrap();
        assert_eq!((next.number, next.at_ms), (8, at_ms + 1000));
        // A clock that is a little behind, and one that is far.
        assert_eq!(last.next(at_ms - 60_000), None);
        assert_eq!(last.next(at_ms - 60_001).unwrap().at_ms, at_ms - 60_001);
        assert_eq!(SampledWord::decode(0).next(at_ms).unwrap().number, 1);
        // The number wraps to 0 at a multiple of the ring's size.
        let last = SampledWord {
            number: (1 << 22) - 1,
            at_ms: 0,
        };
        let next = SampledWord::decode(last.next(at_ms).unwrap().encode());
        assert_eq!(next.number % SAMPLES, (last.number + 1) % SAMPLES);
    }
}

//! When a handle is to do what it does now and then: take a sample, look at its name, tidy up, ask
//! whether the owners of leases live.
//!
//! A call is timed when the one before it found by its count that one is due: so those that are not
//! cost one look at a word of this process, and nobody looks at the clock.

use crate::lock::PATIENCE;
use crate::sync::{Ordering, W32, W64};
use crate::sys::clock;
use crate::sys::notice::StandardError;

/// Of at most so many reads or writes of a participant one is followed by a look whether a sample
/// is due. Always of so many, where tests count the stores or choose the order of them.
const MOST_UNSEEN: u32 = 64;
pub(super) const IS_PACED: bool = !cfg!(any(feature = "torture", feature = "shuttle"));
/// From look to look: sooner, and fewer calls are followed by one; later, and more are.
const SOON_MS: u64 = 10;
const LATE_MS: u64 = 100;

/// Which calls are to be timed, or followed by a look at the clock.
pub(crate) struct Due {
    /// 1: the next is timed.
    pub(crate) read: W32,
    pub(crate) write: W32,
    /// A look follows each call whose number has all of these bits, a power of two less one.
    pub(crate) bits: W32,
    /// When somebody looked last.
    looked_ms: W64,
}

impl Due {
    pub(crate) const fn new() -> Self {
        Self {
            read: W32::new(0),
            write: W32::new(0),
            bits: W32::new(if IS_PACED { 0 } else { MOST_UNSEEN - 1 }),
            looked_ms: W64::new(0),
        }
    }

    /// Lets looks follow each other by some ten to hundred milliseconds, as far as calls do.
    pub(crate) fn pace(&self, now_ms: u64) {
        let looked_ms = self.looked_ms.load(Ordering::Relaxed);
        let bits = self.bits.load(Ordering::Relaxed);
        let paced = paced(bits, now_ms.saturating_sub(looked_ms));
        if now_ms != looked_ms {
            self.looked_ms.store(now_ms, Ordering::Relaxed);
        }
        if paced != bits {
            self.bits.store(paced, Ordering::Relaxed);
        }
    }
}

/// The bits after a look that came so long after the last.
fn paced(mut bits: u32, mut late_ms: u64) -> u32 {
    if late_ms < SOON_MS {
        return (bits << 1 | 1) & (MOST_UNSEEN - 1);
    }
    while late_ms > LATE_MS && bits > 0 {
        (bits, late_ms) = (bits >> 1, late_ms >> 1);
    }
    bits
}

/// When a handle looks at its name.
pub(crate) struct NameWatch {
    /// The second of the last look, 0 if the table has no name yet, or the constant below if it
    /// has no name any more.
    pub(crate) looked: W32,
    pub(crate) standard_error: StandardError,
}

/// A value of `looked`: the notice was given.
pub(super) const TOLD: u32 = u32::MAX;

impl NameWatch {
    pub(crate) fn new() -> Self {
        Self {
            looked: W32::new(0),
            standard_error: StandardError::now(),
        }
    }

    /// From now on the table has a name.
    pub(crate) fn begin(&self) {
        self.looked.store(now(), Ordering::Relaxed);
    }

    /// Whether it is time for a look; of several threads one gets it.
    pub(crate) fn is_due(&self) -> bool {
        let (looked, now) = (self.looked.load(Ordering::Relaxed), now());
        ![0, TOLD, now].contains(&looked) && self.looked.cas(looked, now, Ordering::Relaxed).is_ok()
    }
}

fn now() -> u32 {
    (clock::monotonic_s() as u32).clamp(1, TOLD - 1)
}

/// Steps of a handle, alone on a line: what readers need does not share it.
#[repr(align(64))]
pub(crate) struct Steps(pub(super) W32);

impl Steps {
    pub(crate) const fn new() -> Self {
        Self(W32::new(0))
    }
}

/// When this process last asked whether the owners of leases live, in milliseconds: who serves
/// stale values meanwhile asks now and then.
pub(crate) struct Asked([W64; ASKED]);

/// Records of different shards that share a place delay each other by some 10 ms.
const ASKED: usize = 64;

impl Asked {
    pub(crate) fn new() -> Self {
        Self(std::array::from_fn(|_| W64::new(0)))
    }

    /// Whether it was so long ago, of this record, that it is to be asked again.
    pub(crate) fn is_due(&self, shard: u32, number: u32, now_ms: u64) -> bool {
        let last = &self.0[(shard.wrapping_mul(5).wrapping_add(number)) as usize % ASKED];
        let is_due = now_ms.abs_diff(last.load(Ordering::Relaxed)) >= PATIENCE.as_millis() as u64;
        if is_due {
            last.store(now_ms, Ordering::Relaxed);
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_come_some_ten_to_hundred_milliseconds_apart() {
        // Calls a second, and how many of them there are to a look in the end.
        for (rate, expected) in [
            (1, 1),
            (10, 1),
            (40, 1),
            (400, 4),
            (4_000, 64),
            (4_000_000, 64),
        ] {
            for start in [0, MOST_UNSEEN - 1] {
                let mut bits = start;
                for _ in 0..20 {
                    bits = paced(bits, u64::from(bits + 1) * 1000 / rate);
                    assert!(bits < MOST_UNSEEN && (bits + 1).is_power_of_two());
                }
                let every_ms = u64::from(bits + 1) * 1000 / rate;
                assert!(bits == 0 || every_ms <= LATE_MS, "{rate}: {every_ms} ms");
                assert!(bits + 1 >= expected, "{rate}: {bits:#b}");
            }
        }
        // One pause is enough to look at every call.
        assert_eq!(paced(MOST_UNSEEN - 1, 6400), 0);
        assert_eq!(paced(MOST_UNSEEN - 1, u64::MAX), 0);
    }
}

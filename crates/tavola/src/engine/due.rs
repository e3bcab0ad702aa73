//! When a handle does what it does only at intervals: take a sample, check the table's name, do
//! housekeeping, ask whether owners of leases live. It also selects the calls that are timed.
//!
//! Reading the clock with each call would be too slow. So calls are counted, and only every so many
//! of them read the clock; how many adapts to the rate of calls. A call is timed if an earlier one
//! has set a word of this process, so an untimed call costs one load of that word.

use crate::lock::PATIENCE;
use crate::sync::{Ordering, W32, W64};
use crate::sys::clock;
use crate::sys::notice::StandardError;

/// Of at most so many reads or writes of a participant, one checks whether a sample is due. If
/// tests count stores or choose their order, it is always one in so many.
const MOST_UNSEEN: u32 = 64;
pub(super) const IS_PACED: bool = !cfg!(any(feature = "torture", feature = "shuttle"));
/// The intervals between checks: after less than `SOON_MS`, fewer calls check; after more than
/// `LATE_MS`, more calls do.
const SOON_MS: u64 = 10;
const LATE_MS: u64 = 100;

/// Which calls are timed, and which check the clock.
pub(crate) struct Due {
    /// 1: the next read is timed.
    pub(crate) read: W32,
    pub(crate) write: W32,
    /// A call checks the clock if its number has all of these bits, which are a power of two minus
    /// one.
    pub(crate) bits: W32,
    /// When a call last checked the clock.
    checked_ms: W64,
}

impl Due {
    pub(crate) const fn new() -> Self {
        Self {
            read: W32::new(0),
            write: W32::new(0),
            bits: W32::new(if IS_PACED { 0 } else { MOST_UNSEEN - 1 }),
            checked_ms: W64::new(0),
        }
    }

    /// Adapts the bits, so that checks follow each other after 10 to 100 ms if calls are frequent
    /// enough.
    pub(crate) fn pace(&self, now_ms: u64) {
        let checked_ms = self.checked_ms.load(Ordering::Relaxed);
        let bits = self.bits.load(Ordering::Relaxed);
        let paced = paced(bits, now_ms.saturating_sub(checked_ms));
        if now_ms != checked_ms {
            self.checked_ms.store(now_ms, Ordering::Relaxed);
        }
        if paced != bits {
            self.bits.store(paced, Ordering::Relaxed);
        }
    }
}

/// Returns the bits after a check that came `late_ms` after the last one.
fn paced(mut bits: u32, mut late_ms: u64) -> u32 {
    if late_ms < SOON_MS {
        return (bits << 1 | 1) & (MOST_UNSEEN - 1);
    }
    while late_ms > LATE_MS && bits > 0 {
        (bits, late_ms) = (bits >> 1, late_ms >> 1);
    }
    bits
}

/// When a handle checks the name of its table.
pub(crate) struct NameWatch {
    /// The second of the last check; 0: the table has no name yet; or [`NOTICE_GIVEN`].
    pub(crate) checked_s: W32,
    pub(crate) standard_error: StandardError,
}

/// A value of `checked_s`: the table lost its name, and the user was notified.
pub(super) const NOTICE_GIVEN: u32 = u32::MAX;

impl NameWatch {
    pub(crate) fn new() -> Self {
        Self {
            checked_s: W32::new(0),
            standard_error: StandardError::now(),
        }
    }

    /// Begins the checks: the table has a name now.
    pub(crate) fn begin(&self) {
        self.checked_s.store(now(), Ordering::Relaxed);
    }

    /// Returns whether it is time for a check; of several threads, only one gets true.
    pub(crate) fn is_due(&self) -> bool {
        let (checked, now) = (self.checked_s.load(Ordering::Relaxed), now());
        ![0, NOTICE_GIVEN, now].contains(&checked)
            && self.checked_s.cas(checked, now, Ordering::Relaxed).is_ok()
    }
}

fn now() -> u32 {
    (clock::monotonic_s() as u32).clamp(1, NOTICE_GIVEN - 1)
}

/// The number of steps of a handle, on a cache line of its own, so that readers do not share it.
#[repr(align(64))]
pub(crate) struct StepCount(pub(super) W32);

impl StepCount {
    pub(crate) const fn new() -> Self {
        Self(W32::new(0))
    }
}

/// When this process last asked whether the owner of a lease lives, in milliseconds, so that a
/// process which is served stale values asks only now and then.
pub(crate) struct OwnerChecks([W64; OWNER_CHECKS]);

/// How many times are kept. Records that share one delay each other's checks by some 10 ms.
const OWNER_CHECKS: usize = 64;

impl OwnerChecks {
    pub(crate) fn new() -> Self {
        Self(std::array::from_fn(|_| W64::new(0)))
    }

    /// Returns whether the last check for this record is so long ago that the caller must check
    /// again.
    pub(crate) fn is_due(&self, shard: u32, number: u32, now_ms: u64) -> bool {
        let index = shard.wrapping_mul(5).wrapping_add(number) as usize;
        let last = &self.0[index % OWNER_CHECKS];
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
    fn checks_are_ten_to_a_hundred_milliseconds_apart() {
        // Calls per second, and how many of them there are for each check in the end.
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
        // A single pause is enough to make every call check.
        assert_eq!(paced(MOST_UNSEEN - 1, 6400), 0);
        assert_eq!(paced(MOST_UNSEEN - 1, u64::MAX), 0);
    }
}

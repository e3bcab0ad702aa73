//! Latency histograms: how many of the timed calls took how long, in bins that double in width.

use super::assert_layout;
use crate::sync::{Ordering, W64};

/// How many rows of counts there are; a participant uses row slot modulo [`TIMINGS`]. So few calls
/// are timed that two participants of one row do not slow each other down.
pub(crate) const TIMINGS: u32 = 8;
/// Counts of a row, for reads and for writes each.
pub(crate) const BINS: usize = 32;
/// `log2` of the nanoseconds below which a call counts in the first bin.
const FIRST_LOG2: u32 = 6;

/// A row.
#[repr(C, align(64))]
pub(crate) struct Timing {
    /// Reads of a cache. The first bin counts those below 64 ns, each further bin those below twice
    /// the limit before, the last bin all others.
    pub(crate) reads: [W64; BINS],
    /// Calls that set a key of a cache, the same way.
    pub(crate) writes: [W64; BINS],
}
assert_layout!(Timing, size 512, { reads: 0, writes: 256 });

/// Counts a call that took `took_ns`.
pub(crate) fn count_time(bins: &[W64; BINS], took_ns: u64) {
    bins[bin_of(took_ns)].fetch_add(1, Ordering::Relaxed);
}

fn bin_of(took_ns: u64) -> usize {
    let bits = 64 - (took_ns >> FIRST_LOG2).leading_zeros();
    (bits as usize).min(BINS - 1)
}

/// Returns the nanoseconds below which a call counts in that bin or an earlier one.
pub(crate) fn bin_end_ns(bin: usize) -> u64 {
    match bin {
        bin if bin + 1 < BINS => 1 << (FIRST_LOG2 + bin as u32),
        _ => u64::MAX,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_time_is_counted_in_the_bin_that_ends_behind_it() {
        let ends = (0..63).map(|bit| 1u64 << bit);
        for ns in ends.flat_map(|end| [end - 1, end, end + 1]) {
            let bin = bin_of(ns);
            assert!(ns < bin_end_ns(bin), "{ns} ns");
            assert!(bin == 0 || ns >= bin_end_ns(bin - 1), "{ns} ns");
        }
        assert_eq!((bin_of(0), bin_of(63), bin_of(64)), (0, 0, 1));
        assert_eq!(bin_of(u64::MAX), BINS - 1);
    }
}

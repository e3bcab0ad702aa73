//! How long calls took.

/// Latency histograms of reads and writes of a cache since its creation; from
/// [`Table::latencies`](crate::Table::latencies).
///
/// About one in [`Latencies::EVERY`] of the calls that read or set one key is timed, which costs
/// about 30 ns. Each bucket is a pair: its upper bound in nanoseconds, and its number of calls. A
/// bucket begins where the previous one ends, the first at 0; the last has the bound [`u64::MAX`].
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Latencies {
    /// Reads.
    pub reads: Vec<(u64, u64)>,
    /// Writes.
    pub writes: Vec<(u64, u64)>,
}

impl Latencies {
    /// One in this number of calls of a participant is timed.
    pub const EVERY: u32 = 1024;

    /// Returns the time in nanoseconds within which this part of the calls (0 to 1) was done, or
    /// `None` if there were no calls. It is an estimate from buckets such as [`Latencies::reads`].
    pub fn quantile_ns(buckets: &[(u64, u64)], part: f64) -> Option<u64> {
        let all: f64 = buckets.iter().map(|(_, count)| *count as f64).sum();
        let wanted = part.clamp(0.0, 1.0) * all;
        let (mut begin_ns, mut before) = (0, 0.0);
        for (end_ns, count) in buckets {
            let count = *count as f64;
            if count > 0.0 && before + count >= wanted {
                let width_ns = match *end_ns {
                    u64::MAX => 0,
                    end_ns => end_ns.saturating_sub(begin_ns),
                };
                return Some(begin_ns + (width_ns as f64 * (wanted - before) / count) as u64);
            }
            (begin_ns, before) = (*end_ns, before + count);
        }
        None
    }
}

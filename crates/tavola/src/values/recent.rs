//! What was done with a cache in the last seconds.

use std::time::Duration;

/// Recent activity of a cache; in [`Stats::recent`](crate::Stats::recent).
///
/// The numbers are differences between the counters now and an earlier sample of them, which
/// readers and writers take. Of the samples that are at least half as old as `wanted`, the one with
/// the nearest age is used, and `spanned` is its age.
///
/// When the last sample is one second old, one of the next calls takes a new one: the first call if
/// its process makes up to ten calls per second, otherwise one of the calls of the next 100 ms, or
/// one of the next 64 if the rate has just dropped. So under constant load the last second spans
/// 0.5 to 1.6 seconds. During a pause no samples are taken: `spanned` then includes the pause, and
/// may be the same for the last second and the last ten.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recent {
    /// The requested time.
    pub wanted: Duration,
    /// The time that the numbers cover, at least half of `wanted`. If it is zero, the numbers are
    /// not known, and all are 0.
    pub spanned: Duration,
    /// Reads that found their key.
    pub hits: u64,
    /// Reads that did not find their key.
    pub misses: u64,
    /// Writes.
    pub writes: u64,
    /// Keys evicted.
    pub evicted: u64,
    /// Expired keys that were removed.
    pub expired: u64,
}

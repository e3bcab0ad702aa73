//! Latencies of all calls of a run, and what the scheduler had to do with the slowest.

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};
use tavola_program::RunQueue;

/// Calls slower than this are asked how long their process waited for a CPU meanwhile.
const SLOW_NS: u64 = 20_000;
/// Longer than any call may take; what is above it counts as this.
const LONGEST_NS: u64 = 3_600_000_000_000;

/// Collects the latencies of one process.
pub(crate) struct Latency {
    histogram: Histogram<u64>,
    max_ns: u64,
    max_less_wait_ns: u64,
    waits: Option<RunQueue>,
}

impl Latency {
    pub(crate) fn new() -> Self {
        Self {
            histogram: empty_histogram(),
            max_ns: 0,
            max_less_wait_ns: 0,
            waits: RunQueue::open(),
        }
    }

    /// Of calls that wait by themselves: what the scheduler had to do with them is not asked.
    pub(crate) fn of_waiting() -> Self {
        Self {
            waits: None,
            ..Self::new()
        }
    }

    #[inline]
    pub(crate) fn record(&mut self, ns: u64) {
        self.histogram.saturating_record(ns);
        self.max_ns = self.max_ns.max(ns);
        let own = if ns < SLOW_NS { ns } else { self.less_wait(ns) };
        self.max_less_wait_ns = self.max_less_wait_ns.max(own);
    }

    #[cold]
    fn less_wait(&mut self, ns: u64) -> u64 {
        let waited = self.waits.as_mut().map_or(0, RunQueue::waited_since_last);
        ns.saturating_sub(waited)
    }

    pub(crate) fn summary(&self) -> Summary {
        let counts = self.histogram.iter_recorded();
        Summary {
            counts: counts
                .map(|step| (step.value_iterated_to(), step.count_at_value()))
                .collect(),
            max_ns: self.max_ns,
            max_less_wait_ns: self.max_less_wait_ns,
        }
    }
}

fn empty_histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, LONGEST_NS, 2).expect("bounds and digits are in range")
}

/// The latencies of one process, as they travel to the leader.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Summary {
    counts: Vec<(u64, u64)>,
    max_ns: u64,
    max_less_wait_ns: u64,
}

/// The latencies of all processes together.
pub(crate) struct Merged {
    histogram: Histogram<u64>,
    max_ns: u64,
    max_less_wait_ns: u64,
}

/// Latencies of a phase, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Percentiles {
    /// Half of all calls were faster.
    pub p50_ns: u64,
    /// 99 of 100 calls were faster.
    pub p99_ns: u64,
    /// 999 of 1,000.
    pub p999_ns: u64,
    /// 9,999 of 10,000.
    pub p9999_ns: u64,
    /// The slowest of all.
    pub max_ns: u64,
    /// The slowest of all when the time its process stood in the run queue is taken off.
    pub max_less_wait_ns: u64,
}

impl Merged {
    pub(crate) fn new() -> Self {
        Self {
            histogram: empty_histogram(),
            max_ns: 0,
            max_less_wait_ns: 0,
        }
    }

    pub(crate) fn add(&mut self, part: &Summary) {
        for &(value, count) in &part.counts {
            self.histogram.saturating_record_n(value, count);
        }
        self.max_ns = self.max_ns.max(part.max_ns);
        self.max_less_wait_ns = self.max_less_wait_ns.max(part.max_less_wait_ns);
    }

    pub(crate) fn join(&mut self, other: &Self) {
        self.histogram
            .add(&other.histogram)
            .expect("both have the same bounds");
        self.max_ns = self.max_ns.max(other.max_ns);
        self.max_less_wait_ns = self.max_less_wait_ns.max(other.max_less_wait_ns);
    }

    /// How many calls were timed.
    pub(crate) fn count(&self) -> u64 {
        self.histogram.len()
    }

    pub(crate) fn percentiles(&self) -> Percentiles {
        let at = |quantile| self.histogram.value_at_quantile(quantile).min(self.max_ns);
        Percentiles {
            p50_ns: at(0.5),
            p99_ns: at(0.99),
            p999_ns: at(0.999),
            p9999_ns: at(0.9999),
            max_ns: self.max_ns,
            max_less_wait_ns: self.max_less_wait_ns,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merged_percentiles_are_those_of_all() {
        let mut merged = Merged::new();
        for part in 0..2 {
            let mut latency = Latency::new();
            (1..=5000).for_each(|ns| latency.record(ns * 2 + part));
            merged.add(&latency.summary());
        }
        assert_eq!(merged.count(), 10_000);
        let found = merged.percentiles();
        assert_eq!(found.max_ns, 10_001);
        assert!(found.p50_ns.abs_diff(5_000) <= 100, "{found:?}");
        assert!(found.p99_ns.abs_diff(9_900) <= 150, "{found:?}");
        assert_eq!(found.max_less_wait_ns, found.max_ns, "none of them is slow");
    }

    #[test]
    fn a_slow_call_counts_in_full_without_an_account_of_waiting() {
        let mut latency = Latency::new();
        latency.waits = None;
        latency.record(5_000_000);
        assert_eq!(latency.summary().max_less_wait_ns, 5_000_000);
    }
}

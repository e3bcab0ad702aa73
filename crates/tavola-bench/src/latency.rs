//! Latencies of calls, and what the scheduler had to do with the slowest.

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};
use tavola_program::RunQueue;

/// Calls slower than this are asked how long their process waited for a CPU meanwhile.
const SLOW_NS: u64 = 20_000;
/// Longer than any call may take; what is above it counts as this.
const LONGEST_NS: u64 = 3_600_000_000_000;

/// Collects the latencies of one process, or of all together.
pub struct Latency {
    histogram: Histogram<u64>,
    max_ns: u64,
    max_less_wait_ns: u64,
    waits: Option<RunQueue>,
}

/// The latencies of one process, as they travel to the leader.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Summary {
    counts: Vec<(u64, u64)>,
    max_ns: u64,
    max_less_wait_ns: u64,
}

/// Latencies of a phase, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Percentiles {
    pub p50_ns: u64,
    pub p99_ns: u64,
    pub p999_ns: u64,
    pub p9999_ns: u64,
    pub max_ns: u64,
    /// The slowest of all when the time its process stood in the run queue is taken off.
    pub max_less_wait_ns: u64,
}

impl Latency {
    pub fn new() -> Self {
        Self {
            waits: RunQueue::open(),
            ..Self::of_waiting()
        }
    }

    /// Of calls that wait by themselves: what the scheduler had to do with them is not asked.
    pub fn of_waiting() -> Self {
        let histogram = Histogram::new_with_bounds(1, LONGEST_NS, 2);
        Self {
            histogram: histogram.expect("bounds and digits are in range"),
            max_ns: 0,
            max_less_wait_ns: 0,
            waits: None,
        }
    }

    /// Those of several processes.
    pub fn merged<'a>(parts: impl IntoIterator<Item = &'a Summary>) -> Self {
        let mut all = Self::of_waiting();
        for part in parts {
            for &(value, count) in &part.counts {
                all.histogram.saturating_record_n(value, count);
            }
            all.max_ns = all.max_ns.max(part.max_ns);
            all.max_less_wait_ns = all.max_less_wait_ns.max(part.max_less_wait_ns);
        }
        all
    }

    #[inline]
    pub fn record(&mut self, ns: u64) {
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

    pub fn summary(&self) -> Summary {
        let counts = self.histogram.iter_recorded();
        Summary {
            counts: counts
                .map(|step| (step.value_iterated_to(), step.count_at_value()))
                .collect(),
            max_ns: self.max_ns,
            max_less_wait_ns: self.max_less_wait_ns,
        }
    }

    /// How many calls were timed.
    pub fn count(&self) -> u64 {
        self.histogram.len()
    }

    pub fn percentiles(&self) -> Percentiles {
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
        let parts = [0, 1].map(|part| {
            let mut latency = Latency::new();
            (1..=5000).for_each(|ns| latency.record(ns * 2 + part));
            latency.summary()
        });
        let merged = Latency::merged(&parts);
        assert_eq!(merged.count(), 10_000);
        let found = merged.percentiles();
        assert_eq!(found.max_ns, 10_001);
        assert!(found.p50_ns.abs_diff(5_000) <= 100, "{found:?}");
        assert!(found.p99_ns.abs_diff(9_900) <= 150, "{found:?}");
        assert_eq!(found.max_less_wait_ns, found.max_ns, "none of them is slow");
        let mut slow = Latency::of_waiting();
        slow.record(5_000_000);
        assert_eq!(slow.summary().max_less_wait_ns, 5_000_000);
    }
}

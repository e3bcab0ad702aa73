//! What is compared of two rows of one case, and when neither is called faster. The report's script
//! (`page/report.js`) decides by the same rules.

use super::job::Latency;
use super::report::Row;

/// The median of all runs, and how far they reach.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Figure {
    pub(super) median: f64,
    pub(super) least: f64,
    pub(super) most: f64,
}

impl Figure {
    /// Whether it is of one run.
    fn is_single(self) -> bool {
        self.least == self.most
    }
}

/// What is of one run tells nothing of its spread: two such are called level where they are closer
/// than this.
const CLOSE: f64 = 1.1;

/// Where each call is timed, looking at the clock is a part of all rates: what is compared is the
/// time within which 99 % of the calls were done.
pub(super) fn is_timed(row: &Row) -> bool {
    row.case.timed && row.latency.p99_ns.is_some()
}

/// Of a row, in nanoseconds where calls are timed, else in its unit.
pub(super) fn figure(row: &Row, timed: bool) -> Figure {
    let Some(median) = row.latency.p99_ns.filter(|_| timed) else {
        return Figure {
            median: row.median,
            least: row.least,
            most: row.most,
        };
    };
    // Results of before have that of one run.
    let of = |all: &Option<Latency>| all.as_ref().and_then(|all| all.p99_ns).unwrap_or(median);
    Figure {
        median: median as f64,
        least: of(&row.latency_least) as f64,
        most: of(&row.latency_most) as f64,
    }
}

/// How many times as fast the first is.
pub(super) fn ratio(one: Figure, other: Figure, higher_is_better: bool) -> f64 {
    match higher_is_better {
        true => one.median / other.median,
        false => other.median / one.median,
    }
}

/// Their runs overlap, or one has but one run and they are close: neither is called faster.
pub(super) fn is_level(one: Figure, other: Figure) -> bool {
    let overlap = one.least <= other.most && other.least <= one.most;
    let ratio = one.median / other.median;
    let is_close = ratio < CLOSE && ratio > 1.0 / CLOSE;
    overlap || is_close && (one.is_single() || other.is_single())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(median: f64, spread: f64) -> Figure {
        Figure {
            median,
            least: median - spread,
            most: median + spread,
        }
    }

    #[test]
    fn runs_that_overlap_are_level() {
        assert!(is_level(of(10.0, 1.0), of(12.0, 1.0)));
        assert!(!is_level(of(10.0, 0.1), of(10.5, 0.1)));
    }

    #[test]
    fn of_single_runs_those_that_are_close_are_level() {
        for (one, other, level) in [(10.0, 10.9, true), (10.9, 10.0, true), (10.0, 11.1, false)] {
            assert_eq!(is_level(of(one, 0.0), of(other, 0.0)), level);
            assert_eq!(is_level(of(one, 0.0), of(other, 0.01)), level);
        }
    }

    #[test]
    fn latencies_of_several_runs_reach_from_the_least_to_the_most() {
        let p99 = |ns| Latency {
            p99_ns: Some(ns),
            ..Latency::default()
        };
        let mut row = Row {
            latency: p99(20),
            ..Row::default()
        };
        assert_eq!(figure(&row, true), of(20.0, 0.0));
        row.latency_least = Some(p99(15));
        row.latency_most = Some(p99(25));
        assert_eq!(figure(&row, true), of(20.0, 5.0));
    }

    #[test]
    fn a_single_run_within_the_runs_of_the_other_is_level() {
        let (single, wide) = (of(10.0, 0.0), of(12.0, 2.5));
        assert!(is_level(single, wide) && is_level(wide, single));
        assert!(!is_level(single, of(12.0, 1.5)));
    }
}

//! What is compared of two rows of one case, and when neither is called faster. Who is behind whom
//! ([`behind`](super::behind)) and the page's contests are told by the same measure.

use super::report::Row;

/// The median of all runs, and how far they reach.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Figure {
    pub(super) median: f64,
    pub(super) least: f64,
    pub(super) most: f64,
}

/// Two latencies closer than this are called level: they are of one run each.
const CLOSE: f64 = 1.1;

/// Where each call is timed, looking at the clock is a part of all rates: what is compared is the
/// time within which 99 % of the calls were done.
pub(super) fn is_timed(row: &Row) -> bool {
    row.case.timed && row.latency.p99_ns.is_some()
}

/// Of a row, in nanoseconds where calls are timed, else in its unit.
pub(super) fn figure(row: &Row, timed: bool) -> Figure {
    match row.latency.p99_ns.filter(|_| timed) {
        Some(ns) => Figure {
            median: ns as f64,
            least: ns as f64,
            most: ns as f64,
        },
        None => Figure {
            median: row.median,
            least: row.least,
            most: row.most,
        },
    }
}

/// How many times as fast the first is.
pub(super) fn ratio(one: Figure, other: Figure, higher_is_better: bool) -> f64 {
    match higher_is_better {
        true => one.median / other.median,
        false => other.median / one.median,
    }
}

/// Their runs overlap, or their times are close: neither is called faster.
pub(super) fn is_level(one: Figure, other: Figure, timed: bool) -> bool {
    let ratio = one.median / other.median;
    match timed {
        true => ratio < CLOSE && ratio > 1.0 / CLOSE,
        false => one.least <= other.most && other.least <= one.most,
    }
}

//! Figures about the server and the table, as `stats` reports them: names and values, in the order
//! in which memcached reports them.
//!
//! Tools look for names: each that memcached has is reported, with 0 where there is nothing here
//! that it could count. Which these are is in docs/internals/protocol.md.

mod classes;
mod general;
mod settings;

pub(super) use classes::{items, slabs};
pub(super) use general::general;
pub(super) use settings::settings;

use std::fmt::Display;

use tavola::Stats;

use super::work::Work;

/// Gets one name and one value after the other.
pub(super) type Reporter<'a> = dyn FnMut(&str, &dyn Display) + 'a;

/// What a cache may take; else what the table may grow to.
fn limit(stats: &Stats) -> u64 {
    stats.capacity.unwrap_or(stats.max_size)
}

/// `stats conns`.
pub(super) fn connections(work: &Work, report: &mut Reporter<'_>) {
    let connections = &work.shared.connections;
    connections.report_each(work.descriptor, work.meter.setup(), report);
}

/// `stats reset`: all counts of commands begin at 0. Those of the table are everybody's and stay.
pub(super) fn reset(work: &Work) {
    work.shared.tallies.reset();
    work.shared.prefixes.reset();
}

//! Figures about the server and the table, as `stats` reports them: names and values, in the order
//! in which memcached reports them.
//!
//! Tools look for names, so each name of memcached is reported, with 0 if this server has nothing
//! to count for it. The page docs/internals/protocol.md lists these names.

mod classes;
mod general;
mod settings;

pub(super) use classes::{items, slabs};
pub(super) use general::general;
pub(super) use settings::settings;

use std::fmt::Display;

use tavola::Stats;

use super::work::Work;

/// A function that is called with one name and one value after the other.
pub(super) type Reporter<'a> = dyn FnMut(&str, &dyn Display) + 'a;

/// Returns the capacity of a cache, or the largest size of a table that is not a cache.
fn limit(stats: &Stats) -> u64 {
    stats.capacity.unwrap_or(stats.max_size)
}

/// Reports `stats conns`.
pub(super) fn connections(work: &Work, report: &mut Reporter<'_>) {
    let connections = &work.shared.connections;
    connections.report_each(work.descriptor, work.meter.setup(), report);
}

/// Carries out `stats reset`: all counts of commands begin at 0. The counts of the table belong to
/// all of its processes and stay.
pub(super) fn reset(work: &Work) {
    work.shared.tallies.reset();
    work.shared.prefixes.reset();
}

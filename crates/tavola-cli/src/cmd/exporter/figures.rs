//! The figures of a table, and how a family of metrics puts them on a page.

use tavola::{
    DurableStats, Error, Holder, Latencies, LiveKeys, LogStats, Participant, Stats, Table,
};

use super::openmetrics::{Kind, Samples};
use crate::beside::{self, Depth};

/// The figures of a table at one moment.
pub struct TableFigures {
    pub(super) stats: Stats,
    pub(super) participants: Vec<Participant>,
    pub(super) logs: Vec<(String, LogStats)>,
    pub(super) depths: Vec<Depth>,
    pub(super) latencies: Latencies,
    pub(super) keys: LiveKeys,
    pub(super) holders: Vec<Holder>,
    pub(super) shard_writes: u64,
    pub durable: Option<DurableStats>,
}

/// The name of a table, and what it said, or why it said nothing.
pub type NamedFigures = (String, Result<TableFigures, Error>);

impl TableFigures {
    pub fn at(table: &Table) -> Result<TableFigures, tavola::Error> {
        let shards = table.shard_stats()?;
        let writes = shards.iter().map(|shard| shard.writes);
        let mut participants = table.participants()?;
        participants.retain(|one| !one.is_this_process());
        Ok(TableFigures {
            stats: table.stats()?,
            participants,
            logs: beside::logs(table)?,
            depths: beside::depths(table)?,
            latencies: table.latencies()?,
            keys: table.live_keys()?,
            holders: table.lock_holders()?,
            shard_writes: writes.fold(0, u64::wrapping_add),
            durable: table.durable_stats()?,
        })
    }
}

/// The samples of one table in one family.
pub struct Of<'a, 'p> {
    pub(super) table: &'a str,
    pub(super) out: &'a mut Samples<'p>,
}

impl Of<'_, '_> {
    pub fn put(&mut self, value: impl std::fmt::Display) {
        self.out.put(&[("table", self.table)], value);
    }

    pub(super) fn put_by(&mut self, label: &str, which: &str, value: impl std::fmt::Display) {
        self.out
            .put(&[("table", self.table), (label, which)], value);
    }

    /// A number of each log beside the table.
    pub(super) fn put_logs(&mut self, now: &TableFigures, of: impl Fn(&LogStats) -> u64) {
        for (name, stats) in &now.logs {
            self.put_by("log", name, of(stats));
        }
    }

    pub(super) fn put_if(&mut self, is: bool, value: u64) {
        if is {
            self.put(value);
        }
    }

    pub(super) fn put_buckets(&mut self, operation: &str, buckets: &[(u64, u64)]) {
        let labels = [("table", self.table), ("operation", operation)];
        self.out.buckets_ns(&labels, buckets);
    }
}

/// Name, kind, unit, help, and what a table puts there.
pub struct Family(
    pub &'static str,
    pub Kind,
    pub &'static str,
    pub &'static str,
    pub fn(&TableFigures, &mut Of<'_, '_>),
);

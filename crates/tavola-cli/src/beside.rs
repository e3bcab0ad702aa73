//! The logs and queues beside a table, as `stat`, `top` and the exporter report them.

use tavola::{Error, LogStats, Overload, Table};

use crate::kind::Kind;
use crate::output::printable;
use crate::units::{count, counted, size};

/// The name of each log in a table's file, and what it holds.
pub fn logs(table: &Table) -> Result<Vec<(String, LogStats)>, Error> {
    let names = table.logs()?.into_iter();
    names
        .map(|name| {
            let stats = table.log(&name)?.stats();
            Ok((name, stats))
        })
        .collect()
}

/// The number of elements in a queue.
pub struct Depth {
    /// The name of the pool, empty for one in a file of its own.
    pub pool: String,
    pub queue: String,
    pub elements: u64,
}

/// The most queues of a pool that are reported.
const MOST_QUEUES: usize = 100;

/// Returns the depth of the queues in a table's file. The first queue of a pool, which has all
/// elements at the beginning, is left out if there are others.
pub fn depths(table: &Table) -> Result<Vec<Depth>, Error> {
    let mut depths = Vec::new();
    for name in table.pools()? {
        let pool = table.pool(&name)?;
        let queues = pool.queues();
        let first = usize::from(queues.len() > 1);
        for queue in queues.into_iter().skip(first).take(MOST_QUEUES) {
            depths.push(Depth {
                elements: pool.queue(&queue)?.len() as u64,
                pool: name.clone(),
                queue,
            });
        }
    }
    Ok(depths)
}

impl Depth {
    /// Returns the queue in words: `queue 'jobs'`, or `queue 'jobs' of 'pool'`.
    pub fn label(&self) -> String {
        let queue = printable(self.queue.as_bytes());
        match self.pool.is_empty() {
            true => format!("queue '{queue}'"),
            false => format!("queue '{queue}' of '{}'", printable(self.pool.as_bytes())),
        }
    }
}

/// Returns how many keys, elements or lines a table of this kind holds, and the word for one.
pub fn held(table: &Table, kind: Kind) -> Result<(u64, &'static str), Error> {
    Ok(match kind {
        Kind::Table | Kind::Cache => (table.live_keys()?.live, "key"),
        Kind::Queue => {
            let depths = depths(table)?;
            (depths.iter().map(|one| one.elements).sum(), "element")
        }
        Kind::Log => {
            let logs = logs(table)?;
            (logs.iter().map(|(_, stats)| stats.lines).sum(), "line")
        }
    })
}

/// The name of a log, quoted; one in a file of its own has none.
pub fn label(name: &str) -> String {
    match name.is_empty() {
        true => "log".to_owned(),
        false => format!("log '{}'", printable(name.as_bytes())),
    }
}

/// Returns what a log holds, in one line.
pub fn describe_log(stats: &LogStats) -> String {
    let drain = match stats.has_drain {
        true => "a drain",
        false => "no drain",
    };
    format!(
        "{}, {} of them not drained, {} dropped; {} of {}, {}, {drain}",
        counted(stats.lines, "line"),
        count(stats.awaiting),
        count(stats.dropped),
        size(stats.used_bytes),
        size(stats.bytes),
        policy(stats.overload)
    )
}

/// A policy by its name on the command line.
pub fn policy(overload: Overload) -> &'static str {
    match overload {
        Overload::DropOldest => "drop-oldest",
        Overload::DropNewest => "drop-newest",
        Overload::Block => "block",
    }
}

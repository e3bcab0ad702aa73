//! The logs beside a table, as `stat`, `top` and the exporter report them.

use tavola::{Error, LogStats, Overload, Table};

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

/// The name of a log, quoted; one in a file of its own has none.
pub fn label(name: &str) -> String {
    match name.is_empty() {
        true => "log".to_owned(),
        false => format!("log '{}'", printable(name.as_bytes())),
    }
}

/// What a log holds, in one line.
pub fn told(stats: &LogStats) -> String {
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

//! What a file of tables holds: keys, with or without eviction, a queue, or a log.

use tavola::Table;

use crate::error::CliError;

/// What a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Table,
    Cache,
    Queue,
    Log,
}

impl Kind {
    /// Returns the kind of an open table. A log or queue with a file of its own has no name there.
    pub fn of(table: &Table) -> Result<Kind, CliError> {
        let has_own = |names: Vec<String>| names.iter().any(String::is_empty);
        Ok(match () {
            () if has_own(table.logs()?) => Kind::Log,
            () if has_own(table.pools()?) => Kind::Queue,
            () if table.capacity()?.is_some() => Kind::Cache,
            () => Kind::Table,
        })
    }

    pub fn name(self) -> &'static str {
        match self {
            Kind::Table => "table",
            Kind::Cache => "cache",
            Kind::Queue => "queue",
            Kind::Log => "log",
        }
    }

    /// Returns the sentence for a command that needs keys, if files of this kind have none.
    pub fn other_command(self, name: &str) -> Option<String> {
        match self {
            Kind::Table | Kind::Cache => None,
            Kind::Log => Some(format!(
                "{name} is a log, which has no keys; run 'tavola log show {name}'"
            )),
            Kind::Queue => Some(format!(
                "{name} is a queue, which has no keys; run 'tavola queue ls {name}'"
            )),
        }
    }
}

//! The phases `put`, `over`, `mix`, `get`, `miss` over N keys by P processes.
//!
//! ```text
//! leader   make table ─ start workers ─ go at T ────────────── collect ─ next phase …
//! worker                 attach ─ wait  └─ T: own share of keys ─┘ report
//! ```
//!
//! - `put`: each key for the first time, on a fresh table that grows meanwhile.
//! - `over`: each key again, with another value of the same length.
//! - `mix`: 98 % get; every 50th operation is a remove and a set of the same key, counted as one.
//! - `get`: keys that are there. `miss`: keys that never were.
//!
//! Worker p handles the p-th share of the keys, in random order; a small table is passed over
//! several times, until there are [`Config::min_ops`]. Throughput counts from T to the end of the
//! last worker. **Latencies come from a run of their own**, in which every single call is timed:
//! for `put` on a second fresh table, for `over` over all keys, for the others over
//! [`Config::latency_ops`] calls; so the slowest put is the slowest of all, pauses of growth
//! included. With a batch, a call is a batch.

mod crew;
mod job;
mod phases;
mod report;
mod steps;
mod worker;

use std::ffi::OsString;
use std::path::PathBuf;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use tavola::Table;

pub use phases::run;
pub use report::{Collapse, Line, PhaseLine, Summary};
pub use worker::work;

use crate::bytes::KeyWords;
use crate::{Error, Place, Result};

/// A phase of the measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// New keys.
    Put,
    /// Values of keys that are there are overwritten.
    Over,
    /// 98 % get, 2 % remove and set.
    Mix,
    /// Keys that are there.
    Get,
    /// Keys that are not there.
    Miss,
}

impl Phase {
    /// All of them, in the order they run.
    pub const ALL: [Self; 5] = [Self::Put, Self::Over, Self::Mix, Self::Get, Self::Miss];

    /// As it is written on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Put => "put",
            Self::Over => "over",
            Self::Mix => "mix",
            Self::Get => "get",
            Self::Miss => "miss",
        }
    }
}

impl FromStr for Phase {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let found = Self::ALL.into_iter().find(|phase| phase.name() == text);
        found.ok_or_else(|| format!("no phase {text:?}: there are put, over, mix, get, miss"))
    }
}

/// Which keys the phases after `put` ask for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Distribution {
    /// All, equally often.
    #[default]
    Uniform,
    /// One single key, the same for all processes.
    Hot,
}

/// What CPUs the workers run on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Placement {
    /// Where the system puts them.
    #[default]
    Free,
    /// Worker p on the p-th CPU, round and round.
    Spread,
    /// All on this one.
    One(usize),
}

/// What to measure.
#[derive(Clone, Debug)]
pub struct Config {
    /// Program and arguments that start a worker, which calls [`work`].
    pub worker: (PathBuf, Vec<OsString>),
    /// Where the table is made.
    pub place: Place,
    /// Keys in the table.
    pub keys: u64,
    /// Processes.
    pub procs: u32,
    /// Bytes a key.
    pub key_bytes: usize,
    /// Bytes a value.
    pub value_bytes: usize,
    /// Keys a call; 1 for one at a time.
    pub batch: usize,
    /// The phases that are reported; `put` runs in any case.
    pub phases: Vec<Phase>,
    /// The keys that are asked for.
    pub distribution: Distribution,
    /// One process more, that writes one key all the time while `get` and `miss` run.
    pub hot_writer: bool,
    /// Huge pages before the reading phases.
    pub collapse: bool,
    /// The workers' CPUs.
    pub placement: Placement,
    /// How often everything is run, each time on a fresh table; medians are reported.
    pub repeat: u32,
    /// Every phase but `put` goes on over its keys until it has made so many operations.
    pub min_ops: u64,
    /// Whether latencies are measured, too.
    pub latency: bool,
    /// How many calls of `mix`, `get` and `miss` are timed for that.
    pub latency_ops: u64,
}

impl Config {
    /// # Errors
    ///
    /// `BadOption` when a number is out of bounds.
    pub fn check(&self) -> Result<()> {
        let bad = |option, why: &str| {
            Err(Error::BadOption {
                option,
                why: why.to_owned(),
            })
        };
        let most = KeyWords::new(self.key_bytes).largest_index() / 2;
        match self {
            _ if self.keys == 0 => bad("keys", "at least one key is needed"),
            _ if self.key_bytes == 0 => bad("key-bytes", "at least one byte is needed"),
            _ if self.keys > most => bad("keys", "more than there are keys of that many bytes"),
            _ if self.procs == 0 => bad("procs", "at least one process is needed"),
            _ if u64::from(self.procs) > self.keys => bad("procs", "more processes than keys"),
            _ if self.batch == 0 => bad("batch", "1 stands for one key at a time"),
            _ if self.repeat == 0 => bad("repeat", "at least one run is needed"),
            _ if self.latency && self.latency_ops == 0 => bad(
                "latency-ops",
                "at least one call is needed; or measure no latencies",
            ),
            _ => Ok(()),
        }
    }
}

/// Calls `maintain` until nothing is left to do; returns bytes collapsed, and whether the machine
/// has huge pages at all.
pub(crate) fn maintain_until_done(table: &Table) -> Result<(u64, bool)> {
    const BUDGET_BYTES: u64 = 256 << 20;
    let mut collapsed = 0;
    loop {
        let step = table.maintain(BUDGET_BYTES)?;
        collapsed += step.collapsed_bytes;
        let idle = step.collapsed_bytes == 0 && step.given_back_bytes == 0;
        if step.done || idle || !step.huge_pages_supported {
            return Ok((collapsed, step.huge_pages_supported));
        }
    }
}

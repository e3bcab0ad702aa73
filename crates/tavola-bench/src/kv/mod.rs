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

mod phases;
mod steps;
mod worker;

use std::time::Duration;

use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use tavola_program::units::{parse_count, parse_size, parse_time};

pub use phases::run;
pub use worker::work;

use crate::bytes::KeyWords;
use crate::{Error, Place, Result};

/// A phase of the measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ValueEnum)]
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
}

/// Which keys the phases after `put` ask for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Distribution {
    /// All keys, equally often
    #[default]
    Uniform,
    /// One single key
    Hot,
}

const HELP: &str = "\
Phases:
  put    new keys, on a fresh table that grows meanwhile
  over   other values for keys that are there (with passes over small tables: see --min-ops)
  mix    98 % get; each 50th operation is a delete and a put of one key, counted as one
  get    keys that are there, in random order
  miss   keys that are not there

Each process has its share of the keys. Seconds count from the common start to the end of
the last process. Latencies come from a second run in which each single call is timed (put:
on a second fresh table; over: all keys; the others: --latency-ops calls), so that 'max' of
put and over is the slowest of all calls. With --batch a call is a batch; mix is never batched.
JSON has also max_less_wait_ns (the slowest without the time its process stood in the run
queue), timed (how many calls these are of), share (M/s of each process in its own time) and
runs (M/s of each repetition); its last line has bytes_per_key, resident_bytes, and what
harness and clock cost, which is never taken off.

Examples:
  tavola-bench kv --keys 1M
  tavola-bench kv --keys 10M --batch 32 --collapse
  tavola-bench kv --keys 1M --procs 2 --cpu 0               two processes on one CPU
  tavola-bench kv --keys 1M --phases get --dist hot --procs 2
  tavola-bench kv --keys 1M --phases get --shards 1 --hot-writer";

/// The columns of a line for people.
pub const COLUMNS: &[&str] = &[
    "phase", "ops", "seconds", "mops", "p50_ns", "p99_ns", "p999_ns", "p9999_ns", "max_ns", "runs",
];

/// Put, overwrite, mixed load, get and miss over many keys by many processes
#[derive(clap::Args)]
#[command(after_help = HELP)]
pub struct Config {
    /// Keys in the table; K, M and G stand for thousands, millions, milliards
    #[arg(long, short, value_name = "N", default_value = "1M", value_parser = parse_count)]
    pub keys: u64,
    /// Processes
    #[arg(long, short, value_name = "P", default_value_t = 1)]
    pub procs: u32,
    /// Bytes a value
    #[arg(long, short, value_name = "V", default_value_t = 8)]
    pub value_bytes: usize,
    /// Bytes a key
    #[arg(long, value_name = "K", default_value_t = 8)]
    pub key_bytes: usize,
    /// A table of these lengths only, whose items have no header
    #[arg(long)]
    pub fixed: bool,
    /// Keys expire so long after they were set, such as 1h
    #[arg(long, value_name = "TIME", value_parser = parse_time, conflicts_with = "fixed")]
    pub ttl: Option<Duration>,
    /// A cache of so many bytes, such as 64M; all keys must fit, but with `--phases put`
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub capacity: Option<u64>,
    /// Keys a call: get_many and set_many
    #[arg(long, short, value_name = "B", default_value_t = 1)]
    pub batch: usize,
    /// The phases, with commas between
    #[arg(long, value_delimiter = ',', default_value = "put,over,mix,get,miss")]
    pub phases: Vec<Phase>,
    /// Which keys are asked for
    #[arg(long, value_enum, default_value_t)]
    pub dist: Distribution,
    /// One process more writes one key all the time while get and miss run
    #[arg(long)]
    pub hot_writer: bool,
    /// Huge pages before the reading phases, by calls of maintain
    #[arg(long)]
    pub collapse: bool,
    /// Process p stays on CPU p (modulo their number)
    #[arg(long, conflicts_with = "cpu")]
    pub pin: bool,
    /// All processes stay on this CPU
    #[arg(long, value_name = "C")]
    pub cpu: Option<usize>,
    /// Run everything so often, each time on a fresh table; the median counts
    #[arg(long, short, value_name = "R", default_value_t = 1)]
    pub repeat: u32,
    /// Pass over the keys until there are so many operations (all phases but put)
    #[arg(long, value_name = "N", default_value = "4M", value_parser = parse_count)]
    pub min_ops: u64,
    /// Measure throughput only
    #[arg(long)]
    pub no_latency: bool,
    /// Calls of mix, get and miss that are timed one by one
    #[arg(long, value_name = "N", default_value = "1M", value_parser = parse_count)]
    pub latency_ops: u64,
    #[command(flatten)]
    pub place: Place,
    /// Print one JSON object per line
    #[arg(long)]
    pub json: bool,
}

impl Config {
    /// The CPU of a worker; the system places it if there is none.
    fn cpu_of(&self, worker: usize) -> Option<usize> {
        let cpus = std::thread::available_parallelism().map_or(1, usize::from);
        self.cpu.or(self.pin.then_some(worker % cpus))
    }

    /// Mix is never batched.
    fn batch_of(&self, phase: Phase) -> usize {
        if phase == Phase::Mix { 1 } else { self.batch }
    }

    /// Where the table is made, with the lengths and the times of its keys.
    fn place(&self) -> Place {
        let fits = |bytes: usize| u32::try_from(bytes).unwrap_or(u32::MAX);
        let fixed = (fits(self.key_bytes), fits(self.value_bytes));
        Place {
            fixed: self.fixed.then_some(fixed),
            ttl: self.ttl,
            capacity: self.capacity,
            ..self.place.clone()
        }
    }

    fn check(&self) -> Result<()> {
        let bad = |option, why: &str| Err(Error::option(option, why));
        let most = KeyWords::new(self.key_bytes).largest_index() / 2;
        match self {
            _ if self.keys == 0 => bad("keys", "at least one key is needed"),
            _ if self.key_bytes == 0 => bad("key-bytes", "at least one byte is needed"),
            _ if self.keys > most => bad("keys", "more than there are keys of that many bytes"),
            _ if self.procs == 0 => bad("procs", "at least one process is needed"),
            _ if u64::from(self.procs) > self.keys => bad("procs", "more processes than keys"),
            _ if self.batch == 0 => bad("batch", "1 stands for one key at a time"),
            _ if self.repeat == 0 => bad("repeat", "at least one run is needed"),
            _ if !self.no_latency && self.latency_ops == 0 => bad(
                "latency-ops",
                "at least one call is needed; or measure no latencies",
            ),
            _ => Ok(()),
        }
    }
}

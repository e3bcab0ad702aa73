//! Clients of memcached: `tavola serve` beside memcached itself, under the same requests.
//!
//! Both servers run at the same time, on loopback or on Unix sockets in a folder of their own; the
//! one that is not asked sleeps. A client process asks one for a while, then another client asks
//! the other: a pair. Which goes first changes from pair to pair, and what counts is the ratio
//! within each pair, as in [`scale`](crate::scale).
//!
//! ```text
//! leader ── starts servers, connects clients, removes the folder ── asks for a run ── CPU time ──
//! client    connects, stores all keys                               └ trip ─ trip ─ … ┘ reports
//! ```
//!
//! - A *trip* is what a client sends before it waits, and all that is answered to it. Its latency
//!   is that of the whole trip: of one request, or of a pipeline of 100.
//! - Requests and the answers to come are made before a run, by `tavola-proto`; what comes is
//!   compared byte for byte, except unique numbers. What was set is read back after each run.
//! - *One CPU*: the client and all threads of the server share one. *Two CPUs*: the client has one,
//!   the server another, or all others where it has several threads. This decides more than which
//!   server it is: waking up across CPUs takes longer than answering.
//! - Busy loops on the servers' CPUs show what a server loses beside other work: one that spins
//!   there waits for their slices.
//! - CPU time is that of the server's process, by `/proc/PID/stat`, in steps of 10 ms usually.

mod client;
mod keys;
mod pair;
mod script;
mod server;
mod trips;

use std::ffi::OsString;

use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use tavola_program::units::parse_count;

pub use client::work;
pub use pair::run;

use crate::compare::job::Transport;
use crate::{Error, Result};

/// The server that is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// `tavola serve`.
    Tavola,
    /// What it is compared to.
    Memcached,
}

/// The CPUs of client and server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Cpus {
    /// Both on the same one.
    One,
    /// The client on one, the server on the others.
    Two,
}

/// A part of the measurement: a load, or another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Load {
    /// One get after the other over one connection
    Get,
    /// The same over 50 connections of one client
    #[serde(rename = "get-50")]
    #[value(name = "get-50")]
    Get50,
    /// 10 gets at once
    #[serde(rename = "pipe-10")]
    #[value(name = "pipe-10")]
    Pipe10,
    /// 100 gets at once
    #[serde(rename = "pipe-100")]
    #[value(name = "pipe-100")]
    Pipe100,
    /// One get of 100 keys
    Multiget,
    /// 100 meta gets (`mg KEY k v`)
    Meta,
    /// 100 quiet binary gets and a no-op
    Binary,
    /// One set after the other
    Set,
    /// 100 sets at once, each answered
    SetPipe,
    /// 100 sets at once, of which the last alone is answered
    SetNoreply,
    /// The memory of --items values of 100 bytes
    Memory,
}

impl Load {
    fn is_asked_of_servers(self) -> bool {
        self != Self::Memory
    }

    /// Connections of the client.
    pub fn connections(self) -> usize {
        match self {
            Self::Get50 => 50,
            _ => 1,
        }
    }

    /// Keys of a trip.
    pub fn depth(self) -> usize {
        match self {
            Self::Get | Self::Get50 | Self::Set => 1,
            Self::Pipe10 => 10,
            _ => 100,
        }
    }

    /// Whether keys are set.
    pub fn sets(self) -> bool {
        matches!(self, Self::Set | Self::SetPipe | Self::SetNoreply)
    }
}

const HELP: &str = "\
A client process asks 'tavola serve' and, with --against memcached, a memcached, in turn: a pair
of runs; the ratio is that of the rates within each pair. Both servers have as many threads, 1
GiB to fill, loopback or a Unix socket in a folder of their own. What comes is compared with what
is to come, what was set is read back; a wrong answer ends the run with exit code 2.

Parts (--only), of 16-byte keys in random order:
  get           one get a trip, one connection; a trip is all that is sent before waiting
  get-50        one get a trip, 50 connections of one client
  pipe-10       10 gets a trip
  pipe-100      100 gets a trip
  multiget      one get of 100 keys a trip
  meta          100 of 'mg KEY k v' a trip
  binary        100 binary getq and a noop a trip
  set           one set a trip, answered
  set-pipe      100 sets a trip, each answered
  set-noreply   100 sets a trip, the last alone answered (noreply)
  memory        the memory of --items values of 100 bytes

'cpus one': client and server share one CPU. 'cpus two': the client has one, the server another
(with several threads all others). Rates are thousand keys a second, medians of the runs;
latencies are those of trips, of all runs. CPU is the time of the server's process a key, by
/proc/PID/stat. Memory is what the process has for itself and of files, and of the table's file.

Examples:
  tavola-bench serve --against memcached
  tavola-bench serve --against /usr/local/bin/memcached --only get,multiget --cpus one
  tavola-bench serve --against memcached --threads 2 --json | jq 'select(.load) | [.load, .ratio]'
  tavola-bench serve --only get --busy 1 --against tavola-memcached --against-with=-ospin=0
  tavola-bench serve --quick";

/// The columns of a line for people.
pub const COLUMNS: &[&str] = &[
    "load",
    "transport",
    "cpus",
    "tavola.kops",
    "tavola.p50_us",
    "tavola.p99_us",
    "tavola.cpu_us",
    "memcached.kops",
    "ratio",
    "least",
    "most",
];

/// Clients of memcached, at tavola serve and at memcached itself
#[derive(Clone, clap::Args)]
#[command(after_help = HELP)]
pub struct Config {
    /// The program tavola to measure [default: the one beside this program, else that in PATH]
    #[arg(long, value_name = "PROGRAM")]
    pub tavola: Option<OsString>,
    /// Another server under the same loads: memcached, or a path of one
    #[arg(long, value_name = "PROGRAM")]
    pub against: Option<OsString>,
    /// One more argument for that server, such as --against-with=-ospin=0; may be given several
    /// times
    #[arg(
        long,
        value_name = "ARGUMENT",
        allow_hyphen_values = true,
        requires = "against"
    )]
    pub against_with: Vec<OsString>,
    /// Threads of each server
    #[arg(long, value_name = "T", default_value_t = 1)]
    pub threads: usize,
    /// Busy loops that share the CPUs of the servers
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub busy: usize,
    /// Parts of the measurement, with commas between [default: all]
    #[arg(long, value_name = "PART", value_delimiter = ',')]
    pub only: Vec<Load>,
    /// tcp, unix, or both with a comma between
    #[arg(
        long,
        value_name = "T",
        value_delimiter = ',',
        default_value = "tcp,unix"
    )]
    pub transports: Vec<Transport>,
    /// one, two, or both with a comma between
    #[arg(
        long,
        value_name = "C",
        value_delimiter = ',',
        default_value = "one,two"
    )]
    pub cpus: Vec<Cpus>,
    /// Keys that are asked for, and as many that are set
    #[arg(long, value_name = "N", default_value = "100K", value_parser = parse_count)]
    pub keys: u64,
    /// Bytes of their values
    #[arg(long, short, value_name = "V", default_value_t = 32)]
    pub value_bytes: usize,
    /// Items whose memory is reported
    #[arg(long, value_name = "N", default_value = "1M", value_parser = parse_count)]
    pub items: u64,
    /// Pairs of runs
    #[arg(long, short, value_name = "R", default_value_t = 5)]
    pub repeat: u32,
    /// How long a run lasts
    #[arg(long, value_name = "S", default_value_t = 0.5)]
    pub seconds: f64,
    /// A look at whether all works: one short pair, few keys
    #[arg(long, conflicts_with_all = ["repeat", "seconds", "keys", "items"])]
    pub quick: bool,
    /// One more argument for tavola serve, such as --with=--spin=0; may be given several times
    #[arg(long, value_name = "ARGUMENT", allow_hyphen_values = true)]
    pub with: Vec<OsString>,
    /// Print one JSON object per line
    #[arg(long)]
    pub json: bool,
}

impl Config {
    /// `--quick` instead of other numbers.
    fn with_quick_numbers(&self) -> Self {
        match self.quick {
            false => self.clone(),
            true => Self {
                keys: 2000,
                items: 20_000,
                repeat: 1,
                seconds: 0.05,
                ..self.clone()
            },
        }
    }

    fn has(&self, part: Load) -> bool {
        self.only.is_empty() || self.only.contains(&part)
    }

    fn loads(&self) -> impl Iterator<Item = Load> {
        let all = Load::value_variants().iter().copied();
        all.filter(|load| load.is_asked_of_servers() && self.has(*load))
    }

    fn check(&self) -> Result<()> {
        let bad = |option, why: &str| Err(Error::option(option, why));
        match self {
            _ if self.threads == 0 => bad("threads", "at least one is needed"),
            _ if !(100..=10_000_000).contains(&self.keys) => {
                bad("keys", "100 to 10 million are needed")
            }
            _ if !(1..=65_536).contains(&self.value_bytes) => bad("value-bytes", "1 to 65536"),
            _ if self.busy > 64 => bad("busy", "at most 64 are possible"),
            _ if self.repeat == 0 => bad("repeat", "at least one pair is needed"),
            _ if !(self.seconds > 0.0 && self.seconds <= 600.0) => {
                bad("seconds", "more than none and at most 600 are needed")
            }
            _ if !(100..=1_000_000_000).contains(&self.items) => {
                bad("items", "100 to 1 milliard are needed")
            }
            _ => Ok(()),
        }
    }
}

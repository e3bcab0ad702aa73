//! Clients of memcached: `tavola serve` beside memcached itself, under the same requests.
//!
//! Both servers run at the same time, on loopback or on Unix sockets in a folder of their own; the
//! one that is not asked sleeps. A client process asks one for a while, then another client asks
//! the other: a pair. Which goes first changes from pair to pair, and what counts is the ratio
//! within each pair, as in [`scale`](crate::scale).
//!
//! ```text
//! leader ── starts servers, connects clients, removes the folder ── asks for a run ── CPU time ──
//! client    connects, stores all keys                               └ trip ─ trip ─ … ┘ tells
//! ```
//!
//! - A *trip* is what a client sends before it waits, and all that is answered to it. Its latency
//!   is that of the whole trip: of one request, or of a pipeline of 100.
//! - Requests and the answers to come are made before a run, by `tavola-proto`; what comes is
//!   compared byte for byte, but for unique numbers. What was set is read back after each run.
//! - *One CPU*: the client and all threads of the server share one. *Two CPUs*: the client has one,
//!   the server another, or all others where it has several threads. This decides more than which
//!   server it is: waking up across CPUs takes longer than answering.
//! - Busy loops on the servers' CPUs show what a server loses beside other work: one that spins
//!   there waits for their slices.
//! - CPU time is that of the server's process, by `/proc/PID/stat`, in steps of 10 ms as a rule.

mod busy;
mod client;
mod host;
mod job;
mod keys;
mod load;
mod memory;
mod pair;
mod report;
mod script;
mod server;
mod trips;

use std::ffi::OsString;
use std::path::PathBuf;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

pub use client::work;
pub use host::host;
pub use load::Load;
pub use pair::run;
pub use report::{LeftOut, Line, LoadLine, LocalLine, MemoryLine, Rate, SideMemory};

use crate::{Error, Result};

/// Who serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// `tavola serve`.
    Tavola,
    /// What it is compared to.
    Memcached,
}

/// What requests come over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Transport {
    /// A connection to 127.0.0.1.
    Tcp,
    /// A Unix stream socket.
    Unix,
}

impl Transport {
    /// All of them, in the order they run.
    pub const ALL: [Self; 2] = [Self::Tcp, Self::Unix];

    /// As it is written on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tcp => "tcp",
            Self::Unix => "unix",
        }
    }
}

/// The CPUs of client and server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cpus {
    /// Both on the same one.
    One,
    /// The client on one, the server on the others.
    Two,
}

impl Cpus {
    /// All of them, in the order they run.
    pub const ALL: [Self; 2] = [Self::One, Self::Two];

    /// As it is written on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::One => "one",
            Self::Two => "two",
        }
    }
}

/// A part of the measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Rates and latencies of a load.
    Load(Load),
    /// What a process of this machine saves that does without a socket.
    Local,
    /// The memory of many items.
    Memory,
}

impl FromStr for Part {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        match text {
            "local" => return Ok(Self::Local),
            "memory" => return Ok(Self::Memory),
            _ => {}
        }
        let found = Load::ALL.into_iter().find(|load| load.name() == text);
        found.map(Self::Load).ok_or_else(|| {
            let loads = Load::ALL.map(Load::name).join(", ");
            format!("no part {text:?}: there are {loads}, local, memory")
        })
    }
}

/// What to measure.
#[derive(Clone, Debug)]
pub struct Config {
    /// This program, which is started again as client and as host of servers.
    pub program: PathBuf,
    /// Arguments that make it a client, which calls [`work`].
    pub client: Vec<OsString>,
    /// Arguments that make it a host, which calls [`host`].
    pub host: Vec<OsString>,
    /// The command `tavola`, which serves.
    pub tavola: PathBuf,
    /// Another server to compare to: a path, or a name to look for in `PATH`.
    pub against: Option<OsString>,
    /// More arguments for the other server.
    pub against_with: Vec<OsString>,
    /// Threads of each server.
    pub threads: usize,
    /// More arguments for `tavola serve`.
    pub with: Vec<OsString>,
    /// Busy loops that share the CPUs of the servers.
    pub busy: usize,
    /// The parts; all when none is given.
    pub only: Vec<Part>,
    /// What requests come over.
    pub transports: Vec<Transport>,
    /// The placements.
    pub cpus: Vec<Cpus>,
    /// Keys that are asked for, and as many that are set.
    pub keys: u64,
    /// Bytes of their values.
    pub value_bytes: usize,
    /// Pairs of runs.
    pub repeat: u32,
    /// How long a run lasts.
    pub seconds: f64,
    /// Items whose memory is told, of 100 bytes.
    pub items: u64,
}

impl Config {
    fn has(&self, part: Part) -> bool {
        self.only.is_empty() || self.only.contains(&part)
    }

    fn loads(&self) -> impl Iterator<Item = Load> {
        let all = Load::ALL.into_iter();
        all.filter(|load| self.has(Part::Load(*load)))
    }

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

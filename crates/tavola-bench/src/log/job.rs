//! What the leader tells a logger, and what it answers: one JSON value a line.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::Way;
use crate::latency::Summary;

/// The first line a logger reads: who it is, and what it does. Answered by `Ready`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Setup {
    pub(super) leader_pid: u32,
    pub(super) cpu: Option<usize>,
    pub(super) plan: Plan,
    pub(super) task: Task,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Plan {
    /// Lines of each writer.
    pub(super) share: u64,
    pub(super) text_bytes: usize,
    /// Writers of each process.
    pub(super) threads: u32,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Task {
    /// Log, as the writers from `first` on.
    Write { way: Way, to: Target, first: u32 },
    /// Write the lines of a log to a file, until the second line comes.
    Drain { log: PathBuf, file: PathBuf },
    /// Write the datagrams that come to a file, until the second line comes.
    Receive {
        socket: String,
        file: PathBuf,
        /// Lines of all writers.
        all: u64,
    },
}

/// Where writers write.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Target {
    Log(PathBuf),
    File(PathBuf),
    /// An abstract name.
    Socket(String),
}

/// The second line. Writers begin at this instant of the monotonic clock; to the others it says
/// that the writers have ended.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Job {
    pub(super) start_ns: u64,
}

/// What came of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Came {
    Wrote(Wrote),
    Carried(Carried),
}

impl Came {
    pub(super) fn wrote(self) -> Option<Wrote> {
        match self {
            Self::Wrote(wrote) => Some(wrote),
            Self::Carried(_) => None,
        }
    }

    pub(super) fn carried(self) -> Option<Carried> {
        match self {
            Self::Carried(carried) => Some(carried),
            Self::Wrote(_) => None,
        }
    }
}

/// What a process of writers did.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Wrote {
    pub(super) threads: Vec<Written>,
    /// When its lines were at their place, or with who carries them on.
    pub(super) handed_ns: u64,
}

/// What a writer did.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Written {
    pub(super) begin_ns: u64,
    pub(super) end_ns: u64,
    pub(super) latency: Summary,
}

/// What a drain or a receiver did.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Carried {
    pub(super) lines: u64,
    /// When the last of them was in the file.
    pub(super) end_ns: u64,
}

//! What the leader tells a worker, and what the worker answers: one JSON value a line.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{Distribution, Phase};
use crate::latency::Summary;

/// The first line a worker reads: who it is.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Setup {
    pub(super) leader_pid: u32,
    pub(super) part: u32,
    pub(super) parts: u32,
    pub(super) keys: u64,
    pub(super) key_bytes: usize,
    pub(super) value_bytes: usize,
    pub(super) distribution: Distribution,
    pub(super) cpu: Option<usize>,
}

/// Every further line; each is answered once.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Job {
    /// Attach to this table, leaving the one before.
    Attach(PathBuf),
    Run(Run),
    /// Write one key until the next line, `Stop`, comes; only that is answered.
    Hammer {
        generation: u64,
    },
    Stop,
    Maintain,
    /// Run the loop of `get` without a table: what does the harness itself cost?
    Dry {
        ops: u64,
    },
}

/// One phase of one worker.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Run {
    pub(super) phase: Phase,
    /// The instant of the monotonic clock at which all workers begin.
    pub(super) start_ns: u64,
    pub(super) batch: usize,
    /// How often the share is passed over.
    pub(super) rounds: u64,
    /// At most so many operations.
    pub(super) limit: u64,
    /// Whether each call is timed.
    pub(super) timed: bool,
    /// Generations of values that may be there.
    pub(super) oldest: u64,
    pub(super) newest: u64,
    /// The generation that the first round writes; each further round writes one more.
    pub(super) writes: u64,
    pub(super) seed: u64,
}

/// What came of a job.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Came {
    Ran(Done),
    Maintained { bytes: u64, supported: bool },
}

/// What a worker did.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Done {
    pub(super) begin_ns: u64,
    pub(super) end_ns: u64,
    pub(super) ops: u64,
    pub(super) latency: Option<Summary>,
}

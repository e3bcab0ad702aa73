//! What the leader tells a client, and what it answers: one JSON value a line.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::Load;
use crate::compare::servers::Listening;
use crate::latency::Summary;

/// The first line a client reads. Answered by `Ready`, when it is connected.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Setup {
    pub(super) leader_pid: u32,
    pub(super) cpu: usize,
    pub(super) address: Listening,
    /// How many connections it makes, beside one for the binary protocol.
    pub(super) connections: usize,
    pub(super) keys: u64,
    pub(super) value_bytes: usize,
    /// The table itself, which is opened as well.
    pub(super) table: Option<PathBuf>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Job {
    /// Set all keys, those that are read and, if `both`, those that are set. Answered by `Ready`.
    Fill { both: bool },
    /// Read each key once. Answered by `Ready`.
    ReadAll,
    /// Answered by `Done`.
    Run(Run),
    /// Read keys of the table itself for so long. Answered by `Done`.
    Direct { seconds: f64 },
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Run {
    pub(super) load: Load,
    pub(super) seconds: f64,
    /// Another one in each run: what sets store, and the order of the keys.
    pub(super) generation: u64,
}

/// What a client did.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Done {
    /// Keys that were read or set.
    pub(super) ops: u64,
    pub(super) ns: u64,
    /// Of trips.
    pub(super) latency: Summary,
}

//! What the leader tells a player, and what it answers: one JSON value a line.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The first line a player reads: who it is, and what is played. Answered by `Ready`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Setup {
    pub(super) leader_pid: u32,
    pub(super) cpu: Option<usize>,
    pub(super) side: Side,
    pub(super) meeting: Meeting,
    pub(super) plan: Plan,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Side {
    Starter,
    Returner,
}

/// Where the two sides meet.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Meeting {
    /// The file of a pool.
    Pool(PathBuf),
    /// An abstract name, at which the starter listens.
    Socket(String),
    /// Ends of pipes that the leader holds open.
    Pipes { input: PathBuf, output: PathBuf },
    /// What the names of the services begin with.
    Services(String),
}

/// What both sides of a game know.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Plan {
    /// Their numbers are those below it; this number itself is the end mark.
    pub(super) elements: u32,
    pub(super) element_bytes: usize,
    pub(super) run: usize,
    pub(super) touched: bool,
    pub(super) moves: u64,
    pub(super) limit_ns: u64,
}

impl Plan {
    pub(super) fn end_mark(&self) -> u32 {
        self.elements
    }
}

/// The second line: begin at this instant of the monotonic clock. Answered by `Done`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Go {
    pub(super) start_ns: u64,
}

/// What a side did; the end mark is not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Done {
    pub(super) begin_ns: u64,
    pub(super) end_ns: u64,
    pub(super) sent: u64,
    pub(super) taken: u64,
}

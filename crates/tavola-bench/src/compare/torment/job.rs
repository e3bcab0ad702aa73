//! What a process of a trial is told, and what it answers: one flat JSON object each, so that the
//! programs in C, Ruby and PHP can read it without a library.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// What a process does with the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Puts values in order, from `from` on, until it is told to stop; `ops` of them at most.
    Write,
    /// Gets keys of all `prefixes` at random and looks at the values, until it is told to stop.
    Read,
    /// Looks whether all is there that writers were told is written, and whether a put works.
    Verify,
    /// The same without a put: the disk may be full.
    Look,
    /// Removes the first half of the keys that were written, then puts a few.
    Remove,
    /// Puts and gets one value of `key_bytes` and `value_bytes`.
    Probe,
    /// Opens the store, reads, keeps what it has read from (a snapshot, where there are), and
    /// waits until it is told to stop.
    Hold,
    /// Adds one to a counter, `ops` times.
    Count,
    /// Tells what the counter has come to.
    Total,
}

/// What a process is to do.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Job {
    /// The store, by its name in the report.
    pub peer: String,
    /// What to do.
    pub role: Role,
    /// A folder of the store's own.
    pub store: PathBuf,
    /// Where a server listens; empty: there is none.
    pub address: String,
    /// The file with the board.
    pub board: PathBuf,
    /// Its place on it.
    pub slot: u64,
    /// Each letter begins the keys of one writer; a writer has the first.
    pub prefixes: String,
    /// Keys a prefix.
    pub keys: u64,
    /// Smallest value.
    pub value_bytes: u64,
    /// Of [`Role::Probe`].
    pub key_bytes: u64,
    /// The first value's number; of [`Role::Verify`] the last that had returned.
    pub from: u64,
    /// Operations at most; 0: any number.
    pub ops: u64,
    /// After so long it ends by itself.
    pub millis: u64,
    /// 1: one process at a time has the store open; then each increment opens it.
    pub alone: u8,
    /// For what is chosen at random.
    pub seed: u64,
    /// Where a process that was forked writes its answer; others write to their output.
    pub out: PathBuf,
}

/// What a process says when it has done its job. Absent numbers are 0.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Answer {
    /// The store was opened.
    pub opened: bool,
    /// Why the store refused, if it did; the job ended there.
    pub error: Option<String>,
    /// Operations done.
    pub done: u64,
    /// Of [`Role::Verify`]: keys that are as they must be.
    pub good: u64,
    /// Keys that are missing, or have an older value than they must.
    pub lost: u64,
    /// Keys whose value is none that was ever put, or is cut short.
    pub torn: u64,
    /// Puts and gets work.
    pub works: bool,
    /// Of [`Role::Total`]: the counter.
    pub total: u64,
    /// Of [`Role::Count`] and [`Role::Hold`]: by what means. Of others: why a put was refused.
    pub means: String,
    /// Of [`Role::Probe`]: `same`, `refused`, `missing` or `other`.
    pub seen: String,
}

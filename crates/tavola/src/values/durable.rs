//! Reports of a durable table: how far its journal is, and what is in its files.

use super::Durability;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

/// The state of a durable table's journal; from
/// [`Table::durable_stats`](crate::Table::durable_stats).
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DurableStats {
    /// The directory of the table. Empty if its path is too long to be known.
    pub home: PathBuf,
    /// The policy of the table; a handle may have a stricter one.
    pub policy: Durability,
    /// Bytes of the journal since the last snapshot, which a rebuild reads.
    pub journal_bytes: u64,
    /// Bytes that are in memory only: not written to the files yet.
    pub unwritten_bytes: u64,
    /// Bytes that would not survive a power failure now. They include `unwritten_bytes`.
    pub unsynced_bytes: u64,
    /// Syncs since the memory of the table was made.
    pub syncs: u64,
    /// How long all of them took.
    pub sync_time: Duration,
    /// When the last snapshot was made, and its bytes. `None` if there is none.
    pub snapshot: Option<(SystemTime, u64)>,
    /// The error number of the system for which the journal has failed, if it has.
    pub failed: Option<i32>,
}

impl DurableStats {
    /// Returns the mean time of a sync, or `None` if there was none.
    pub fn mean_sync(&self) -> Option<Duration> {
        let mean = self.sync_time.as_nanos().checked_div(self.syncs.into())?;
        Some(Duration::from_nanos(mean as u64))
    }
}

/// The kind of a file in the directory of a durable table.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HomeFileKind {
    /// What the table was created with.
    Table,
    /// Records.
    Journal,
    /// All keys at one time.
    Snapshot,
    /// Neither; Tavola does not read it.
    Other,
}

/// A file in the directory of a durable table.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HomeFile {
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: HomeFileKind,
    /// Its length in bytes.
    pub bytes: u64,
    /// Records in it that a rebuild reads, or keys of a snapshot.
    pub entries: u64,
    /// Its fault, if it has one. A rebuild does without some files: not everything is damage.
    pub problem: Option<String>,
}

/// How the journal of a durable table ends.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JournalEnd {
    /// Behind the last record.
    Clean,
    /// In the middle of a record, which was being written when power failed, or is just being
    /// written. Nothing that was on disk is missing.
    Torn,
    /// Records are missing that were on disk, and the table cannot be rebuilt without a loss.
    Damaged {
        /// The file.
        file: String,
        /// The damage.
        why: String,
        /// Whether [`Options::cut_damage`](crate::Options::cut_damage) can open the table.
        can_cut: bool,
        /// Of the journal: changes that are behind the damage, still readable, and lost with it. Of
        /// a snapshot: keys that cannot be read any more; the journal may have some of them. 0 if
        /// that is not known.
        lost_changes: u64,
    },
}

/// The content of a durable table's files; from [`durable::verify`](crate::durable::verify).
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HomeReport {
    /// The directory.
    pub home: PathBuf,
    /// The policy of the table.
    pub policy: Durability,
    /// Whether a process uses the table. Then the end of the journal may just be being written.
    pub is_in_use: bool,
    /// Whether the table is in shared memory, from which a snapshot can be made.
    pub is_in_memory: bool,
    /// The position at which the newest good snapshot begins, and its keys.
    pub snapshot: Option<(u64, u64)>,
    /// Records behind the snapshot.
    pub records: u64,
    /// Changes of keys in these records.
    pub changes: u64,
    /// The position behind the last record.
    pub end: u64,
    /// How the journal ends.
    pub ending: JournalEnd,
    /// All files, by their names.
    pub files: Vec<HomeFile>,
}

impl HomeReport {
    /// Returns whether the table cannot be rebuilt without a loss.
    pub fn is_damaged(&self) -> bool {
        matches!(self.ending, JournalEnd::Damaged { .. })
    }
}

/// How far a table is rebuilt; for [`durable::on_rebuild`](crate::durable::on_rebuild).
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rebuilding {
    /// The directory of the table.
    pub home: PathBuf,
    /// Bytes that were read.
    pub done_bytes: u64,
    /// At most so many bytes are there to be read.
    pub total_bytes: u64,
    /// Whether nothing is left to do.
    pub is_done: bool,
}

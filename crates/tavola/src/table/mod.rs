//! [`Table`]: what a user holds. Each file here is one kind of operation, from the cheapest on.

mod attributes;
mod background;
mod batch;
mod beside;
mod cache;
mod copy;
mod core;
mod counter;
mod effort;
mod entry;
mod evicted;
mod holders;
mod how;
mod iter;
mod key_watch;
mod large;
mod latency;
mod lazy;
mod leases;
mod live;
mod logs;
mod maintain;
mod marks;
mod migrate;
#[cfg(test)]
mod models;
mod name;
mod number;
mod options;
mod queues;
mod range;
mod read;
mod recent;
mod relief;
mod resize;
mod serving;
mod shards;
mod stats;
mod store;
mod tags;
mod tending;
mod typed;
mod uid;
mod update;
mod view;
mod write;

pub use attributes::{Attributes, Expiry};
pub use entry::{Details, Entry};
pub use evicted::Eviction;
pub use iter::{Cursor, Iter};
pub use key_watch::KeyWatch;
pub use latency::Latencies;
pub use leases::{Lease, LeaseOptions, Leased, Pending};
pub use live::LiveKeys;
pub use logs::{
    Level, Log, LogDrain, LogLine, LogOptions, LogReader, LogSink, LogStats, LogText, Overload,
};
pub use maintain::Maintained;
pub use marks::Marks;
pub use migrate::Migrated;
pub use number::NumberOptions;
pub use options::Options;
pub use queues::{Queue, QueueOptions, QueuePool, Watch};
pub use recent::Recent;
pub use serving::ServeTable;
pub use shards::ShardStats;
pub use stats::{ClassStats, Participant, Serving, Stats};
pub use store::{Condition, StoreOptions, Stored};
#[cfg(feature = "serde")]
pub use typed::Json;
pub use typed::{Codec, Encode, Plain, Typed};
pub use update::{CasOutcome, CasToken, Updated};
pub use view::View;

use self::core::Core;
use crate::error::Result;
use crate::recover::CheckReport;
use background::Background;
use lazy::Lazy;
use std::ffi::OsStr;
use std::path::Path;

/// A key-value table that all processes of a machine share.
///
/// Threads can share a `Table`; processes open it by its name. Reads take no lock and write
/// nothing; each write briefly holds the lock of one shard. Dropping the handle detaches the
/// process.
///
/// # Examples
/// ```
/// # let dir = std::env::temp_dir().join(format!("tavola-doc-{}", std::process::id()));
/// # std::fs::create_dir_all(&dir)?;
/// # let path = dir.join("sessions");
/// let table = tavola::Table::options().max_size(1 << 30).open(&path)?;
/// table.set(b"alice", b"{\"cart\":3}")?;
/// assert_eq!(table.get(b"alice")?.as_deref(), Some(&b"{\"cart\":3}"[..]));
/// assert_eq!(table.incr(b"visits", 1)?, 1);
/// # std::fs::remove_dir_all(&dir)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Crash
/// A process may be killed at any moment: the others continue. A call that has returned took
/// effect; a call that was interrupted took effect completely or not at all.
pub struct Table {
    // Stopped before the core goes.
    _background: Option<Background>,
    lazy: Lazy,
    /// What it was opened with.
    options: Options,
}

impl Table {
    /// The options with which tables are made and opened.
    pub fn options() -> Options {
        Options::new()
    }

    /// Opens a table, making it when it is not there.
    ///
    /// # Errors
    /// See [`Options::open`].
    pub fn open(name: impl AsRef<OsStr>) -> Result<Table> {
        Options::new().open(name)
    }

    /// Makes a table.
    ///
    /// # Errors
    /// See [`Options::create`].
    pub fn create(name: impl AsRef<OsStr>) -> Result<Table> {
        Options::new().create(name)
    }

    /// Opens a table for reading only.
    ///
    /// # Errors
    /// See [`Options::open_read_only`].
    pub fn open_read_only(name: impl AsRef<OsStr>) -> Result<Table> {
        Options::new().open_read_only(name)
    }

    #[inline(always)]
    fn core(&self) -> Result<&Core> {
        self.lazy.get().map(|core| &**core)
    }

    /// The table's file.
    pub fn path(&self) -> &Path {
        self.lazy.path()
    }

    /// Whether it was opened for reading only.
    pub fn is_read_only(&self) -> bool {
        !self.lazy.is_writable()
    }

    /// Reads everything and compares what is derived with what it is derived from.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io) when this process cannot attach.
    ///
    /// # Concurrency
    /// Holds one shard's lock at a time for as long as that shard takes. A table open for reading
    /// only is checked without locks: what others write meanwhile may look wrong.
    pub fn check(&self) -> Result<CheckReport> {
        self.core()?.check()
    }

    /// Recovers every shard as after a death: whatever is derived from the index is made anew, and
    /// what cannot be read any more is dropped. The report is that of a check afterwards, with one
    /// problem told for what was dropped.
    ///
    /// # Errors
    /// [`Error::ReadOnly`](crate::Error::ReadOnly).
    ///
    /// # Crash
    /// As in recovery: the next to lock the shard recovers it.
    pub fn repair(&self) -> Result<CheckReport> {
        self.core()?.repair()
    }
}

impl std::fmt::Debug for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Table")
            .field("path", &self.path())
            .field("read_only", &self.is_read_only())
            .finish_non_exhaustive()
    }
}

//! [`Table`]: what a user holds. Each file here is one kind of operation, from the cheapest on.

mod attributes;
mod barrier;
mod batch;
mod beside;
mod cache;
mod copy;
mod counter;
#[cfg(not(test))]
mod durable;
#[cfg(test)]
pub(crate) mod durable;
mod entry;
mod holders;
mod iter;
mod key_watch;
mod latency;
mod lazy;
mod leases;
mod live;
mod locks;
mod logs;
mod maintain;
mod migrate;
mod name;
pub(crate) mod names;
mod number;
mod open;
mod options;
mod owner;
mod queues;
mod range;
mod read;
mod resize;
mod saved;
mod serving;
mod shards;
mod stats;
mod store;
mod tags;
mod transaction;
mod typed;
mod uid;
mod update;
mod view;
mod write;

pub use durable::{on_rebuild, verify};
pub use iter::{Cursor, Iter};
pub use key_watch::KeyWatch;
pub use leases::{Lease, LeaseOptions, Leased, Pending};
pub use locks::{Area, Hold, LockGuard, NamedLock, Permit, Semaphore};
pub use logs::{
    DrainThread, Level, Log, LogDrain, LogLine, LogOptions, LogReader, LogSink, LogStats, LogText,
    Overload, RotatingFile,
};

pub use migrate::Migrated;
pub use number::NumberOptions;
pub use options::Options;
pub use queues::{Queue, QueueOptions, QueuePool, Watch};
pub use saved::verify_saved;
pub use serving::ServeTable;
pub use shards::ShardStats;
pub use transaction::{Begin, Savepoint, Transaction};
#[cfg(feature = "serde")]
pub use typed::Json;
pub use typed::{Codec, Encode, Plain, Typed};
pub use view::View;

use crate::engine::{Background, Core};
use crate::error::Result;
use crate::recover::CheckReport;
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
    keeper: Option<[Background; 2]>,
    lazy: Lazy,
    /// The options it was opened with.
    options: Options,
}

impl Table {
    /// Returns the default options for creating and opening tables.
    pub fn options() -> Options {
        Options::new()
    }

    /// Opens a table, and creates it if it is missing.
    ///
    /// # Errors
    /// See [`Options::open`].
    pub fn open(name: impl AsRef<OsStr>) -> Result<Table> {
        Options::new().open(name)
    }

    /// Creates a table.
    ///
    /// # Errors
    /// See [`Options::create`].
    pub fn create(name: impl AsRef<OsStr>) -> Result<Table> {
        Options::new().create(name)
    }

    /// Opens a table read-only.
    ///
    /// # Errors
    /// See [`Options::open_read_only`].
    pub fn open_read_only(name: impl AsRef<OsStr>) -> Result<Table> {
        Options::new().open_read_only(name)
    }

    #[inline(always)]
    pub(crate) fn core(&self) -> Result<&Core> {
        self.lazy.get().map(|core| &**core)
    }

    /// Returns a handle without threads.
    fn of(lazy: Lazy, options: Options) -> Self {
        Self {
            _background: None,
            keeper: None,
            lazy,
            options,
        }
    }

    /// Returns the path of the table's file, or the directory of a durable table.
    pub fn path(&self) -> &Path {
        self.lazy.path()
    }

    /// Returns whether the table was opened read-only.
    pub fn is_read_only(&self) -> bool {
        !self.lazy.is_writable()
    }

    /// Checks the integrity of the whole table, and returns a report.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io) if this process cannot attach.
    ///
    /// # Concurrency
    /// Holds the lock of one shard at a time while it checks that shard. A table that is open
    /// read-only is checked without locks: a write in progress may then be reported as a problem.
    pub fn check(&self) -> Result<CheckReport> {
        self.core()?.check()
    }

    /// Repairs the table: recovers every shard as after the death of a writer, rebuilds all derived
    /// structures, and drops unreadable items. Returns the report of a check afterwards, with one
    /// problem for all dropped items.
    ///
    /// # Errors
    /// [`Error::ReadOnly`](crate::Error::ReadOnly).
    ///
    /// # Crash
    /// As in recovery: the next process that locks the shard recovers it.
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

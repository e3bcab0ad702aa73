//! Tavola is a shared-memory key-value store and cache for Linux.
//!
//! A [`Table`] is a file in shared memory. All processes that open it read and write it directly,
//! without a server. A process may be killed at any moment: the table stays intact.
//!
//! # Open a table
//!
//! [`Table::open`] opens a table, or creates it if it is missing. A name is a file in the directory
//! of tables, see [`names`]; a name that contains a `/` is a path. [`Table::options`] sets the
//! maximum size, the mode of the file and more.
//!
//! ```
//! # let dir = std::env::temp_dir().join(format!("tavola-front-{}", std::process::id()));
//! # std::fs::create_dir_all(&dir)?;
//! # let sessions = dir.join("sessions");
//! use tavola::Table;
//!
//! let table = Table::options().max_size(1 << 30).open(sessions)?;
//! table.set("alice", "3")?;
//! assert_eq!(table.get("alice")?.as_deref(), Some(&b"3"[..]));
//! assert_eq!(table.get("bob")?, None);
//! # std::fs::remove_dir_all(&dir)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The examples below use [`Options::private`], a table in the memory of one process, which is also
//! useful in tests.
//!
//! # Cache
//!
//! A table with a [capacity](Options::capacity) is a cache: it evicts keys when it is full. A key
//! can have a TTL in any table.
//!
//! ```
//! use std::time::Duration;
//! use tavola::{Attributes, Table};
//!
//! let cache = Table::options().max_size(8 << 20).capacity(4 << 20).private()?;
//! cache.set_with("/", "<p>hello</p>", Attributes::ttl(Duration::from_secs(60)))?;
//! assert!(cache.contains("/")?);
//! # Ok::<(), tavola::Error>(())
//! ```
//!
//! # Count and update
//!
//! [`Table::incr`] changes a counter in one atomic step. [`Table::update`] computes a new value
//! from the old one, and is retried on conflict. [`Table::compare_and_swap`] stores a value only if
//! the key has not changed.
//!
//! ```
//! # let table = tavola::Table::options().max_size(1 << 20).private()?;
//! assert_eq!(table.incr("visits", 1)?, 1);
//! table.update("log", |old| Some([old.unwrap_or(b""), b"x"].concat()))?;
//! assert_eq!(table.get("log")?.as_deref(), Some(&b"x"[..]));
//! # Ok::<(), tavola::Error>(())
//! ```
//!
//! # Compute a missing value once
//!
//! [`Table::get_or_compute`] lets one process compute a missing value while the others wait, or use
//! the stale value. If that process dies, another one computes the value.
//!
//! ```
//! # let cache = tavola::Table::options().max_size(8 << 20).private()?;
//! use std::time::Duration;
//! use tavola::LeaseOptions;
//!
//! let one_minute = LeaseOptions::new(Duration::from_secs(60));
//! let page = cache.get_or_compute("/", one_minute, || Ok("<p>hello</p>"))?;
//! assert_eq!(page, b"<p>hello</p>");
//! # Ok::<(), tavola::Error>(())
//! ```
//!
//! # Invalidate many keys
//!
//! [`Table::invalidate_tag`] makes all keys that have a tag missing in one step. Fetch the tags
//! before you load the source data; otherwise an invalidation in between is missed.
//!
//! ```
//! # let cache = tavola::Table::options().max_size(8 << 20).private()?;
//! use tavola::Attributes;
//!
//! let tags = cache.fetch_tags(&["user:7"])?;
//! cache.set_tagged("/cart", "<p>cart</p>", Attributes::default(), &tags)?;
//! cache.invalidate_tag("user:7")?;
//! assert_eq!(cache.get("/cart")?, None);
//! # Ok::<(), tavola::Error>(())
//! ```
//!
//! # Queues
//!
//! A [`QueuePool`] holds elements of a fixed size, and queues that pass them between processes
//! without a copy. [`QueuePool::reclaim`] returns the elements that crashed processes held.
//!
//! ```
//! # let dir = std::env::temp_dir().join(format!("tavola-front-queue-{}", std::process::id()));
//! # std::fs::create_dir_all(&dir)?;
//! # let jobs = dir.join("jobs");
//! use tavola::QueueOptions;
//!
//! let pool = QueueOptions::new(100, 64).queues(["free", "todo"]).open(jobs)?;
//! if let Some(job) = pool.queue("free")?.pop()? {
//!     pool.write(job, 0, b"resize 17.jpg")?;
//!     pool.queue("todo")?.push(job)?;
//! }
//! assert_eq!(pool.queue("todo")?.len(), 1);
//! # std::fs::remove_dir_all(&dir)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Log
//!
//! All processes write lines to a [`Log`] without a system call. One [`LogDrain`] writes them out
//! in time order.
//!
//! ```
//! # let dir = std::env::temp_dir().join(format!("tavola-front-log-{}", std::process::id()));
//! # std::fs::create_dir_all(&dir)?;
//! # let events = dir.join("events");
//! use tavola::{Level, LogOptions, LogText};
//!
//! let log = LogOptions::new().open(events)?;
//! let mut drain = log.drain()?;
//! log.line(Level::Info, "cart 3 is ready")?;
//! drain.finish(&mut LogText::new(Vec::new()))?;
//! # std::fs::remove_dir_all(&dir)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Errors and concurrency
//!
//! Every call returns [`Error`] with a sentence that says what to do; a missing key is `Ok(None)`.
//! A [`Table`] can be shared by threads and cloned. Sections called "Concurrency" and "Crash" say
//! what other processes see during a call, and what is left if the process is killed in it.

// ARCHITECTURE.md lists the modules and the order in which they may use each other;
// docs/internals/concurrency.md has the argument why the table stays correct.

#![deny(unsafe_code)]

#[cfg(not(all(
    target_os = "linux",
    target_pointer_width = "64",
    target_endian = "little"
)))]
compile_error!("Tavola runs on 64-bit little-endian Linux");

mod alloc;
#[forbid(unsafe_code)]
mod engine;
#[forbid(unsafe_code)]
mod error;
mod index;
#[forbid(unsafe_code)]
mod journal;
#[forbid(unsafe_code)]
mod layout;
#[forbid(unsafe_code)]
mod lock;
#[forbid(unsafe_code)]
mod locks;
#[forbid(unsafe_code)]
mod log;
#[cfg(test)]
mod models;
#[forbid(unsafe_code)]
mod queue;
#[forbid(unsafe_code)]
mod recover;
mod region;
mod sync;
#[allow(unsafe_code)]
mod sys;
#[forbid(unsafe_code)]
mod table;
#[forbid(unsafe_code)]
mod values;

pub use alloc::Tags;
pub use error::{BoxError, Error, Holder, Lock, Result};
pub use layout::{Hint, tables as format_tables};
pub use lock::on_long_wait;
pub use recover::CheckReport;
#[cfg(feature = "torture")]
pub use sync::killpoint;
pub use sys::notice::on_notice;
pub use table::{
    Area, Begin, Cursor, DrainThread, Hold, Iter, KeyWatch, Lease, LeaseOptions, Leased, Level,
    LockGuard, Log, LogDrain, LogLine, LogOptions, LogReader, LogSink, LogStats, LogText, Migrated,
    NamedLock, NumberOptions, Options, Overload, Pending, Permit, Queue, QueueOptions, QueuePool,
    RotatingFile, Savepoint, Semaphore, ShardStats, Table, Transaction, View, Watch,
};
pub use values::{
    Attributes, CasOutcome, CasToken, ClassStats, Condition, Details, Durability, DurableStats,
    Entry, Expiry, Latencies, LiveKeys, LivesWith, Maintained, Participant, Recent, Restored,
    Saved, SavedFile, Stats, StoreOptions, Stored, Updated,
};

#[cfg(feature = "serde")]
pub use table::Json;
pub use table::{Codec, Encode, Plain, Typed};

/// The file of a name, the list of tables, and how a table is removed or renamed.
pub mod names {
    pub use crate::region::names::{directory, path_of, warning};
    pub use crate::table::names::{list, remove, rename};
}

/// For programs that look after durable tables.
pub mod durable {
    pub use crate::region::home_warning as warning;
    pub use crate::table::{on_rebuild, verify};
    pub use crate::values::{HomeFile, HomeFileKind, HomeReport, JournalEnd, Rebuilding};
}

/// For programs that serve a table to clients.
pub mod serving {
    pub use crate::sys::clock::{coarse_s, coarse_unix_s};
    pub use crate::table::{ServeTable, verify_saved};
    pub use crate::values::{Eviction, ExpiryCondition, Marks, Serving};
}

// Their examples open tables by name; a test of `tavola-capi` runs them over a directory of its
// own.
#[cfg(all(doctest, tavola_readme))]
mod pages {
    #[doc = include_str!("../../../README.md")]
    struct Readme;
    #[doc = include_str!("../../../docs/guide/start.md")]
    struct Start;
    #[doc = include_str!("../../../docs/guide/cache.md")]
    struct Cache;
    #[doc = include_str!("../../../docs/guide/leases.md")]
    struct Leases;
    #[doc = include_str!("../../../docs/guide/transactions.md")]
    struct Transactions;
    #[doc = include_str!("../../../docs/guide/durable.md")]
    struct Durable;
    #[doc = include_str!("../../../docs/guide/tags.md")]
    struct Tags;
    #[doc = include_str!("../../../docs/guide/queues.md")]
    struct Queues;
    #[doc = include_str!("../../../docs/guide/locks.md")]
    struct Locks;
    #[doc = include_str!("../../../docs/guide/log.md")]
    struct Log;
    #[doc = include_str!("../../../docs/guide/sharing.md")]
    struct Sharing;
    #[doc = include_str!("../../../docs/guide/operations.md")]
    struct Operations;
}

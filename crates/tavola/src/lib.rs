//! Tavola: one key-value table in shared memory that every process on a machine sits at.
//!
//! Embedded (no server), shared (all processes read and write one table at memory speed), kill-safe
//! (any process may die at any instruction). Begin at [`Table`]; names are told in [`names`].
//!
//! The rooms, each using only those above it in this list:
//!
//! | room | what it holds |
//! |---|---|
//! | `sync` | words of shared memory, copies, the hooks of the torture and model tests |
//! | `error` | the one error |
//! | `sys` | what is asked of Linux: files, mappings, futexes, who lives |
//! | `layout` | the bytes: structures, states, sizes, byte tables |
//! | `region` | the mapped file, making and opening it, names |
//! | `lock` | lock words and participants |
//! | `alloc` | page pool, slabs, items, chains of large items |
//! | `index` | hashing, reading without locks, placing, splitting, shrinking |
//! | `recover` | recovery after a death, check, repair |
//! | `queue` | rings of elements' numbers beside the table |
//! | `log` | sheets of lines beside the table |
//! | `table` | the operations, of queues and logs too |
//!
//! How it stays correct while processes read, write and die is argued in
//! `docs/internals/concurrency.md`.

#![deny(unsafe_code)]

#[cfg(not(all(
    target_os = "linux",
    target_pointer_width = "64",
    target_endian = "little"
)))]
compile_error!("Tavola runs on 64-bit little-endian Linux");

mod alloc;
#[forbid(unsafe_code)]
mod error;
mod index;
#[forbid(unsafe_code)]
mod layout;
#[forbid(unsafe_code)]
mod lock;
#[forbid(unsafe_code)]
mod log;
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

pub use alloc::Tags;
pub use error::{BoxError, Error, Holder, Lock, Result};
pub use layout::{Hint, tables as format_tables};
pub use lock::on_long_wait;
pub use recover::CheckReport;
pub use region::names;
#[cfg(feature = "torture")]
pub use sync::killpoint;
pub use sys::notice::on_notice;
pub use table::{
    Attributes, CasOutcome, CasToken, ClassStats, Condition, Cursor, Details, Entry, Expiry, Iter,
    KeyWatch, Latencies, Lease, LeaseOptions, Leased, Level, LiveKeys, Log, LogDrain, LogLine,
    LogOptions, LogReader, LogSink, LogStats, LogText, Maintained, Migrated, NumberOptions,
    Options, Overload, Participant, Pending, Queue, QueueOptions, QueuePool, Recent, ShardStats,
    Stats, StoreOptions, Stored, Table, Updated, View, Watch,
};

#[cfg(feature = "serde")]
pub use table::Json;
pub use table::{Codec, Encode, Plain, Typed};

/// For programs that serve a table to clients.
pub mod serving {
    pub use crate::table::{Eviction, Marks, ServeTable, Serving};
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
    #[doc = include_str!("../../../docs/guide/tags.md")]
    struct Tags;
    #[doc = include_str!("../../../docs/guide/queues.md")]
    struct Queues;
    #[doc = include_str!("../../../docs/guide/log.md")]
    struct Log;
    #[doc = include_str!("../../../docs/guide/sharing.md")]
    struct Sharing;
    #[doc = include_str!("../../../docs/guide/operations.md")]
    struct Operations;
}

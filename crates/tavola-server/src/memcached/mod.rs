//! The protocols of memcached over a table: [`Memcached`] is a [`Service`](crate::Service).
//!
//! Requests come from `tavola-proto`, are carried out on a [`Table`](tavola::Table) that other
//! processes may have open as well, and are answered as memcached 1.6 answers them. A value that a
//! client stores has the same key, flags and expiry time for the processes that use the table, and
//! the other way round.
//!
//! | file | what it holds |
//! |---|---|
//! | `service` | the service, its workers, its sessions |
//! | `rules`, `auth` | what clients may do; names and passwords |
//! | `work` | the context that commands work with |
//! | `batch` | requests that arrived together and are carried out together |
//! | `store`, `count`, `items` | operations on the table: storing, counting, touching, deleting |
//! | `marks` | facts about an item beside its value |
//! | `exptime`, `flush` | expiry times of clients, and a flush in the future |
//! | `stats`, `tally`, `prefixes`, `saves` | figures, and the counts behind them |
//! | `connections` | the list of connections |
//! | `watch` | the lines that watchers get |
//! | `crawler` | dumps of the keys |
//! | `failure` | errors of the table as clients get them |
//! | `text`, `binary`, `meta` | the three protocols: a file a group of commands |
//!
//! What differs from memcached:
//!
//! - In tables without versions the unique number of an item is a hash of its value: an item that
//!   got another value and its old one again has the old number.
//! - Values of exactly the largest size are stored; memcached counts its own header and the key.
//! - `flush_all` with a delay removes keys when the first request after it comes, and spares what
//!   is stored in that very second.
//! - In tables without versions, meta flags that need what their items have no room for are refused
//!   (`meta`).
//! - A read that fails ends the connection, after a line that says why.
//! - `cache_memlimit` changes the capacity of a table that is a cache, for all processes that use
//!   it.
//! - Figures of `stats` that have no counterpart here are 0.
//! - `watch` and the dumps may follow other commands in a pipeline.
//! - `slabs` and `lru` are answered as by a memcached that does neither.
//!
//! All of it is in docs/internals/protocol.md.

mod auth;
mod batch;
mod binary;
mod connections;
mod count;
mod crawler;
mod exptime;
mod failure;
mod flush;
mod items;
mod marks;
mod meta;
mod prefixes;
mod rules;
mod saves;
mod service;
mod stats;
mod store;
mod tally;
mod text;
mod watch;
mod work;

pub use auth::{BadUsers, Users};
pub(crate) use auth::{MOST_WRONG, PAUSE};
pub use rules::{OnGuessing, Rules};
pub use saves::Saves;
pub use service::{Memcached, MemcachedWorker, Session};
pub use tavola_proto::Protocol;

/// The version that clients get: that of the memcached whose protocol is spoken, and of this crate.
pub const VERSION: &str = concat!("1.6.45-tavola-", env!("CARGO_PKG_VERSION"));

//! The protocol of Redis over a table: [`Resp`] is a [`Service`](crate::Service).
//!
//! Commands come from `tavola_proto::resp`, are carried out on a [`Table`](tavola::Table) that
//! other processes may have open as well, and are answered as Redis 7.0 answers them. There are
//! strings and no other types. A command that the table cannot carry out as Redis does is unknown.
//!
//! | file | what it holds |
//! |---|---|
//! | `rules` | what clients may do |
//! | `refusal` | errors, in Redis' words |
//! | `tally`, `work`, `client` | counts; the context of a thread, and of a connection |
//! | `call` | a command that is carried out: what its function gets and returns |
//! | `change` | a change that depends on the old value |
//! | `time` | expiry times as clients send and get them |
//! | `decimal`, `glob` | numbers with a fraction; patterns |
//! | `strings`, `numbers`, `expiry`, `keys`, `many` | commands, a file a group |
//! | `scan` | SCAN and KEYS |
//! | `connection`, `config`, `info` | commands about the connection and the server |
//! | `commands` | the list of all commands, and how one is chosen |
//! | `gets` | GETs that arrived together and are read together |
//! | `service` | the service, its workers, its sessions |
//!
//! # At one moment
//!
//! A command on one key reads and writes it in one step of the table, or is retried until the value
//! that it has read is the one that it replaces; the time to expire is compared under the shard's
//! lock (`ServeTable::touch_if`). Commands on several keys are transactions, except in a cache,
//! which has none: there MGET, DEL, UNLINK, EXISTS and TOUCH take each key on its own, and MSET and
//! MSETNX are unknown.
//!
//! # Crash
//!
//! Each command changes the table by one call that is atomic under death: `store`, `remove`,
//! `touch_if`, or a transaction. If the server is killed, the command has happened or not; a client
//! that got no reply does not know which.
//!
//! All that differs from Redis is in docs/internals/resp.md.

mod call;
mod change;
mod client;
mod commands;
mod config;
mod connection;
mod decimal;
mod expiry;
mod gets;
mod glob;
mod info;
mod keys;
mod many;
mod numbers;
mod refusal;
mod rules;
mod scan;
mod service;
mod strings;
mod tally;
mod time;
mod work;

pub use rules::RespRules;
pub use service::{Resp, RespSession, RespWorker};

/// The version that clients get: that of the Redis whose commands are carried out.
pub const VERSION: &str = "7.0.15";
/// The bytes of replies that a client may leave unread before its commands wait, for
/// [`Options::output_bound_there`](crate::Options::output_bound_there). Redis has no such limit,
/// and its clients send whole pipelines before they read.
pub const OUTPUT_BYTES: usize = 32 << 20;
/// The bytes of the longest key: as many as a durable table has.
pub const KEY_BYTES: usize = 8192;

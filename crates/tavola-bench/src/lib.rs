//! The harness that measures Tavola.
//!
//! One *leader* process makes a table that nobody else can see, starts *workers* (the same program
//! again, with a hidden subcommand), and lets them all start at one instant of the monotonic clock.
//! Every answer the table gives is checked; a wrong one ends the run with an error.
//!
//! - [`kv`]: the phases `put`, `over`, `mix`, `get`, `miss` over N keys by P processes.
//! - [`open`]: what it costs to open an existing table, get one key, and close it.
//! - [`iter`]: what it costs to walk over all records.
//! - [`tags`]: keys with tags, and without.
//! - [`copy`]: values read, beside plain copies out of a mapping.
//! - [`uid`]: the same keys asked for by key and by uid.
//! - [`queue`]: elements that two processes hand each other, over a pool of queues and its peers.
//! - [`log`]: lines that processes log, until they are in a file, and its peers.
//! - [`scale`]: how rates of [`kv`] hold up when more processes sit at the table.
//! - [`serve`]: clients of memcached, at this server and at memcached itself.
//! - [`compare`]: the table beside other stores, and how each of them is used.
//! - [`trace`]: how often a table with a capacity finds what is asked for, beside simulations.
//!
//! Below them: [`clock`] (one time for all processes), [`command`] (where the command `tavola` is),
//! `bytes` (keys and values made from an index, and checked), `order` (a random visiting order that
//! costs no memory), `latency` (histograms, and what the scheduler had to do with the slowest),
//! `scratch` (the table), `crew` and `duty` (workers, as their leader sees them and as they see
//! it), `stats` (medians).
//!
//! The program `tavola-bench` (`main.rs`, `cmd`) prints the results.
#![forbid(unsafe_code)]

mod bytes;
pub mod clock;
pub mod command;
pub mod compare;
pub mod copy;
mod crew;
mod duty;
mod error;
pub mod iter;
pub mod kv;
mod latency;
pub mod log;
pub mod open;
mod order;
pub mod queue;
pub mod scale;
mod scratch;
pub mod serve;
mod stats;
pub mod tags;
pub mod trace;
pub mod uid;

pub use error::{Error, Result};
pub use latency::Percentiles;
pub use scratch::Place;

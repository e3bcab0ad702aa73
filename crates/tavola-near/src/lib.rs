//! A near cache: values of a Redis or Valkey server in a table of shared memory, with a bound on
//! how old they may be.
//!
//! One daemon a machine ([`DaemonOptions`], `tavola near`) speaks to the server, fills the table,
//! and removes what has changed. All processes read the table directly ([`Near`]): a hit takes no
//! system call. The rules and the proof of the bound are in `docs/internals/near.md`.

#![forbid(unsafe_code)]

mod address;
mod ask;
mod clock;
mod daemon;
mod engine;
mod error;
#[cfg(test)]
mod mistake;
#[cfg(all(test, feature = "shuttle"))]
mod models;
mod near;
mod owner;
mod read;
mod resp;
mod shared;
#[cfg(all(test, not(feature = "shuttle")))]
mod sim;
mod sync;

/// The examples of the guide.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/near.md")]
struct Guide;

pub use daemon::{DaemonOptions, NearEvent};
pub use error::{NearError, Result};
pub use near::{Near, NearStatus};

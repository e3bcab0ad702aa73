//! One file a command: its arguments, its examples, and what it does.
//!
//! Each has `Args` and `run(Args)`; `run` gives the exit code, or the error that `main` prints.

pub mod add;
pub mod bench;
pub mod check;
pub mod compact;
pub mod completions;
pub mod compute;
pub mod copy;
pub mod create;
pub mod decr;
pub mod del;
pub mod doctor;
pub mod drop;
pub mod dump;
pub mod exporter;
pub mod get;
pub mod incr;
pub mod invalidate;
pub mod load;
pub mod log;
pub mod ls;
pub mod maintain;
pub mod man;
pub mod migrate;
pub mod resize;
pub mod serve;
pub mod set;
pub mod set_capacity;
pub mod stat;
pub mod top;
pub mod touch;
pub mod tour;
pub mod ttl;

//! The parts that the programs `tavola` and `tavola-bench` share.
//!
//! - [`units`]: sizes, times and counts, read from arguments and printed for people.
//! - [`usage`]: prints help and errors of usage, and returns the exit code.
//! - [`interrupt`]: Ctrl-C sets a flag, so that a program can end in good order.
//! - [`stack`]: runs a closure on a large stack, whatever `ulimit -s` says.
//! - [`RunQueue`]: how long a thread waited for a CPU.
#![forbid(unsafe_code)]

pub mod interrupt;
mod run_queue;
pub mod stack;
pub mod units;
pub mod usage;

pub use run_queue::RunQueue;

/// The exit code of every error.
pub const ERROR: u8 = 2;

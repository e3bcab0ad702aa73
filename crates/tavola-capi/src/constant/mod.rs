//! Constant files: keys and values that are written once, as a whole, and read by all processes.

// In this order they stand in the header.
mod file;

mod read;

mod walk;

pub(crate) mod writer;

pub use file::tavola_cdb;

//! Logs: lines that all processes write, and who reads them.

// In this order they stand in the header.
pub(crate) mod log;

pub(crate) mod stats;

mod line;

pub(crate) mod drain;

pub(crate) mod drain_thread;

mod file;

mod reader;

pub use line::{tavola_each_line, tavola_line};
pub use log::tavola_log;

use crate::status::Failure;
use std::cell::{RefCell, RefMut};

/// A handle for one thread at a time: a callback that uses the one it was called for is refused.
fn alone<T>(handle: &RefCell<T>) -> Result<RefMut<'_, T>, Failure> {
    let busy = "the handle is in use: a callback was called for it, which must not use it itself";
    handle.try_borrow_mut().map_err(|_| Failure::argument(busy))
}

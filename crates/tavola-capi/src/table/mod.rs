//! Tables: opening them, and their operations, a file for each kind.

// In this order they stand in the header.
mod open;

mod read;

mod range;

mod view;

mod write;

pub(crate) mod store;

mod update;

mod counter;

pub(crate) mod number;

mod expiry;

pub(crate) mod uid;

mod iter;

pub(crate) mod stats;

pub(crate) mod live;

pub(crate) mod recent;

pub(crate) mod latency;

pub(crate) mod shards;

pub(crate) mod holders;

pub(crate) mod maintain;

mod cache;

mod resize;

pub(crate) mod durable;

pub(crate) mod saved;

mod key_watch;

pub(crate) mod tags;

mod transaction;

#[cfg(test)]
mod allocations;

pub(crate) use maintain::{report, tavola_check_report};

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;
use tavola_core::Table;

/// A table. Threads may share it.
pub struct tavola_table {
    pub(crate) inner: Table,
    path: CString,
}

const _: () = crate::given::is_shared::<tavola_table>();

/// Hands out a table. It is counted: a walk keeps it open.
fn opened(inner: Table) -> *mut tavola_table {
    let path = CString::new(inner.path().as_os_str().as_bytes()).unwrap_or_default();
    Arc::into_raw(Arc::new(tavola_table { inner, path })).cast_mut()
}

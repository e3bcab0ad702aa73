//! Waiting for the change of a key.

use super::tavola_table;
use crate::entry::{OK, entry};
use crate::given::given;
use crate::status::tavola_status;
use std::ffi::c_void;
use std::time::Duration;
use tavola_core::KeyWatch;

/// A watch of one key, for one thread at a time. It keeps the table open.
pub struct tavola_key_watch {
    inner: KeyWatch,
}

/// Watches a key for changes by any process, whether or not the key is there.
///
/// # Examples
/// ```c
/// tavola_key_watch *watch = NULL;
/// tavola_set(table, TAVOLA_STR("config"), TAVOLA_STR("1"));
/// tavola_key_watch_open(table, TAVOLA_STR("config"), &watch);
/// tavola_set(table, TAVOLA_STR("config"), TAVOLA_STR("2")); // as another process might
/// if (tavola_key_watch_wait(watch, 10000) == TAVOLA_OK) {
///   puts("config has changed");
/// }
/// tavola_key_watch_close(watch);
/// ```
///
/// # Errors
/// `TAVOLA_ERR_READ_ONLY`: a watcher writes that it watches. `TAVOLA_ERR_FULL`: there is no memory
/// for the records of watches.
///
/// # Concurrency
/// Without a watcher, a write of any process does one load more. With one, each write to the same
/// shard compares eight records.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_key_watch_open(
    table: *const tavola_table,
    key: *const c_void,
    key_len: usize,
    watch: *mut *mut tavola_key_watch,
) -> tavola_status {
    entry(|| {
        let (table, watch) = (given!(handle table), given!(out watch));
        let inner = table.inner.watch_key(given!(bytes key, key_len))?;
        watch.put(Box::into_raw(Box::new(tavola_key_watch { inner })));
        OK
    })
}

/// Waits until the key has changed since the watch was opened, or since the last call that returned
/// `TAVOLA_OK`: it was set, removed, evicted, or it expired. Several changes may be reported as
/// one; the last one is never missed.
///
/// # Errors
/// `TAVOLA_TIMEOUT`: it has not changed within `timeout_ms` milliseconds. Otherwise as
/// `tavola_get`.
///
/// # Concurrency
/// It may also return `TAVOLA_OK` without a change, so read the key afterwards.
///
/// # Crash
/// A change by a process that was killed right after it is reported within about a second.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_key_watch_wait(
    watch: *mut tavola_key_watch,
    timeout_ms: u64,
) -> tavola_status {
    entry(|| {
        let watch = given!(buffer watch);
        match watch.inner.wait(Duration::from_millis(timeout_ms))? {
            true => OK,
            false => Ok(tavola_status::TAVOLA_TIMEOUT),
        }
    })
}

/// Ends a watch. NULL has no effect.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_key_watch_close(watch: *mut tavola_key_watch) {
    // SAFETY: the caller's promise: it came from `tavola_key_watch_open` and is used no more.
    unsafe { crate::given::close(watch) };
}

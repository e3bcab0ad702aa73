//! A queue as a file descriptor.

use super::queue::tavola_queue;
use crate::entry::{OK, entry, entry_or};
use crate::given::{close, given};
use crate::status::tavola_status;
use std::ffi::c_int;
use std::os::fd::AsRawFd;
use tavola_core::Watch;

/// A descriptor that is readable while a queue holds something.
pub struct tavola_watch {
    inner: Watch,
}

const _: () = crate::given::is_shared::<tavola_watch>();

/// Watches a queue; starts a thread. When the descriptor is readable, clear it first, then pop
/// until the queue is empty, and poll again.
///
/// # Errors
/// `TAVOLA_ERR_IO` when there is no descriptor or no thread to be had; `TAVOLA_ERR_READ_ONLY`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_watch_open(
    queue: *const tavola_queue,
    watch: *mut *mut tavola_watch,
) -> tavola_status {
    entry(|| {
        let (queue, watch) = (given!(handle queue), given!(out watch));
        let inner = queue.inner.watch()?;
        watch.put(Box::into_raw(Box::new(tavola_watch { inner })));
        OK
    })
}

/// The descriptor, for `poll` and `epoll`; it stays the watch's. -1 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_watch_fd(watch: *const tavola_watch) -> c_int {
    entry_or(-1, || Ok(given!(handle watch).inner.as_raw_fd()))
}

/// Makes it unreadable until the queue is looked at again, which is at once if it still holds
/// something.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_watch_clear(watch: *const tavola_watch) -> tavola_status {
    entry(|| {
        given!(handle watch).inner.clear();
        OK
    })
}

/// Ends a watch, and its thread. NULL is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_watch_close(watch: *mut tavola_watch) {
    // SAFETY: the caller's promise: it came from `tavola_watch_open` and is used no more.
    unsafe { close(watch) };
}

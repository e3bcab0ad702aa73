//! A queue as a file descriptor.

use super::queue::tavola_queue;
use crate::entry::{OK, entry, entry_or};
use crate::given::{close, given};
use crate::status::tavola_status;
use std::ffi::c_int;
use std::os::fd::AsRawFd;
use tavola_core::Watch;

/// A descriptor that is readable while a queue has elements.
pub struct tavola_queue_watch {
    inner: Watch,
}

const _: () = crate::given::is_shared::<tavola_queue_watch>();

/// Opens a watch on a queue, and starts a thread for it. When its descriptor is readable, clear it
/// first, then pop until the queue is empty, and poll again.
///
/// # Examples
/// ```c
/// tavola_pool *pool = NULL;
/// tavola_queue *jobs = NULL;
/// tavola_queue_watch *watch = NULL;
/// tavola_pool_options options = TAVOLA_INIT(tavola_pool_options);
/// options.elements = 64;
/// options.element_bytes = 256;
/// tavola_pool_open_in(table, "work", &options, &pool);
/// tavola_queue_open(pool, "free", &jobs);
/// tavola_queue_watch_open(jobs, &watch);
/// printf("poll descriptor %d\n", tavola_queue_watch_fd(watch));
/// tavola_queue_watch_clear(watch);
/// tavola_queue_watch_close(watch);
/// tavola_queue_close(jobs);
/// tavola_pool_close(pool);
/// ```
///
/// # Errors
/// `TAVOLA_ERR_IO` if the system gives no descriptor or thread; `TAVOLA_ERR_READ_ONLY`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_queue_watch_open(
    queue: *const tavola_queue,
    watch: *mut *mut tavola_queue_watch,
) -> tavola_status {
    entry(|| {
        let (queue, watch) = (given!(handle queue), given!(out watch));
        let inner = queue.inner.watch()?;
        watch.put(Box::into_raw(Box::new(tavola_queue_watch { inner })));
        OK
    })
}

/// Returns the descriptor for `poll` and `epoll`. It belongs to the watch. Returns -1 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_queue_watch_fd(watch: *const tavola_queue_watch) -> c_int {
    entry_or(-1, || Ok(given!(handle watch).inner.as_raw_fd()))
}

/// Makes the descriptor unreadable until the watch looks at the queue again, which is at once if
/// the queue has elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_queue_watch_clear(
    watch: *const tavola_queue_watch,
) -> tavola_status {
    entry(|| {
        given!(handle watch).inner.clear();
        OK
    })
}

/// Closes a watch, and ends its thread. NULL has no effect.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_queue_watch_close(watch: *mut tavola_queue_watch) {
    // SAFETY: the caller's promise: it came from `tavola_queue_watch_open` and is used no more.
    unsafe { close(watch) };
}

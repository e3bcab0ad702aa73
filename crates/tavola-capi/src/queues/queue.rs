//! One queue.

use super::tavola_pool;
use crate::entry::{OK, entry, entry_or};
use crate::given::{close, given};
use crate::status::{Failure, tavola_status};
use std::ffi::c_char;
use std::time::Duration;
use tavola_core::{Queue, Result};

/// A queue of elements, first in, first out. Any number of threads and processes may push and pop
/// at once.
pub struct tavola_queue {
    pub(super) inner: Queue,
    /// Where the pool's elements begin: the same for all queues of one pool by one handle's
    /// mapping, and for no others.
    elements: usize,
}

const _: () = crate::given::is_shared::<tavola_queue>();

/// What a wait that ended without an element comes to.
fn counted(count: usize, otherwise: tavola_status) -> tavola_status {
    match count {
        0 => otherwise,
        _ => tavola_status::TAVOLA_OK,
    }
}

fn opened(pool: &tavola_pool, inner: Queue) -> *mut tavola_queue {
    let elements = pool.inner.element_ptr(0).addr();
    Box::into_raw(Box::new(tavola_queue { inner, elements }))
}

/// Opens a queue of a pool. It keeps the file of the pool open. A handle of a pool looks up each
/// name once.
///
/// # Errors
/// `TAVOLA_ERR_NO_OBJECT`; `TAVOLA_ERR_CORRUPT`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_queue_open(
    pool: *const tavola_pool,
    name: *const c_char,
    queue: *mut *mut tavola_queue,
) -> tavola_status {
    entry(|| {
        let (pool, name) = (given!(handle pool), given!(text name));
        let queue = given!(out queue);
        queue.put(opened(pool, pool.inner.queue(name)?));
        OK
    })
}

/// Adds a queue without elements to a pool that was created with room for it (`queue_room`), and
/// opens it. It stays as long as the pool.
///
/// # Errors
/// `TAVOLA_ERR_OBJECT_EXISTS` if there is a queue of that name; open it with `tavola_queue_open`.
/// `TAVOLA_ERR_BAD_NAME` if the name does not have 1 to 56 bytes; `TAVOLA_ERR_FULL` if the pool has
/// no room for another queue; `TAVOLA_ERR_CORRUPT`; `TAVOLA_ERR_READ_ONLY`; `TAVOLA_ERR_REENTRANT`;
/// at the first write of a process as `tavola_set`.
///
/// # Concurrency
/// All processes that have the pool open find the queue by its name at once. If several add a queue
/// of the same name, one does.
///
/// # Crash
/// The queue exists completely or not at all.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_pool_add_queue(
    pool: *const tavola_pool,
    name: *const c_char,
    queue: *mut *mut tavola_queue,
) -> tavola_status {
    entry(|| {
        let (pool, name) = (given!(handle pool), given!(text name));
        let queue = given!(out queue);
        queue.put(opened(pool, pool.inner.add_queue(name)?));
        OK
    })
}

/// Adds an element that this process holds to the end of a queue. The process no longer holds it.
///
/// # Examples
/// ```c
/// uint32_t element = 0;
/// tavola_pool *pool = NULL;
/// tavola_queue *empty = NULL, *jobs = NULL;
/// const char *names[] = {"free", "jobs"};
/// tavola_pool_options options = TAVOLA_INIT(tavola_pool_options);
/// options.elements = 64;
/// options.element_bytes = 256;
/// options.queues = names;
/// options.queue_count = 2;
/// tavola_pool_open_in(table, "work", &options, &pool);
/// tavola_queue_open(pool, "free", &empty);
/// tavola_queue_open(pool, "jobs", &jobs);
///
/// if (tavola_queue_pop(empty, &element) == TAVOLA_OK) {
///   strcpy((char *)tavola_pool_element_ptr(pool, element), "resize image 7");
///   tavola_queue_push(jobs, element);
/// }
/// if (tavola_queue_pop_wait(jobs, 1000, &element) == TAVOLA_OK) {
///   puts((const char *)tavola_pool_element_ptr(pool, element));
///   tavola_queue_push(empty, element);
/// }
/// tavola_queue_close(jobs);
/// tavola_queue_close(empty);
/// tavola_pool_close(pool);
/// ```
///
/// # Errors
/// `TAVOLA_ERR_NOT_HELD`; `TAVOLA_ERR_READ_ONLY`; `TAVOLA_ERR_REENTRANT`; at the first write of a
/// process as `tavola_set`.
///
/// # Concurrency
/// Takes a lock for a short time. If a process dies while it holds the lock, others notice it after
/// about 10 ms; if it is stopped, they wait until it continues.
///
/// # Crash
/// If the process is killed before the call returned, the element is in the queue, or is held by a
/// dead process.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_queue_push(
    queue: *const tavola_queue,
    element: u32,
) -> tavola_status {
    entry(|| {
        given!(handle queue).inner.push(element)?;
        OK
    })
}

/// Adds elements in this order. Other processes see all or none of each 1024.
///
/// # Errors
/// As `tavola_queue_push`. The earlier groups of 1024 are then in the queue, and the process still
/// holds the others.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_queue_push_many(
    queue: *const tavola_queue,
    elements: *const u32,
    count: usize,
) -> tavola_status {
    entry(|| {
        let (queue, elements) = (given!(handle queue), given!(items elements, count));
        queue.inner.push_many(elements)?;
        OK
    })
}

/// What the functions have in common that pop one element.
///
/// # Safety
/// CAPI-1 of `given.rs`.
unsafe fn pop_one(
    queue: *const tavola_queue,
    element: *mut u32,
    otherwise: tavola_status,
    pop: impl FnOnce(&Queue) -> Result<Option<u32>>,
) -> tavola_status {
    entry(|| {
        let (queue, out) = (given!(handle queue), given!(out element));
        let Some(element) = pop(&queue.inner)? else {
            return Ok(otherwise);
        };
        out.put(element);
        OK
    })
}

/// Takes the first element of a queue.
///
/// # Errors
/// `TAVOLA_EMPTY`: the queue is empty. Otherwise as `tavola_queue_push`; `TAVOLA_ERR_CORRUPT`.
///
/// # Concurrency
/// As `tavola_queue_push`, with another lock. If the queue is empty, it takes no lock.
///
/// # Crash
/// If the process is killed before the call returned, the element is in the queue, or is held by a
/// dead process.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_queue_pop(
    queue: *const tavola_queue,
    element: *mut u32,
) -> tavola_status {
    // SAFETY: the caller's promise.
    unsafe { pop_one(queue, element, tavola_status::TAVOLA_EMPTY, Queue::pop) }
}

/// Takes the first element of a queue, and waits for one for at most `timeout_ms`; `UINT64_MAX` is
/// no limit.
///
/// # Errors
/// `TAVOLA_TIMEOUT`: the time limit passed before. Otherwise as `tavola_queue_pop`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_queue_pop_wait(
    queue: *const tavola_queue,
    timeout_ms: u64,
    element: *mut u32,
) -> tavola_status {
    let timeout = Duration::from_millis(timeout_ms);
    let pop = |queue: &Queue| queue.pop_wait(timeout);
    // SAFETY: the caller's promise.
    unsafe { pop_one(queue, element, tavola_status::TAVOLA_TIMEOUT, pop) }
}

/// What the functions have in common that pop many.
///
/// # Safety
/// CAPI-1 of `given.rs`.
unsafe fn pop_some(
    queue: *const tavola_queue,
    elements: *mut u32,
    most: usize,
    count: *mut usize,
    otherwise: tavola_status,
    pop: impl FnOnce(&Queue, &mut [u32]) -> Result<usize>,
) -> tavola_status {
    entry(|| {
        let (queue, out) = (given!(handle queue), given!(items_out elements, most));
        let counter = given!(out count);
        let count = pop(&queue.inner, out)?;
        if count > 0 {
            counter.put(count);
        }
        Ok(counted(count, otherwise))
    })
}

/// Takes as many elements as the queue has and `elements` has room for (`most`), at most 1024.
/// `count` gets how many.
///
/// # Examples
/// ```c
/// uint32_t some[16];
/// size_t count = 0;
/// tavola_pool *pool = NULL;
/// tavola_queue *empty = NULL, *jobs = NULL;
/// const char *names[] = {"free", "jobs"};
/// tavola_pool_options options = TAVOLA_INIT(tavola_pool_options);
/// options.elements = 64;
/// options.element_bytes = 256;
/// options.queues = names;
/// options.queue_count = 2;
/// tavola_pool_open_in(table, "work", &options, &pool);
/// tavola_queue_open(pool, "free", &empty);
/// tavola_queue_open(pool, "jobs", &jobs);
///
/// tavola_queue_pop_many(empty, some, 16, &count);
/// tavola_queue_push_many(jobs, some, count);
/// tavola_queue_pop_many_wait(jobs, some, 16, 1000, &count);
/// tavola_queue_push_many(jobs, some, count);
/// tavola_queue_pass(jobs, empty, 8, &count);
/// tavola_queue_pass_wait(jobs, empty, 8, 1000, &count);
/// printf("%zu elements are free\n", tavola_queue_len(empty));
/// tavola_queue_close(jobs);
/// tavola_queue_close(empty);
/// tavola_pool_close(pool);
/// ```
///
/// # Errors
/// As `tavola_queue_pop`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_queue_pop_many(
    queue: *const tavola_queue,
    elements: *mut u32,
    most: usize,
    count: *mut usize,
) -> tavola_status {
    let empty = tavola_status::TAVOLA_EMPTY;
    // SAFETY: the caller's promise.
    unsafe { pop_some(queue, elements, most, count, empty, Queue::pop_many) }
}

/// Does the same as `tavola_queue_pop_many`, and waits for the first element for at most
/// `timeout_ms`.
///
/// # Errors
/// As `tavola_queue_pop_wait`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_queue_pop_many_wait(
    queue: *const tavola_queue,
    elements: *mut u32,
    most: usize,
    timeout_ms: u64,
    count: *mut usize,
) -> tavola_status {
    let timeout = Duration::from_millis(timeout_ms);
    let pop = |queue: &Queue, out: &mut [u32]| queue.pop_many_wait(out, timeout);
    let late = tavola_status::TAVOLA_TIMEOUT;
    // SAFETY: the caller's promise.
    unsafe { pop_some(queue, elements, most, count, late, pop) }
}

/// What the functions have in common that pass.
///
/// # Safety
/// CAPI-1 of `given.rs`.
unsafe fn pass_some(
    queue: *const tavola_queue,
    to: *const tavola_queue,
    count: *mut usize,
    otherwise: tavola_status,
    pass: impl FnOnce(&Queue, &Queue) -> Result<usize>,
) -> tavola_status {
    entry(|| {
        let (queue, to) = (given!(handle queue), given!(handle to));
        let counter = given!(maybe count);
        if queue.elements != to.elements {
            return Err(Failure::argument("elements are passed within one pool"));
        }
        let count = pass(&queue.inner, &to.inner)?;
        if count > 0 {
            counter.put(count);
        }
        Ok(counted(count, otherwise))
    })
}

/// Moves at most `most` elements (and at most 1024) to another queue of the pool. `count`, which
/// may be NULL, gets how many.
///
/// # Errors
/// `TAVOLA_ERR_ARGUMENT`: the other queue belongs to another pool, or to another handle of this
/// one. `TAVOLA_ERR_NOT_HELD`: another thread has just pushed one of the elements, or the pool is
/// damaged; the others are then at the end of this queue, and none is in the other one. Otherwise
/// as `tavola_queue_pop`.
///
/// # Crash
/// If the process is killed in between, it holds the elements, as if it had popped them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_queue_pass(
    queue: *const tavola_queue,
    to: *const tavola_queue,
    most: usize,
    count: *mut usize,
) -> tavola_status {
    let pass = |queue: &Queue, to: &Queue| queue.pass(to, most);
    // SAFETY: the caller's promise.
    unsafe { pass_some(queue, to, count, tavola_status::TAVOLA_EMPTY, pass) }
}

/// Does the same as `tavola_queue_pass`, and waits for the first element for at most `timeout_ms`.
///
/// # Errors
/// `TAVOLA_TIMEOUT`: the time limit passed before. Otherwise as `tavola_queue_pass`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_queue_pass_wait(
    queue: *const tavola_queue,
    to: *const tavola_queue,
    most: usize,
    timeout_ms: u64,
    count: *mut usize,
) -> tavola_status {
    let timeout = Duration::from_millis(timeout_ms);
    let pass = |queue: &Queue, to: &Queue| queue.pass_wait(to, most, timeout);
    // SAFETY: the caller's promise.
    unsafe { pass_some(queue, to, count, tavola_status::TAVOLA_TIMEOUT, pass) }
}

/// Returns how many elements the queue holds at this moment.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_queue_len(queue: *const tavola_queue) -> usize {
    entry_or(0, || Ok(given!(handle queue).inner.len()))
}

/// Closes a queue. NULL has no effect.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_queue_close(queue: *mut tavola_queue) {
    // SAFETY: the caller's promise: it came from `tavola_queue_open` and is used no more.
    unsafe { close(queue) };
}

//! One queue.

use super::tavola_pool;
use crate::entry::{OK, entry, entry_or};
use crate::given::{close, given};
use crate::status::{Failure, tavola_status};
use std::ffi::c_char;
use std::time::Duration;
use tavola_core::{Queue, Result};

/// A queue of elements, first in, first out. Any number of threads and processes push and pop at
/// once.
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

/// Opens one of a pool's queues, which keeps the pool's file open. A pool's handle reads each
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

/// Adds a queue, without elements, for which the pool was made with room (`queue_room`), and opens
/// it. It stays as long as the pool.
///
/// # Errors
/// `TAVOLA_ERR_OBJECT_EXISTS` when there is one of that name: `tavola_queue_open` opens it;
/// `TAVOLA_ERR_BAD_NAME` when the name has not 1 to 56 bytes; `TAVOLA_ERR_FULL` when the pool has
/// no room for another; `TAVOLA_ERR_CORRUPT`; `TAVOLA_ERR_READ_ONLY`; `TAVOLA_ERR_REENTRANT`; at a
/// process's first write as `tavola_set`.
///
/// # Concurrency
/// Whoever has the pool open finds the queue by its name at once. Of those that add one of the same
/// name at once, one does.
///
/// # Crash
/// The queue is there whole or not at all.
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

/// Adds an element that this process holds, and holds no more then.
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
/// `TAVOLA_ERR_NOT_HELD`; `TAVOLA_ERR_READ_ONLY`; `TAVOLA_ERR_REENTRANT`; at a process's first
/// write as `tavola_set`.
///
/// # Concurrency
/// Takes a short lock. A process that dies or is stopped within delays those who need the same one
/// until its death is noticed (some 10 ms), or until it goes on.
///
/// # Crash
/// Killed before it returned: the element stands in the queue, or is held by a dead process.
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

/// Adds elements in this order. Of each 1024, others see all or none.
///
/// # Errors
/// As `tavola_queue_push`; those of earlier stretches of 1024 are in the queue then, the others are
/// still held.
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
/// I1 of `given.rs`.
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

/// Takes the first element.
///
/// # Errors
/// `TAVOLA_EMPTY`: there is none. Else as `tavola_queue_push`; `TAVOLA_ERR_CORRUPT`.
///
/// # Concurrency
/// As `tavola_queue_push`, by another lock. A look at an empty queue takes none.
///
/// # Crash
/// Killed before it returned: the element stands in the queue, or is held by a dead process.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_queue_pop(
    queue: *const tavola_queue,
    element: *mut u32,
) -> tavola_status {
    // SAFETY: the caller's promise.
    unsafe { pop_one(queue, element, tavola_status::TAVOLA_EMPTY, Queue::pop) }
}

/// As `tavola_queue_pop`, waiting for an element if there is none, but no longer than `timeout_ms`;
/// `UINT64_MAX`: for ever.
///
/// # Errors
/// `TAVOLA_TIMEOUT`: none came. Else as `tavola_queue_pop`.
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
/// I1 of `given.rs`.
unsafe fn pop_some(
    queue: *const tavola_queue,
    (elements, most): (*mut u32, usize),
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

/// Takes as many elements as there are and `elements` has room for, at most 1024; `count` gets how
/// many.
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
    unsafe { pop_some(queue, (elements, most), count, empty, Queue::pop_many) }
}

/// As `tavola_queue_pop_many`, waiting for the first element if there is none.
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
    unsafe { pop_some(queue, (elements, most), count, late, pop) }
}

/// What the functions have in common that pass.
///
/// # Safety
/// I1 of `given.rs`.
unsafe fn pass_some(
    (queue, to): (*const tavola_queue, *const tavola_queue),
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

/// Pops at most `most` elements, of 1024, and pushes them to another queue of the pool; `count`,
/// unless it is NULL, gets how many.
///
/// # Errors
/// `TAVOLA_ERR_ARGUMENT`: the other queue is of another pool, or of another handle of it.
/// `TAVOLA_ERR_NOT_HELD`: another thread has just pushed one of them, or the pool is damaged; the
/// others are at the end of this queue then, and none is in the other. Else as `tavola_queue_pop`.
///
/// # Crash
/// In between, the elements are this process's, as if it had popped them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_queue_pass(
    queue: *const tavola_queue,
    to: *const tavola_queue,
    most: usize,
    count: *mut usize,
) -> tavola_status {
    let pass = |queue: &Queue, to: &Queue| queue.pass(to, most);
    // SAFETY: the caller's promise.
    unsafe { pass_some((queue, to), count, tavola_status::TAVOLA_EMPTY, pass) }
}

/// As `tavola_queue_pass`, waiting for the first element if there is none.
///
/// # Errors
/// `TAVOLA_TIMEOUT`: none came. Else as `tavola_queue_pass`.
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
    unsafe { pass_some((queue, to), count, tavola_status::TAVOLA_TIMEOUT, pass) }
}

/// How many elements the queue holds, in passing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_queue_len(queue: *const tavola_queue) -> usize {
    entry_or(0, || Ok(given!(handle queue).inner.len()))
}

/// Closes a queue. NULL is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_queue_close(queue: *mut tavola_queue) {
    // SAFETY: the caller's promise: it came from `tavola_queue_open` and is used no more.
    unsafe { close(queue) };
}

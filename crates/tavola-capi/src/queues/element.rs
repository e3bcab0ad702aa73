//! Elements of a pool: their bytes, and those that were lost.

use super::tavola_pool;
use crate::entry::{OK, entry, entry_or};
use crate::given::given;
use crate::status::{Failure, tavola_status};
use std::ffi::c_void;
use std::ptr;
use tavola_core::{QueuePool, Result};

/// Returns the bytes of an element, aligned to 8, or NULL if there is no such element. The address
/// stays the same as long as the pool or one of its queues is open. Only the process that holds the
/// element may read or write the bytes, with one thread at a time. After a push, the process that
/// pops the element sees them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_pool_element_ptr(
    pool: *const tavola_pool,
    element: u32,
) -> *mut c_void {
    entry_or(ptr::null_mut(), || {
        let pool = given!(handle pool);
        in_bounds(pool, element, 0, 0)?;
        Ok(pool.inner.element_ptr(element).cast())
    })
}

fn in_bounds(
    pool: &tavola_pool,
    element: u32,
    at: u32,
    len: usize,
) -> std::result::Result<(), Failure> {
    let bytes = pool.inner.element_bytes() as usize;
    if element >= pool.inner.elements() {
        return Err(Failure::argument("the pool has no such element"));
    }
    match len <= bytes && at as usize <= bytes - len {
        true => Ok(()),
        false => Err(Failure::argument("an element does not have so many bytes")),
    }
}

/// Copies `len` bytes of an element that this handle holds, beginning with byte `at`.
///
/// # Examples
/// ```c
/// char bytes[6] = "";
/// uint32_t element = 0;
/// tavola_pool *pool = NULL;
/// tavola_queue *empty = NULL;
/// tavola_check_report report = TAVOLA_INIT(tavola_check_report);
/// tavola_pool_options options = TAVOLA_INIT(tavola_pool_options);
/// options.elements = 64;
/// options.element_bytes = 256;
/// tavola_pool_open_in(table, "work", &options, &pool);
/// tavola_pool_set_lock_timeout(pool, 1000);
/// tavola_queue_open(pool, "free", &empty);
/// if (tavola_queue_pop(empty, &element) == TAVOLA_OK) {
///   tavola_pool_write(pool, element, 0, TAVOLA_STR("hello"));
///   tavola_pool_read(pool, element, 0, bytes, 5);
///   tavola_queue_push(empty, element);
/// }
/// tavola_pool_check(pool, &report, NULL, NULL);
/// tavola_queue_close(empty);
/// tavola_pool_close(pool);
/// ```
///
/// # Errors
/// `TAVOLA_ERR_NOT_HELD`; `TAVOLA_ERR_ARGUMENT` if the element has no such bytes; otherwise as
/// `tavola_queue_push`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_pool_read(
    pool: *const tavola_pool,
    element: u32,
    at: u32,
    data: *mut c_void,
    len: usize,
) -> tavola_status {
    entry(|| {
        let pool = given!(handle pool);
        in_bounds(pool, element, at, len)?;
        let data = data.cast::<u8>();
        pool.inner.read(element, at, given!(items_out data, len))?;
        OK
    })
}

/// Copies bytes to an element that this handle holds, beginning with byte `at`.
///
/// # Errors
/// As `tavola_pool_read`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_pool_write(
    pool: *const tavola_pool,
    element: u32,
    at: u32,
    data: *const c_void,
    len: usize,
) -> tavola_status {
    entry(|| {
        let (pool, bytes) = (given!(handle pool), given!(bytes data, len));
        in_bounds(pool, element, at, len)?;
        pool.inner.write(element, at, bytes)?;
        OK
    })
}

/// Called with the number of an element.
pub type tavola_each_element = Option<unsafe extern "C" fn(user: *mut c_void, element: u32)>;

/// # Safety
/// CAPI-1 of `given.rs`.
unsafe fn report_elements(
    pool: *const tavola_pool,
    each: tavola_each_element,
    user: *mut c_void,
    elements: impl FnOnce(&QueuePool) -> Result<Vec<u32>>,
) -> tavola_status {
    entry(|| {
        let pool = given!(handle pool);
        let each = each.ok_or_else(|| Failure::null("each"))?;
        for element in elements(&pool.inner)? {
            // SAFETY: the caller's function, called as its type says.
            unsafe { each(user, element) };
        }
        OK
    })
}

/// Calls `each` with each element that is held by a process which died or closed the pool.
///
/// # Errors
/// As `tavola_pool_reclaim`.
///
/// # Concurrency
/// As `tavola_pool_reclaim`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_pool_lost(
    pool: *const tavola_pool,
    each: tavola_each_element,
    user: *mut c_void,
) -> tavola_status {
    // SAFETY: the caller's promise.
    unsafe { report_elements(pool, each, user, QueuePool::lost) }
}

/// Takes the lost elements, so that this handle holds them, and calls `each` with each of them.
/// `each` may use the element and push it. If several processes reclaim at once, each element goes
/// to one of them. The work grows with the number of elements.
///
/// # Examples
/// ```c
/// static void lost(void *user, uint32_t element) {
///   (void)user;
///   printf("a process died with element %u\n", element);
/// }
///
/// static void reclaimed(void *user, uint32_t element) {
///   tavola_queue_push((tavola_queue *)user, element);
/// }
///
/// tavola_pool *pool = NULL;
/// tavola_queue *empty = NULL;
/// tavola_pool_options options = TAVOLA_INIT(tavola_pool_options);
/// options.elements = 64;
/// options.element_bytes = 256;
/// tavola_pool_open_in(table, "work", &options, &pool);
/// tavola_queue_open(pool, "free", &empty);
/// tavola_pool_lost(pool, lost, NULL);
/// tavola_pool_reclaim(pool, reclaimed, empty);
/// tavola_queue_close(empty);
/// tavola_pool_close(pool);
/// ```
///
/// # Errors
/// `TAVOLA_ERR_READ_ONLY`; `TAVOLA_ERR_REENTRANT`; at the first write of a process as `tavola_set`.
///
/// # Concurrency
/// Takes the locks of all queues once, and so waits for a process that is stopped in a push or pop.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_pool_reclaim(
    pool: *const tavola_pool,
    each: tavola_each_element,
    user: *mut c_void,
) -> tavola_status {
    // SAFETY: the caller's promise.
    unsafe { report_elements(pool, each, user, QueuePool::reclaim) }
}

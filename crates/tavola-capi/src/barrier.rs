//! Processes that begin at the same moment.

use crate::entry::{OK, entry};
use crate::given::given;
use crate::status::{Failure, tavola_status};
use crate::table::tavola_table;
use std::ffi::c_void;
use std::ptr;
use std::time::Duration;

/// Waits until `count` processes or threads have called this with the same table and key; then all
/// calls return. The key counts the calls, so it can be used again at once. It lives forever,
/// whatever the `ttl_ms` of the table.
///
/// # Examples
/// ```c
/// uint32_t dead = 0;
/// tavola_barrier_join(table, TAVOLA_STR("start"));
/// if (tavola_barrier_wait(table, TAVOLA_STR("start"), 1, 5000) == TAVOLA_TIMEOUT) {
///   puts("the other processes did not come within 5 seconds");
/// }
/// if (tavola_barrier_meet(table, TAVOLA_STR("start"), 1, 5000, &dead) == TAVOLA_OK && dead != 0) {
///   printf("%u of them have died\n", dead);
/// }
/// ```
///
/// # Errors
/// `TAVOLA_TIMEOUT`: the others have not called within `timeout_ms`, and this call no longer
/// counts. `TAVOLA_ERR_ARGUMENT`: `count` is 0. `TAVOLA_ERR_NOT_A_COUNTER`: the key has a value of
/// another kind. Otherwise as `tavola_set`; not in a table of fixed lengths.
///
/// # Concurrency
/// A caller that waits for more than 2 ms looks every 100 us: of four processes on two processors,
/// the last returned 130 us after the first (median of 50 runs). A process that waits for a
/// processor returns that much later.
///
/// # Crash
/// A process that is killed while it waits has come. In later rounds, nobody waits for a process
/// that has died; nor in the first, if it had called `tavola_barrier_join`. The others find out
/// within some 10 ms. `tavola_barrier_meet` says how many have died.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_barrier_wait(
    table: *const tavola_table,
    key: *const c_void,
    key_len: usize,
    count: u32,
    timeout_ms: u64,
) -> tavola_status {
    // SAFETY: the caller's promise.
    unsafe { tavola_barrier_meet(table, key, key_len, count, timeout_ms, ptr::null_mut()) }
}

/// Does the same as `tavola_barrier_wait`, and writes to `dead`, which may be NULL, how many of the
/// `count` have died: while they waited, or before they came.
///
/// # Errors
/// As `tavola_barrier_wait`.
///
/// # Crash
/// As `tavola_barrier_wait`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_barrier_meet(
    table: *const tavola_table,
    key: *const c_void,
    key_len: usize,
    count: u32,
    timeout_ms: u64,
    dead: *mut u32,
) -> tavola_status {
    entry(|| {
        let (table, key) = (given!(handle table), given!(bytes key, key_len));
        let out = given!(maybe dead);
        if count == 0 {
            return Err(Failure::argument("a race has one participant at least"));
        }
        let limit = Duration::from_millis(timeout_ms);
        match table.inner.barrier_wait(key, count, limit)? {
            Some(dead) => {
                out.put(dead);
                OK
            }
            None => Ok(tavola_status::TAVOLA_TIMEOUT),
        }
    })
}

/// Announces that this process will come to a barrier. If it is killed before it does, the others
/// do not wait for it. Each call announces one caller. It counts as long as one of all that are
/// announced or wait lives.
///
/// # Errors
/// As `tavola_barrier_wait`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_barrier_join(
    table: *const tavola_table,
    key: *const c_void,
    key_len: usize,
) -> tavola_status {
    entry(|| {
        let (table, key) = (given!(handle table), given!(bytes key, key_len));
        table.inner.barrier_join(key)?;
        OK
    })
}

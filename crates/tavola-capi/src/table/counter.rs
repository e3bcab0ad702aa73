//! Counters.

use super::tavola_table;
use crate::attributes::{attributes_of, tavola_attributes};
use crate::entry::{OK, entry, found};
use crate::given::{RawBytes, given};
use crate::status::tavola_status;
use std::ffi::c_void;
use std::ptr;
use tavola_core::{Attributes, Result, Table};

/// What [`tavola_incr`] and [`tavola_decr`] have in common.
///
/// # Safety
/// CAPI-1 of `given.rs`.
unsafe fn count(
    table: *const tavola_table,
    key: RawBytes,
    now: *mut u64,
    count: impl FnOnce(&Table, &[u8]) -> Result<u64>,
) -> tavola_status {
    entry(|| {
        let (table, key) = (given!(handle table), given!(raw key));
        let now = given!(maybe now);
        now.put(count(&table.inner, key)?);
        OK
    })
}

/// What [`tavola_incr_with`] and [`tavola_decr_with`] have in common.
///
/// # Safety
/// CAPI-1 of `given.rs`.
unsafe fn count_from(
    table: *const tavola_table,
    key: RawBytes,
    initial: *const u64,
    attributes: *const tavola_attributes,
    now: *mut u64,
    count: impl FnOnce(&Table, &[u8], Option<u64>, Attributes) -> Result<Option<u64>>,
) -> tavola_status {
    entry(|| {
        let (table, key) = (given!(handle table), given!(raw key));
        let now = given!(maybe now);
        let initial = match initial.is_null() {
            true => None,
            false => Some(*given!(handle initial)),
        };
        // SAFETY: the caller's promise.
        let attributes = unsafe { attributes_of(attributes) }?;
        let number = count(&table.inner, key, initial, attributes)?;
        if let Some(number) = number {
            now.put(number);
        }
        found(number.is_some())
    })
}

/// Adds to a counter, and writes the sum to `now`, which may be NULL. A key that does not exist
/// counts as 0. After 2^64 - 1 the counter begins at 0 again. A counter reads as decimal text, and
/// decimal text can be counted on. In a table of fixed lengths whose values have 8 bytes, each
/// value is a counter, a `uint64_t`.
///
/// # Examples
/// ```c
/// const uint64_t hundred = 100;
/// uint64_t now = 0;
/// tavola_attributes minute = TAVOLA_INIT(tavola_attributes);
/// minute.ttl_ms = 60 * 1000;
///
/// tavola_incr(table, TAVOLA_STR("hits"), 1, &now);
/// tavola_decr(table, TAVOLA_STR("hits"), 1, &now);
/// tavola_incr_from(table, TAVOLA_STR("tickets"), 1, &hundred, &now);
/// tavola_decr_from(table, TAVOLA_STR("tickets"), 1, NULL, &now);
/// tavola_incr_with(table, TAVOLA_STR("requests"), 1, &hundred, &minute, &now);
/// tavola_decr_with(table, TAVOLA_STR("requests"), 1, NULL, &minute, &now);
/// printf("%llu requests\n", (unsigned long long)now);
/// ```
///
/// # Errors
/// `TAVOLA_ERR_NOT_A_COUNTER`; `TAVOLA_ERR_LENGTHS` in a table of fixed lengths whose values do not
/// have 8 bytes. Otherwise as `tavola_set`.
///
/// # Crash
/// If the process is killed before the call returned, the number was added once or not at all.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_incr(
    table: *const tavola_table,
    key: *const c_void,
    key_len: usize,
    by: u64,
    now: *mut u64,
) -> tavola_status {
    let key = RawBytes::new(key, key_len);
    // SAFETY: the caller's promise.
    unsafe { count(table, key, now, |table, key| table.incr(key, by)) }
}

/// Subtracts from a counter, down to 0, and writes the result to `now`, which may be NULL. A key
/// that does not exist becomes 0.
///
/// # Errors
/// As `tavola_incr`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_decr(
    table: *const tavola_table,
    key: *const c_void,
    key_len: usize,
    by: u64,
    now: *mut u64,
) -> tavola_status {
    let key = RawBytes::new(key, key_len);
    // SAFETY: the caller's promise.
    unsafe { count(table, key, now, |table, key| table.decr(key, by)) }
}

/// Does the same as `tavola_incr`, but a key that does not exist becomes `*initial`, or is not
/// created if `initial` is NULL.
///
/// # Errors
/// `TAVOLA_NOT_FOUND`: the key does not exist, and `initial` is NULL. Otherwise as `tavola_incr`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_incr_from(
    table: *const tavola_table,
    key: *const c_void,
    key_len: usize,
    by: u64,
    initial: *const u64,
    now: *mut u64,
) -> tavola_status {
    // SAFETY: the caller's promise.
    unsafe { tavola_incr_with(table, key, key_len, by, initial, ptr::null(), now) }
}

/// Does the same as `tavola_decr`, but a key that does not exist becomes `*initial`, or is not
/// created if `initial` is NULL.
///
/// # Errors
/// `TAVOLA_NOT_FOUND`: the key does not exist, and `initial` is NULL. Otherwise as `tavola_decr`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_decr_from(
    table: *const tavola_table,
    key: *const c_void,
    key_len: usize,
    by: u64,
    initial: *const u64,
    now: *mut u64,
) -> tavola_status {
    // SAFETY: the caller's promise.
    unsafe { tavola_decr_with(table, key, key_len, by, initial, ptr::null(), now) }
}

/// Does the same as `tavola_incr_from`. A key that is created gets these attributes (NULL: those of
/// `tavola_set`); any other key keeps its own.
///
/// # Errors
/// As `tavola_incr_from` and `tavola_set_with`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_incr_with(
    table: *const tavola_table,
    key: *const c_void,
    key_len: usize,
    by: u64,
    initial: *const u64,
    attributes: *const tavola_attributes,
    now: *mut u64,
) -> tavola_status {
    let incr = |table: &Table, key: &[u8], initial, attributes| {
        table.incr_with(key, by, initial, attributes)
    };
    let key = RawBytes::new(key, key_len);
    // SAFETY: the caller's promise.
    unsafe { count_from(table, key, initial, attributes, now, incr) }
}

/// Does the same as `tavola_decr_from`. A key that is created gets these attributes (NULL: those of
/// `tavola_set`); any other key keeps its own.
///
/// # Errors
/// As `tavola_decr_from` and `tavola_set_with`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_decr_with(
    table: *const tavola_table,
    key: *const c_void,
    key_len: usize,
    by: u64,
    initial: *const u64,
    attributes: *const tavola_attributes,
    now: *mut u64,
) -> tavola_status {
    let decr = |table: &Table, key: &[u8], initial, attributes| {
        table.decr_with(key, by, initial, attributes)
    };
    let key = RawBytes::new(key, key_len);
    // SAFETY: the caller's promise.
    unsafe { count_from(table, key, initial, attributes, now, decr) }
}

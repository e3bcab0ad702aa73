//! Reads and changes the attributes of a key.

use super::tavola_table;
use crate::attributes::{EntryOut, TAVOLA_TTL_NEVER, expiry_of, tavola_attributes, ttl_ms_of};
use crate::buffer::tavola_buffer;
use crate::entry::{entry, found};
use crate::given::{SizedStruct, given};
use crate::status::tavola_status;
use std::ffi::c_void;
use std::ptr;

/// Reads the value of a key, its attributes, and its token for `tavola_compare_and_swap`. Each of
/// the three may be NULL, and then costs nothing: without value and token, no value is copied.
///
/// # Examples
/// ```c
/// char bytes[64];
/// uint64_t token = 0;
/// tavola_buffer value = TAVOLA_BUFFER(bytes, sizeof bytes);
/// tavola_attributes has = TAVOLA_INIT(tavola_attributes);
/// tavola_set(table, TAVOLA_STR("user"), TAVOLA_STR("alice"));
/// if (tavola_get_entry(table, TAVOLA_STR("user"), &value, &has, &token) == TAVOLA_OK) {
///   printf("%.*s, flags %u\n", (int)value.len, bytes, has.flags);
/// }
/// ```
///
/// # Errors
/// As `tavola_get`.
///
/// # Concurrency
/// As `tavola_get`. All three are of the same moment.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_get_entry(
    table: *const tavola_table,
    key: *const c_void,
    key_len: usize,
    value: *mut tavola_buffer,
    attributes: *mut tavola_attributes,
    token: *mut u64,
) -> tavola_status {
    entry(|| {
        let (table, key) = (given!(handle table), given!(bytes key, key_len));
        // SAFETY: the caller's promise.
        let out = unsafe { EntryOut::of(value, attributes, token) }?;
        let table = &table.inner;
        let to_slice = |room: &mut [u8]| table.get_entry_to_slice(key, room);
        out.read(table, key, to_slice, |bytes| {
            table.get_entry_into(key, bytes)
        })
    })
}

/// Returns how many milliseconds a key will still live: at least 1, or `TAVOLA_TTL_NEVER`.
///
/// # Examples
/// ```c
/// char bytes[64];
/// int64_t left_ms = 0;
/// tavola_buffer value = TAVOLA_BUFFER(bytes, sizeof bytes);
/// tavola_attributes hour = TAVOLA_INIT(tavola_attributes);
/// hour.ttl_ms = 60 * 60 * 1000;
///
/// tavola_set(table, TAVOLA_STR("session"), TAVOLA_STR("alice"));
/// tavola_touch(table, TAVOLA_STR("session"), &hour);
/// tavola_ttl(table, TAVOLA_STR("session"), &left_ms);
/// tavola_get_and_touch(table, TAVOLA_STR("session"), &hour, &value, NULL, NULL);
/// tavola_persist(table, TAVOLA_STR("session"));
/// ```
///
/// # Errors
/// As `tavola_contains`.
///
/// # Concurrency
/// As `tavola_get`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_ttl(
    table: *const tavola_table,
    key: *const c_void,
    key_len: usize,
    ttl_ms: *mut i64,
) -> tavola_status {
    entry(|| {
        let (table, key) = (given!(handle table), given!(bytes key, key_len));
        let out = given!(out ttl_ms);
        let expiry = table.inner.ttl(key)?;
        if let Some(expiry) = expiry {
            out.put(ttl_ms_of(expiry));
        }
        found(expiry.is_some())
    })
}

/// Changes when a key expires, to the time of `attributes`, whose flags must be 0. NULL means the
/// time of the table, counted from now. The key keeps its value and its flags.
///
/// # Errors
/// `TAVOLA_NOT_FOUND`: the key does not exist. `TAVOLA_ERR_ARGUMENT`: flags. Otherwise as
/// `tavola_set_with`. A table of fixed lengths returns `TAVOLA_ERR_BAD_OPTION` for every time.
///
/// # Crash
/// If the process is killed before the call returned, the key has the old time or the new one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_touch(
    table: *const tavola_table,
    key: *const c_void,
    key_len: usize,
    attributes: *const tavola_attributes,
) -> tavola_status {
    entry(|| {
        let (table, key) = (given!(handle table), given!(bytes key, key_len));
        // SAFETY: the caller's promise.
        let expiry = unsafe { expiry_of(attributes) }?;
        found(table.inner.touch(key, expiry)?)
    })
}

/// Lets a key live forever.
///
/// # Errors
/// As `tavola_touch`.
///
/// # Crash
/// As `tavola_touch`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_persist(
    table: *const tavola_table,
    key: *const c_void,
    key_len: usize,
) -> tavola_status {
    let for_ever = tavola_attributes {
        ttl_ms: TAVOLA_TTL_NEVER,
        ..SizedStruct::new()
    };
    // SAFETY: the caller's promise.
    unsafe { tavola_touch(table, key, key_len, ptr::from_ref(&for_ever)) }
}

/// Changes when a key expires, as `tavola_touch` does, and reads its value, the attributes that it
/// had before (`had`), and its token. Each of these three may be NULL.
///
/// # Errors
/// As `tavola_touch`. `TAVOLA_ERR_TOO_SMALL`: `value->len` says how much room the value needs.
/// `TAVOLA_ERR_STOPPED`: the callback gave no memory. After these two the key has its new time,
/// too.
///
/// # Concurrency
/// The value is the one whose time was changed.
///
/// # Crash
/// As `tavola_touch`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_get_and_touch(
    table: *const tavola_table,
    key: *const c_void,
    key_len: usize,
    attributes: *const tavola_attributes,
    value: *mut tavola_buffer,
    had: *mut tavola_attributes,
    token: *mut u64,
) -> tavola_status {
    entry(|| {
        let (table, key) = (given!(handle table), given!(bytes key, key_len));
        // SAFETY: the caller's promise.
        let (expiry, out) = unsafe { (expiry_of(attributes)?, EntryOut::of(value, had, token)?) };
        out.read_apart(&table.inner, |bytes| {
            table.inner.get_and_touch_into(key, expiry, bytes)
        })
    })
}

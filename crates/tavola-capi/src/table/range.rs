//! Parts of values, and their lengths.

use super::tavola_table;
use crate::buffer::tavola_buffer;
use crate::entry::{entry, found};
use crate::given::given;
use crate::status::tavola_status;
use std::ffi::c_void;

/// Returns the length of a key's value in bytes. It does not copy the value.
///
/// # Examples
/// ```c
/// char bytes[2];
/// size_t len = 0;
/// tavola_set(table, TAVOLA_STR("song"), TAVOLA_STR("do re mi"));
/// tavola_value_len(table, TAVOLA_STR("song"), &len);
///
/// tavola_buffer part = TAVOLA_BUFFER(bytes, sizeof bytes);
/// tavola_get_range(table, TAVOLA_STR("song"), 3, sizeof bytes, &part);
/// printf("%zu bytes, among them %.*s\n", len, (int)part.len, bytes);
/// ```
///
/// # Errors
/// `TAVOLA_NOT_FOUND`: the key does not exist. Otherwise as `tavola_get`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_value_len(
    table: *const tavola_table,
    key: *const c_void,
    key_len: usize,
    value_len: *mut usize,
) -> tavola_status {
    entry(|| {
        let (table, key) = (given!(handle table), given!(bytes key, key_len));
        let out = given!(out value_len);
        let len = table.inner.value_len(key)?;
        if let Some(len) = len {
            out.put(len);
        }
        found(len.is_some())
    })
}

/// Reads a part of a key's value: at most `max` bytes, beginning with byte `start`. The result is
/// shorter at the end of the value, and empty beyond it.
///
/// # Errors
/// As `tavola_get`.
///
/// # Concurrency
/// As `tavola_get`. If the value has more than about 16 KB, only this part is copied.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_get_range(
    table: *const tavola_table,
    key: *const c_void,
    key_len: usize,
    start: u64,
    max: usize,
    part: *mut tavola_buffer,
) -> tavola_status {
    entry(|| {
        let (table, key) = (given!(handle table), given!(bytes key, key_len));
        let part = given!(buffer part);
        match table.inner.get_range(key, start, max)? {
            Some(bytes) => part.put(&bytes),
            None => found(false),
        }
    })
}

//! Reading one key.

use super::tavola_table;
use crate::buffer::{tavola_buffer, with_scratch};
use crate::entry::{Answer, entry, found};
use crate::given::given;
use crate::status::tavola_status;
use std::ffi::c_void;
use tavola_core::Table;

/// Reads the value of a key. Bytes of the buffer after the value, or all if there is none, stay as
/// they are, or become 0 if another value was there meanwhile.
///
/// # Examples
/// ```c
/// char bytes[64];
/// tavola_buffer value = TAVOLA_BUFFER(bytes, sizeof bytes);
/// tavola_set(table, TAVOLA_STR("user"), TAVOLA_STR("alice"));
///
/// switch (tavola_get(table, TAVOLA_STR("user"), &value)) {
///   case TAVOLA_OK:
///     printf("%.*s\n", (int)value.len, bytes);
///     break;
///   case TAVOLA_NOT_FOUND:
///     puts("there is no such key");
///     break;
///   case TAVOLA_ERR_TOO_SMALL:
///     printf("the value has %zu bytes\n", value.len);
///     break;
///   default:
///     fputs(tavola_last_error(), stderr);
/// }
/// ```
///
/// # Errors
/// `TAVOLA_NOT_FOUND`: the key does not exist. `TAVOLA_ERR_TOO_SMALL`: `value->len` says how much
/// room the value needs. `TAVOLA_ERR_CORRUPT`: bytes of the table contradict each other.
///
/// # Concurrency
/// Takes no lock and writes nothing, so it never waits for a writer, even one that is stopped or
/// dead. The value is one that was set as a whole. There are two exceptions from "writes nothing".
/// In a cache, the call marks the key as read if the table is open for writing and the lock of the
/// shard is free at that moment. And the call notes which pages it reads if the value has more than
/// about 16 KB, unless the handle is read-only: such a value is copied once, whatever is written
/// meanwhile. With the first such note the process becomes a participant.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_get(
    table: *const tavola_table,
    key: *const c_void,
    key_len: usize,
    value: *mut tavola_buffer,
) -> tavola_status {
    entry(|| {
        let (table, key) = (given!(handle table), given!(bytes key, key_len));
        let value = given!(buffer value);
        match value.room(key) {
            Some(room) => match table.inner.get_to_slice(key, room)? {
                Some(len) => value.written(len, room.len()),
                None => found(false),
            },
            None => get_apart(&table.inner, key, value),
        }
    })
}

/// As [`tavola_get`], by a copy.
#[inline(never)]
fn get_apart(table: &Table, key: &[u8], value: &mut tavola_buffer) -> Answer {
    with_scratch(|bytes| match table.get_into(key, bytes)? {
        true => value.put(bytes),
        false => found(false),
    })
}

/// Returns `TAVOLA_OK` if the key exists, and `TAVOLA_NOT_FOUND` if it does not.
///
/// # Examples
/// ```c
/// tavola_set(table, TAVOLA_STR("user"), TAVOLA_STR("alice"));
/// if (tavola_contains(table, TAVOLA_STR("user")) == TAVOLA_OK) {
///   puts("here");
/// }
/// ```
///
/// # Errors
/// As `tavola_get`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_contains(
    table: *const tavola_table,
    key: *const c_void,
    key_len: usize,
) -> tavola_status {
    entry(|| {
        found(
            given!(handle table)
                .inner
                .contains(given!(bytes key, key_len))?,
        )
    })
}

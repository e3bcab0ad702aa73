//! Reading one key.

use super::tavola_table;
use crate::buffer::{tavola_buffer, with_scratch};
use crate::entry::{Answer, entry, found};
use crate::given::given;
use crate::status::tavola_status;
use std::ffi::c_void;
use tavola_core::Table;

/// Reads the value of a key. What a caller's buffer held behind the value, or where there is none,
/// stays, but for bytes that are 0 because another value stood there meanwhile.
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
/// `TAVOLA_NOT_FOUND`: it is not there. `TAVOLA_ERR_TOO_SMALL`: `value->len` says how much room it
/// needs. `TAVOLA_ERR_CORRUPT`: the bytes on the way to it contradict each other.
///
/// # Concurrency
/// Takes no lock and writes nothing; never waits for a writer, living, stopped or dead. The value
/// is one that was set as a whole. Of a cache it notes that the key was read, if the table is open
/// for writing and the shard's lock is free just then; with the first such note the process becomes
/// a participant. So it does with the first value of more than some 16 KB that it reads: such a
/// value is copied once, whatever is written meanwhile, as the process notes in its line which
/// pages it reads; but through a handle that may only read.
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

/// Whether the key is there: `TAVOLA_OK` or `TAVOLA_NOT_FOUND`.
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

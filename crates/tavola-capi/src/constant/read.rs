//! Reading one key of a constant file.

use super::tavola_cdb;
use crate::buffer::{tavola_buffer, with_scratch};
use crate::entry::{Answer, entry, found};
use crate::given::given;
use crate::status::tavola_status;
use std::ffi::c_void;
use tavola_constant::Constant;

/// Reads the first value of a key.
///
/// # Examples
/// ```c
/// tavola_cdb *people = NULL;
/// char bytes[64];
/// tavola_buffer value = TAVOLA_BUFFER(bytes, sizeof bytes);
/// if (tavola_cdb_open("./people.cdb", &people) != TAVOLA_OK) {
///   fprintf(stderr, "%s\n", tavola_last_error());
///   return;
/// }
/// switch (tavola_cdb_get(people, TAVOLA_STR("alice"), &value)) {
///   case TAVOLA_OK:
///     printf("%.*s\n", (int)value.len, bytes);
///     break;
///   case TAVOLA_NOT_FOUND:
///     puts("there is no such key");
///     break;
///   default:
///     fputs(tavola_last_error(), stderr);
/// }
/// tavola_cdb_close(people);
/// ```
///
/// # Errors
/// `TAVOLA_NOT_FOUND`: the key does not exist. `TAVOLA_ERR_TOO_SMALL`: `value->len` says how much
/// room the value needs. `TAVOLA_ERR_CORRUPT`: the file is damaged at this place.
/// `TAVOLA_ERR_FILE_LOST`: somebody shortened the file while it was open.
///
/// # Concurrency
/// Takes no lock, and writes nothing to the file.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_cdb_get(
    cdb: *const tavola_cdb,
    key: *const c_void,
    key_len: usize,
    value: *mut tavola_buffer,
) -> tavola_status {
    entry(|| {
        let (cdb, key) = (given!(handle cdb), given!(bytes key, key_len));
        let value = given!(buffer value);
        match value.room(key) {
            Some(room) => cdb.with(|file| get_to(file, key, room, value)),
            None => get_apart(cdb, key, value),
        }
    })
}

#[inline]
fn get_to(file: &Constant, key: &[u8], room: &mut [u8], value: &mut tavola_buffer) -> Answer {
    let Some(record) = file.find(key).next().transpose()? else {
        return found(false);
    };
    let len = record.value.len();
    if len <= room.len() {
        record.value.copy_to(room)?;
    }
    value.written(len, room.len())
}

/// As [`get_to`], by a copy: no file is borrowed while a callback runs.
#[inline(never)]
fn get_apart(cdb: &tavola_cdb, key: &[u8], value: &mut tavola_buffer) -> Answer {
    with_scratch(|bytes| {
        bytes.clear();
        let is_there = cdb.with(|file| match file.find(key).next().transpose()? {
            Some(record) => Ok(record.value.append_to(bytes).map(|()| true)?),
            None => Ok(false),
        })?;
        match is_there {
            true => value.put(bytes),
            false => found(false),
        }
    })
}

/// Returns `TAVOLA_OK` if the key exists, and `TAVOLA_NOT_FOUND` if it does not.
///
/// # Errors
/// As `tavola_cdb_get`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_cdb_contains(
    cdb: *const tavola_cdb,
    key: *const c_void,
    key_len: usize,
) -> tavola_status {
    entry(|| {
        let (cdb, key) = (given!(handle cdb), given!(bytes key, key_len));
        let is_there = cdb.with(|file| Ok(file.find(key).next().transpose()?.is_some()))?;
        found(is_there)
    })
}

/// Finds the first value of a key in the file: how many bytes are before it, and how many it has.
/// So a program can read it from the file by itself.
///
/// # Examples
/// ```c
/// tavola_cdb *people = NULL;
/// uint64_t position = 0, len = 0;
/// if (tavola_cdb_open("./people.cdb", &people) != TAVOLA_OK) {
///   fprintf(stderr, "%s\n", tavola_last_error());
///   return;
/// }
/// if (tavola_cdb_position(people, TAVOLA_STR("alice"), &position, &len) == TAVOLA_OK) {
///   printf("%d bytes at byte %d\n", (int)len, (int)position);
/// }
/// tavola_cdb_close(people);
/// ```
///
/// # Errors
/// As `tavola_cdb_get`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_cdb_position(
    cdb: *const tavola_cdb,
    key: *const c_void,
    key_len: usize,
    position: *mut u64,
    len: *mut u64,
) -> tavola_status {
    entry(|| {
        let (cdb, key) = (given!(handle cdb), given!(bytes key, key_len));
        let (position, len) = (given!(out position), given!(out len));
        cdb.with(|file| {
            let Some(record) = file.find(key).next().transpose()? else {
                return found(false);
            };
            position.put(record.value.position());
            len.put(record.value.len() as u64);
            found(true)
        })
    })
}

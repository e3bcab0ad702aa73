//! Keys by number.

use super::tavola_table;
use crate::attributes::{EntryOut, expiry_of, tavola_attributes};
use crate::buffer::{tavola_buffer, with_scratch};
use crate::entry::{Answer, OK, entry, found};
use crate::given::given;
use crate::status::tavola_status;
use std::ffi::c_void;
use tavola_core::{Hint, Result, Table};

/// A uid in the low 32 bits, and its generation in the high 32 bits. A key keeps its uid, which is
/// never 0, as long as it lives. When the key is removed, another key may get the uid; the
/// generation distinguishes them. A plain uid with a generation of 0 stands for the key that has it
/// now.
pub type tavola_hint = u64;

/// Returns the uid of a key, and gives it one if it has none.
///
/// # Examples
/// ```c
/// char bytes[64];
/// tavola_hint hint = 0;
/// tavola_buffer text = TAVOLA_BUFFER(bytes, sizeof bytes);
/// tavola_attributes has = TAVOLA_INIT(tavola_attributes), hour = TAVOLA_INIT(tavola_attributes);
/// uint64_t now = 0;
/// hour.ttl_ms = 60 * 60 * 1000;
/// tavola_set_uid(table, TAVOLA_STR("user:alice"), TAVOLA_STR("1"), &hint);
/// tavola_uid_of(table, TAVOLA_STR("user:alice"), &hint);
///
/// tavola_get_by_uid(table, hint, &text);
/// tavola_get_entry_by_uid(table, hint, &text, &has, NULL);
/// tavola_set_by_uid(table, hint, TAVOLA_STR("2"));
/// tavola_incr_by_uid(table, hint, 10, &now);
/// tavola_decr_by_uid(table, hint, 2, NULL);
/// tavola_touch_by_uid(table, hint, &hour);
/// tavola_key_of_uid(table, hint, &text);
/// tavola_remove_by_uid(table, hint);
/// ```
///
/// # Errors
/// `TAVOLA_NOT_FOUND`: the key does not exist. Otherwise as `tavola_get`, and as `tavola_set_uid`
/// if the key has no uid yet.
///
/// # Crash
/// If the process is killed before the call returned, the key has a uid or it has none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_uid_of(
    table: *const tavola_table,
    key: *const c_void,
    key_len: usize,
    hint: *mut tavola_hint,
) -> tavola_status {
    entry(|| {
        let (table, key) = (given!(handle table), given!(bytes key, key_len));
        let out = given!(out hint);
        let hint = table.inner.uid_of(key)?;
        if let Some(hint) = hint {
            out.put(hint.to_bits());
        }
        found(hint.is_some())
    })
}

/// Sets a key as `tavola_set` does, and returns its uid. A key without a uid gets one.
///
/// # Errors
/// As `tavola_set`; `TAVOLA_ERR_FULL` also if no uid of the key's shard is free (a table has 2^32,
/// divided evenly among its shards); `TAVOLA_ERR_NO_UIDS`.
///
/// # Crash
/// As `tavola_set`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_set_uid(
    table: *const tavola_table,
    key: *const c_void,
    key_len: usize,
    value: *const c_void,
    value_len: usize,
    hint: *mut tavola_hint,
) -> tavola_status {
    entry(|| {
        let (table, key) = (given!(handle table), given!(bytes key, key_len));
        let (value, hint) = (given!(bytes value, value_len), given!(out hint));
        hint.put(table.inner.set_uid(key, value)?.to_bits());
        OK
    })
}

/// Reads the value of the key with this uid, as `tavola_get` does.
///
/// # Errors
/// `TAVOLA_NOT_FOUND`: no key has this uid, or another key than the one that was meant. Otherwise
/// as `tavola_get`.
///
/// # Concurrency
/// As `tavola_get`. Reads by uid and reads by key agree at every moment.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_get_by_uid(
    table: *const tavola_table,
    hint: tavola_hint,
    value: *mut tavola_buffer,
) -> tavola_status {
    entry(|| {
        let (table, value) = (given!(handle table), given!(buffer value));
        let hint = Hint::from_bits(hint);
        match value.room(&[]) {
            Some(room) => match table.inner.get_by_uid_to_slice(hint, room)? {
                Some(len) => value.written(len, room.len()),
                None => found(false),
            },
            None => get_apart(&table.inner, hint, value),
        }
    })
}

/// As [`tavola_get_by_uid`], by a copy.
#[inline(never)]
fn get_apart(table: &Table, hint: Hint, value: &mut tavola_buffer) -> Answer {
    with_scratch(|bytes| match table.get_by_uid_into(hint, bytes)? {
        true => value.put(bytes),
        false => found(false),
    })
}

/// Reads the value of the key with this uid, its attributes and its token, as `tavola_get_entry`
/// does those of a key; each may be NULL.
///
/// # Errors
/// As `tavola_get_by_uid`.
///
/// # Concurrency
/// As `tavola_get_by_uid`; all three are of one moment.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_get_entry_by_uid(
    table: *const tavola_table,
    hint: tavola_hint,
    value: *mut tavola_buffer,
    attributes: *mut tavola_attributes,
    token: *mut u64,
) -> tavola_status {
    entry(|| {
        let (table, hint) = (&given!(handle table).inner, Hint::from_bits(hint));
        // SAFETY: the caller's promise.
        let out = unsafe { EntryOut::of(value, attributes, token) }?;
        let to_slice = |room: &mut [u8]| table.get_entry_by_uid_to_slice(hint, room);
        out.read(table, &[], to_slice, |bytes| {
            table.get_entry_by_uid_into(hint, bytes)
        })
    })
}

/// Sets the value of the key with this uid, as `tavola_set` does that of a key: it lives as long as
/// the table was made to let it, and its flags are 0, whatever it had. Its uid stays.
///
/// # Errors
/// `TAVOLA_NOT_FOUND`: there is none. Otherwise as `tavola_set`.
///
/// # Crash
/// As `tavola_set`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_set_by_uid(
    table: *const tavola_table,
    hint: tavola_hint,
    value: *const c_void,
    value_len: usize,
) -> tavola_status {
    entry(|| {
        let (table, value) = (given!(handle table), given!(bytes value, value_len));
        found(table.inner.set_by_uid(Hint::from_bits(hint), value)?)
    })
}

/// Adds to the counter of the key with this uid, as `tavola_incr` does, and writes the sum to
/// `now`, which may be NULL.
///
/// # Errors
/// `TAVOLA_NOT_FOUND`: no key has this uid; none is created. Otherwise as `tavola_incr`.
///
/// # Crash
/// As `tavola_incr`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_incr_by_uid(
    table: *const tavola_table,
    hint: tavola_hint,
    by: u64,
    now: *mut u64,
) -> tavola_status {
    // SAFETY: the caller's promise.
    unsafe {
        count(table, now, |table| {
            table.incr_by_uid(Hint::from_bits(hint), by)
        })
    }
}

/// Subtracts from the counter of the key with this uid, as `tavola_decr` does, and writes the
/// result to `now`, which may be NULL.
///
/// # Errors
/// As `tavola_incr_by_uid`.
///
/// # Crash
/// As `tavola_incr`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_decr_by_uid(
    table: *const tavola_table,
    hint: tavola_hint,
    by: u64,
    now: *mut u64,
) -> tavola_status {
    // SAFETY: the caller's promise.
    unsafe {
        count(table, now, |table| {
            table.decr_by_uid(Hint::from_bits(hint), by)
        })
    }
}

/// What [`tavola_incr_by_uid`] and [`tavola_decr_by_uid`] have in common.
///
/// # Safety
/// CAPI-1 of `given.rs`.
unsafe fn count(
    table: *const tavola_table,
    now: *mut u64,
    count: impl FnOnce(&Table) -> Result<Option<u64>>,
) -> tavola_status {
    entry(|| {
        let (table, now) = (given!(handle table), given!(maybe now));
        let number = count(&table.inner)?;
        if let Some(number) = number {
            now.put(number);
        }
        found(number.is_some())
    })
}

/// Changes when the key with this uid expires, as `tavola_touch` does.
///
/// # Errors
/// `TAVOLA_NOT_FOUND`: there is none. Otherwise as `tavola_touch`.
///
/// # Crash
/// As `tavola_touch`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_touch_by_uid(
    table: *const tavola_table,
    hint: tavola_hint,
    attributes: *const tavola_attributes,
) -> tavola_status {
    entry(|| {
        let table = given!(handle table);
        // SAFETY: the caller's promise.
        let expiry = unsafe { expiry_of(attributes) }?;
        found(table.inner.touch_by_uid(Hint::from_bits(hint), expiry)?)
    })
}

/// Removes the key with this uid.
///
/// # Errors
/// `TAVOLA_NOT_FOUND`: there is none. Otherwise as `tavola_remove`.
///
/// # Crash
/// As `tavola_remove`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_remove_by_uid(
    table: *const tavola_table,
    hint: tavola_hint,
) -> tavola_status {
    entry(|| {
        found(
            given!(handle table)
                .inner
                .remove_by_uid(Hint::from_bits(hint))?,
        )
    })
}

/// Returns the key with this uid.
///
/// # Errors
/// `TAVOLA_NOT_FOUND`: there is none. Otherwise as `tavola_get`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_key_of_uid(
    table: *const tavola_table,
    hint: tavola_hint,
    key: *mut tavola_buffer,
) -> tavola_status {
    entry(|| {
        let (table, key) = (given!(handle table), given!(buffer key));
        let hint = Hint::from_bits(hint);
        with_scratch(|bytes| match table.inner.key_of_uid_into(hint, bytes)? {
            true => key.put(bytes),
            false => found(false),
        })
    })
}

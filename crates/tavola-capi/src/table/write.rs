//! Writing one key.

use super::tavola_table;
use crate::attributes::{attributes_of, tavola_attributes};
use crate::entry::{Answer, OK, entry, found};
use crate::given::{RawBytes, given};
use crate::status::tavola_status;
use std::ffi::c_void;
use tavola_core::{Attributes, Result, Table};

/// What the functions have in common that take a key and bytes.
///
/// # Safety
/// CAPI-1 of `given.rs`.
#[inline(always)]
unsafe fn write(
    table: *const tavola_table,
    key: RawBytes,
    value: RawBytes,
    write: impl FnOnce(&Table, &[u8], &[u8]) -> Answer,
) -> tavola_status {
    entry(|| {
        write(
            &given!(handle table).inner,
            given!(raw key),
            given!(raw value),
        )
    })
}

/// As [`write`], of the functions that take attributes, too.
///
/// # Safety
/// CAPI-1 of `given.rs`.
unsafe fn write_with(
    table: *const tavola_table,
    key: RawBytes,
    value: RawBytes,
    attributes: *const tavola_attributes,
    inside: impl FnOnce(&Table, &[u8], &[u8], Attributes) -> Answer,
) -> tavola_status {
    let inside = |table: &Table, key: &[u8], value: &[u8]| {
        // SAFETY: the caller's promise.
        inside(table, key, value, unsafe { attributes_of(attributes) }?)
    };
    // SAFETY: the caller's promise.
    unsafe { write(table, key, value, inside) }
}

/// An answer where false means that the key is missing.
fn if_there(
    write: impl FnOnce(&Table, &[u8], &[u8]) -> Result<bool>,
) -> impl FnOnce(&Table, &[u8], &[u8]) -> Answer {
    |table, key, value| found(write(table, key, value)?)
}

/// The answer to whether a key was added.
pub(super) fn added(is_new: bool) -> Answer {
    Ok(match is_new {
        true => tavola_status::TAVOLA_OK,
        false => tavola_status::TAVOLA_EXISTS,
    })
}

/// Sets a key, whether or not it exists. The key gets the time of the table and the flags 0, and
/// loses the attributes and tags that it had.
///
/// # Examples
/// ```c
/// const double price = 9.5;
/// tavola_set(table, TAVOLA_STR("user"), TAVOLA_STR("alice"));
/// tavola_set(table, TAVOLA_STR("price"), &price, sizeof price);
/// ```
///
/// # Errors
/// `TAVOLA_ERR_FULL`, `TAVOLA_ERR_TOO_LARGE`, `TAVOLA_ERR_LENGTHS`, `TAVOLA_ERR_READ_ONLY`,
/// `TAVOLA_ERR_CORRUPT`, `TAVOLA_ERR_REENTRANT`, `TAVOLA_ERR_BUSY`; the old value then stays. The
/// first write of a process may also return `TAVOLA_ERR_TOO_MANY_PARTICIPANTS` and `TAVOLA_ERR_IO`.
///
/// # Concurrency
/// Other processes see the whole old value or the whole new one.
///
/// # Crash
/// If the process is killed before the call returned, the key has the old value or the new one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_set(
    table: *const tavola_table,
    key: *const c_void,
    key_len: usize,
    value: *const c_void,
    value_len: usize,
) -> tavola_status {
    let set = |table: &Table, key: &[u8], value: &[u8]| {
        table.set(key, value)?;
        OK
    };
    let (key, value) = (RawBytes::new(key, key_len), RawBytes::new(value, value_len));
    // SAFETY: the caller's promise.
    unsafe { write(table, key, value, set) }
}

/// Sets a key only if it does not exist.
///
/// # Examples
/// ```c
/// if (tavola_add(table, TAVOLA_STR("leader"), TAVOLA_STR("me")) == TAVOLA_EXISTS) {
///   puts("another process was faster");
/// }
/// if (tavola_replace(table, TAVOLA_STR("state"), TAVOLA_STR("done")) == TAVOLA_NOT_FOUND) {
///   puts("there is no such key");
/// }
/// ```
///
/// # Errors
/// `TAVOLA_EXISTS`: the key exists, and stays as it is. Otherwise as `tavola_set`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_add(
    table: *const tavola_table,
    key: *const c_void,
    key_len: usize,
    value: *const c_void,
    value_len: usize,
) -> tavola_status {
    let add = |table: &Table, key: &[u8], value: &[u8]| added(table.add(key, value)?);
    let (key, value) = (RawBytes::new(key, key_len), RawBytes::new(value, value_len));
    // SAFETY: the caller's promise.
    unsafe { write(table, key, value, add) }
}

/// Sets a key only if it exists.
///
/// # Errors
/// `TAVOLA_NOT_FOUND`: the key does not exist. Otherwise as `tavola_set`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_replace(
    table: *const tavola_table,
    key: *const c_void,
    key_len: usize,
    value: *const c_void,
    value_len: usize,
) -> tavola_status {
    let replace = if_there(|table, key, value| table.replace(key, value));
    let (key, value) = (RawBytes::new(key, key_len), RawBytes::new(value, value_len));
    // SAFETY: the caller's promise.
    unsafe { write(table, key, value, replace) }
}

/// Sets a key with attributes. NULL for `attributes` means those of `tavola_set`. The key loses the
/// attributes and tags that it had.
///
/// # Examples
/// ```c
/// tavola_attributes attributes = TAVOLA_INIT(tavola_attributes);
/// attributes.ttl_ms = 30 * 60 * 1000;
/// attributes.flags = 7;
/// tavola_set_with(table, TAVOLA_STR("session"), TAVOLA_STR("alice"), &attributes);
/// tavola_add_with(table, TAVOLA_STR("lock"), TAVOLA_STR("me"), &attributes);
/// tavola_replace_with(table, TAVOLA_STR("session"), TAVOLA_STR("bob"), &attributes);
/// ```
///
/// # Errors
/// As `tavola_set`. `TAVOLA_ERR_ARGUMENT`: two times, or an invalid `ttl_ms`.
/// `TAVOLA_ERR_BAD_OPTION`: a time or flags in a table of fixed lengths, which has no room for
/// them.
///
/// # Concurrency
/// As `tavola_set`. Value and attributes change together.
///
/// # Crash
/// As `tavola_set`, for value and attributes together.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_set_with(
    table: *const tavola_table,
    key: *const c_void,
    key_len: usize,
    value: *const c_void,
    value_len: usize,
    attributes: *const tavola_attributes,
) -> tavola_status {
    let set = |table: &Table, key: &[u8], value: &[u8], attributes| {
        table.set_with(key, value, attributes)?;
        OK
    };
    let (key, value) = (RawBytes::new(key, key_len), RawBytes::new(value, value_len));
    // SAFETY: the caller's promise.
    unsafe { write_with(table, key, value, attributes, set) }
}

/// Sets a key with attributes only if it does not exist. NULL for `attributes` means those of
/// `tavola_set`.
///
/// # Errors
/// `TAVOLA_EXISTS`: the key exists, and stays as it is. Otherwise as `tavola_set_with`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_add_with(
    table: *const tavola_table,
    key: *const c_void,
    key_len: usize,
    value: *const c_void,
    value_len: usize,
    attributes: *const tavola_attributes,
) -> tavola_status {
    let add = |table: &Table, key: &[u8], value: &[u8], attributes| {
        added(table.add_with(key, value, attributes)?)
    };
    let (key, value) = (RawBytes::new(key, key_len), RawBytes::new(value, value_len));
    // SAFETY: the caller's promise.
    unsafe { write_with(table, key, value, attributes, add) }
}

/// Sets a key with attributes only if it exists. NULL for `attributes` means those of `tavola_set`.
/// The key loses the attributes and tags that it had.
///
/// # Errors
/// `TAVOLA_NOT_FOUND`: the key does not exist. Otherwise as `tavola_set_with`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_replace_with(
    table: *const tavola_table,
    key: *const c_void,
    key_len: usize,
    value: *const c_void,
    value_len: usize,
    attributes: *const tavola_attributes,
) -> tavola_status {
    let replace = |table: &Table, key: &[u8], value: &[u8], attributes| {
        found(table.replace_with(key, value, attributes)?)
    };
    let (key, value) = (RawBytes::new(key, key_len), RawBytes::new(value, value_len));
    // SAFETY: the caller's promise.
    unsafe { write_with(table, key, value, attributes, replace) }
}

/// Adds bytes after the value. The key keeps its attributes. See `tavola_append_with` for a call
/// that creates the key.
///
/// # Examples
/// ```c
/// size_t len = 0;
/// tavola_append_with(table, TAVOLA_STR("list"), TAVOLA_STR("b,"), NULL, &len);
/// tavola_append(table, TAVOLA_STR("list"), TAVOLA_STR("c,"));
/// tavola_prepend(table, TAVOLA_STR("list"), TAVOLA_STR("a,"));
/// tavola_prepend_with(table, TAVOLA_STR("stack"), TAVOLA_STR("top,"), NULL, &len);
/// ```
///
/// # Errors
/// As `tavola_replace`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_append(
    table: *const tavola_table,
    key: *const c_void,
    key_len: usize,
    more: *const c_void,
    more_len: usize,
) -> tavola_status {
    let append = if_there(|table, key, value| table.append(key, value));
    let (key, more) = (RawBytes::new(key, key_len), RawBytes::new(more, more_len));
    // SAFETY: the caller's promise.
    unsafe { write(table, key, more, append) }
}

/// Adds bytes after the value, and writes the new length to `now_len`, which may be NULL. A key
/// that does not exist is created with these attributes (NULL: those of `tavola_set`); a key that
/// exists keeps its own.
///
/// # Errors
/// As `tavola_set_with`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_append_with(
    table: *const tavola_table,
    key: *const c_void,
    key_len: usize,
    more: *const c_void,
    more_len: usize,
    attributes: *const tavola_attributes,
    now_len: *mut usize,
) -> tavola_status {
    let append = |table: &Table, key: &[u8], more: &[u8], attributes| {
        let now_len = given!(maybe now_len);
        now_len.put(table.append_with(key, more, attributes)?);
        OK
    };
    let (key, more) = (RawBytes::new(key, key_len), RawBytes::new(more, more_len));
    // SAFETY: the caller's promise.
    unsafe { write_with(table, key, more, attributes, append) }
}

/// Adds bytes before the value. The key keeps its attributes.
///
/// # Errors
/// As `tavola_replace`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_prepend(
    table: *const tavola_table,
    key: *const c_void,
    key_len: usize,
    more: *const c_void,
    more_len: usize,
) -> tavola_status {
    let prepend = if_there(|table, key, value| table.prepend(key, value));
    let (key, more) = (RawBytes::new(key, key_len), RawBytes::new(more, more_len));
    // SAFETY: the caller's promise.
    unsafe { write(table, key, more, prepend) }
}

/// Adds bytes before the value, and writes the new length to `now_len`, which may be NULL. A key
/// that does not exist is created with these attributes (NULL: those of `tavola_set`); a key that
/// exists keeps its own.
///
/// # Errors
/// As `tavola_set_with`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_prepend_with(
    table: *const tavola_table,
    key: *const c_void,
    key_len: usize,
    more: *const c_void,
    more_len: usize,
    attributes: *const tavola_attributes,
    now_len: *mut usize,
) -> tavola_status {
    let prepend = |table: &Table, key: &[u8], more: &[u8], attributes| {
        let now_len = given!(maybe now_len);
        now_len.put(table.prepend_with(key, more, attributes)?);
        OK
    };
    let (key, more) = (RawBytes::new(key, key_len), RawBytes::new(more, more_len));
    // SAFETY: the caller's promise.
    unsafe { write_with(table, key, more, attributes, prepend) }
}

/// Removes a key.
///
/// # Examples
/// ```c
/// if (tavola_remove(table, TAVOLA_STR("user")) == TAVOLA_NOT_FOUND) {
///   puts("there was no such key");
/// }
/// ```
///
/// # Errors
/// `TAVOLA_NOT_FOUND`: the key does not exist. Otherwise as `tavola_set`, without
/// `TAVOLA_ERR_FULL`.
///
/// # Crash
/// If the process is killed before the call returned, the whole key exists, or it does not.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_remove(
    table: *const tavola_table,
    key: *const c_void,
    key_len: usize,
) -> tavola_status {
    entry(|| {
        found(
            given!(handle table)
                .inner
                .remove(given!(bytes key, key_len))?,
        )
    })
}

/// Removes the keys that begin with these bytes, and writes how many it removed to `removed`, which
/// may be NULL. It looks at every key of the table. If you remove the same group of keys often,
/// give the keys a tag and call `tavola_invalidate_tag`, which takes the same time for any number
/// of keys.
///
/// # Errors
/// As `tavola_iter_next` and `tavola_remove`; keys that were removed before the error stay removed.
///
/// # Concurrency
/// Each key is removed on its own. A key that another process sets meanwhile may stay.
///
/// # Crash
/// If the process is killed before the call returned, some of the keys are removed, each as a
/// whole.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_remove_prefix(
    table: *const tavola_table,
    prefix: *const c_void,
    prefix_len: usize,
    removed: *mut u64,
) -> tavola_status {
    entry(|| {
        let (table, prefix) = (given!(handle table), given!(bytes prefix, prefix_len));
        let removed = given!(maybe removed);
        removed.put(table.inner.remove_prefix(prefix)?);
        OK
    })
}

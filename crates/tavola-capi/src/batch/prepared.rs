//! Operations that are prepared, and executed together.

use super::operation::{Act, Change, tavola_batch};
use super::tavola_bytes;
use crate::attributes::{attributes_of, expiry_of, tavola_attributes};
use crate::entry::{OK, entry};
use crate::given::{RawBytes, close, given};
use crate::status::{Failure, tavola_status};
use crate::table::tavola_table;
use std::ffi::c_void;
use std::ops::Range;
use std::ptr;
use tavola_core::Attributes;

/// What the functions have in common that prepare an operation.
///
/// # Safety
/// CAPI-1 of `given.rs`.
unsafe fn prepare(
    batch: *mut tavola_batch,
    key: RawBytes,
    index: *mut usize,
    act: impl FnOnce(&mut tavola_batch) -> std::result::Result<Act, Failure>,
) -> tavola_status {
    entry(|| {
        let (batch, key) = (given!(buffer batch), given!(raw key));
        let index = given!(maybe index);
        let act = act(batch)?;
        index.put(batch.add(key, act));
        OK
    })
}

/// The same, of those that take a value and attributes.
///
/// # Safety
/// CAPI-1 of `given.rs`.
unsafe fn prepare_with(
    batch: *mut tavola_batch,
    key: RawBytes,
    value: RawBytes,
    attributes: *const tavola_attributes,
    index: *mut usize,
    act: impl FnOnce(Range<usize>, Attributes) -> Act,
) -> tavola_status {
    let act = |batch: &mut tavola_batch| {
        let value = given!(raw value);
        // SAFETY: the caller's promise.
        let attributes = unsafe { attributes_of(attributes) }?;
        Ok(act(batch.keep(value), attributes))
    };
    // SAFETY: the caller's promise.
    unsafe { prepare(batch, key, index, act) }
}

/// The same, of those that count.
///
/// # Safety
/// CAPI-1 of `given.rs`.
unsafe fn prepare_count(
    batch: *mut tavola_batch,
    key: RawBytes,
    initial: *const u64,
    attributes: *const tavola_attributes,
    index: *mut usize,
    act: impl FnOnce(Option<u64>, Attributes) -> Act,
) -> tavola_status {
    let act = |_: &mut tavola_batch| {
        let initial = match initial.is_null() {
            true => None,
            false => Some(*given!(handle initial)),
        };
        // SAFETY: the caller's promise.
        Ok(act(initial, unsafe { attributes_of(attributes) }?))
    };
    // SAFETY: the caller's promise.
    unsafe { prepare(batch, key, index, act) }
}

/// Creates an empty batch. It belongs to no table, and can be executed and cleared many times.
///
/// # Examples
/// ```c
/// const uint64_t first = 1;
/// size_t at = 0;
/// uint64_t number = 0;
/// tavola_bytes value;
/// tavola_batch *batch = NULL;
/// tavola_attributes minute = TAVOLA_INIT(tavola_attributes);
/// minute.ttl_ms = 60 * 1000;
///
/// tavola_batch_open(&batch);
/// tavola_batch_set(batch, TAVOLA_STR("a"), TAVOLA_STR("one"), NULL);
/// tavola_batch_set_with(batch, TAVOLA_STR("b"), TAVOLA_STR("two"), &minute, NULL);
/// tavola_batch_add_with(batch, TAVOLA_STR("c"), TAVOLA_STR("three"), &minute, NULL);
/// tavola_batch_replace_with(batch, TAVOLA_STR("c"), TAVOLA_STR("four"), NULL, NULL);
/// tavola_batch_touch(batch, TAVOLA_STR("a"), &minute, NULL);
/// tavola_batch_remove(batch, TAVOLA_STR("b"), NULL);
/// tavola_batch_incr_with(batch, TAVOLA_STR("hits"), 1, &first, NULL, NULL);
/// tavola_batch_decr_with(batch, TAVOLA_STR("hits"), 1, &first, NULL, NULL);
/// tavola_batch_get(batch, TAVOLA_STR("a"), &at);
/// tavola_batch_execute(batch, table);
/// if (tavola_batch_result(batch, at, &value) == TAVOLA_OK) {
///   printf("%.*s\n", (int)value.len, (const char *)value.data);
/// }
/// tavola_batch_attributes(batch, at, &minute);
/// tavola_batch_number(batch, 6, &number);
/// tavola_batch_clear(batch);
/// tavola_batch_close(batch);
/// ```
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_batch_open(batch: *mut *mut tavola_batch) -> tavola_status {
    entry(|| {
        given!(out batch).put(Box::into_raw(Box::default()));
        OK
    })
}

/// Prepares a read. `index`, which may be NULL, gets its number for `tavola_batch_result` and
/// `tavola_batch_attributes`: 0, 1, ...
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_batch_get(
    batch: *mut tavola_batch,
    key: *const c_void,
    key_len: usize,
    index: *mut usize,
) -> tavola_status {
    let key = RawBytes::new(key, key_len);
    // SAFETY: the caller's promise.
    unsafe { prepare(batch, key, index, |_| Ok(Act::Get)) }
}

/// Prepares a `tavola_set`. `index`, which may be NULL, gets its number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_batch_set(
    batch: *mut tavola_batch,
    key: *const c_void,
    key_len: usize,
    value: *const c_void,
    value_len: usize,
    index: *mut usize,
) -> tavola_status {
    let default = ptr::null();
    // SAFETY: the caller's promise.
    unsafe { tavola_batch_set_with(batch, key, key_len, value, value_len, default, index) }
}

/// Prepares a `tavola_set_with`. `attributes` may be NULL. A `ttl_ms` counts from the execution.
/// `index`, which may be NULL, gets its number.
///
/// # Errors
/// `TAVOLA_ERR_ARGUMENT`: two times, or an invalid `ttl_ms`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_batch_set_with(
    batch: *mut tavola_batch,
    key: *const c_void,
    key_len: usize,
    value: *const c_void,
    value_len: usize,
    attributes: *const tavola_attributes,
    index: *mut usize,
) -> tavola_status {
    let (key, value) = (RawBytes::new(key, key_len), RawBytes::new(value, value_len));
    // SAFETY: the caller's promise.
    unsafe { prepare_with(batch, key, value, attributes, index, Act::Set) }
}

/// Prepares a `tavola_add_with`; see `tavola_batch_set_with`.
///
/// # Errors
/// As `tavola_batch_set_with`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_batch_add_with(
    batch: *mut tavola_batch,
    key: *const c_void,
    key_len: usize,
    value: *const c_void,
    value_len: usize,
    attributes: *const tavola_attributes,
    index: *mut usize,
) -> tavola_status {
    let (key, value) = (RawBytes::new(key, key_len), RawBytes::new(value, value_len));
    let act = |value, attributes| Act::Change(Change::Add(value, attributes));
    // SAFETY: the caller's promise.
    unsafe { prepare_with(batch, key, value, attributes, index, act) }
}

/// Prepares a `tavola_replace_with`; see `tavola_batch_set_with`.
///
/// # Errors
/// As `tavola_batch_set_with`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_batch_replace_with(
    batch: *mut tavola_batch,
    key: *const c_void,
    key_len: usize,
    value: *const c_void,
    value_len: usize,
    attributes: *const tavola_attributes,
    index: *mut usize,
) -> tavola_status {
    let (key, value) = (RawBytes::new(key, key_len), RawBytes::new(value, value_len));
    let act = |value, attributes| Act::Change(Change::Replace(value, attributes));
    // SAFETY: the caller's promise.
    unsafe { prepare_with(batch, key, value, attributes, index, act) }
}

/// Prepares a `tavola_remove`. `index`, which may be NULL, gets its number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_batch_remove(
    batch: *mut tavola_batch,
    key: *const c_void,
    key_len: usize,
    index: *mut usize,
) -> tavola_status {
    let key = RawBytes::new(key, key_len);
    // SAFETY: the caller's promise.
    unsafe { prepare(batch, key, index, |_| Ok(Act::Change(Change::Remove))) }
}

/// Prepares a `tavola_incr_with`. `index`, which may be NULL, gets its number for
/// `tavola_batch_number`.
///
/// # Errors
/// As `tavola_batch_set_with`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_batch_incr_with(
    batch: *mut tavola_batch,
    key: *const c_void,
    key_len: usize,
    by: u64,
    initial: *const u64,
    attributes: *const tavola_attributes,
    index: *mut usize,
) -> tavola_status {
    let act = |initial, attributes| Act::Change(Change::Incr(by, initial, attributes));
    let key = RawBytes::new(key, key_len);
    // SAFETY: the caller's promise.
    unsafe { prepare_count(batch, key, initial, attributes, index, act) }
}

/// Prepares a `tavola_decr_with`. `index`, which may be NULL, gets its number for
/// `tavola_batch_number`.
///
/// # Errors
/// As `tavola_batch_set_with`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_batch_decr_with(
    batch: *mut tavola_batch,
    key: *const c_void,
    key_len: usize,
    by: u64,
    initial: *const u64,
    attributes: *const tavola_attributes,
    index: *mut usize,
) -> tavola_status {
    let act = |initial, attributes| Act::Change(Change::Decr(by, initial, attributes));
    let key = RawBytes::new(key, key_len);
    // SAFETY: the caller's promise.
    unsafe { prepare_count(batch, key, initial, attributes, index, act) }
}

/// Prepares a `tavola_touch`. `index`, which may be NULL, gets its number.
///
/// # Errors
/// As `tavola_batch_set_with`; also if there are flags.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_batch_touch(
    batch: *mut tavola_batch,
    key: *const c_void,
    key_len: usize,
    attributes: *const tavola_attributes,
    index: *mut usize,
) -> tavola_status {
    let act = |_: &mut tavola_batch| {
        // SAFETY: the caller's promise.
        let expiry = unsafe { expiry_of(attributes) }?;
        Ok(Act::Change(Change::Touch(expiry)))
    };
    let key = RawBytes::new(key, key_len);
    // SAFETY: the caller's promise.
    unsafe { prepare(batch, key, index, act) }
}

/// Executes the prepared operations in order. A read finds what an earlier write of the batch has
/// set.
///
/// # Errors
/// Those of the operations. The operations before the one that failed are done.
///
/// # Concurrency
/// With `TAVOLA_DURABLE_COMMIT` it waits for the disk once, at its end.
/// Each operation has its own moment. Other processes may see some of them before the rest.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_batch_execute(
    batch: *mut tavola_batch,
    table: *const tavola_table,
) -> tavola_status {
    entry(|| {
        let (batch, table) = (given!(buffer batch), given!(handle table));
        batch.execute(&table.inner)?;
        OK
    })
}

/// Returns the status of an executed operation. `value`, which may be NULL, gets the value that a
/// read found, lent until the batch is executed, changed or closed; it is empty for a write.
///
/// # Errors
/// `TAVOLA_NOT_FOUND`: the key does not exist. `TAVOLA_EXISTS`: the key was not added, because it
/// exists. `TAVOLA_ERR_ARGUMENT`: there is no operation of this number, or it was not executed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_batch_result(
    batch: *const tavola_batch,
    index: usize,
    value: *mut tavola_bytes,
) -> tavola_status {
    entry(|| {
        let (batch, out) = (given!(handle batch), given!(maybe value));
        let done = batch.done(index, |_| true)?;
        if done.status == tavola_status::TAVOLA_OK {
            out.put(batch.found(done));
        }
        Ok(done.status)
    })
}

/// Returns the attributes that the key of a read had when the read was executed.
///
/// # Errors
/// As `tavola_batch_result`. `TAVOLA_ERR_ARGUMENT` also if the operation is not a read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_batch_attributes(
    batch: *const tavola_batch,
    index: usize,
    attributes: *mut tavola_attributes,
) -> tavola_status {
    entry(|| {
        let (batch, out) = (given!(handle batch), given!(sized_out attributes));
        let done = batch.done(index, |act| matches!(act, Act::Get))?;
        if let Some((_, attributes)) = &done.found {
            out.put(attributes);
        }
        Ok(done.status)
    })
}

fn is_count(act: &Act) -> bool {
    matches!(act, Act::Change(Change::Incr(..) | Change::Decr(..)))
}

/// Returns the number that a counter had after an operation.
///
/// # Errors
/// As `tavola_batch_result`. `TAVOLA_ERR_ARGUMENT` also if the operation is not one of a counter.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_batch_number(
    batch: *const tavola_batch,
    index: usize,
    number: *mut u64,
) -> tavola_status {
    entry(|| {
        let (batch, out) = (given!(handle batch), given!(out number));
        let done = batch.done(index, is_count)?;
        if let Some(number) = done.number {
            out.put(number);
        }
        Ok(done.status)
    })
}

/// Removes all operations from a batch. It keeps its memory for the next ones.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_batch_clear(batch: *mut tavola_batch) -> tavola_status {
    entry(|| {
        let batch = given!(buffer batch);
        batch.clear();
        OK
    })
}

/// Closes a batch. NULL has no effect.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_batch_close(batch: *mut tavola_batch) {
    // SAFETY: the caller's promise: it came from `tavola_batch_open` and is used no more.
    unsafe { close(batch) };
}

//! Iterating over keys.

use super::tavola_table;
use crate::attributes::tavola_attributes;
use crate::batch::tavola_bytes;
use crate::entry::{OK, entry};
use crate::given::given;
use crate::status::tavola_status;
use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;
use tavola_core::{Iter, Table};

/// An iterator over the keys of a table, for one thread at a time.
pub struct tavola_iter {
    /// Dropped before the table that it borrows.
    inner: Iter<'static>,
    /// Other keys are skipped.
    prefix: Vec<u8>,
    _table: Arc<tavola_table>,
}

/// Begins an iteration over all keys, in no particular order. The table stays open until the
/// iterator is closed.
///
/// # Examples
/// ```c
/// tavola_iter *iter = NULL;
/// tavola_bytes key, value;
/// tavola_set(table, TAVOLA_STR("user:1"), TAVOLA_STR("alice"));
/// tavola_set(table, TAVOLA_STR("cart:1"), TAVOLA_STR("[]"));
///
/// tavola_iter_open(table, &iter);
/// while (tavola_iter_next(iter, &key, &value) == TAVOLA_OK) {
///   printf("%.*s has %zu bytes\n", (int)key.len, (const char *)key.data, value.len);
/// }
/// tavola_iter_close(iter);
/// ```
///
/// # Concurrency
/// Takes no lock. A key that exists during the whole iteration is returned at least once, even if
/// the table grows or shrinks. A key that is written meanwhile may be returned twice.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_iter_open(
    table: *const tavola_table,
    iter: *mut *mut tavola_iter,
) -> tavola_status {
    // SAFETY: the caller's promise.
    unsafe { tavola_iter_open_prefix(table, ptr::null(), 0, iter) }
}

/// Begins an iteration over the keys that begin with `prefix`, in no particular order. It looks at
/// every key of the table: the table does not keep its keys in order.
///
/// # Examples
/// ```c
/// tavola_iter *iter = NULL;
/// tavola_bytes key;
/// uint64_t removed = 0;
/// tavola_set(table, TAVOLA_STR("user:1"), TAVOLA_STR("alice"));
///
/// tavola_iter_open_prefix(table, TAVOLA_STR("user:"), &iter);
/// while (tavola_iter_next(iter, &key, NULL) == TAVOLA_OK) {
///   printf("%.*s\n", (int)key.len, (const char *)key.data);
/// }
/// tavola_iter_close(iter);
/// tavola_remove_prefix(table, TAVOLA_STR("user:"), &removed);
/// ```
///
/// # Concurrency
/// As `tavola_iter_open`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_iter_open_prefix(
    table: *const tavola_table,
    prefix: *const c_void,
    prefix_len: usize,
    iter: *mut *mut tavola_iter,
) -> tavola_status {
    entry(|| {
        let (_, iter) = (given!(handle table), given!(out iter));
        let prefix = given!(bytes prefix, prefix_len).to_vec();
        // SAFETY: an open table is a counted one, see `opened`.
        let table = unsafe {
            Arc::increment_strong_count(table);
            Arc::from_raw(table)
        };
        let place: *const Table = &raw const table.inner;
        // SAFETY: the table lies where it is as long as its count is kept, beside the borrow.
        let lasting: &'static Table = unsafe { &*place };
        iter.put(Box::into_raw(Box::new(tavola_iter {
            inner: lasting.iter(),
            prefix,
            _table: table,
        })));
        OK
    })
}

/// Returns the next key and its value, which are lent until the next call with this iterator.
/// `value` may be NULL.
///
/// # Errors
/// `TAVOLA_END`: there are no more keys. `TAVOLA_ERR_CORRUPT`: some item could not be read. This is
/// reported once, after all items that could be read; the next call returns `TAVOLA_END`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_iter_next(
    iter: *mut tavola_iter,
    key: *mut tavola_bytes,
    value: *mut tavola_bytes,
) -> tavola_status {
    entry(|| {
        let iter = given!(buffer iter);
        let (key_out, value_out) = (given!(out key), given!(maybe value));
        while let Some((key, value)) = iter.inner.next_entry()? {
            if key.starts_with(&iter.prefix) {
                key_out.put(tavola_bytes::of(key));
                value_out.put(tavola_bytes::of(value));
                return OK;
            }
        }
        Ok(tavola_status::TAVOLA_END)
    })
}

/// Does the same as `tavola_iter_next`, and returns the attributes of the key. `value` and
/// `attributes` may be NULL.
///
/// # Examples
/// ```c
/// tavola_iter *iter = NULL;
/// tavola_bytes key, value;
/// tavola_attributes has = TAVOLA_INIT(tavola_attributes);
/// tavola_iter_open(table, &iter);
/// while (tavola_iter_next_with_attributes(iter, &key, &value, &has) == TAVOLA_OK) {
///   printf("%.*s has flags %u\n", (int)key.len, (const char *)key.data, has.flags);
/// }
/// tavola_iter_close(iter);
/// ```
///
/// # Errors
/// As `tavola_iter_next`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_iter_next_with_attributes(
    iter: *mut tavola_iter,
    key: *mut tavola_bytes,
    value: *mut tavola_bytes,
    attributes: *mut tavola_attributes,
) -> tavola_status {
    entry(|| {
        let iter = given!(buffer iter);
        let (key_out, value_out) = (given!(out key), given!(maybe value));
        let attributes_out = given!(maybe_sized_out attributes);
        while let Some((key, value, has)) = iter.inner.next_with_attributes()? {
            if !key.starts_with(&iter.prefix) {
                continue;
            }
            key_out.put(tavola_bytes::of(key));
            value_out.put(tavola_bytes::of(value));
            if let Some(out) = attributes_out {
                out.put(&has.into());
            }
            return OK;
        }
        Ok(tavola_status::TAVOLA_END)
    })
}

/// Closes an iterator. NULL has no effect.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_iter_close(iter: *mut tavola_iter) {
    // SAFETY: the caller's promise: it came from `tavola_iter_open` and is used no more.
    unsafe { crate::given::close(iter) };
}

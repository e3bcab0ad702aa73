//! Arrays of keys.

use super::{in_runs, tavola_bytes, tavola_entry, tavola_pair};
use crate::attributes::{attributes_of, tavola_attributes};
use crate::entry::entry;
use crate::given::given;
use crate::status::{Failure, tavola_status};
use crate::table::tavola_table;
use std::ffi::c_void;
use std::ptr;
use tavola_core::Attributes;

/// Is told what the key at this position has, lent until it returns; NULL: the key is missing.
pub type tavola_each_value = Option<
    unsafe extern "C" fn(user: *mut c_void, index: usize, value: *const c_void, value_len: usize),
>;

/// Reads many keys: calls `each` once for each, in order.
///
/// # Examples
/// ```c
/// static void found(void *user, size_t index, const void *value, size_t len) {
///   (void)user;
///   if (value != NULL) {
///     printf("key %zu: %.*s\n", index, (int)len, (const char *)value);
///   }
/// }
///
/// const tavola_pair pairs[] = {{{"a", 1}, {"one", 3}}, {{"b", 1}, {"two", 3}}};
/// const tavola_bytes keys[] = {{"a", 1}, {"b", 1}, {"c", 1}};
/// tavola_set_many(table, pairs, 2);
/// tavola_prefetch(table, keys, 3);
/// tavola_get_many(table, keys, 3, found, NULL);
/// ```
///
/// # Errors
/// As `tavola_get`; the keys before the one that failed were told. A key that is NULL and has a
/// length: none was.
///
/// # Concurrency
/// Each key is read as by `tavola_get`, at a moment of its own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_get_many(
    table: *const tavola_table,
    keys: *const tavola_bytes,
    count: usize,
    each: tavola_each_value,
    user: *mut c_void,
) -> tavola_status {
    entry(|| {
        let (table, keys) = (given!(handle table), given!(items keys, count));
        let each = each.ok_or_else(|| Failure::null("each"))?;
        // SAFETY: the caller's promise.
        let lend = |key: &tavola_bytes| unsafe { key.get() };
        in_runs(keys, &[][..], lend, |first, keys| {
            table.inner.get_many(keys, |i, value| {
                let value = value.map_or(tavola_bytes::EMPTY, tavola_bytes::of);
                // SAFETY: the caller's function, called as its type says.
                unsafe { each(user, first + i, value.data, value.len) };
            })
        })
    })
}

/// Is told what the key at this position has, all lent until it returns; NULL: the key is missing.
pub type tavola_each_entry = Option<
    unsafe extern "C" fn(
        user: *mut c_void,
        index: usize,
        value: *const c_void,
        value_len: usize,
        attributes: *const tavola_attributes,
    ),
>;

/// As `tavola_get_many`, with what each key has beside its value.
///
/// # Examples
/// ```c
/// static void found(void *user, size_t index, const void *value, size_t len,
///                   const tavola_attributes *has) {
///   (void)user;
///   (void)len;
///   if (value != NULL) {
///     printf("key %zu has flags %u\n", index, has->flags);
///   }
/// }
///
/// tavola_attributes minute = TAVOLA_INIT(tavola_attributes);
/// minute.ttl_ms = 60 * 1000;
/// const tavola_pair pairs[] = {{{"a", 1}, {"one", 3}}, {{"b", 1}, {"two", 3}}};
/// const tavola_entry entries[] = {{{"c", 1}, {"three", 5}, &minute},
///                                 {{"d", 1}, {"four", 4}, NULL}};
/// const tavola_bytes keys[] = {{"a", 1}, {"b", 1}, {"c", 1}};
/// tavola_set_many_with(table, pairs, 2, &minute);
/// tavola_set_many_entries(table, entries, 2);
/// tavola_get_many_entries(table, keys, 3, found, NULL);
/// ```
///
/// # Errors
/// As `tavola_get_many`.
///
/// # Concurrency
/// As `tavola_get_many`; value and attributes are of one moment.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_get_many_entries(
    table: *const tavola_table,
    keys: *const tavola_bytes,
    count: usize,
    each: tavola_each_entry,
    user: *mut c_void,
) -> tavola_status {
    entry(|| {
        let (table, keys) = (given!(handle table), given!(items keys, count));
        let each = each.ok_or_else(|| Failure::null("each"))?;
        // SAFETY: the caller's promise.
        let lend = |key: &tavola_bytes| unsafe { key.get() };
        in_runs(keys, &[][..], lend, |first, keys| {
            table.inner.get_many_entries(keys, |i, found| {
                let (value, attributes) = match found {
                    None => (tavola_bytes::EMPTY, None),
                    Some((value, has)) => (tavola_bytes::of(value), Some(has.attributes.into())),
                };
                let attributes = attributes.as_ref().map_or(ptr::null(), ptr::from_ref);
                // SAFETY: the caller's function, called as its type says.
                unsafe { each(user, first + i, value.data, value.len, attributes) };
            })
        })
    })
}

/// Sets many keys, in order.
///
/// # Errors
/// As `tavola_set`; the pairs before the one that failed are set. A key or value that is NULL and
/// has a length: none is.
///
/// # Concurrency
/// Each pair is set as by `tavola_set`; others may see some of them before the rest.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_set_many(
    table: *const tavola_table,
    pairs: *const tavola_pair,
    count: usize,
) -> tavola_status {
    // SAFETY: the caller's promise.
    unsafe { tavola_set_many_with(table, pairs, count, ptr::null()) }
}

/// As `tavola_set_many`; all of them get these attributes; NULL: those of `tavola_set`.
///
/// # Errors
/// As `tavola_set_many` and `tavola_set_with`.
///
/// # Concurrency
/// As `tavola_set_many`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_set_many_with(
    table: *const tavola_table,
    pairs: *const tavola_pair,
    count: usize,
    attributes: *const tavola_attributes,
) -> tavola_status {
    entry(|| {
        let (table, pairs) = (given!(handle table), given!(items pairs, count));
        // SAFETY: the caller's promise.
        let attributes = unsafe { attributes_of(attributes) }?;
        let lend = |pair: &tavola_pair| {
            // SAFETY: the caller's promise.
            unsafe { Ok((pair.key.get()?, pair.value.get()?)) }
        };
        in_runs(pairs, (&[][..], &[][..]), lend, |_, pairs| {
            table.inner.set_many_with(pairs, attributes)
        })
    })
}

/// As `tavola_set_many`; each gets attributes of its own.
///
/// # Errors
/// As `tavola_set_many` and `tavola_set_with`. Attributes that are none: none of the keys is set.
///
/// # Concurrency
/// As `tavola_set_many`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_set_many_entries(
    table: *const tavola_table,
    entries: *const tavola_entry,
    count: usize,
) -> tavola_status {
    entry(|| {
        let (table, entries) = (given!(handle table), given!(items entries, count));
        let lend = |entry: &tavola_entry| {
            // SAFETY: the caller's promise.
            let attributes = unsafe { attributes_of(entry.attributes) }?;
            // SAFETY: the caller's promise.
            unsafe { Ok((entry.key.get()?, entry.value.get()?, attributes)) }
        };
        let empty = (&[][..], &[][..], Attributes::default());
        in_runs(entries, empty, lend, |_, entries| {
            table.inner.set_many_entries(entries)
        })
    })
}

/// Has the memory fetched that calls on these keys will look at, so that they wait for it once and
/// not one after the other: for calls of several kinds, which are to follow at once. It pays for
/// some ten keys at a time. Calls that take arrays of keys, and batches, do so by themselves.
///
/// # Errors
/// Those of mapping the table, where this is its first use. A key that is NULL and has a length:
/// nothing is fetched for any.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_prefetch(
    table: *const tavola_table,
    keys: *const tavola_bytes,
    count: usize,
) -> tavola_status {
    entry(|| {
        let (table, keys) = (given!(handle table), given!(items keys, count));
        // SAFETY: the caller's promise.
        let lend = |key: &tavola_bytes| unsafe { key.get() };
        in_runs(keys, &[][..], lend, |_, keys| table.inner.prefetch(keys))
    })
}

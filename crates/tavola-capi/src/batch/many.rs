//! Arrays of keys.

use super::{RUN, change_in_runs, in_runs, tavola_bytes, tavola_entry, tavola_pair};
use crate::attributes::{attributes_of, tavola_attributes};
use crate::entry::entry;
use crate::given::given;
use crate::status::{Failure, tavola_status};
use crate::table::tags::{tags_of, tavola_tags};
use crate::table::tavola_table;
use crate::table::uid::tavola_hint;
use std::ffi::c_void;
use std::ptr;
use tavola_core::{Attributes, Hint};

/// Called with the value of the key at this position, which is lent until it returns. `value` is
/// NULL if the key does not exist.
pub type tavola_each_value = Option<
    unsafe extern "C" fn(user: *mut c_void, index: usize, value: *const c_void, value_len: usize),
>;

/// Reads many keys: calls `each` once for each key, in order.
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
/// As `tavola_get`; `each` was called for the keys before the one that failed. If a key is NULL and
/// its length is not 0, `each` is not called at all.
///
/// # Concurrency
/// Each key is read as by `tavola_get`, each at its own moment.
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

/// Reads the values of the keys with these uids: calls `each` once for each uid, in order, as
/// `tavola_get_many` does for each key. The cache misses of the uids overlap.
///
/// # Examples
/// ```c
/// static void found(void *user, size_t index, const void *value, size_t len) {
///   (void)user;
///   if (value != NULL) {
///     printf("uid %zu: %.*s\n", index, (int)len, (const char *)value);
///   }
/// }
///
/// tavola_hint hints[2];
/// tavola_set_uid(table, TAVOLA_STR("a"), TAVOLA_STR("one"), &hints[0]);
/// tavola_set_uid(table, TAVOLA_STR("b"), TAVOLA_STR("two"), &hints[1]);
/// tavola_get_many_by_uid(table, hints, 2, found, NULL);
/// ```
///
/// # Errors
/// As `tavola_get`; `each` was called for the uids before the one that failed.
///
/// # Concurrency
/// As `tavola_get_by_uid`; each value is read at its own moment.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_get_many_by_uid(
    table: *const tavola_table,
    hints: *const tavola_hint,
    count: usize,
    each: tavola_each_value,
    user: *mut c_void,
) -> tavola_status {
    entry(|| {
        let (table, hints) = (given!(handle table), given!(items hints, count));
        let each = each.ok_or_else(|| Failure::null("each"))?;
        let hint = |hint: &tavola_hint| Ok(Hint::from_bits(*hint));
        in_runs(hints, Hint::from(0), hint, |first, hints| {
            table.inner.get_many_by_uid(hints, |i, value| {
                let value = value.map_or(tavola_bytes::EMPTY, tavola_bytes::of);
                // SAFETY: the caller's function, called as its type says.
                unsafe { each(user, first + i, value.data, value.len) };
            })
        })
    })
}

/// Called with the value and the attributes of the key at this position, which are lent until it
/// returns. `value` is NULL if the key does not exist.
pub type tavola_each_entry = Option<
    unsafe extern "C" fn(
        user: *mut c_void,
        index: usize,
        value: *const c_void,
        value_len: usize,
        attributes: *const tavola_attributes,
    ),
>;

/// Reads many keys as `tavola_get_many` does, with the attributes of each key.
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
/// As `tavola_get_many`. Value and attributes of a key are of the same moment.
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

/// Sets many keys, in order. With `TAVOLA_DURABLE_COMMIT` this waits for the disk once, at its end,
/// as all calls do that change many keys.
///
/// # Errors
/// As `tavola_set`; the pairs before the one that failed are set. If a key or value is NULL and its
/// length is not 0, no key is set.
///
/// # Concurrency
/// Each pair is set as by `tavola_set`. Other processes may see some of them before the rest.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_set_many(
    table: *const tavola_table,
    pairs: *const tavola_pair,
    count: usize,
) -> tavola_status {
    // SAFETY: the caller's promise.
    unsafe { tavola_set_many_with(table, pairs, count, ptr::null()) }
}

/// Sets many keys as `tavola_set_many` does. All of them get these attributes; NULL means those of
/// `tavola_set`.
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
        change_in_runs(table, pairs, (&[][..], &[][..]), lend, |pairs| {
            table.inner.set_many_with(pairs, attributes)
        })
    })
}

/// Sets many keys as `tavola_set_many` does, each with attributes of its own.
///
/// # Errors
/// As `tavola_set_many` and `tavola_set_with`. If any attributes are invalid, no key is set.
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
            unsafe { lent(entry) }
        };
        change_in_runs(table, entries, no_entry(), lend, |entries| {
            table.inner.set_many_entries(entries)
        })
    })
}

/// A key and its value with attributes, as the core takes them.
type Lent<'a> = (&'a [u8], &'a [u8], Attributes);

fn no_entry<'a>() -> Lent<'a> {
    (&[], &[], Attributes::default())
}

/// What an entry lends to the core.
///
/// # Safety
/// CAPI-1 of `given.rs`.
unsafe fn lent<'a>(entry: &tavola_entry) -> Result<Lent<'a>, Failure> {
    // SAFETY: the caller's promise.
    unsafe {
        let attributes = attributes_of(entry.attributes)?;
        Ok((entry.key.get()?, entry.value.get()?, attributes))
    }
}

/// Sets many keys as `tavola_set_many_entries` does, all with these tags; NULL means no tags. See
/// `tavola_set_tagged`.
///
/// # Examples
/// ```c
/// const tavola_bytes names[] = {{"news", 4}};
/// const tavola_bytes keys[] = {{"a", 1}, {"b", 1}, {"c", 1}};
/// const tavola_entry entries[] = {{{"a", 1}, {"one", 3}, NULL}, {{"b", 1}, {"two", 3}, NULL}};
/// tavola_tags tags = TAVOLA_INIT(tavola_tags);
/// uint64_t removed = 0;
/// tavola_fetch_tags(table, names, 1, &tags);
/// tavola_set_many_tagged(table, entries, 2, &tags);
/// tavola_remove_many(table, keys, 3, &removed);
/// printf("%llu keys existed\n", (unsigned long long)removed);
/// ```
///
/// # Errors
/// As `tavola_set_many_entries` and `tavola_set_tagged`.
///
/// # Concurrency
/// As `tavola_set_many`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_set_many_tagged(
    table: *const tavola_table,
    entries: *const tavola_entry,
    count: usize,
    tags: *const tavola_tags,
) -> tavola_status {
    entry(|| {
        let (table, entries) = (given!(handle table), given!(items entries, count));
        // SAFETY: the caller's promise.
        let tags = unsafe { tags_of(tags) }?;
        let lend = |entry: &tavola_entry| {
            // SAFETY: the caller's promise.
            unsafe { lent(entry) }
        };
        change_in_runs(table, entries, no_entry(), lend, |entries| {
            let mut keys = [&[][..]; RUN];
            keys.iter_mut()
                .zip(entries)
                .for_each(|(key, one)| *key = one.0);
            table.inner.prefetch(&keys[..entries.len()])?;
            entries.iter().try_for_each(|(key, value, attributes)| {
                table.inner.set_tagged(key, value, *attributes, &tags)
            })
        })
    })
}

/// Removes many keys, in order. `removed`, which may be NULL, gets how many of them existed; after
/// an error, how many it has removed.
///
/// # Errors
/// As `tavola_remove`, except `TAVOLA_NOT_FOUND`; the keys before the one that failed are removed.
/// If a key is NULL and its length is not 0, no key is removed.
///
/// # Concurrency
/// Each key is removed as by `tavola_remove`. Other processes may miss some of them before the
/// rest.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_remove_many(
    table: *const tavola_table,
    keys: *const tavola_bytes,
    count: usize,
    removed: *mut u64,
) -> tavola_status {
    entry(|| {
        let (table, keys) = (given!(handle table), given!(items keys, count));
        let out = given!(maybe removed);
        // SAFETY: the caller's promise.
        let lend = |key: &tavola_bytes| unsafe { key.get() };
        let mut existed = 0;
        let answer = change_in_runs(table, keys, &[][..], lend, |keys| {
            table.inner.prefetch(keys)?;
            for key in keys {
                existed += u64::from(table.inner.remove(key)?);
            }
            Ok(())
        });
        out.put(existed);
        answer
    })
}

/// Prefetches the memory that calls with these keys need, so that they wait for it once. Make these
/// calls at once. It is worth it for about ten keys or more. Calls with arrays of keys, and
/// batches, do it by themselves.
///
/// # Errors
/// At the first use of a table, the errors of mapping it. If a key is NULL and its length is not 0,
/// nothing is fetched.
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

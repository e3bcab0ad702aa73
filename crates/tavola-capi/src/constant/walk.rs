//! All records of a key, and all records of a constant file.

use super::tavola_cdb;
use crate::batch::tavola_bytes;
use crate::entry::{OK, entry};
use crate::given::{close, given};
use crate::status::tavola_status;
use std::ffi::c_void;
use std::sync::Arc;
use tavola_constant::{Constant, ConstantFind, ConstantRecords};

/// Lends a file for as long as an `Arc` beside it keeps it.
///
/// # Safety
/// The result is dropped before the last of these counts.
unsafe fn lasting(file: &Arc<Constant>) -> &'static Constant {
    // SAFETY: a counted file lies where it is as long as the count is kept.
    unsafe { &*Arc::as_ptr(file) }
}

/// A search for all records of a key, for one thread at a time.
pub struct tavola_cdb_find {
    /// Dropped before the file and the key, which it borrows.
    inner: ConstantFind<'static, 'static>,
    value: Vec<u8>,
    _key: Box<[u8]>,
    _file: Arc<Constant>,
}

/// Begins a search for the records of a key: a cdb file may have several. The file stays open until
/// the search is closed, also if the handle is closed or refreshed before.
///
/// # Examples
/// ```c
/// tavola_cdb *people = NULL;
/// tavola_cdb_find *find = NULL;
/// tavola_bytes value;
/// if (tavola_cdb_open("./people.cdb", &people) != TAVOLA_OK) {
///   fprintf(stderr, "%s\n", tavola_last_error());
///   return;
/// }
/// tavola_cdb_find_open(people, TAVOLA_STR("alice"), &find);
/// while (tavola_cdb_find_next(find, &value) == TAVOLA_OK) {
///   printf("%.*s\n", (int)value.len, (const char *)value.data);
/// }
/// tavola_cdb_find_close(find);
/// tavola_cdb_close(people);
/// ```
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_cdb_find_open(
    cdb: *const tavola_cdb,
    key: *const c_void,
    key_len: usize,
    find: *mut *mut tavola_cdb_find,
) -> tavola_status {
    entry(|| {
        let (cdb, key) = (given!(handle cdb), given!(bytes key, key_len));
        let find = given!(out find);
        let (file, key) = (cdb.kept()?, Box::<[u8]>::from(key));
        let wanted: *const [u8] = &raw const *key;
        // SAFETY: both are kept beside the search, and dropped after it.
        let (borrowed, wanted) = unsafe { (lasting(&file), &*wanted) };
        find.put(Box::into_raw(Box::new(tavola_cdb_find {
            inner: borrowed.find(wanted),
            value: Vec::new(),
            _key: key,
            _file: file,
        })));
        OK
    })
}

/// Returns the next value of the key, in the order in which they were written. It is lent until the
/// next call with this search.
///
/// # Errors
/// `TAVOLA_END`: there are no more values. Otherwise as `tavola_cdb_get`; the search ends then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_cdb_find_next(
    find: *mut tavola_cdb_find,
    value: *mut tavola_bytes,
) -> tavola_status {
    entry(|| {
        let (find, value) = (given!(buffer find), given!(out value));
        let Some(record) = find.inner.next().transpose()? else {
            return Ok(tavola_status::TAVOLA_END);
        };
        find.value.clear();
        record.value.append_to(&mut find.value)?;
        value.put(tavola_bytes::of(&find.value));
        OK
    })
}

/// Closes a search. NULL has no effect.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_cdb_find_close(find: *mut tavola_cdb_find) {
    // SAFETY: the caller's promise: it came from `tavola_cdb_find_open` and is used no more.
    unsafe { close(find) };
}

/// An iterator over all records of a constant file, for one thread at a time.
pub struct tavola_cdb_iter {
    /// Dropped before the file, which it borrows.
    inner: ConstantRecords<'static>,
    key: Vec<u8>,
    value: Vec<u8>,
    _file: Arc<Constant>,
}

/// Begins an iteration over all records: of a cdb file in the order in which they were written, of
/// a frozen file in no particular order. The file stays open until the iterator is closed, also if
/// the handle is closed or refreshed before.
///
/// # Examples
/// ```c
/// tavola_cdb *people = NULL;
/// tavola_cdb_iter *iter = NULL;
/// tavola_bytes key, value;
/// if (tavola_cdb_open("./people.cdb", &people) != TAVOLA_OK) {
///   fprintf(stderr, "%s\n", tavola_last_error());
///   return;
/// }
/// tavola_cdb_iter_open(people, &iter);
/// while (tavola_cdb_iter_next(iter, &key, &value) == TAVOLA_OK) {
///   printf("%.*s has %zu bytes\n", (int)key.len, (const char *)key.data, value.len);
/// }
/// tavola_cdb_iter_close(iter);
/// tavola_cdb_close(people);
/// ```
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_cdb_iter_open(
    cdb: *const tavola_cdb,
    iter: *mut *mut tavola_cdb_iter,
) -> tavola_status {
    entry(|| {
        let (cdb, iter) = (given!(handle cdb), given!(out iter));
        let file = cdb.kept()?;
        // SAFETY: it is kept beside the iterator, and dropped after it.
        let borrowed = unsafe { lasting(&file) };
        iter.put(Box::into_raw(Box::new(tavola_cdb_iter {
            inner: borrowed.records(),
            key: Vec::new(),
            value: Vec::new(),
            _file: file,
        })));
        OK
    })
}

/// Returns the next record, which is lent until the next call with this iterator. `value` may be
/// NULL. Records that were replaced with `TAVOLA_CDB_REPLACE_ZERO` come as an empty key with a
/// value of zeros.
///
/// # Errors
/// `TAVOLA_END`: there are no more records. Otherwise as `tavola_cdb_get`; the iteration ends then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_cdb_iter_next(
    iter: *mut tavola_cdb_iter,
    key: *mut tavola_bytes,
    value: *mut tavola_bytes,
) -> tavola_status {
    entry(|| {
        let iter = given!(buffer iter);
        let (key_out, value_out) = (given!(out key), given!(maybe value));
        let Some(record) = iter.inner.next().transpose()? else {
            return Ok(tavola_status::TAVOLA_END);
        };
        iter.key.clear();
        record.key.append_to(&mut iter.key)?;
        if value_out.is_wanted() {
            iter.value.clear();
            record.value.append_to(&mut iter.value)?;
        }
        key_out.put(tavola_bytes::of(&iter.key));
        value_out.put(tavola_bytes::of(&iter.value));
        OK
    })
}

/// Closes an iterator. NULL has no effect.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_cdb_iter_close(iter: *mut tavola_cdb_iter) {
    // SAFETY: the caller's promise: it came from `tavola_cdb_iter_open` and is used no more.
    unsafe { close(iter) };
}

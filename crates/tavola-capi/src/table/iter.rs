//! Walking all keys.

use super::tavola_table;
use crate::attributes::tavola_attributes;
use crate::batch::tavola_bytes;
use crate::entry::{OK, entry};
use crate::given::given;
use crate::status::tavola_status;
use std::sync::Arc;
use tavola_core::{Iter, Table};

/// A walk through a table, for one thread at a time.
pub struct tavola_iter {
    /// Dropped before the table that it borrows.
    inner: Iter<'static>,
    _table: Arc<tavola_table>,
}

/// Begins a walk through all keys, in no particular order. The table stays open until the walk is
/// closed.
///
/// # Concurrency
/// Takes no lock. A key that is there from the beginning of the walk to its end is met at least
/// once, whatever grows, shrinks or moves; one that is written meanwhile may be met twice.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_iter_open(
    table: *const tavola_table,
    iter: *mut *mut tavola_iter,
) -> tavola_status {
    entry(|| {
        let (_, iter) = (given!(handle table), given!(out iter));
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
            _table: table,
        })));
        OK
    })
}

/// The next key and its value, lent until the next call with this walk. `value` may be NULL.
///
/// # Errors
/// `TAVOLA_END`: there are no more. `TAVOLA_ERR_CORRUPT`: some item could not be read; reported
/// once, after all that could. The next call returns `TAVOLA_END`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_iter_next(
    iter: *mut tavola_iter,
    key: *mut tavola_bytes,
    value: *mut tavola_bytes,
) -> tavola_status {
    entry(|| {
        let iter = given!(buffer iter);
        let (key_out, value_out) = (given!(out key), given!(maybe value));
        match iter.inner.next_entry()? {
            None => Ok(tavola_status::TAVOLA_END),
            Some((key, value)) => {
                key_out.put(tavola_bytes::of(key));
                value_out.put(tavola_bytes::of(value));
                OK
            }
        }
    })
}

/// As `tavola_iter_next`, with what the key has beside its value. `value` and `attributes` may be
/// NULL.
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
        let Some((key, value, has)) = iter.inner.next_with_attributes()? else {
            return Ok(tavola_status::TAVOLA_END);
        };
        key_out.put(tavola_bytes::of(key));
        value_out.put(tavola_bytes::of(value));
        if let Some(out) = attributes_out {
            out.put(&has.into());
        }
        OK
    })
}

/// Ends a walk. NULL is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_iter_close(iter: *mut tavola_iter) {
    // SAFETY: the caller's promise: it came from `tavola_iter_open` and is used no more.
    unsafe { crate::given::close(iter) };
}

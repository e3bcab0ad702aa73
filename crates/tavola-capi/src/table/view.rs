//! Values lent where they stand.

use super::tavola_table;
use crate::batch::tavola_bytes;
use crate::entry::{OK, entry, entry_or, found};
use crate::given::{close, given};
use crate::status::tavola_status;
use std::ffi::c_void;
use std::sync::Arc;
use tavola_core::{Table, View};

/// A value that the table lends without a copy.
pub struct tavola_view {
    /// Dropped before the table that it borrows.
    inner: View<'static>,
    _table: Arc<tavola_table>,
}

/// Lends the value of a key without a copy. The value stays as it is until `tavola_view_close`,
/// even if the key is written meanwhile, and the table stays open until then.
///
/// Only a value of more than about 16 KB is lent where it is, in one or more pieces. A shorter
/// value is copied. A value is also copied if the table is open for reading only, if the process
/// cannot become a participant, and if six views and reads of large values are under way with this
/// handle.
///
/// # Examples
/// ```c
/// tavola_view *view = NULL;
/// tavola_bytes piece;
/// tavola_set(table, TAVOLA_STR("page"), TAVOLA_STR("<p>hello</p>"));
/// if (tavola_get_view(table, TAVOLA_STR("page"), &view) == TAVOLA_OK) {
///   printf("%zu bytes\n", tavola_view_len(view));
///   for (size_t i = 0; tavola_view_piece(view, i, &piece) == TAVOLA_OK; i++) {
///     fwrite(piece.data, 1, piece.len, stdout);
///   }
///   tavola_view_close(view);
/// }
/// ```
///
/// # Errors
/// As `tavola_get`, without `TAVOLA_ERR_TOO_SMALL`.
///
/// # Concurrency
/// As `tavola_get`. Writers do not wait: if the value is overwritten or removed, its pages stay in
/// use until the view is closed, and the next write frees them. In a forked child, only close a
/// view of the parent.
///
/// # Crash
/// Pages that a dead process had in a view are reclaimed with its other resources.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_get_view(
    table: *const tavola_table,
    key: *const c_void,
    key_len: usize,
    view: *mut *mut tavola_view,
) -> tavola_status {
    entry(|| {
        let (_, key) = (given!(handle table), given!(bytes key, key_len));
        let view = given!(out view);
        // SAFETY: an open table is a counted one, see `opened`.
        let table = unsafe {
            Arc::increment_strong_count(table);
            Arc::from_raw(table)
        };
        let place: *const Table = &raw const table.inner;
        // SAFETY: the table lies where it is as long as its count is kept, beside the borrow.
        let lasting: &'static Table = unsafe { &*place };
        let Some(inner) = lasting.get_view(key)? else {
            return found(false);
        };
        view.put(Box::into_raw(Box::new(tavola_view {
            inner,
            _table: table,
        })));
        OK
    })
}

/// Returns how many bytes the value has.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_view_len(view: *const tavola_view) -> usize {
    entry_or(0, || Ok(given!(handle view).inner.len()))
}

/// Returns one of the pieces of the value, in order, from 0 on. It is lent until the view is
/// closed.
///
/// # Errors
/// `TAVOLA_END`: there are no more pieces.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_view_piece(
    view: *const tavola_view,
    number: usize,
    piece: *mut tavola_bytes,
) -> tavola_status {
    entry(|| {
        let (view, out) = (given!(handle view), given!(out piece));
        match view.inner.pieces().nth(number) {
            None => Ok(tavola_status::TAVOLA_END),
            Some(piece) => {
                out.put(tavola_bytes::of(piece));
                OK
            }
        }
    })
}

/// Closes a view, after which its bytes must not be used. NULL has no effect.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_view_close(view: *mut tavola_view) {
    // SAFETY: the caller's promise: it came from `tavola_get_view` and is used no more.
    unsafe { close(view) };
}

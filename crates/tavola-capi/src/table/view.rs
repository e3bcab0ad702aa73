//! Values lent where they stand.

use super::tavola_table;
use crate::batch::tavola_bytes;
use crate::entry::{OK, entry, entry_or, found};
use crate::given::{close, given};
use crate::status::tavola_status;
use std::ffi::c_void;
use std::sync::Arc;
use tavola_core::{Table, View};

/// A value that is lent where it stands.
pub struct tavola_view {
    /// Dropped before the table that it borrows.
    inner: View<'static>,
    _table: Arc<tavola_table>,
}

/// Lends the value of a key: it stays as it is until `tavola_view_close`, whatever is written to
/// the key. The table stays open until then.
///
/// A value that is longer than some 16 KB is not copied, and stands in one or more pieces; a
/// shorter one is copied. So is any value of a table that is open for reading only, of a process
/// that cannot become a participant, and where six views and reads of large values are under way
/// through this handle.
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
/// As `tavola_get`, but for `TAVOLA_ERR_TOO_SMALL`.
///
/// # Concurrency
/// As `tavola_get`. Writers go on: the pages of a value that is overwritten or removed stay in use
/// until the view has ended, and are freed by the next write. In a forked child a view of its
/// parent's is not to be used, only ended.
///
/// # Crash
/// Pages that a dead process had in view come back with what else it held.
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

/// How many bytes the value has.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_view_len(view: *const tavola_view) -> usize {
    entry_or(0, || Ok(given!(handle view).inner.len()))
}

/// One of the pieces that the value stands in, in their order, from 0 on: lent until the view ends.
///
/// # Errors
/// `TAVOLA_END`: there are no more.
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

/// Ends a view: its bytes are lent no more. NULL is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_view_close(view: *mut tavola_view) {
    // SAFETY: the caller's promise: it came from `tavola_get_view` and is used no more.
    unsafe { close(view) };
}

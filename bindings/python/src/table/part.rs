//! Values that are lent where they are.

use super::Table;
use crate::error::OrRaise;
use crate::text::key_of;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::Arc;
use tavola::View;

/// A value that stays as it is while this object exists; `tavola._view` makes memory views of it.
#[pyclass(frozen, module = "tavola._tavola")]
pub struct LentValue {
    /// Dropped before the table that it borrows.
    view: View<'static>,
    _table: Arc<tavola::Table>,
}

#[pymethods]
impl LentValue {
    /// Returns the addresses and lengths of the pieces.
    fn pieces(&self) -> Vec<(usize, usize)> {
        let pieces = self.view.pieces();
        pieces
            .map(|piece| (piece.as_ptr().addr(), piece.len()))
            .collect()
    }

    #[getter]
    fn is_lent(&self) -> bool {
        self.view.is_lent()
    }

    fn copy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        PyBytes::new_with(py, self.view.len(), |out| {
            let mut rest = out;
            for piece in self.view.pieces() {
                let (place, after) = rest.split_at_mut(piece.len());
                place.copy_from_slice(piece);
                rest = after;
            }
            Ok(())
        })
    }
}

#[pymethods]
impl Table {
    #[pyo3(name = "_lend")]
    fn lend(&self, key: &Bound<'_, PyAny>) -> PyResult<Option<LentValue>> {
        let (py, key) = (key.py(), key_of(key)?);
        let table = self.shared(py)?;
        let place: *const tavola::Table = Arc::as_ptr(&table);
        // SAFETY: the table stays where it is as long as its count is kept, beside the borrow.
        let lasting: &'static tavola::Table = unsafe { &*place };
        let view = lasting.get_view(key).or_raise(py)?;
        Ok(view.map(|view| LentValue {
            view,
            _table: table,
        }))
    }
}

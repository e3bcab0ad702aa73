//! Calls about the handle and the table as a whole.

use super::Table;
use crate::error::OrRaise;
use crate::time::duration;
use pyo3::prelude::*;
use std::ffi::OsString;
use std::sync::Arc;

#[pymethods]
impl Table {
    fn close(&self, py: Python<'_>) {
        let closed = self.shared.with(py, Option::take);
        // Unmapping a large table takes a while.
        py.detach(|| drop(closed));
    }

    #[getter]
    fn closed(&self, py: Python<'_>) -> bool {
        self.shared.with(py, |table| table.is_none())
    }

    #[getter]
    fn path(&self, py: Python<'_>) -> PyResult<OsString> {
        Ok(self.shared(py)?.path().as_os_str().to_owned())
    }

    #[getter]
    fn read_only(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.shared(py)?.is_read_only())
    }

    #[getter]
    fn binary_keys(&self) -> bool {
        self.has_binary_keys
    }

    #[getter]
    fn private(&self) -> bool {
        self.is_private
    }

    fn refresh(&self, py: Python<'_>) -> PyResult<bool> {
        let table = self.shared(py)?;
        let reopened = py.detach(|| table.reopened()).or_raise(py)?;
        let is_moved = reopened.is_some();
        if let Some(table) = reopened {
            let old = self.shared.with(py, |place| place.replace(Arc::new(table)));
            py.detach(|| drop(old));
        }
        Ok(is_moved)
    }

    fn clear(&self, py: Python<'_>) -> PyResult<()> {
        let table = self.shared(py)?;
        py.detach(|| table.clear()).or_raise(py)
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        let table = self.shared(py)?;
        let keys = py.detach(|| table.live_keys()).or_raise(py)?;
        Ok(keys.live as usize)
    }

    fn copy_to(&self, py: Python<'_>, name: OsString) -> PyResult<u64> {
        let table = self.shared(py)?;
        py.detach(|| table.copy_to(&name)).or_raise(py)
    }

    fn compact(&self, py: Python<'_>) -> PyResult<u64> {
        let table = self.shared(py)?;
        py.detach(|| table.compact()).or_raise(py)
    }

    fn remove_expired(&self, py: Python<'_>) -> PyResult<()> {
        let table = self.shared(py)?;
        py.detach(|| table.remove_expired()).or_raise(py)
    }

    fn set_capacity(&self, py: Python<'_>, size: u64) -> PyResult<()> {
        let table = self.shared(py)?;
        py.detach(|| table.set_capacity(size)).or_raise(py)
    }

    fn set_max_size(&self, py: Python<'_>, size: u64) -> PyResult<()> {
        let table = self.shared(py)?;
        py.detach(|| table.set_max_size(size)).or_raise(py)
    }

    fn set_lock_timeout(&self, limit: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = limit.py();
        let limit = match limit.is_none() {
            true => None,
            false => duration("limit", limit)?,
        };
        self.shared(py)?.set_lock_timeout(limit).or_raise(py)
    }
}

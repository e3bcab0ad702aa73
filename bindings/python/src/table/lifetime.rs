//! Calls about the handle and the table as a whole.

use super::Table;
use super::durable::waits;
use crate::error::OrRaise;
use crate::text::name_of;
use crate::time::duration;
use pyo3::prelude::*;
use std::ffi::OsString;
use std::sync::Arc;
use std::sync::atomic::Ordering;

#[pymethods]
impl Table {
    /// Close the table. Calls that use it afterwards raise :class:`tavola.ClosedError`.
    ///
    /// >>> import tavola
    /// >>> table = tavola.open("doc")
    /// >>> table.close()
    /// >>> table.closed
    /// True
    fn close(&self, py: Python<'_>) {
        let closed = self.shared.with(py, Option::take);
        // Unmapping a large table takes a while.
        py.detach(|| drop(closed));
    }

    /// Whether the table was closed.
    #[getter]
    fn closed(&self, py: Python<'_>) -> bool {
        self.shared.with(py, |table| table.is_none())
    }

    /// The path of the table's file.
    #[getter]
    fn path(&self, py: Python<'_>) -> PyResult<OsString> {
        Ok(self.shared(py)?.path().as_os_str().to_owned())
    }

    /// Whether the table was opened read-only.
    #[getter]
    fn read_only(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.shared(py)?.is_read_only())
    }

    /// Whether all keys are shown as ``bytes``.
    #[getter]
    fn binary_keys(&self) -> bool {
        self.has_binary_keys
    }

    /// Whether the table is in the memory of this process only.
    #[getter]
    fn private(&self) -> bool {
        self.is_private
    }

    /// Open the table again if its file was removed or replaced meanwhile. Return whether it was.
    ///
    /// >>> import tavola
    /// >>> table = tavola.open("doc")
    /// >>> table.refresh()
    /// False
    fn refresh(&self, py: Python<'_>) -> PyResult<bool> {
        let table = self.shared(py)?;
        let reopened = py.detach(|| table.reopened()).or_raise(py)?;
        let is_moved = reopened.is_some();
        if let Some(table) = reopened {
            self.waits_for_disk.store(waits(&table), Ordering::Relaxed);
            let old = self.shared.with(py, |place| place.replace(Arc::new(table)));
            py.detach(|| drop(old));
        }
        Ok(is_moved)
    }

    /// Remove all keys.
    ///
    /// >>> import tavola
    /// >>> table = tavola.open("doc-clear")
    /// >>> table["a"] = 1
    /// >>> table.clear()
    /// >>> len(table)
    /// 0
    fn clear(&self, py: Python<'_>) -> PyResult<()> {
        let table = self.shared(py)?;
        py.detach(|| table.clear()).or_raise(py)
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        let table = self.shared(py)?;
        let keys = py.detach(|| table.live_keys()).or_raise(py)?;
        Ok(keys.live as usize)
    }

    /// Copy the table into a new one of that name, while others write. Return the number of keys.
    ///
    /// >>> import tavola
    /// >>> table = tavola.open("doc-copy")
    /// >>> table["a"] = 1
    /// >>> table.copy_to("doc-backup")
    /// 1
    fn copy_to(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = name_of)] name: OsString,
    ) -> PyResult<u64> {
        let table = self.shared(py)?;
        py.detach(|| table.copy_to(&name)).or_raise(py)
    }

    /// Return unused memory to the system. Return how many bytes.
    ///
    /// >>> import tavola
    /// >>> table = tavola.open("doc")
    /// >>> table.compact() >= 0
    /// True
    fn compact(&self, py: Python<'_>) -> PyResult<u64> {
        let table = self.shared(py)?;
        py.detach(|| table.compact()).or_raise(py)
    }

    /// Remove expired and invalidated keys now; it happens little by little anyway.
    ///
    /// >>> import tavola
    /// >>> table = tavola.open("doc")
    /// >>> table.remove_expired()
    fn remove_expired(&self, py: Python<'_>) -> PyResult<()> {
        let table = self.shared(py)?;
        py.detach(|| table.remove_expired()).or_raise(py)
    }

    /// Change the capacity of a cache in bytes.
    ///
    /// >>> import tavola
    /// >>> cache = tavola.open("doc-cache", capacity=8 << 20)
    /// >>> cache.set_capacity(16 << 20)
    /// >>> cache.stats()["capacity"]
    /// 16777216
    fn set_capacity(&self, py: Python<'_>, size: u64) -> PyResult<()> {
        let table = self.shared(py)?;
        py.detach(|| table.set_capacity(size)).or_raise(py)
    }

    /// Raise the largest size of the table in bytes.
    ///
    /// >>> import tavola
    /// >>> table = tavola.open("doc-small", max_size=1 << 20)
    /// >>> table.set_max_size(4 << 20)
    fn set_max_size(&self, py: Python<'_>, size: u64) -> PyResult<()> {
        let table = self.shared(py)?;
        py.detach(|| table.set_max_size(size)).or_raise(py)
    }

    /// Set after how many seconds a call raises :class:`tavola.BusyError` if another process has a
    /// lock and is stopped; ``None`` waits without a limit. The lock of a dead process is taken
    /// over.
    ///
    /// >>> import tavola
    /// >>> table = tavola.open("doc")
    /// >>> table.set_lock_timeout(0.5)
    fn set_lock_timeout(&self, limit: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = limit.py();
        let limit = match limit.is_none() {
            true => None,
            false => duration("limit", limit)?,
        };
        self.shared(py)?.set_lock_timeout(limit).or_raise(py)
    }
}

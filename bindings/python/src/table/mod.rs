//! The class `Table` of the extension module. Each file here is one kind of call.

mod batch;
mod condition;
mod counter;
mod durable;
mod fast;
mod lifetime;
mod open;
mod part;
mod read;
mod report;
mod scan;
mod tags;
mod transaction;
mod uid;
mod write;

#[cfg(feature = "client")]
pub use batch::pairs_of;
pub use fast::add_fast_calls;
pub use part::LentValue;
pub use scan::Scan;
pub use tags::TagHandles;
pub use transaction::Transaction;

use crate::cell::LockedCell;
use crate::codec::Serializer;
use crate::error::{OrRaise, refused};
use crate::text::key_of;
use pyo3::PyTraverseError;
use pyo3::gc::PyVisit;
use pyo3::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A table that is open. `tavola.Table` is derived from it.
#[pyclass(subclass, frozen, module = "tavola._tavola")]
pub struct Table {
    /// `None` after `close`.
    shared: LockedCell<Option<Arc<tavola::Table>>>,
    pub serializer: Serializer,
    /// Whether keys are always shown as `bytes`.
    pub has_binary_keys: bool,
    /// Whether the table is known to have fixed lengths, and so no flags.
    has_no_flags: AtomicBool,
    /// Whether a write waits for the disk.
    waits_for_disk: AtomicBool,
    is_private: bool,
}

impl Table {
    /// Lends the open table.
    ///
    /// # Safety
    /// Until the borrow ends, no Python code runs and the lock is not released.
    #[inline(always)]
    unsafe fn lent<'py>(&'py self, py: Python<'py>) -> PyResult<&'py tavola::Table> {
        // SAFETY: the caller's promise.
        match unsafe { self.shared.borrow(py) } {
            Some(table) => Ok(table),
            None => Err(closed(py)),
        }
    }

    /// Returns the open table for a call that may release the lock.
    #[inline]
    pub fn shared(&self, py: Python<'_>) -> PyResult<Arc<tavola::Table>> {
        match self.shared.with(py, |table| table.clone()) {
            Some(table) => Ok(table),
            None => Err(closed(py)),
        }
    }

    /// Calls a function that changes the table, with the interpreter's lock unless it waits for the
    /// disk.
    #[inline]
    pub fn change<T: Send>(
        &self,
        py: Python<'_>,
        change: impl FnOnce(&tavola::Table) -> tavola::Result<T> + Send,
    ) -> PyResult<T> {
        if self.waits_for_disk() {
            return self.change_detached(py, change);
        }
        // SAFETY: the call runs no Python code and keeps the lock.
        change(unsafe { self.lent(py)? }).or_raise(py)
    }

    /// Calls a function that changes the table, without the interpreter's lock.
    #[cold]
    pub fn change_detached<T: Send>(
        &self,
        py: Python<'_>,
        change: impl FnOnce(&tavola::Table) -> tavola::Result<T> + Send,
    ) -> PyResult<T> {
        let table = self.shared(py)?;
        py.detach(|| change(&table)).or_raise(py)
    }

    #[inline(always)]
    fn waits_for_disk(&self) -> bool {
        self.waits_for_disk.load(Ordering::Relaxed)
    }

    /// Returns the flags that the table can store.
    #[inline]
    fn stored_flags(&self, flags: u32) -> u32 {
        match self.has_no_flags.load(Ordering::Relaxed) {
            true => 0,
            false => flags,
        }
    }

    /// Returns whether a write was refused only because the table has fixed lengths and so no
    /// flags; later writes then give none.
    #[cold]
    fn learns_no_flags(&self, table: &tavola::Table, error: &tavola::Error, flags: u32) -> bool {
        let is_refused = matches!(error, tavola::Error::BadOption { .. }) && flags != 0;
        let is_fixed = is_refused && table.stats().is_ok_and(|stats| stats.fixed.is_some());
        if is_fixed {
            self.has_no_flags.store(true, Ordering::Relaxed);
        }
        is_fixed
    }

    /// Calls `write` with the flags, and again without them if the table has fixed lengths.
    #[inline]
    fn with_flags<T>(
        &self,
        table: &tavola::Table,
        flags: u32,
        mut write: impl FnMut(u32) -> tavola::Result<T>,
    ) -> tavola::Result<T> {
        let flags = self.stored_flags(flags);
        match write(flags) {
            Err(error) if self.learns_no_flags(table, &error, flags) => write(0),
            outcome => outcome,
        }
    }
}

#[cold]
fn closed(py: Python<'_>) -> PyErr {
    refused(py, "CLOSED", "the table is closed; open it again")
}

#[pymethods]
impl Table {
    #[inline]
    fn __getitem__<'py>(&self, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        match self.find(key.py(), key_of(key)?)? {
            Some(value) => Ok(value),
            None => Err(pyo3::exceptions::PyKeyError::new_err(key.clone().unbind())),
        }
    }

    fn __setitem__(&self, key: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.put(key, value)
    }

    fn __delitem__(&self, key: &Bound<'_, PyAny>) -> PyResult<()> {
        match self.delete(key)? {
            true => Ok(()),
            false => Err(pyo3::exceptions::PyKeyError::new_err(key.clone().unbind())),
        }
    }

    fn __contains__(&self, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        self.exists(key)
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        match &self.serializer {
            Serializer::Json => Ok(()),
            Serializer::Pickle { dumps, loads } | Serializer::Custom { dumps, loads, .. } => {
                visit.call(dumps)?;
                visit.call(loads)
            }
        }
    }
}

//! Waiting until a key changes.

use crate::cell::LockedCell;
use crate::error::{OrRaise, refused};
use crate::lease::wait_in_slices;
use crate::table::Table;
use crate::text::key_of;
use crate::time::duration;
use pyo3::prelude::*;

/// Waits for changes of one key.
#[pyclass(frozen, module = "tavola._tavola")]
pub struct KeyWatch {
    watch: LockedCell<Option<tavola::KeyWatch>>,
}

#[pymethods]
impl KeyWatch {
    /// Sleeps until the key changes, at most for the seconds given. Returns whether it changed.
    #[pyo3(signature = (timeout=None))]
    fn wait(&self, py: Python<'_>, timeout: Option<&Bound<'_, PyAny>>) -> PyResult<bool> {
        let limit = match timeout {
            Some(timeout) => duration("timeout", timeout)?,
            None => None,
        };
        let Some(mut watch) = self.watch.with(py, Option::take) else {
            let why = "the watch is closed, or another thread is waiting with it";
            return Err(refused(py, "CLOSED", why));
        };
        let outcome = wait_in_slices(py, limit, |slice| watch.wait(slice));
        self.watch.with(py, |place| *place = Some(watch));
        outcome
    }

    fn close(&self, py: Python<'_>) {
        drop(self.watch.with(py, Option::take));
    }
}

#[pymethods]
impl Table {
    #[pyo3(name = "_watch_key")]
    fn watch_key(&self, key: &Bound<'_, PyAny>) -> PyResult<KeyWatch> {
        let (py, key) = (key.py(), key_of(key)?);
        let watch = self.shared(py)?.watch_key(key).or_raise(py)?;
        Ok(KeyWatch {
            watch: LockedCell::new(Some(watch)),
        })
    }
}

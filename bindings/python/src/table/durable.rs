//! Durable tables: when changes are on disk.

use super::Table;
use crate::error::{OrRaise, bad_option};
use crate::time::duration;
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyString};
use std::time::Duration;
use tavola::Durability;

/// Returns the policy that `open` was given: `"commit"`, `"os"`, or a time.
pub fn durability(given: &Bound<'_, PyAny>) -> PyResult<Durability> {
    let py = given.py();
    if let Ok(word) = given.extract::<String>() {
        return match word.as_str() {
            "commit" => Ok(Durability::Commit),
            "os" => Ok(Durability::Os),
            _ => Err(bad_option(py, "durable", WANTED)),
        };
    }
    match duration("durable", given)? {
        Some(time) if !time.is_zero() && !given.is_instance_of::<pyo3::types::PyBool>() => {
            // The table keeps whole milliseconds.
            let ms = time.as_nanos().div_ceil(1_000_000);
            Ok(Durability::Within(Duration::from_millis(ms as u64)))
        }
        _ => Err(bad_option(py, "durable", WANTED)),
    }
}

const WANTED: &str = "it is \"commit\", \"os\", or a time such as 0.05 seconds";

/// Returns whether a write to a table waits for the disk.
pub fn waits(table: &tavola::Table) -> bool {
    table.durability() == Some(Durability::Commit)
}

#[pymethods]
impl Table {
    /// Return when all changes that any process has made survive a power failure.
    ///
    /// >>> import os, tavola
    /// >>> table = tavola.open(os.environ["TAVOLA_DIR"] + "/doc-home", durable=0.05)
    /// >>> table["alice"] = 10
    /// >>> table.sync()
    fn sync(&self, py: Python<'_>) -> PyResult<()> {
        self.change_detached(py, tavola::Table::sync)
    }

    /// Write a snapshot of a durable table, and remove what the journal does not need any more; it
    /// happens automatically, too. Return false if another process is just writing one.
    ///
    /// >>> import os, tavola
    /// >>> table = tavola.open(os.environ["TAVOLA_DIR"] + "/doc-home", durable="commit")
    /// >>> table.snapshot()
    /// True
    fn snapshot(&self, py: Python<'_>) -> PyResult<bool> {
        self.change_detached(py, tavola::Table::snapshot)
    }

    /// When the changes of this handle are on disk, as the option ``durable`` of ``tavola.open``:
    /// ``"commit"``, ``"os"``, or a number of seconds. It is the policy of the table, or a stricter
    /// one with which it was opened. ``None`` if the table is not durable, or open read-only.
    #[getter]
    #[pyo3(name = "durability")]
    fn get_durability<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        Ok(match self.shared(py)?.durability() {
            Some(Durability::Commit) => Some(PyString::new(py, "commit").into_any()),
            Some(Durability::Within(time)) => Some(PyFloat::new(py, time.as_secs_f64()).into_any()),
            Some(Durability::Os) => Some(PyString::new(py, "os").into_any()),
            Some(_) | None => None,
        })
    }

    /// Whether the table survives a restart of the machine.
    #[getter]
    fn is_durable(&self, py: Python<'_>) -> PyResult<bool> {
        self.shared(py)?.is_durable().or_raise(py)
    }
}

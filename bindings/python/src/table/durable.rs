//! Durable tables: when changes are on disk.

use super::Table;
use crate::error::{OrRaise, bad_option};
use crate::time::duration;
use pyo3::prelude::*;
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

    /// Whether the table survives a restart of the machine.
    #[getter]
    fn is_durable(&self, py: Python<'_>) -> PyResult<bool> {
        self.shared(py)?.is_durable().or_raise(py)
    }
}

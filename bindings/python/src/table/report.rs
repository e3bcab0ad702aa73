//! Statistics and checks, as dicts.

use super::Table;
use crate::error::OrRaise;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::time::UNIX_EPOCH;
use tavola::{CheckReport, Stats};

/// Puts fields of a struct into a dict under their own names.
macro_rules! fields {
    ($dict:expr, $from:expr, $($field:ident),* $(,)?) => {
        $($dict.set_item(stringify!($field), &$from.$field)?;)*
    };
}

fn stats_dict<'py>(py: Python<'py>, stats: &Stats) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    fields!(
        dict,
        stats,
        keys,
        payload_bytes,
        resident_bytes,
        max_size,
        fixed,
        shards,
        uids,
        tags,
        expired,
        capacity,
        probationary_bytes,
        hits,
        misses,
        writes,
        sets,
        removes,
        evicted_new,
        evicted_old,
        ghost_hits,
        ttl_ms,
        has_versions,
        segments,
        index_load,
        index_bytes,
        slab_bytes,
        uid_bytes,
        large_bytes,
        queue_and_log_bytes,
        free_bytes,
        participants,
        recoveries,
        leases_unrecorded,
        format_version,
        created_unix_s,
    );
    Ok(dict)
}

fn report_dict<'py>(py: Python<'py>, report: &CheckReport) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    fields!(
        dict,
        report,
        keys,
        bytes_reachable,
        bytes_in_use,
        problems,
        problem_count,
        copied_in_use,
    );
    dict.set_item("is_clean", report.is_clean())?;
    Ok(dict)
}

#[pymethods]
impl Table {
    /// Return numbers about the table as a dict. Sizes are in bytes. A durable table also has
    /// ``syncs``, ``journal_bytes``, ``unsynced_bytes`` and ``snapshot_unix_ms``.
    ///
    /// >>> import tavola
    /// >>> table = tavola.open("doc")
    /// >>> stats = table.stats()
    /// >>> stats["keys"], stats["capacity"] is None
    /// (0, True)
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let table = self.shared(py)?;
        let read = || Ok((table.stats()?, table.durable_stats()?));
        let (stats, journal) = py.detach(read).or_raise(py)?;
        let dict = stats_dict(py, &stats)?;
        if let Some(journal) = journal {
            fields!(dict, journal, journal_bytes, unsynced_bytes, syncs);
            let made = journal.snapshot.map(|(made, _)| made);
            let since = made.and_then(|made| made.duration_since(UNIX_EPOCH).ok());
            let ms = since.map_or(0, |since| since.as_millis() as u64);
            dict.set_item("snapshot_unix_ms", ms)?;
        }
        Ok(dict)
    }

    /// Check the whole table and return a report as a dict.
    ///
    /// >>> import tavola
    /// >>> table = tavola.open("doc")
    /// >>> report = table.check()
    /// >>> report["is_clean"], report["problems"]
    /// (True, [])
    fn check<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let table = self.shared(py)?;
        let report = py.detach(|| table.check()).or_raise(py)?;
        report_dict(py, &report)
    }

    /// Repair a damaged table, and return the report of a check afterwards.
    ///
    /// >>> import tavola
    /// >>> table = tavola.open("doc")
    /// >>> table.repair()["is_clean"]
    /// True
    fn repair<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let table = self.shared(py)?;
        let report = py.detach(|| table.repair()).or_raise(py)?;
        report_dict(py, &report)
    }

    /// Return the processes that are attached for writing, as a list of dicts.
    ///
    /// >>> import tavola
    /// >>> table = tavola.open("doc")
    /// >>> table["a"] = 1
    /// >>> import os
    /// >>> [one["pid"] == os.getpid() for one in table.participants()]
    /// [True]
    fn participants<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let table = self.shared(py)?;
        let all = py.detach(|| table.participants()).or_raise(py)?;
        let shown = all.iter().map(|one| {
            let dict = PyDict::new(py);
            fields!(
                dict,
                one,
                pid,
                is_local,
                is_stopped,
                slot,
                alive,
                attached_unix_s,
                command,
                hits,
                misses,
                writes,
                sets,
                removes,
            );
            Ok(dict)
        });
        shown.collect()
    }
}

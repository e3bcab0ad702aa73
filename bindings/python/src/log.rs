//! The log that all processes write to.

use crate::cell::LockedCell;
use crate::error::{OrRaise, bad_option, refused};
use crate::text::{bytes_of, decoded, name_of};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::ffi::OsString;
use std::io;
use std::str::FromStr;
use std::time::Duration;
use tavola::{Level, LogDrain, LogLine, LogOptions, LogReader, LogSink, LogText, Overload};

/// A log that is open; `tavola.Log` is made of it.
#[pyclass(frozen, module = "tavola._tavola")]
pub struct NativeLog {
    log: LockedCell<Option<tavola::Log>>,
}

impl NativeLog {
    fn log(&self, py: Python<'_>) -> PyResult<tavola::Log> {
        match self.log.with(py, |log| log.clone()) {
            Some(log) => Ok(log),
            None => Err(refused(py, "CLOSED", "the log is closed; open it again")),
        }
    }
}

fn overload(py: Python<'_>, name: &str) -> PyResult<Overload> {
    match name {
        "drop_oldest" => Ok(Overload::DropOldest),
        "drop_newest" => Ok(Overload::DropNewest),
        "block" => Ok(Overload::Block),
        _ => {
            let why = "it is \"drop_oldest\", \"drop_newest\" or \"block\"";
            Err(bad_option(py, "overload", why))
        }
    }
}

#[pymethods]
impl NativeLog {
    #[new]
    #[pyo3(signature = (name, size, overload_policy, mode, group, any_owner, create, stderr))]
    #[allow(clippy::too_many_arguments)] // They are the options that Python gives by name.
    fn new(
        py: Python<'_>,
        #[pyo3(from_py_with = name_of)] name: OsString,
        size: u64,
        overload_policy: &str,
        mode: u32,
        group: Option<u32>,
        any_owner: bool,
        create: bool,
        stderr: bool,
    ) -> PyResult<Self> {
        let options = LogOptions::new()
            .bytes(size)
            .overload(overload(py, overload_policy)?)
            .mode(mode)
            .any_owner(any_owner);
        let options = match group {
            Some(gid) => options.group(gid),
            None => options,
        };
        let log = py.detach(|| match create {
            true => options.open(&name),
            false => tavola::Log::open(&name),
        });
        let log = log.or_raise(py)?;
        log.show_on_stderr(stderr);
        let log = LockedCell::new(Some(log));
        Ok(Self { log })
    }

    /// Writes a line. It may wait for the drain, so it does so without the interpreter's lock if
    /// the log blocks its writers.
    fn write(&self, level: &str, text: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = text.py();
        let log = self.log(py)?;
        let Ok(level) = Level::from_str(level) else {
            let why = "it is error, warn, info, debug or trace";
            return Err(bad_option(py, "level", why));
        };
        let Some(text) = bytes_of(text)? else {
            let why = "the text of a line is str or bytes";
            return Err(pyo3::exceptions::PyTypeError::new_err(why));
        };
        match log.overload() == Overload::Block {
            true => py.detach(|| log.line(level, text)),
            false => log.line(level, text),
        }
        .or_raise(py)
    }

    fn reader(&self, py: Python<'_>) -> PyResult<NativeReader> {
        let reader = LockedCell::new(Some(self.log(py)?.reader()));
        Ok(NativeReader { reader })
    }

    fn drain(&self, py: Python<'_>) -> PyResult<NativeDrain> {
        let drain = LockedCell::new(Some(self.log(py)?.drain().or_raise(py)?));
        Ok(NativeDrain { drain })
    }

    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let log = self.log(py)?;
        let (stats, dict) = (py.detach(|| log.stats()), PyDict::new(py));
        dict.set_item("bytes", stats.bytes)?;
        dict.set_item("pieces", stats.pieces)?;
        dict.set_item("pieces_in_hand", stats.pieces_in_hand)?;
        dict.set_item("used_bytes", stats.used_bytes)?;
        dict.set_item("lines", stats.lines)?;
        dict.set_item("awaiting", stats.awaiting)?;
        dict.set_item("dropped", stats.dropped)?;
        dict.set_item("has_drain", stats.has_drain)?;
        Ok(dict)
    }

    #[getter]
    fn path(&self, py: Python<'_>) -> PyResult<OsString> {
        Ok(self.log(py)?.path().as_os_str().to_owned())
    }

    fn close(&self, py: Python<'_>) {
        drop(self.log.with(py, Option::take));
    }
}

/// A line: time in seconds since 1970, level, process id, thread id, text, bytes cut off.
type Line<'py> = (f64, &'static str, u32, u32, Bound<'py, PyAny>, u32);

fn line_of<'py>(py: Python<'py>, line: &LogLine<'_>) -> Line<'py> {
    let text = decoded(py, line.text);
    let text = text.unwrap_or_else(|| PyBytes::new(py, line.text).into_any());
    let time = line.unix_ns as f64 / 1e9;
    (time, line.level.name(), line.pid, line.tid, text, line.cut)
}

/// Reads the lines of a log beside its drain.
#[pyclass(frozen, module = "tavola._tavola")]
pub struct NativeReader {
    reader: LockedCell<Option<LogReader>>,
}

#[pymethods]
impl NativeReader {
    /// Returns the lines that it has not returned before; with `settled` those of the last
    /// millisecond come later, so that the order of time holds over all calls.
    fn lines<'py>(&self, py: Python<'py>, settled: bool) -> PyResult<Vec<Line<'py>>> {
        let Some(mut reader) = self.reader.with(py, Option::take) else {
            return Err(refused(
                py,
                "CLOSED",
                "another thread is reading with this reader",
            ));
        };
        let lines = match settled {
            true => reader.follow().map(|line| line_of(py, &line)).collect(),
            false => reader.lines().map(|line| line_of(py, &line)).collect(),
        };
        self.reader.with(py, |place| *place = Some(reader));
        Ok(lines)
    }

    fn skip(&self, py: Python<'_>) {
        self.reader
            .with(py, |reader| reader.as_mut().map(LogReader::skip));
    }

    #[getter]
    fn missed(&self, py: Python<'_>) -> u64 {
        self.reader
            .with(py, |reader| reader.as_ref().map_or(0, LogReader::missed))
    }
}

/// Writes lines to a Python object with a method `write` for `bytes`.
struct PythonFile(Py<PyAny>);

impl io::Write for PythonFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Python::attach(|py| {
            let file = self.0.bind(py);
            file.call_method1("write", (PyBytes::new(py, bytes),))?;
            Ok(bytes.len())
        })
        .map_err(|error: PyErr| io::Error::other(error))
    }

    fn flush(&mut self) -> io::Result<()> {
        Python::attach(|py| self.0.bind(py).call_method0("flush").map(|_| ()))
            .map_err(|error: PyErr| io::Error::other(error))
    }
}

/// The drain of a log.
#[pyclass(frozen, module = "tavola._tavola")]
pub struct NativeDrain {
    drain: LockedCell<Option<LogDrain>>,
}

#[pymethods]
impl NativeDrain {
    /// Writes the pending lines to a binary file; `all` includes those of the last millisecond.
    fn write_out(&self, file: &Bound<'_, PyAny>, all: bool) -> PyResult<usize> {
        let py = file.py();
        let Some(mut drain) = self.drain.with(py, Option::take) else {
            return Err(refused(
                py,
                "CLOSED",
                "the drain is closed, or in use by a thread",
            ));
        };
        let mut sink = LogText::new(PythonFile(file.clone().unbind()));
        let outcome = py.detach(|| write_out(&mut drain, &mut sink, all));
        self.drain.with(py, |place| *place = Some(drain));
        outcome.or_raise(py)
    }

    /// Sleeps for at most 10 ms; returns earlier if many lines are written.
    fn wait(&self, py: Python<'_>) {
        if let Some(drain) = self.drain.with(py, Option::take) {
            py.detach(|| drain.wait(Duration::from_millis(10)));
            self.drain.with(py, |place| *place = Some(drain));
        }
    }

    fn close(&self, py: Python<'_>) {
        drop(self.drain.with(py, Option::take));
    }
}

fn write_out(drain: &mut LogDrain, sink: &mut dyn LogSink, all: bool) -> tavola::Result<usize> {
    match all {
        true => drain.finish(sink),
        false => drain.pass(sink),
    }
}

//! Errors of the library as exceptions: the class by the status, the sentence unchanged.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyType};
use tavola::Error;

/// The exception classes of `tavola._errors` by the name of the status.
static CLASSES: PyOnceLock<Py<PyDict>> = PyOnceLock::new();

/// Returns the name of the status, as in the C library without `TAVOLA_ERR_`.
fn status(error: &Error) -> &'static str {
    match error {
        Error::NotFound { .. } => "NO_TABLE",
        Error::AlreadyExists { .. } => "TABLE_EXISTS",
        Error::Full { .. } => "FULL",
        Error::Corrupt { .. } => "CORRUPT",
        Error::NotATable { .. } => "NOT_A_TABLE",
        Error::Version { .. } => "VERSION",
        Error::Endianness { .. } => "ENDIANNESS",
        Error::Permission { .. } => "PERMISSION",
        Error::ReadOnly => "READ_ONLY",
        Error::BadName { .. } => "BAD_NAME",
        Error::BadOption { .. } => "BAD_OPTION",
        Error::TooManyParticipants { .. } => "TOO_MANY_PARTICIPANTS",
        Error::TooLarge { .. } => "TOO_LARGE",
        Error::Lengths { .. } => "LENGTHS",
        Error::NoUids => "NO_UIDS",
        Error::NotThere { .. } => "NO_OBJECT",
        Error::AlreadyThere { .. } => "OBJECT_EXISTS",
        Error::NotHeld { .. } => "NOT_HELD",
        Error::NotACounter => "NOT_A_COUNTER",
        Error::Reentrant => "REENTRANT",
        Error::Io { .. } => "IO",
        Error::AlreadyDrained => "ALREADY_DRAINED",
        Error::Sink { .. } => "SINK",
        Error::Compute { .. } | Error::NotComputed { .. } => "COMPUTE",
        Error::Busy { .. } => "BUSY",
        Error::Conflict => "CONFLICT",
        Error::TransactionTooLarge { .. } => "TOO_MANY_CHANGES",
        Error::NotDurable { .. } => "NOT_DURABLE",
        Error::KeyTooLong { .. } => "KEY_TOO_LONG",
        Error::DamagedJournal { .. } => "DAMAGED_JOURNAL",
        Error::InUseElsewhere { .. } => "IN_USE_ELSEWHERE",
        _ => "OTHER",
    }
}

/// Returns the file that the error is about.
fn path(error: &Error) -> Option<&std::path::Path> {
    match error {
        Error::NotFound { path }
        | Error::AlreadyExists { path }
        | Error::Permission { path, .. }
        | Error::Io { path, .. }
        | Error::NotDurable { path, .. }
        | Error::DamagedJournal { path, .. }
        | Error::InUseElsewhere { path } => Some(path),
        _ => None,
    }
}

/// Returns the `errno` that fits the error.
fn number(error: &Error) -> Option<i32> {
    match error {
        Error::NotFound { .. } => Some(2),
        Error::AlreadyExists { .. } => Some(17),
        Error::Permission { .. } => error.os_error().or(Some(13)),
        other => other.os_error(),
    }
}

fn class<'py>(py: Python<'py>, status: &str) -> PyResult<Bound<'py, PyType>> {
    let classes = CLASSES.get_or_try_init(py, || {
        let found = py.import("tavola._errors")?.getattr("BY_STATUS")?;
        PyResult::Ok(found.cast_into::<PyDict>()?.unbind())
    })?;
    let found = classes.bind(py).get_item(status)?;
    let found = match found {
        Some(class) => class,
        None => classes.bind(py).as_any().get_item("OTHER")?,
    };
    Ok(found.cast_into::<PyType>()?)
}

fn build(py: Python<'_>, error: &Error) -> PyResult<PyErr> {
    let made = class(py, status(error))?.call1((error.to_string(),))?;
    if let Some(number) = number(error) {
        made.setattr("errno", number)?;
    }
    if let Some(path) = path(error) {
        made.setattr("filename", path.as_os_str())?;
    }
    Ok(PyErr::from_value(made))
}

/// Returns the exception for an error of the library.
#[cold]
pub fn exception(py: Python<'_>, error: &Error) -> PyErr {
    build(py, error).unwrap_or_else(|failed| failed)
}

/// Returns the exception of a status with a sentence of this binding.
#[cold]
pub fn refused(py: Python<'_>, status: &str, sentence: impl Into<String>) -> PyErr {
    let made = class(py, status).and_then(|class| class.call1((sentence.into(),)));
    made.map_or_else(|failed| failed, PyErr::from_value)
}

/// Returns the exception of a status with its sentence, the error of the system, and the file.
#[cold]
pub fn system_refused(
    py: Python<'_>,
    status: &str,
    sentence: String,
    number: Option<i32>,
    path: &std::path::Path,
) -> PyErr {
    let build = || {
        let made = class(py, status)?.call1((sentence,))?;
        if let Some(number) = number {
            made.setattr("errno", number)?;
        }
        made.setattr("filename", path.as_os_str())?;
        PyResult::Ok(PyErr::from_value(made))
    };
    build().unwrap_or_else(|failed| failed)
}

/// Returns the exception for an option of this binding with an invalid value.
#[cold]
pub fn bad_option(py: Python<'_>, option: &'static str, why: impl Into<String>) -> PyErr {
    let why = why.into();
    exception(py, &Error::BadOption { option, why })
}

/// Turns errors of the library into exceptions.
pub trait OrRaise<T> {
    /// Returns the value, or the exception for the error.
    fn or_raise(self, py: Python<'_>) -> PyResult<T>;
}

impl<T> OrRaise<T> for tavola::Result<T> {
    #[inline(always)]
    fn or_raise(self, py: Python<'_>) -> PyResult<T> {
        self.map_err(|error| exception(py, &error))
    }
}

//! Constant files: read, walked and made.

use crate::cell::LockedCell;
use crate::error::{refused, system_refused};
use crate::text::{bytes_of, key_of, name_of};
use crate::time::duration;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyTuple};
use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tavola_cdb::{
    Constant, ConstantRecords, Error, Followed, Format, FrozenWriter, Keep, Put, Record, Reopen,
    Writer,
};

/// Raises an error of a constant file.
#[cold]
fn exception(py: Python<'_>, error: &Error) -> PyErr {
    use std::io::ErrorKind;
    let sentence = error.to_string();
    let status = match error {
        Error::System { path, source, .. } => {
            let status = match source.kind() {
                ErrorKind::NotFound => "NO_TABLE",
                ErrorKind::PermissionDenied => "PERMISSION",
                ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "FULL",
                _ => "IO",
            };
            return system_refused(py, status, sentence, source.raw_os_error(), path);
        }
        Error::NotConstant { .. } => "NOT_CONSTANT",
        Error::Damaged { .. } => "CORRUPT",
        Error::Lost { .. } => "FILE_LOST",
        Error::Full { .. } => "FULL",
        Error::TooLong { .. } => "TOO_LARGE",
        Error::Failed { .. } => "WRITE_FAILED",
        _ => "OTHER",
    };
    refused(py, status, sentence)
}

trait OrRaise<T> {
    fn or_raise(self, py: Python<'_>) -> PyResult<T>;
}

impl<T> OrRaise<T> for tavola_cdb::Result<T> {
    #[inline(always)]
    fn or_raise(self, py: Python<'_>) -> PyResult<T> {
        self.map_err(|error| exception(py, &error))
    }
}

/// The longest time between two looks at a name: a longer one is not a number of nanoseconds.
const CENTURY: Duration = Duration::from_secs(100 * 365 * 86_400);

/// How a file is open. A clone is kept by what walks the file.
enum Open {
    /// Stays the file that was opened until it is refreshed.
    Fixed(Arc<Constant>),
    Followed(Arc<Followed<Constant>>),
    Closed,
}

/// An open constant file.
#[pyclass(frozen, module = "tavola._tavola")]
pub struct ConstantFile {
    open: LockedCell<Open>,
}

impl ConstantFile {
    /// Returns the file as it is now.
    fn file(&self, py: Python<'_>) -> PyResult<Arc<Constant>> {
        let followed = self.open.with(py, |open| match open {
            Open::Fixed(file) => Some(Ok(Arc::clone(file))),
            Open::Followed(followed) => Some(Err(Arc::clone(followed))),
            Open::Closed => None,
        });
        match followed {
            Some(Ok(file)) => Ok(file),
            Some(Err(followed)) => followed.current().or_raise(py),
            None => Err(refused(py, "CLOSED", "the file was closed; open it again")),
        }
    }
}

/// Copies a value, or a key, into an object.
fn object<'py>(py: Python<'py>, span: &tavola_cdb::Span<'_>) -> PyResult<Bound<'py, PyBytes>> {
    PyBytes::new_with(py, span.len(), |room| span.copy_to(room).or_raise(py))
}

fn format_of(file: &Constant) -> &'static str {
    match file {
        Constant::Cdb(cdb) if cdb.format() == Format::Cdb => "cdb",
        Constant::Cdb(_) => "cdb64",
        Constant::Frozen(_) => "frozen",
    }
}

#[pymethods]
impl ConstantFile {
    #[new]
    #[pyo3(signature = (path, follow=None))]
    fn new(
        py: Python<'_>,
        #[pyo3(from_py_with = name_of)] path: OsString,
        follow: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let follow = follow.map(|time| duration("follow", time)).transpose()?;
        let file = py.detach(|| Constant::open(&path)).or_raise(py)?;
        let open = match follow {
            None => Open::Fixed(Arc::new(file)),
            Some(interval) => {
                let interval = interval.unwrap_or(CENTURY).min(CENTURY);
                Open::Followed(Arc::new(Followed::every(file, interval)))
            }
        };
        Ok(Self {
            open: LockedCell::new(open),
        })
    }

    /// Returns the first value of a key.
    fn get<'py>(&self, key: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let py = key.py();
        let file = self.file(py)?;
        let found = file.find(key_of(key)?).next().transpose().or_raise(py)?;
        found.map(|record| object(py, &record.value)).transpose()
    }

    /// Returns all values of a key.
    fn get_all<'py>(&self, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        let (py, file) = (key.py(), self.file(key.py())?);
        let all = PyList::empty(py);
        for record in file.find(key_of(key)?) {
            all.append(object(py, &record.or_raise(py)?.value)?)?;
        }
        Ok(all)
    }

    fn contains(&self, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        let (py, file) = (key.py(), self.file(key.py())?);
        let found = file.find(key_of(key)?).next().transpose().or_raise(py)?;
        Ok(found.is_some())
    }

    /// Returns how many records there are.
    fn records(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(self.file(py)?.len())
    }

    fn size_bytes(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(self.file(py)?.size_bytes())
    }

    fn format(&self, py: Python<'_>) -> PyResult<&'static str> {
        Ok(format_of(&*self.file(py)?))
    }

    /// Checks the whole file, and returns how many records there are.
    fn check(&self, py: Python<'_>) -> PyResult<u64> {
        let file = self.file(py)?;
        py.detach(|| file.check()).or_raise(py)
    }

    /// Opens the file that has the name now, if it is another one. Returns whether it is.
    fn refresh(&self, py: Python<'_>) -> PyResult<bool> {
        let followed = self.open.with(py, |open| match open {
            Open::Followed(followed) => Some(Arc::clone(followed)),
            _ => None,
        });
        if let Some(followed) = followed {
            return followed.refresh().or_raise(py);
        }
        let newer = self.file(py)?.reopened().or_raise(py)?;
        let is_newer = newer.is_some();
        if let Some(newer) = newer {
            self.open
                .with(py, |open| *open = Open::Fixed(Arc::new(newer)));
        }
        Ok(is_newer)
    }

    /// Returns a walk over all records, or over the first one of each key.
    fn scan(&self, py: Python<'_>, only_first: bool) -> PyResult<ConstantScan> {
        let file = self.file(py)?;
        // SAFETY: the bytes of the file are where `file` leads to, and it is kept beside the walk,
        // which is dropped before it.
        let lasting: &'static Constant = unsafe { &*Arc::as_ptr(&file) };
        Ok(ConstantScan {
            walk: LockedCell::new(Walk {
                records: lasting.records(),
                file,
                only_first,
            }),
        })
    }

    fn close(&self, py: Python<'_>) {
        // What was open is dropped outside of the cell.
        let open = self
            .open
            .with(py, |open| std::mem::replace(open, Open::Closed));
        drop(open);
    }
}

/// The records of a file. It stays open until the walk is dropped.
#[pyclass(frozen, module = "tavola._tavola")]
pub struct ConstantScan {
    walk: LockedCell<Walk>,
}

struct Walk {
    /// Dropped before the file, which it borrows.
    records: ConstantRecords<'static>,
    file: Arc<Constant>,
    only_first: bool,
}

impl Walk {
    /// Returns the next record that a search finds, or any if all are wanted.
    fn next(&mut self) -> tavola_cdb::Result<Option<Record<'static>>> {
        let mut key = Vec::new();
        while let Some(record) = self.records.next().transpose()? {
            let Constant::Cdb(cdb) = &*self.file else {
                return Ok(Some(record));
            };
            if !self.only_first {
                return Ok(Some(record));
            }
            key.clear();
            record.key.append_to(&mut key)?;
            let first = cdb.find(&key).next().transpose()?;
            if first.is_some_and(|first| first.key.position() == record.key.position()) {
                return Ok(Some(record));
            }
        }
        Ok(None)
    }
}

#[pymethods]
impl ConstantScan {
    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let Some(record) = self.walk.with(py, Walk::next).or_raise(py)? else {
            return Ok(None);
        };
        let pair = [object(py, &record.key)?, object(py, &record.value)?];
        PyTuple::new(py, pair).map(Some)
    }
}

enum Making {
    // The larger one, by far.
    Cdb(Box<Writer>),
    Frozen(Box<FrozenWriter>),
    Finished,
}

/// A constant file that is being made.
#[pyclass(frozen, module = "tavola._tavola")]
pub struct ConstantWriter {
    making: LockedCell<Making>,
}

fn begin(path: &Path, format: &str, mode: Option<u32>, sync: bool) -> tavola_cdb::Result<Making> {
    let cdb = |format| {
        let options = Writer::options().format(format).sync(sync);
        match mode {
            None => options,
            Some(mode) => options.mode(mode),
        }
    };
    let frozen = || {
        let options = FrozenWriter::options().keep(Keep::First).sync(sync);
        match mode {
            None => options,
            Some(mode) => options.mode(mode),
        }
    };
    Ok(match format {
        "cdb" => Making::Cdb(Box::new(cdb(Format::Cdb).create(path)?)),
        "cdb64" => Making::Cdb(Box::new(cdb(Format::Cdb64).create(path)?)),
        _ => Making::Frozen(Box::new(frozen().create(path)?)),
    })
}

const FINISHED: &str = "the file is finished or given up; make another one in its place";
const FROZEN: &str = "a frozen file takes add only, and keeps the first value of a key";

#[pymethods]
impl ConstantWriter {
    #[new]
    fn new(
        py: Python<'_>,
        #[pyo3(from_py_with = name_of)] path: OsString,
        format: &str,
        mode: Option<u32>,
        sync: bool,
    ) -> PyResult<Self> {
        if !["cdb", "cdb64", "frozen"].contains(&format) {
            let why = format!("there is no format {format:?}; give cdb, cdb64 or frozen");
            return Err(crate::error::bad_option(py, "format", why));
        }
        let making = py.detach(|| begin(Path::new(&path), format, mode, sync));
        Ok(Self {
            making: LockedCell::new(making.or_raise(py)?),
        })
    }

    /// Puts a record. Returns whether the key was there, as far as the mode looks.
    fn put(&self, key: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>, mode: &str) -> PyResult<bool> {
        let py = key.py();
        let (key, value) = (key_of(key)?, value_of(value)?);
        let put = match mode {
            "add" => Put::Add,
            "insert" => Put::Insert,
            "replace" => Put::Replace,
            "replace0" => Put::ReplaceZero,
            _ => Put::Warn,
        };
        let done = self.making.with(py, |making| match making {
            Making::Cdb(cdb) => Some(cdb.put(key, value, put)),
            Making::Frozen(frozen) if put == Put::Add => {
                Some(frozen.put(key, value).map(|()| false))
            }
            Making::Frozen(_) => None,
            Making::Finished => None,
        });
        match done {
            Some(done) => done.or_raise(py),
            None if self.is_finished(py) => Err(refused(py, "CLOSED", FINISHED)),
            None => Err(refused(py, "BAD_OPTION", FROZEN)),
        }
    }

    /// Gives the file its name. Returns how many records it has.
    fn finish(&self, py: Python<'_>) -> PyResult<u64> {
        let making = self
            .making
            .with(py, |making| std::mem::replace(making, Making::Finished));
        match making {
            Making::Cdb(cdb) => {
                let records = cdb.len();
                py.detach(|| cdb.finish()).or_raise(py)?;
                Ok(records)
            }
            Making::Frozen(frozen) => py.detach(|| frozen.finish()).or_raise(py),
            Making::Finished => Err(refused(py, "CLOSED", FINISHED)),
        }
    }

    /// Gives the file up, if it is not finished. The old file stays.
    fn abandon(&self, py: Python<'_>) {
        let making = self
            .making
            .with(py, |making| std::mem::replace(making, Making::Finished));
        drop(making);
    }

    #[getter]
    fn is_finished(&self, py: Python<'_>) -> bool {
        self.making
            .with(py, |making| matches!(making, Making::Finished))
    }
}

fn value_of<'a>(value: &'a Bound<'_, PyAny>) -> PyResult<&'a [u8]> {
    bytes_of(value)?.ok_or_else(|| {
        pyo3::exceptions::PyTypeError::new_err("a value is str or bytes; convert it first")
    })
}

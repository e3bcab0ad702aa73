//! Calls that read one key.

use super::Table;
use crate::error::OrRaise;
use crate::text::key_of;
use crate::time::left;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::cell::Cell;

/// Values up to this size are read into memory of the thread, from which the object is made.
const SCRATCH: usize = 64 * 1024;

thread_local! {
    static BUFFER: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// Lends memory of this thread. A call within a call, from Python code that decodes a value, gets
/// other memory.
#[inline(always)]
pub fn with_scratch<T>(act: impl FnOnce(&mut [u8]) -> T) -> T {
    let mut buffer = BUFFER.take();
    if buffer.is_empty() {
        buffer = vec![0; SCRATCH];
    }
    let outcome = act(&mut buffer);
    BUFFER.set(buffer);
    outcome
}

impl Table {
    /// Returns the value of a key, or `None` if it is missing.
    #[inline]
    pub fn find<'py>(&self, py: Python<'py>, key: &[u8]) -> PyResult<Option<Bound<'py, PyAny>>> {
        with_scratch(|buffer| {
            // SAFETY: the read runs no Python code and keeps the lock.
            let table = unsafe { self.lent(py)? };
            match table.get_entry_to_slice(key, buffer).or_raise(py)? {
                None => Ok(None),
                Some((len, details)) => match buffer.get(..len) {
                    Some(value) => {
                        let flags = details.attributes.flags;
                        self.serializer.decode(py, value, flags).map(Some)
                    }
                    None => self.find_large(py, key, len),
                },
            }
        })
    }

    /// Reads a value that is longer than the memory of the thread.
    #[cold]
    fn find_large<'py>(
        &self,
        py: Python<'py>,
        key: &[u8],
        mut len: usize,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let table = self.shared(py)?;
        loop {
            let mut found = None;
            let object = PyBytes::new_with(py, len, |out| {
                let table = &table;
                found = py
                    .detach(|| table.get_entry_to_slice(key, out))
                    .or_raise(py)?;
                Ok(())
            })?;
            match found {
                None => return Ok(None),
                Some((now, details)) if now <= len => {
                    let (value, flags) = (&object.as_bytes()[..now], details.attributes.flags);
                    let decoded = self.serializer.try_decode(py, value, flags)?;
                    return Ok(Some(match decoded {
                        Some(decoded) => decoded,
                        None if now == len => object.into_any(),
                        None => PyBytes::new(py, value).into_any(),
                    }));
                }
                // It was replaced by a longer one meanwhile.
                Some((now, _)) => len = now,
            }
        }
    }

    /// Returns the value with its flags, TTL and token.
    pub fn entry(&self, py: Python<'_>, key: &[u8]) -> PyResult<Option<tavola::Entry>> {
        // SAFETY: the read runs no Python code and keeps the lock.
        unsafe { self.lent(py)? }.get_entry(key).or_raise(py)
    }
}

#[pymethods]
impl Table {
    /// Return whether a key exists; the same as ``key in table``.
    ///
    /// >>> import tavola
    /// >>> table = tavola.open("doc")
    /// >>> table["alice"] = 1
    /// >>> table.exists("alice"), table.exists("nobody")
    /// (True, False)
    pub fn exists(&self, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        let (py, key) = (key.py(), key_of(key)?);
        // SAFETY: the read runs no Python code and keeps the lock.
        unsafe { self.lent(py)? }.contains(key).or_raise(py)
    }

    /// Return the stored bytes of a key and their flags, or ``None`` if it is missing.
    ///
    /// >>> import tavola
    /// >>> table = tavola.open("doc")
    /// >>> table["n"] = 42
    /// >>> table.get_raw("n")
    /// (b'42', 1409417216)
    fn get_raw<'py>(
        &self,
        key: &Bound<'py, PyAny>,
    ) -> PyResult<Option<(Bound<'py, PyBytes>, u32)>> {
        let py = key.py();
        let entry = self.entry(py, key_of(key)?)?;
        Ok(entry.map(|entry| (PyBytes::new(py, &entry.value), entry.attributes.flags)))
    }

    /// Return the length of the stored bytes, or ``None`` if the key is missing.
    ///
    /// >>> import tavola
    /// >>> table = tavola.open("doc")
    /// >>> table["page"] = "<p>"
    /// >>> table.value_size("page")
    /// 3
    fn value_size(&self, key: &Bound<'_, PyAny>) -> PyResult<Option<usize>> {
        let (py, key) = (key.py(), key_of(key)?);
        // SAFETY: the read runs no Python code and keeps the lock.
        unsafe { self.lent(py)? }.value_len(key).or_raise(py)
    }

    /// Return the seconds until a key expires, or ``None`` if it never does or is missing.
    ///
    /// >>> import tavola
    /// >>> table = tavola.open("doc")
    /// >>> table.set("page", "<p>", ttl=60)
    /// >>> 59 < table.ttl("page") <= 60
    /// True
    fn ttl(&self, key: &Bound<'_, PyAny>) -> PyResult<Option<f64>> {
        let (py, key) = (key.py(), key_of(key)?);
        // SAFETY: the read runs no Python code and keeps the lock.
        let found = unsafe { self.lent(py)? }.ttl(key).or_raise(py)?;
        Ok(found.and_then(left))
    }

    /// Return the names of the tags of a key, or ``None`` if it is missing.
    ///
    /// >>> import tavola
    /// >>> table = tavola.open("doc")
    /// >>> table.set("page", "<p>", tags=["news"])
    /// >>> table.tags_of("page")
    /// ['news']
    fn tags_of<'py>(&self, key: &Bound<'py, PyAny>) -> PyResult<Option<Vec<Bound<'py, PyAny>>>> {
        let (py, key) = (key.py(), key_of(key)?);
        // SAFETY: the read runs no Python code and keeps the lock.
        let found = unsafe { self.lent(py)? }.tags_of(key).or_raise(py)?;
        let shown = |name: &Vec<u8>| crate::text::key_object(py, name, false);
        Ok(found.map(|names| names.iter().map(shown).collect()))
    }

    /// Return a part of the stored bytes of a key, or ``None`` if it is missing.
    ///
    /// >>> import tavola
    /// >>> table = tavola.open("doc")
    /// >>> table["song"] = "do re mi"
    /// >>> table.get_range("song", 3, 2)
    /// b're'
    #[pyo3(signature = (key, start=0, size=None))]
    fn get_range<'py>(
        &self,
        key: &Bound<'py, PyAny>,
        start: u64,
        size: Option<usize>,
    ) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let (py, key, size) = (key.py(), key_of(key)?, size.unwrap_or(usize::MAX));
        let table = self.shared(py)?;
        let part = py
            .detach(|| table.get_range(key, start, size))
            .or_raise(py)?;
        Ok(part.map(|part| PyBytes::new(py, &part)))
    }
}

//! Calls that write one key.

use super::{Table, TagHandles};
use crate::codec::Encoded;
use crate::text::{bytes_of, key_of};
use crate::time::{duration, expiry};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tavola::{Attributes, Condition, Expiry, StoreOptions, Stored};

/// Values from this size on are written without the interpreter's lock.
const LARGE: usize = 64 * 1024;

/// A value on its way to a key.
pub struct Write<'a> {
    pub key: &'a [u8],
    pub value: &'a [u8],
    pub flags: u32,
    pub expiry: Expiry,
    pub tags: tavola::Tags,
    pub condition: Condition,
}

/// What a caller gave to be written to a key, encoded.
pub struct Given<'a> {
    pub key: &'a [u8],
    encoded: Encoded<'a>,
    flags: u32,
    expiry: Expiry,
    tags: tavola::Tags,
}

impl Given<'_> {
    /// Returns it as a write under a condition.
    pub fn write<'w>(&'w self, py: Python<'w>, condition: Condition) -> Write<'w> {
        Write {
            key: self.key,
            value: self.encoded.as_slice(py),
            flags: self.flags,
            expiry: self.expiry,
            tags: self.tags,
            condition,
        }
    }
}

impl Table {
    /// Reads the arguments of a call that writes a key.
    pub fn given<'a>(
        &self,
        key: &'a Bound<'_, PyAny>,
        value: &'a Bound<'_, PyAny>,
        ttl: Option<&Bound<'_, PyAny>>,
        tags: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Given<'a>> {
        let expiry = expiry(ttl)?;
        let tags = tags.map_or(Ok(tavola::Tags::NONE), |tags| TagHandles::of(self, tags))?;
        let (encoded, flags) = self.serializer.encode(value)?;
        Ok(Given {
            key: key_of(key)?,
            encoded,
            flags,
            expiry,
            tags,
        })
    }

    /// Stores a value; returns whether the condition held.
    #[inline]
    pub fn store(&self, py: Python<'_>, write: &Write<'_>) -> PyResult<Stored> {
        if write.value.len() >= LARGE {
            return self.change_detached(py, |table| self.store_in(table, write));
        }
        self.change(py, |table| self.store_in(table, write))
    }

    #[inline]
    fn store_in(&self, table: &tavola::Table, write: &Write<'_>) -> tavola::Result<Stored> {
        self.with_flags(table, write.flags, |flags| {
            let attributes = Attributes {
                expiry: write.expiry,
                flags,
            };
            let (key, value) = (write.key, write.value);
            if write.condition == Condition::Always && write.tags.is_empty() {
                table.set_with(key, value, attributes)?;
                return Ok(Stored::Done(tavola::CasToken(0)));
            }
            let how = StoreOptions {
                condition: write.condition,
                attributes: Some(attributes),
                tags: &write.tags,
                ..StoreOptions::default()
            };
            table.store(key, value, &how)
        })
    }

    /// Sets a key without attributes.
    #[inline]
    pub fn put(&self, key: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let (py, (encoded, flags)) = (key.py(), self.serializer.encode(value)?);
        let write = Write {
            key: key_of(key)?,
            value: encoded.as_slice(py),
            flags,
            expiry: Expiry::Default,
            tags: tavola::Tags::NONE,
            condition: Condition::Always,
        };
        self.store(py, &write).map(|_| ())
    }

    /// Stores an object with attributes; returns whether the condition held.
    pub fn store_object(
        &self,
        key: &Bound<'_, PyAny>,
        value: &Bound<'_, PyAny>,
        ttl: Option<&Bound<'_, PyAny>>,
        tags: Option<&Bound<'_, PyAny>>,
        condition: Condition,
    ) -> PyResult<Stored> {
        let (py, given) = (key.py(), self.given(key, value, ttl, tags)?);
        self.store(py, &given.write(py, condition))
    }

    /// Returns the bytes that `append` and `prepend` add.
    pub(super) fn more<'a>(&self, more: &'a Bound<'_, PyAny>) -> PyResult<Encoded<'a>> {
        if let Some(bytes) = bytes_of(more)? {
            return Ok(Encoded::Lent(bytes));
        }
        match self.serializer.encode(more)? {
            (bytes @ Encoded::Object(_), 0) => Ok(bytes),
            _ => Err(PyTypeError::new_err(
                "only str and bytes can be appended or prepended",
            )),
        }
    }
}

type Object<'a, 'py> = &'a Bound<'py, PyAny>;

/// Returns the time of a key that is touched; `None` of Python is never.
fn touched(ttl: Object<'_, '_>) -> PyResult<Expiry> {
    match ttl.is_none() {
        true => Ok(Expiry::Never),
        false => Ok(duration("ttl", ttl)?.map_or(Expiry::Never, Expiry::After)),
    }
}

#[pymethods]
impl Table {
    /// Set a key only if it is missing. Return whether it was set.
    ///
    /// >>> import tavola
    /// >>> table = tavola.open("doc")
    /// >>> table.add("seat 7", "ann"), table.add("seat 7", "bob"), table["seat 7"]
    /// (True, False, 'ann')
    #[pyo3(signature = (key, value, ttl=None, tags=None))]
    fn add(
        &self,
        key: Object<'_, '_>,
        value: Object<'_, '_>,
        ttl: Option<Object<'_, '_>>,
        tags: Option<Object<'_, '_>>,
    ) -> PyResult<bool> {
        let stored = self.store_object(key, value, ttl, tags, Condition::Absent)?;
        Ok(matches!(stored, Stored::Done(_)))
    }

    /// Set a key only if it exists. Return whether it was set.
    ///
    /// >>> import tavola
    /// >>> table = tavola.open("doc")
    /// >>> table.replace("nobody", 1)
    /// False
    #[pyo3(signature = (key, value, ttl=None, tags=None))]
    fn replace(
        &self,
        key: Object<'_, '_>,
        value: Object<'_, '_>,
        ttl: Option<Object<'_, '_>>,
        tags: Option<Object<'_, '_>>,
    ) -> PyResult<bool> {
        let stored = self.store_object(key, value, ttl, tags, Condition::Present)?;
        Ok(matches!(stored, Stored::Done(_)))
    }

    /// Set the stored bytes of a key and their flags.
    ///
    /// >>> import tavola
    /// >>> table = tavola.open("doc")
    /// >>> table.set_raw("n", b"42", 1409417216)
    /// >>> table["n"]
    /// 42
    #[pyo3(signature = (key, value, flags=0, ttl=None))]
    fn set_raw(
        &self,
        key: Object<'_, '_>,
        value: &Bound<'_, PyBytes>,
        flags: u32,
        ttl: Option<Object<'_, '_>>,
    ) -> PyResult<()> {
        let write = Write {
            key: key_of(key)?,
            value: value.as_bytes(),
            flags,
            expiry: expiry(ttl)?,
            tags: tavola::Tags::NONE,
            condition: Condition::Always,
        };
        self.store(key.py(), &write).map(|_| ())
    }

    /// Append ``str`` or ``bytes`` to the value of a key, whose kind does not change. Return false
    /// if the key is missing.
    ///
    /// >>> import tavola
    /// >>> table = tavola.open("doc")
    /// >>> table["log"] = "a"
    /// >>> table.append("log", "b"), table["log"]
    /// (True, 'ab')
    fn append(&self, key: Object<'_, '_>, value: Object<'_, '_>) -> PyResult<bool> {
        let (py, more) = (key.py(), self.more(value)?);
        let (key, more) = (key_of(key)?, more.as_slice(py));
        self.change(py, |table| table.append(key, more))
    }

    /// Prepend ``str`` or ``bytes`` to the value of a key. Return false if the key is missing.
    ///
    /// >>> import tavola
    /// >>> table = tavola.open("doc")
    /// >>> table["log"] = "b"
    /// >>> table.prepend("log", "a"), table["log"]
    /// (True, 'ab')
    fn prepend(&self, key: Object<'_, '_>, value: Object<'_, '_>) -> PyResult<bool> {
        let (py, more) = (key.py(), self.more(value)?);
        let (key, more) = (key_of(key)?, more.as_slice(py));
        self.change(py, |table| table.prepend(key, more))
    }

    /// Remove a key. Return whether it existed.
    ///
    /// >>> import tavola
    /// >>> table = tavola.open("doc")
    /// >>> table["alice"] = 1
    /// >>> table.delete("alice"), table.delete("alice")
    /// (True, False)
    pub fn delete(&self, key: Object<'_, '_>) -> PyResult<bool> {
        let (py, key) = (key.py(), key_of(key)?);
        self.change(py, |table| table.remove(key))
    }

    /// Change the TTL of a key to so many seconds; ``None`` means that it never expires. Return
    /// false if the key is missing.
    ///
    /// >>> import tavola
    /// >>> table = tavola.open("doc")
    /// >>> table["alice"] = 1
    /// >>> table.touch("alice", 60)
    /// True
    fn touch(&self, key: Object<'_, '_>, ttl: Object<'_, '_>) -> PyResult<bool> {
        let (py, key, expiry) = (key.py(), key_of(key)?, touched(ttl)?);
        self.change(py, |table| table.touch(key, expiry))
    }

    /// Remove the TTL of a key. Return false if the key is missing.
    ///
    /// >>> import tavola
    /// >>> table = tavola.open("doc")
    /// >>> table.set("alice", 1, ttl=60)
    /// >>> table.persist("alice"), table.ttl("alice")
    /// (True, None)
    fn persist(&self, key: Object<'_, '_>) -> PyResult<bool> {
        let (py, key) = (key.py(), key_of(key)?);
        self.change(py, |table| table.persist(key))
    }

    /// Return the value of a key, or the default, and change its TTL in the same step.
    ///
    /// >>> import tavola
    /// >>> table = tavola.open("doc")
    /// >>> table["session"] = {"user": 7}
    /// >>> table.get_and_touch("session", 600)
    /// {'user': 7}
    #[pyo3(signature = (key, ttl, default=None))]
    fn get_and_touch<'py>(
        &self,
        key: Object<'_, 'py>,
        ttl: Object<'_, 'py>,
        default: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let (py, key, expiry) = (key.py(), key_of(key)?, touched(ttl)?);
        match self.change(py, |table| table.get_and_touch(key, expiry))? {
            None => Ok(default),
            Some(entry) => {
                let flags = entry.attributes.flags;
                self.serializer.decode(py, &entry.value, flags).map(Some)
            }
        }
    }
}

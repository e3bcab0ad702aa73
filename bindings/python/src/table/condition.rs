//! Calls whose change depends on the old value: take, swap, compare-and-swap.
//!
//! The old value is decoded by its flags, which the library's own `take` and `swap` do not return.
//! So a key is read with its token, and changed only if it still has the token.

use super::Table;
use crate::error::bad_option;
use crate::text::key_of;
use pyo3::prelude::*;
use tavola::{CasOutcome, CasToken, Condition, Entry, Stored};

type Object<'a, 'py> = &'a Bound<'py, PyAny>;

impl Table {
    fn decode_entry<'py>(&self, py: Python<'py>, entry: &Entry) -> PyResult<Bound<'py, PyAny>> {
        self.serializer
            .decode(py, &entry.value, entry.attributes.flags)
    }

    /// Removes a key and returns what it had.
    fn taken(&self, py: Python<'_>, key: &[u8]) -> PyResult<Option<Entry>> {
        loop {
            let Some(entry) = self.entry(py, key)? else {
                return Ok(None);
            };
            let outcome = self.change(py, |table| table.compare_and_remove(key, entry.token))?;
            if outcome == CasOutcome::Swapped {
                return Ok(Some(entry));
            }
            py.check_signals()?;
        }
    }
}

#[pymethods]
impl Table {
    /// Remove a key and return its value, or the default if it is missing. Of several processes
    /// that take a key at the same time, one gets its value.
    ///
    /// >>> import tavola
    /// >>> table = tavola.open("doc")
    /// >>> table["coupon"] = "10 %"
    /// >>> table.take("coupon"), table.take("coupon")
    /// ('10 %', None)
    #[pyo3(signature = (key, default=None))]
    fn take<'py>(
        &self,
        key: Object<'_, 'py>,
        default: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let py = key.py();
        match self.taken(py, key_of(key)?)? {
            Some(entry) => self.decode_entry(py, &entry).map(Some),
            None => Ok(default),
        }
    }

    /// Set a key and return its old value, or the default if it was missing.
    ///
    /// >>> import tavola
    /// >>> table = tavola.open("doc")
    /// >>> table["state"] = "old"
    /// >>> table.swap("state", "new")
    /// 'old'
    #[pyo3(signature = (key, value, default=None, ttl=None, tags=None))]
    fn swap<'py>(
        &self,
        key: Object<'_, 'py>,
        value: Object<'_, 'py>,
        default: Option<Bound<'py, PyAny>>,
        ttl: Option<Object<'_, 'py>>,
        tags: Option<Object<'_, 'py>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let (py, given) = (key.py(), self.given(key, value, ttl, tags)?);
        loop {
            let old = self.entry(py, given.key)?;
            let condition = match &old {
                Some(old) => Condition::Is(old.token),
                None => Condition::Absent,
            };
            if let Stored::Done(_) = self.store(py, &given.write(py, condition))? {
                return match old {
                    Some(old) => self.decode_entry(py, &old).map(Some),
                    None => Ok(default),
                };
            }
            py.check_signals()?;
        }
    }

    /// Return the value of a key and its token for ``cas``; the default and ``None`` if it is
    /// missing.
    ///
    /// >>> import tavola
    /// >>> table = tavola.open("doc")
    /// >>> table["n"] = 1
    /// >>> value, token = table.gets("n")
    /// >>> table.cas("n", value + 1, token), table["n"]
    /// (True, 2)
    #[pyo3(signature = (key, default=None))]
    fn gets<'py>(
        &self,
        key: Object<'_, 'py>,
        default: Option<Bound<'py, PyAny>>,
    ) -> PyResult<(Option<Bound<'py, PyAny>>, Option<u64>)> {
        let py = key.py();
        match self.entry(py, key_of(key)?)? {
            Some(entry) => Ok((Some(self.decode_entry(py, &entry)?), Some(entry.token.0))),
            None => Ok((default, None)),
        }
    }

    /// Set a key only if it still has this token, from ``gets``. Return whether it was set.
    ///
    /// >>> import tavola
    /// >>> table = tavola.open("doc")
    /// >>> table["n"] = 1
    /// >>> value, token = table.gets("n")
    /// >>> table["n"] = 5
    /// >>> table.cas("n", value + 1, token)
    /// False
    #[pyo3(signature = (key, value, token, ttl=None, tags=None))]
    fn cas(
        &self,
        key: Object<'_, '_>,
        value: Object<'_, '_>,
        token: Option<u64>,
        ttl: Option<Object<'_, '_>>,
        tags: Option<Object<'_, '_>>,
    ) -> PyResult<bool> {
        let Some(token) = token else {
            let why = "it is None, the token of a missing key; use add";
            return Err(bad_option(key.py(), "token", why));
        };
        let condition = Condition::Is(CasToken(token));
        let stored = self.store_object(key, value, ttl, tags, condition)?;
        Ok(matches!(stored, Stored::Done(_)))
    }

    /// Remove a key only if it still has this token, from ``gets``. Return whether it was removed.
    ///
    /// >>> import tavola
    /// >>> table = tavola.open("doc")
    /// >>> table["n"] = 1
    /// >>> value, token = table.gets("n")
    /// >>> table.delete_if("n", token)
    /// True
    fn delete_if(&self, key: Object<'_, '_>, token: u64) -> PyResult<bool> {
        let (py, key) = (key.py(), key_of(key)?);
        let outcome = self.change(py, |table| table.compare_and_remove(key, CasToken(token)))?;
        Ok(outcome == CasOutcome::Swapped)
    }
}

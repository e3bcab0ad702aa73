//! Uids: stable numbers of keys.

use super::Table;
use crate::error::OrRaise;
use crate::text::{key_object, key_of};
use pyo3::prelude::*;
use tavola::Hint;

#[pymethods]
impl Table {
    /// Return the uid of a key, a number by which it can be found; ``None`` if the key is missing.
    /// It stays the same while the key exists.
    ///
    /// >>> import tavola
    /// >>> table = tavola.open("doc")
    /// >>> table["alice"] = 5
    /// >>> uid = table.uid_of("alice")
    /// >>> table.get_by_uid(uid), table.key_of_uid(uid)
    /// (5, 'alice')
    fn uid_of(&self, key: &Bound<'_, PyAny>) -> PyResult<Option<u64>> {
        let (py, key) = (key.py(), key_of(key)?);
        // A key without a uid gets one.
        let uid = self.change(py, |table| table.uid_of(key))?;
        Ok(uid.map(Hint::to_bits))
    }

    /// Return the value of the key with this uid, or the default.
    ///
    /// >>> import tavola
    /// >>> table = tavola.open("doc")
    /// >>> table["alice"] = 5
    /// >>> table.get_by_uid(table.uid_of("alice"))
    /// 5
    #[pyo3(signature = (uid, default=None))]
    fn get_by_uid<'py>(
        &self,
        py: Python<'py>,
        uid: u64,
        default: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let (mut value, uid) = (Vec::new(), Hint::from_bits(uid));
        // SAFETY: the read runs no Python code and keeps the lock.
        let table = unsafe { self.lent(py)? };
        match table.get_entry_by_uid_into(uid, &mut value).or_raise(py)? {
            Some(details) => {
                let flags = details.attributes.flags;
                self.serializer.decode(py, &value, flags).map(Some)
            }
            None => Ok(default),
        }
    }

    /// Return the key with this uid, or ``None``.
    ///
    /// >>> import tavola
    /// >>> table = tavola.open("doc")
    /// >>> table["alice"] = 5
    /// >>> table.key_of_uid(table.uid_of("alice"))
    /// 'alice'
    fn key_of_uid<'py>(&self, py: Python<'py>, uid: u64) -> PyResult<Option<Bound<'py, PyAny>>> {
        // SAFETY: the read runs no Python code and keeps the lock.
        let key = unsafe { self.lent(py)? }
            .key_of_uid(Hint::from_bits(uid))
            .or_raise(py)?;
        Ok(key.map(|key| key_object(py, &key, self.has_binary_keys)))
    }

    /// Remove the key with this uid. Return whether there was one.
    ///
    /// >>> import tavola
    /// >>> table = tavola.open("doc")
    /// >>> table["alice"] = 5
    /// >>> table.delete_by_uid(table.uid_of("alice"))
    /// True
    fn delete_by_uid(&self, py: Python<'_>, uid: u64) -> PyResult<bool> {
        self.change(py, |table| table.remove_by_uid(Hint::from_bits(uid)))
    }
}

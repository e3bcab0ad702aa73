//! Reading one key.

use super::Table;
use super::core::Core;
use crate::error::Result;
use crate::index::{Hash, Value, read};

impl Core {
    /// As [`Table::get_into`].
    #[inline(always)]
    pub(super) fn get_into(&self, key: &[u8], out: &mut Vec<u8>) -> Result<bool> {
        out.clear();
        read(self.region(), key, Hash::of(self.region(), key), out)
    }
}

impl Table {
    /// The value of a key; `None` when it is missing.
    ///
    /// # Errors
    /// [`Error::Corrupt`](crate::Error::Corrupt) when the bytes on the way to it contradict each
    /// other.
    ///
    /// # Concurrency
    /// Takes no lock and writes nothing; never waits for a writer, living, stopped or dead. The
    /// value is one that was set as a whole.
    #[inline]
    pub fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        let Some(core) = self.lazy.ready() else {
            let mut value = Vec::new();
            return Ok(self.get_first(key, &mut value)?.then_some(value));
        };
        let mut value = Value::default();
        let hash = Hash::of(core.region(), key);
        let found = read(core.region(), key, hash, &mut value)?;
        Ok(found.then(|| value.into_vec()))
    }

    /// As [`Table::get`], into a buffer of the caller's: it is cleared, then holds the value.
    /// False: the key is missing.
    ///
    /// # Errors
    /// As [`Table::get`].
    #[inline(always)]
    pub fn get_into(&self, key: &[u8], out: &mut Vec<u8>) -> Result<bool> {
        match self.lazy.ready() {
            Some(core) => core.get_into(key, out),
            None => self.get_first(key, out),
        }
    }

    #[cold]
    fn get_first(&self, key: &[u8], out: &mut Vec<u8>) -> Result<bool> {
        match self.lazy.peek(key, out) {
            Some(found) => Ok(found),
            None => self.core()?.get_into(key, out),
        }
    }

    /// Whether the key is there.
    ///
    /// # Errors
    /// As [`Table::get`].
    #[inline]
    pub fn contains(&self, key: &[u8]) -> Result<bool> {
        let region = self.core()?.region();
        read(region, key, Hash::of(region, key), &mut ())
    }
}

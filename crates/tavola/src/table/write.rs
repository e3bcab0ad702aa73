//! Calls that write one key.

use super::Table;
use crate::engine::WriteCondition;
use crate::error::Result;

impl Table {
    /// Sets a key, whether or not it exists.
    ///
    /// # Errors
    /// [`Error::Full`](crate::Error::Full), [`Error::TooLarge`](crate::Error::TooLarge),
    /// [`Error::ReadOnly`](crate::Error::ReadOnly), [`Error::Corrupt`](crate::Error::Corrupt); the
    /// old value then stays.
    ///
    /// # Concurrency
    /// Other processes see the complete old value or the complete new one.
    ///
    /// # Crash
    /// If the process is killed in the call, the key has the old value or the new one; after the
    /// call it has the new one.
    #[inline]
    pub fn set(&self, key: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> Result<()> {
        let (key, value) = (key.as_ref(), value.as_ref());
        let core = self.core()?;
        let default = core.default_metadata();
        core.store(key, value, WriteCondition::Always, default.as_ref())?;
        Ok(())
    }

    /// Sets a key only if it is missing. Returns false if the key exists; it then does not change.
    ///
    /// # Errors
    /// As [`Table::set`].
    pub fn add(&self, key: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> Result<bool> {
        let (key, value) = (key.as_ref(), value.as_ref());
        let core = self.core()?;
        let default = core.default_metadata();
        core.store(key, value, WriteCondition::Absent, default.as_ref())
    }

    /// Sets a key only if it exists. Returns false if the key is missing.
    ///
    /// # Errors
    /// As [`Table::set`].
    pub fn replace(&self, key: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> Result<bool> {
        let (key, value) = (key.as_ref(), value.as_ref());
        let core = self.core()?;
        let default = core.default_metadata();
        core.store(key, value, WriteCondition::Present, default.as_ref())
    }

    /// Removes a key. Returns false if it was missing.
    ///
    /// # Errors
    /// As [`Table::set`], but never `Full`.
    ///
    /// # Crash
    /// If the process is killed in the call, the key is unchanged or removed.
    pub fn remove(&self, key: impl AsRef<[u8]>) -> Result<bool> {
        let key = key.as_ref();
        self.core()?.delete(key)
    }
}

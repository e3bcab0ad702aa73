//! Calls that read a value with its attributes.

use super::Table;
use crate::engine::KeyOrUid;
use crate::error::Result;
use crate::layout::Hint;
use crate::sync::SHORT;
use crate::values::{Attributes, Details, Entry, Expiry};

/// The details of a key that has client flags and nothing else.
fn plain_details(flags: u32) -> Details {
    Details {
        attributes: Attributes {
            expiry: Expiry::Never,
            flags,
        },
        version: 0,
        marks: 0,
    }
}

impl Table {
    /// Returns the value of a key with its flags, TTL and token, or `None` if it is missing.
    ///
    /// # Errors
    /// As [`Table::get`].
    pub fn get_entry(&self, key: impl AsRef<[u8]>) -> Result<Option<Entry>> {
        let key = key.as_ref();
        let core = self.core()?;
        let mut value = Vec::with_capacity(SHORT);
        let found = core.entry_into(KeyOrUid::Key(key), &mut value)?;
        Ok(found.map(|details| core.entry(value, details)))
    }

    /// Reads a value into a buffer, which is cleared first. Returns the details of the key, or
    /// `None` if it is missing. [`Table::token`] returns the token for them.
    ///
    /// # Errors
    /// As [`Table::get`].
    pub fn get_entry_into(
        &self,
        key: impl AsRef<[u8]>,
        out: &mut Vec<u8>,
    ) -> Result<Option<Details>> {
        let key = key.as_ref();
        match self.lazy.ready() {
            Some(core) => core.entry_into(KeyOrUid::Key(key), out),
            None => self.get_first_entry(key, out),
        }
    }

    #[cold]
    fn get_first_entry(&self, key: &[u8], out: &mut Vec<u8>) -> Result<Option<Details>> {
        match self.lazy.read_unmapped(key, out) {
            Some(found) => Ok(found.map(plain_details)),
            None => self.core()?.entry_into(KeyOrUid::Key(key), out),
        }
    }

    /// Reads a value into a slice, as [`Table::get_to_slice`], and returns its length with the
    /// details of the key. With an empty slice, it returns only the length and the details.
    ///
    /// # Examples
    /// ```
    /// # let table = tavola::Table::options().max_size(1 << 20).private()?;
    /// use tavola::{Attributes, Expiry};
    /// table.set_with(b"alice", b"12345", Attributes::default().with_flags(7))?;
    /// let mut out = [0; 64];
    /// let (len, details) = table.get_entry_to_slice(b"alice", &mut out)?.unwrap();
    /// assert_eq!(out[..len], *b"12345");
    /// let has = details.attributes;
    /// assert_eq!((has.flags, has.expiry), (7, Expiry::Never));
    /// # Ok::<(), tavola::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Table::get`].
    pub fn get_entry_to_slice(
        &self,
        key: impl AsRef<[u8]>,
        out: &mut [u8],
    ) -> Result<Option<(usize, Details)>> {
        let key = key.as_ref();
        match self.lazy.ready() {
            Some(core) => core.entry_to_slice(KeyOrUid::Key(key), out),
            None => self.get_first_entry_to_slice(key, out),
        }
    }

    #[cold]
    fn get_first_entry_to_slice(
        &self,
        key: &[u8],
        out: &mut [u8],
    ) -> Result<Option<(usize, Details)>> {
        let mut value = Vec::new();
        let Some(found) = self.lazy.read_unmapped(key, &mut value) else {
            return self.core()?.entry_to_slice(KeyOrUid::Key(key), out);
        };
        if let (Some(_), Some(out)) = (found, out.get_mut(..value.len())) {
            out.copy_from_slice(&value);
        }
        Ok(found.map(|flags| (value.len(), plain_details(flags))))
    }

    /// Reads the value of the key with this uid, as [`Table::get_entry_into`].
    ///
    /// # Errors
    /// As [`Table::get`].
    pub fn get_entry_by_uid_into(
        &self,
        uid: impl Into<Hint>,
        out: &mut Vec<u8>,
    ) -> Result<Option<Details>> {
        self.core()?.entry_into(KeyOrUid::Uid(uid.into()), out)
    }

    /// Reads the value of the key with this uid, as [`Table::get_entry_to_slice`].
    ///
    /// # Errors
    /// As [`Table::get`].
    pub fn get_entry_by_uid_to_slice(
        &self,
        uid: impl Into<Hint>,
        out: &mut [u8],
    ) -> Result<Option<(usize, Details)>> {
        self.core()?.entry_to_slice(KeyOrUid::Uid(uid.into()), out)
    }
}

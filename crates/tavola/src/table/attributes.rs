//! Calls that read or change when a key expires, and its flags.

use super::Table;
use crate::alloc::Shown;
use crate::engine::{Tries, WriteCondition};
use crate::error::Result;
use crate::index::locate::{Hash, read};
use crate::sync::SHORT;
use crate::values::{Attributes, Details, Entry, Expiry};

impl Table {
    /// Sets a key with attributes, which replace those of an existing key.
    ///
    /// # Errors
    /// As [`Table::set`]; [`Error::BadOption`](crate::Error::BadOption) in a table of fixed
    /// lengths, which does not store attributes.
    pub fn set_with(
        &self,
        key: impl AsRef<[u8]>,
        value: impl AsRef<[u8]>,
        attributes: Attributes,
    ) -> Result<()> {
        let (key, value) = (key.as_ref(), value.as_ref());
        self.store_with(key, value, WriteCondition::Always, attributes)
            .map(|_| ())
    }

    /// Sets a key with attributes only if it is missing, as [`Table::add`].
    ///
    /// # Errors
    /// As [`Table::set_with`].
    pub fn add_with(
        &self,
        key: impl AsRef<[u8]>,
        value: impl AsRef<[u8]>,
        attributes: Attributes,
    ) -> Result<bool> {
        let (key, value) = (key.as_ref(), value.as_ref());
        self.store_with(key, value, WriteCondition::Absent, attributes)
    }

    /// Sets a key with attributes only if it exists, as [`Table::replace`].
    ///
    /// # Errors
    /// As [`Table::set_with`].
    pub fn replace_with(
        &self,
        key: impl AsRef<[u8]>,
        value: impl AsRef<[u8]>,
        attributes: Attributes,
    ) -> Result<bool> {
        let (key, value) = (key.as_ref(), value.as_ref());
        self.store_with(key, value, WriteCondition::Present, attributes)
    }

    fn store_with(
        &self,
        key: &[u8],
        value: &[u8],
        when: WriteCondition<'_>,
        attributes: Attributes,
    ) -> Result<bool> {
        let core = self.core()?;
        let metadata = core.metadata(attributes)?;
        core.store(key, value, when, Some(&metadata))
    }

    /// Returns the TTL of a key, as [`Expiry::After`] or [`Expiry::Never`], or `None` if it is
    /// missing.
    ///
    /// # Errors
    /// As [`Table::get`].
    pub fn ttl(&self, key: impl AsRef<[u8]>) -> Result<Option<Expiry>> {
        let key = key.as_ref();
        let core = self.core()?;
        let mut shown = Shown::default();
        let found = read(core.region(), key, Hash::of(core.region(), key), &mut shown)?;
        Ok(found.then(|| core.attributes(shown).expiry))
    }

    /// Changes the TTL of a key. Returns false if the key is missing. Its value and flags do not
    /// change. If the key expires during the call, another process may briefly miss it.
    ///
    /// # Errors
    /// As [`Table::set_with`].
    ///
    /// # Crash
    /// If the process is killed in the call, the key has the old TTL or the new one.
    pub fn touch(&self, key: impl AsRef<[u8]>, expiry: Expiry) -> Result<bool> {
        let key = key.as_ref();
        let core = self.core()?;
        let request = core.request(key, WriteCondition::Always, None)?;
        let had = core.touch(&request, expiry)?;
        core.count_set(request.participant);
        Ok(had.is_some())
    }

    /// Removes the TTL of a key. Returns false if the key is missing.
    ///
    /// # Errors
    /// As [`Table::set_with`].
    pub fn persist(&self, key: impl AsRef<[u8]>) -> Result<bool> {
        let key = key.as_ref();
        self.touch(key, Expiry::Never)
    }

    /// Changes the TTL of a key, and returns its value with the attributes it had before.
    ///
    /// # Errors
    /// As [`Table::touch`].
    ///
    /// # Concurrency
    /// The returned value is the one whose TTL was changed.
    pub fn get_and_touch(&self, key: impl AsRef<[u8]>, expiry: Expiry) -> Result<Option<Entry>> {
        let key = key.as_ref();
        let core = self.core()?;
        let mut value = Vec::with_capacity(SHORT);
        let had = self.get_and_touch_into(key, expiry, &mut value)?;
        Ok(had.map(|had| core.entry(value, had)))
    }

    /// Changes the TTL of a key, and reads its value into a buffer, which is cleared first. Returns
    /// what else the key had before, or `None` if it is missing.
    ///
    /// # Errors
    /// As [`Table::touch`].
    ///
    /// # Concurrency
    /// As [`Table::get_and_touch`].
    pub fn get_and_touch_into(
        &self,
        key: impl AsRef<[u8]>,
        expiry: Expiry,
        out: &mut Vec<u8>,
    ) -> Result<Option<Details>> {
        let key = key.as_ref();
        let core = self.core()?;
        let mut tries = Tries::new();
        while core.get_to_touch(key, out)? {
            let request = core.request(key, WriteCondition::Equals(out), None)?;
            if let Some(had) = core.touch(&request, expiry)? {
                core.count_call();
                return Ok(Some(core.details(had)));
            }
            tries.fail(out.clone())?;
        }
        core.count_call();
        Ok(None)
    }
}

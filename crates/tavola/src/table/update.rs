//! Calls whose change depends on the old value.

use super::Table;
use crate::error::{Error, Result};
use crate::values::{Attributes, CasOutcome, CasToken, Condition, Details, StoreOptions, Stored};

impl Table {
    /// Changes a value atomically, retried on conflict. `new` gets the old value, or `None` if the
    /// key is missing, and returns the new one, or `None` to remove the key. Returns the stored
    /// value. The expiry and flags do not change.
    ///
    /// # Examples
    /// ```
    /// # let dir = std::env::temp_dir().join(format!("tavola-update-{}", std::process::id()));
    /// # std::fs::create_dir_all(&dir)?;
    /// # let table = tavola::Table::open(dir.join("t"))?;
    /// let append_x = |old: Option<&[u8]>| Some([old.unwrap_or(b""), b"x"].concat());
    /// table.update(b"k", append_x)?;
    /// assert_eq!(table.update(b"k", append_x)?.as_deref(), Some(&b"xx"[..]));
    /// # std::fs::remove_dir_all(&dir)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Table::set`].
    ///
    /// # Concurrency
    /// `new` runs outside any lock, and again if another process changed the key meanwhile.
    pub fn update(
        &self,
        key: impl AsRef<[u8]>,
        mut new: impl FnMut(Option<&[u8]>) -> Option<Vec<u8>>,
    ) -> Result<Option<Vec<u8>>> {
        let key = key.as_ref();
        let core = self.core()?;
        let changed = core.update(key, Some(&core.keeping_default()), |old| Ok(new(old)))?;
        Ok(changed.1)
    }

    /// Changes a value as [`Table::update`]. If `new` returns an error, the key does not change,
    /// and the error is returned.
    ///
    /// # Errors
    /// As [`Table::set`], and those of `new`.
    ///
    /// # Concurrency
    /// As [`Table::update`].
    pub fn try_update<E: From<Error>>(
        &self,
        key: impl AsRef<[u8]>,
        new: impl FnMut(Option<&[u8]>) -> Result<Option<Vec<u8>>, E>,
    ) -> Result<Option<Vec<u8>>, E> {
        let key = key.as_ref();
        let core = self.core()?;
        Ok(core.try_update(key, Some(&core.keeping_default()), new)?.1)
    }

    /// Appends bytes to the value. Returns false if the key is missing; it is not created.
    ///
    /// # Errors
    /// As [`Table::set`].
    pub fn append(&self, key: impl AsRef<[u8]>, more: impl AsRef<[u8]>) -> Result<bool> {
        let (key, more) = (key.as_ref(), more.as_ref());
        let joined = |old: Option<&[u8]>| Ok(old.map(|old| [old, more].concat()));
        let core = self.core()?;
        let changed = core.update(key, Some(&core.keeping_default()), joined)?;
        Ok(changed.0.is_some())
    }

    /// Appends bytes to the value, and returns its new length. A missing key is created with these
    /// attributes; an existing key keeps its own.
    ///
    /// # Errors
    /// As [`Table::set_with`].
    pub fn append_with(
        &self,
        key: impl AsRef<[u8]>,
        more: impl AsRef<[u8]>,
        attributes: Attributes,
    ) -> Result<usize> {
        let more = more.as_ref();
        self.join_with(key.as_ref(), attributes, |old| [old, more].concat())
    }

    /// Prepends bytes to the value. Returns false if the key is missing; it is not created.
    ///
    /// # Errors
    /// As [`Table::set`].
    pub fn prepend(&self, key: impl AsRef<[u8]>, more: impl AsRef<[u8]>) -> Result<bool> {
        let (key, more) = (key.as_ref(), more.as_ref());
        let joined = |old: Option<&[u8]>| Ok(old.map(|old| [more, old].concat()));
        let core = self.core()?;
        let changed = core.update(key, Some(&core.keeping_default()), joined)?;
        Ok(changed.0.is_some())
    }

    /// Prepends bytes to the value, and returns its new length. A missing key is created with these
    /// attributes; an existing key keeps its own.
    ///
    /// # Errors
    /// As [`Table::set_with`].
    pub fn prepend_with(
        &self,
        key: impl AsRef<[u8]>,
        more: impl AsRef<[u8]>,
        attributes: Attributes,
    ) -> Result<usize> {
        let more = more.as_ref();
        self.join_with(key.as_ref(), attributes, |old| [more, old].concat())
    }

    /// Sets a key to what `join` makes of its value, that of a missing key being empty. Returns the
    /// length of the new value.
    fn join_with(
        &self,
        key: &[u8],
        attributes: Attributes,
        join: impl Fn(&[u8]) -> Vec<u8>,
    ) -> Result<usize> {
        let core = self.core()?;
        let metadata = core.keeping(attributes)?;
        let mut len = 0;
        core.update(key, Some(&metadata), |old| {
            let joined = join(old.unwrap_or(b""));
            len = joined.len();
            Ok(Some(joined))
        })?;
        Ok(len)
    }

    /// Removes a key and returns its value, or `None` if it was missing.
    ///
    /// # Errors
    /// As [`Table::remove`].
    ///
    /// # Concurrency
    /// If several processes take a key at the same time, one gets its value.
    pub fn take(&self, key: impl AsRef<[u8]>) -> Result<Option<Vec<u8>>> {
        let key = key.as_ref();
        let mut had = Vec::new();
        let is_there = self.try_take(key, &mut had, |_| Ok::<_, Error>(()))?;
        Ok(is_there.then_some(had))
    }

    /// Removes a key and reads its value into a buffer, which is cleared first. Returns false if
    /// the key is missing. `check` gets the value before the key is removed; if it returns an
    /// error, the key stays, and the error is returned.
    ///
    /// # Errors
    /// As [`Table::remove`], and those of `check`.
    ///
    /// # Concurrency
    /// As [`Table::take`]. `check` runs outside any lock, and again if another process changed the
    /// key meanwhile.
    pub fn try_take<E: From<Error>>(
        &self,
        key: impl AsRef<[u8]>,
        out: &mut Vec<u8>,
        check: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<bool, E> {
        let key = key.as_ref();
        self.core()?.exchange(key, None, None, out, check)
    }

    /// Sets a key and returns its previous value, or `None` if it was missing.
    ///
    /// # Errors
    /// As [`Table::set`].
    pub fn swap(&self, key: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> Result<Option<Vec<u8>>> {
        let (key, value) = (key.as_ref(), value.as_ref());
        let mut had = Vec::new();
        let is_there = self.try_swap(key, value, &mut had, |_| Ok::<_, Error>(()))?;
        Ok(is_there.then_some(had))
    }

    /// Sets a key and reads its previous value into a buffer, which is cleared first. Returns false
    /// if the key was missing. `check` gets the previous value, if there is one, before the key is
    /// set; if it returns an error, the key does not change, and the error is returned.
    ///
    /// # Errors
    /// As [`Table::set`], and those of `check`.
    ///
    /// # Concurrency
    /// As [`Table::try_take`].
    pub fn try_swap<E: From<Error>>(
        &self,
        key: impl AsRef<[u8]>,
        value: impl AsRef<[u8]>,
        out: &mut Vec<u8>,
        check: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<bool, E> {
        let (key, value) = (key.as_ref(), value.as_ref());
        let core = self.core()?;
        let default = core.default_metadata();
        core.exchange(key, Some(value), default.as_ref(), out, check)
    }

    /// Returns the value of a key with its token for [`Table::compare_and_swap`], or `None` if the
    /// key is missing.
    ///
    /// # Errors
    /// As [`Table::get`].
    pub fn get_with_token(&self, key: impl AsRef<[u8]>) -> Result<Option<(Vec<u8>, CasToken)>> {
        let key = key.as_ref();
        let entry = self.get_entry(key)?;
        Ok(entry.map(|entry| (entry.value, entry.token)))
    }

    /// Returns the token of a key that has this value, for values that were not read by
    /// [`Table::get_with_token`].
    ///
    /// # Errors
    /// [`Error::BadOption`] in a table with versions, in which the token does not follow from the
    /// value.
    pub fn token_of(&self, value: impl AsRef<[u8]>) -> Result<CasToken> {
        let value = value.as_ref();
        let core = self.core()?;
        if core.region().geometry().has_versions {
            return Err(Error::BadOption {
                option: "token_of",
                why: "in a table with versions, a token is returned together with the value \
                    only; use get_with_token"
                    .to_string(),
            });
        }
        Ok(core.token(0, value))
    }

    /// Returns the token of a value that was read with these details, as by
    /// [`Table::get_entry_into`].
    ///
    /// # Errors
    /// Those of mapping the table, if this is its first use.
    pub fn token(&self, details: &Details, value: impl AsRef<[u8]>) -> Result<CasToken> {
        let value = value.as_ref();
        Ok(self.core()?.token(details.version, value))
    }

    /// Sets a key only if it still has this token.
    ///
    /// # Errors
    /// As [`Table::set`].
    pub fn compare_and_swap(
        &self,
        key: impl AsRef<[u8]>,
        token: CasToken,
        value: impl AsRef<[u8]>,
    ) -> Result<CasOutcome> {
        let (key, value) = (key.as_ref(), value.as_ref());
        self.compare_and_swap_with(key, token, value, Attributes::default())
    }

    /// Sets a key with attributes only if it still has this token, as [`Table::compare_and_swap`].
    ///
    /// # Errors
    /// As [`Table::set_with`].
    pub fn compare_and_swap_with(
        &self,
        key: impl AsRef<[u8]>,
        token: CasToken,
        value: impl AsRef<[u8]>,
        attributes: Attributes,
    ) -> Result<CasOutcome> {
        let (key, value) = (key.as_ref(), value.as_ref());
        let how = StoreOptions {
            condition: Condition::Is(token),
            attributes: Some(attributes),
            ..StoreOptions::default()
        };
        Ok(match self.store(key, value, &how)? {
            Stored::Done(_) => CasOutcome::Swapped,
            Stored::NotFound => CasOutcome::NotFound,
            Stored::Exists => CasOutcome::Changed,
        })
    }
}

//! Calls that store by conditions and with versions.

use super::Table;
use crate::engine::WriteCondition;
use crate::error::Result;
use crate::values::{CasOutcome, CasToken, StoreOptions, Stored};

impl Table {
    /// Sets a key as `how` says, and returns the token that the key has then. `set`, `add`,
    /// `replace`, `compare_and_swap` and `set_tagged` are special cases of this function.
    ///
    /// # Examples
    /// ```
    /// # let table = tavola::Table::options().max_size(1 << 20).versions(true).private()?;
    /// use tavola::{Condition, StoreOptions, Stored};
    /// let how = StoreOptions::default();
    /// let Stored::Done(first) = table.store(b"k", b"v", &how)? else { panic!() };
    /// let same = StoreOptions { condition: Condition::Is(first), ..StoreOptions::default() };
    /// assert_ne!(table.store(b"k", b"v", &same)?, Stored::Exists);
    /// assert_eq!(table.store(b"k", b"v", &same)?, Stored::Exists);
    /// # Ok::<(), tavola::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Table::set_with`]; [`Error::BadOption`](crate::Error::BadOption) for a version in a
    /// table that has none, and for marks as of
    /// [`ServeTable::mark`](crate::serving::ServeTable::mark).
    ///
    /// # Concurrency
    /// As [`Table::set`].
    ///
    /// # Crash
    /// As [`Table::set`].
    pub fn store(
        &self,
        key: impl AsRef<[u8]>,
        value: impl AsRef<[u8]>,
        how: &StoreOptions<'_>,
    ) -> Result<Stored> {
        let (key, value) = (key.as_ref(), value.as_ref());
        self.core()?.store_by(key, value, how)
    }

    /// Removes a key if it has this token.
    ///
    /// # Errors
    /// As [`Table::remove`].
    ///
    /// # Crash
    /// As [`Table::remove`].
    pub fn compare_and_remove(&self, key: impl AsRef<[u8]>, token: CasToken) -> Result<CasOutcome> {
        let key = key.as_ref();
        let core = self.core()?;
        let request = core.request(key, WriteCondition::Always, None)?;
        let refused = core.retried(key, token, |when| core.remove(&request.when(when)))?;
        core.count_remove(request.participant);
        Ok(match refused {
            None => CasOutcome::Swapped,
            Some(Stored::NotFound) => CasOutcome::NotFound,
            Some(_) => CasOutcome::Changed,
        })
    }
}

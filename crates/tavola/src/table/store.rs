//! Storing by conditions and with versions: what protocols need beyond `set` and its kin.

use super::Table;
use super::attributes::Attributes;
use super::core::Core;
use super::effort::Tries;
use super::entry::Which;
use super::how::{Beside, NEXT, Stamping, When};
use super::marks::{Marks, check};
use super::update::{CasOutcome, CasToken};
use crate::error::{Error, Result};

/// When [`Table::store`] stores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Condition {
    /// In any case.
    #[default]
    Always,
    /// If the key is missing.
    Absent,
    /// If it is there.
    Present,
    /// If it is there and has this token.
    Is(CasToken),
}

/// How [`Table::store`] stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Store {
    /// When.
    pub condition: Condition,
    /// What the key gets beside its value; `None`: a key that is there keeps what it has.
    pub attributes: Option<Attributes>,
    /// The version that it gets, neither 0 nor `u64::MAX`; `None`: the next. The next ones do not
    /// go by it: who asks for versions sees to it that none comes twice.
    pub version: Option<u64>,
    /// What becomes of its marks; `None`: it keeps them if it keeps its attributes, else it has
    /// none.
    pub marks: Option<Marks>,
}

impl Default for Store {
    fn default() -> Self {
        Self {
            condition: Condition::Always,
            attributes: Some(Attributes::default()),
            version: None,
            marks: None,
        }
    }
}

/// What became of a [`Table::store`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stored {
    /// The value is stored; the key has this token now.
    Done(CasToken),
    /// Nothing is stored: the key is missing.
    Missing,
    /// Nothing is stored: the key is there, or has another token.
    Exists,
}

impl Core {
    fn stamping_of(&self, how: &Store) -> Result<Stamping<'static>> {
        let mut stamping = match how.attributes {
            Some(attributes) => self.stamping(attributes)?,
            None => self.keeping_default(),
        };
        if let Some(version) = how.version {
            if !self.region().geometry().has_versions {
                return Err(wrong("the table has none; make it with `versions`"));
            }
            if version == 0 || version == NEXT {
                return Err(wrong("0 and 2^64 - 1 are none"));
            }
            stamping.stamp.version = version;
        }
        if let Some(marks) = how.marks {
            check(self, marks)?;
            stamping.marks = Some(marks);
        }
        Ok(stamping)
    }

    fn store_by(&self, key: &[u8], value: &[u8], how: &Store) -> Result<Stored> {
        let stamping = self.stamping_of(how)?;
        let me = self.writer()?;
        let store =
            |when: When<'_>| self.try_store(me, (key, value), when, Beside(Some(&stamping)));
        let refused = match how.condition {
            Condition::Always => (!store(When::Always)?).then_some(Stored::Missing),
            Condition::Absent => (!store(When::Absent)?).then_some(Stored::Exists),
            Condition::Present => (!store(When::Present)?).then_some(Stored::Missing),
            Condition::Is(token) => self.retried(key, token, store)?,
        };
        self.count_set(me);
        Ok(refused.unwrap_or_else(|| Stored::Done(self.token(stamping.version.get(), value))))
    }

    /// Does what is to be done to a key with this token; `Some`: why not.
    pub(super) fn retried(
        &self,
        key: &[u8],
        token: CasToken,
        act: impl Fn(When<'_>) -> Result<bool>,
    ) -> Result<Option<Stored>> {
        let (mut value, mut tries) = (Vec::new(), Tries::new());
        loop {
            let Some(details) = self.entry_into(Which::Key(key), &mut value)? else {
                return Ok(Some(Stored::Missing));
            };
            if self.token(details.version, &value) != token {
                return Ok(Some(Stored::Exists));
            }
            let when = match details.version {
                0 => When::Equals(&value),
                version => When::Version(version),
            };
            if act(when)? {
                return Ok(None);
            }
            tries.fail((details.version, value.clone()))?;
        }
    }
}

#[cold]
fn wrong(why: &str) -> Error {
    Error::BadOption {
        option: "version",
        why: why.to_string(),
    }
}

impl Table {
    /// Sets a key as `how` says: the one operation that `set`, `add`, `replace` and
    /// `compare_and_swap` are cases of. Tells the token it has then.
    ///
    /// # Examples
    /// ```
    /// # let table = tavola::Table::options().max_size(1 << 20).versions(true).private()?;
    /// use tavola::{Condition, Store, Stored};
    /// let Stored::Done(first) = table.store(b"k", b"v", &Store::default())? else { panic!() };
    /// let same = Store { condition: Condition::Is(first), ..Store::default() };
    /// assert_ne!(table.store(b"k", b"v", &same)?, Stored::Exists);
    /// assert_eq!(table.store(b"k", b"v", &same)?, Stored::Exists);
    /// # Ok::<(), tavola::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Table::set_with`]; [`Error::BadOption`] for a version in a table that has none, and
    /// for marks as of [`Table::mark`].
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
        how: &Store,
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
        let me = core.writer()?;
        let refused = core.retried(key, token, |when| core.try_delete(me, key, when))?;
        core.count_remove(me);
        Ok(match refused {
            None => CasOutcome::Swapped,
            Some(Stored::Missing) => CasOutcome::Missing,
            Some(_) => CasOutcome::Changed,
        })
    }
}

//! Transactions: changes of several keys that happen at once.
//!
//! A transaction collects its writes in its process, and notes what it reads. Its commit compares
//! and writes under the locks of the shards concerned (`engine::transact`).

mod run;

pub use run::Begin;

use crate::alloc::Tags;
use crate::engine::{Change, Core, KeyOrUid, MOST_CHANGES, Metadata, Work};
use crate::error::{Error, Result};
use crate::lock::Turn;
use crate::table::number::{NumberOptions, bytes_of, sum_of};
use crate::values::Attributes;
use std::fmt;
use std::marker::PhantomData;
use std::mem;

/// Changes of several keys of a table that happen at once or not at all; from
/// [`Table::transaction`](crate::Table::transaction) or [`Table::begin`](crate::Table::begin).
///
/// Reads inside see the transaction's own writes. No other process sees them before the commit.
/// Dropping a transaction aborts it.
///
/// # Crash
/// If the process is killed, the transaction has changed all its keys or none.
#[must_use = "a transaction that is dropped is aborted"]
pub struct Transaction<'t> {
    core: &'t Core,
    work: Work,
    /// What keys had before, while there are savepoints to go back to.
    log: Vec<(Vec<u8>, Option<Change>)>,
    /// The savepoints that are valid: the length of `log` when each was set.
    savepoints: Vec<usize>,
    is_read_only: bool,
    /// A key was read twice, and had changed in between.
    saw_two_values: bool,
    _turn: Option<Turn<'t>>,
    /// The turn is noted in this thread.
    _not_send: PhantomData<*const ()>,
}

/// A state of a transaction to go back to; from [`Transaction::savepoint`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Savepoint(u32);

impl Savepoint {
    /// Returns its number in its transaction: 0 for the first one.
    pub fn number(self) -> u32 {
        self.0
    }

    /// Returns the savepoint with that number.
    pub fn of(number: u32) -> Self {
        Self(number)
    }
}

impl<'t> Transaction<'t> {
    pub(super) fn new(core: &'t Core, turn: Option<Turn<'t>>, is_read_only: bool) -> Self {
        Self {
            core,
            work: Work::default(),
            log: Vec::new(),
            savepoints: Vec::new(),
            is_read_only,
            saw_two_values: false,
            _turn: turn,
            _not_send: PhantomData,
        }
    }

    /// Returns the value of a key, or `None` if it is missing.
    ///
    /// # Errors
    /// As [`Table::get`](crate::Table::get).
    pub fn get(&mut self, key: impl AsRef<[u8]>) -> Result<Option<Vec<u8>>> {
        Ok(self.get_with_attributes(key)?.map(|(value, _)| value))
    }

    /// Returns the value of a key with its flags and TTL, or `None` if it is missing.
    ///
    /// # Errors
    /// As [`Table::get`](crate::Table::get).
    pub fn get_with_attributes(
        &mut self,
        key: impl AsRef<[u8]>,
    ) -> Result<Option<(Vec<u8>, Attributes)>> {
        let key = key.as_ref();
        match self.work.writes.get(key) {
            Some(Change::Remove) => return Ok(None),
            Some(Change::Set {
                value, keep: false, ..
            }) => {
                let attributes = self.attributes_of_own(key);
                return Ok(Some((value.clone(), attributes)));
            }
            Some(Change::Set { keep: true, .. }) | None => {}
        }
        let there = self.read(key)?;
        match self.work.writes.get(key) {
            Some(Change::Set { value, .. }) => {
                let own = self.attributes_of_own(key);
                let attributes = there.map_or(own, |(_, attributes)| attributes);
                Ok(Some((value.clone(), attributes)))
            }
            _ => Ok(there),
        }
    }

    /// Returns whether a key exists.
    ///
    /// # Errors
    /// As [`Table::get`](crate::Table::get).
    pub fn contains(&mut self, key: impl AsRef<[u8]>) -> Result<bool> {
        Ok(self.get(key)?.is_some())
    }

    /// Sets a key, whether or not it exists.
    ///
    /// # Errors
    /// [`Error::ReadOnly`] in a transaction that only reads; [`Error::TransactionTooLarge`] if it
    /// changes more than 65,536 keys.
    pub fn set(&mut self, key: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> Result<()> {
        let default = self.core.keeping_default();
        let metadata = Metadata::new(default.stamp, false);
        self.write(key.as_ref(), value.as_ref(), &metadata, None)
    }

    /// Sets a key with attributes.
    ///
    /// # Errors
    /// As [`Transaction::set`] and [`Table::set_with`](crate::Table::set_with).
    pub fn set_with(
        &mut self,
        key: impl AsRef<[u8]>,
        value: impl AsRef<[u8]>,
        attributes: Attributes,
    ) -> Result<()> {
        let metadata = self.core.metadata(attributes)?;
        self.write(key.as_ref(), value.as_ref(), &metadata, None)
    }

    /// Sets a key with attributes and tags, see [`Table::set_tagged`](crate::Table::set_tagged).
    ///
    /// # Errors
    /// As [`Transaction::set_with`].
    pub fn set_tagged(
        &mut self,
        key: impl AsRef<[u8]>,
        value: impl AsRef<[u8]>,
        attributes: Attributes,
        tags: &Tags,
    ) -> Result<()> {
        if !tags.is_empty() && self.core.region().fixed().is_some() {
            return Err(crate::engine::no_room());
        }
        let metadata = self.core.metadata(attributes)?;
        let tags = (!tags.is_empty()).then(|| Box::new(*tags));
        self.write(key.as_ref(), value.as_ref(), &metadata, tags)
    }

    /// Sets a key only if it is missing. Returns false if the key exists.
    ///
    /// # Errors
    /// As [`Transaction::set`].
    pub fn add(&mut self, key: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> Result<bool> {
        self.set_if(key.as_ref(), false, |t, key| t.set(key, value))
    }

    /// Sets a key with attributes and tags only if it is missing. Returns false if the key exists.
    ///
    /// # Errors
    /// As [`Transaction::set_tagged`].
    pub fn add_tagged(
        &mut self,
        key: impl AsRef<[u8]>,
        value: impl AsRef<[u8]>,
        attributes: Attributes,
        tags: &Tags,
    ) -> Result<bool> {
        self.set_if(key.as_ref(), false, |t, key| {
            t.set_tagged(key, value, attributes, tags)
        })
    }

    /// Sets a key only if it exists. Returns false if the key is missing.
    ///
    /// # Errors
    /// As [`Transaction::set`].
    pub fn replace(&mut self, key: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> Result<bool> {
        self.set_if(key.as_ref(), true, |t, key| t.set(key, value))
    }

    /// Sets a key with attributes and tags only if it exists. Returns false if the key is missing.
    ///
    /// # Errors
    /// As [`Transaction::set_tagged`].
    pub fn replace_tagged(
        &mut self,
        key: impl AsRef<[u8]>,
        value: impl AsRef<[u8]>,
        attributes: Attributes,
        tags: &Tags,
    ) -> Result<bool> {
        self.set_if(key.as_ref(), true, |t, key| {
            t.set_tagged(key, value, attributes, tags)
        })
    }

    /// Sets a key if it exists, or if it is missing, and returns whether it did.
    fn set_if(
        &mut self,
        key: &[u8],
        exists: bool,
        set: impl FnOnce(&mut Self, &[u8]) -> Result<()>,
    ) -> Result<bool> {
        let holds = self.contains(key)? == exists;
        if holds {
            set(self, key)?;
        }
        Ok(holds)
    }

    /// Appends bytes to the value, and returns its new length, or `None` if the key is missing; it
    /// is not created. The expiry and flags do not change.
    ///
    /// # Errors
    /// As [`Transaction::set`].
    pub fn append(
        &mut self,
        key: impl AsRef<[u8]>,
        more: impl AsRef<[u8]>,
    ) -> Result<Option<usize>> {
        let key = key.as_ref();
        let Some(mut value) = self.get(key)? else {
            return Ok(None);
        };
        value.extend_from_slice(more.as_ref());
        self.keep(key, &value)?;
        Ok(Some(value.len()))
    }

    /// Removes a key. Returns false if it was missing.
    ///
    /// # Errors
    /// As [`Transaction::set`].
    pub fn remove(&mut self, key: impl AsRef<[u8]>) -> Result<bool> {
        let key = key.as_ref();
        let is_there = self.contains(key)?;
        self.change(key, Change::Remove)?;
        Ok(is_there)
    }

    /// Removes a key and returns its value, or `None` if it was missing.
    ///
    /// # Errors
    /// As [`Transaction::set`].
    pub fn take(&mut self, key: impl AsRef<[u8]>) -> Result<Option<Vec<u8>>> {
        let key = key.as_ref();
        let value = self.get(key)?;
        self.change(key, Change::Remove)?;
        Ok(value)
    }

    /// Adds to a signed number and returns the sum, as
    /// [`Table::add_number`](crate::Table::add_number). A missing key counts as 0 and is created.
    ///
    /// # Errors
    /// As [`Table::add_number`](crate::Table::add_number) and [`Transaction::set`].
    pub fn add_number(&mut self, key: impl AsRef<[u8]>, by: i64) -> Result<i64> {
        let key = key.as_ref();
        let sum = sum_of(self.core, self.get(key)?.as_deref(), by)?;
        self.keep(key, &bytes_of(self.core, sum))?;
        Ok(sum)
    }

    /// Does the same as [`Transaction::add_number`], with attributes for a key that is created, and
    /// the choice to remove a key whose number becomes 0.
    ///
    /// # Errors
    /// As [`Transaction::add_number`] and [`Transaction::set_with`].
    pub fn add_number_with(
        &mut self,
        key: impl AsRef<[u8]>,
        by: i64,
        options: NumberOptions,
    ) -> Result<i64> {
        let key = key.as_ref();
        let old = self.get(key)?;
        let sum = sum_of(self.core, old.as_deref(), by)?;
        let value = bytes_of(self.core, sum);
        match (sum == 0 && options.remove_zero, old.is_some()) {
            (true, true) => self.change(key, Change::Remove)?,
            (true, false) => {}
            (false, true) => self.keep(key, &value)?,
            (false, false) => self.set_with(key, value, options.attributes)?,
        }
        Ok(sum)
    }

    /// Returns how many keys the transaction changes.
    pub fn changes(&self) -> usize {
        self.work.writes.len()
    }

    /// Returns a savepoint: [`Transaction::roll_back_to`] undoes what comes after it.
    pub fn savepoint(&mut self) -> Savepoint {
        self.savepoints.push(self.log.len());
        Savepoint(self.savepoints.len() as u32 - 1)
    }

    /// Undoes all writes since a savepoint, and forgets the savepoints after it. The savepoint
    /// itself stays valid.
    ///
    /// # Errors
    /// [`Error::BadOption`] if this transaction has no such savepoint any more; nothing is undone.
    pub fn roll_back_to(&mut self, savepoint: Savepoint) -> Result<()> {
        let at = savepoint.0 as usize;
        let Some(len) = self.savepoints.get(at).copied() else {
            return Err(Error::BadOption {
                option: "savepoint",
                why: "the transaction has no such savepoint; it was rolled back to an earlier one"
                    .to_string(),
            });
        };
        self.savepoints.truncate(at + 1);
        for (key, before) in self.log.drain(len..).rev() {
            match before {
                Some(change) => self.work.writes.insert(key, change),
                None => self.work.writes.remove(&key),
            };
        }
        Ok(())
    }

    /// Returns the error with which a closure aborts its transaction: `return Err(t.abort())`.
    pub fn abort(&self) -> Error {
        Error::Aborted
    }

    /// Commits: all changes happen at once. Returns false if another process has changed a key
    /// after this transaction had read it; then nothing happens, and the caller may begin again.
    ///
    /// # Errors
    /// As [`Table::set`](crate::Table::set); nothing is changed then.
    ///
    /// # Concurrency
    /// Takes the locks of the shards of all keys. Readers do not wait: they see all changes or
    /// none.
    ///
    /// # Crash
    /// If the process is killed in the call, all keys are changed or none.
    pub fn commit(mut self) -> Result<bool> {
        self.try_commit()
    }

    /// Commits as [`Transaction::commit`] does, but does not end the transaction: after an error
    /// such as [`Error::Busy`] the caller may try again. After a commit it has no changes any more.
    ///
    /// # Errors
    /// As [`Transaction::commit`].
    ///
    /// # Concurrency
    /// As [`Transaction::commit`].
    ///
    /// # Crash
    /// As [`Transaction::commit`].
    pub fn try_commit(&mut self) -> Result<bool> {
        if self.work.writes.is_empty() {
            return self.validate();
        }
        let is_committed = !self.saw_two_values && self.core.commit(&self.work)?;
        if is_committed {
            self.work = Work::default();
            self.log.clear();
            self.savepoints.clear();
        }
        Ok(is_committed)
    }

    /// Returns whether the transaction has seen all keys as they were at one moment. If it has not,
    /// an error that follows from what it has read does not count.
    ///
    /// # Errors
    /// As [`Table::view`](crate::Table::view).
    ///
    /// # Concurrency
    /// Takes the locks of the shards of all keys that were read. A single key needs no comparison:
    /// it was so at one moment.
    pub fn validate(&mut self) -> Result<bool> {
        if self.saw_two_values || self.work.reads.len() < 2 {
            return Ok(!self.saw_two_values);
        }
        let writes = mem::take(&mut self.work.writes);
        let is_valid = self.core.commit(&self.work);
        self.work.writes = writes;
        is_valid
    }

    /// Reads a key of the table, and notes what is there.
    fn read(&mut self, key: &[u8]) -> Result<Option<(Vec<u8>, Attributes)>> {
        let mut value = Vec::new();
        let there = self.core.entry_into(KeyOrUid::Key(key), &mut value)?;
        let seen = there.map(|there| {
            self.core
                .seen(there.version, there.attributes.flags, &value)
        });
        // The commit compares with one value only, and the key may have changed back until then.
        let first = *self.work.reads.entry(key.to_vec()).or_insert(seen);
        self.saw_two_values |= first != seen;
        Ok(there.map(|there| (value, there.attributes)))
    }

    /// Returns the attributes that this transaction gives to a key.
    fn attributes_of_own(&self, key: &[u8]) -> Attributes {
        match self.work.writes.get(key) {
            Some(Change::Set { stamp, .. }) => self.core.attributes(stamp.shown()),
            _ => Attributes::default(),
        }
    }

    /// Sets a value, and keeps the attributes of the key if it exists.
    fn keep(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        if let Some(Change::Set {
            stamp, tags, keep, ..
        }) = self.work.writes.get(key)
        {
            let change = Change::Set {
                value: value.to_vec(),
                stamp: *stamp,
                tags: tags.clone(),
                keep: *keep,
            };
            return self.change(key, change);
        }
        let is_removed = matches!(self.work.writes.get(key), Some(Change::Remove));
        let default = self.core.keeping_default();
        let metadata = Metadata::new(default.stamp, !is_removed);
        self.write(key, value, &metadata, None)
    }

    fn write(
        &mut self,
        key: &[u8],
        value: &[u8],
        metadata: &Metadata<'static>,
        tags: Option<Box<Tags>>,
    ) -> Result<()> {
        // Lengths are checked at once, where the caller can see which key it is.
        self.core.needs_chain(key, value)?;
        let change = Change::Set {
            value: value.to_vec(),
            stamp: metadata.stamp,
            tags,
            keep: metadata.keep,
        };
        self.change(key, change)
    }

    fn change(&mut self, key: &[u8], change: Change) -> Result<()> {
        if self.is_read_only {
            return Err(Error::ReadOnly);
        }
        let writes = &mut self.work.writes;
        if writes.len() >= MOST_CHANGES && !writes.contains_key(key) {
            return Err(Error::TransactionTooLarge {
                limit: MOST_CHANGES as u32,
            });
        }
        let before = writes.insert(key.to_vec(), change);
        if !self.savepoints.is_empty() {
            self.log.push((key.to_vec(), before));
        }
        Ok(())
    }
}

impl fmt::Debug for Transaction<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transaction")
            .field("reads", &self.work.reads.len())
            .field("changes", &self.work.writes.len())
            .finish_non_exhaustive()
    }
}

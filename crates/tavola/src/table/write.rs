//! Writing one key.
//!
//! | step, under the shard's lock | a reader finds | a survivor finds, if we die after it |
//! |---|---|---|
//! | the new item is written to a new block | the old item | a block no slot leads to: freed |
//! | *with a uid:* its entry says `Flux` | the old item, by key | the old item |
//! | the slot is stored | the new item; an old copy may still count | the new item |
//! | the bucket is bumped | the new item; old copies no longer count | the new item |
//! | *with a uid:* its entry says `Live` | the new item | the new item |
//! | the old block is freed | the new item | the new item; the old block is free |

use super::Table;
use super::core::Core;
use super::effort::{Effort, StepsBack};
use super::how::{Beside, How, Naming, When};
use super::leases::{end_of, wake_at};
use crate::alloc::{
    Chain, Stamp, Step, corrupt, discard, free_uid, take_uid, write_large, write_small,
};
use crate::error::{Error, Result};
use crate::index::{
    Hash, New, Spot, Way, Why, change_word, drop_key, find, find_along, publish, publish_small,
};
use crate::layout::{Fixed, Hint};
use crate::lock::ShardLock;

impl Core {
    #[inline(always)]
    pub(super) fn store(&self, key: &[u8], value: &[u8], when: When<'_>) -> Result<bool> {
        let default = self.default_stamping();
        self.store_stamped(key, value, when, Beside(default.as_ref()))
    }

    /// As [`Self::store`], of a key that gets this beside its value.
    #[inline(always)]
    pub(super) fn store_stamped(
        &self,
        key: &[u8],
        value: &[u8],
        when: When<'_>,
        beside: Beside<'_>,
    ) -> Result<bool> {
        let me = self.writer()?;
        let stored = self.try_store(me, (key, value), when, beside)?;
        self.count_set(me);
        Ok(stored)
    }

    /// One round of a call that counts itself, as [`Self::store_stamped`] does, when it is done.
    #[inline(always)]
    pub(super) fn try_store(
        &self,
        me: u32,
        (key, value): (&[u8], &[u8]),
        when: When<'_>,
        beside: Beside<'_>,
    ) -> Result<bool> {
        let hash = Hash::of(self.region(), key);
        self.store_hashed(me, (key, hash), value, when, (self.naming, beside))
            .map(|hint| hint.is_some())
    }

    /// Sets a key, gives it a uid if it has none, and says which.
    pub(super) fn set_uid(&self, key: &[u8], value: &[u8]) -> Result<Hint> {
        let me = self.writer()?;
        let hash = Hash::of(self.region(), key);
        let default = self.default_stamping();
        let how = (Naming::Give, Beside(default.as_ref()));
        let stored = self.store_hashed(me, (key, hash), value, When::Always, how)?;
        self.count_set(me);
        Ok(stored.unwrap_or(Hint::NONE))
    }

    #[inline(always)]
    pub(super) fn set_hashed(
        &self,
        me: u32,
        key: (&[u8], Hash),
        value: &[u8],
        beside: Beside<'_>,
    ) -> Result<()> {
        self.store_hashed(me, key, value, When::Always, (self.naming, beside))?;
        self.count_set(me);
        Ok(())
    }

    /// Stores a value if `when` holds; says the key's uid then, if it was to get one.
    #[inline(always)]
    pub(super) fn store_hashed(
        &self,
        me: u32,
        key: (&[u8], Hash),
        value: &[u8],
        when: When<'_>,
        how: How<'_>,
    ) -> Result<Option<Hint>> {
        if self.times_write() {
            return self.store_timed(me, key, value, when, how);
        }
        self.store_now(me, key, value, when, how)
    }

    #[cold]
    #[inline(never)]
    fn store_timed(
        &self,
        me: u32,
        key: (&[u8], Hash),
        value: &[u8],
        when: When<'_>,
        how: How<'_>,
    ) -> Result<Option<Hint>> {
        self.timed_write(|| self.store_now(me, key, value, when, how))
    }

    #[inline(always)]
    fn store_now(
        &self,
        me: u32,
        (key, hash): (&[u8], Hash),
        value: &[u8],
        when: When<'_>,
        how: How<'_>,
    ) -> Result<Option<Hint>> {
        if self.needs_chain(key, value)? {
            return self.store_large(me, (key, hash), value, when, how);
        }
        let way = Way::warm_both(self.region(), hash);
        // One word is mostly changed in place.
        let word = <[u8; 8]>::try_from(value).ok().map(u64::from_ne_bytes);
        if let Some(lock) = ShardLock::try_acquire(self.region(), hash.shard(), me) {
            let spot = find_along(&lock, way, hash, key, word.is_none());
            if let (Ok(Spot::Taken(found)), Some(word)) = (&spot, word)
                && matches!(when, When::Always | When::Present)
                && how.0 == Naming::Keep
                && how.1.is_plain()
                && let Some(place) = found.word(&lock, key)
            {
                change_word(&lock, Some(hash), place, word);
                found.visit(&lock);
                drop(lock);
                self.after_step(me);
                return Ok(Some(Hint::NONE));
            }
            let outcome =
                spot.and_then(|spot| store_at(&lock, hash, spot, (key, value), when, how));
            drop(lock);
            if let Some(done) = self.after_first_try(me, outcome) {
                return done;
            }
        }
        self.store_slowly(me, hash, (key, value), when, how)
    }

    /// As [`Self::store_hashed`], of an item that is not large, however long it takes.
    #[cold]
    fn store_slowly(
        &self,
        me: u32,
        hash: Hash,
        pair: (&[u8], &[u8]),
        when: When<'_>,
        how: How<'_>,
    ) -> Result<Option<Hint>> {
        self.locked(hash.shard(), me, |lock| {
            store_at(lock, hash, find(lock, hash, pair.0)?, pair, when, how)
        })
    }

    /// Whether key and value need a chain; an error, when they cannot stand in the table at all.
    #[inline(always)]
    pub(super) fn needs_chain(&self, key: &[u8], value: &[u8]) -> Result<bool> {
        match self.region().fixed() {
            None => Chain::is_needed(key, value),
            Some(fixed) if fixed.fits(key, value) => Ok(false),
            Some(fixed) => Err(lengths(fixed)),
        }
    }

    /// The pages of a large item are written before the shard is locked.
    #[cold]
    fn store_large(
        &self,
        me: u32,
        (key, hash): (&[u8], Hash),
        value: &[u8],
        when: When<'_>,
        how: How<'_>,
    ) -> Result<Option<Hint>> {
        let mut steps = StepsBack::new();
        loop {
            let mut chain = Some(self.chain(me, key, value)?);
            let stored = self.publish_large(me, (key, hash), value, when, how, &mut chain);
            let is_full = matches!(stored, Err(Error::Full { .. }));
            if !is_full || !self.steps_back(me, chain, &mut steps)? {
                return stored;
            }
        }
    }

    fn publish_large(
        &self,
        me: u32,
        (key, hash): (&[u8], Hash),
        value: &[u8],
        when: When<'_>,
        (naming, beside): How<'_>,
        chain: &mut Option<Chain<'_>>,
    ) -> Result<Option<Hint>> {
        self.locked_with(hash.shard(), me, Effort::holding(), |lock| {
            let spot = find(lock, hash, key)?;
            if !when.holds(lock, &spot)? {
                return Ok(None);
            }
            let Some(built) = &*chain else {
                return corrupt("a chain that was used before");
            };
            let mut room = None;
            let stamp = beside.of(lock, key, &spot, &mut room)?;
            let (item_ref, hint) = write_with_uid(lock, naming, &spot, |hint| {
                write_large(lock, built, key, value, hint, &stamp)
            })?;
            let new = New {
                item_ref,
                payload: key.len() + value.len(),
                hint,
            };
            let old = publish(lock, hash, spot, new, Why::Set)?;
            if let Some(built) = chain.take() {
                built.settle(lock);
            }
            old.map_or(Ok(()), |old| discard(lock, old))?;
            Ok(Some(hint))
        })
    }

    /// Takes the key out if it is there.
    #[inline(always)]
    pub(super) fn delete(&self, key: &[u8]) -> Result<bool> {
        let me = self.writer()?;
        let removed = self.try_delete(me, key, When::Always)?;
        self.count_remove(me);
        Ok(removed)
    }

    /// As [`Self::delete`], if `when` holds; a round, as [`Self::try_store`].
    #[inline(always)]
    pub(super) fn try_delete(&self, me: u32, key: &[u8], when: When<'_>) -> Result<bool> {
        let hash = Hash::of(self.region(), key);
        let way = Way::warm_both(self.region(), hash);
        let (removed, ended) = self.locked(hash.shard(), me, |lock| {
            let spot = find_along(lock, way, hash, key, true)?;
            if !when.holds(lock, &spot)? {
                return Ok((false, None));
            }
            let removed = match spot.found() {
                Some(found) => drop_key(lock, &found, Why::Remove).map(|()| true)?,
                None => false,
            };
            // What is being computed is of before: it is not to be stored.
            Ok((removed, end_of(lock, key)))
        })?;
        wake_at(self.region(), hash.shard(), ended);
        Ok(removed)
    }
}

/// Stores an item that is not large, where its key is or would be.
#[inline(never)]
fn store_at(
    lock: &ShardLock<'_>,
    hash: Hash,
    spot: Spot<'_>,
    (key, value): (&[u8], &[u8]),
    when: When<'_>,
    (naming, beside): How<'_>,
) -> Step<Option<Hint>> {
    if !when.holds(lock, &spot)? {
        return Ok(None);
    }
    if let Spot::Taken(found) = &spot
        && let Ok(word) = <[u8; 8]>::try_from(value)
        && beside.is_plain()
        && let Some(place) = found.word(lock, key)
        && let Some(hint) = naming.kept(lock, found)?
    {
        change_word(lock, Some(hash), place, u64::from_ne_bytes(word));
        found.visit(lock);
        return Ok(Some(hint));
    }
    if naming == Naming::Give || spot.has_fields() || beside.is_given() {
        return store_with_fields(lock, (hash, spot), (key, value), (naming, beside));
    }
    let new = New {
        item_ref: write_small(lock, key, value, Hint::NONE, &Stamp::NONE)?,
        payload: key.len() + value.len(),
        hint: Hint::NONE,
    };
    publish_small(lock, hash, spot, new)?;
    Ok(Some(Hint::NONE))
}

/// Stores an item that is not large, with more than key and value, or in the place of one that has
/// more: by itself, so that the others stay as quick as they are.
#[cold]
#[inline(never)]
fn store_with_fields(
    lock: &ShardLock<'_>,
    (hash, spot): (Hash, Spot<'_>),
    (key, value): (&[u8], &[u8]),
    (naming, beside): How<'_>,
) -> Step<Option<Hint>> {
    let mut room = None;
    let stamp = beside.of(lock, key, &spot, &mut room)?;
    let (item_ref, hint) = write_with_uid(lock, naming, &spot, |hint| {
        write_small(lock, key, value, hint, &stamp)
    })?;
    let new = New {
        item_ref,
        payload: key.len() + value.len(),
        hint,
    };
    publish_small(lock, hash, spot, new)?;
    Ok(Some(hint))
}

/// Writes the new item of a key with the uid that it gets: the one the key has, or a new one where
/// it is to have one, or none.
#[inline(always)]
pub(super) fn write_with_uid(
    lock: &ShardLock<'_>,
    naming: Naming,
    spot: &Spot<'_>,
    write: impl FnOnce(Hint) -> Step<u64>,
) -> Step<(u64, Hint)> {
    let old = spot.hint(lock)?;
    if old.is_some() || naming == Naming::Keep {
        return Ok((write(old)?, old));
    }
    let hint = take_uid(lock)?;
    match write(hint) {
        Ok(item_ref) => Ok((item_ref, hint)),
        Err(stop) => {
            free_uid(lock, hint);
            Err(stop)
        }
    }
}

/// The error of a key or value that does not have the fixed length of the table.
#[cold]
pub(super) fn lengths(fixed: Fixed) -> Error {
    Error::Lengths {
        key: fixed.key_len,
        value: fixed.value_len,
    }
}

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
        self.core()?.store(key, value, When::Always).map(|_| ())
    }

    /// Sets a key only if it is missing. Returns false if the key exists; it then does not change.
    ///
    /// # Errors
    /// As [`Table::set`].
    pub fn add(&self, key: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> Result<bool> {
        let (key, value) = (key.as_ref(), value.as_ref());
        self.core()?.store(key, value, When::Absent)
    }

    /// Sets a key only if it exists. Returns false if the key is missing.
    ///
    /// # Errors
    /// As [`Table::set`].
    pub fn replace(&self, key: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> Result<bool> {
        let (key, value) = (key.as_ref(), value.as_ref());
        self.core()?.store(key, value, When::Present)
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

//! Keys by number: uids.

use super::Table;
use super::core::Core;
use super::request::When;
use crate::alloc::{copy_with_field, free_uid, take_uid};
use crate::error::{Error, Result};
use crate::index::{Hash, HintOf, KeyOf, Spot, ToSlice, Why, change_word, publish_copy};
use crate::index::{find, is_watched, read, read_by_uid, read_by_uid_seated, word_by_uid};
use crate::layout::{FLAG_UID, Hint, UidPlace};
use crate::values::Updated;

/// How often a key may lose its uid to another between reading and locking, before that is held to
/// be damage.
const TRIES: u32 = 1 << 16;

impl Core {
    fn uid_of(&self, key: &[u8]) -> Result<Option<Hint>> {
        let hash = Hash::of(self.region(), key);
        let mut has = HintOf(Hint::NONE);
        if !read(self.region(), key, hash, &mut has)? {
            return Ok(None);
        }
        if has.0.is_some() {
            return Ok(Some(has.0));
        }
        self.give_uid(key, hash)
    }

    /// Lets the key lead to a copy of its item that has a uid.
    #[cold]
    fn give_uid(&self, key: &[u8], hash: Hash) -> Result<Option<Hint>> {
        let me = self.writer()?;
        self.locked(hash.shard(), me, |lock| {
            let found = match find(lock, hash, key)? {
                Spot::Free(_) => return Ok(None),
                Spot::Taken(found) => found,
            };
            let had = found.hint(lock)?;
            if had.is_some() {
                return Ok(Some(had));
            }
            let item = found.item(lock)?;
            let hint = take_uid(lock)?;
            let field = (FLAG_UID, hint.to_bits());
            let new = copy_with_field(lock, &item, field).inspect_err(|_| free_uid(lock, hint))?;
            publish_copy(lock, hash, &found, (new, hint), Why::Uid)?;
            Ok(Some(hint))
        })
    }

    fn key_of_uid(&self, hint: Hint, out: &mut Vec<u8>) -> Result<bool> {
        let found = read_by_uid(self.region(), hint, &mut KeyOf(out));
        if !matches!(found, Ok(true)) {
            out.clear();
        }
        found
    }

    fn set_by_uid(&self, hint: Hint, value: &[u8]) -> Result<bool> {
        let me = self.writer()?;
        if let Ok(word) = <[u8; 8]>::try_from(value)
            && !self.region().geometry().stamps()
        {
            let shard = UidPlace::of(hint.uid(), self.region().geometry().shards_log2).shard;
            let changed = self.locked(shard, me, |lock| {
                // Of a key that may be watched it is to be known which one it is.
                let place = (!is_watched(lock))
                    .then(|| word_by_uid(lock, hint))
                    .flatten();
                if let Some(place) = place {
                    change_word(lock, None, place, u64::from_ne_bytes(word));
                }
                Ok(place.is_some())
            })?;
            if changed {
                self.count_set(me);
                return Ok(true);
            }
        }
        let default = self.default_metadata();
        let is_there = self.by_key(hint, |key| {
            let request = self.request(key, When::Has(hint), default.as_ref())?;
            Ok(self.write(&request, value)?.is_some())
        })?;
        self.count_set(me);
        Ok(is_there)
    }

    fn remove_by_uid(&self, hint: Hint) -> Result<bool> {
        let me = self.writer()?;
        let is_there = self.by_key(hint, |key| {
            self.remove(&self.request(key, When::Has(hint), None)?)
        })?;
        self.count_remove(me);
        Ok(is_there)
    }

    fn try_update_by_uid<E: From<Error>>(
        &self,
        hint: Hint,
        mut new: impl FnMut(&[u8]) -> Result<Option<Vec<u8>>, E>,
    ) -> Result<Updated, E> {
        let me = self.writer()?;
        let metadata = self.keeping_default();
        let (mut key, mut old, mut last) = (Vec::new(), Vec::new(), Vec::new());
        let mut tries = 0;
        while tries < TRIES {
            std::mem::swap(&mut old, &mut last);
            old.clear();
            if !self.key_of_uid(hint, &mut key)? || !read_by_uid(self.region(), hint, &mut old)? {
                self.count_set(me);
                return Ok(Updated::NotFound);
            }
            let value = new(&old)?;
            let when = When::HasValue(hint, &old);
            let request = self.request(&key, when, Some(&metadata))?;
            let done = match &value {
                Some(value) => self.write(&request, value)?.is_some(),
                None => self.remove(&request)?,
            };
            if done {
                self.count_change(me, value.is_none());
                return Ok(value.map_or(Updated::Removed, Updated::Stored));
            }
            // Another value: somebody got on.
            tries = if old == last { tries + 1 } else { 0 };
        }
        Ok(self.region().damaged("the item of a uid")?)
    }

    /// Runs `act` on the key of a uid until it succeeds. Returns false if no key has the uid.
    fn by_key(&self, hint: Hint, act: impl Fn(&[u8]) -> Result<bool>) -> Result<bool> {
        let mut key = Vec::new();
        for _ in 0..TRIES {
            let is_there = self.key_of_uid(hint, &mut key)?;
            if !is_there || act(&key)? {
                return Ok(is_there);
            }
        }
        self.region().damaged("the item of a uid")
    }
}

impl Table {
    /// Returns the uid of a key, and assigns one if it has none. Returns `None` if the key is
    /// missing.
    ///
    /// # Examples
    /// ```
    /// # let dir = std::env::temp_dir().join(format!("tavola-uid-{}", std::process::id()));
    /// # std::fs::create_dir_all(&dir)?;
    /// # let table = tavola::Table::open(dir.join("t"))?;
    /// let alice = table.set_uid(b"alice", b"1")?;
    /// assert_eq!(table.uid_of(b"alice")?, Some(alice));
    /// assert_eq!(table.get_by_uid(alice)?.as_deref(), Some(&b"1"[..]));
    /// // Stays while the key lives, and says so when it is another's.
    /// table.set(b"alice", b"2")?;
    /// assert_eq!(table.get_by_uid(alice.uid())?.as_deref(), Some(&b"2"[..]));
    /// table.remove(b"alice")?;
    /// assert_eq!(table.get_by_uid(alice)?, None);
    /// # std::fs::remove_dir_all(&dir)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Table::get`]; as [`Table::set`] if the key has no uid yet.
    ///
    /// # Crash
    /// If the process is killed in the call, the key has a uid or none.
    pub fn uid_of(&self, key: impl AsRef<[u8]>) -> Result<Option<Hint>> {
        let key = key.as_ref();
        self.core()?.uid_of(key)
    }

    /// Sets a key, assigns a uid if it has none, and returns the uid.
    ///
    /// # Errors
    /// As [`Table::set`]; [`Error::Full`](crate::Error::Full) also if all uids of the key's shard
    /// are in use: a table has 2^32, evenly divided among its shards.
    ///
    /// # Crash
    /// As [`Table::set`].
    pub fn set_uid(&self, key: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> Result<Hint> {
        let (key, value) = (key.as_ref(), value.as_ref());
        self.core()?.set_uid(key, value)
    }

    /// Returns the value of the key with this uid, or `None` if there is no such key. With a
    /// [`Hint`] it also returns `None` if the uid now belongs to another key.
    ///
    /// # Errors
    /// As [`Table::get`].
    ///
    /// # Concurrency
    /// As [`Table::get`]. Reads by uid and by key always agree.
    #[inline]
    pub fn get_by_uid(&self, uid: impl Into<Hint>) -> Result<Option<Vec<u8>>> {
        let mut value = Vec::new();
        Ok(self.get_by_uid_into(uid, &mut value)?.then_some(value))
    }

    /// Reads the value of the key with this uid into a buffer, which is cleared first. Returns
    /// false if there is no such key.
    ///
    /// # Errors
    /// As [`Table::get`].
    #[inline(always)]
    pub fn get_by_uid_into(&self, uid: impl Into<Hint>, out: &mut Vec<u8>) -> Result<bool> {
        out.clear();
        let core = self.core()?;
        let found = read_by_uid_seated(core.region(), uid.into(), out, core)?;
        if !found {
            out.clear();
        }
        Ok(found)
    }

    /// Reads the value of the key with this uid into a slice, as [`Table::get_to_slice`].
    ///
    /// # Errors
    /// As [`Table::get`].
    #[inline(always)]
    pub fn get_by_uid_to_slice(
        &self,
        uid: impl Into<Hint>,
        out: &mut [u8],
    ) -> Result<Option<usize>> {
        let mut value = ToSlice::new(out, 0);
        let core = self.core()?;
        let found = read_by_uid_seated(core.region(), uid.into(), &mut value, core);
        value.end(found)
    }

    /// Sets the value of the key with this uid, and resets its flags and TTL, as [`Table::set`].
    /// Returns false if there is no such key.
    ///
    /// # Errors
    /// As [`Table::set`].
    ///
    /// # Crash
    /// As [`Table::set`].
    pub fn set_by_uid(&self, uid: impl Into<Hint>, value: impl AsRef<[u8]>) -> Result<bool> {
        let value = value.as_ref();
        self.core()?.set_by_uid(uid.into(), value)
    }

    /// Changes the value of the key with this uid atomically. `new` gets the old value and returns
    /// the new one, or `None` to remove the key. The expiry, flags and uid do not change.
    ///
    /// # Examples
    /// ```
    /// # let dir = std::env::temp_dir().join(format!("tavola-by-uid-{}", std::process::id()));
    /// # std::fs::create_dir_all(&dir)?;
    /// # let table = tavola::Table::open(dir.join("t"))?;
    /// use tavola::Updated;
    /// let alice = table.set_uid(b"alice", b"a")?;
    /// let append_x = |old: &[u8]| Some([old, b"x"].concat());
    /// assert_eq!(table.update_by_uid(alice, append_x)?, Updated::Stored(b"ax".to_vec()));
    /// assert_eq!(table.update_by_uid(alice, |_| None)?, Updated::Removed);
    /// assert_eq!(table.update_by_uid(alice, append_x)?, Updated::NotFound);
    /// # std::fs::remove_dir_all(&dir)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Table::set`].
    ///
    /// # Concurrency
    /// `new` runs outside any lock. It runs again if another process changed the key meanwhile, or
    /// if the uid went to another key (with a [`Hint`] that key is not changed).
    ///
    /// # Crash
    /// As [`Table::set`].
    pub fn update_by_uid(
        &self,
        uid: impl Into<Hint>,
        mut new: impl FnMut(&[u8]) -> Option<Vec<u8>>,
    ) -> Result<Updated> {
        self.try_update_by_uid(uid, |old| Ok(new(old)))
    }

    /// Changes a value as [`Table::update_by_uid`]. If `new` returns an error, the key does not
    /// change, and the error is returned.
    ///
    /// # Errors
    /// As [`Table::set`], and those of `new`.
    ///
    /// # Concurrency
    /// As [`Table::update_by_uid`].
    pub fn try_update_by_uid<E: From<Error>>(
        &self,
        uid: impl Into<Hint>,
        new: impl FnMut(&[u8]) -> Result<Option<Vec<u8>>, E>,
    ) -> Result<Updated, E> {
        self.core()?.try_update_by_uid(uid.into(), new)
    }

    /// Removes the key with this uid. Returns false if there is no such key.
    ///
    /// # Errors
    /// As [`Table::remove`].
    ///
    /// # Crash
    /// As [`Table::remove`].
    pub fn remove_by_uid(&self, uid: impl Into<Hint>) -> Result<bool> {
        self.core()?.remove_by_uid(uid.into())
    }

    /// Returns the key with this uid, or `None` if there is no such key.
    ///
    /// # Errors
    /// As [`Table::get`].
    pub fn key_of_uid(&self, uid: impl Into<Hint>) -> Result<Option<Vec<u8>>> {
        let mut key = Vec::new();
        Ok(self.key_of_uid_into(uid, &mut key)?.then_some(key))
    }

    /// Reads the key with this uid into a buffer, which is cleared first. Returns false if there is
    /// no such key.
    ///
    /// # Errors
    /// As [`Table::get`].
    pub fn key_of_uid_into(&self, uid: impl Into<Hint>, out: &mut Vec<u8>) -> Result<bool> {
        self.core()?.key_of_uid(uid.into(), out)
    }
}

//! Calls for keys by number: uids.

use super::Table;
use crate::engine::CounterChange;
use crate::error::{Error, Result};
use crate::index::locate::{ToSlice, read_by_uid_as};
use crate::layout::Hint;
use crate::values::{Expiry, Updated};

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
        let found = read_by_uid_as(core.region(), uid.into(), out, core)?;
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
        let found = read_by_uid_as(core.region(), uid.into(), &mut value, core);
        value.end(found)
    }

    /// Reads the values of the keys with these uids: calls `found` once for each uid, in order,
    /// with its position and the value. Their cache misses overlap, as those of
    /// [`Table::get_many`].
    ///
    /// # Examples
    /// ```
    /// # let table = tavola::Table::options().max_size(1 << 20).private()?;
    /// let uids = [table.set_uid("a", "1")?, table.set_uid("b", "2")?];
    /// table.remove("a")?;
    /// let mut values = Vec::new();
    /// table.get_many_by_uid(&uids, |_, value| values.push(value.map(<[u8]>::to_vec)))?;
    /// assert_eq!(values, [None, Some(b"2".to_vec())]);
    /// # Ok::<(), tavola::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Table::get`]; the uids before the one that failed were reported.
    ///
    /// # Concurrency
    /// Each key is read separately, as by [`Table::get_by_uid`].
    pub fn get_many_by_uid<U: Into<Hint> + Copy>(
        &self,
        uids: &[U],
        found: impl FnMut(usize, Option<&[u8]>),
    ) -> Result<()> {
        let hints = uids.iter().map(|uid| (*uid).into());
        self.core()?.read_many_by_uid(hints, found)
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

    /// Adds to the counter of the key with this uid, as [`Table::incr`], and returns the sum, or
    /// `None` if there is no such key.
    ///
    /// # Examples
    /// ```
    /// # let table = tavola::Table::options().max_size(1 << 20).private()?;
    /// let hits = table.set_uid("hits", "41")?;
    /// assert_eq!(table.incr_by_uid(hits, 1)?, Some(42));
    /// assert_eq!(table.decr_by_uid(hits, 50)?, Some(0));
    /// table.remove("hits")?;
    /// assert_eq!(table.incr_by_uid(hits, 1)?, None);
    /// # Ok::<(), tavola::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Table::incr`].
    ///
    /// # Crash
    /// As [`Table::incr`].
    pub fn incr_by_uid(&self, uid: impl Into<Hint>, by: u64) -> Result<Option<u64>> {
        self.core()?.count_by_uid(uid.into(), CounterChange::Up(by))
    }

    /// Subtracts from the counter of the key with this uid, as [`Table::decr`], and returns the
    /// result, or `None` if there is no such key.
    ///
    /// # Errors
    /// As [`Table::incr`].
    ///
    /// # Crash
    /// As [`Table::incr`].
    pub fn decr_by_uid(&self, uid: impl Into<Hint>, by: u64) -> Result<Option<u64>> {
        self.core()?
            .count_by_uid(uid.into(), CounterChange::Down(by))
    }

    /// Changes the TTL of the key with this uid, as [`Table::touch`]. Returns false if there is no
    /// such key.
    ///
    /// # Errors
    /// As [`Table::touch`].
    ///
    /// # Crash
    /// As [`Table::touch`].
    pub fn touch_by_uid(&self, uid: impl Into<Hint>, expiry: Expiry) -> Result<bool> {
        self.core()?.touch_by_uid(uid.into(), expiry)
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

//! Calls that read one key.

use super::Table;
use crate::engine::Core;
use crate::error::Result;
use crate::index::locate::{Hash, Value, read};

impl Table {
    /// Returns the value of a key, or `None` if it is missing.
    ///
    /// # Errors
    /// [`Error::Corrupt`](crate::Error::Corrupt) if the table is damaged on the path to the key.
    ///
    /// # Concurrency
    /// Takes no lock and never waits for a writer, whether it is running, stopped or dead. The
    /// value was set by one call, and is never a mixture of two. A read writes nothing, except in a
    /// cache: there it increments a counter of its process, and the first read of a key since it
    /// was set or considered for eviction sets the access bit of the key. For that it tries the
    /// lock of the shard once; if the lock is in use, the next read does it.
    ///
    /// A value of more than about 16 KB is copied once, whatever is written meanwhile: the process
    /// attaches and records which pages it reads. If six such reads and views are active through
    /// this `Table`, a further read that writers disturb four times takes the lock of the shard. A
    /// read-only handle starts again whenever a read is disturbed, without a limit, see
    /// [`Options::open_read_only`](crate::Options::open_read_only).
    #[inline]
    pub fn get(&self, key: impl AsRef<[u8]>) -> Result<Option<Vec<u8>>> {
        let key = key.as_ref();
        let Some(core) = self.lazy.ready() else {
            let mut value = Vec::new();
            return Ok(self.get_first(key, &mut value)?.then_some(value));
        };
        let mut value = Value::default();
        let hash = Hash::of(core.region(), key);
        let found = core.read(key, hash, &mut value)?;
        Ok(found.then(|| value.into_vec()))
    }

    /// Reads the value of a key into a buffer, which is cleared first. Returns false if the key is
    /// missing.
    ///
    /// # Errors
    /// As [`Table::get`].
    #[inline(always)]
    pub fn get_into(&self, key: impl AsRef<[u8]>, out: &mut Vec<u8>) -> Result<bool> {
        let key = key.as_ref();
        match self.lazy.ready() {
            Some(core) => core.get_into(key, out),
            None => self.get_first(key, out),
        }
    }

    #[cold]
    fn get_first(&self, key: &[u8], out: &mut Vec<u8>) -> Result<bool> {
        match self.lazy.read_unmapped(key, out) {
            Some(found) => Ok(found.is_some()),
            None => self.core()?.get_into(key, out),
        }
    }

    /// Reads the value of a key into a slice, without an allocation, and returns the length of the
    /// value, or `None` if the key is missing. A value that is longer than `out` is not copied.
    ///
    /// The bytes of `out` after the value do not change, except that some may be 0 because an
    /// interrupted read of another value was cleared.
    ///
    /// # Examples
    /// ```
    /// # let table = tavola::Table::options().max_size(1 << 20).private()?;
    /// table.set(b"alice", b"12345")?;
    /// let mut out = [0; 64];
    /// assert_eq!(table.get_to_slice(b"alice", &mut out)?, Some(5));
    /// assert_eq!(out[..5], *b"12345");
    /// assert_eq!(table.get_to_slice(b"alice", &mut out[..3])?, Some(5));
    /// assert_eq!(table.get_to_slice(b"bob", &mut out)?, None);
    /// # Ok::<(), tavola::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Table::get`].
    #[inline(always)]
    pub fn get_to_slice(&self, key: impl AsRef<[u8]>, out: &mut [u8]) -> Result<Option<usize>> {
        let key = key.as_ref();
        let Some(core) = self.lazy.ready() else {
            return self.get_first_to_slice(key, out);
        };
        match core.glance_to_slice(key, out) {
            Ok(len) => Ok(len),
            Err(written) => Self::get_on_to_slice(core, key, out, written),
        }
    }

    /// By itself: what a read holds while it is short fits into registers then.
    #[inline(never)]
    fn get_on_to_slice(
        core: &Core,
        key: &[u8],
        out: &mut [u8],
        written: usize,
    ) -> Result<Option<usize>> {
        core.get_to_slice(key, out, written)
    }

    #[cold]
    fn get_first_to_slice(&self, key: &[u8], out: &mut [u8]) -> Result<Option<usize>> {
        let mut value = Vec::new();
        match self.lazy.read_unmapped(key, &mut value) {
            Some(None) => Ok(None),
            Some(Some(_)) => {
                if let Some(out) = out.get_mut(..value.len()) {
                    out.copy_from_slice(&value);
                }
                Ok(Some(value.len()))
            }
            None => self.core()?.get_to_slice(key, out, 0),
        }
    }

    /// Returns whether the key exists.
    ///
    /// # Errors
    /// As [`Table::get`].
    #[inline]
    pub fn contains(&self, key: impl AsRef<[u8]>) -> Result<bool> {
        let key = key.as_ref();
        let region = self.core()?.region();
        read(region, key, Hash::of(region, key), &mut ())
    }
}

//! Reading one key.

use super::Table;
use super::core::Core;
use crate::error::Result;
use crate::index::{Glanced, Hash, ToSlice, Value, glance, read};

impl Core {
    /// As [`Table::get_into`].
    #[inline(always)]
    pub(super) fn get_into(&self, key: &[u8], out: &mut Vec<u8>) -> Result<bool> {
        out.clear();
        self.read(key, Hash::of(self.region(), key), out)
    }

    /// As [`Table::get_to_slice`], where that takes few steps. Else how many bytes of `out` may
    /// have been written.
    #[inline(always)]
    fn glance_to_slice(
        &self,
        key: &[u8],
        out: &mut [u8],
    ) -> core::result::Result<Option<usize>, usize> {
        let region = self.region();
        if region.is_cache() {
            return Err(0);
        }
        let mut value = Glanced::new(out);
        let found = glance(region, key, Hash::of(region, key), &mut value);
        value.end(found)
    }

    /// As [`Table::get_to_slice`], after `written` bytes were written in vain.
    #[inline(always)]
    fn get_to_slice(&self, key: &[u8], out: &mut [u8], written: usize) -> Result<Option<usize>> {
        let mut value = ToSlice::new(out, written);
        let found = self.read(key, Hash::of(self.region(), key), &mut value);
        value.end(found)
    }
}

impl Table {
    /// The value of a key; `None` when it is missing.
    ///
    /// # Errors
    /// [`Error::Corrupt`](crate::Error::Corrupt) when the bytes on the way to it contradict each
    /// other.
    ///
    /// # Concurrency
    /// Never waits for a writer, living, stopped or dead, and takes no lock to read; the value is
    /// one that was set as a whole. It writes nothing, but where the table is a cache: there it
    /// counts the read in a line of its process, and the first read of a key since it was set or
    /// passed over writes a bit that says so, for which it tries the shard's lock once, and leaves
    /// it to the next read if somebody holds it.
    ///
    /// A value of more than some 16 KB is copied once, whatever is written meanwhile: the process
    /// attaches and notes in its line which pages it reads. Where six such reads and views are
    /// under way through this `Table`, one that writers spoil four times asks for the shard's lock.
    /// Through a handle that may only read, it begins again as often as it is spoiled: without a
    /// limit, see [`Options::open_read_only`](crate::Options::open_read_only).
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

    /// As [`Table::get`], into a buffer of the caller's: it is cleared, then holds the value.
    /// False: the key is missing.
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
        match self.lazy.peek(key, out) {
            Some(found) => Ok(found),
            None => self.core()?.get_into(key, out),
        }
    }

    /// As [`Table::get`], into bytes of the caller's, and without an allocation: the length of the
    /// value, which stands at the front of `out` now, if it fits there. A longer one is not copied.
    ///
    /// What `out` held behind the value, or where there is none, stays, but for bytes that are 0
    /// because another value stood there meanwhile.
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
        match self.lazy.peek(key, &mut value) {
            Some(false) => Ok(None),
            Some(true) => {
                if let Some(out) = out.get_mut(..value.len()) {
                    out.copy_from_slice(&value);
                }
                Ok(Some(value.len()))
            }
            None => self.core()?.get_to_slice(key, out, 0),
        }
    }

    /// Whether the key is there.
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

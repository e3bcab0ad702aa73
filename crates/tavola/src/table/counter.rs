//! Counters: 64-bit numbers in place, decimal text for readers. In a table of fixed lengths,
//! readers get the eight bytes of the number.

use super::Table;
use crate::engine::CounterChange;
use crate::error::Result;
use crate::values::Attributes;

impl Table {
    /// Adds to a counter and returns the sum. A missing counter starts at 0. The sum wraps at 2^64.
    ///
    /// The value of a counter is decimal text, and any decimal text is a counter: after `set(b"n",
    /// b"41")` and `incr(b"n", 1)`, `get(b"n")` returns `b"42"`.
    ///
    /// In a table of fixed lengths whose values have 8 bytes, each value is a counter: a `u64` in
    /// the byte order of the machine.
    ///
    /// # Examples
    /// ```
    /// let pairs = tavola::Table::options().max_size(1 << 20).fixed(4, 8).private()?;
    /// pairs.set("hits", 41u64.to_ne_bytes())?;
    /// assert_eq!(pairs.incr("hits", 1)?, 42);
    /// assert_eq!(pairs.get("hits")?.as_deref(), Some(&42u64.to_ne_bytes()[..]));
    /// # Ok::<(), tavola::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NotACounter`](crate::Error::NotACounter);
    /// [`Error::Lengths`](crate::Error::Lengths) in a table of fixed lengths whose values do not
    /// have 8 bytes. Otherwise as [`Table::set`].
    ///
    /// # Crash
    /// If the process is killed in the call, the number is added once or not at all.
    pub fn incr(&self, key: impl AsRef<[u8]>, by: u64) -> Result<u64> {
        let key = key.as_ref();
        let sum = self.incr_from(key, by, Some(by))?;
        Ok(sum.unwrap_or(by))
    }

    /// Subtracts from a counter, never below 0, and returns the result. A missing counter becomes
    /// 0.
    ///
    /// # Errors
    /// As [`Table::incr`].
    pub fn decr(&self, key: impl AsRef<[u8]>, by: u64) -> Result<u64> {
        let key = key.as_ref();
        let rest = self.decr_from(key, by, Some(0))?;
        Ok(rest.unwrap_or(0))
    }

    /// Adds to a counter as [`Table::incr`]. A missing key becomes `initial`, or stays missing if
    /// that is `None`.
    ///
    /// # Errors
    /// As [`Table::incr`].
    pub fn incr_from(
        &self,
        key: impl AsRef<[u8]>,
        by: u64,
        initial: Option<u64>,
    ) -> Result<Option<u64>> {
        let key = key.as_ref();
        self.incr_with(key, by, initial, Attributes::default())
    }

    /// Subtracts from a counter as [`Table::decr`]. A missing key becomes `initial`, or stays
    /// missing if that is `None`.
    ///
    /// # Errors
    /// As [`Table::incr`].
    pub fn decr_from(
        &self,
        key: impl AsRef<[u8]>,
        by: u64,
        initial: Option<u64>,
    ) -> Result<Option<u64>> {
        let key = key.as_ref();
        self.decr_with(key, by, initial, Attributes::default())
    }

    /// Adds to a counter as [`Table::incr_from`]. A new key gets these attributes; an existing key
    /// keeps its own.
    ///
    /// # Errors
    /// As [`Table::incr`].
    pub fn incr_with(
        &self,
        key: impl AsRef<[u8]>,
        by: u64,
        initial: Option<u64>,
        attributes: Attributes,
    ) -> Result<Option<u64>> {
        let key = key.as_ref();
        let core = self.core()?;
        let metadata = core.keeping(attributes)?;
        core.count(key, CounterChange::Up(by), initial, &metadata)
    }

    /// Subtracts from a counter as [`Table::decr_from`]. A new key gets these attributes; an
    /// existing key keeps its own.
    ///
    /// # Errors
    /// As [`Table::incr`].
    pub fn decr_with(
        &self,
        key: impl AsRef<[u8]>,
        by: u64,
        initial: Option<u64>,
        attributes: Attributes,
    ) -> Result<Option<u64>> {
        let key = key.as_ref();
        let core = self.core()?;
        let metadata = core.keeping(attributes)?;
        core.count(key, CounterChange::Down(by), initial, &metadata)
    }
}

//! The capacity of a table: with one it is a cache.

use super::Table;
use crate::alloc::{capacity, set_capacity};
use crate::error::Result;

impl Table {
    /// Returns the capacity of a cache in bytes, or `None` if the table is not a cache.
    ///
    /// # Errors
    /// Currently none.
    pub fn capacity(&self) -> Result<Option<u64>> {
        Ok(capacity(self.core()?.region()))
    }

    /// Changes the capacity of a cache for all processes. A smaller capacity is applied step by
    /// step by later writes, or completely by [`Table::maintain`].
    ///
    /// # Errors
    /// [`Error::BadOption`](crate::Error::BadOption) if the table is not a cache, or if the
    /// capacity is out of range; [`Error::ReadOnly`](crate::Error::ReadOnly).
    pub fn set_capacity(&self, bytes: u64) -> Result<()> {
        let core = self.core()?;
        core.writer()?;
        set_capacity(core.region(), bytes)
    }
}

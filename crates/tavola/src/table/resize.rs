//! `max_size` of a table that exists is raised.

use super::Table;
use crate::alloc::raise_max_size;
use crate::error::Result;

impl Table {
    /// Raises the most bytes that the table may grow to, rounded up to 16 KiB.
    ///
    /// Processes that have the table open see the new size at once and need not open it again. A
    /// table can be raised to sixteen times the `max_size` that it was created with, as far as
    /// 256 GiB. The capacity of a cache stays as it is, see [`Table::set_capacity`].
    ///
    /// # Examples
    /// ```
    /// # let dir = std::env::temp_dir().join(format!("tavola-resize-{}", std::process::id()));
    /// # std::fs::create_dir_all(&dir)?;
    /// let table = tavola::Table::options().max_size(1 << 20).open(dir.join("t"))?;
    /// table.set_max_size(8 << 20)?;
    /// assert_eq!(table.stats()?.max_size, 8 << 20);
    /// # std::fs::remove_dir_all(&dir)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::BadOption`](crate::Error::BadOption) if it is less than now, or more than the table
    /// can be raised to; [`Error::ReadOnly`](crate::Error::ReadOnly);
    /// [`Error::Full`](crate::Error::Full) or [`Error::Io`](crate::Error::Io) if the file cannot be
    /// made longer. Nothing has changed then.
    ///
    /// # Crash
    /// The size is the old one or the new one.
    pub fn set_max_size(&self, bytes: u64) -> Result<()> {
        let core = self.core()?;
        raise_max_size(core.region(), core.writer()?, bytes)
    }
}

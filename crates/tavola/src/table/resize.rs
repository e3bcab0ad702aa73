//! `max_size` of a table that exists is raised.

use super::Table;
use crate::alloc::raise_max_size;
use crate::error::Result;
use crate::journal::Home;
use crate::region::explained;

impl Table {
    /// Raises the maximum size of the table, rounded up to 16 KiB.
    ///
    /// Processes that have the table open see the new size at once and need not open it again. The
    /// limit is 16 times the `max_size` of the table's creation, and at most 64 GiB. The capacity
    /// of a cache does not change, see [`Table::set_capacity`].
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
    /// [`Error::BadOption`](crate::Error::BadOption) if it is less than the current size, or more
    /// than the limit; [`Error::ReadOnly`](crate::Error::ReadOnly);
    /// [`Error::Full`](crate::Error::Full) or [`Error::Io`](crate::Error::Io) if the file cannot be
    /// extended. Nothing changes in these cases.
    ///
    /// # Crash
    /// The size is the old one or the new one. If the table is durable and its memory is gone as
    /// well, it may be the old one.
    pub fn set_max_size(&self, bytes: u64) -> Result<()> {
        let core = self.core()?;
        raise_max_size(core.region(), core.writer()?, bytes)?;
        let Some(files) = core.journal.as_deref() else {
            return Ok(());
        };
        Home::raise_max_size(&*files.home, core.region().max_size())
            .map_err(|source| explained("recording the size", files.path(), source))
    }
}

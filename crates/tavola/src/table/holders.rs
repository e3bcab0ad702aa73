//! The holders of a table's locks, and how long others wait for them.

use super::Table;
use crate::error::{Holder, Result};
use std::time::Duration;

impl Table {
    /// Sets how long this handle and its clones wait for a lock whose holder is alive. After that a
    /// call returns [`Error::Busy`](crate::Error::Busy), which names the holder. `None`, the
    /// default, waits without a limit.
    ///
    /// A lock is usually held for less than 1 us. A holder that is stopped (SIGSTOP, a debugger,
    /// `docker pause`) keeps it until it continues; the lock of a dead holder is taken over,
    /// whatever the limit. A call may wait for several locks, one after the other. The wait for the
    /// lock of the page pool has no limit.
    ///
    /// # Examples
    /// ```
    /// # let table = tavola::Table::options().max_size(1 << 20).private()?;
    /// table.set_lock_timeout(Some(std::time::Duration::from_millis(200)))?;
    /// match table.set(b"key", b"value") {
    ///     Err(tavola::Error::Busy { holder, .. }) => eprintln!("{holder} has it"),
    ///     outcome => outcome?,
    /// }
    /// # Ok::<(), tavola::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of mapping the table.
    ///
    /// # Concurrency
    /// A forked child inherits the limit. A thread that gives up, or is killed while it waits,
    /// leaves the lock as it was.
    pub fn set_lock_timeout(&self, limit: Option<Duration>) -> Result<()> {
        self.core()?.region().set_lock_limit(limit);
        Ok(())
    }

    /// Returns the locks of shards and of the page pool that the same process held at three checks
    /// within 40 ms: it is stopped, or very busy. If no lock is held, it returns at once.
    ///
    /// # Errors
    /// Those of mapping the table.
    pub fn lock_holders(&self) -> Result<Vec<Holder>> {
        Ok(self.core()?.lock_holders())
    }
}

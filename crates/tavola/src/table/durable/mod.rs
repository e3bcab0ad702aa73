//! Durable tables: a directory on disk, the *home*, from which the table is rebuilt when its memory
//! is gone.

mod directory;
mod keeper;
mod memory;
mod open;
mod remove;
mod rename;
mod reopen;
mod snapshot;
mod stats;
#[cfg(test)]
pub(crate) mod tests;
mod verify;

pub use crate::engine::on_rebuild;
pub(super) use directory::{find_home, is_home};
pub(super) use memory::{home_of_memory, refuse_memory};
pub(super) use remove::remove_home;
pub(super) use rename::rename_home;
pub use verify::verify;

use super::Table;
use crate::error::{Error, Result};

impl Table {
    /// Returns when all changes of all processes that were made before survive a power failure.
    /// Call it before others hear from you what another process has written.
    ///
    /// # Examples
    /// ```
    /// # let dir = std::env::temp_dir().join(format!("tavola-sync-{}", std::process::id()));
    /// use tavola::{Durability, Table};
    ///
    /// let table = Table::options().durable(Durability::Os).max_size(8 << 20).open(&dir)?;
    /// table.set(b"alice", b"1")?;
    /// table.sync()?;
    /// # drop(table);
    /// # Table::options().remove(&dir)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NotDurable`](crate::Error::NotDurable) if the disk failed;
    /// [`Error::BadOption`](crate::Error::BadOption) if the table is not durable.
    pub fn sync(&self) -> Result<()> {
        self.core()?.sync()
    }

    /// Calls a function that changes many keys, and waits for the disk once, at its end, instead of
    /// at each change. It is for [`Durability::Commit`](crate::Durability::Commit); with other
    /// policies, and in a table that is not durable, it only calls the function.
    ///
    /// It covers the changes that this thread makes by this handle. All other changes wait as
    /// usual. It is no transaction: see [`Table::transaction`] for all or nothing.
    ///
    /// # Examples
    /// ```
    /// # let dir = std::env::temp_dir().join(format!("tavola-once-{}", std::process::id()));
    /// use tavola::{Durability, Table};
    ///
    /// let table = Table::options().durable(Durability::Commit).max_size(8 << 20).open(&dir)?;
    /// table.set_many(&[("a", "1"), ("b", "2"), ("c", "3")])?;
    /// let removed = table.wait_once(|| {
    ///     let removed = ["a", "b", "x"].map(|key| table.remove(key));
    ///     removed.into_iter().try_fold(0, |count, one| Ok(count + u32::from(one?)))
    /// })?;
    /// assert_eq!(removed, 2);
    /// # drop(table);
    /// # Table::options().remove(&dir)?;
    /// # Ok::<(), tavola::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of the function; as [`Table::sync`] if the disk failed. Changes that were made before
    /// an error are waited for, too.
    ///
    /// # Concurrency
    /// Other processes see each change when it is made, before it is on disk.
    ///
    /// # Crash
    /// After a power failure in the call, the last of the changes may be lost, in the order in
    /// which they were made.
    pub fn wait_once<T, E: From<Error>>(
        &self,
        change: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        self.core()?.in_batch(change)
    }

    /// Writes a snapshot of a durable table, and removes what the journal does not need any more.
    /// Returns false if another process is just writing one.
    ///
    /// Other processes can write meanwhile. If the disk had failed, a snapshot that succeeds lets
    /// writes continue.
    ///
    /// # Examples
    /// ```
    /// # let dir = std::env::temp_dir().join(format!("tavola-snap-{}", std::process::id()));
    /// use tavola::{Durability, Table};
    ///
    /// let table = Table::options().durable(Durability::Commit).max_size(8 << 20).open(&dir)?;
    /// table.set(b"alice", b"1")?;
    /// assert!(table.snapshot()?);
    /// # drop(table);
    /// # Table::options().remove(&dir)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Table::sync`]; [`Error::Full`](crate::Error::Full) if it does not fit on the disk,
    /// [`Error::Io`](crate::Error::Io) if it could not be written. Nothing of it is left then.
    ///
    /// # Crash
    /// The snapshot is there whole, or not at all.
    pub fn snapshot(&self) -> Result<bool> {
        snapshot::snapshot(self)
    }
}

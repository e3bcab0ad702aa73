//! Durable tables: a directory on disk, the *home*, from which the table is rebuilt when its memory
//! is gone.

mod keeper;
mod memory;
mod open;
mod progress;
mod rebuild;
mod remove;
mod rename;
mod reopen;
mod snapshot;
mod stats;
#[cfg(test)]
pub(crate) mod tests;
mod verify;

pub(super) use memory::{home_of_memory, refuse_memory};
pub(super) use open::{find_home, is_home};
pub use progress::on_rebuild;
pub(super) use remove::remove_home;
pub(super) use rename::rename_home;
pub use verify::verify;

use super::Table;
use crate::error::Result;

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
    /// As [`Table::sync`]; [`Error::Io`](crate::Error::Io) if it could not be written.
    ///
    /// # Crash
    /// The snapshot is there whole, or not at all.
    pub fn snapshot(&self) -> Result<bool> {
        snapshot::snapshot(self)
    }
}

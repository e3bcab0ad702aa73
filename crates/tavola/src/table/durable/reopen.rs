//! Leaving memory that was removed, as a logout may do (`RemoveIPC`), for memory that is rebuilt.
//!
//! Two memories over one journal would destroy it. So the old one is left only by a process that
//! alone uses it: all changes that were made in it are on disk, and later ones are refused, before
//! the directory is free for the one who rebuilds the table.

use crate::engine::Core;
use crate::error::{Error, Result};
use crate::journal::{JournalFiles, head};
use crate::lock::FileLock;
use crate::region::explained;
use crate::table::Table;
use std::time::Duration;

/// The pause between two looks at a snapshot that is being written.
const PAUSE: Duration = Duration::from_millis(10);

impl Table {
    /// Lets go of a durable table's memory, whose name is gone.
    pub(in crate::table) fn leave_memory(&self) -> Result<()> {
        let core = self.core()?;
        let (Some(files), Some(lock)) = (&core.journal, &core.home_lock) else {
            return Ok(());
        };
        let failed = |source| explained("leaving the memory of", files.path(), source);
        if files.is_retired(core.region()) {
            return lock.unlock().map_err(failed);
        }
        if !lock.try_alone().map_err(failed)? {
            // Not to have it alone is to have lost it.
            lock.try_shared().map_err(failed)?;
            return Err(Error::InUseElsewhere {
                path: files.path().to_path_buf(),
            });
        }
        if let Err(error) = retire(core, files) {
            lock.try_shared().map_err(failed)?;
            return Err(error);
        }
        lock.unlock().map_err(failed)
    }
}

fn retire(core: &Core, files: &JournalFiles) -> Result<()> {
    let (region, me) = (core.region(), core.writer()?);
    let words = head(region);
    let _no_snapshot = loop {
        match FileLock::try_unnoted(region, &words.snapshot_lock, me)? {
            Some(lock) => break lock,
            None => std::thread::sleep(PAUSE),
        }
    };
    files.retire(region, me)
}

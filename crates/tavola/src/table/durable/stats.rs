//! How far the journal of an open table is.

use super::is_home;
use crate::alloc::find_extent;
use crate::error::Result;
use crate::journal::decode_policy;
use crate::layout::{ExtentKind, JournalHead};
use crate::sync::Ordering;
use crate::table::Table;
use crate::values::{Durability, DurableStats};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::time::{Duration, UNIX_EPOCH};

impl Table {
    /// Returns whether changes of this table survive a restart of the machine.
    ///
    /// # Errors
    /// As [`Table::get`].
    pub fn is_durable(&self) -> Result<bool> {
        Ok(self.core()?.region().geometry().is_durable)
    }

    /// Returns the policy of this handle: that of the table, or a stricter one. `None` if the table
    /// is not durable, or the handle is open read-only.
    ///
    /// With [`Durability::Commit`] a write waits for the disk; if the threads of a language share a
    /// lock, its binding releases that lock meanwhile.
    pub fn durability(&self) -> Option<Durability> {
        let core = self.lazy.ready()?;
        core.journal.is_some().then_some(core.durability)
    }

    /// Returns the state of a durable table's journal, or `None` if the table is not durable.
    /// A handle that is open read-only may ask, too.
    ///
    /// # Examples
    /// ```
    /// # let dir = std::env::temp_dir().join(format!("tavola-jstat-{}", std::process::id()));
    /// use tavola::{Durability, Table};
    ///
    /// let table = Table::options().durable(Durability::Commit).max_size(8 << 20).open(&dir)?;
    /// table.set(b"alice", b"1")?;
    /// let stats = table.durable_stats()?.unwrap();
    /// assert_eq!((stats.unsynced_bytes, stats.failed), (0, None));
    /// # drop(table);
    /// # Table::options().remove(&dir)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Table::get`].
    ///
    /// # Concurrency
    /// The numbers are read one after the other, while other processes write.
    pub fn durable_stats(&self) -> Result<Option<DurableStats>> {
        let region = self.core()?.region();
        if !region.geometry().is_durable {
            return Ok(None);
        }
        let Some((offset, _)) = find_extent(region, ExtentKind::Journal, b"")? else {
            return Ok(None);
        };
        let mut stats = stats_of(region.journal_head(offset));
        // A reader cannot note that the directory was moved.
        if let Some(home) = std::path::absolute(self.path()).ok().filter(|p| is_home(p)) {
            stats.home = home;
        }
        Ok(Some(stats))
    }
}

fn stats_of(head: &JournalHead) -> DurableStats {
    let load = |word: &crate::sync::W64| word.load(Ordering::Acquire);
    // In the order in which they may only be too small for those after them.
    let (synced, written) = (load(&head.synced), load(&head.written));
    let (snapshot, tail) = (load(&head.snapshot), load(&head.tail));
    let made = UNIX_EPOCH + Duration::from_millis(load(&head.snapshot_ms));
    // The first file of a table has no records.
    let first = 2 * load(&head.segment);
    let home = head.home().map_or(PathBuf::new(), |path| {
        PathBuf::from(OsString::from_vec(path))
    });
    DurableStats {
        home,
        policy: decode_policy(head.policy()),
        journal_bytes: tail.saturating_sub(snapshot.max(first)),
        unwritten_bytes: tail.saturating_sub(written),
        unsynced_bytes: tail.saturating_sub(synced),
        syncs: head.syncs.load(Ordering::Relaxed).into(),
        sync_time: Duration::from_nanos(load(&head.sync_ns)),
        snapshot: (snapshot > 0).then(|| (made, load(&head.snapshot_bytes))),
        failed: match load(&head.state) {
            0 => None,
            errno => Some(errno as i32),
        },
    }
}

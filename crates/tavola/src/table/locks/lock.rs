//! Named locks.

use super::{Hold, Opened};
use crate::error::{Holder, Result};
use crate::lock::Me;
use crate::locks::Held;
use crate::table::Table;
use std::fmt;
use std::time::Duration;

/// A lock with a name, in the file of a table: all threads of all processes that use the table meet
/// at it. It is held by one of them, or shared by up to 96.
///
/// # Crash
/// The lock of a killed process is free again: a thread that waits has it within some 20 ms.
/// If it was held exclusively, the next holder has the lock exclusively, even if it asked to share
/// it, and [`LockGuard::owner_died`] is true: what the lock guards may be half changed.
///
/// # Examples
/// ```
/// # let dir = std::env::temp_dir().join(format!("tavola-lock-doc-{}", std::process::id()));
/// # std::fs::create_dir_all(&dir)?;
/// # let path = dir.join("jobs");
/// use std::time::Duration;
/// use tavola::Table;
///
/// let table = Table::open(&path)?;
/// let report = table.named_lock("report")?;
/// {
///     let guard = report.lock()?;
///     assert!(!guard.owner_died());
///     // No other thread of any process is here now.
///     assert!(report.try_lock()?.is_none());
///     assert!(report.share_within(Duration::from_millis(1))?.is_none());
/// }
/// let (one, other) = (report.share()?, report.share()?);
/// assert!(one.is_shared() && other.is_shared() && report.try_lock()?.is_none());
/// # std::fs::remove_dir_all(&dir)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct NamedLock {
    opened: Opened,
}

/// A held [`NamedLock`], released when it is dropped. If a panic drops it, the next holder learns
/// of it as after a death. A forked child does not hold what its parent held.
///
/// It belongs to its process, not to a thread; a thread that locks again what it holds waits for
/// itself.
#[must_use = "the lock is released when this is dropped"]
pub struct LockGuard<'a> {
    lock: &'a NamedLock,
    hold: Hold,
    was_panicking: bool,
}

impl Table {
    /// Opens the lock of that name in the file of this table, and creates it if it is missing. It
    /// takes 512 bytes, and stays as long as the table.
    ///
    /// # Errors
    /// [`Error::BadName`](crate::Error::BadName) if the name does not have 1 to 56 bytes;
    /// [`Error::BadOption`](crate::Error::BadOption) if it is that of a semaphore;
    /// [`Error::Full`](crate::Error::Full); [`Error::ReadOnly`](crate::Error::ReadOnly);
    /// [`Error::Corrupt`](crate::Error::Corrupt); the errors of attaching, see [`Table::set`].
    pub fn named_lock(&self, name: &str) -> Result<NamedLock> {
        Ok(NamedLock {
            opened: Opened::open(self, name, 0)?,
        })
    }
}

impl NamedLock {
    /// Locks it for this thread alone. Waits as long as others hold it.
    ///
    /// # Errors
    /// [`Error::ReadOnly`](crate::Error::ReadOnly); the errors of attaching, see [`Table::set`].
    #[inline(always)]
    pub fn lock(&self) -> Result<LockGuard<'_>> {
        Ok(self.take(None)?.expect("a wait without a limit"))
    }

    /// Locks it for this thread alone if nobody holds it.
    ///
    /// # Errors
    /// As [`NamedLock::lock`].
    #[inline(always)]
    pub fn try_lock(&self) -> Result<Option<LockGuard<'_>>> {
        self.take(Some(Duration::ZERO))
    }

    /// Locks it for this thread alone. Returns `None` if others still hold it after that time.
    ///
    /// # Errors
    /// As [`NamedLock::lock`].
    pub fn lock_within(&self, limit: Duration) -> Result<Option<LockGuard<'_>>> {
        self.take(Some(limit))
    }

    /// Locks it together with others that share it. Waits as long as one holds it alone, or waits
    /// to do so.
    ///
    /// # Errors
    /// As [`NamedLock::lock`].
    pub fn share(&self) -> Result<LockGuard<'_>> {
        Ok(self.take_shared(None)?.expect("a wait without a limit"))
    }

    /// Shares it if nobody holds it alone, or waits to do so.
    ///
    /// # Errors
    /// As [`NamedLock::lock`].
    pub fn try_share(&self) -> Result<Option<LockGuard<'_>>> {
        self.take_shared(Some(Duration::ZERO))
    }

    /// Shares it. Returns `None` if that was impossible for so long.
    ///
    /// # Errors
    /// As [`NamedLock::lock`].
    pub fn share_within(&self, limit: Duration) -> Result<Option<LockGuard<'_>>> {
        self.take_shared(Some(limit))
    }

    /// Releases a hold of this lock. One of another process has no effect.
    pub fn release(&self, hold: Hold) {
        self.opened.release(hold);
    }

    /// Returns the processes that hold it, one for each hold, the one that holds it alone first. A
    /// process that waits for others to end sharing it counts as its holder.
    pub fn holders(&self) -> Vec<Holder> {
        self.opened.holders()
    }

    /// Returns its name.
    pub fn name(&self) -> &str {
        &self.opened.name
    }

    // A guard that a call returns goes through memory, and that takes a third as long as the lock.
    #[inline(always)]
    fn take(&self, limit: Option<Duration>) -> Result<Option<LockGuard<'_>>> {
        let holder = self.opened.holder()?;
        Ok(holder.take(limit).map(|held| self.guard(holder.me, held)))
    }

    fn take_shared(&self, limit: Option<Duration>) -> Result<Option<LockGuard<'_>>> {
        let holder = self.opened.holder()?;
        Ok(holder.share(limit).map(|held| self.guard(holder.me, held)))
    }

    #[inline(always)]
    fn guard(&self, me: Me, held: Held) -> LockGuard<'_> {
        LockGuard {
            lock: self,
            hold: Hold { me, held },
            was_panicking: std::thread::panicking(),
        }
    }
}

impl LockGuard<'_> {
    /// Returns whether the one that held the lock alone before this died with it, or panicked.
    pub fn owner_died(&self) -> bool {
        self.hold.held == Held::FROM_DEAD
    }

    /// Returns whether others may hold the lock, too.
    pub fn is_shared(&self) -> bool {
        self.hold.held.place().is_some()
    }

    /// Releases the lock as a dead owner does if the panic began under it. Returns whether it did.
    #[cold]
    fn abandon(&self) -> bool {
        let (opened, me) = (&self.lock.opened, self.hold.me);
        let abandons = !self.was_panicking && !self.is_shared() && opened.core.is_participant(me);
        if abandons {
            opened.holder_for(me).abandon_after_panic();
        }
        abandons
    }

    /// Keeps the lock without the guard, until [`NamedLock::release`].
    pub fn into_hold(self) -> Hold {
        let hold = self.hold;
        std::mem::forget(self);
        hold
    }
}

impl Drop for LockGuard<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        if std::thread::panicking() && self.abandon() {
            return;
        }
        self.lock.opened.release(self.hold);
    }
}

impl fmt::Debug for NamedLock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NamedLock")
            .field("table", &self.opened.core.path())
            .field("name", &self.opened.name)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for LockGuard<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LockGuard")
            .field("lock", self.lock)
            .field("held", &self.hold.held)
            .finish_non_exhaustive()
    }
}

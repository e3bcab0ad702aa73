//! Semaphores.

use super::{Hold, Opened};
use crate::error::{Error, Holder, Result};
use crate::layout::MOST_SHARING;
use crate::locks::Held;
use crate::table::Table;
use std::fmt;
use std::time::Duration;

/// A semaphore with a name, in the file of a table: no more threads of all processes have a permit
/// at once than it was created with.
///
/// # Crash
/// The permits of a killed process pass on to those that wait for one, within some 20 ms;
/// [`Permit::owner_died`] is true for them.
///
/// # Examples
/// ```
/// # let dir = std::env::temp_dir().join(format!("tavola-semaphore-doc-{}", std::process::id()));
/// # std::fs::create_dir_all(&dir)?;
/// # let path = dir.join("jobs");
/// use tavola::Table;
///
/// let table = Table::open(&path)?;
/// // At most two at once, on the whole machine.
/// let converters = table.semaphore("converters", 2)?;
/// let one = converters.acquire()?;
/// let other = converters.acquire()?;
/// assert!(converters.try_acquire()?.is_none());
/// drop(one);
/// assert!(converters.try_acquire()?.is_some());
/// # drop(other);
/// # std::fs::remove_dir_all(&dir)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Semaphore {
    opened: Opened,
    permits: u32,
}

/// A permit of a [`Semaphore`], given back when it is dropped. A forked child has none of its
/// parent's.
#[must_use = "the permit is given back when this is dropped"]
pub struct Permit<'a> {
    semaphore: &'a Semaphore,
    hold: Hold,
    owner_died: bool,
}

impl Table {
    /// Opens the semaphore of that name in the file of this table, and creates it, with 1 to 96
    /// permits, if it is missing. It takes 512 bytes, and stays as long as the table.
    ///
    /// # Errors
    /// [`Error::BadOption`] for another number of permits than those it has, or if the name is that
    /// of a lock; otherwise as [`Table::named_lock`].
    pub fn semaphore(&self, name: &str, permits: u32) -> Result<Semaphore> {
        if !(1..=MOST_SHARING).contains(&permits) {
            return Err(Error::BadOption {
                option: "permits",
                why: format!("{permits} is not between 1 and {MOST_SHARING}"),
            });
        }
        Ok(Semaphore {
            opened: Opened::open(self, name, permits)?,
            permits,
        })
    }
}

impl Semaphore {
    /// Takes a permit. Waits as long as all are taken.
    ///
    /// # Errors
    /// [`Error::ReadOnly`]; the errors of attaching, see [`Table::set`].
    pub fn acquire(&self) -> Result<Permit<'_>> {
        Ok(self.take(None)?.expect("a wait without a limit"))
    }

    /// Takes a permit if one is free.
    ///
    /// # Errors
    /// As [`Semaphore::acquire`].
    pub fn try_acquire(&self) -> Result<Option<Permit<'_>>> {
        self.take(Some(Duration::ZERO))
    }

    /// Takes a permit. Returns `None` if all were taken for so long.
    ///
    /// # Errors
    /// As [`Semaphore::acquire`].
    pub fn acquire_within(&self, limit: Duration) -> Result<Option<Permit<'_>>> {
        self.take(Some(limit))
    }

    /// Gives a permit of this semaphore back. One of another process has no effect.
    pub fn release(&self, hold: Hold) {
        self.opened.release(hold);
    }

    /// Returns the processes that have permits, one for each permit.
    pub fn holders(&self) -> Vec<Holder> {
        self.opened.holders()
    }

    /// Returns how many permits it was created with.
    pub fn permits(&self) -> u32 {
        self.permits
    }

    /// Returns its name.
    pub fn name(&self) -> &str {
        &self.opened.name
    }

    fn take(&self, limit: Option<Duration>) -> Result<Option<Permit<'_>>> {
        let holder = self.opened.holder()?;
        let taken = holder.take_permit(self.permits, limit);
        Ok(taken.map(|(place, owner_died)| Permit {
            semaphore: self,
            hold: Hold {
                me: holder.me,
                held: Held::at_place(place),
            },
            owner_died,
        }))
    }
}

impl Permit<'_> {
    /// Returns whether the one that had this permit before died with it.
    pub fn owner_died(&self) -> bool {
        self.owner_died
    }

    /// Keeps the permit without this guard, until [`Semaphore::release`].
    pub fn into_hold(self) -> Hold {
        let hold = self.hold;
        std::mem::forget(self);
        hold
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        self.semaphore.opened.release(self.hold);
    }
}

impl fmt::Debug for Semaphore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Semaphore")
            .field("table", &self.opened.core.path())
            .field("name", &self.opened.name)
            .field("permits", &self.permits)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Permit<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Permit")
            .field("semaphore", self.semaphore)
            .field("owner_died", &self.owner_died)
            .finish_non_exhaustive()
    }
}

//! [`NamedLock`], [`Semaphore`] and [`Area`]: what programs share beside the keys of a table.

mod area;
mod lock;
mod semaphore;

pub use area::Area;
pub use lock::{LockGuard, NamedLock};
pub use semaphore::{Permit, Semaphore};

use super::Table;
use crate::engine::Core;
use crate::error::{Error, Holder as Holding, Lock, Result};
use crate::layout::LockName;
use crate::lock::{Me, holder};
use crate::locks::{self, Held, Holder};
use std::sync::Arc;

/// A hold without a guard, for those whose language has none. It is given back to the lock or
/// semaphore that it is of, once.
#[derive(Clone, Copy, Debug)]
#[must_use = "it is held until it is given back"]
pub struct Hold {
    me: Me,
    held: Held,
}

/// A lock or semaphore, as one handle has it open.
struct Opened {
    core: Arc<Core>,
    /// The offset of its record.
    place: u64,
    name: String,
}

impl Opened {
    /// Opens the record of that name; `permits` is 0 for a lock.
    fn open(table: &Table, name: &str, permits: u32) -> Result<Self> {
        if name.is_empty() || !LockName::fits(name.as_bytes()) {
            return Err(Error::BadName {
                name: format!("{name:?}"),
                why: "a lock or semaphore has a name of 1 to 56 bytes, without zero bytes",
            });
        }
        let core = table.lazy.get()?;
        let place = locks::open(core.region(), core.writer()?, name.as_bytes(), permits)?;
        let opened = Self {
            core: Arc::clone(core),
            place,
            name: name.to_owned(),
        };
        match core.region().lock_record(place).permits() {
            Some(found) if found == permits => Ok(opened),
            Some(found) => Err(Error::BadOption {
                option: "permits",
                why: match (permits, found) {
                    (_, 0) => format!("{name:?} is a lock, not a semaphore"),
                    (0, _) => format!("{name:?} is a semaphore, not a lock"),
                    _ => format!("the semaphore {name:?} was created with {found} permits"),
                },
            }),
            None => core.region().damaged("the permits of a semaphore"),
        }
    }

    /// Returns the record for the participant that this process is.
    #[inline(always)]
    fn holder(&self) -> Result<Holder<'_>> {
        Ok(self.holder_for(self.core.writer()?))
    }

    /// Returns the processes that hold it, one for each hold.
    fn holders(&self) -> Vec<Holding> {
        let (region, me) = (self.core.region(), self.core.participant());
        let owners = self.holder_for(me).owners().into_iter();
        owners
            .map(|owner| holder(region, Lock::Named, owner, me))
            .collect()
    }

    /// Gives a hold back.
    #[inline(always)]
    fn release(&self, hold: Hold) {
        // A forked child does not release what its parent holds.
        if !self.core.is_participant(hold.me) {
            return;
        }
        match hold.held.place() {
            Some(place) => self.holder_for(hold.me).leave(place),
            None => self.holder_for(hold.me).release(),
        }
    }

    #[inline(always)]
    fn holder_for(&self, me: Me) -> Holder<'_> {
        Holder {
            region: self.core.region(),
            record: self.core.region().lock_record(self.place),
            me,
        }
    }
}

impl Table {
    /// Returns the names of the locks and semaphores in the file of this table.
    ///
    /// # Errors
    /// [`Error::Corrupt`]; those of mapping the table.
    pub fn lock_names(&self) -> Result<Vec<String>> {
        let names = locks::names(self.core()?.region())?;
        let text = |name: &Vec<u8>| String::from_utf8_lossy(name).into_owned();
        Ok(names.iter().map(text).collect())
    }
}

//! The inside of a table: the region, this process's membership, and the locks of shards. All other
//! files of the room add their part to [`Core`]; this one calls none of them.

use super::due::{Due, NameWatch, OwnerChecks, StepCount};
use super::request::UidPolicy;
use crate::alloc::free_orphans;
use crate::error::{Error, Result};
use crate::journal::JournalFiles;
use crate::layout::ShardHead;
use crate::lock::{Me, Membership, ShardLock, leave_as_last};
use crate::recover::{lock_shard, reclaim, reclaim_dead, reclaim_participant};
use crate::region::Region;
use crate::sync::{Ordering, W32, W64};
use crate::sys::disk::DirLock;
use crate::values::Durability;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The inside of a [`Table`](crate::Table).
pub(crate) struct Core {
    region: Region,
    pub(crate) membership: Membership,
    path: PathBuf,
    /// How far the collapse to huge pages has come in this process: the number of the next stretch.
    pub(crate) collapsed: W64,
    /// When this process last asked whether the owners of leases live.
    pub(crate) owner_checks: OwnerChecks,
    /// Whether keys that are stored get a uid without being asked for.
    pub(crate) uid_policy: UidPolicy,
    pub(crate) name: NameWatch,
    pub(crate) steps: StepCount,
    /// The participant slot that `find_dead` examines next.
    pub(crate) dead_cursor: W32,
    /// The shard a cache evicts from next, if any shard will do.
    pub(crate) reclaims_from: W32,
    /// 1: this process cannot attach, so reads are not counted.
    pub(crate) cannot_attach: W32,
    /// Which calls are timed.
    pub(crate) due: Due,
    /// A number that no other table in this process ever had.
    pub(crate) number: u64,
    /// Of a durable table: the files of its journal.
    pub(crate) journal: Option<Arc<JournalFiles>>,
    /// The lock of its directory: dropped when nothing uses the files any more.
    pub(crate) home_lock: Option<DirLock>,
    /// The meaning of a returned write in this handle.
    pub(crate) durability: Durability,
}

/// The number of the next table that this process opens.
static NEXT: W64 = W64::new(1);

impl Core {
    pub(crate) fn new(region: Region, path: PathBuf, uid_policy: UidPolicy) -> Self {
        Self {
            region,
            membership: Membership::new(),
            path,
            collapsed: W64::new(0),
            owner_checks: OwnerChecks::new(),
            uid_policy,
            name: NameWatch::new(),
            steps: StepCount::new(),
            dead_cursor: W32::new(0),
            reclaims_from: W32::new(0),
            cannot_attach: W32::new(0),
            due: Due::new(),
            number: NEXT.fetch_add(1, Ordering::Relaxed),
            journal: None,
            home_lock: None,
            durability: Durability::default(),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    #[inline(always)]
    pub(crate) fn region(&self) -> &Region {
        &self.region
    }

    /// Returns the participant that writes; attaches at the first write of a process.
    #[inline(always)]
    pub(crate) fn writer(&self) -> Result<Me> {
        if !self.region.is_writable() {
            return Err(Error::ReadOnly);
        }
        match self.membership.current() {
            Some(id) => Ok(id),
            None => self.attach(),
        }
    }

    /// Returns the participant that this process is, or `NOBODY` if it is not attached.
    pub(crate) fn participant(&self) -> Me {
        self.membership.current().unwrap_or(Me::NOBODY)
    }

    /// Returns whether this process is that participant.
    pub(crate) fn is_participant(&self, id: Me) -> bool {
        self.membership.current() == Some(id)
    }

    #[cold]
    fn attach(&self) -> Result<Me> {
        self.region.set_clock();
        let me = self.membership.attach(&self.region, &self.path)?;
        // If that cannot be finished now, `find_dead` tries again later.
        reclaim_participant(&self.region, me, me.id())?;
        Ok(me)
    }

    #[inline(always)]
    pub(crate) fn lock(&self, shard: u32, me: Me) -> Result<ShardLock<'_>> {
        let (lock, dead) = lock_shard(&self.region, shard, me)?;
        match dead {
            None => Ok(lock),
            Some(dead) => {
                drop(lock);
                // Reclaims the dead owner's other resources now; taking the lock once more is
                // quick.
                reclaim_dead(&self.region, &self.membership.gate, me, dead)?;
                self.lock(shard, me)
            }
        }
    }

    /// Sums a counter over all shards.
    pub(crate) fn sum(&self, count: impl Fn(&ShardHead) -> u64) -> u64 {
        let region = self.region();
        (0..region.geometry().shards()).fold(0, |sum: u64, shard| {
            sum.wrapping_add(count(region.shard(shard)))
        })
    }

    pub(crate) fn reclaim(&self) -> Result<u32> {
        let me = self.writer()?;
        reclaim(&self.region, &self.membership.gate, me)
    }

    /// Ends all pins of this process, whose readers have finished.
    fn end_pins(&self) {
        let me = self.participant();
        if let Some(slot) = self.region().pin_slot() {
            self.region().take_pins_off(slot);
            free_orphans(self.region(), me);
        }
    }
}

impl Drop for Core {
    fn drop(&mut self) {
        self.end_pins();
        leave_as_last(&self.membership, &self.region, &self.path);
    }
}

//! The inside of a table: the region, this process's membership, and the way every write goes.
//!
//! A write is a *step* under the shard's lock. If the step lacks something (a page, a backed
//! directory), it ends and leaves its key unchanged; what it lacks is fetched without the lock, and
//! the step is done again.

use super::due::{Due, NameWatch, OwnerChecks, StepCount};
use super::effort::Effort;
use super::request::UidPolicy;
use crate::alloc::{Need, Step, Stop};
use crate::error::{Error, Result, corrupt};
use crate::journal::JournalFiles;
use crate::layout::Participant;
use crate::lock::{Me, Membership, ShardLock, tally};
use crate::recover::{lock_shard, reclaim, reclaim_dead, reclaim_participant};
use crate::region::Region;
use crate::sync::{Ordering, W32, W64};
use crate::sys::disk::DirLock;
use crate::values::Durability;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// After how many rounds of one operation a cache reclaims one page more at once, and the most
/// pages at once: a segment, a page for the item, a chunk of uids.
const IN_VAIN: u32 = 128;
pub(crate) const MOST_AT_ONCE: u32 = 3;
/// The most rounds of one operation. In each, the step lacked something, which was then fetched.
/// Other writers may take it a few times, but after so many rounds the counts must be damaged.
const MOST_ROUNDS: u32 = 1 << 16;

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

    /// Ends a step that its caller has tried once by itself, after releasing the lock. Returns its
    /// result, or `None` if the step lacks something: then the caller goes through
    /// [`Self::locked`].
    #[inline(always)]
    pub(crate) fn after_first_try<T>(&self, me: Me, outcome: Step<T>) -> Option<Result<T>> {
        match outcome {
            Ok(value) => Some(self.after_step(me).map(|()| value)),
            Err(Stop::Fail(error)) => Some(Err(error)),
            Err(Stop::Need(_)) => None,
        }
    }

    /// Does a step under a shard's lock, and fetches without the lock what it lacks.
    #[inline(always)]
    pub(crate) fn locked<T>(
        &self,
        shard: u32,
        me: Me,
        step: impl FnMut(&ShardLock<'_>) -> Step<T>,
    ) -> Result<T> {
        self.locked_with(shard, me, Effort::new(), step)
    }

    /// Does a step like [`Self::locked`], with a given limit on what is done to make room.
    #[inline(always)]
    pub(crate) fn locked_with<T>(
        &self,
        shard: u32,
        me: Me,
        mut effort: Effort,
        mut step: impl FnMut(&ShardLock<'_>) -> Step<T>,
    ) -> Result<T> {
        let mut rounds = 0u32;
        loop {
            let lock = self.lock(shard, me)?;
            let outcome = step(&lock);
            drop(lock);
            match outcome {
                Ok(value) => return self.after_step(me).map(|()| value),
                Err(Stop::Fail(error)) => return Err(error),
                Err(Stop::Need(need)) => {
                    let fetched = self.fetch(need, me);
                    let wanted = match need {
                        // An operation that needs several pages, one after the other, might
                        // otherwise reclaim one of them again and again.
                        Need::Pages(count) => Some(count.max((rounds / IN_VAIN).min(MOST_AT_ONCE))),
                        // Evicting keys makes no room for directories.
                        Need::Directory { .. }
                        | Need::UidDirectory { .. }
                        | Need::Journal { .. }
                        | Need::Pieces => None,
                    };
                    rounds += 1;
                    if rounds == MOST_ROUNDS {
                        return corrupt("the counts of a shard or of the pool");
                    }
                    self.or_make_room(me, Some(shard), &mut effort, wanted, fetched)?;
                }
            }
        }
    }

    /// Counts a call that set or changed a key, or tried to: once, however many steps and rounds it
    /// took.
    #[inline(always)]
    pub(crate) fn count_set(&self, me: Me) {
        self.count_write(me, |tally| &tally.sets);
    }

    /// Counts a call that removed keys, or tried to, likewise.
    #[inline(always)]
    pub(crate) fn count_remove(&self, me: Me) {
        self.count_write(me, |tally| &tally.removes);
    }

    /// Counts in one word for each kind of call; writes are the sum of both. So none of the three
    /// numbers ever falls, whenever they are read.
    #[inline(always)]
    fn count_write(&self, me: Me, word: impl FnOnce(&Participant) -> &W64) {
        if self.region.is_cache() {
            let before = word(tally(&self.region, me.id())).fetch_add(1, Ordering::Relaxed);
            self.after_count(before, &self.due.write);
        }
    }

    pub(crate) fn reclaim(&self) -> Result<u32> {
        let me = self.writer()?;
        reclaim(&self.region, &self.membership.gate, me)
    }
}

impl Drop for Core {
    fn drop(&mut self) {
        self.end_pins();
        self.membership.detach(&self.region);
    }
}

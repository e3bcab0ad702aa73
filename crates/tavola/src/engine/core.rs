//! What the operations share: the region, this process's participation, and the way a write is
//! done: a step under the shard's lock; what it lacks is fetched without the lock, and it is tried
//! again.

use super::due::{Asked, Due, NameWatch, Steps};
use super::effort::Effort;
use super::request::UidPolicy;
use crate::alloc::{Need, Step, Stop};
use crate::error::{Error, Result, corrupt};
use crate::layout::Participant;
use crate::lock::{Me, Membership, ShardLock, tally};
use crate::recover::{lock_shard, reclaim, reclaim_dead, reclaim_participant};
use crate::region::Region;
use crate::sync::{Ordering, W32, W64};
use std::path::{Path, PathBuf};

/// Rounds of one operation after which a cache wins back one page more at once, and how many at
/// most: a segment, a page for the item, a chunk of uids.
const IN_VAIN: u32 = 128;
pub(crate) const MOST_AT_ONCE: u32 = 3;
/// Rounds of one operation that each fetched what it lacked. Others may have been faster some
/// times; after so many what says that it is there is damaged.
const MOST_ROUNDS: u32 = 1 << 16;

/// The inside of a [`Table`](crate::Table).
pub(crate) struct Core {
    region: Region,
    pub(crate) membership: Membership,
    path: PathBuf,
    /// How far collapsing has come in this process: the number of the next stretch.
    pub(crate) collapsed: W64,
    /// When the owners of leases were last asked for.
    pub(crate) asked: Asked,
    /// Whether keys that are stored get a uid unasked.
    pub(crate) uid_policy: UidPolicy,
    pub(crate) name: NameWatch,
    pub(crate) steps: Steps,
    /// The slot at which the dead are looked for next.
    pub(crate) looked: W32,
    /// The shard a cache evicts from next, if any shard will do.
    pub(crate) reclaims_from: W32,
    /// 1: visits cannot be noted, as this process cannot attach.
    pub(crate) is_untold: W32,
    /// Which calls are to be timed.
    pub(crate) due: Due,
    /// A number that no other table in this process ever had.
    pub(crate) number: u64,
}

/// The number of the next.
static NEXT: W64 = W64::new(1);

impl Core {
    pub(crate) fn new(region: Region, path: PathBuf, uid_policy: UidPolicy) -> Self {
        Self {
            region,
            membership: Membership::new(),
            path,
            collapsed: W64::new(0),
            asked: Asked::new(),
            uid_policy,
            name: NameWatch::new(),
            steps: Steps::new(),
            looked: W32::new(0),
            reclaims_from: W32::new(0),
            is_untold: W32::new(0),
            due: Due::new(),
            number: NEXT.fetch_add(1, Ordering::Relaxed),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    #[inline(always)]
    pub(crate) fn region(&self) -> &Region {
        &self.region
    }

    /// The participant that writes; attaches at the first write of a process.
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

    /// The participant that this process is, or nobody if it is not attached yet.
    pub(crate) fn participant(&self) -> Me {
        self.membership.current().unwrap_or(Me::NOBODY)
    }

    /// Whether this process is that participant.
    pub(crate) fn is_participant(&self, id: Me) -> bool {
        self.membership.current() == Some(id)
    }

    #[cold]
    fn attach(&self) -> Result<Me> {
        self.region.set_clock();
        let me = self.membership.attach(&self.region, &self.path)?;
        // If it has to wait, `find_dead` comes back to it.
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
                // What else it held comes back now; a second lock is quickly got.
                reclaim_dead(&self.region, &self.membership.gate, me, dead)?;
                self.lock(shard, me)
            }
        }
    }

    /// Returns the outcome of the first try of a step, which its caller makes itself and not
    /// through [`Self::locked`], when the lock is free again. Returns `None` if the step lacks
    /// something, which [`Self::locked`] fetches.
    #[inline(always)]
    pub(crate) fn after_first_try<T>(&self, me: Me, outcome: Step<T>) -> Option<Result<T>> {
        match outcome {
            Ok(value) => {
                self.after_step(me);
                Some(Ok(value))
            }
            Err(Stop::Fail(error)) => Some(Err(error)),
            Err(Stop::Need(_)) => None,
        }
    }

    /// Does a step under a shard's lock, fetching without the lock what it turns out to lack.
    #[inline(always)]
    pub(crate) fn locked<T>(
        &self,
        shard: u32,
        me: Me,
        step: impl FnMut(&ShardLock<'_>) -> Step<T>,
    ) -> Result<T> {
        self.locked_with(shard, me, Effort::new(), step)
    }

    /// As [`Self::locked`], where no more is done for room than that.
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
                Ok(value) => {
                    self.after_step(me);
                    return Ok(value);
                }
                Err(Stop::Fail(error)) => return Err(error),
                Err(Stop::Need(need)) => {
                    let fetched = self.fetch(need, me);
                    let wanted = match need {
                        // What needs several pages, one after the other, might else win back one
                        // of them again and again.
                        Need::Pages(count) => Some(count.max((rounds / IN_VAIN).min(MOST_AT_ONCE))),
                        // Keys that go make no room for these.
                        Need::Directory { .. } | Need::UidDirectory { .. } => None,
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

    /// Counts a call that set or changed a key, or tried to: once, however many steps and rounds
    /// it took.
    #[inline(always)]
    pub(crate) fn count_set(&self, me: Me) {
        self.count_write(me, |tally| &tally.sets);
    }

    /// As [`Self::count_set`], of a call that removed keys, or tried to.
    #[inline(always)]
    pub(crate) fn count_remove(&self, me: Me) {
        self.count_write(me, |tally| &tally.removes);
    }

    /// One word for each kind, and their sum for both: none of the three ever goes back, whenever
    /// they are read.
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

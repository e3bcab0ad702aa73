//! The way every write goes: a *step* under the shard's lock.
//!
//! If the step lacks something (a page, a backed directory), it ends and leaves its key unchanged;
//! what it lacks is fetched without the lock, and the step is done again.

use super::core::Core;
use super::effort::{Effort, MOST_AT_ONCE, RoundCount};
use crate::alloc::{Need, Step, Stop};
use crate::error::Result;
use crate::journal::{head, tail};
use crate::lock::{Me, ShardLock};
use crate::sync::Ordering;

/// After how many rounds of one operation a cache reclaims one page more at once.
const IN_VAIN: u32 = 128;

impl Core {
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
        let mut rounds = RoundCount::new();
        loop {
            let lock = self.lock(shard, me)?;
            let outcome = step(&lock);
            drop(lock);
            match outcome {
                Ok(value) => return self.after_step(me).map(|()| value),
                Err(Stop::Fail(error)) => return Err(error),
                Err(Stop::Need(need)) => {
                    self.count_round(&mut rounds, need)?;
                    let fetched = self.fetch(need, me);
                    let wanted = match need {
                        // An operation that needs several pages, one after the other, might
                        // otherwise reclaim one of them again and again.
                        Need::Pages(count) => {
                            Some(count.max((rounds.counted() / IN_VAIN).min(MOST_AT_ONCE)))
                        }
                        // Evicting keys makes no room for directories.
                        Need::Directory { .. }
                        | Need::UidDirectory { .. }
                        | Need::Journal { .. }
                        | Need::Pieces => None,
                    };
                    self.or_make_room(me, Some(shard), &mut effort, wanted, fetched)?;
                }
            }
        }
    }

    /// Counts a round in which a step lacked `need`. Returns an error if only damage explains so
    /// many rounds.
    #[cold]
    #[inline(never)]
    pub(super) fn count_round(&self, rounds: &mut RoundCount, need: Need) -> Result<()> {
        let at = match need {
            Need::Journal { .. } => tail(self.region()),
            Need::Pieces => head(self.region()).keep.load(Ordering::Acquire),
            Need::Pages(_) | Need::Directory { .. } | Need::UidDirectory { .. } => 0,
        };
        rounds.count(need, at)
    }
}

//! Housekeeping beside writes: now and then a write does a bounded piece of it.

use super::core::Core;
use crate::alloc::{Stop, free_orphans, give_back, is_over, is_worth_giving_back};
use crate::error::Result;
use crate::index::{
    empty_slabs, free_root, may_expire, needs_maintenance, shrink_step, sweep_step,
};
use crate::layout::LARGEST_BLOCK;
use crate::lock::{Me, ShardLock, is_alive, next_member};
use crate::recover::{reclaim_dead, reclaim_participant};
use crate::sync::Ordering;
use std::cell::Cell;

/// Steps that a thread counts by itself before it adds them to those of the handle.
const STEPS_AT_ONCE: u32 = 16;

thread_local! {
    /// The handle of this thread's last step, and the steps since the thread last added to its
    /// count.
    static STEPS: Cell<(u64, u32)> = const { Cell::new((0, 0)) };
}

/// Steps under locks, of all threads of a handle, between two of tending.
const MAINTAIN_EVERY: u32 = 64;
/// Items moved in one step.
const MAINTAIN_MOVES: u32 = 8;
/// Pages given back in one step.
const MAINTAIN_PAGES: u32 = 8;
/// Steps between two looks at whether some participant has died.
const FIND_DEAD_EVERY: u32 = 16;

impl Core {
    /// After a step under a shard's lock, when it is free again: some housekeeping now and then.
    ///
    /// Steps are counted by handle. A count by thread would starve a table: of a thread that writes
    /// to two tables in turn, each step that is a multiple of something falls on the same one.
    #[inline(always)]
    pub(crate) fn after_step(&self, me: Me) {
        let (handle, steps) = STEPS.get();
        let is_same = handle == self.number;
        if is_same && steps + 1 < STEPS_AT_ONCE {
            STEPS.set((handle, steps + 1));
        } else {
            // A thread that comes from another table adds this step alone.
            self.add_steps(me, if is_same { STEPS_AT_ONCE } else { 1 });
        }
    }

    /// Adds to the steps of the handle, and tends when they come to the next multiple.
    #[inline(never)]
    fn add_steps(&self, me: Me, more: u32) {
        STEPS.set((self.number, 0));
        let before = self.steps.0.fetch_add(more, Ordering::Relaxed);
        let turn = before.wrapping_add(more) / MAINTAIN_EVERY;
        if turn != before / MAINTAIN_EVERY {
            // The write is done, whatever becomes of this: what is wrong elsewhere shows in the
            // operations it concerns.
            let _ = self.maintain_some(turn, me);
        }
    }

    /// A bounded piece of housekeeping, done every so many steps, whichever shard they went to.
    #[cold]
    fn maintain_some(&self, turn: u32, me: Me) -> Result<()> {
        self.check_name_now();
        free_orphans(self.region(), me);
        let shard = turn % self.region().geometry().shards();
        self.sweep_shard(shard, me, None);
        self.maintain_shard(shard, me, MAINTAIN_MOVES, false)?;
        if is_over(self.region()) {
            self.shrink_some(shard, me)?;
        }
        if is_worth_giving_back(self.region()) {
            give_back(self.region(), me, MAINTAIN_PAGES, false)?;
        }
        if turn.is_multiple_of(FIND_DEAD_EVERY) {
            self.find_dead(me)?;
        }
        Ok(())
    }

    /// Looks at one of the participants, the next one each time.
    fn find_dead(&self, me: Me) -> Result<()> {
        let (member, next) = next_member(self.region(), self.looked.load(Ordering::Relaxed));
        self.looked.store(next, Ordering::Relaxed);
        match member {
            Some(m) if m.id == me.id() => {
                reclaim_participant(self.region(), me, me.id()).map(|_| ())
            }
            Some(m) if !is_alive(self.region(), m.id, me) => {
                reclaim_dead(self.region(), &self.membership.gate, me, m.id).map(|_| ())
            }
            _ => Ok(()),
        }
    }

    /// One step of the search for expired keys in one shard, if there may be any, and nobody holds
    /// it.
    pub(crate) fn sweep_shard(&self, shard: u32, me: Me, most: Option<usize>) {
        if may_expire(self.region().shard(shard))
            && let Some(lock) = ShardLock::try_acquire(self.region(), shard, me)
        {
            // What is damaged shows in the operations it concerns.
            let _ = sweep_step(&lock, most);
        }
    }

    /// Takes one step of shrinking in one shard. Returns true if there may be more to do. Unless it
    /// is to `wait`, it skips a shard whose lock is held: the holder may be stopped.
    pub(crate) fn maintain_shard(
        &self,
        shard: u32,
        me: Me,
        moves: u32,
        wait: bool,
    ) -> Result<bool> {
        if !needs_maintenance(self.region().shard(shard)) {
            return Ok(false);
        }
        let mut key = Vec::with_capacity(LARGEST_BLOCK as usize);
        let lock = match wait {
            true => self.lock(shard, me)?,
            false => match ShardLock::try_acquire(self.region(), shard, me) {
                Some(lock) => lock,
                None => return Ok(false),
            },
        };
        let shrunk = shrink_step(&lock);
        let freed = free_root(&lock);
        match empty_slabs(&lock, moves, &mut key) {
            Ok(emptied) => Ok(shrunk || freed || emptied),
            Err(Stop::Fail(error)) => Err(error),
            Err(Stop::Need(_)) => Ok(false),
        }
    }
}

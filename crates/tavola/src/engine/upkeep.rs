//! Housekeeping beside writes: every 64 writes of a handle, one of them does a bounded piece of it.

use super::core::Core;
use crate::alloc::{Stop, free_orphans, give_back, is_over, is_worth_giving_back};
use crate::error::Result;
use crate::index::locate::{
    SweepSize, empty_slabs, free_root, may_expire, needs_maintenance, shrink_step, sweep_step,
};
use crate::layout::LARGEST_BLOCK;
use crate::lock::{Me, ShardLock, is_alive, next_member};
use crate::recover::{reclaim_dead, reclaim_participant};
use crate::sync::Ordering;
use std::cell::Cell;

/// Steps that a thread counts by itself before it adds them to those of the handle.
const STEPS_AT_ONCE: u32 = 16;

thread_local! {
    /// The handle of this thread's last step, and the steps since the thread last added to that
    /// handle's count.
    static STEPS: Cell<(u64, u32)> = const { Cell::new((0, 0)) };
}

/// Steps under locks, of all threads of a handle, from one piece of housekeeping to the next.
const MAINTAIN_EVERY: u32 = 64;
/// Items moved in one piece.
const MAINTAIN_MOVES: u32 = 8;
/// Pages given back in one piece.
const MAINTAIN_PAGES: u32 = 8;
/// Pieces from one search for a dead participant to the next.
const FIND_DEAD_EVERY: u32 = 16;

impl Core {
    /// Must be called after a step under a shard's lock, when the lock is free: waits until its
    /// changes are on disk, if they must be, and does housekeeping now and then.
    #[inline(always)]
    pub(crate) fn after_step(&self, me: Me) -> Result<()> {
        if self.region().is_journaled() {
            self.after_record(me)?;
        }
        self.count_step(me);
        Ok(())
    }

    /// Does housekeeping now and then.
    ///
    /// Steps are counted for each handle. A count for each thread would starve a table: if a thread
    /// writes to two tables in turn, every step that is a multiple of 64 would fall on the same
    /// table.
    #[inline(always)]
    pub(crate) fn count_step(&self, me: Me) {
        let (handle, steps) = STEPS.get();
        let is_same = handle == self.number;
        if is_same && steps + 1 < STEPS_AT_ONCE {
            STEPS.set((handle, steps + 1));
        } else {
            // A thread that comes from another table adds this step alone.
            self.add_steps(me, if is_same { STEPS_AT_ONCE } else { 1 });
        }
    }

    /// Adds to the steps of the handle, and does housekeeping when they pass a multiple of
    /// `MAINTAIN_EVERY`.
    #[inline(never)]
    fn add_steps(&self, me: Me, more: u32) {
        STEPS.set((self.number, 0));
        let before = self.steps.0.fetch_add(more, Ordering::Relaxed);
        let turn = before.wrapping_add(more) / MAINTAIN_EVERY;
        if turn != before / MAINTAIN_EVERY {
            // The write has succeeded whatever happens here. An error elsewhere in the table shows
            // in the operations that it concerns.
            let _ = self.maintain_some(turn, me);
        }
    }

    /// Does a bounded piece of housekeeping, in the next shard each time.
    #[cold]
    fn maintain_some(&self, turn: u32, me: Me) -> Result<()> {
        self.check_name_now();
        free_orphans(self.region(), me);
        let shard = turn % self.region().geometry().shards();
        self.sweep_shard(shard, me, SweepSize::Paced);
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

    /// Examines one of the participants, the next one each time, and reclaims it if it is dead.
    fn find_dead(&self, me: Me) -> Result<()> {
        let cursor = self.dead_cursor.load(Ordering::Relaxed);
        let (member, next) = next_member(self.region(), cursor);
        self.dead_cursor.store(next, Ordering::Relaxed);
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

    /// Does one step of the search for expired keys in a shard, if there may be any and the lock is
    /// free.
    pub(crate) fn sweep_shard(&self, shard: u32, me: Me, size: SweepSize) {
        if may_expire(self.region().shard(shard))
            && let Some(lock) = ShardLock::try_acquire(self.region(), shard, me)
        {
            // Damage shows in the operations that it concerns.
            let _ = sweep_step(&lock, size);
        }
    }

    /// Does one step of shrinking a shard. Returns true if there may be more to do. Unless `wait`
    /// is set, skips a shard whose lock is held, because the owner may be stopped.
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

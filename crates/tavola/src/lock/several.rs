//! The locks of several shards, for a transaction.

use super::{Held, Me, SHARD, ShardLock, Taken};
use crate::error::Result;
use crate::region::Region;

/// Proof that several shards are locked.
pub(crate) struct ShardLocks<'a> {
    /// In the order of their numbers. The first one is noted in `HELD`.
    locks: Vec<ShardLock<'a>>,
}

impl<'a> ShardLocks<'a> {
    /// Begins without a lock; has room for so many.
    pub(crate) fn with_room(count: usize) -> Self {
        Self {
            locks: Vec::with_capacity(count),
        }
    }

    /// Locks one more shard, whose number is above those of all others. After
    /// [`Taken::FromDead`] the caller must recover it before anything else.
    pub(crate) fn acquire(
        &mut self,
        region: &'a Region,
        number: u32,
        me: Me,
    ) -> Result<(&ShardLock<'a>, Taken)> {
        let head = region.shard(number);
        let (held, taken) = match self.locks.last() {
            None => Held::acquire(region, &head.lock, me, SHARD)?,
            Some(last) => {
                assert!(last.number < number, "shards are locked in order (LOCK-1)");
                Held::acquire_next(region, &head.lock, me, SHARD)?
            }
        };
        self.locks.push(ShardLock {
            region,
            number,
            head,
            me,
            _held: held,
        });
        Ok((self.locks.last().expect("just pushed"), taken))
    }

    /// Returns the lock of a shard.
    pub(crate) fn of(&self, number: u32) -> &ShardLock<'a> {
        let at = self.locks.binary_search_by_key(&number, |lock| lock.number);
        &self.locks[at.expect("every shard of the transaction is locked")]
    }
}

impl Drop for ShardLocks<'_> {
    fn drop(&mut self) {
        // The first one is the last to go, as the note in `HELD` goes with it.
        while self.locks.pop().is_some() {}
    }
}

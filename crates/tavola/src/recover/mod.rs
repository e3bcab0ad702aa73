//! Recovery after a death: the index is the truth, and everything else is rebuilt from it.
//!
//! A process that takes a lock over from a dead participant must call [`rebuild::recover`] before
//! anything else. Recovery needs no record of what the dead process was doing: it completes
//! half-done splits, merges and moves by clearing the copies that do not belong, and it rebuilds
//! bitmaps, lists and counters. A death during recovery is the same case again, because recovery
//! only reads what it trusts (slots, items, chains) and only writes what can be written again.
//!
//! `check` reads the same structures and compares them; `repair` is recovery of every shard.

mod check;
mod rebuild;
mod reclaim;
mod report;
mod uids;

pub(crate) use check::{check, check_pool};
pub(crate) use rebuild::{recover, repair_pool};
pub(crate) use reclaim::{reclaim, reclaim_dead, reclaim_participant};
pub use report::CheckReport;

use crate::error::Result;
use crate::lock::{Me, ShardLock, ShardLocks, Taken};
use crate::region::Region;

/// Locks a shard, and recovers it first if its last owner died. Returns the lock, and the dead
/// owner if there was one.
#[inline(always)]
pub(crate) fn lock_shard(
    region: &Region,
    number: u32,
    me: Me,
) -> Result<(ShardLock<'_>, Option<u32>)> {
    let (lock, taken) = ShardLock::acquire(region, number, me)?;
    let dead = match taken {
        Taken::Clean => None,
        Taken::FromDead { owner } => {
            recover(&lock);
            Some(owner)
        }
    };
    Ok((lock, dead))
}

/// Locks several shards, in the order of their numbers, and recovers those whose last owner died.
/// Returns the locks, and a dead owner if there was one.
pub(crate) fn lock_shards<'a>(
    region: &'a Region,
    numbers: &[u32],
    me: Me,
) -> Result<(ShardLocks<'a>, Option<u32>)> {
    let mut locks = ShardLocks::with_room(numbers.len());
    let mut dead = None;
    for number in numbers {
        if let (lock, Taken::FromDead { owner }) = locks.acquire(region, *number, me)? {
            recover(lock);
            dead = Some(owner);
        }
    }
    Ok((locks, dead))
}

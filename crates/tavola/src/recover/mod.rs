//! What happens after a death: the index is the truth, and all else is made anew from it.
//!
//! A lock that is taken over from a dead participant comes with one duty, done before anything
//! else: [`rebuild::recover`]. It needs no record of what the dead one was doing. It ends half-done
//! splits, merges and moves by clearing the copies that do not belong, and it rebuilds bitmaps,
//! lists and counters. A death during recovery is the same case once more: recovery only reads what
//! it trusts (slots, items, chains) and only writes what can be written again.
//!
//! `check` reads the same structures and compares; `repair` is recovery of every shard.

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
use crate::lock::{Me, ShardLock, Taken};
use crate::region::Region;

/// Locks a shard; one that a death left half-way is whole again when this returns. Says whose
/// death.
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

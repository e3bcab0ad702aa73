//! Named locks and semaphores: processes that take, share and give back are killed at each store
//! they make, and at random.
//!
//! Per point `k` of a case: a file is written again; a *victim* does the case's work and is killed
//! before its `k`-th store; a *finder* takes the lock after it and is killed before its `j`-th, for
//! each `j` it has; a *survivor* then has the lock alone, shared, and all permits, each in a
//! bounded time, and learns of a holder's death exactly where there was one.

mod areas;
mod barriers;
mod points;
mod soak;

pub(crate) use soak::run as soak;

use crate::args::Args;
use crate::board::Board;
use crate::child::{Found, Outcome, failed};
use crate::scratch::Scratch;
use std::time::Duration;
use tavola::{NamedLock, Semaphore, Table};

const LOCK: &str = "lock";
const SEMAPHORE: &str = "semaphore";
const PERMITS: u32 = 3;

/// How long a free lock may take: a death is noticed, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(10);

/// Kills processes at each store of locks, semaphores, barriers and areas.
pub(crate) fn points(args: &Args, board: &Board, scratch: &Scratch) -> Outcome<()> {
    points::run(args, board, scratch)?;
    barriers::run(args, board, scratch)?;
    areas::run(args, board, scratch)
}

fn lock(table: &Table) -> Found<NamedLock> {
    table.named_lock(LOCK).map_err(failed)
}

fn semaphore(table: &Table) -> Found<Semaphore> {
    table.semaphore(SEMAPHORE, PERMITS).map_err(failed)
}

/// Everything can be had: the lock, alone and by two, and all permits, no more. Returns whether the
/// lock's holder before had died.
fn is_usable(table: &Table) -> Found<bool> {
    let (lock, semaphore) = (lock(table)?, semaphore(table)?);
    let guard = lock.lock_within(PATIENCE).map_err(failed)?;
    let guard = guard.ok_or("the lock is not free")?;
    let owner_died = guard.owner_died();
    if lock.try_share().map_err(failed)?.is_some() {
        return Err("a lock that is held alone is shared".to_owned());
    }
    drop(guard);
    let two = [(); 2].map(|()| lock.share_within(PATIENCE).map_err(failed));
    for one in &two {
        match one {
            Ok(Some(guard)) if guard.is_shared() => {}
            Ok(Some(_)) => return Err("a death is reported twice".to_owned()),
            Ok(None) => return Err("the lock cannot be shared".to_owned()),
            Err(why) => return Err(why.clone()),
        }
    }
    drop(two);
    let again = lock.try_lock().map_err(failed)?;
    if again.is_none_or(|guard| guard.owner_died()) {
        return Err("what was given back is not free".to_owned());
    }
    let mut permits = Vec::new();
    for number in 0..PERMITS {
        let permit = semaphore.acquire_within(PATIENCE).map_err(failed)?;
        permits.push(permit.ok_or_else(|| format!("there are {number} permits only"))?);
    }
    if semaphore.try_acquire().map_err(failed)?.is_some() {
        return Err("there is a permit too many".to_owned());
    }
    drop(permits);
    let report = table.check().map_err(failed)?;
    match report.is_clean() {
        true => Ok(owner_died),
        false => Err(format!("the table is not whole: {:?}", report.problems)),
    }
}

//! Raising `max_size`: killed anywhere, the size is the old or the new one, and the next process
//! raises further.

use super::{Lane, Prepared, Run, Tally};
use crate::board::{Count, Of};
use crate::system::{Ended, alarm, fork, wait};
use std::io;
use std::path::Path;
use std::sync::atomic::Ordering::Relaxed;
use tavola::{Error, Options, Table, killpoint};

/// Sizes before the raise, after it, and after the survivor's.
const SIZES: [u64; 3] = [1 << 20, 2 << 20, 3 << 20];

fn options() -> Options {
    Table::options().max_size(SIZES[0]).shards(1)
}

/// Kills a process that raises at every store; prints a line.
pub(super) fn run(run: &Run<'_>) -> Prepared<Tally> {
    let lane = run.lane(0);
    let mut point = 0;
    loop {
        point += 1;
        let path = run.scratch.path(&format!("raise-{point}"));
        let killed = one(&lane, &path, point)?;
        std::fs::remove_file(&path)?;
        if !killed {
            break;
        }
        run.board.add(Count::Killed, 1);
    }
    let points = point - 1;
    let tally = Tally {
        cases: 1,
        stores: points,
        killed: points,
    };
    println!("  {:<46} {}", "raise max_size", tally.describe());
    Ok(tally)
}

/// A process that dies at `k`, then one that does not. Whether the first was killed.
fn one(lane: &Lane<'_>, path: &Path, k: u64) -> io::Result<bool> {
    let passed = lane.board.lane(lane.number, Of::Passed);
    let count = options()
        .create(path)
        .and_then(|table| fill(&table, 0))
        .map_err(|error| io::Error::other(error.to_string()))?;
    let pid = fork(|| {
        alarm(30);
        let Ok(table) = options().open_existing(path) else {
            return 1;
        };
        killpoint::die_at(k);
        let raised = table.set_max_size(SIZES[1]);
        passed.store(killpoint::passed(), Relaxed);
        killpoint::die_at(0);
        i32::from(raised.is_err())
    })?;
    let ended = wait(pid)?;
    let was_raised = ended == Ended::Exited(0);
    if !ended.was_killed() && !was_raised {
        let what = format!("raise: the victim of point {k}: {ended:?}");
        lane.board.fault(&what);
    }
    let pid = fork(|| {
        alarm(30);
        match next(path, was_raised, count) {
            Ok(()) => 0,
            Err(why) => {
                lane.board.fault(&format!("raise: point {k}: {why}"));
                1
            }
        }
    })?;
    if !matches!(wait(pid)?, Ended::Exited(0 | 1)) {
        let what = format!("raise: the survivor of point {k} did not end by itself");
        lane.board.fault(&what);
    }
    Ok(ended.was_killed())
}

/// Sets keys from `from` on until there is no room; returns the first that was refused.
fn fill(table: &Table, from: u64) -> tavola::Result<u64> {
    let mut number = from;
    loop {
        match table.set(number.to_le_bytes(), [7; 1000]) {
            Ok(()) => number += 1,
            Err(Error::Full { .. }) => return Ok(number),
            Err(error) => return Err(error),
        }
    }
}

/// What the next process finds, and that it can fill and raise what there is.
fn next(path: &Path, was_raised: bool, count: u64) -> Result<(), String> {
    let failed = |error: tavola::Error| error.to_string();
    let table = options().open_existing(path).map_err(failed)?;
    let size = table.stats().map_err(failed)?.max_size;
    if size != SIZES[1] && (was_raised || size != SIZES[0]) {
        return Err(format!("max_size is {size}"));
    }
    let more = fill(&table, count).map_err(failed)?;
    if size == SIZES[1] && more == count {
        return Err(format!(
            "it was raised, and has no room beyond {count} keys"
        ));
    }
    table.set_max_size(SIZES[2]).map_err(failed)?;
    let last = fill(&table, more).map_err(failed)?;
    if last <= more {
        return Err(format!(
            "it was raised again, and has no room beyond {more} keys"
        ));
    }
    let report = table.check().map_err(failed)?;
    if !report.is_clean() {
        return Err(format!("the table is not whole: {:?}", report.problems));
    }
    for number in 0..last {
        let found = table.get(number.to_le_bytes()).map_err(failed)?;
        if found.as_deref() != Some(&[7; 1000][..]) {
            return Err(format!("key {number} is not what it was"));
        }
    }
    Ok(())
}

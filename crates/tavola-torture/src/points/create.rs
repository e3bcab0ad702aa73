//! The making of a table's file: killed anywhere, the next creator makes a whole one.

use super::{Lane, Prepared, Run, Tally};
use crate::board::{Count, Of};
use crate::system::{Ended, alarm, fork, wait};
use std::io;
use std::sync::atomic::Ordering::Relaxed;
use tavola::{Options, Table, killpoint};

/// A cache, because a capacity is the last that is written before the table gets its name.
const CAPACITY: u64 = 1 << 20;

fn options() -> Options {
    Table::options().max_size(4 << 20).capacity(CAPACITY)
}

/// Kills a creator at every store; prints a line.
pub(super) fn run(run: &Run<'_>) -> Prepared<Tally> {
    let lane = run.lane(0);
    let mut point = 0;
    loop {
        point += 1;
        let dir = run.scratch.path(&format!("create-{point}"));
        std::fs::create_dir(&dir)?;
        let killed = one(&lane, &dir.join("table"), point)?;
        let names = std::fs::read_dir(&dir)?.count();
        if names != 1 {
            let what = format!("create: point {point}: {names} files are left, not the table's");
            run.board.fault(&what);
        }
        std::fs::remove_dir_all(&dir)?;
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
    println!("  {:<46} {}", "create", tally.describe());
    Ok(tally)
}

/// A creator that dies at `k`, then one that does not. Whether the first was killed.
fn one(lane: &Lane<'_>, path: &std::path::Path, k: u64) -> io::Result<bool> {
    let passed = lane.board.lane(lane.number, Of::Passed);
    let pid = fork(|| {
        alarm(30);
        killpoint::die_at(k);
        let made = options().create(path);
        passed.store(killpoint::passed(), Relaxed);
        killpoint::die_at(0);
        i32::from(made.is_err())
    })?;
    let ended = wait(pid)?;
    let was_made = ended == Ended::Exited(0);
    if !ended.was_killed() && !was_made {
        lane.board
            .fault(&format!("create: the victim of point {k}: {ended:?}"));
    }
    let pid = fork(|| {
        alarm(30);
        match next(path, was_made) {
            Ok(()) => 0,
            Err(why) => {
                lane.board.fault(&format!("create: point {k}: {why}"));
                1
            }
        }
    })?;
    if !matches!(wait(pid)?, Ended::Exited(0 | 1)) {
        lane.board.fault(&format!(
            "create: the survivor of point {k} did not end by itself"
        ));
    }
    Ok(ended.was_killed())
}

/// What the next creator finds: no name, or one of a whole table.
fn next(path: &std::path::Path, was_made: bool) -> Result<(), String> {
    let failed = |error: tavola::Error| error.to_string();
    let has_name = path.exists();
    if was_made && !has_name {
        return Err("a table that was made has no name".to_owned());
    }
    let opened = match has_name {
        true => options().open_existing(path),
        false => options().open(path),
    };
    let table = opened.map_err(failed)?;
    let capacity = table.capacity().map_err(failed)?;
    if capacity != Some(CAPACITY) {
        return Err(format!("its capacity is {capacity:?}"));
    }
    table.set(b"key", b"value").map_err(failed)?;
    let report = table.check().map_err(failed)?;
    if !report.is_clean() || table.get(b"key").map_err(failed)?.as_deref() != Some(b"value") {
        return Err(format!("the table is not whole: {:?}", report.problems));
    }
    Ok(())
}

//! The process that is killed.

use super::case::Case;
use super::op::{Op, Seat};
use crate::board::{Board, Of};
use crate::system::alarm;
use std::path::Path;
use std::sync::atomic::Ordering::Relaxed;
use tavola::killpoint;

/// Seconds after which a victim that still runs counts as hung.
const PATIENCE_S: u32 = 30;

/// The child's whole life: does the case's operations and dies before store `k`, if it has so many.
pub(crate) fn run(case: &Case, path: &Path, board: &Board, lane: usize, k: u64) -> i32 {
    alarm(PATIENCE_S);
    board.lane(lane, Of::Acknowledged).store(0, Relaxed);
    board.lane(lane, Of::Passed).store(0, Relaxed);
    board.lane(lane, Of::Hint).store(0, Relaxed);
    let outcome = live(case, path, board, lane, k);
    killpoint::die_at(0);
    match outcome {
        Ok(()) => 0,
        Err(why) => {
            board.fault(&format!("{}: the victim of point {k}: {why}", case.name));
            1
        }
    }
}

fn live(case: &Case, path: &Path, board: &Board, lane: usize, k: u64) -> Result<(), String> {
    let mut seat = Seat::new(path);
    let (lead_up, meant) = case.ops.split_at(case.prelude);
    if !case.armed_from_start {
        seat.attach().map_err(|error| error.to_string())?;
    }
    let acknowledged = board.lane(lane, Of::Acknowledged);
    let mut all = |ops: &[Op]| -> Result<(), String> {
        for op in ops {
            if !seat.apply(op).map_err(|error| format!("{op:?}: {error}"))? {
                return Err(format!("{op:?} gave another answer than it should have"));
            }
            let hint = seat.hint().map_or(0, |hint| hint.to_bits());
            board.lane(lane, Of::Hint).store(hint, Relaxed);
            acknowledged.fetch_add(1, Relaxed);
        }
        Ok(())
    };
    all(lead_up)?;
    killpoint::die_at(k);
    all(meant)?;
    board
        .lane(lane, Of::Passed)
        .store(killpoint::passed(), Relaxed);
    // What the end of the handle stores is a case of its own.
    killpoint::die_at(0);
    Ok(())
}

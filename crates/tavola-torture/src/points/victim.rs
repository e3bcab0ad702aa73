//! The process that is killed.

use super::case::Case;
use super::op::Seat;
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
    let failed = |error: tavola::Error| error.to_string();
    let mut seat = Seat::new(path);
    if !case.armed_from_start {
        // Attaches, and changes nothing where nobody died.
        seat.table().map_err(failed)?.reap().map_err(failed)?;
    }
    killpoint::die_at(k);
    for op in &case.ops {
        if !seat.apply(op).map_err(|error| format!("{op:?}: {error}"))? {
            return Err(format!("{op:?} gave another answer than it should have"));
        }
        board.lane(lane, Of::Acknowledged).fetch_add(1, Relaxed);
    }
    board
        .lane(lane, Of::Passed)
        .store(killpoint::passed(), Relaxed);
    // What the end of the handle stores is a case of its own.
    killpoint::die_at(0);
    Ok(())
}

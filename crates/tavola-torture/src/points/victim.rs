//! The process that is killed.

use super::case::Case;
use super::seat::Seat;
use crate::board::{Board, Of};
use crate::system::alarm;
use std::path::Path;
use std::sync::atomic::Ordering::Relaxed;
use tavola::killpoint;
use tavola_model::{Answer, Op, brief};

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
    let all: Vec<_> = case.ops.iter().zip(case.answers()).collect();
    let (lead_up, meant) = all.split_at(case.prelude);
    if !case.armed_from_start {
        seat.attach().map_err(|error| error.to_string())?;
    }
    let acknowledged = board.lane(lane, Of::Acknowledged);
    let mut act = |ops: &[(&Op, &Answer)]| -> Result<(), String> {
        for (op, expected) in ops {
            let failed = |error| format!("{}: {error}", brief(op));
            let answer = seat.apply(op).map_err(failed)?;
            if !(expected.agrees(&answer) || case.is_cache && answer.is_miss()) {
                let [op, answer, expected] = [brief(op), brief(&answer), brief(expected)];
                return Err(format!(
                    "{op} answers {answer}, and should answer {expected}"
                ));
            }
            let hint = match answer {
                Answer::Uid(Some(hint)) => hint.to_bits(),
                _ => 0,
            };
            board.lane(lane, Of::Hint).store(hint, Relaxed);
            acknowledged.fetch_add(1, Relaxed);
        }
        Ok(())
    };
    act(lead_up)?;
    killpoint::die_at(k);
    act(meant)?;
    if case.closes {
        drop(seat);
    }
    board
        .lane(lane, Of::Passed)
        .store(killpoint::passed(), Relaxed);
    // What the end of the handle stores is a case of its own (`closes`).
    killpoint::die_at(0);
    Ok(())
}

//! Children that are to die at a store, or to say what they find.

use crate::board::{Board, Count};
use crate::system::{Ended, alarm, fork, now_ns, wait};
use rustix::process::Pid;
use std::error::Error;
use tavola::killpoint;

/// Seconds after which a process that still runs counts as hung.
const HUNG_S: u32 = 30;

pub(crate) type Outcome<T> = Result<T, Box<dyn Error>>;

/// What a child found out; the words are a fault.
pub(crate) type Found<T> = Result<T, String>;

pub(crate) fn failed(error: tavola::Error) -> String {
    error.to_string()
}

/// Whether a child that was to die did.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Died {
    Yes,
    No,
}

/// Runs a child; what it says, and any end but a death by plan, is a fault.
pub(crate) fn child(
    board: &Board,
    case: &str,
    name: &str,
    work: impl FnOnce() -> Found<()>,
) -> Outcome<Died> {
    Started::start(board, case, name, work)?.finish()
}

/// A child that runs beside others.
pub(crate) struct Started<'a> {
    board: &'a Board,
    case: &'a str,
    name: &'a str,
    pid: Pid,
}

impl<'a> Started<'a> {
    pub(crate) fn start(
        board: &'a Board,
        case: &'a str,
        name: &'a str,
        work: impl FnOnce() -> Found<()>,
    ) -> Outcome<Self> {
        let pid = fork(|| {
            alarm(HUNG_S);
            match work() {
                Ok(()) => 0,
                Err(why) => {
                    killpoint::die_at(0);
                    board.fault(&format!("{case}: {name}: {why}"));
                    1
                }
            }
        })?;
        Ok(Self {
            board,
            case,
            name,
            pid,
        })
    }

    /// Waits for its end, as [`child`] does.
    pub(crate) fn finish(self) -> Outcome<Died> {
        match wait(self.pid)? {
            ended if ended.was_killed() => {
                self.board.add(Count::Killed, 1);
                return Ok(Died::Yes);
            }
            Ended::Exited(0 | 1) => {}
            ended => self
                .board
                .fault(&format!("{}: {}: {ended:?}", self.case, self.name)),
        }
        Ok(Died::No)
    }
}

/// Prints what a case came to.
pub(crate) fn print_result(case: &str, points: u64, finders: u64, began: u64) {
    println!(
        "  {case:<46} killed at {points} points; {finders} finders killed, {:.1} s",
        (now_ns() - began) as f64 / 1e9
    );
}

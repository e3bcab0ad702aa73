//! What other programs and the system do around a table: daemons that close all descriptors, other
//! pid namespaces, `cp` and `mv` of a table in use.

mod crew;
mod daemons;
mod files;
mod namespaces;

use crate::args::Args;
use crate::board::Board;
use crate::child::{Found, Outcome, failed};
use crate::scratch::Scratch;
use crate::system::{Ended, alarm, fork, wait};
use tavola::Table;

/// Seconds after which a process that has one thing to do counts as hung.
const HUNG_S: u32 = 60;
/// How long each of the three samples takes, in a part of all the time and at most.
const PART: u64 = 10;
const LONGEST_NS: u64 = 15_000_000_000;

/// Runs all three; `only`: those with this in their name.
pub(crate) fn run(args: &Args, board: &Board, scratch: &Scratch, only: &str) -> Outcome<()> {
    type Sample = fn(&Board, &Scratch, u64, u64) -> Outcome<()>;
    const SAMPLES: [(&str, Sample); 3] = [
        ("daemons", daemons::run),
        ("namespaces", namespaces::run),
        ("files", files::run),
    ];
    let length_ns = (args.seconds * 1_000_000_000 / PART).min(LONGEST_NS);
    for (name, sample) in SAMPLES {
        if format!("surroundings {name}").contains(only) {
            sample(board, scratch, args.seed, length_ns)?;
        }
    }
    Ok(())
}

/// Does something in a child, so that this process has no table open when it forks.
fn apart(board: &Board, what: &str, work: impl FnOnce() -> Found<()>) -> Outcome<()> {
    let pid = fork(|| {
        alarm(HUNG_S);
        work().map_or_else(
            |why| {
                board.fault(&format!("{what}: {why}"));
                1
            },
            |()| 0,
        )
    })?;
    match wait(pid)? {
        Ended::Exited(0 | 1) => {}
        ended => board.fault(&format!("{what}: {ended:?}")),
    }
    Ok(())
}

/// Whether nothing is wrong with a table, and whether it is a copy that may be mixed.
fn expect_clean(table: &Table, is_mixed: bool) -> Found<()> {
    let report = table.check().map_err(failed)?;
    if !report.is_clean() {
        return Err(format!("the table is not whole: {:?}", report.problems));
    }
    match report.copied_in_use == is_mixed {
        true => Ok(()),
        false => Err(format!("copied_in_use is {}", report.copied_in_use)),
    }
}

/// Whether a counter says what was acknowledged, or what dying processes had done beside.
fn expect_count(table: &Table, key: &[u8], acknowledged: u64, killed: u64) -> Found<()> {
    let text = table.get(key).map_err(failed)?.unwrap_or_default();
    let text = String::from_utf8_lossy(&text).into_owned();
    let count = text.parse().unwrap_or(0);
    match (acknowledged..=acknowledged + killed).contains(&count) {
        true => Ok(()),
        false => Err(format!(
            "{acknowledged} increments were acknowledged, {killed} processes killed, \
             the counter says {text:?}"
        )),
    }
}

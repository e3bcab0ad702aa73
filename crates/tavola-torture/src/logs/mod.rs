//! Logs: processes that write lines, drain them and make logs are killed at each store they make,
//! and at random, and afterwards every line that had been written must be there or accounted for.
//!
//! Per point `k` of a case: a file is written again; a *victim* does the case's operations and is
//! killed before its `k`-th store; a *finder* writes, drains and repairs what the victim left and
//! is killed before its `j`-th; a *survivor* reads, drains, compares with the slate what each of
//! them had done, and goes round the ring. The slate is memory that all share, past the kill
//! points: who writes a line notes it there before and after, who drains it when it is written out.

mod account;
mod cases;
mod create;
mod is;
mod op;
mod points;
mod record;
mod slate;
mod soak;
mod start;
mod survivor;
mod tally;
mod worker;

use crate::args::Args;
use crate::board::Board;
use crate::child::{Died, Found, Outcome, child, failed};
use crate::scratch::Scratch;
use std::path::Path;
use tavola::Table;

/// The log of a case that has it beside a table.
const NAME: &str = "log";

/// Whether nothing is wrong with the file a log is in.
fn whole(path: &Path) -> Found<()> {
    let report = Table::open(path).and_then(|table| table.check());
    let report = report.map_err(failed)?;
    match report.is_clean() {
        true => Ok(()),
        false => Err(format!("the log is not whole: {:?}", report.problems)),
    }
}

/// Kills at every point, of finders at a sample.
pub(crate) fn points(args: &Args, board: &Board, scratch: &Scratch) -> Outcome<()> {
    points::run(args, board, scratch)?;
    create::run(args, board, scratch)
}

pub(crate) use soak::run as soak;

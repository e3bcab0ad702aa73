//! The making of a log, beside a table and in a file of its own.

use super::op::Seat;
use super::slate::{SURVIVOR, Slate};
use super::{Found, NAME, Outcome, whole};
use crate::args::Args;
use crate::board::Board;
use crate::makers::{self, Place, nothing_is_left_over};
use crate::scratch::Scratch;
use std::path::Path;
use tavola::LogOptions;

/// Sheets: the fewest there may be, and not many stores.
const SHEETS: u64 = 4;
/// When a sample is wanted, one in so many finders.
const SPARE: usize = 37;

pub(super) fn run(args: &Args, board: &Board, scratch: &Scratch) -> Outcome<()> {
    let path = scratch.path("made");
    let slate = Slate::new()?;
    let beside = Place::beside(&path, "log: make a log beside a table", |table| {
        options().open_in(table, NAME).map(drop)
    })?;
    let own = Place::own("log: make a log in a file", |path| {
        options().open(path).map(drop)
    });
    makers::run(args, board, &path, &[beside, own], SPARE, |place| {
        slate.clear();
        survive(&path, slate, place)
    })
}

fn options() -> LogOptions {
    LogOptions::new().bytes(SHEETS << 14)
}

/// The log can be had, and takes lines; nothing is left over.
fn survive(path: &Path, slate: Slate, place: &Place) -> Found<()> {
    let table = place.survives(path)?;
    whole(path)?;
    let mut seat = Seat::open(path, place.is_beside(), slate, SURVIVOR)?;
    seat.drain()?;
    let written = [seat.line(16_000)?, seat.line(100)?, seat.line(16_000)?];
    match seat.pass(true)? {
        drained if drained == written => {}
        drained => return Err(format!("{drained:?} are drained, not {written:?}")),
    }
    nothing_is_left_over(&table, SHEETS << 14)?;
    whole(path)
}

//! What a survivor finds, and does.

use super::account;
use super::cases::{A_SHEET, BIG, Case, SHEETS, WHOLE};
use super::op::Seat;
use super::slate::{BEGUN, LineId, SURVIVOR, Slate, opened_line};
use super::{Found, failed, whole};
use std::collections::{HashMap, HashSet};
use std::path::Path;
use tavola::{LogReader, Overload};

/// How often the ring is gone round.
const ROUNDS: usize = 3;
/// Keys that may have been set beside a log.
const KEYS: u64 = 8;

/// Where a victim died, and a finder; 0: nobody did.
#[derive(Clone, Copy, Default)]
pub(super) struct Death {
    pub(super) k: u64,
    pub(super) j: u64,
}

impl Death {
    pub(super) fn count(self) -> u64 {
        u64::from(self.k > 0) + u64::from(self.j > 0)
    }
}

/// Lines that are there to be read.
pub(super) type There = HashSet<LineId>;

pub(super) fn check_survivor(path: &Path, case: &Case, slate: Slate, death: Death) -> Found<()> {
    let mut seat = Seat::open(path, case.is.beside, slate, SURVIVOR)?;
    // The first to come finds the dead: a reader, a writer, a repair.
    if case.is.damaged || (death.k ^ death.j) % 3 == 2 {
        seat.repair()?;
    }
    let mut reader = seat.log.reader();
    if (death.k ^ death.j) % 3 == 1 {
        // Without a drain, that is.
        let line = seat.line(40)?;
        if !read(&mut reader, slate)?.contains(&line) {
            return Err(format!(
                "line {line:?} has just been written, and is not there"
            ));
        }
        reader = seat.log.reader();
    }
    let there = read(&mut reader, slate)?;
    seat.drain()?;
    seat.pass(true)?;
    account::check_counts(case, slate, &there, death, seat.log.dropped())?;
    rounds(&mut seat, &mut reader)?;
    if case.overload != Overload::Block {
        overload(case.overload, &mut seat)?;
    }
    keys(&seat)?;
    whole(path)
}

/// Each line once, and those of a writer in their order.
fn read(reader: &mut LogReader, slate: Slate) -> Found<There> {
    let (mut there, mut last) = (There::new(), HashMap::new());
    for line in reader.lines() {
        let id @ LineId { writer, number } = opened_line(&line)?;
        if slate.state(id).is_none_or(|state| state < BEGUN) {
            return Err(format!("line {number} of {writer} was never begun"));
        }
        if let Some(before) = last.insert(writer, number)
            && before >= number
        {
            return Err(format!(
                "line {number} of {writer} comes after line {before}"
            ));
        }
        there.insert(id);
    }
    Ok(there)
}

/// Every sheet can be used again and again: nothing is dropped, nobody waits.
fn rounds(seat: &mut Seat, reader: &mut LogReader) -> Found<()> {
    let dropped = seat.log.dropped();
    // The sheet in hand may be one that was gone on with, whose turn is near: another is taken.
    // Then a line longer than what four leave of a sheet: four more do not fit behind it.
    let lines = [seat.line(WHOLE)?, seat.line(400)?];
    match seat.pass(true)? {
        drained if drained == lines => {}
        drained => return Err(format!("{drained:?} are drained, not {lines:?}")),
    }
    reader.skip();
    for round in 0..ROUNDS {
        let mut written = Vec::new();
        for _ in 0..A_SHEET * (SHEETS - 1) {
            let line = seat.line(BIG)?;
            let seen: Vec<_> = reader.lines().map(|line| opened_line(&line)).collect();
            if seen != [Ok(line)] {
                return Err(format!("round {round}: {seen:?} is read, not {line:?}"));
            }
            written.push(line);
        }
        let drained = seat.pass(true)?;
        let new = seat.log.dropped() - dropped;
        if drained != written || new != 0 {
            return Err(format!(
                "round {round}: {drained:?} are drained, not {written:?}; {new} are dropped"
            ));
        }
    }
    Ok(())
}

/// More lines than there is room for: each is written out or counted.
fn overload(overload: Overload, seat: &mut Seat) -> Found<()> {
    let before = seat.log.dropped();
    let mut written = Vec::new();
    for _ in 0..A_SHEET * (SHEETS + 2) {
        written.push(seat.line(BIG)?);
    }
    let drained = seat.pass(true)?;
    let dropped = (seat.log.dropped() - before) as usize;
    let is_right = match overload {
        Overload::DropOldest => written[dropped.min(written.len())..] == drained,
        _ => written.starts_with(&drained),
    };
    let is_all = drained.len() + dropped == written.len();
    match is_right && is_all && drained.len() >= A_SHEET * (SHEETS - 1) {
        true => Ok(()),
        false => Err(format!(
            "of {written:?}, {drained:?} are drained and {dropped} dropped"
        )),
    }
}

/// The table beside a log holds whole values.
fn keys(seat: &Seat) -> Found<()> {
    let Some(table) = &seat.table else {
        return Ok(());
    };
    for number in 0..KEYS {
        let key = number.to_le_bytes();
        let value = table.get(key).map_err(failed)?;
        if value.is_some_and(|value| *value != [key; 30].concat()[..]) {
            return Err(format!("key {number} holds another value"));
        }
    }
    table.set(b"after", b"all").map(drop).map_err(failed)
}

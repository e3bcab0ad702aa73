//! The making of an area beside a table.

use crate::args::Args;
use crate::board::Board;
use crate::child::{Found, Outcome, failed};
use crate::makers::{self, Place, nothing_is_left_over};
use crate::scratch::Scratch;
use std::path::Path;
use std::sync::atomic::Ordering::Relaxed;
use tavola::{Area, Error, Table};

const NAME: &str = "area";
/// Several pages.
const BYTES: u64 = 5 << 14;
/// When a sample is wanted, one in so many finders.
const SPARE: usize = 7;

pub(super) fn run(args: &Args, board: &Board, scratch: &Scratch) -> Outcome<()> {
    let path = scratch.path("area");
    let beside = Place::beside(&path, "area: make one beside a table", |table| {
        table.area(NAME, BYTES).map(drop)
    })?;
    makers::run(args, board, &path, &[beside], SPARE, |place| {
        survive(&path, place)
    })
}

/// There is no area or a complete one, before anybody makes it again and after.
fn survive(path: &Path, place: &Place) -> Found<()> {
    let table = Table::open(path).map_err(failed)?;
    let names = table.areas().map_err(failed)?;
    match table.existing_area(NAME) {
        Err(Error::NotThere { .. }) if names.is_empty() => {}
        Ok(area) if names == [NAME] => is_complete(&area)?,
        other => return Err(format!("of areas {names:?} there is {other:?}")),
    }
    // The next one that makes it finds its pages as this one leaves them.
    drop(table);
    let table = place.survives(path)?;
    let area = table.existing_area(NAME).map_err(failed)?;
    is_complete(&area)?;
    nothing_is_left_over(&table, BYTES)?;
    let report = table.check().map_err(failed)?;
    match report.is_clean() {
        true => Ok(()),
        false => Err(format!("the table is not whole: {:?}", report.problems)),
    }
}

/// It has its size, and all its bytes are zero.
fn is_complete(area: &Area) -> Found<()> {
    let not_zero = area.words().iter().filter(|word| word.load(Relaxed) != 0);
    match (area.len(), not_zero.count()) {
        (BYTES, 0) => Ok(()),
        (bytes, words) => Err(format!("an area of {bytes} bytes, {words} words not zero")),
    }
}

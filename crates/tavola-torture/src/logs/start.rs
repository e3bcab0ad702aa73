//! The file a case begins with.

use super::cases::{BIG, Case, SHEETS};
use super::op::Seat;
use super::slate::{LineId, MAKER, Slate, text};
use super::{Died, NAME, Outcome, child, failed};
use crate::board::Board;
use crate::image::Image;
use crate::scratch::Scratch;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use tavola::{LogOptions, Table};

/// A case's file, and what its maker noted.
pub(super) struct Start {
    pub(super) image: Image,
    pub(super) slate: Vec<u64>,
}

/// A log that its maker used, and ended or died.
pub(super) fn start(case: &Case, board: &Board, scratch: &Scratch, slate: Slate) -> Outcome<Start> {
    let path = scratch.path("log");
    if path.exists() {
        std::fs::remove_file(&path)?;
    }
    slate.clear();
    let made = child(board, case.name, "the maker", || {
        make(&path, case)?;
        let mut seat = Seat::open(&path, case.is.beside, slate, MAKER)?;
        for op in &case.before {
            seat.apply(op)?;
        }
        match case.is.dead {
            true => std::mem::forget(seat),
            false => drop(seat),
        }
        Ok(())
    })?;
    if made == Died::Yes {
        return Err("the maker was killed".into());
    }
    if case.is.damaged {
        damage(&path)?;
    }
    Ok(Start {
        image: Image::load(&path)?,
        slate: slate.copy(),
    })
}

fn make(path: &Path, case: &Case) -> Result<(), String> {
    let bytes = SHEETS as u64 * 16 * 1024;
    let options = LogOptions::new().bytes(bytes).overload(case.overload);
    let made = match case.is.beside {
        true => Table::options()
            .max_size(2 << 20)
            .shards(1)
            .create(path)
            .and_then(|table| options.create_in(&table, NAME)),
        false => options.create(path),
    };
    made.map(drop).map_err(failed)
}

/// Makes the head of the maker's second line no head.
fn damage(path: &Path) -> Outcome<()> {
    let bytes = std::fs::read(path)?;
    let line = text(
        LineId {
            writer: MAKER,
            number: 1,
        },
        BIG,
    );
    let at = bytes.windows(64).position(|window| window == &line[..64]);
    let at = at.ok_or("the line to be damaged is not there")?;
    let file = File::options().write(true).open(path)?;
    Ok(file.write_all_at(&[0xff; 8], at as u64 - 24)?)
}

//! The making of a pool, beside a table and in a file of its own.

use super::{Found, Outcome, drained, failed, queues, whole};
use crate::args::Args;
use crate::board::Board;
use crate::makers::{self, Place, nothing_is_left_over};
use crate::scratch::Scratch;
use std::path::Path;
use tavola::{QueueOptions, QueuePool};

/// Elements, and bytes of each: several pages, and not many stores.
const ELEMENTS: u32 = 20;
const BYTES: u32 = 4096;
/// When a sample is wanted, one in so many finders.
const SPARE: usize = 31;
/// Of the pool beside a table.
const NAME: &str = "pool";

pub(super) fn run(args: &Args, board: &Board, scratch: &Scratch) -> Outcome<()> {
    let path = scratch.path("made");
    let beside = Place::beside(&path, "queue: make a pool beside a table", |table| {
        options().open_in(table, NAME).map(drop)
    })?;
    let own = Place::own("queue: make a pool in a file", |path| {
        options().open(path).map(drop)
    });
    makers::run(args, board, &path, &[beside, own], SPARE, |place| {
        survive(&path, place)
    })
}

fn options() -> QueueOptions {
    QueueOptions::new(ELEMENTS, BYTES).queues(super::NAMES)
}

/// The pool can be had, and is whole; nothing is left over.
fn survive(path: &Path, place: &Place) -> Found<()> {
    let table = place.survives(path)?;
    let pool = match place.is_beside() {
        true => table.pool(NAME),
        false => QueuePool::open(path),
    };
    let pool = pool.map_err(failed)?;
    whole(&pool)?;
    let mut all = Vec::new();
    for queue in queues(&pool).map_err(failed)? {
        all.extend(drained(&queue)?);
    }
    super::are_all(all, ELEMENTS)?;
    nothing_is_left_over(&table, u64::from(ELEMENTS * BYTES))
}

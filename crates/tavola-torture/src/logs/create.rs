//! The making of a log, beside a table and in a file of its own.

use super::op::Seat;
use super::slate::{SURVIVOR, Slate};
use super::{Died, Found, NAME, Outcome, child, failed, told, whole};
use crate::args::Args;
use crate::board::Board;
use crate::image::Image;
use crate::scratch::Scratch;
use crate::system::now_ns;
use std::path::{Path, PathBuf};
use tavola::{Log, LogOptions, Result, Table, killpoint};

/// Sheets: the fewest there may be, and not many stores.
const SHEETS: u64 = 4;
/// When a sample is wanted, one in so many finders.
const SPARE: usize = 11;

/// Where a log is made, and how one who comes later stumbles over what is left.
struct Place {
    name: &'static str,
    /// The file there is; `None`: none.
    start: Option<Image>,
    make: fn(&Path) -> Result<Log>,
    find: fn(&Path) -> Result<()>,
}

pub(super) fn run(args: &Args, board: &Board, scratch: &Scratch) -> Outcome<()> {
    let path = scratch.path("made");
    let slate = Slate::new()?;
    for place in [beside(&path)?, own()] {
        if args
            .only
            .as_deref()
            .is_none_or(|only| place.name.contains(only))
        {
            let step = if args.every_point() { 1 } else { SPARE };
            points(board, (&path, slate), &place, step)?;
        }
    }
    Ok(())
}

fn options() -> LogOptions {
    LogOptions::new().bytes(SHEETS << 14)
}

fn beside(path: &Path) -> Outcome<Place> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.into()),
        _ => {}
    }
    let table = Table::options().max_size(2 << 20).shards(1).create(path)?;
    for number in 0..40u32 {
        table.set(&number.to_le_bytes(), &[7; 500])?;
    }
    drop(table);
    Ok(Place {
        name: "log: make a log beside a table",
        start: Some(Image::load(path)?),
        make: |path| {
            let table = Table::options().open_existing(path)?;
            table.participants()?;
            options().open_beside(&table, NAME)
        },
        find: |path| Table::options().open_existing(path)?.reap().map(drop),
    })
}

fn own() -> Place {
    Place {
        name: "log: make a log in a file",
        start: None,
        make: |path| options().open(path),
        find: |path| options().open(path).map(drop),
    }
}

/// Kills a maker at each of its stores, and a finder of what it left at each of its own.
fn points(
    board: &Board,
    (path, slate): (&PathBuf, Slate),
    place: &Place,
    step: usize,
) -> Outcome<()> {
    let began = now_ns();
    let name = place.name;
    let anew = || {
        slate.clear();
        match &place.start {
            Some(image) => image.store(path),
            None => match std::fs::remove_file(path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
                _ => Ok(()),
            },
        }
    };
    let dying = |who: &str, at: u64, work: &dyn Fn(&Path) -> Result<()>| {
        child(board, name, who, || {
            killpoint::die_at(at);
            let outcome = work(path);
            killpoint::die_at(0);
            outcome.map_err(failed)
        })
    };
    let survive = |who: &str| child(board, name, who, || survive(path, slate, place));
    let make = |path: &Path| (place.make)(path).map(drop);
    let (mut killed, mut finders) = (0, 0);
    for k in 1.. {
        let who = format!("the maker of point {k}");
        anew()?;
        let end = dying(&who, k, &make)?;
        survive(&format!("the survivor of point {k}"))?;
        if end == Died::No {
            break;
        }
        killed += 1;
        for j in (1 + k % step as u64..).step_by(step) {
            anew()?;
            dying(&who, k, &make)?;
            if dying(&format!("the finder {j} of point {k}"), j, &place.find)? == Died::No {
                break;
            }
            finders += 1;
            survive(&format!("the survivor of point {k}, finder {j}"))?;
        }
    }
    told(name, killed, finders, began);
    Ok(())
}

/// The log can be had, and takes lines; what was there is there; nothing is left over.
fn survive(path: &Path, slate: Slate, place: &Place) -> Found<()> {
    drop((place.make)(path).map_err(failed)?);
    let table = Table::open(path).map_err(failed)?;
    if place.start.is_some() {
        for number in 0..40u32 {
            let value = table.get(&number.to_le_bytes()).map_err(failed)?;
            if value.as_deref() != Some(&[7; 500]) {
                return Err(format!("key {number} holds {value:?}"));
            }
        }
    }
    table.reap().map_err(failed)?;
    whole(path)?;
    let mut seat = Seat::open(path, place.start.is_some(), slate, SURVIVOR)?;
    seat.drain()?;
    let written = [seat.line(16_000)?, seat.line(100)?, seat.line(16_000)?];
    match seat.pass(true)? {
        drained if drained == written => {}
        drained => return Err(format!("{drained:?} are drained, not {written:?}")),
    }
    let stats = table.stats().map_err(failed)?;
    let least = SHEETS << 14;
    match stats.beside_bytes {
        bytes if (least..least + (48 << 10)).contains(&bytes) => whole(path),
        bytes => Err(format!("{bytes} bytes stand beside the table")),
    }
}

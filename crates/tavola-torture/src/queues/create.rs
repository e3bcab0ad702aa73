//! The making of a pool, beside a table and in a file of its own.

use super::{Died, Found, Outcome, child, drained, failed, queues, whole};
use crate::args::Args;
use crate::board::Board;
use crate::image::Image;
use crate::scratch::Scratch;
use crate::system::now_ns;
use std::path::{Path, PathBuf};
use tavola::{QueueOptions, QueuePool, Result, Table, killpoint};

/// Elements, and bytes of each: several pages, and not many stores.
const ELEMENTS: u32 = 20;
const BYTES: u32 = 4096;
/// When a sample is wanted, one in so many finders.
const SPARE: usize = 9;

/// Where a pool is made, and how one who comes later stumbles over what is left.
struct Place {
    name: &'static str,
    /// The file there is; `None`: none.
    start: Option<Image>,
    make: fn(&Path) -> Result<QueuePool>,
    find: fn(&Path) -> Result<()>,
}

pub(super) fn run(args: &Args, board: &Board, scratch: &Scratch) -> Outcome<()> {
    let path = scratch.path("made");
    for place in [beside(&path)?, own()] {
        if args
            .only
            .as_deref()
            .is_none_or(|only| place.name.contains(only))
        {
            let step = if args.every_point() { 1 } else { SPARE };
            points(board, &path, &place, step)?;
        }
    }
    Ok(())
}

fn options() -> QueueOptions {
    QueueOptions::new(ELEMENTS, BYTES).queues(super::NAMES)
}

fn beside(path: &Path) -> Outcome<Place> {
    let table = Table::options().max_size(2 << 20).shards(1).create(path)?;
    for number in 0..40u32 {
        table.set(&number.to_le_bytes(), &[7; 500])?;
    }
    drop(table);
    Ok(Place {
        name: "queue: make a pool beside a table",
        start: Some(Image::load(path)?),
        make: |path| {
            let table = Table::options().open_existing(path)?;
            table.participants()?;
            options().open_beside(&table, "pool")
        },
        find: |path| Table::options().open_existing(path)?.reap().map(drop),
    })
}

fn own() -> Place {
    Place {
        name: "queue: make a pool in a file",
        start: None,
        make: |path| options().open(path),
        find: |path| options().open(path).map(drop),
    }
}

/// Kills a maker at each of its stores, and a finder of what it left at each of its own.
fn points(board: &Board, path: &PathBuf, place: &Place, step: usize) -> Outcome<()> {
    let began = now_ns();
    let name = place.name;
    let anew = || match &place.start {
        Some(image) => image.store(path),
        None => match std::fs::remove_file(path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        },
    };
    let dying = |who: &str, at: u64, work: &dyn Fn(&Path) -> Result<()>| {
        child(board, name, who, || {
            killpoint::die_at(at);
            let outcome = work(path);
            killpoint::die_at(0);
            outcome.map_err(failed)
        })
    };
    let survive = |who: &str| child(board, name, who, || survive(path, place));
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
    super::told(name, killed, finders, began);
    Ok(())
}

/// The pool can be had, and is whole; what was there is there; nothing is left over.
fn survive(path: &Path, place: &Place) -> Found<()> {
    let pool = (place.make)(path).map_err(failed)?;
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
    whole(&pool)?;
    let mut all = Vec::new();
    for queue in queues(&pool).map_err(failed)? {
        all.extend(drained(&queue)?);
    }
    super::are_all(all, ELEMENTS)?;
    let stats = table.stats().map_err(failed)?;
    let least = u64::from(ELEMENTS * BYTES);
    match stats.beside_bytes {
        bytes if (least..least + (48 << 10)).contains(&bytes) => Ok(()),
        bytes => Err(format!("{bytes} bytes stand beside the table")),
    }
}

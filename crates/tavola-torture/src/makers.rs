//! Makers of what is beside a table, or in a file of its own, killed at each of their stores;
//! finders of what they left, at each of theirs.

use crate::args::Args;
use crate::board::Board;
use crate::child::{Died, Found, Outcome, child, failed, print_result};
use crate::image::Image;
use crate::system::now_ns;
use std::io::ErrorKind;
use std::path::Path;
use tavola::{Result, Table, killpoint};

/// Keys of the table beside which something is made, and the value of each.
const KEYS: u32 = 40;
const VALUE: [u8; 500] = [7; 500];
/// Bytes that may stand beside a table more than what was made takes.
const MORE: u64 = 48 << 10;

type Act = Box<dyn Fn(&Path) -> Result<()>>;

/// Where something is made, and how one who comes later stumbles over what is left.
pub(crate) struct Place {
    name: &'static str,
    /// The existing file, if any.
    start: Option<Image>,
    make: Act,
    find: Act,
}

impl Place {
    /// Beside a table that has keys.
    pub(crate) fn beside(
        path: &Path,
        name: &'static str,
        make: fn(&Table) -> Result<()>,
    ) -> Outcome<Self> {
        remove(path)?;
        let table = Table::options().max_size(2 << 20).shards(1).create(path)?;
        for number in 0..KEYS {
            table.set(number.to_le_bytes(), VALUE)?;
        }
        drop(table);
        Ok(Self {
            name,
            start: Some(Image::load(path)?),
            make: Box::new(move |path| {
                let table = Table::options().open_existing(path)?;
                table.participants()?;
                make(&table)
            }),
            find: Box::new(|path| Table::options().open_existing(path)?.reclaim().map(drop)),
        })
    }

    /// In a file of its own.
    pub(crate) fn own(name: &'static str, open: fn(&Path) -> Result<()>) -> Self {
        Self {
            name,
            start: None,
            make: Box::new(open),
            find: Box::new(open),
        }
    }

    pub(crate) fn is_beside(&self) -> bool {
        self.start.is_some()
    }

    fn recreate(&self, path: &Path) -> Outcome<()> {
        match &self.start {
            Some(image) => Ok(image.store(path)?),
            None => remove(path),
        }
    }

    /// What is to be made can be made, and what was there is there.
    pub(crate) fn survives(&self, path: &Path) -> Found<Table> {
        (self.make)(path).map_err(failed)?;
        let table = Table::open(path).map_err(failed)?;
        for number in (0..KEYS).filter(|_| self.is_beside()) {
            let value = table.get(number.to_le_bytes()).map_err(failed)?;
            if value.as_deref() != Some(&VALUE) {
                return Err(format!("key {number} holds {value:?}"));
            }
        }
        table.reclaim().map_err(failed)?;
        Ok(table)
    }
}

fn remove(path: &Path) -> Outcome<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}

/// Nothing is beside a table but what was made, which takes `least` bytes at least.
pub(crate) fn nothing_is_left_over(table: &Table, least: u64) -> Found<()> {
    match table.stats().map_err(failed)?.queue_and_log_bytes {
        bytes if (least..least + MORE).contains(&bytes) => Ok(()),
        bytes => Err(format!("{bytes} bytes stand beside the table")),
    }
}

/// Goes through the places that are wanted; of finders one in `spare`, unless all are.
pub(crate) fn run(
    args: &Args,
    board: &Board,
    path: &Path,
    places: &[Place],
    spare: usize,
    survive: impl Fn(&Place) -> Found<()>,
) -> Outcome<()> {
    let only = args.only.as_deref();
    for place in places {
        if only.is_none_or(|only| place.name.contains(only)) {
            let step = if args.every_point() { 1 } else { spare };
            points(args, board, path, place, step, &survive)?;
        }
    }
    Ok(())
}

/// Kills a maker at each of its stores, and a finder of what it left at each of its own.
fn points(
    args: &Args,
    board: &Board,
    path: &Path,
    place: &Place,
    step: usize,
    survive: &impl Fn(&Place) -> Found<()>,
) -> Outcome<()> {
    let began = now_ns();
    let name = place.name;
    let dying = |process: &str, at: u64, work: &Act| {
        child(board, name, process, || {
            killpoint::die_at(at);
            let outcome = work(path);
            killpoint::die_at(0);
            outcome.map_err(failed)
        })
    };
    let survive = |process: &str| child(board, name, process, || survive(place));
    let (mut killed, mut finders) = (0, 0);
    for k in args.points_until_the_end() {
        let maker = format!("the maker of point {k}");
        place.recreate(path)?;
        let end = dying(&maker, k, &place.make)?;
        survive(&format!("the survivor of point {k}"))?;
        if end == Died::No {
            break;
        }
        killed += 1;
        for j in (1 + k % step as u64..).step_by(step) {
            place.recreate(path)?;
            dying(&maker, k, &place.make)?;
            if dying(&format!("the finder {j} of point {k}"), j, &place.find)? == Died::No {
                break;
            }
            finders += 1;
            survive(&format!("the survivor of point {k}, finder {j}"))?;
        }
    }
    print_result(name, killed, finders, began);
    Ok(())
}

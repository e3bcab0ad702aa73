//! Saving a table to a file, and restoring it. A victim is killed before each of its stores to
//! shared memory and each system call that changes the file; then a finder, which does the same
//! once more, may be killed at a random place.
//!
//! | the victim | what a survivor must find |
//! |---|---|
//! | saves over an earlier file | the earlier file or the new one, whole; the next save succeeds |
//! | saves, where there is no file | no file, or the new one |
//! | restores | each key as it was saved, or missing; the next restore sets the rest |
//! | restores beside newer values | the same, and the newer values stay |
//!
//! A restored key has the version that it had, and a key that is set later has a higher one.

use crate::args::Args;
use crate::board::{Board, Of};
use crate::child::{Died, Found, Outcome, child, failed, print_result};
use crate::image::Image;
use crate::scratch::Scratch;
use crate::system::now_ns;
use crate::value::Numbers;
use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;
use tavola::serving::verify_saved;
use tavola::{Attributes, Details, Expiry, Options, Table, killpoint};

/// Keys, whose values have all lengths: in place, short, more than a page, in pieces.
const LENS: [usize; 12] = [8, 0, 1, 100, 400, 3000, 8, 20_000, 66_000, 9, 50, 7];
/// The key whose value in the table is newer than that in the file.
const NEWER: &str = "key 3";
/// A finder dies at one of its first stores and calls: of so many, as a power of two.
const FINDER_LOG2: u64 = 12;

/// Values and what else keys have.
type Contents = BTreeMap<Vec<u8>, (Vec<u8>, Details)>;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Act {
    Save,
    Restore,
}

/// A table and a file, and what a victim does with them.
struct Case {
    name: &'static str,
    act: Act,
    table: Image,
    /// The bytes of the file, if there is one.
    file: Option<Vec<u8>>,
    /// The keys in the table.
    inside: Contents,
    /// The keys in the file.
    saved: Contents,
}

struct Points<'a> {
    board: &'a Board,
    table: PathBuf,
    file: PathBuf,
    args: &'a Args,
}

fn options() -> Options {
    Table::options()
        .max_size(4 << 20)
        .shards(2)
        .versions(true)
        .capacity(3 << 20)
}

/// Kills at every point of every case, or at a sample.
pub(crate) fn run(args: &Args, board: &Board, scratch: &Scratch) -> Outcome<()> {
    let points = Points {
        board,
        table: scratch.path("saved-table"),
        file: scratch.path("saved-file"),
        args,
    };
    let from = args.from.as_deref();
    for case in points.cases()? {
        let is_named = |text: &str| case.name.contains(text);
        if args.only.as_deref().is_none_or(is_named) && from.is_none_or(str::is_empty) {
            points.case(&case)?;
        }
    }
    Ok(())
}

fn fill(table: &Table, generation: u8) -> tavola::Result<()> {
    let soon = Attributes {
        expiry: Expiry::After(Duration::from_secs(100_000)),
        flags: 5,
    };
    let tags = table.fetch_tags(&["one", "two"])?;
    for (number, len) in LENS.into_iter().enumerate() {
        let (key, value) = (format!("key {number}"), vec![generation; len]);
        match number % 3 {
            0 => table.set(key, value)?,
            1 => table.set_with(key, value, soon)?,
            _ => table.set_tagged(key, value, Attributes::default(), &tags)?,
        }
    }
    Ok(())
}

/// Returns all keys, without the times at which they expire.
fn contents(table: &Table) -> Found<Contents> {
    let mut contents = Contents::new();
    for entry in table.iter() {
        let (key, _) = entry.map_err(failed)?;
        let mut value = Vec::new();
        let details = table.get_entry_into(&key, &mut value).map_err(failed)?;
        let mut details = details.ok_or("a key is listed, and is missing")?;
        if matches!(details.attributes.expiry, Expiry::After(_)) {
            details.attributes.expiry = Expiry::After(Duration::ZERO);
        }
        contents.insert(key.to_vec(), (value, details));
    }
    Ok(contents)
}

/// A table that was made for cases: its file, the file that it was saved to, its keys.
struct Made {
    table: Image,
    file: Vec<u8>,
    keys: Contents,
}

impl Points<'_> {
    fn cases(&self) -> Outcome<Vec<Case>> {
        let old = self.made(|table| fill(table, 1))?;
        let new = self.made(|table| fill(table, 2))?;
        let empty = self.made(|_| Ok(()))?;
        let beside = self.made(|table| table.set(NEWER, "newer"))?;
        let saves = |name, file: Option<&Made>| Case {
            name,
            act: Act::Save,
            table: new.table.clone(),
            file: file.map(|made| made.file.clone()),
            inside: new.keys.clone(),
            saved: old.keys.clone(),
        };
        let restores = |name, table: &Made| Case {
            name,
            act: Act::Restore,
            table: table.table.clone(),
            file: Some(old.file.clone()),
            inside: table.keys.clone(),
            saved: old.keys.clone(),
        };
        Ok(vec![
            saves("saved: save", Some(&old)),
            saves("saved: first save", None),
            restores("saved: restore", &empty),
            restores("saved: restore beside newer values", &beside),
        ])
    }

    fn made(&self, fill: impl FnOnce(&Table) -> tavola::Result<()>) -> Outcome<Made> {
        remove(&self.table)?;
        let table = options().create(&self.table)?;
        fill(&table)?;
        table.save(&self.file)?;
        let keys = contents(&table)?;
        drop(table);
        Ok(Made {
            table: Image::load(&self.table)?,
            file: std::fs::read(&self.file)?,
            keys,
        })
    }

    fn case(&self, case: &Case) -> Outcome<()> {
        let began = now_ns();
        let (mut points, mut finders) = (0, 0);
        self.victim(case, 0)?;
        let passed = self.board.lane(0, Of::Passed).load(Relaxed);
        for point in self.args.points(passed) {
            // Threads share the work of a restore, so the last points may not fire.
            if self.victim(case, point)? == Died::No {
                continue;
            }
            points += 1;
            self.survivor(case, &format!("point {point}"))?;
            self.victim(case, point)?;
            let mut numbers = Numbers::new(point);
            let j = 1 + numbers.below(1 << (1 + point % FINDER_LOG2));
            if let Died::Yes = self.act(case, &format!("the finder of point {point}"), j)? {
                finders += 1;
            }
            self.survivor(case, &format!("point {point}, finder {j}"))?;
        }
        if points == 0 {
            self.board.fault(&format!("{}: no point fires", case.name));
        }
        print_result(case.name, points, finders, began);
        Ok(())
    }

    /// A fresh table and file, and a victim.
    fn victim(&self, case: &Case, k: u64) -> Outcome<Died> {
        case.table.store(&self.table)?;
        remove(&new_file(&self.file))?;
        match &case.file {
            Some(bytes) => std::fs::write(&self.file, bytes)?,
            None => remove(&self.file)?,
        }
        self.act(case, &format!("the victim of point {k}"), k)
    }

    fn act(&self, case: &Case, who: &str, k: u64) -> Outcome<Died> {
        child(self.board, case.name, who, || {
            let table = Table::options().open_existing(&self.table);
            let table = table.map_err(failed)?;
            // A participant from here on.
            table.reclaim().map_err(failed)?;
            killpoint::die_at(k);
            let done = match case.act {
                Act::Save => table.save(&self.file).map(drop),
                Act::Restore => table.restore(&self.file).map(drop),
            };
            let passed = killpoint::passed();
            killpoint::die_at(0);
            done.map_err(failed)?;
            self.board.lane(0, Of::Passed).store(passed, Relaxed);
            Ok(())
        })
    }

    fn survivor(&self, case: &Case, name: &str) -> Outcome<()> {
        let who = format!("{name}: the survivor");
        child(self.board, case.name, &who, || {
            let table = Table::options().open_existing(&self.table);
            let table = table.map_err(failed)?;
            table.reclaim().map_err(failed)?;
            match case.act {
                Act::Save => self.after_save(case, &table)?,
                Act::Restore => self.after_restore(case, &table)?,
            }
            let report = table.check().map_err(failed)?;
            match report.is_clean() {
                true => Ok(()),
                false => Err(format!("the table is not whole: {:?}", report.problems)),
            }
        })
        .map(drop)
    }

    fn after_save(&self, case: &Case, table: &Table) -> Found<()> {
        same("the table", &contents(table)?, &case.inside)?;
        if self.file.exists() {
            let found = restored(&self.file)?;
            let is_old = case.file.is_some() && found == case.saved;
            if !is_old {
                same("the file", &found, &case.inside)?;
            }
        } else if case.file.is_some() {
            return Err("the earlier file is gone".to_string());
        }
        table.save(&self.file).map_err(failed)?;
        same("the next file", &restored(&self.file)?, &case.inside)?;
        match new_file(&self.file).exists() {
            true => Err("what was begun is left".to_string()),
            false => Ok(()),
        }
    }

    fn after_restore(&self, case: &Case, table: &Table) -> Found<()> {
        let mut all = case.saved.clone();
        all.extend(case.inside.clone());
        let found = contents(table)?;
        let some = all.iter().filter(|(key, _)| found.contains_key(*key));
        let expected = some.map(|(key, entry)| (key.clone(), entry.clone()));
        same("the table", &found, &expected.collect())?;
        if let Some(key) = case.inside.keys().find(|key| !found.contains_key(*key)) {
            return Err(format!("{} is gone", key.escape_ascii()));
        }
        let counts = table.restore(&self.file).map_err(failed)?;
        if counts.keys + counts.present != case.saved.len() as u64 {
            return Err(format!("another restore: {counts:?}"));
        }
        same("after another restore, the table", &contents(table)?, &all)?;
        table.set("later", "1").map_err(failed)?;
        let later = table.get_entry_into("later", &mut Vec::new());
        let later = later.map_err(failed)?.map_or(0, |details| details.version);
        let highest = all.values().map(|(_, details)| details.version).max();
        match Some(later) > highest {
            true => Ok(()),
            false => Err(format!("version {later} after {highest:?}")),
        }
    }
}

/// Returns the keys of a file, in a table of its own.
fn restored(file: &Path) -> Found<Contents> {
    verify_saved(file).map_err(failed)?;
    let table = options().private().map_err(failed)?;
    table.restore(file).map_err(failed)?;
    contents(&table)
}

fn same(what: &str, found: &Contents, expected: &Contents) -> Found<()> {
    let keys = found.keys().chain(expected.keys());
    let other = keys
        .into_iter()
        .find(|key| found.get(*key) != expected.get(*key));
    match other {
        None => Ok(()),
        Some(key) => {
            let brief = |all: &Contents| {
                let entry = all.get(key);
                entry.map(|(value, details)| (value.len(), value.first().copied(), *details))
            };
            Err(format!(
                "{what} has {} as {:?}, and not {:?}",
                key.escape_ascii(),
                brief(found),
                brief(expected)
            ))
        }
    }
}

/// Returns the name of a file while it is written.
fn new_file(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".new");
    name.into()
}

fn remove(path: &Path) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

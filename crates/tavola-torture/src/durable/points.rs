//! A victim, a finder, a survivor.

use super::cases::{Case, all};
use super::home::{lose_memory, memory, options, remove};
use super::step::{State, difference, read};
use crate::args::Args;
use crate::board::{Board, Count, LANES, Of};
use crate::child::{Died, Found, Outcome, child, failed, print_result};
use crate::scratch::Scratch;
use crate::system::{Ended, fork, now_ns, set_directory_of_tables, wait};
use crate::value::Numbers;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::Relaxed;
use tavola::{Table, killpoint};

/// The events between a victim and its survivor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Between {
    Nothing,
    /// Memory is lost.
    Loss,
    /// One who recovers is killed.
    Recovery,
    /// Memory is lost, and one who rebuilds it is killed; that may be repeated.
    Rebuild,
}

const ALL: [Between; 4] = [
    Between::Nothing,
    Between::Loss,
    Between::Recovery,
    Between::Rebuild,
];

/// How often a victim that lives is sent again, and how often its stores are counted. Their number
/// varies: the table of each has another seed, so its keys are in other shards.
const TRIES: u32 = 20;
const COUNTS: u32 = 8;

struct Lane<'a> {
    board: &'a Board,
    number: usize,
    home: PathBuf,
    /// A victim makes so many stores and calls, or more.
    least: u64,
}

/// Kills at every point of every case, or at a sample.
pub(crate) fn run(args: &Args, board: &Board, scratch: &Scratch) -> Outcome<()> {
    let tables = scratch.path("tables");
    std::fs::create_dir_all(&tables)?;
    set_directory_of_tables(&tables);
    let from = args.from.as_deref();
    let wanted = |case: &&Case| {
        let is_named = |text: &str| case.name.contains(text);
        args.only.as_deref().is_none_or(is_named) && from.is_none_or(|from| from.is_empty())
    };
    for case in all().iter().filter(wanted) {
        one_case(case, args, board, scratch)?;
    }
    Ok(())
}

fn one_case(case: &Case, args: &Args, board: &Board, scratch: &Scratch) -> Outcome<()> {
    let began = now_ns();
    let killed = board.get(Count::Killed);
    board.count(Count::Fired).store(0, Relaxed);
    let lane = |number: usize, least: u64| Lane {
        board,
        number,
        home: scratch.path(&format!("home-{number}")),
        least,
    };
    let counter = lane(0, 0);
    let counts = (0..COUNTS).map(|_| counter.stores(case));
    let mut counts = counts.collect::<Outcome<Vec<u64>>>()?;
    counts.sort_unstable();
    let (least, total) = (counts[0], counts[counts.len() - 1]);
    let points = args.points(total);
    let lanes = args.lanes.min(LANES).min(points.len()).max(1);
    let mut children = Vec::new();
    for number in 0..lanes {
        children.push(fork(|| {
            let own = points.iter().skip(number).step_by(lanes);
            match lane(number, least).points(case, own.copied()) {
                Ok(()) => 0,
                Err(error) => {
                    board.fault(&format!("{}: {error}", case.name));
                    1
                }
            }
        })?);
    }
    for pid in children {
        let ended = wait(pid)?;
        if !matches!(ended, Ended::Exited(0 | 1)) {
            board.fault(&format!("{}: a lane ended: {ended:?}", case.name));
        }
    }
    let fired = board.get(Count::Fired);
    let finders = board.get(Count::Killed) - killed - fired;
    print_result(&case.name, fired / ALL.len() as u64, finders, began);
    Ok(())
}

impl Lane<'_> {
    fn points(&self, case: &Case, points: impl Iterator<Item = u64>) -> Outcome<()> {
        for k in points {
            for between in ALL {
                self.point(case, k, between)?;
            }
        }
        remove(&self.home)?;
        Ok(())
    }

    fn word(&self, word: Of) -> u64 {
        self.board.lane(self.number, word).load(Relaxed)
    }

    /// Returns how many stores and calls a victim makes.
    fn stores(&self, case: &Case) -> Outcome<u64> {
        self.victim(case, 0)?;
        remove(&self.home)?;
        match self.word(Of::Passed) {
            0 => Err(format!("{}: the victim did nothing", case.name).into()),
            count => Ok(count),
        }
    }

    fn victim(&self, case: &Case, k: u64) -> Outcome<Died> {
        remove(&self.home)?;
        let acknowledged = self.board.lane(self.number, Of::Acknowledged);
        acknowledged.store(0, Relaxed);
        let name = format!("the victim of point {k}");
        child(self.board, &case.name, &name, || {
            if case.creates {
                killpoint::die_at(k);
            }
            let table = options(case.durability)
                .create(&self.home)
                .map_err(failed)?;
            for (number, step) in case.before.iter().enumerate() {
                step.apply(&table, number).map_err(failed)?;
            }
            if !case.creates {
                table.sync().map_err(failed)?;
                killpoint::die_at(k);
            }
            for (number, step) in case.steps.iter().enumerate() {
                step.apply(&table, case.before.len() + number)
                    .map_err(failed)?;
                acknowledged.fetch_add(1, Relaxed);
            }
            let passed = killpoint::passed();
            killpoint::die_at(0);
            self.board
                .lane(self.number, Of::Passed)
                .store(passed, Relaxed);
            Ok(())
        })
    }

    fn point(&self, case: &Case, k: u64, between: Between) -> Outcome<()> {
        let mut tries = 0..TRIES;
        while self.victim(case, k)? == Died::No {
            if tries.next().is_none() {
                if k <= self.least {
                    let name = &case.name;
                    let what = format!("{name}: point {k} does not fire");
                    self.board.fault(&what);
                }
                return Ok(());
            }
        }
        self.board.add(Count::Fired, 1);
        let done = self.word(Of::Acknowledged) as usize;
        let mut numbers = Numbers::new(k << 8 | between as u64);
        let name = format!("point {k}, {between:?}");
        let mut is_lost = false;
        match between {
            Between::Nothing => {}
            Between::Loss => {
                lose_memory(&self.home)?;
                is_lost = true;
            }
            Between::Recovery => self.finder(case, &name, &mut numbers)?,
            Between::Rebuild => {
                is_lost = true;
                lose_memory(&self.home)?;
                self.finder(case, &name, &mut numbers)?;
                lose_memory(&self.home)?;
                self.finder(case, &name, &mut numbers)?;
            }
        }
        let who = format!("{name}: the survivor");
        child(self.board, &case.name, &who, || {
            survive(case, &self.home, done, is_lost)
        })?;
        Ok(())
    }

    /// One who opens the table, and is killed on its way.
    fn finder(&self, case: &Case, name: &str, numbers: &mut Numbers) -> Outcome<()> {
        // Half of the finders die early: attaching and rebuilding are a part of what they do.
        let most = 1 << (4 + numbers.below(8));
        let j = 1 + numbers.below(most);
        let who = format!("{name}: the finder killed at {j}");
        child(self.board, &case.name, &who, || {
            killpoint::die_at(j);
            let Ok(table) = Table::open(&self.home) else {
                // It may not have been created.
                return if case.creates {
                    Ok(())
                } else {
                    Err("it does not open".to_string())
                };
            };
            table.set("probe", "1").map_err(failed)?;
            table.snapshot().map_err(failed)?;
            table.set("probe", "2").map_err(failed)?;
            table.sync().map_err(failed)
        })?;
        Ok(())
    }
}

fn survive(case: &Case, home: &Path, done: usize, is_lost: bool) -> Found<()> {
    let mut state = State::new();
    for (number, step) in case.before.iter().enumerate() {
        step.expect(&mut state, number);
    }
    let mut states = vec![state.clone()];
    for (number, step) in case.steps.iter().enumerate() {
        step.expect(&mut state, case.before.len() + number);
        states.push(state.clone());
    }
    let (least, most) = case.allowed(done, is_lost);
    let judge = |found: &State| match states[least..=most].contains(found) {
        true => Ok(()),
        false => Err(format!(
            "after {done} steps: found / expected: {}",
            difference(found, &states[least])
        )),
    };
    if case.creates && done == 0 && !home.join("table").exists() {
        let table = options(case.durability).create(home).map_err(failed)?;
        return table.set("one", "1").map_err(failed);
    }
    // As it is before anybody has recovered it.
    let first = read(&Table::open_read_only(home).map_err(failed)?).map_err(failed)?;
    judge(&first).map_err(|why| format!("before recovery, {why}"))?;
    let table = Table::open(home).map_err(failed)?;
    for number in 0..8_u64 {
        // In both shards.
        let key = [b"probe".as_slice(), &number.to_le_bytes()].concat();
        table.set(key, "1").map_err(failed)?;
    }
    let found = read(&table).map_err(failed)?;
    judge(&found).map_err(|why| format!("after recovery, {why}"))?;
    // A step whose record was there has become one that is done; none is undone.
    if found != first && (first != states[done] || most == done) {
        return Err(format!("recovery: {}", difference(&found, &first)));
    }
    whole(&table)?;
    match done % 2 {
        0 => table.sync().map_err(failed)?,
        _ => drop(table.snapshot().map_err(failed)?),
    }
    drop(table);
    rebuilt(home, &found)
}

/// The table that is rebuilt from the files is the same, twice.
fn rebuilt(home: &Path, found: &State) -> Found<()> {
    for round in 0..2_u8 {
        lose_memory(home).map_err(|error| error.to_string())?;
        let table = Table::open(home).map_err(failed)?;
        let again = read(&table).map_err(failed)?;
        if again != *found {
            let difference = difference(&again, found);
            return Err(format!("rebuilt, round {round}: {difference}"));
        }
        whole(&table)?;
        table.set("probe", [round]).map_err(failed)?;
        table.sync().map_err(failed)?;
        if memory(home).is_none() {
            return Err("no memory is noted".to_string());
        }
    }
    Ok(())
}

fn whole(table: &Table) -> Found<()> {
    let report = table.check().map_err(failed)?;
    match report.is_clean() && report.bytes_in_use == report.bytes_reachable {
        true => Ok(()),
        false => Err(format!("the table is not whole: {:?}", report.problems)),
    }
}

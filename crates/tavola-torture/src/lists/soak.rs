//! The soak: workers are killed, memory is lost, and an audit checks all that happened since the
//! last one.

use super::check::check as check_lists;
use super::disk::Disk;
use super::history::{Fate, History, Lists, Op};
use super::seat::Seat;
use super::singles::{Call, Singles, check as check_singles};
use super::worker::{SLOTS, Worker, elements, list_key, list_number, number_of, single_value};
use crate::args::Args;
use crate::board::{Board, Count};
use crate::child::{Died, Found, Outcome, child, failed};
use crate::durable::home::{lose_memory, options, remove};
use crate::scratch::Scratch;
use crate::system::{alarm, fork, kill, now_ns, shared_words, sleep_ms, wait};
use crate::value::Numbers;
use rustix::process::{Pid, Signal};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;
use tavola::{Durability, Table};

const WORKERS: usize = 6;
/// Between two kills, at most.
const KILL_EVERY_US: u64 = 40_000;
/// Kills between two audits, at most.
const AUDIT_EVERY: u64 = 10;
/// Seconds a process may live.
const LIFE_S: u32 = 120;
const NAME: &str = "list soak";

/// Sums of what audits have checked.
#[derive(Clone, Copy)]
enum Sum {
    Committed,
    Unreported,
    Lost,
    Singles,
}

const SUMS: usize = 4;

struct Soak<'a> {
    board: &'a Board,
    home: &'a Path,
    /// The file system that is cut when memory is lost.
    disk: Option<&'a Disk>,
    seats: Vec<Seat>,
    /// The values that the last audit found.
    auditor: Seat,
    generations: &'static [AtomicU64],
    sums: &'static [AtomicU64],
    durability: Durability,
    numbers: Numbers,
    kills: u64,
}

/// All lists and single keys of a table.
#[derive(Default)]
struct Contents {
    lists: Lists,
    singles: BTreeMap<u64, u64>,
}

/// Kills those who use a durable table for so long, and at least so often as was asked for if that
/// is all that is done. Half of the time writes wait for the disk, half of it they do not.
pub(crate) fn run(args: &Args, board: &Board, scratch: &Scratch, for_ns: u64) -> Outcome<()> {
    let is_alone = args.only.as_deref() == Some(NAME);
    let least = if is_alone { args.kills / 2 } else { 0 };
    both(args, board, scratch, None, for_ns, least)
}

/// Does the same on a file system that is cut whenever memory is lost. Says so if there is none.
pub(crate) fn run_on_disk(
    args: &Args,
    board: &Board,
    scratch: &Scratch,
    for_ns: u64,
) -> Outcome<()> {
    let disk = match Disk::make(&scratch.path("")) {
        Ok(disk) => disk,
        Err(why) => {
            println!("disk cuts are left out: {why}");
            return Ok(());
        }
    };
    both(args, board, scratch, Some(&disk), for_ns, 0)
}

fn both(
    args: &Args,
    board: &Board,
    scratch: &Scratch,
    disk: Option<&Disk>,
    for_ns: u64,
    least: u64,
) -> Outcome<()> {
    let tables = scratch.path("tables");
    std::fs::create_dir_all(&tables)?;
    crate::system::set_directory_of_tables(&tables);
    let policies = [
        Durability::Commit,
        Durability::Within(Duration::from_millis(10)),
    ];
    for (turn, durability) in policies.into_iter().enumerate() {
        let name = format!("lists-{turn}");
        let home = match disk {
            Some(disk) => disk.path().join(name),
            None => scratch.path(&name),
        };
        let mut soak = Soak {
            board,
            home: &home,
            disk,
            seats: (0..WORKERS).map(Seat::new).collect::<Result<_, _>>()?,
            auditor: Seat::new(WORKERS)?,
            generations: shared_words(SLOTS)?,
            sums: shared_words(SUMS)?,
            durability,
            numbers: Numbers::new(args.seed + turn as u64),
            kills: 0,
        };
        soak.run(for_ns / 2, least)?;
        remove(&home)?;
    }
    Ok(())
}

impl Soak<'_> {
    fn run(&mut self, for_ns: u64, least: u64) -> Outcome<()> {
        let began = now_ns();
        remove(self.home)?;
        child(self.board, NAME, "the first", || {
            let options = options(self.durability).max_size(32 << 20);
            options.create(self.home).map(drop).map_err(failed)
        })?;
        let (mut audits, mut losses) = (0_u64, 0_u64);
        while audits == 0
            || (now_ns() - began < for_ns || self.kills < least) && self.board.faults() == 0
        {
            let is_lost = audits % 3 != 2;
            let cut = self.disk.filter(|_| is_lost);
            self.work(cut)?;
            if is_lost {
                if let Some(disk) = cut {
                    disk.restart()?;
                }
                lose_memory(self.home)?;
                losses += 1;
            }
            self.audit(is_lost)?;
            audits += 1;
        }
        let sum = |sum: Sum| self.sums[sum as usize].load(Relaxed);
        if sum(Sum::Committed) == 0 || sum(Sum::Singles) == 0 {
            self.board.fault("list soak: nothing was done");
        }
        println!(
            "{NAME}, {:?}: {} s, {} kills, {} transactions ({} of killed processes, {} lost with \
             memory), {} single calls, {audits} audits, memory lost {losses} times, {} faults",
            self.durability,
            (now_ns() - began) / 1_000_000_000,
            self.kills,
            sum(Sum::Committed),
            sum(Sum::Unreported),
            sum(Sum::Lost),
            sum(Sum::Singles),
            self.board.faults()
        );
        Ok(())
    }

    /// Workers, some of which are killed and replaced, and in the end all; before that the disk may
    /// be cut.
    fn work(&mut self, cut: Option<&Disk>) -> Outcome<()> {
        let mut workers = Vec::new();
        for number in 0..WORKERS {
            workers.push(self.start(number)?);
        }
        for _ in 0..self.numbers.below(AUDIT_EVERY) {
            std::thread::sleep(Duration::from_micros(self.numbers.below(KILL_EVERY_US)));
            let number = self.numbers.below(WORKERS as u64) as usize;
            self.end(workers[number])?;
            workers[number] = self.start(number)?;
        }
        std::thread::sleep(Duration::from_micros(self.numbers.below(KILL_EVERY_US)));
        if let Some(disk) = cut {
            disk.cut()?;
        }
        workers.into_iter().try_for_each(|pid| self.end(pid))
    }

    fn start(&mut self, number: usize) -> Outcome<Pid> {
        let numbers = Numbers::new(self.numbers.next());
        Ok(fork(|| {
            alarm(LIFE_S);
            let worked = Table::open(self.home).map_err(failed).and_then(|table| {
                let mut worker = Worker {
                    table,
                    seat: self.seats[number],
                    generations: self.generations,
                    numbers,
                };
                worker.run()
            });
            let Err(why) = worked;
            // Without a disk it can do nothing, and it is killed soon.
            while self.disk.is_some_and(Disk::is_cut) {
                sleep_ms(1);
            }
            self.board.fault(&format!("{NAME}: worker {number}: {why}"));
            1
        })?)
    }

    fn end(&mut self, pid: Pid) -> Outcome<()> {
        kill(pid, Signal::KILL)?;
        if wait(pid)?.was_killed() {
            self.kills += 1;
            self.board.add(Count::Killed, 1);
        }
        Ok(())
    }

    /// Checks everything, in a process of its own, as handles end with it.
    fn audit(&self, is_lost: bool) -> Outcome<()> {
        let died = child(self.board, NAME, "the audit", || {
            let table = Table::open(self.home).map_err(failed)?;
            // Recovers what the dead have left.
            let report = table.check().map_err(failed)?;
            if !report.is_clean() {
                return Err(format!("the table is not whole: {:?}", report.problems));
            }
            let mut found = read(&table)?;
            self.judge(&found, is_lost)?;
            self.remove_old(&table, &mut found)?;
            self.note(&found);
            Ok(())
        })?;
        match died {
            Died::Yes => Err("the audit was killed".into()),
            Died::No => Ok(()),
        }
    }

    fn judge(&self, found: &Contents, is_lost: bool) -> Found<()> {
        let keeps_acknowledged = self.durability == Durability::Commit;
        let (mut txns, mut calls) = (Vec::new(), Vec::new());
        for seat in &self.seats {
            let (some, others) = seat.records();
            txns.extend(some);
            calls.extend(others);
        }
        let before = self.noted();
        self.add(Sum::Singles, calls.len());
        check_singles(&Singles {
            before: before.singles,
            calls,
            after: found.singles.clone(),
            is_lost,
            keeps_acknowledged,
        })?;
        let checked = check_lists(&History {
            before: before.lists,
            txns,
            after: found.lists.clone(),
            is_lost,
            keeps_acknowledged,
        })?;
        self.add(Sum::Committed, checked.committed);
        self.add(Sum::Unreported, checked.unreported);
        self.add(Sum::Lost, checked.lost);
        Ok(())
    }

    fn add(&self, sum: Sum, by: usize) {
        self.sums[sum as usize].fetch_add(by as u64, Relaxed);
    }

    /// Removes the lists to which nobody appends any more. That they stay removed, the next audit
    /// checks.
    fn remove_old(&self, table: &Table, found: &mut Contents) -> Found<()> {
        let is_current = |number: &u64| {
            let slot = (number & 0xFF) as usize;
            list_number(slot, self.generations) == *number
        };
        for number in found.lists.keys().filter(|number| !is_current(number)) {
            table.remove(list_key(*number)).map_err(failed)?;
        }
        table.sync().map_err(failed)?;
        found.lists.retain(|number, _| is_current(number));
        Ok(())
    }

    /// Notes what is there for the next audit, and forgets what was done.
    fn note(&self, found: &Contents) {
        self.auditor.clear();
        for (number, list) in &found.lists {
            self.auditor.begin();
            self.auditor.read(*number, list);
            self.auditor.end(Fate::Committed);
        }
        for (number, value) in &found.singles {
            self.auditor.begin();
            self.auditor.call(*number, Call::Get(*value));
            self.auditor.end(Fate::Committed);
        }
        self.seats.iter().for_each(Seat::clear);
    }

    fn noted(&self) -> Contents {
        let (txns, singles) = self.auditor.records();
        let mut noted = Contents::default();
        for op in txns.into_iter().flat_map(|txn| txn.ops) {
            if let Op::Read { key, list } = op {
                noted.lists.insert(key, list);
            }
        }
        for single in singles {
            if let Call::Get(value) = single.call {
                noted.singles.insert(single.key, value);
            }
        }
        noted
    }
}

fn read(table: &Table) -> Found<Contents> {
    let mut found = Contents::default();
    for entry in table.iter() {
        let (key, value) = entry.map_err(failed)?;
        match number_of(&key) {
            Some((true, number)) => drop(found.lists.insert(number, elements(&value))),
            Some((false, number)) => {
                let value = single_value(number, &value)?;
                found.singles.insert(number, value);
            }
            None => return Err(format!("nobody has set {}", key.escape_ascii())),
        }
    }
    Ok(found)
}

//! The soak of leases: processes that ask for the same few keys at once, compute, wait, fail, and
//! are killed and stopped at random.
//!
//! A worker that wins a lease notes it, and takes the note away before it ends it: so the winner of
//! the next one finds no note of a process that lives, within its time. (Who removes or changes a
//! key ends its lease: what is noted while somebody does so is not looked at.) Values are numbered
//! by those that have won their lease, after that: what is read is never older than what was known
//! of its key before. And nobody waits for long, as anyone who computes does so for milliseconds,
//! or dies.

mod books;
mod worker;

use crate::board::{Board, Count};
use crate::child::{Found, Outcome, failed};
use crate::scratch::Scratch;
use crate::system::{Ended, alarm, fork, kill, now_ns, sleep_ms, wait};
use crate::value::Numbers;
use books::Books;
use rustix::process::{Pid, Signal};
use std::path::Path;
use std::time::Duration;
use tavola::{Leased, Table};
use worker::{LONG_MS, LONGEST_WAIT, Worker, asked, waited};

const WORKERS: u64 = 7;
const KEYS: u64 = 24;
const CAPACITY: u64 = 1 << 20;
const SHARDS: u32 = 2;
/// Between two kills, at most; and for how long one is stopped.
const KILL_EVERY_US: u64 = 12_000;
const STOPPED_MS: u64 = 80;
/// Kills between two audits.
const AUDIT_EVERY: u64 = 150;
/// Seconds a process may live.
const LIFE_S: u32 = 120;

struct Soak<'a> {
    board: &'a Board,
    path: &'a Path,
    books: Books,
    workers: Vec<(Pid, u64)>,
    numbers: Numbers,
}

/// Kills those who use leases for so long.
pub(crate) fn soak(board: &Board, scratch: &Scratch, seed: u64, for_ns: u64) -> Outcome<()> {
    let path = scratch.path("leases");
    let options = Table::options().capacity(CAPACITY).shards(SHARDS);
    drop(options.max_size(16 << 20).create(&path)?);
    let mut soak = Soak {
        board,
        path: &path,
        books: Books::new()?,
        workers: Vec::new(),
        numbers: Numbers::new(seed),
    };
    let began = now_ns();
    let (mut kills, mut stops, mut audits) = (0, 0, 0);
    while audits == 0 || now_ns() - began < for_ns && board.faults() == 0 {
        for worker in 0..WORKERS {
            let life = soak.books.next_life(worker);
            let pid = soak.start(worker, life)?;
            soak.workers.push((pid, life));
        }
        for _ in 0..AUDIT_EVERY {
            std::thread::sleep(Duration::from_micros(soak.numbers.below(KILL_EVERY_US)));
            let was_killed = soak.disturb()?;
            kills += u64::from(was_killed);
            stops += u64::from(!was_killed);
        }
        for worker in 0..WORKERS {
            soak.end(worker)?;
            kills += 1;
        }
        soak.workers.clear();
        soak.audit()?;
        audits += 1;
    }
    let counts = soak.books.counted();
    if counts.iter().any(|(_, count)| *count == 0) {
        board.fault(&format!("lease soak: nothing of some: {counts:?}"));
    }
    println!(
        "lease soak: {} s, {kills} kills, {stops} stops, {audits} audits, {counts:?}, \
         {} faults",
        (now_ns() - began) / 1_000_000_000,
        board.faults()
    );
    Ok(())
}

impl Soak<'_> {
    fn start(&mut self, number: u64, life: u64) -> Outcome<Pid> {
        let worker = Worker {
            number,
            life,
            books: self.books,
            numbers: Numbers::new(self.numbers.next()),
        };
        let pid = fork(|| {
            alarm(LIFE_S);
            let Err(why) = worker.run(self.path);
            self.board
                .fault(&format!("lease soak: worker {number}: {why}"));
            1
        })?;
        Ok(pid)
    }

    /// Kills one and starts it again, or stops one for a while. Returns whether it was killed.
    fn disturb(&mut self) -> Outcome<bool> {
        let number = self.numbers.below(WORKERS);
        let (pid, life) = self.workers[number as usize];
        if self.numbers.below(4) == 0 {
            kill(pid, Signal::STOP)?;
            sleep_ms(self.numbers.below(STOPPED_MS));
            kill(pid, Signal::CONT)?;
            return Ok(false);
        }
        self.end(number)?;
        let pid = self.start(number, life + 1)?;
        self.workers[number as usize] = (pid, life + 1);
        Ok(true)
    }

    /// Kills a worker; it must have been alive.
    fn end(&self, number: u64) -> Outcome<()> {
        let (pid, life) = self.workers[number as usize];
        self.books.doom(number, life);
        kill(pid, Signal::KILL)?;
        match wait(pid)? {
            ended if ended.was_killed() => self.board.add(Count::Killed, 1),
            ended => {
                let what = format!("lease soak: a worker ended before: {ended:?}");
                self.board.fault(&what);
            }
        }
        Ok(())
    }

    /// Nobody lives: looks at everything.
    fn audit(&self) -> Outcome<()> {
        let pid = fork(|| {
            alarm(LIFE_S);
            match audit_table(self.path, self.books) {
                Ok(()) => 0,
                Err(why) => {
                    self.board.fault(&format!("lease soak: an audit: {why}"));
                    1
                }
            }
        })?;
        match wait(pid)? {
            Ended::Exited(0 | 1) => {}
            ended => {
                let what = format!("lease soak: an audit ended by {ended:?}");
                self.board.fault(&what);
            }
        }
        self.books.accept_unfinished();
        Ok(())
    }
}

/// A caller now gets a value, or a lease: nobody has one.
fn audit_table(path: &Path, books: Books) -> Found<()> {
    let table = Table::options().open_existing(path).map_err(failed)?;
    for number in 0..KEYS {
        let began = now_ns();
        let known = books.known(number);
        loop {
            match asked(&table, number, LONG_MS)? {
                Leased::Hit(value) => break books.judge(number, known, &value)?,
                Leased::Won(lease) => break drop(lease),
                Leased::Stale { value, lease } => {
                    books.judge(number, known, &value)?;
                    match lease {
                        Some(lease) => break drop(lease),
                        None => sleep_ms(1),
                    }
                }
                Leased::Failed { retry, .. } => std::thread::sleep(retry),
                Leased::Wait(pending) => drop(waited(&pending)?),
            }
            if now_ns() - began > LONGEST_WAIT.as_nanos() as u64 {
                return Err(format!("the lease of key {number} does not pass on"));
            }
        }
    }
    table.reclaim().map_err(failed)?;
    let report = table.check().map_err(failed)?;
    match report.is_clean() && report.bytes_in_use == report.bytes_reachable {
        true => Ok(()),
        false => Err(format!("the table is not whole: {:?}", report.problems)),
    }
}

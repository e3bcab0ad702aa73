//! The soak of durable tables: processes that write to one table are killed at random, and from
//! time to time all of them, with or without the memory. What was acknowledged must be there, each
//! worker's keys in their order, and the sums of all accounts as they were.

use super::home::{lose_memory, options, remove};
use crate::args::Args;
use crate::board::{Board, Count, Of};
use crate::child::{Died, Found, Outcome, child, failed};
use crate::scratch::Scratch;
use crate::system::{alarm, fork, kill, now_ns, wait};
use crate::value::{Numbers, opened, sealed};
use rustix::process::{Pid, Signal};
use std::path::Path;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;
use tavola::{Durability, Table};

const WORKERS: usize = 6;
/// Keys of a worker, which it sets in turn.
const KEYS: u64 = 30;
const ACCOUNTS: u64 = 12;
const BALANCE: u64 = 1000;
/// Between two kills, at most.
const KILL_EVERY_US: u64 = 40_000;
/// Kills between two audits, at most.
const AUDIT_EVERY: u64 = 12;
/// Seconds a process may live.
const LIFE_S: u32 = 120;

fn key(worker: usize, step: u64) -> Vec<u8> {
    format!("worker {worker}, key {}", step % KEYS).into_bytes()
}

fn value(key: &[u8], step: u64) -> Vec<u8> {
    let len = match step % 40 {
        0 => 60_000,
        1..6 => 2000,
        short => short as usize,
    };
    sealed(key, step, len)
}

fn account(number: u64) -> String {
    format!("account {number}")
}

struct Soak<'a> {
    board: &'a Board,
    home: &'a Path,
    numbers: Numbers,
    kills: u64,
}

/// Kills those who use a durable table for so long, and at least so often as was asked for if that
/// is all that is done.
pub(crate) fn run(args: &Args, board: &Board, scratch: &Scratch, for_ns: u64) -> Outcome<()> {
    let tables = scratch.path("tables");
    std::fs::create_dir_all(&tables)?;
    crate::system::set_directory_of_tables(&tables);
    let home = scratch.path("soak-home");
    let mut soak = Soak {
        board,
        home: &home,
        numbers: Numbers::new(args.seed),
        kills: 0,
    };
    let is_alone = args.only.as_deref() == Some("durable soak");
    let least = if is_alone { args.kills } else { 0 };
    let began = now_ns();
    soak.create()?;
    let (mut audits, mut losses) = (0_u64, 0_u64);
    while audits == 0 || (now_ns() - began < for_ns || soak.kills < least) && board.faults() == 0 {
        soak.work()?;
        let is_lost = audits % 3 != 2;
        if is_lost {
            lose_memory(&home)?;
            losses += 1;
        }
        soak.audit()?;
        audits += 1;
    }
    let steps: u64 = (0..WORKERS).map(|worker| soak.done(worker)).sum();
    if steps == 0 {
        board.fault("durable soak: nothing was done");
    }
    remove(&home)?;
    println!(
        "durable soak: {} s, {} kills, {steps} steps, {audits} audits, memory lost {losses} \
         times, {} faults",
        (now_ns() - began) / 1_000_000_000,
        soak.kills,
        board.faults()
    );
    Ok(())
}

impl Soak<'_> {
    fn create(&self) -> Outcome<()> {
        remove(self.home)?;
        for worker in 0..WORKERS {
            self.board.lane(worker, Of::Acknowledged).store(0, Relaxed);
        }
        child(self.board, "durable soak", "the first", || {
            let options = options(Durability::Commit).max_size(32 << 20);
            let table = options.create(self.home).map_err(failed)?;
            (0..ACCOUNTS).try_for_each(|number| {
                let set = table.set(account(number), BALANCE.to_string());
                set.map_err(failed)
            })
        })?;
        Ok(())
    }

    fn done(&self, worker: usize) -> u64 {
        self.board.lane(worker, Of::Acknowledged).load(Relaxed)
    }

    /// Workers, some of which are killed and replaced, and in the end all.
    fn work(&mut self) -> Outcome<()> {
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
        workers.into_iter().try_for_each(|pid| self.end(pid))
    }

    fn start(&mut self, number: usize) -> Outcome<Pid> {
        let numbers = Numbers::new(self.numbers.next());
        Ok(fork(|| {
            alarm(LIFE_S);
            let Err(why) = self.worker(number, numbers);
            self.board
                .fault(&format!("durable soak: worker {number}: {why}"));
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

    /// Step after step, until death.
    fn worker(&self, worker: usize, mut numbers: Numbers) -> Found<std::convert::Infallible> {
        let table = Table::open(self.home).map_err(failed)?;
        let acknowledged = self.board.lane(worker, Of::Acknowledged);
        loop {
            let step = acknowledged.load(Relaxed) + 1;
            let key = key(worker, step);
            table.set(&key, value(&key, step)).map_err(failed)?;
            acknowledged.store(step, Relaxed);
            match numbers.below(60) {
                0 => drop(table.snapshot().map_err(failed)?),
                1..=20 => transfer(&table, &mut numbers).map_err(failed)?,
                _ => {}
            }
        }
    }

    /// Looks at everything, in a process of its own, as handles end with it.
    fn audit(&self) -> Outcome<()> {
        let died = child(self.board, "durable soak", "the audit", || {
            let table = Table::open(self.home).map_err(failed)?;
            for worker in 0..WORKERS {
                self.check_worker(&table, worker)?;
            }
            let mut sum = 0;
            for number in 0..ACCOUNTS {
                let found = table.get(account(number)).map_err(failed)?;
                let text = String::from_utf8_lossy(&found.unwrap_or_default()).into_owned();
                sum += text.parse::<u64>().map_err(|error| error.to_string())?;
            }
            if sum != ACCOUNTS * BALANCE {
                return Err(format!("the accounts have {sum}"));
            }
            let report = table.check().map_err(failed)?;
            match report.is_clean() {
                true => Ok(()),
                false => Err(format!("the table is not whole: {:?}", report.problems)),
            }
        })?;
        match died {
            Died::Yes => Err("the audit was killed".into()),
            Died::No => Ok(()),
        }
    }

    fn check_worker(&self, table: &Table, worker: usize) -> Found<()> {
        let done = self.done(worker);
        for step in done.saturating_sub(KEYS - 1).max(1)..=done {
            let key = key(worker, step);
            let found = table.get(&key).map_err(failed)?;
            let found = found.as_deref().and_then(|value| opened(&key, value));
            let may_be_next = found == Some(done + 1) && (done + 1) % KEYS == step % KEYS;
            if found != Some(step) && !may_be_next {
                return Err(format!(
                    "worker {worker}: {found:?} instead of {step}, {done} acknowledged"
                ));
            }
        }
        Ok(())
    }
}

fn transfer(table: &Table, numbers: &mut Numbers) -> tavola::Result<()> {
    let (from, to) = (numbers.below(ACCOUNTS), numbers.below(ACCOUNTS));
    let amount = numbers.below(20) as i64;
    table.transaction(|t| {
        if t.add_number(account(from), 0)? < amount {
            return Ok(());
        }
        t.add_number(account(from), -amount)?;
        t.add_number(account(to), amount).map(drop)
    })
}

//! Random lines, random deaths and stops of who writes and who drains them.

use super::record::{All, Record, Sum};
use super::tally::Tally;
use super::worker::{self, THREADS};
use super::{Found, NAME, Outcome, failed, whole};
use crate::board::{Board, Count};
use crate::scratch::Scratch;
use crate::system::{Ended, alarm, fork, kill, now_ns, sleep_ms, wait};
use crate::value::Numbers;
use rustix::process::{Pid, Signal};
use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;
use tavola::{Level, Log, LogOptions, Overload, Table};

const SHEETS: u64 = 32;
const WRITING: usize = 4;
/// Between two kills, at most.
const KILL_EVERY_US: u64 = 10_000;
/// Kills between two audits.
const AUDIT_EVERY: u64 = 100;
/// Seconds a process may live.
const LIFE_S: u32 = 120;
/// Lines of a sheet, at most: of the shortest there are three times as many, but not in a row.
const A_SHEET: u64 = 140;
/// Of so many threads that are killed one counts a sheet's lines and does no more; and some for
/// chance. It has a few instructions in tens of thousands for that.
const SELDOM: u64 = 50;
const CHANCE: u64 = 3;

/// A log, and who uses it.
struct Soak<'a> {
    board: &'a Board,
    path: PathBuf,
    record: Record,
    numbers: Numbers,
    writers: Vec<Pid>,
    drain: Pid,
    kills: u64,
    stops: u64,
    /// Writing threads that were killed.
    threads: u64,
}

/// Kills writers and drains for so long.
pub(crate) fn run(board: &Board, scratch: &Scratch, seed: u64, for_ns: u64) -> Outcome<()> {
    let (began, record) = (now_ns(), Record::new()?);
    let mut numbers = Numbers::new(seed);
    let (mut kills, mut stops, mut audits) = (0, 0, 0);
    let (mut all, mut excess) = (Sum::default(), 0);
    let overloads = [Overload::DropOldest, Overload::DropNewest, Overload::Block];
    let each = for_ns / overloads.len() as u64;
    for overload in overloads.into_iter().cycle() {
        let end = now_ns() + each;
        let path = scratch.path("logs");
        let mut soak = Soak::begin(board, path, record, overload, numbers.next())?;
        let reader = soak.start("the reader", |path, record, _| worker::read(path, record))?;
        while now_ns() < end && soak.kills < AUDIT_EVERY && board.faults() == 0 {
            soak.step()?;
        }
        soak.end(reader)?;
        soak.end_all()?;
        let sum = soak.audit(overload)?;
        all.lines += sum.lines;
        all.missing += sum.missing;
        excess += record.all(All::Excess).load(Relaxed);
        (kills, stops, audits) = (kills + soak.kills, stops + soak.stops, audits + 1);
        let is_over = now_ns() - began >= for_ns && audits >= overloads.len();
        if is_over || board.faults() > 0 {
            break;
        }
    }
    println!(
        "log soak: {} s, {kills} kills, {stops} stops, {} lines, {} of them dropped, \
         {} beyond those of killed calls and passes; {audits} audits, {} faults",
        (now_ns() - began) / 1_000_000_000,
        all.lines,
        all.missing,
        excess,
        board.faults()
    );
    Ok(())
}

impl<'a> Soak<'a> {
    fn begin(
        board: &'a Board,
        path: PathBuf,
        record: Record,
        overload: Overload,
        seed: u64,
    ) -> Outcome<Self> {
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
        let table = Table::options().max_size(8 << 20).shards(1).create(&path)?;
        let options = LogOptions::new().bytes(SHEETS << 14).overload(overload);
        drop(options.create_in(&table, NAME)?);
        drop(table);
        record.clear();
        let mut soak = Self {
            board,
            path,
            record,
            numbers: Numbers::new(seed),
            writers: Vec::new(),
            drain: Pid::INIT,
            kills: 0,
            stops: 0,
            threads: 0,
        };
        soak.drain = soak.start("a drain", worker::drain)?;
        for _ in 0..WRITING {
            let writer = soak.start("a writer", worker::write)?;
            soak.writers.push(writer);
        }
        Ok(soak)
    }

    fn start(
        &mut self,
        name: &str,
        work: fn(&Path, Record, Numbers) -> Found<Infallible>,
    ) -> Outcome<Pid> {
        let (board, numbers) = (self.board, Numbers::new(self.numbers.next()));
        let pid = fork(|| {
            alarm(LIFE_S);
            let Err(why) = work(&self.path, self.record, numbers);
            board.fault(&format!("log soak: {name}: {why}"));
            1
        })?;
        Ok(pid)
    }

    /// Somebody is killed or stopped.
    fn step(&mut self) -> Outcome<()> {
        let pause = Duration::from_micros(self.numbers.below(KILL_EVERY_US));
        std::thread::sleep(pause);
        let at = self.numbers.below(WRITING as u64) as usize;
        match self.numbers.below(8) {
            0 => self.stop(self.drain)?,
            1 | 2 => self.stop(self.writers[at])?,
            3 | 4 => {
                self.end(self.drain)?;
                sleep_ms(self.numbers.below(20));
                self.drain = self.start("a drain", worker::drain)?;
            }
            _ => {
                self.end_writer(self.writers[at])?;
                self.writers[at] = self.start("a writer", worker::write)?;
            }
        }
        Ok(())
    }

    fn stop(&mut self, pid: Pid) -> Outcome<()> {
        kill(pid, Signal::STOP)?;
        // Sometimes longer than a drain waits.
        let most = if self.numbers.below(8) == 0 { 250 } else { 20 };
        sleep_ms(self.numbers.below(most));
        kill(pid, Signal::CONT)?;
        self.stops += 1;
        Ok(())
    }

    /// Kills a process; it must have been alive.
    fn end(&mut self, pid: Pid) -> Outcome<()> {
        kill(pid, Signal::KILL)?;
        match wait(pid)? {
            ended if ended.was_killed() => self.board.add(Count::Killed, 1),
            ended => {
                let fault = format!("log soak: a process ended before: {ended:?}");
                self.board.fault(&fault);
            }
        }
        self.kills += 1;
        Ok(())
    }

    fn end_all(&mut self) -> Outcome<()> {
        for pid in std::mem::take(&mut self.writers) {
            self.end_writer(pid)?;
        }
        self.end(self.drain)
    }

    fn end_writer(&mut self, pid: Pid) -> Outcome<()> {
        self.threads += THREADS as u64;
        self.end(pid)
    }

    /// Nobody lives: every line is accounted for.
    fn audit(&self, overload: Overload) -> Outcome<Sum> {
        let (board, threads) = (self.board, self.threads);
        let pid = fork(|| {
            alarm(LIFE_S);
            match audit_table(&self.path, self.record, threads) {
                Ok(()) => 0,
                Err(why) => {
                    board.fault(&format!("log soak: an audit, {overload:?}: {why}"));
                    1
                }
            }
        })?;
        match wait(pid)? {
            Ended::Exited(0 | 1) => {}
            ended => board.fault(&format!("log soak: an audit ended by {ended:?}")),
        }
        Ok(self.record.sum())
    }
}

fn audit_table(path: &Path, record: Record, threads: u64) -> Found<()> {
    let table = Table::open(path).map_err(failed)?;
    let log = table.log(NAME).map_err(failed)?;
    log.show_on_stderr(false);
    whole(path)?;
    let mut drain = log.drain().map_err(failed)?;
    let mut tally = Tally::new(record);
    let lines = drain.finish(&mut tally).map_err(failed)?;
    tally.finished(lines)?;
    account(record, &log, threads)?;
    let late = record.too_late();
    if !late.is_empty() {
        return Err(format!("lines came late: {late:?}"));
    }
    // All sheets can be used again, twice round.
    let dropped = log.dropped();
    for _ in 0..2 * SHEETS {
        log.line(Level::Info, [b'x'; 16_000]).map_err(failed)?;
        let mut out = tavola::LogText::new(std::io::sink());
        match drain.finish(&mut out).map_err(failed)? {
            1 => {}
            lines => return Err(format!("{lines} lines are drained, not one")),
        }
    }
    match log.dropped() - dropped {
        0 => whole(path),
        lines => Err(format!("{lines} lines were dropped when all were drained")),
    }
}

/// Each line that returned was written out or counted. Beside that only what deaths explain
/// (LOG-4 in `log`): the lines under way may be counted; lines of passes that did not return may be
/// written again, or counted though they were written; and of the killed threads some were just
/// dropping a sheet's lines.
fn account(record: Record, log: &Log, threads: u64) -> Found<()> {
    let (sum, dropped) = (record.sum(), log.dropped());
    let word = |all| record.all(all).load(Relaxed);
    let (twice, unfinished, reported) =
        (word(All::Twice), word(All::Unfinished), word(All::Reported));
    let sheets = match log.overload() {
        Overload::DropOldest => CHANCE + threads / SELDOM,
        _ => 0,
    };
    let most = sum.missing + sum.unfinished_calls + unfinished;
    let excess = (dropped + twice).saturating_sub(most);
    record.all(All::Excess).store(excess, Relaxed);
    if dropped < sum.missing || excess > sheets * A_SHEET {
        return Err(format!(
            "{dropped} lines were counted and {twice} written out again, {unfinished} of passes \
             that did not return, {threads} threads were killed, of {sum:?}"
        ));
    }
    if twice > unfinished {
        return Err(format!(
            "{twice} lines were written out again, not {unfinished}"
        ));
    }
    match reported >= dropped {
        true => Ok(()),
        false => Err(format!(
            "{reported} dropped lines were reported to drains, not {dropped}"
        )),
    }
}

//! The soak: workers do random operations on shared keys, some only read; a supervisor kills and
//! stops them at random and starts them again.
//!
//! Every few seconds all park, and everything is checked (`audit`): the check is clean, what is in
//! use can be reached, and for every key there is an order of all that was done and seen. A worker
//! that is not stopped and makes no progress for five seconds counts as hung.

mod audit;
pub(crate) mod history;
mod keys;
mod large;
mod registers;
mod seat;
mod watch;
mod worker;

use crate::args::Args;
use crate::board::Board;
use crate::scratch::Scratch;
use crate::system::{Ended, fork, kill, now_ns, shared_words, sleep_ms, wait};
use crate::value::Numbers;
use audit::{Books, Doubt};
use rustix::process::Signal;
use seat::{Seat, Word};
use std::error::Error;
use std::path::PathBuf;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use tavola::Table;
use watch::Seen;

/// Workers that write, and workers that only read.
const WRITERS: usize = 6;
const READERS: usize = 2;
/// Few, so that they meet.
const SHARDS: u32 = 4;
const SIZE: u64 = 512 << 20;
/// Between two audits.
const EPOCH_NS: u64 = 3_000_000_000;
/// At most so long between two kills.
const KILL_EVERY_NS: u64 = 20_000_000;
/// Between two stops, and how long one lasts at most.
const STOP_EVERY_NS: u64 = 15_000_000;
const STOPPED_NS: u64 = 50_000_000;
/// At most so many kills and stops in one turn.
const AT_ONCE: u32 = 4;
/// Faults after which it makes no sense to continue.
const ENOUGH: u64 = 40;
const REPORT_EVERY_NS: u64 = 30_000_000_000;

struct Soak<'a> {
    board: &'a Board,
    path: PathBuf,
    audit: &'static AtomicU64,
    workers: Vec<Seen>,
    books: Books,
    doubt: Doubt,
    numbers: Numbers,
    began: u64,
    faults: u64,
    kills: u64,
    stops: u64,
    audits: u64,
}

type Outcome = Result<(), Box<dyn Error>>;

/// Runs until the time is over and enough workers were killed.
pub(crate) fn run(args: &Args, board: &Board, scratch: &Scratch, until_ns: u64) -> Outcome {
    println!(
        "soak: {WRITERS} writers and {READERS} readers, {} kills at least",
        args.kills
    );
    let path = scratch.path("soak");
    drop(
        Table::options()
            .max_size(SIZE)
            .shards(SHARDS)
            .create(&path)?,
    );
    let mut soak = Soak {
        board,
        path,
        audit: shared_words(1)?.first().ok_or("no word")?,
        workers: Vec::new(),
        books: Books::new()?,
        doubt: Doubt::default(),
        numbers: Numbers::new(args.seed),
        began: now_ns(),
        faults: board.faults(),
        kills: 0,
        stops: 0,
        audits: 0,
    };
    soak.audit_in_child(true)?;
    for number in 0..WRITERS + READERS {
        let seat = Seat::new(number)?;
        let pid = soak.start(seat)?;
        soak.workers.push(Seen::new(seat, pid));
    }
    soak.work(args.kills, until_ns)?;
    soak.end()?;
    soak.report("soak");
    Ok(())
}

impl Soak<'_> {
    fn is_given_up(&self) -> bool {
        self.board.faults() - self.faults >= ENOUGH
    }

    /// Nanoseconds between two kills: as often as it takes to be done in time, and a little more.
    fn pace(&self, kills: u64, until: u64) -> u64 {
        let left = until.saturating_sub(now_ns()) * 3 / 4;
        let pace = left / kills.saturating_sub(self.kills).max(1);
        pace.clamp(1_000_000, KILL_EVERY_NS)
    }

    fn work(&mut self, kills: u64, until: u64) -> Outcome {
        let mut next_kill = self.began;
        let mut next_stop = self.began;
        let mut next_audit = self.began + EPOCH_NS;
        let mut next_line = self.began + REPORT_EVERY_NS;
        while (now_ns() < until || self.kills < kills) && !self.is_given_up() {
            let now = now_ns();
            // A worker that comes late, because others had the processor, makes up for it.
            for _ in 0..AT_ONCE {
                if now >= next_kill {
                    self.kill_one()?;
                    next_kill += self.numbers.below(2 * self.pace(kills, until));
                }
                if now >= next_stop {
                    self.stop_one()?;
                    next_stop += self.numbers.below(2 * STOP_EVERY_NS);
                }
            }
            self.collect_ended()?;
            if now >= next_audit {
                self.audit()?;
                let now = now_ns();
                (next_kill, next_stop) = (now, now);
                next_audit = now + EPOCH_NS;
            }
            if now >= next_line {
                self.report("  so far");
                next_line = now + REPORT_EVERY_NS;
            }
            sleep_ms(1);
        }
        self.audit()
    }

    /// Has all workers park, and checks everything.
    fn audit(&mut self) -> Outcome {
        self.audits += 1;
        self.audit.store(self.audits, Release);
        for worker in &mut self.workers {
            worker.start_again()?;
        }
        let parked = |worker: &Seen, number| worker.seat.word(Word::Parked).load(Acquire) == number;
        while !self
            .workers
            .iter()
            .all(|worker| parked(worker, self.audits))
        {
            self.collect_ended()?;
            if self.is_given_up() {
                return Ok(());
            }
            sleep_ms(1);
        }
        self.audit_in_child(false)?;
        for worker in &mut self.workers {
            audit::restart(&worker.seat);
            worker.beat_at = now_ns();
        }
        self.doubt = Doubt::default();
        self.audit.store(0, Release);
        Ok(())
    }

    fn audit_in_child(&mut self, is_first: bool) -> Outcome {
        let seats: Vec<Seat> = self.workers.iter().map(|worker| worker.seat).collect();
        let pid = fork(|| {
            let outcome = audit::run(&self.path, &seats, &self.books, &self.doubt, is_first);
            match outcome {
                Ok(()) => return 0,
                Err(faults) => faults.iter().for_each(|what| {
                    self.board
                        .fault(&format!("soak: audit {}: {what}", self.audits));
                }),
            }
            1
        })?;
        match wait(pid)? {
            Ended::Exited(0 | 1) => {}
            ended => self
                .board
                .fault(&format!("soak: the audit ended by {ended:?}")),
        }
        Ok(())
    }

    /// Ends all workers; an emptied table must have nothing left.
    fn end(&mut self) -> Outcome {
        for worker in &self.workers {
            kill(worker.pid, Signal::KILL)?;
            wait(worker.pid)?;
        }
        let pid = fork(|| match audit::empty(&self.path) {
            Ok(()) => 0,
            Err(why) => {
                self.board.fault(&format!("soak: at the end: {why}"));
                1
            }
        })?;
        wait(pid)?;
        Ok(())
    }

    fn report(&self, what: &str) {
        let sum = |word| self.workers.iter().map(|w| w.seat.get(word)).sum::<u64>();
        let book = |word: &AtomicU64| word.load(Relaxed);
        println!(
            "{what}: {} s, {} kills, {} stops, {} operations, {} values verified, {} walks, \
             {} recoveries, {} audits, {} histories of {} events, {} faults",
            (now_ns() - self.began) / 1_000_000_000,
            self.kills,
            self.stops,
            sum(Word::Heartbeat),
            sum(Word::Reads),
            sum(Word::Walks),
            book(self.books.recoveries()),
            self.audits,
            book(self.books.histories()),
            book(self.books.events()),
            self.board.faults() - self.faults
        );
    }
}

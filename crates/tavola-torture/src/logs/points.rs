//! A victim, a finder, a survivor.

use super::cases::{Case, cases};
use super::op::Seat;
use super::slate::{FINDER, Slate, VICTIM};
use super::start::{Start, start};
use super::survivor::{Death, check_survivor};
use super::{Died, Found, Outcome, child};
use crate::args::Args;
use crate::board::{Board, Count, Of};
use crate::scratch::Scratch;
use crate::system::{Ended, Stopwatch, alarm, fork, now_ns, sleep_ms, wait};
use rustix::process::Pid;
use std::path::PathBuf;
use std::sync::atomic::Ordering::Relaxed;
use tavola::killpoint;

/// When a sample is wanted, one in so many finders.
const SPARE: u64 = 31;
/// One in so many of those that repair a whole table, when all others are tried; over the points
/// each of their stores has its turn.
const REPAIRING: u64 = 13;
/// Points of a case in a sample, about.
const POINTS: u64 = 40;
/// One finder in so many repairs, too.
const REPAIRS: u64 = 5;
/// How often a victim whose stores vary is sent before its point counts as beyond the last.
const TRIES: u32 = 3;
/// How long what a survivor does may take: a death is noticed and its resources are reclaimed.
const PATIENCE_NS: u64 = 2_000_000_000;
/// Seconds a drain beside a victim may live.
const LIFE_S: u32 = 60;

struct Points<'a> {
    args: &'a Args,
    board: &'a Board,
    path: PathBuf,
    slate: Slate,
}

pub(super) fn run(args: &Args, board: &Board, scratch: &Scratch) -> Outcome<()> {
    let points = Points {
        args,
        board,
        path: scratch.path("log"),
        slate: Slate::new()?,
    };
    for case in cases() {
        if args
            .only
            .as_deref()
            .is_none_or(|only| case.name.contains(only))
        {
            let start = start(&case, board, scratch, points.slate)?;
            points.case(&case, &start)?;
        }
    }
    Ok(())
}

/// Whether the finders of a point repair.
fn is_repairing(k: u64) -> bool {
    k.is_multiple_of(REPAIRS)
}

impl Points<'_> {
    fn case(&self, case: &Case, start: &Start) -> Outcome<()> {
        let began = now_ns();
        // Killed nowhere, for the number of its stores.
        self.recreate(start)?;
        self.kill(case, u64::MAX)?;
        self.survivor(case, Death::default())?;
        let stores = self.board.lane(0, Of::Passed).load(Relaxed);
        let step = match self.args.every_point() {
            true => 1,
            false => stores / POINTS + 1,
        };
        let (mut killed, mut finders) = (0, 0);
        let mut k = self.args.point.unwrap_or(1);
        while self.victim(case, start, k)? == Died::Yes {
            killed += 1;
            self.survivor(case, Death { k, j: 0 })?;
            finders += self.finders(case, start, k)?;
            if self.args.point.is_some() {
                break;
            }
            k += step;
        }
        if k <= stores && self.args.point.is_none() && !case.is.varying {
            let fault = format!("{}: point {k} of {stores} did not fire", case.name);
            self.board.fault(&fault);
        }
        println!(
            "  {:<46} {stores} points, {killed} killed at; {finders} finders killed, {:.1} s",
            case.name,
            (now_ns() - began) as f64 / 1e9
        );
        Ok(())
    }

    /// Kills finders at all their stores or some; says how many.
    fn finders(&self, case: &Case, start: &Start, k: u64) -> Outcome<u64> {
        let step = match (self.args.every_point(), case.is.damaged || is_repairing(k)) {
            (true, false) => 1,
            (true, true) => REPAIRING,
            (false, false) => SPARE,
            (false, true) => SPARE * REPAIRING,
        };
        let mut killed = 0;
        let mut j = self.args.finder.unwrap_or(1 + k % step);
        loop {
            if self.victim(case, start, k)? == Died::No {
                break;
            }
            if self.finder(case, k, j)? == Died::No {
                break;
            }
            killed += 1;
            self.survivor(case, Death { k, j })?;
            if self.args.finder.is_some() {
                break;
            }
            j += step;
        }
        Ok(killed)
    }

    fn recreate(&self, start: &Start) -> Outcome<()> {
        start.image.store(&self.path)?;
        self.slate.restore(&start.slate);
        Ok(())
    }

    /// A fresh file and a victim, that dies at `k` or has fewer stores.
    fn victim(&self, case: &Case, start: &Start, k: u64) -> Outcome<Died> {
        for _ in 0..if case.is.varying { TRIES } else { 1 } {
            self.recreate(start)?;
            if self.kill(case, k)? == Died::Yes {
                return Ok(Died::Yes);
            }
            // What was to be done is done then.
            self.survivor(case, Death::default())?;
        }
        Ok(Died::No)
    }

    fn kill(&self, case: &Case, k: u64) -> Outcome<Died> {
        let drain = match case.is.drained {
            true => Some(self.drain_beside(case)?),
            false => None,
        };
        let passed = self.board.lane(0, Of::Passed);
        let name = format!("the victim of point {k}");
        let end = child(self.board, case.name, &name, || {
            let mut seat = Seat::open(&self.path, case.is.beside, self.slate, VICTIM)?;
            case.lead.iter().try_for_each(|op| seat.apply(op))?;
            killpoint::die_at(k);
            case.meant.iter().try_for_each(|op| seat.apply(op))?;
            passed.store(killpoint::passed(), Relaxed);
            killpoint::die_at(0);
            Ok(())
        })?;
        if let Some(drain) = drain {
            self.board.lane(0, Of::Stop).store(1, Relaxed);
            match wait(drain)? {
                Ended::Exited(0 | 1) => {}
                ended => {
                    let fault = format!("{}: the drain beside {name}: {ended:?}", case.name);
                    self.board.fault(&fault);
                }
            }
        }
        Ok(end)
    }

    /// Another process drains the log, until it is asked to stop.
    fn drain_beside(&self, case: &Case) -> Outcome<Pid> {
        let [stop, ready] = [Of::Stop, Of::Acknowledged].map(|word| self.board.lane(0, word));
        stop.store(0, Relaxed);
        ready.store(0, Relaxed);
        let drain = || -> Found<()> {
            let seat = Seat::open(&self.path, case.is.beside, self.slate, FINDER)?;
            let mut seat = seat.expect_late();
            let begun = seat.drain();
            ready.store(1, Relaxed);
            begun?;
            while stop.load(Relaxed) == 0 {
                seat.pass(false)?;
                sleep_ms(1);
            }
            seat.pass(true).map(drop)
        };
        let pid = fork(|| {
            alarm(LIFE_S);
            match drain() {
                Ok(()) => 0,
                Err(why) => {
                    self.board.fault(&format!("{}: a drain: {why}", case.name));
                    1
                }
            }
        })?;
        while ready.load(Relaxed) == 0 {
            sleep_ms(1);
        }
        Ok(pid)
    }

    fn finder(&self, case: &Case, k: u64, j: u64) -> Outcome<Died> {
        let name = format!("point {k}: the finder {j}");
        child(self.board, case.name, &name, || {
            let mut seat = Seat::open(&self.path, case.is.beside, self.slate, FINDER)?;
            killpoint::die_at(j);
            if case.is.damaged || is_repairing(k) {
                seat.repair()?;
            }
            seat.line(100)?;
            seat.line(9000)?;
            seat.drain()?;
            // Else the line might wait for a pass of its own thread.
            seat.pass(true)?;
            seat.line(9000)?;
            seat.pass(true)?;
            killpoint::die_at(0);
            Ok(())
        })
    }

    fn survivor(&self, case: &Case, death: Death) -> Outcome<()> {
        let Death { k, j } = death;
        let name = format!("point {k}, finder {j}: the survivor");
        child(self.board, case.name, &name, || {
            let watch = Stopwatch::start();
            check_survivor(&self.path, case, self.slate, death)?;
            match watch.took_ns() {
                ..=PATIENCE_NS => Ok(()),
                took => Err(format!("it took {} ms", took / 1_000_000)),
            }
        })?;
        self.board.add(Count::Survived, 1);
        Ok(())
    }
}

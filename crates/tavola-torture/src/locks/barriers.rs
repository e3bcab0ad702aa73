//! Barriers: three processes join one and come to it several times. A *victim* is killed before its
//! `k`-th store, a *finder* before its `j`-th; a *witness* must not be held up by them.
//!
//! If the victim dies before its join has returned, nobody knows whether it is expected: then the
//! others may wait for one more, and give up.

use super::PATIENCE;
use crate::args::Args;
use crate::board::{Board, Count};
use crate::child::{Died, Found, Outcome, Started, child, failed, print_result};
use crate::image::Image;
use crate::scratch::Scratch;
use crate::system::{now_ns, shared_words, sleep_ms};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::{Duration, Instant};
use tavola::{Table, killpoint};

const KEY: &str = "barrier";
const COUNT: u32 = 3;
const ROUNDS: u32 = 3;
/// Of points and finders, one in so many if a sample is wanted.
const SPARE: u64 = 9;
/// A wait, after which one that waits looks whether it is in vain.
const SLICE: Duration = Duration::from_millis(50);
const SHORT: Duration = Duration::from_millis(1);

/// What the processes of one meeting let each other know.
struct Words {
    /// How many of the finder and the witness have joined.
    joined: &'static AtomicU64,
    /// Whether the victim's join has returned.
    victim_joined: &'static AtomicU64,
    /// How many of the victim and the finder have ended.
    ended: &'static AtomicU64,
    /// The most dead that any round has counted while others were there.
    most_dead: &'static AtomicU64,
}

impl Words {
    fn all(&self) -> [&'static AtomicU64; 4] {
        let Self {
            joined,
            victim_joined,
            ended,
            most_dead,
        } = self;
        [joined, victim_joined, ended, most_dead]
    }
}

/// Before which stores the victim and the finder die; 0: not at all.
#[derive(Clone, Copy)]
struct Deaths {
    victim: u64,
    finder: u64,
}

struct Points<'a> {
    board: &'a Board,
    path: PathBuf,
    image: Image,
    words: Words,
    step: u64,
}

pub(super) fn run(args: &Args, board: &Board, scratch: &Scratch) -> Outcome<()> {
    let path = scratch.path("barriers");
    let table = Table::options().max_size(2 << 20).shards(1).create(&path)?;
    // The first key of a table takes thousands of stores.
    table.set(b"key", b"value")?;
    drop(table);
    let [joined, victim_joined, ended, most_dead] = shared_words(4)? else {
        unreachable!("so many were asked for");
    };
    let points = Points {
        board,
        image: Image::load(&path)?,
        path,
        words: Words {
            joined,
            victim_joined,
            ended,
            most_dead,
        },
        step: if args.every_point() { 1 } else { SPARE },
    };
    let only = args.only.as_deref();
    let is_wanted = |case: &str| only.is_none_or(|only| case.contains(only));
    if is_wanted(ALONE) {
        points.alone()?;
    }
    if is_wanted(TOGETHER) {
        points.together()?;
    }
    Ok(())
}

const ALONE: &str = "barrier: join and wait in vain";
const TOGETHER: &str = "barrier: three come several times";

impl Points<'_> {
    fn open(&self) -> Found<Table> {
        Table::open(&self.path).map_err(failed)
    }

    /// Kills one that is there alone.
    fn alone(&self) -> Outcome<()> {
        let (began, mut killed) = (now_ns(), 0);
        for k in 1.. {
            self.image.store(&self.path)?;
            let victim = format!("the victim of point {k}");
            let end = child(self.board, ALONE, &victim, || {
                let table = self.open()?;
                killpoint::die_at(k);
                table.barrier_join(KEY).map_err(failed)?;
                let come = || table.barrier_wait(KEY, 2, SHORT).map_err(failed);
                let begun = [come()?, come()?];
                killpoint::die_at(0);
                match begun {
                    [None, None] => Ok(()),
                    _ => Err(format!("alone at a barrier of two: {begun:?}")),
                }
            })?;
            self.survivor(ALONE, &format!("point {k}: the survivor"))?;
            if end == Died::No {
                break;
            }
            killed += 1;
        }
        print_result(ALONE, killed, 0, began);
        Ok(())
    }

    fn together(&self) -> Outcome<()> {
        let began = now_ns();
        let (mut killed, mut finders) = (0, 0);
        for k in (1..).step_by(self.step as usize) {
            let [end, _] = self.meet(Deaths {
                victim: k,
                finder: 0,
            })?;
            if end == Died::No {
                break;
            }
            killed += 1;
            for j in (1 + k % self.step..).step_by(self.step as usize) {
                let deaths = Deaths {
                    victim: k,
                    finder: j,
                };
                if self.meet(deaths)?[1] == Died::No {
                    break;
                }
                finders += 1;
            }
        }
        print_result(TOGETHER, killed, finders, began);
        Ok(())
    }

    /// Lets three processes come to the barrier. Returns which of the first two were killed.
    fn meet(&self, deaths: Deaths) -> Outcome<[Died; 2]> {
        self.image.store(&self.path)?;
        for word in self.words.all() {
            word.store(0, SeqCst);
        }
        let names = ["the victim", "the finder", "the witness", "the survivor"];
        let Deaths { victim, finder } = deaths;
        let names = names.map(|name| format!("point {victim}, finder {finder}: {name}"));
        let start =
            |name, work: &dyn Fn() -> Found<()>| Started::start(self.board, TOGETHER, name, work);
        let [victim, finder, witness] = [
            start(&names[0], &|| self.victim(deaths.victim))?,
            start(&names[1], &|| self.finder(deaths.finder))?,
            start(&names[2], &|| self.witness())?,
        ];
        let mut ends = [Died::No; 2];
        for (end, process) in ends.iter_mut().zip([victim, finder]) {
            *end = process.finish()?;
            self.words.ended.fetch_add(1, SeqCst);
        }
        witness.finish()?;
        let died = ends.iter().filter(|end| **end == Died::Yes).count() as u64;
        let most = self.words.most_dead.load(SeqCst);
        if most > died {
            let [_, _, witness, _] = &names;
            self.board
                .fault(&format!("{TOGETHER}: {witness}: {most} dead of {died}"));
        }
        self.survivor(TOGETHER, &names[3])?;
        Ok(ends)
    }

    fn victim(&self, k: u64) -> Found<()> {
        let table = self.open()?;
        self.wait_for_both();
        killpoint::die_at(k);
        table.barrier_join(KEY).map_err(failed)?;
        self.words.victim_joined.store(1, SeqCst);
        let outcome = (0..ROUNDS).try_for_each(|_| self.come(&table).map(drop));
        killpoint::die_at(0);
        outcome
    }

    fn finder(&self, j: u64) -> Found<()> {
        let table = self.join()?;
        killpoint::die_at(j);
        let outcome = (0..ROUNDS).try_for_each(|_| self.come(&table).map(drop));
        killpoint::die_at(0);
        outcome
    }

    /// When the others are gone, the barrier must not wait for them.
    fn witness(&self) -> Found<()> {
        let table = self.join()?;
        for _ in 0..ROUNDS {
            self.come(&table)?;
        }
        while self.words.ended.load(SeqCst) < 2 {
            sleep_ms(1);
        }
        if !self.is_victim_known() {
            return Ok(());
        }
        match table.barrier_wait(KEY, COUNT, PATIENCE).map_err(failed)? {
            Some(2) => Ok(()),
            other => Err(format!("of two that are gone there are {other:?}")),
        }
    }

    /// Joins, and waits for the other one: if one died before the other joined, nobody would know
    /// of it.
    fn join(&self) -> Found<Table> {
        let table = self.open()?;
        table.barrier_join(KEY).map_err(failed)?;
        self.words.joined.fetch_add(1, SeqCst);
        self.wait_for_both();
        Ok(table)
    }

    fn wait_for_both(&self) {
        while self.words.joined.load(SeqCst) < 2 {
            sleep_ms(1);
        }
    }

    /// Returns whether it is certain that the others wait for the victim, or know that it died.
    fn is_victim_known(&self) -> bool {
        self.words.victim_joined.load(SeqCst) == 1
    }

    /// Comes to the barrier, which must begin in time.
    fn come(&self, table: &Table) -> Found<()> {
        let began = Instant::now();
        loop {
            if let Some(dead) = table.barrier_wait(KEY, COUNT, SLICE).map_err(failed)? {
                self.words.most_dead.fetch_max(u64::from(dead), SeqCst);
                return Ok(());
            }
            if self.words.ended.load(SeqCst) > 0 && !self.is_victim_known() {
                return Ok(());
            }
            if began.elapsed() > PATIENCE {
                return Err("the dead hold it up".to_owned());
            }
        }
    }

    /// All are gone: two others can use the barrier as if nobody had been there.
    fn survivor(&self, case: &str, name: &str) -> Outcome<()> {
        child(self.board, case, name, || {
            let table = self.open()?;
            let come = || {
                let rounds = (0..ROUNDS).map(|_| table.barrier_wait(KEY, 2, PATIENCE));
                let rounds = rounds.collect::<tavola::Result<Vec<_>>>().map_err(failed)?;
                match rounds.iter().all(|dead| *dead == Some(0)) {
                    true => Ok(()),
                    false => Err(format!("a later barrier of two returns {rounds:?}")),
                }
            };
            std::thread::scope(|scope| {
                let other = scope.spawn(come);
                come()?;
                other.join().map_err(|_| "a panic".to_owned())?
            })?;
            let late = table.barrier_wait(KEY, 2, SHORT).map_err(failed)?;
            let report = table.check().map_err(failed)?;
            match (late, report.is_clean()) {
                (None, true) => Ok(()),
                _ => Err(format!("{late:?} alone, {:?}", report.problems)),
            }
        })?;
        self.board.add(Count::Survived, 1);
        Ok(())
    }
}

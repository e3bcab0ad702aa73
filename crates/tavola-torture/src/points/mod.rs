//! Kill points: a process is killed before each store it makes to shared memory, one after the
//! other, and those who live on are held to everything that was promised.
//!
//! For each case a file is made once. Per point `k`: the file is written again; a *victim* does the
//! case's operations and is killed before its `k`-th store; beside one in so many a *reader* goes
//! on reading throughout; a *survivor* reads before anybody recovered, then writes within two
//! seconds, finds all that had returned, checks, continues to use the table, empties it. The run of
//! a case ends with a victim that is to die at one store more than there are, and lives.
//!
//! Recovery is a case like the others: its file is what a victim left, its operation the one that
//! stumbles over it. It is killed at each point for one state of each kind that victims leave
//! (`left`). Deaths during the recovery from a death during recovery are drawn.

mod builder;
mod cache;
mod case;
mod cases;
mod create;
mod lane;
mod leases;
mod left;
mod raise;
mod reader;
mod recovery;
mod seat;
mod survivor;
mod tags;
mod uids;
mod versions;
mod victim;

use crate::args::Args;
use crate::board::{Board, Count, LANES};
use crate::scratch::Scratch;
use crate::system::{Ended, fork, now_ns, wait};
use case::{Case, Prepared};
use lane::{Lane, Outcome};
use recovery::Seen;
use std::io;
use std::sync::atomic::Ordering::Relaxed;
use tavola_model::Answer;

/// Faults after which it makes no sense to continue.
const ENOUGH: u64 = 200;
/// Faults of a case that are printed in words.
const MOST_PRINTED: usize = 12;

/// What all cases are run with.
pub(crate) struct Run<'a> {
    pub(crate) args: &'a Args,
    pub(crate) board: &'a Board,
    pub(crate) scratch: &'a Scratch,
}

/// What the points of a case came to.
#[derive(Clone, Copy, Default)]
struct Tally {
    cases: u64,
    /// Stores the operations make.
    stores: u64,
    /// Of them, those that a victim died at.
    killed: u64,
}

impl Tally {
    fn add(&mut self, other: Tally) {
        self.cases += other.cases;
        self.stores += other.stores;
        self.killed += other.killed;
    }

    fn describe(&self) -> String {
        let Tally { stores, killed, .. } = self;
        let missed = stores - killed;
        format!("{stores} points, {killed} killed at, {missed} not")
    }
}

/// Of cases and of recoveries from what they left.
#[derive(Default)]
struct Total {
    cases: Tally,
    recoveries: Tally,
}

/// Runs every case; says nothing if there was no fault but on the output.
pub(crate) fn run(run: &Run<'_>) -> Prepared<()> {
    let began = now_ns();
    let which = match run.args.every_point() {
        true => "every point of every case",
        false => "a sample of the points of long cases",
    };
    println!("kill points: {which}, {} lanes", run.args.lanes);
    let mut total = Total::default();
    let from = run.args.from.as_deref();
    let mut has_begun = from.is_none();
    if has_begun && run.wants("create") {
        total.cases.add(create::run(run)?);
    }
    if has_begun && run.wants("raise max_size") {
        total.cases.add(raise::run(run)?);
    }
    for room in cases::ROOMS {
        let mut seen = Seen::new();
        for make in room {
            let mut cases = make(run)?;
            cases.retain(|case| {
                has_begun |= from.is_some_and(|from| case.name.contains(from));
                has_begun && run.wants(&case.name)
            });
            for case in &cases {
                run.case(case, &mut total, &mut seen)?;
            }
            if run.args.point.is_none() && cases.iter().any(|case| !case.few) {
                recovery::chains(run, &cases)?;
            }
        }
    }
    println!(
        "kill points: {} cases: {}; recovery from {} states: {}; {} kills in all, {} survivors, \
         {} checks, {} reads beside, slowest take-over {} ms, {} s\n",
        total.cases.cases,
        total.cases.describe(),
        total.recoveries.cases,
        total.recoveries.describe(),
        run.board.get(Count::Killed),
        run.board.get(Count::Survived),
        run.board.get(Count::Checks),
        run.board.get(Count::ReadsBeside),
        run.board.get(Count::SlowestTakeoverNs) / 1_000_000,
        (now_ns() - began) / 1_000_000_000
    );
    Ok(())
}

impl Run<'_> {
    fn wants(&self, name: &str) -> bool {
        self.args
            .only
            .as_deref()
            .is_none_or(|only| name.contains(only))
    }

    fn lane(&self, number: usize) -> Lane<'_> {
        let reader_every = if self.args.every_point() { 64 } else { 16 };
        let keep = self.args.keep.as_deref();
        Lane::new(self.board, self.scratch, number, reader_every, keep)
    }

    /// Runs one case, and recovery from what its victims left; prints a line.
    fn case(&self, case: &Case, total: &mut Total, seen: &mut Seen) -> Prepared<()> {
        let (began, faults) = (now_ns(), self.board.faults());
        let (tally, left) = self.points_of(case)?;
        let seconds = |from| (now_ns() - from) as f64 / 1e9;
        let took = seconds(began);
        let began = now_ns();
        let recoveries = recovery::run(self, case, &left, seen)?;
        println!(
            "  {:<46} {}, {took:.1} s; recovery from {} states: {}, {:.1} s{}",
            case.name,
            tally.describe(),
            recoveries.cases,
            recoveries.describe(),
            seconds(began),
            describe_faults(self.board, faults)
        );
        total.cases.add(tally);
        total.recoveries.add(recoveries);
        match self.board.faults() {
            ..=ENOUGH => Ok(()),
            _ => Err("too many faults to go on".into()),
        }
    }

    /// Kills a victim at each point of a case, or at a sample of them. Says also which points, and
    /// what kind of state each of them left.
    fn points_of(&self, case: &Case) -> Prepared<(Tally, Vec<(u64, u64)>)> {
        let stores = self.lane(0).stores(case)?;
        let may_miss = case.misses || case.expires || case.is_cache;
        if !may_miss && case.answers().iter().any(Answer::is_miss) {
            return Err(format!("{}: an operation misses its key", case.name).into());
        }
        let only = match case.is_aftermath {
            true => self.args.finder,
            false => self.args.point,
        };
        let points = only.map_or_else(|| self.sample(case, stores), |point| vec![point]);
        let kinds = || (0..points.len() as u64).map_while(|turn| self.board.kind(turn));
        if kinds().count() < points.len() {
            return Err("a case has more points than there is room for on the board".into());
        }
        kinds().for_each(|kind| kind.store(0, Relaxed));
        let fired = self.board.count(Count::Fired);
        fired.store(0, Relaxed);
        // Those that wait need no processor meanwhile.
        let lanes = self.args.lanes * if case.waits { 4 } else { 1 };
        self.in_lanes(lanes, points.len() as u64, |lane, turn| {
            let k = points[turn as usize];
            let outcome = match case.waits && k <= stores {
                true => lane.insist(case, k, turn)?,
                false => lane.point(case, k, turn)?,
            };
            let name = &case.name;
            match outcome {
                Outcome::Killed if k > stores => self.board.fault(&format!(
                    "{name}: the victim of point {k} was killed, though there are {stores}"
                )),
                Outcome::Killed => drop(fired.fetch_add(1, Relaxed)),
                Outcome::Lived { stores: passed } if k <= stores => self.board.fault(&format!(
                    "{name}: point {k} did not fire: {passed} stores, {stores} before"
                )),
                _ => {}
            }
            Ok(())
        })?;
        let killed = fired.load(Relaxed);
        let wanted = points.iter().filter(|k| **k <= stores).count() as u64;
        if killed != wanted {
            let what = format!("{}: {wanted} points to die at, {killed} deaths", case.name);
            self.board.fault(&what);
        }
        let left = points
            .iter()
            .copied()
            .zip(kinds().map(|kind| kind.load(Relaxed)))
            .filter(|(_, kind)| *kind != 0);
        let tally = Tally {
            cases: 1,
            stores,
            killed,
        };
        Ok((tally, left.collect()))
    }

    /// The points of a case that are killed at.
    fn sample(&self, case: &Case, stores: u64) -> Vec<u64> {
        if self.args.every_point() {
            return (1..=stores + 1).collect();
        }
        let most = self.args.sample();
        match (case.few, case.is_aftermath) {
            (true, _) => sampled(stores, most / 10, 3),
            (_, true) => sampled(stores, most / 3, 10),
            _ => sampled(stores, most, 50.min(most / 4)),
        }
    }

    /// Shares the turns `0..count` among all lanes.
    fn in_lanes(
        &self,
        lanes: usize,
        count: u64,
        turn: impl Fn(&Lane<'_>, u64) -> io::Result<()>,
    ) -> Prepared<()> {
        let next = self.board.count(Count::Next);
        next.store(0, Relaxed);
        let lanes = lanes.min(LANES).min(count as usize);
        let mut pids = Vec::new();
        for number in 0..lanes {
            pids.push(fork(|| {
                let lane = self.lane(number);
                loop {
                    let at = next.fetch_add(1, Relaxed);
                    if at >= count {
                        return 0;
                    }
                    if let Err(error) = turn(&lane, at) {
                        self.board.fault(&format!("lane {number}: {error}"));
                        return 1;
                    }
                }
            })?);
        }
        for (number, pid) in pids.into_iter().enumerate() {
            match wait(pid)? {
                Ended::Exited(0 | 1) => {}
                ended => self.board.fault(&format!("lane {number}: {ended:?}")),
            }
        }
        Ok(())
    }
}

/// The end of a case's line, and its faults.
fn describe_faults(board: &Board, before: u64) -> String {
    let count = board.faults() - before;
    if count == 0 {
        return String::new();
    }
    let faults = board.kept_faults();
    let new = faults.iter().skip(before as usize).take(MOST_PRINTED);
    let lines = new.map(|fault| format!("\n    {fault}"));
    format!(", {count} FAULTS{}", lines.collect::<String>())
}

/// All points, or those at both ends and some between; and the one past the last.
fn sampled(stores: u64, most: u64, ends: u64) -> Vec<u64> {
    if stores <= most {
        return (1..=stores + 1).collect();
    }
    let between = most.saturating_sub(2 * ends).max(1);
    let step = (stores - 2 * ends).div_ceil(between);
    (1..=stores + 1)
        .filter(|k| *k <= ends || *k + ends > stores || k % step == 0)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::sampled;

    #[test]
    fn a_sample_holds_both_ends_and_the_point_past_the_last() {
        assert_eq!(sampled(90, 120, 50), (1..=91).collect::<Vec<_>>());
        let points = sampled(10_000, 200, 50);
        assert!((1..=50).all(|k| points.contains(&k)));
        assert!((9951..=10_001).all(|k| points.contains(&k)));
        assert!((190..=202).contains(&points.len()));
        // No more than are wanted, except both ends.
        assert!((100..=103).contains(&sampled(10_000, 60, 50).len()));
    }
}

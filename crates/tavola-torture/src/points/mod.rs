//! Kill points: a process is killed before each store it makes to shared memory, one after the
//! other, and those who live on are held to everything that was promised.
//!
//! For each case a file is made once. Per point `k`: the file is written anew; a *victim* does the
//! case's operations and is killed before its `k`-th store; beside every sixteenth a *reader* goes
//! on reading throughout; a *survivor* reads before anybody recovered, then writes within two
//! seconds, finds all that had returned, checks, goes on using the table, empties it. The run of a
//! case ends with a victim that is to die at one store more than there are, and lives.
//!
//! Recovery is a case like the others: its file is what a victim left, its operation the one that
//! stumbles over it. So are deaths during the recovery from a death during recovery.

mod case;
mod cases;
mod create;
mod lane;
mod op;
mod reader;
mod recovery;
mod survivor;
mod victim;

use crate::args::Args;
use crate::board::{Board, Count, LANES};
use crate::scratch::Scratch;
use crate::system::{fork, now_ns, wait};
use case::{Case, Prepared};
use lane::{Lane, Outcome};
use std::io;
use std::sync::atomic::Ordering::Relaxed;

/// Points at either end of a case that are never left out.
const ENDS: u64 = 50;
/// Faults after which it makes no sense to go on.
const ENOUGH: u64 = 200;
/// Points of cases of which few are enough, when every point of the others is wanted and when a
/// sample is; and of them at either end.
const FEW: (usize, usize) = (300, 12);
const FEW_ENDS: u64 = 3;
/// Faults of a case that are told in words.
const MOST_TOLD: usize = 12;

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
}

/// Runs every case; says nothing if there was no fault but on the output.
pub(crate) fn run(run: &Run<'_>) -> Prepared<()> {
    let began = now_ns();
    println!(
        "kill points: {}, {} lanes",
        match (run.args.every, run.args.every_point()) {
            (true, _) => "every point of every case",
            (_, true) => "every point of all but the longest cases",
            _ => "a sample of the points of long cases",
        },
        run.args.lanes
    );
    if run.wants("create") {
        create::run(run)?;
    }
    let cases = cases::all(run)?;
    let mut total = Tally::default();
    for case in cases.iter().filter(|case| run.wants(&case.name)) {
        total.add(run.case(case)?);
        if run.board.faults() > ENOUGH {
            return Err("too many faults to go on".into());
        }
    }
    recovery::run(run, &cases)?;
    drop(cases);
    for (_, make) in cases::LARGE.iter().filter(|(name, _)| run.wants(name)) {
        let case = make(run.scratch)?;
        total.add(run.case(&case)?);
        if run.args.every_point() {
            recovery::run(run, &[case])?;
        }
    }
    println!(
        "kill points: {} cases, {} of {} points killed at, {} kills in all, {} survivors, \
         {} checks, {} reads beside, slowest take-over {} ms, {} s\n",
        total.cases,
        total.killed,
        total.stores,
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
        let compact_every = if self.args.every_point() { 400 } else { 0 };
        Lane::new(
            self.board,
            self.scratch,
            number,
            compact_every,
            self.args.keep.as_deref(),
        )
    }

    /// Runs one case and prints a line.
    fn case(&self, case: &Case) -> Prepared<Tally> {
        let (began, faults) = (now_ns(), self.board.faults());
        let tally = self.points_of(case, case.sample, ENDS)?;
        println!(
            "  {:<44} {:>6} points, {:>6} killed at, {:>5} ms{}",
            case.name,
            tally.stores,
            tally.killed,
            (now_ns() - began) / 1_000_000,
            told(self.board, faults)
        );
        Ok(tally)
    }

    /// Kills a victim at each point of a case, or at a sample of them.
    fn points_of(&self, case: &Case, sample: usize, ends: u64) -> Prepared<Tally> {
        let lane = self.lane(0);
        case.image.store(lane.path())?;
        let Outcome::Lived { stores } = lane.victim(case, 0)? else {
            return Ok(Tally::default());
        };
        let points = match self.args.point {
            Some(point) => vec![point],
            None => self.sample(case, stores, sample, ends),
        };
        let before = self.board.get(Count::Killed);
        // Those that wait need no processor meanwhile.
        let lanes = self.args.lanes * if case.waits { 3 } else { 1 };
        self.in_lanes(lanes, points.len() as u64, |lane, turn| {
            let k = points[turn as usize];
            let outcome = lane.point(case, k, turn)?;
            let name = &case.name;
            match outcome {
                _ if case.waits => {}
                Outcome::Killed if k > stores => self.board.fault(&format!(
                    "{name}: the victim of point {k} was killed, though there are {stores}"
                )),
                Outcome::Lived { stores: passed } if k <= stores => self.board.fault(&format!(
                    "{name}: point {k} did not fire: {passed} stores, {stores} before"
                )),
                _ => {}
            }
            Ok(())
        })?;
        Ok(Tally {
            cases: 1,
            stores,
            killed: self.board.get(Count::Killed) - before,
        })
    }

    /// The points of a case that are killed at.
    fn sample(&self, case: &Case, stores: u64, sample: usize, ends: u64) -> Vec<u64> {
        match (self.args.every_point(), case.few) {
            _ if self.args.every => (1..=stores + 1).collect(),
            (true, false) => sampled(stores, case.most, ENDS),
            (true, true) => sampled(stores, FEW.0, FEW_ENDS),
            (false, false) => sampled(stores, sample, ends),
            (false, true) => sampled(stores, FEW.1, FEW_ENDS),
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
        for pid in pids {
            wait(pid)?;
        }
        Ok(())
    }
}

/// The end of a case's line, and its faults.
fn told(board: &Board, before: u64) -> String {
    let count = board.faults() - before;
    if count == 0 {
        return String::new();
    }
    let told = board.told();
    let new = told.iter().skip(before as usize).take(MOST_TOLD);
    let lines = new.map(|fault| format!("\n    {fault}"));
    format!(", {count} FAULTS{}", lines.collect::<String>())
}

/// All points, or those at both ends and some between; and the one past the last.
fn sampled(stores: u64, most: usize, ends: u64) -> Vec<u64> {
    let most = most as u64;
    if stores <= most {
        return (1..=stores + 1).collect();
    }
    let step = (stores - 2 * ends).div_ceil((most - 2 * ends).max(1));
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
    }
}

//! Deaths during recovery: what a victim left is recovered by one that is killed at each of its
//! stores in turn, and by chains of several that die at points drawn at random.

use super::case::{Case, Prepared};
use super::lane::{Lane, Outcome};
use super::{Run, Tally};
use crate::board::Of;
use crate::system::{now_ns, shared_words};
use crate::value::Numbers;
use std::io;
use std::sync::atomic::Ordering::Relaxed;

/// Points at which a recovery is killed when a sample is wanted, and of them at either end.
const SAMPLE: usize = 40;
const ENDS: u64 = 10;
/// The same when every point is wanted, of recoveries of small tables more than there are.
const MOST: usize = 1500;
/// Cases of at most so many stores are short.
const SHORT: u64 = 100;
/// Where the finder of what a short case leaves dies: before it has recovered anything, and after.
const EARLY_AND_LATE: [u64; 3] = [25, 150, 700];
/// Of the chains of short cases, one in so many when a sample is wanted.
const SPARE: usize = 5;
/// Random chains of deaths, when every point is wanted, and when a sample is.
const CHAINS: (u64, u64) = (4000, 150);
/// A recovery of a shard makes at least so many stores: one for each bucket.
const LEAST: u64 = 256;
/// Points of a case that are tried for one.
const TRIES: u64 = 8;

pub(super) fn run(run: &Run<'_>, cases: &[Case]) -> Prepared<()> {
    let every = run.args.every_point();
    let wanted: Vec<&Case> = cases.iter().filter(|case| run.wants(&case.name)).collect();
    let mut total = Tally::default();
    let (began, faults) = (now_ns(), run.board.faults());
    let points = points(run, &wanted)?;
    for (number, (case, k)) in wanted.iter().zip(points).enumerate() {
        if k != 0 {
            total.add(one(run, case, k, number as u64)?);
        }
    }
    println!(
        "  {:<44} {:>6} points, {:>6} killed at, {:>5} ms{}",
        format!("recovery of {} cases", total.cases),
        total.stores,
        total.killed,
        (now_ns() - began) / 1_000_000,
        super::told(run.board, faults)
    );
    let alone = wanted.iter().all(|case| case.few);
    if !alone && run.args.point.is_none() {
        chains(run, &wanted, if every { CHAINS.0 } else { CHAINS.1 })?;
    }
    Ok(())
}

/// For each case a point whose victim leaves the shard locked: the first of several, in an order of
/// the case's own. 0: none does.
fn points(run: &Run<'_>, cases: &[&Case]) -> Prepared<Vec<u64>> {
    let found = shared_words(cases.len())?;
    run.in_lanes(run.args.lanes, cases.len() as u64, |lane, number| {
        let case = cases[number as usize];
        let stores = stores_of(lane, case)?;
        for turn in 0..TRIES {
            let k = 1 + stores * ((number + turn) * 7 % 16) / 16;
            let Some(left) = lane.aftermath(case, k, turn + number)? else {
                continue;
            };
            if stores_of(lane, &left)? >= LEAST {
                found[number as usize].store(k, Relaxed);
                break;
            }
        }
        Ok(())
    })?;
    Ok(found.iter().map(|point| point.load(Relaxed)).collect())
}

/// Recovers what a victim of one point of a case leaves, and dies at each store of that.
fn one(run: &Run<'_>, case: &Case, k: u64, number: u64) -> Prepared<Tally> {
    let lane = run.lane(0);
    let Some(mut left) = lane.aftermath(case, k, number)? else {
        return Ok(Tally::default());
    };
    left.most = if case.is_thorough { case.most } else { MOST };
    run.points_of(&left, SAMPLE, ENDS)
}

fn stores_of(lane: &Lane<'_>, case: &Case) -> io::Result<u64> {
    case.image.store(lane.path())?;
    match lane.victim(case, 0)? {
        Outcome::Lived { stores } => Ok(stores),
        _ => Ok(0),
    }
}

/// Deaths one after the other: of a victim, of its finders.
struct Chain {
    case: usize,
    /// The victim's point.
    k: u64,
    /// The points of those who find what the one before left.
    finders: Vec<u64>,
}

/// Every point of short cases with a finder that dies early or late in its recovery; and random
/// points of random cases with up to three finders that die.
fn chains(run: &Run<'_>, cases: &[&Case], count: u64) -> Prepared<()> {
    let (began, faults) = (now_ns(), run.board.faults());
    let lane = run.lane(0);
    let mut sizes = Vec::new();
    for case in cases {
        sizes.push(stores_of(&lane, case)?);
    }
    let mut chains = short(&sizes, if run.args.every_point() { 1 } else { SPARE });
    let mut numbers = Numbers::new(run.args.seed);
    for _ in 0..count {
        chains.extend(random(&sizes, &mut numbers));
    }
    run.in_lanes(run.args.lanes, chains.len() as u64, |lane, turn| {
        let chain = &chains[turn as usize];
        let mut numbers = Numbers::new(turn ^ run.args.seed);
        follow(lane, cases[chain.case], chain, numbers.next(), &mut numbers)
    })?;
    println!(
        "  {:<44} {:>6} chains, {:>5} ms{}",
        "deaths during recovery from deaths",
        chains.len(),
        (now_ns() - began) / 1_000_000,
        super::told(run.board, faults)
    );
    Ok(())
}

fn short(sizes: &[u64], step: usize) -> Vec<Chain> {
    let short = sizes.iter().enumerate().filter(|(_, size)| **size <= SHORT);
    short
        .flat_map(|(case, size)| {
            (1..=*size).flat_map(move |k| {
                EARLY_AND_LATE.map(|finder| Chain {
                    case,
                    k,
                    finders: vec![finder],
                })
            })
        })
        .step_by(step)
        .collect()
}

fn random(sizes: &[u64], numbers: &mut Numbers) -> Option<Chain> {
    let case = numbers.below(sizes.len() as u64) as usize;
    if sizes[case] == 0 {
        return None;
    }
    let k = 1 + numbers.below(sizes[case]);
    // Small numbers are the more interesting ones, and there are enough large ones.
    let mut finder = || {
        let bound = 1 << (3 + numbers.below(10));
        1 + numbers.below(bound)
    };
    let finders = (0..=k % 3).map(|_| finder()).collect();
    Some(Chain { case, k, finders })
}

fn follow(
    lane: &Lane<'_>,
    case: &Case,
    chain: &Chain,
    turn: u64,
    numbers: &mut Numbers,
) -> io::Result<()> {
    case.image.store(lane.path())?;
    if lane.victim(case, chain.k)? != Outcome::Killed {
        return Ok(());
    }
    let Some(mut found) = lane.found(case, chain.k, numbers.next())? else {
        return Ok(());
    };
    for k in &chain.finders {
        if lane.victim(&found, *k)? != Outcome::Killed {
            return lane.survivor(&found, *k, turn);
        }
        match lane.found(&found, *k, numbers.next())? {
            Some(next) => found = next,
            None => return Ok(()),
        }
    }
    // Its own operation was not begun: what it found is what the survivor finds.
    let done = lane.board.lane(lane.number, Of::Acknowledged);
    done.store(0, Relaxed);
    lane.survivor(&found, 0, turn)
}

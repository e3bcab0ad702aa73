//! Deaths during recovery: what a victim left is recovered by one that is killed at each of its
//! stores in turn, and by chains of several that die at points drawn at random.

use super::case::{Case, Prepared};
use super::lane::{Lane, Outcome};
use super::survivor::Style;
use super::{Run, Tally, left};
use crate::board::Of;
use crate::system::now_ns;
use crate::value::Numbers;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::atomic::Ordering::Relaxed;

/// Cases of at most so many stores are short.
const SHORT: u64 = 100;
/// Where the finder of what a short case leaves dies: before it has recovered anything, and after.
const EARLY_AND_LATE: [u64; 3] = [25, 150, 700];
/// Of the chains of short cases, one in so many when a sample is wanted.
const SPARE: usize = 5;
/// Random chains of deaths, for each case, when every point is wanted and when a sample is.
const CHAINS: (usize, usize) = (270, 10);

/// The survivor of every so many chains compacts, when every point is wanted.
const COMPACTS: usize = 8;

/// Kinds of states from which recoveries were killed at every point.
pub(super) type Seen = BTreeSet<u64>;

/// Kills those who find what victims of a case left, at every point. `left`: the points of the case
/// and the kind of state each leaves.
pub(super) fn run(
    run: &Run<'_>,
    case: &Case,
    left: &[(u64, u64)],
    seen: &mut Seen,
) -> Prepared<Tally> {
    let lane = run.lane(0);
    let mut total = Tally::default();
    for k in states(run, case, left, seen) {
        if let Some(left) = lane.aftermath(case, k)? {
            total.add(run.points_of(&left)?.0);
        }
    }
    Ok(total)
}

/// The points whose victims leave what is recovered from. When every point is wanted: one, drawn,
/// of each kind of state that was not seen yet. In any case one that leaves the shard locked, but
/// for cases whose points take long.
fn states(run: &Run<'_>, case: &Case, left: &[(u64, u64)], seen: &mut Seen) -> Vec<u64> {
    if let Some(k) = run.args.point {
        return run.args.finder.map(|_| k).into_iter().collect();
    }
    let mut numbers = Numbers::new(run.args.seed ^ left.len() as u64);
    let mut draw = |points: &[u64]| points[numbers.below(points.len() as u64) as usize];
    let mut kinds = BTreeMap::<u64, Vec<u64>>::new();
    for (k, kind) in left {
        kinds.entry(*kind).or_default().push(*k);
    }
    let locked = kinds.iter().filter(|(kind, _)| left::is_locked(**kind));
    let locked = locked.flat_map(|(_, points)| points.iter().copied());
    let locked: Vec<u64> = locked.collect();
    let mut has_locked = locked.is_empty() || case.few && run.args.every_point();
    let mut drawn = Vec::new();
    if run.args.every_point() {
        for (kind, points) in kinds.iter().filter(|(kind, _)| seen.insert(**kind)) {
            has_locked |= left::is_locked(*kind);
            drawn.push(draw(points));
        }
    }
    if !has_locked {
        drawn.push(draw(&locked));
    }
    drawn
}

/// Deaths one after the other: of a victim, of its finders.
struct Chain {
    case: usize,
    /// The victim's point.
    k: u64,
    /// The points of those who find what the one before left.
    finders: Vec<u64>,
    /// Whether who survives in the end compacts.
    compacts: bool,
}

/// Every point of short cases with a finder that dies early or late in its recovery; and random
/// points of random cases with up to three finders that die.
pub(super) fn chains(run: &Run<'_>, cases: &[Case]) -> Prepared<()> {
    let every = run.args.every_point();
    let (began, faults) = (now_ns(), run.board.faults());
    let lane = run.lane(0);
    let mut sizes = Vec::new();
    for case in cases {
        sizes.push(lane.stores(case)?);
    }
    let mut chains = short(&sizes, if every { 1 } else { SPARE });
    let mut numbers = Numbers::new(run.args.seed);
    let each = if every { CHAINS.0 } else { CHAINS.1 };
    for _ in 0..each * cases.len() {
        chains.extend(random(&sizes, &mut numbers));
    }
    let compacting = chains.iter_mut().step_by(COMPACTS);
    compacting.for_each(|chain| chain.compacts = every);
    // They wait for locks of the dead, and for pages to grow old, more than they compute.
    run.in_lanes(4 * run.args.lanes, chains.len() as u64, |lane, turn| {
        let chain = &chains[turn as usize];
        let mut numbers = Numbers::new(turn ^ run.args.seed);
        follow(lane, &cases[chain.case], chain, &mut numbers)
    })?;
    println!(
        "  {:<44} {:>6} chains, {:>5} ms{}",
        "deaths during recovery from deaths",
        chains.len(),
        (now_ns() - began) / 1_000_000,
        super::describe_faults(run.board, faults)
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
                    compacts: false,
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
    Some(Chain {
        case,
        k,
        finders,
        compacts: false,
    })
}

fn follow(lane: &Lane<'_>, case: &Case, chain: &Chain, numbers: &mut Numbers) -> io::Result<()> {
    let outcome = lane.kill(case, chain.k)?;
    if outcome != Outcome::Killed {
        let what = format!("{}: point {} of a chain: {outcome:?}", case.name, chain.k);
        lane.board.fault(&what);
        return Ok(());
    }
    let Some(mut found) = lane.found(case, chain.k, numbers.next())? else {
        return Ok(());
    };
    let style = Style {
        compacts: chain.compacts,
        ..Style::drawn(numbers.next())
    };
    for k in &chain.finders {
        if lane.victim(&found, *k)? != Outcome::Killed {
            return lane.survivor(&found, *k, style);
        }
        match lane.found(&found, *k, numbers.next())? {
            Some(next) => found = next,
            None => return Ok(()),
        }
    }
    // Its own operation was not begun: what it found is what the survivor finds.
    let done = lane.board.lane(lane.number, Of::Acknowledged);
    done.store(0, Relaxed);
    lane.survivor(&found, 0, style)
}

//! The history checker: the real engine, readers and table with a simulated server and clock.
//!
//! All randomness comes from one seed. Messages take any time, but keep their order on each
//! connection; connections overtake each other; the server takes time for a turn and pushes at its
//! end. Connections are cut, with and without notice; daemons are paused, killed, and deposed by
//! the other at any moment; readers stop between any two steps. The history of all writes is
//! known, so each value that is read can be judged: was it the newest one at some moment within
//! the bound?
//!
//! The mistakes of [`crate::mistake`] must be found, which shows that the checker can find them.

mod daemon;
mod history;
mod random;
mod server;
mod world;

use crate::mistake::{Mistake, make};
use world::{Figures, World};

/// Seeds of one run. `TAVOLA_NEAR_SEEDS` replaces it.
const SEEDS: u64 = 8;
/// Simulated time for each seed.
const SPAN_US: u64 = 30_000_000;

fn seeds() -> u64 {
    let seeds = std::env::var("TAVOLA_NEAR_SEEDS");
    seeds.map_or(SEEDS, |seeds| seeds.parse().expect("a number"))
}

/// Runs worlds with a mistake until a value is too old. Returns the figures, and what was wrong.
fn run(mistake: Option<Mistake>, seeds: u64) -> (Figures, Option<String>) {
    make(mistake);
    let mut all = Figures::default();
    let mut wrong = None;
    for seed in 0..seeds {
        let (figures, found) = World::new(seed).run(SPAN_US);
        all.add(&figures);
        if let Some(found) = found {
            wrong = Some(format!("seed {seed}: {found}"));
            break;
        }
    }
    make(None);
    (all, wrong)
}

#[test]
fn no_value_is_older_than_the_bound() {
    let (figures, wrong) = run(None, seeds());
    println!("{figures:?}");
    assert_eq!(wrong, None);
    // The cache worked, and everything that can happen has happened.
    assert!(figures.hits * 4 > figures.reads, "{figures:?}");
    let rare = [
        figures.answers,
        figures.cuts,
        figures.pauses,
        figures.kills,
        figures.takeovers,
        figures.flushes,
        figures.expired,
    ];
    assert!(rare.iter().all(|count| *count > 5), "{figures:?}");
}

#[test]
fn the_same_seed_gives_the_same_history() {
    let mut worlds = [World::new(3), World::new(3)].map(|mut world| world.run(2_000_000).0);
    let [one, other] = &mut worlds;
    assert_eq!(format!("{one:?}"), format!("{other:?}"));
}

/// Seeds that a mistake gets before it counts as not found.
const SEEDS_OF_MISTAKES: u64 = 60;

fn is_found(mistake: Mistake) -> bool {
    let (figures, wrong) = run(Some(mistake), SEEDS_OF_MISTAKES);
    println!("{mistake:?}: {wrong:?} after {} reads", figures.reads);
    wrong.is_some()
}

#[test]
fn a_fill_that_ignores_the_generation_is_found() {
    assert!(is_found(Mistake::IgnoresGeneration));
}

#[test]
fn trust_from_the_last_beat_is_found() {
    assert!(is_found(Mistake::TrustsLastBeat));
}

#[test]
fn a_reader_without_a_clock_is_found() {
    assert!(is_found(Mistake::ReadsNoClock));
}

#[test]
fn an_answer_without_a_deadline_is_found() {
    assert!(is_found(Mistake::AnswersWithoutDeadline));
}

#[test]
fn an_epoch_that_survives_a_lost_connection_is_found() {
    assert!(is_found(Mistake::KeepsEpoch));
}

#[test]
fn an_epoch_that_survives_a_takeover_is_found() {
    assert!(is_found(Mistake::KeepsEpochOfOthers));
}

#[test]
fn a_fill_before_tracking_is_confirmed_is_found() {
    assert!(is_found(Mistake::FillsUnconfirmed));
}

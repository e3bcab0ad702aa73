//! The toy log without a mistake survives everything; with one, the shortest history that shows it
//! is found and printed.

use super::super::simulated::check::{CutChoices, CutCount};
use super::super::simulated::choice::RandomChoice;
use super::super::simulated::count_of;
use super::lives::Operation::{
    Append, AppendFailedSync, AppendPair, AppendShortWrite, Restart, Snapshot,
};
use super::lives::{Life, Operation, check_lives};
use super::toy_log::Mistake;

/// A record within a sector, and one in two sectors.
const OPERATIONS: [Operation; 7] = [
    Append(40),
    Append(600),
    Snapshot,
    AppendPair(500),
    AppendFailedSync(600),
    Restart,
    AppendShortWrite(600),
];

/// Returns all scripts of so many operations.
fn scripts(len: usize) -> Vec<Vec<Operation>> {
    let mut scripts = vec![Vec::new()];
    for _ in 0..len {
        let longer = |script: &Vec<Operation>| {
            let script = script.clone();
            OPERATIONS.map(move |operation| [&script[..], &[operation]].concat())
        };
        scripts = scripts.iter().flat_map(longer).collect();
    }
    scripts
}

fn exhaustive(script: &[Operation], limit: usize) -> Life<'_> {
    let choices = CutChoices::Exhaustive { limit };
    Life { script, choices }
}

#[test]
fn without_a_mistake_all_outcomes_of_short_histories_are_survived() {
    let mut count = CutCount::default();
    for script in (1..=count_of(4, 2)).flat_map(scripts) {
        let lives = [exhaustive(&script, 100_000)];
        if let Err(story) = check_lives(&lives, None, &mut count) {
            panic!("{script:?}: {story}");
        }
    }
    println!("{count:?}");
    assert_eq!(count.unfinished, 0);
    assert!(count.cuts > count_of(100_000, 1000), "{count:?}");
}

#[test]
fn without_a_mistake_two_and_three_lives_are_survived() {
    let mut count = CutCount::default();
    for (first, second) in
        (scripts(count_of(2, 1)).iter()).flat_map(|a| OPERATIONS.map(|b| (a.clone(), b)))
    {
        let second = [second];
        let lives = [exhaustive(&first, 20), exhaustive(&second, 20)];
        if let Err(story) = check_lives(&lives, None, &mut count) {
            panic!("{first:?}, {second:?}: {story}");
        }
    }
    let [first, second] = [[AppendPair(500), Snapshot], [AppendPair(40), Append(600)]];
    let third = [Append(40)];
    let lives = [
        exhaustive(&first, 12),
        exhaustive(&second, 12),
        exhaustive(&third, 12),
    ];
    if let Err(story) = check_lives(&lives, None, &mut count) {
        panic!("{story}");
    }
    println!("{count:?}");
}

#[test]
fn without_a_mistake_random_long_histories_are_survived() {
    let mut count = CutCount::default();
    for seed in 0..count_of(60, 2) as u64 {
        let mut random = RandomChoice::new(seed);
        let mut script = || -> Vec<Operation> {
            let len = 4 + random.below(12);
            (0..len)
                .map(|_| OPERATIONS[random.below(OPERATIONS.len() as u64) as usize])
                .collect()
        };
        let (first, second) = (script(), script());
        let life = |script, count| Life {
            script,
            choices: CutChoices::Random { seed, count },
        };
        let lives = [life(&first, 3), life(&second, 2)];
        if let Err(story) = check_lives(&lives, None, &mut count) {
            panic!("seed {seed}, {first:?}, {second:?}: {story}");
        }
    }
    println!("{count:?}");
}

/// Returns the shortest script that shows a mistake, and the story. With two lives, each runs a
/// script.
fn find(mistake: Mistake, lives: usize, count: &mut CutCount) -> Option<(String, String)> {
    for len in 1..=4 {
        for first in scripts(len) {
            // What is left for the other life, whose first operation is the last of the script.
            let (first, second) = first.split_at(if lives == 1 { len } else { len / 2 });
            let lives = [exhaustive(first, 500), exhaustive(second, 200)];
            let used = lives.iter().filter(|life| !life.script.is_empty());
            let used: Vec<Life<'_>> = used.copied().collect();
            if let Err(story) = check_lives(&used, Some(mistake), count) {
                return Some((format!("{first:?} {second:?}"), story));
            }
        }
    }
    None
}

/// Finds a mistake, by the shortest script.
fn assert_found(mistake: Mistake, lives: usize, script: &str) {
    let mut count = CutCount::default();
    let Some((shortest, story)) = find(mistake, lives, &mut count) else {
        panic!("{mistake:?} was not found in {count:?}");
    };
    println!("{mistake:?}: {shortest}\n{story}\nbefore: {count:?}");
    assert_eq!(shortest, script);
}

#[test]
fn acknowledging_before_the_sync_is_found() {
    let script = "[Append(40)] []";
    assert_found(Mistake::AcknowledgeBeforeSync, 1, script);
}

#[test]
fn renaming_before_the_file_is_synced_is_found() {
    let script = "[Append(40), Snapshot] []";
    assert_found(Mistake::RenameBeforeSync, 1, script);
}

#[test]
fn a_new_name_that_is_not_synced_is_found() {
    let script = "[Append(40)] []";
    assert_found(Mistake::NoSyncOfNewName, 1, script);
}

#[test]
fn removing_before_the_new_name_is_synced_is_found() {
    let script = "[Append(40), Snapshot, Append(40), Snapshot] []";
    assert_found(Mistake::RemoveBeforeSyncOfName, 1, script);
}

#[test]
fn appending_behind_a_torn_tail_is_found() {
    let script = "[Append(40)] [Append(40)]";
    assert_found(Mistake::AppendBehindTornTail, 2, script);
}

#[test]
fn writing_over_a_torn_tail_that_stays_is_found() {
    let script = "[AppendPair(500)] [AppendPair(500)]";
    assert_found(Mistake::KeepTornTail, 2, script);
}

#[test]
fn a_record_without_a_checksum_is_found() {
    let script = "[Append(600)] []";
    assert_found(Mistake::NoChecksum, 1, script);
}

#[test]
fn a_checksum_without_the_position_is_found() {
    let script = "[Append(40), Snapshot] []";
    assert_found(Mistake::NoPosition, 1, script);
}

#[test]
fn trusting_a_second_sync_is_found() {
    let script = "[AppendFailedSync(600)] []";
    assert_found(Mistake::SyncAgainAfterFailure, 1, script);
}

#[test]
fn trusting_the_cache_after_a_failed_sync_is_found() {
    let script = "[AppendFailedSync(600), Restart, Append(40)] []";
    assert_found(Mistake::TrustCacheAfterFailure, 1, script);
}

#[test]
fn acknowledging_by_a_sync_that_began_earlier_is_found() {
    let script = "[AppendPair(500)] []";
    assert_found(Mistake::AcknowledgeByEarlierSync, 1, script);
}

//! Flipped bits in the counts and lists of a cache, and values of all sizes: whatever a count says,
//! every operation ends within a bound of work. Then there is room again, and a repair leaves a
//! clean cache.
//!
//! These counts are derived from the index. A loop that runs until one of them rises never ends
//! if the count is wrong.

use crate::support::flips::{Flips, assert_none, follow_all, try_each};
use crate::support::format::{self, Image};
use crate::support::part::{Actor, play};
use crate::support::patience::HANG_S;
use crate::support::process::{alarm, alarm_of_work};
use crate::support::{Dir, assert_clean, value_of, version_of};
use std::path::Path;
use tavola::{Error, Table};

const MIB: u64 = 1 << 20;
const CAPACITY: u64 = 2 * MIB;
/// Lengths of values: some classes of blocks, the largest block, and pages of chains that share a
/// page with their block and that do not.
const LENS: [usize; 18] = [
    1, 8, 40, 300, 1_500, 3_500, 6_000, 9_000, 15_900, 16_150, 16_400, 33_000, 49_000, 59_000,
    60_000, 61_000, 90_000, 150_000,
];
/// Rounds of one value of each length.
const FILL: u64 = 16;
const ROUNDS: u64 = 2;
/// An operation takes less than a millisecond of work, one that rebuilds counts a few.
const MOST_WORK_S: i64 = 2;

fn key_of(number: u64) -> Vec<u8> {
    format!("key#{number:08}").into_bytes()
}

fn build(path: &Path, shards: u32) {
    let options = Table::options().capacity(CAPACITY).max_size(4 * MIB);
    let table = options.shards(shards).create(path).unwrap();
    for number in 0..FILL * LENS.len() as u64 {
        set(&table, number, 1).unwrap();
        // Some pages are full and some nearly empty.
        if number % 5 == 0 {
            table.remove(key_of(number)).unwrap();
        }
    }
    assert!(table.stats().unwrap().evicted_new > 0);
    assert_clean(&table);
}

fn set(table: &Table, number: u64, version: u64) -> tavola::Result<()> {
    let (key, len) = (key_of(number), LENS[number as usize % LENS.len()]);
    table.set(&key, value_of(&key, version, len))
}

/// Runs one operation and ends the process if that takes too much work.
fn bounded<T>(operation: impl FnOnce() -> T) -> T {
    alarm_of_work(MOST_WORK_S);
    let outcome = operation();
    alarm_of_work(0);
    outcome
}

fn use_for_a_while(table: &Table, version: u64, is_repaired: bool) {
    let (first, count) = (version * 10_000, ROUNDS * LENS.len() as u64);
    for number in first..first + count {
        let key = key_of(number);
        let is_late = number >= first + count - LENS.len() as u64;
        match bounded(|| set(table, number, version)) {
            Ok(()) => {}
            Err(Error::Corrupt { .. }) if !is_repaired => continue,
            Err(Error::Full { .. }) if !is_repaired && !is_late => continue,
            Err(error) => panic!("set {number}: {error}"),
        }
        match bounded(|| table.get(&key)) {
            Ok(Some(value)) => assert_eq!(version_of(&key, &value), Some(version), "{number}"),
            Ok(None) => panic!("{number} is gone at once"),
            Err(Error::Corrupt { .. }) if !is_repaired => {}
            Err(error) => panic!("get {number}: {error}"),
        }
        if number % 4 == 0 {
            match bounded(|| table.remove(&key)) {
                Ok(_) => {}
                Err(Error::Corrupt { .. }) if !is_repaired => {}
                Err(error) => panic!("remove {number}: {error}"),
            }
        }
    }
}

fn try_flip(path: &Path, index: usize) {
    let table = Table::open(path).unwrap();
    let is_corrupt = |error: &Error| matches!(error, Error::Corrupt { .. });
    use_for_a_while(&table, 2, false);
    // Of what else has loops, a part each time. (Compacting waits for the grace of pages.)
    let outcome = match index % 13 {
        0..5 => bounded(|| table.maintain(0)).map(drop),
        5 => bounded(|| table.compact()).map(drop),
        6..9 => bounded(|| table.clear()),
        _ => table
            .set_capacity(CAPACITY / 2)
            .and_then(|()| bounded(|| table.maintain(0)))
            .and_then(|_| table.set_capacity(CAPACITY)),
    };
    assert!(outcome.is_ok() || outcome.is_err_and(|error| is_corrupt(&error)));
    bounded(|| table.check()).unwrap();
    bounded(|| table.repair()).unwrap();
    assert_clean(&table);
    use_for_a_while(&table, 3, true);
    assert_clean(&table);
}

/// The words that are flipped: all of a shard's head behind its directory.
fn places(image: &Image) -> Vec<(&'static str, Vec<u64>)> {
    let words = |from: u64, until: u64| {
        let heads = (0..image.shards()).map(|number| image.shard(number));
        let of = |head: u64| (head + from..head + until).step_by(4);
        heads.flat_map(of).collect::<Vec<u64>>()
    };
    vec![
        ("classes", words(format::CLASSES, format::LEVELS)),
        ("counts", words(format::COUNTERS, format::CLASSES)),
        ("levels", words(format::LEVELS, format::UIDS_USED)),
        ("the rest", words(format::UIDS_USED, format::SHARD)),
        (
            "pool",
            (format::POOL..format::HIGH_WATER + 64).step_by(4).collect(),
        ),
    ]
}

/// The bits of a word that are tried: some small steps, and a number that is far too large.
fn bits_of(words: &[u64]) -> Vec<(u64, u32)> {
    let wanted = Flips::wanted();
    let bits: Vec<u32> = match wanted {
        Flips::Every => (0..32).collect(),
        Flips::Few | Flips::Quarter | Flips::Sample => vec![0, 9, 31],
    };
    let mut all = Vec::new();
    for at in words {
        all.extend(bits.iter().map(|bit| (at + u64::from(bit / 8), bit % 8)));
    }
    wanted.of(all)
}

/// An actor: tries the flips of one place from some number on.
fn flipper(args: &[String]) {
    let [template, place, from] = args else {
        panic!("three arguments");
    };
    let original = Image::read(Path::new(template));
    let all = places(&original);
    let (_, words) = all.iter().find(|(name, _)| name == place).unwrap();
    let path = Path::new(template).with_extension(place);
    try_each(&bits_of(words), from.parse().unwrap(), |index, at, bit| {
        let mut image = Image {
            bytes: original.bytes.clone(),
        };
        image.flip(at, bit);
        image.write(&path);
        alarm(HANG_S);
        try_flip(&path, index);
    });
}

fn flip_all(test: &str, shards: u32) {
    let dir = Dir::new();
    let template = dir.table("template");
    build(&template, shards);
    let template = template.to_str().unwrap();
    let of_place = |place: &str| {
        let mut failures = Vec::new();
        follow_all(place, &mut failures, |from| {
            Actor::start(test, "flipper", &[template, place, &from.to_string()])
        });
        failures
    };
    // All places at once: most of the time they wait for room that does not come.
    let failures = std::thread::scope(|scope| {
        let places = places(&Image::read(Path::new(template)));
        let of_places = places
            .iter()
            .map(|(place, _)| scope.spawn(|| of_place(place)));
        let of_places: Vec<_> = of_places.collect();
        of_places
            .into_iter()
            .flat_map(|one| one.join().unwrap())
            .collect::<Vec<_>>()
    });
    assert_none(&failures);
}

#[test]
fn no_count_keeps_an_operation_from_its_end() {
    play(&[("flipper", flipper)]);
    flip_all("no_count_keeps_an_operation_from_its_end", 1);
}

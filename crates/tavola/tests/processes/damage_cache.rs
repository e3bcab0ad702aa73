//! Flipped bits, one at a time, in all that a cache has beside what a table has. Whatever a bit
//! does: no crash, no hang, no value that its key did not have, room for other keys, and after a
//! repair a clean cache within its capacity.

use crate::support::flips::{Flips, assert_none, follow_all, try_each};
use crate::support::format::{self, Image};
use crate::support::part::{Actor, play};
use crate::support::patience::HANG_S;
use crate::support::process::alarm;
use crate::support::{Dir, Random, assert_clean, value_of, version_of};
use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;
use tavola::{Error, Table};

const MIB: u64 = 1 << 20;
const KEYS: u64 = 14_000;
/// The sample of a place that has more bits.
const MOST: u64 = 160;
const STATES: &str = "states of slots";
/// Writes after a flip, of which the last ones must find room.
const WRITES: u64 = 700;
const LAST: u64 = 500;

fn key_of(number: u64) -> Vec<u8> {
    format!("key#{number:08}").into_bytes()
}

fn len_of(number: u64, version: u64) -> usize {
    match (number + version) % 50 {
        0 => 20_000,
        1..4 => 3_000,
        4..10 => 400,
        _ => 16 + 2 * (number % 40) as usize,
    }
}

fn set(table: &Table, number: u64, version: u64) -> tavola::Result<()> {
    let key = key_of(number);
    table.set(&key, value_of(&key, version, len_of(number, version)))
}

/// A cache with keys of both kinds, ghosts, and pages it gives up.
fn build(path: &Path, shards: u32) {
    let options = Table::options().capacity(2 * MIB).max_size(4 * MIB);
    let table = options.shards(shards).create(path).unwrap();
    for number in 0..KEYS {
        set(&table, number, 1).unwrap();
        if number % 3 == 0 {
            table.get(key_of(number)).unwrap();
        }
    }
    for number in KEYS - 3000..KEYS {
        if !table.contains(key_of(number)).unwrap() {
            set(&table, number, 1).unwrap();
        }
    }
    table.set_capacity(2 * MIB - 256 * 1024).unwrap();
    table.maintain(0).unwrap();
    let stats = table.stats().unwrap();
    assert!(stats.evicted_new > 100 && stats.ghost_hits > 0, "{stats:?}");
    assert!(stats.probationary_bytes < stats.payload_bytes);
    assert_clean(&table);
}

struct Place {
    name: &'static str,
    words: Vec<Range<u64>>,
}

impl Place {
    /// Bytes and bits: a sample if there are many.
    fn bits(&self) -> Vec<(u64, u32)> {
        let wanted = Flips::wanted();
        let all = self.words.iter().cloned().flatten();
        let all: Vec<(u64, u32)> = all
            .flat_map(|at| (0..8).map(move |bit| (at, bit)))
            .collect();
        if wanted == Flips::Every || all.len() as u64 <= MOST {
            return wanted.of(all);
        }
        let mut random = Random::new(all.len() as u64);
        let one = |_| all[random.below(all.len() as u64) as usize];
        wanted.of((0..MOST).map(one).collect())
    }
}

fn places(image: &Image) -> Vec<Place> {
    let place = |name, words| Place { name, words };
    let words = |at: Vec<u64>, len: u64| at.into_iter().map(|at| at..at + len).collect::<Vec<_>>();
    let heads: Vec<u64> = (0..image.shards()).map(|n| image.shard(n)).collect();
    let in_heads = |from: u64, len| words(heads.iter().map(|head| head + from).collect(), len);
    let buckets = image.pages(format::SEGMENT).into_iter();
    let buckets: Vec<u64> = buckets
        .flat_map(|page| (0..256).map(move |n| page * format::PAGE + 64 * n))
        .collect();
    let slots = buckets
        .iter()
        .flat_map(|at| (1..8).map(move |n| at + 8 * n));
    let is_ghost = |at: &u64| {
        let made = image.word64(*at) & ((1 << 40) - 1);
        (1..format::GHOSTS).contains(&made)
    };
    let ghosts: Vec<u64> = slots.filter(is_ghost).collect();
    assert!(ghosts.len() > 50, "{} ghosts", ghosts.len());
    assert!(image.word32(format::SURPLUS) != 0, "no page is given up");
    let given_up = image.page_word_at(u64::from(image.word32(format::SURPLUS)));
    vec![
        place("capacity", words(vec![format::CAPACITY], 8)),
        place("overhead", words(vec![format::OVERHEAD], 8)),
        place("list of pages given up", words(vec![format::SURPLUS], 8)),
        place("first page given up", words(vec![given_up], 8)),
        place("pool lists", words(vec![format::POOL + 4], 28)),
        place("keys and bytes", in_heads(584, 16)),
        place("probationary", in_heads(format::PROBATIONARY, 8)),
        place("hands", in_heads(format::HANDS, 16)),
        place("epoch", in_heads(format::EPOCH, 8)),
        place("last sample", words(vec![format::SAMPLED], 8)),
        place("samples", words(vec![image.samples()], format::SAMPLES_LEN)),
        place(
            "times",
            words(
                vec![image.samples() + format::SAMPLES_LEN],
                format::TIMES_LEN,
            ),
        ),
        place(STATES, words(buckets.iter().map(|at| at + 4).collect(), 4)),
        place("ghosts", words(ghosts, 8)),
    ]
}

/// A cache with a flipped bit, and the versions its keys may have.
struct Trial<'a> {
    table: &'a Table,
    versions: HashMap<u64, Vec<u64>>,
    is_repaired: bool,
    /// Old values may come back.
    hides_keys: bool,
}

impl Trial<'_> {
    fn may_fail(&self, error: &Error) -> bool {
        matches!(error, Error::Corrupt { .. }) && !self.is_repaired
    }

    fn read_all(&self) {
        for number in 0..KEYS + WRITES {
            let key = key_of(number);
            match self.table.get(&key) {
                Ok(None) => {}
                Ok(Some(value)) => {
                    let version = version_of(&key, &value);
                    let version = version.unwrap_or_else(|| panic!("{number}: a wrong value"));
                    let may = self.versions.get(&number);
                    let is_right = may.map_or(version == 1, |may| may.contains(&version));
                    assert!(is_right, "{number}: version {version} of {may:?}");
                }
                Err(error) => assert!(self.may_fail(&error), "{error}"),
            }
        }
    }

    /// New keys and old ones; in the end there is room.
    fn write(&mut self, version: u64) {
        for step in 0..WRITES {
            let number = match step % 2 {
                0 => KEYS + step,
                _ => KEYS - 7 * step,
            };
            let mays = self.versions.entry(number).or_insert(vec![1]);
            match set(self.table, number, version) {
                Ok(()) if self.hides_keys && !self.is_repaired => mays.push(version),
                Ok(()) => *mays = vec![version],
                Err(error) => {
                    mays.push(version);
                    let is_full = matches!(error, Error::Full { .. });
                    let may = is_full && step < LAST && !self.is_repaired;
                    assert!(may || self.may_fail(&error), "write {step}: {error}");
                }
            }
        }
    }
}

/// Whether a flip there may hide a key, which is set again then: until a repair the old one may
/// come back. Away bits and hints do; the states beside them, which say what a key is worth, do
/// not.
fn hides_keys(place: &str, at: u64, bit: u32) -> bool {
    let is_away_bit = bit % 4 == 3;
    let is_hint = at % 4 == 3 && bit >= 4;
    place == STATES && (is_away_bit || is_hint)
}

fn try_flip(path: &Path, repairs_first: bool, is_capacity: bool, hides_keys: bool) {
    let table = Table::open(path).unwrap();
    let mut trial = Trial {
        table: &table,
        versions: HashMap::new(),
        is_repaired: false,
        hides_keys,
    };
    if !repairs_first {
        trial.read_all();
        trial.write(2);
        trial.read_all();
        table.check().unwrap();
        table.stats().unwrap();
        table.latencies().unwrap();
        let _ = table.maintain(0);
        trial.write(3);
    }
    table.repair().unwrap();
    trial.is_repaired = true;
    assert_clean(&table);
    trial.read_all();
    trial.write(4);
    trial.read_all();
    table.maintain(0).unwrap();
    assert_clean(&table);
    let stats = table.stats().unwrap();
    let capacity = stats.capacity.expect("a capacity");
    assert!(is_capacity || capacity == 2 * MIB - 256 * 1024);
    let keys = table.len().unwrap();
    assert!(keys > 500, "{keys} keys are left");
}

/// An actor: tries the flips of one place from some number on.
fn flipper(args: &[String]) {
    let [template, place, from] = args else {
        panic!("three arguments");
    };
    let original = Image::read(Path::new(template));
    let all = places(&original);
    let place = all.iter().find(|found| found.name == place).unwrap();
    let path = Path::new(template).with_extension("flipped");
    try_each(&place.bits(), from.parse().unwrap(), |index, at, bit| {
        let mut image = Image {
            bytes: original.bytes.clone(),
        };
        image.flip(at, bit);
        image.write(&path);
        alarm(HANG_S);
        let hides_keys = hides_keys(place.name, at, bit);
        try_flip(&path, index % 2 == 0, place.name == "capacity", hides_keys);
    });
}

fn flip_all(test: &str, shards: u32) {
    let dir = Dir::new();
    let template = dir.table("template");
    build(&template, shards);
    let mut failures = Vec::new();
    for place in places(&Image::read(&template)) {
        follow_all(place.name, &mut failures, |from| {
            let args = [template.to_str().unwrap(), place.name, &from.to_string()];
            Actor::start(test, "flipper", &args)
        });
    }
    assert_none(&failures);
}

#[test]
fn flips_in_a_cache() {
    play(&[("flipper", flipper)]);
    flip_all("flips_in_a_cache", 1);
}

#[test]
fn flips_in_a_cache_of_several_shards() {
    play(&[("flipper", flipper)]);
    flip_all("flips_in_a_cache_of_several_shards", 4);
}

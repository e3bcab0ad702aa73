//! Tables with everything in them, and bits of them flipped one at a time.
//!
//! Whatever a bit does: no crash, no hang, never a value that its key did not have (except a key
//! whose own bytes were changed), and after a repair a clean table that takes writes. The first
//! half of the flips of a part is repaired at once; where the part is derived from the index, no
//! key may be lost. The second half is used for a while first.
//!
//! A key that has expired stays missing, and flags and times are those of their keys. Two things
//! are allowed beside that. The key whose time was changed is there, with its own value, or not.
//! What is beside the table and whose name was changed is not found by it. A change of the
//! clock is noticed and allows nothing.

use super::flips::Flips;
use super::format::{Image, Item, PAGE};
use super::part::{Actor, End, say};
use super::patience::HANG_S;
use super::process::alarm;
use super::trial::{Hints, Trial};
use super::{Dir, Random, assert_clean, beside, leased, mortal, value_of};
use std::collections::HashMap;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use tavola::{Error, Hint, Table};

const KEY_LEN: usize = 16;
const PREFIX: &[u8] = b"key#";
/// Keys set by [`build`] that are no counters.
const KEYS: u64 = 240;
const COUNTERS: Range<u64> = 2000..2010;
/// Of each shard, keys that had uids before all others: more than two chunks of them.
const WORN: u64 = 4300;

/// What a key may answer: its value, and, where a write failed half-way, the other one.
pub type Model = HashMap<Vec<u8>, Vec<Vec<u8>>>;

/// One flipped bit makes none of these keys another of them.
pub fn key_of(number: u64) -> Vec<u8> {
    format!("key#{number:06}{:06}", 999_999 - number).into_bytes()
}

/// A value of a key, as long as those of that shape are: words, long ones, the longest in a block,
/// chains.
pub fn value(number: u64, version: u64, shape: u64) -> Vec<u8> {
    let len = match shape % 40 {
        0 => 40_000,
        1 | 2 => 3_000,
        3 => 16_330,
        4 => 16_153,
        5..=9 => return value_of(&key_of(number), version, 16).split_off(8),
        n => 16 + 4 * n,
    };
    value_of(&key_of(number), version, len as usize)
}

/// A table with everything in it: two segments and more, slabs of many classes, counters, chains,
/// free pages and unbacked ones; uids of two keys of three, chunks of them partly free, one given
/// back; keys that expire, have expired, have flags; leases; a pool of queues and a log.
pub fn build(path: &Path, shards: u32) {
    let table = Table::options()
        .max_size(4 << 20)
        .shards(shards)
        .create(path)
        .unwrap();
    wear_uids(&table, u64::from(shards));
    for number in 1000..1040 {
        table.set(key_of(number), vec![1; 20_000]).unwrap();
    }
    for number in 1000..1020 {
        table.remove(key_of(number)).unwrap();
    }
    table.compact().unwrap();
    for number in 0..KEYS {
        let (key, value) = (key_of(number), value(number, 1, number));
        match number % 3 {
            0 => drop(table.set_uid(&key, &value).unwrap()),
            _ => table.set(&key, &value).unwrap(),
        }
    }
    for number in (0..KEYS).filter(|number| number % 3 == 1) {
        table.uid_of(key_of(number)).unwrap();
    }
    for number in COUNTERS {
        table.incr(key_of(number), number).unwrap();
        if number % 2 == 0 {
            table.uid_of(key_of(number)).unwrap();
        }
    }
    for tiny in 0..2500u64 {
        table.set(tiny.to_le_bytes(), b"").unwrap();
    }
    for number in 1020..1040 {
        table.remove(key_of(number)).unwrap();
    }
    beside::build(&table);
    let naming = Table::options().uids(true).open_existing(path).unwrap();
    mortal::build(&table, &naming);
    leased::build(&Table::open(path).unwrap());
    assert_clean(&table);
}

/// The numbers of the keys that keep the uids they got first: some of the first chunk, some of the
/// third.
fn worn(shards: u64) -> impl Iterator<Item = u64> {
    let count = WORN * shards;
    (0..count).filter(move |n| (n % 100 == 0 && *n < 1000 * shards) || *n >= count - 5 * shards)
}

/// Gives out the uids of three chunks, and takes nearly all back: the second chunk is given back.
fn wear_uids(table: &Table, shards: u64) {
    let kept: Vec<u64> = worn(shards).collect();
    let key = |n: u64| match kept.binary_search(&n) {
        Ok(_) => key_of(10_000 + n),
        Err(_) => format!("was#{n:012}").into_bytes(),
    };
    for n in 0..WORN * shards {
        table.set_uid(key(n), value(10_000 + n, 1, 10)).unwrap();
    }
    for n in (0..WORN * shards).filter(|n| !kept.contains(n)) {
        assert!(table.remove(key(n)).unwrap());
    }
}

fn model_of(shards: u64) -> Model {
    let sets = (0..KEYS).map(|number| (number, value(number, 1, number)));
    let worn = worn(shards).map(|n| (10_000 + n, value(10_000 + n, 1, 10)));
    let counts = COUNTERS.map(|number| (number, number.to_string().into_bytes()));
    let all = sets.chain(worn).chain(counts);
    let all = all.map(|(number, value)| (key_of(number), vec![value]));
    all.chain(mortal::KEYS.map(|number| {
        let value = mortal::lives(number).then(|| mortal::value_at_first(number));
        (key_of(number), value.into_iter().collect())
    }))
    .collect()
}

/// As the model, except a key whose time was changed: it may be there with its value, or not.
fn retimed(model: &Model, keys: &[&[u8]]) -> Model {
    let mut model = model.clone();
    let is_among = |number: &u64| keys.contains(&&key_of(*number)[..]);
    for number in mortal::KEYS.filter(is_among) {
        model.insert(key_of(number), vec![mortal::value_at_first(number)]);
    }
    model
}

/// The items of the table whose keys are known, freed ones too.
pub fn items_of(image: &Image) -> Vec<Item> {
    image.items(PREFIX, KEY_LEN)
}

/// The items that uids lead to.
pub fn named_items(image: &Image) -> Vec<Item> {
    let mut found = Vec::new();
    for (at, uid, item) in image.uid_entries() {
        let Some(item) = item else { continue };
        let field = item.uid_at.map(|at| image.word32(at));
        assert_eq!(field, Some(uid as u32), "the entry at {at}");
        found.push(item);
    }
    found
}

/// A part of the region: bits to flip, and how many keys a repair may lose by one of them.
pub struct Place {
    pub name: &'static str,
    pub bytes: Vec<Range<u64>>,
    flips: u64,
    may_lose: usize,
}

/// Any number of keys may be lost.
pub const MANY: usize = usize::MAX;
/// The counter of generations: a change of it cannot be noticed.
pub const BIRTHS: &str = "uid births";
/// What keys have beside their values: these stay as they are.
pub const TIMES: &str = "times of expiry";
pub const FLAGS: &str = "flags of keys";
/// Of what is beside the table.
pub const EXTENT_NAMES: &str = "names of extents";

impl Place {
    pub fn new(name: &'static str, bytes: Vec<Range<u64>>, flips: u64, may_lose: usize) -> Self {
        Self {
            name,
            bytes,
            flips,
            may_lose,
        }
    }

    /// The flips: all bits where there are few, of very few each twice, so that it is repaired at
    /// once and used first; else a choice that is always the same.
    fn bits(&self) -> Vec<(u64, u32)> {
        let total: u64 = self.bytes.iter().map(|range| range.end - range.start).sum();
        let at = |mut byte: u64| {
            for range in &self.bytes {
                let len = range.end - range.start;
                if byte < len {
                    return range.start + byte;
                }
                byte -= len;
            }
            unreachable!("a byte past the end")
        };
        let wanted = Flips::wanted();
        if wanted == Flips::Every || total * 8 <= self.flips {
            let times = 1 + u64::from(total * 16 <= self.flips);
            return wanted.of((0..total * 8 * times)
                .map(|n| n / times)
                .map(|bit| (at(bit / 8), (bit % 8) as u32))
                .collect());
        }
        let mut random = Random::new(total);
        let sample = (0..self.flips)
            .map(|_| (at(random.below(total)), random.below(8) as u32))
            .collect();
        wanted.of(sample)
    }
}

/// Ranges of that length.
pub fn words(at: impl IntoIterator<Item = u64>, len: u64) -> Vec<Range<u64>> {
    at.into_iter().map(|at| at..at + len).collect()
}

/// Where the pages of a state begin.
pub fn starts(image: &Image, state: u64) -> Vec<u64> {
    image.pages(state).iter().map(|page| page * PAGE).collect()
}

fn try_flip(
    path: &Path,
    model: &Model,
    hints: &Hints,
    touched: &[&[u8]],
    place: &Place,
    index: u64,
) {
    let table = match Table::open(path) {
        Ok(table) => table,
        Err(Error::NotATable { .. } | Error::Version { .. } | Error::Endianness { .. }) => return,
        Err(error) => panic!("{error}"),
    };
    let model = match place.name {
        TIMES => &retimed(model, touched),
        _ => model,
    };
    let mut trial = Trial::new(&table, model, hints, touched);
    if [TIMES, FLAGS].contains(&place.name) {
        trial.demand_values();
    }
    if place.name == BIRTHS {
        trial.let_generations_repeat();
    }
    if index.is_multiple_of(2) {
        trial.repair();
        let lost = trial.read_all();
        assert!(lost <= place.may_lose, "{lost} keys lost");
        beside::assert_are_there(&table, place.name != EXTENT_NAMES);
    } else {
        trial.read_all();
        trial.read_by_uids();
        trial.walk();
        table.stats().unwrap();
        table.len().unwrap();
        table.check().unwrap();
        trial.use_for_a_while(index);
        trial.read_all();
        trial.read_by_uids();
        trial.walk();
        trial.repair();
        trial.read_all();
    }
    trial.read_by_uids();
    trial.name_all();
    trial.walk();
    trial.use_for_a_while(index + 1);
    trial.read_all();
    trial.read_by_uids();
    assert_clean(&table);
    table.set(b"after all", b"value").unwrap();
    assert_eq!(table.get(b"after all").unwrap().unwrap(), b"value");
}

/// The names of the places of a group.
pub type Places = fn(&Image, &str) -> Vec<Place>;

/// The part of an actor: tries the flips of one place from some number on. Tells each before it is
/// tried.
pub fn flip(args: &[String], places: Places) {
    let [template, group, place, from] = args else {
        panic!("four arguments");
    };
    let original = Image::read(Path::new(template));
    let all = places(&original, group);
    let place = all.iter().find(|found| found.name == place).unwrap();
    let named = named_items(&original);
    let hint_of = |item: &Item| Hint::from_bits(original.word64(item.uid_at.unwrap()));
    let hints: Hints = named
        .iter()
        .map(|item| (item.key.clone(), hint_of(item)))
        .collect();
    let model = model_of(original.shards());
    let owners: Vec<Item> = items_of(&original).into_iter().chain(named).collect();
    let path = Path::new(template).with_extension("flipped");
    let from: usize = from.parse().unwrap();
    for (index, (at, bit)) in place.bits().into_iter().enumerate().skip(from) {
        say(format!("try {index}"));
        let mut image = Image {
            bytes: original.bytes.clone(),
        };
        image.flip(at, bit);
        image.write(&path);
        let touched: Vec<&[u8]> = owners
            .iter()
            .filter(|item| item.ranges.iter().any(|range| range.contains(&at)))
            .map(|item| &item.key[..])
            .collect();
        alarm(HANG_S);
        let tried = catch_unwind(AssertUnwindSafe(|| {
            try_flip(&path, &model, &hints, &touched, place, index as u64);
        }));
        if tried.is_err() {
            say(format!("failed {index} at byte {at} bit {bit}"));
        }
    }
    say("done");
}

/// Lets actors that play `flipper` try all flips of a group of places; a crash or hang ends one,
/// and the next continues behind it.
#[track_caller]
pub fn flip_all(test: &str, group: &str, shards: u32, places: Places) {
    let dir = Dir::new();
    let template = dir.table("template");
    build(&template, shards);
    let image = Image::read(&template);
    let mut failures = Vec::new();
    for place in places(&image, group) {
        let mut from = 0;
        let count = place.bits().len();
        assert!(count > 0, "nothing to flip in {}", place.name);
        while from < count {
            let args = [
                template.to_str().unwrap(),
                group,
                place.name,
                &from.to_string(),
            ];
            let mut actor = Actor::start(test, "flipper", &args);
            from = follow(&mut actor, place.name, from, &mut failures).unwrap_or(count);
        }
    }
    assert!(
        failures.is_empty(),
        "{} failures:\n{}",
        failures.len(),
        failures.join("\n")
    );
}

/// Hears an actor out; the flip to continue with when it died at one.
fn follow(
    actor: &mut Actor,
    place: &str,
    mut current: usize,
    failures: &mut Vec<String>,
) -> Option<usize> {
    loop {
        match actor.hear_or_end() {
            Ok(line) if line == "done" => {
                assert_eq!(actor.end(), End::Exit(0));
                return None;
            }
            Ok(line) => match line.strip_prefix("try ") {
                Some(index) => current = index.parse().unwrap(),
                None => failures.push(format!("{place}: {line}")),
            },
            Err(end) => {
                failures.push(format!(
                    "{place}: flip {current} ended the process: {end:?}"
                ));
                return Some(current + 1);
            }
        }
    }
}

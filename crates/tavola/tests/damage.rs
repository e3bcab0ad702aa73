//! Flipped bits, one at a time, in every part of the region.
//!
//! Whatever a bit does: no crash, no hang, never a value that its key did not have (but for a key
//! whose own bytes were changed), and after a repair a clean table that takes writes. The first
//! half of the flips of a part is repaired at once; where the part is derived from the index, no
//! key may be lost. The second half is used for a while first.

mod support;

use std::collections::HashMap;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use support::format::{self, Image, PAGE};
use support::part::{Actor, End, play, say};
use support::process::alarm;
use support::{Dir, Random, assert_clean, value_of};
use tavola::{Error, Table};

const KEY_LEN: usize = 16;
const PREFIX: &[u8] = b"key#";
/// Longer than any single flip takes.
const HANG_S: u32 = 30;

/// One flipped bit makes none of these keys another of them.
fn key_of(number: u64) -> Vec<u8> {
    format!("key#{number:06}{:06}", 999_999 - number).into_bytes()
}

/// What a key may answer: its value, and, where a write failed half-way, the other one.
type Model = HashMap<Vec<u8>, Vec<Vec<u8>>>;

fn len_of(number: u64) -> usize {
    match number % 40 {
        0 => 40_000,
        1 | 2 => 3_000,
        3 => 16_330,
        n => 16 + 4 * n as usize,
    }
}

/// A table with everything in it: two segments and more, slabs of many classes, counters, chains,
/// free pages and unbacked ones.
fn build(path: &Path, shards: u32, keys: u64) {
    let table = Table::options()
        .max_size(3 << 20)
        .shards(shards)
        .create(path)
        .unwrap();
    for number in 1000..1040 {
        table.set(&key_of(number), &vec![1; 20_000]).unwrap();
    }
    for number in 1000..1020 {
        table.remove(&key_of(number)).unwrap();
    }
    table.compact().unwrap();
    for number in 0..keys {
        table.set(&key_of(number), &original(number)).unwrap();
    }
    for number in 2000..2010 {
        table.incr(&key_of(number), number).unwrap();
    }
    for tiny in 0..2500u64 {
        table.set(&tiny.to_le_bytes(), b"").unwrap();
    }
    for number in 1020..1040 {
        table.remove(&key_of(number)).unwrap();
    }
    assert_clean(&table);
}

fn original(number: u64) -> Vec<u8> {
    value_of(&key_of(number), 1, len_of(number))
}

fn model_of(keys: u64) -> Model {
    let sets = (0..keys).map(|number| (key_of(number), vec![original(number)]));
    let counts = (2000..2010).map(|number: u64| {
        let text = number.to_string().into_bytes();
        (key_of(number), vec![text])
    });
    sets.chain(counts).collect()
}

/// A part of the region: bits to flip, and how many keys a repair may lose by one of them.
struct Place {
    name: &'static str,
    bytes: Vec<Range<u64>>,
    flips: u64,
    may_lose: usize,
}

const MANY: usize = usize::MAX;

impl Place {
    fn new(name: &'static str, bytes: Vec<Range<u64>>, flips: u64, may_lose: usize) -> Self {
        Self {
            name,
            bytes,
            flips,
            may_lose,
        }
    }

    /// The flips: all bits where there are few, else a choice that is always the same.
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
        let every = std::env::var_os("TAVOLA_EVERY_BIT").is_some();
        if every || total * 8 <= self.flips {
            return (0..total * 8)
                .map(|bit| (at(bit / 8), (bit % 8) as u32))
                .collect();
        }
        let mut random = Random::new(total);
        (0..self.flips)
            .map(|_| (at(random.below(total)), random.below(8) as u32))
            .collect()
    }
}

fn words(at: impl IntoIterator<Item = u64>, len: u64) -> Vec<Range<u64>> {
    at.into_iter().map(|at| at..at + len).collect()
}

fn heads(image: &Image) -> Vec<Place> {
    let heads: Vec<u64> = (0..image.shards())
        .map(|shard| image.shard(shard))
        .collect();
    let in_heads = |from: u64, len: u64| words(heads.iter().map(|head| head + from), len);
    let pool = format::POOL;
    vec![
        Place::new("pool lock", words([pool], 4), 32, 0),
        Place::new("pool lists", words([pool + 4], 20), 160, 0),
        Place::new("frontier", words([format::FRONTIER], 4), 32, 0),
        Place::new("layout word", in_heads(0, 8), 128, MANY),
        Place::new("inline directory", in_heads(8, 32), 128, MANY),
        Place::new("lock words", in_heads(format::LOCK, 4), 64, 0),
        Place::new("counters", in_heads(132, 52), 200, 0),
        Place::new("class heads", in_heads(format::CLASSES, 648), 200, 0),
        Place::new("levels", in_heads(format::LEVELS, 96), 50, 0),
        Place::new("participants", words([image.participants()], 256), 100, 0),
        Place::new("directories", words([image.directories()], 4096), 30, 0),
    ]
}

fn pages(image: &Image) -> Vec<Place> {
    let table = image.page_table();
    let starts =
        |state| -> Vec<u64> { image.pages(state).iter().map(|page| page * PAGE).collect() };
    let segments = starts(format::SEGMENT);
    let buckets = || {
        segments
            .iter()
            .flat_map(|page| (0..256).map(move |b| page + 64 * b))
    };
    let slots = buckets().flat_map(|bucket| (1..8).map(move |slot| bucket + 8 * slot));
    let used = slots
        .filter(|at| image.word64(*at) != 0)
        .collect::<Vec<_>>();
    let word_range = table + 8 * image.first_page()..table + 8 * (image.frontier() + 8);
    vec![
        Place::new("page words", vec![word_range], 350, MANY),
        Place::new("bucket heads", words(buckets(), 8), 120, 0),
        Place::new("slots", words(used, 8), 250, 1),
        Place::new("slab heads", words(starts(format::SLAB), 16), 200, 0),
        Place::new(
            "slab bitmaps",
            words(starts(format::SLAB).iter().map(|at| at + 16), 128),
            200,
            MANY,
        ),
    ]
}

fn items(image: &Image) -> Vec<Place> {
    let found = image.items(PREFIX, KEY_LEN);
    let starts = || found.iter().map(|(_, ranges)| ranges[0].start);
    let large = || found.iter().filter(|(_, ranges)| ranges.len() > 1);
    let links = words(large().map(|(_, ranges)| ranges[0].start + 8), 8);
    let chained = large().flat_map(|(_, ranges)| ranges[1..].to_vec());
    let (chain_words, chain_pages): (Vec<_>, Vec<_>) =
        chained.partition(|range| range.end - range.start == 8);
    vec![
        Place::new("item headers", words(starts(), 8), 300, 1),
        Place::new("links", links, 150, 1),
        Place::new("chains", chain_words, 250, 2),
        Place::new(
            "keys and values",
            words(starts().map(|at| at + 8), 24),
            300,
            1,
        ),
        Place::new("large values", chain_pages, 40, 1),
    ]
}

/// A flip at work.
struct Trial<'a> {
    table: &'a Table,
    model: Model,
    /// All values the keys have had.
    history: Model,
    /// Keys whose own bytes were changed: one, and maybe freed items that stood there before.
    touched: &'a [&'a [u8]],
    /// From then on nothing may be refused any more.
    repaired: bool,
}

impl Trial<'_> {
    /// All keys answer with a value they had, or not at all; the number of those that do not.
    fn read_all(&self) -> usize {
        let mut missing = 0;
        let mut value = Vec::new();
        for (key, allowed) in &self.model {
            match self.table.get_into(key, &mut value) {
                Ok(true) => {
                    let fits = allowed.contains(&value);
                    assert!(
                        fits || self.touched.contains(&&key[..]),
                        "wrong value for {}: {} bytes",
                        String::from_utf8_lossy(key),
                        value.len()
                    );
                }
                Ok(false) => missing += usize::from(!allowed.is_empty()),
                Err(Error::Corrupt { .. }) if !self.repaired => {
                    missing += usize::from(!allowed.is_empty())
                }
                Err(error) => panic!("{error}"),
            }
        }
        missing
    }

    /// Walks all keys; what is met was a value of its key at some time: a slot that leads astray
    /// may lead to an item that was replaced since.
    fn walk(&self) {
        for entry in self.table.iter() {
            match entry {
                Ok((key, value)) => {
                    let known = self.history.get(&key);
                    let fits = known.is_none_or(|had| had.contains(&value));
                    assert!(
                        fits || self.touched.contains(&&key[..]),
                        "wrong value on a walk"
                    );
                }
                Err(Error::Corrupt { .. }) if !self.repaired => return,
                Err(error) => panic!("{error}"),
            }
        }
    }

    /// A write may be refused because of the damage; what the key holds is then open.
    fn write(&mut self, key: Vec<u8>, new: Option<Vec<u8>>) {
        let outcome = match &new {
            Some(value) => self.table.set(&key, value),
            None => self.table.remove(&key).map(drop),
        };
        let had = self.history.entry(key.clone()).or_default();
        had.extend(new.clone());
        let allowed = self.model.entry(key).or_default();
        match outcome {
            Ok(()) => *allowed = new.into_iter().collect(),
            Err(Error::Full { .. }) => allowed.extend(new),
            Err(Error::Corrupt { .. }) if !self.repaired => allowed.extend(new),
            Err(error) => panic!("{error}"),
        }
    }

    /// Overwrites, removes and adds some of everything, and counts.
    fn use_for_a_while(&mut self, round: u64) {
        for step in 0..60 {
            let number = (step * 7 + round * 13) % 240;
            let value = value_of(&key_of(number), 2, len_of(number + step));
            self.write(key_of(number), (step % 3 != 0).then_some(value));
            let fresh = key_of(5000 + step);
            self.write(fresh.clone(), Some(value_of(&fresh, 3, len_of(step + 4))));
        }
        for number in 2000..2010u64 {
            let key = key_of(number);
            let allowed = self.model.get_mut(&key).unwrap();
            match self.table.incr(&key, 1) {
                Ok(now) => {
                    let text = |count: u64| count.to_string().into_bytes();
                    // A counter that was lost begins anew.
                    let fits = now == 1 || allowed.contains(&text(now - 1));
                    assert!(
                        fits || self.touched.contains(&&key[..]),
                        "{now} for {number}"
                    );
                    *allowed = vec![text(now)];
                    self.history.get_mut(&key).unwrap().push(text(now));
                }
                Err(Error::NotACounter | Error::Full { .. }) => {}
                Err(Error::Corrupt { .. }) if !self.repaired => {}
                Err(error) => panic!("{error}"),
            }
        }
    }
}

fn try_flip(path: &Path, model: Model, touched: &[&[u8]], place: &Place, index: u64) {
    let table = match Table::open(path) {
        Ok(table) => table,
        Err(Error::NotATable { .. } | Error::Version { .. } | Error::Endianness { .. }) => return,
        Err(error) => panic!("{error}"),
    };
    let mut trial = Trial {
        table: &table,
        history: model.clone(),
        model,
        touched,
        repaired: false,
    };
    if index.is_multiple_of(2) {
        table.repair().unwrap();
        trial.repaired = true;
        assert_clean(&table);
        let lost = trial.read_all();
        assert!(lost <= place.may_lose, "{lost} keys lost");
    } else {
        trial.read_all();
        trial.walk();
        table.stats().unwrap();
        table.len().unwrap();
        table.check().unwrap();
        trial.use_for_a_while(index);
        trial.read_all();
        trial.walk();
        table.repair().unwrap();
        trial.repaired = true;
        assert_clean(&table);
        trial.read_all();
    }
    trial.walk();
    trial.use_for_a_while(index + 1);
    trial.read_all();
    assert_clean(&table);
    table.set(b"after all", b"value").unwrap();
    assert_eq!(table.get(b"after all").unwrap().unwrap(), b"value");
}

/// An actor: tries the flips of one place from some number on. Tells each before it is tried.
fn flipper(args: &[String]) {
    let [template, group, place, from, keys] = args else {
        panic!("five arguments");
    };
    let keys: u64 = keys.parse().unwrap();
    let original = Image::read(Path::new(template));
    let all = places(&original, group);
    let place = all.iter().find(|found| found.name == place).unwrap();
    let owners = original.items(PREFIX, KEY_LEN);
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
            .filter(|(_, ranges)| ranges.iter().any(|range| range.contains(&at)))
            .map(|(key, _)| &key[..])
            .collect();
        alarm(HANG_S);
        let tried = catch_unwind(AssertUnwindSafe(|| {
            try_flip(&path, model_of(keys), &touched, place, index as u64);
        }));
        if tried.is_err() {
            say(format!("failed {index} at byte {at} bit {bit}"));
        }
    }
    say("done");
}

fn places(image: &Image, group: &str) -> Vec<Place> {
    match group {
        "heads" => heads(image),
        "pages" => pages(image),
        "items" => items(image),
        _ => panic!("{group}"),
    }
}

/// Lets actors try all flips of a group of places; a crash or hang ends one, and the next goes on
/// behind it.
fn flip_all(test: &str, group: &str, shards: u32) {
    let keys = 240;
    let dir = Dir::new();
    let template = dir.table("template");
    build(&template, shards, keys);
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
                &keys.to_string(),
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

/// Hears an actor out; the flip to go on with when it died at one.
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

#[test]
fn flips_in_the_heads_of_pool_and_shards() {
    play(&[("flipper", flipper)]);
    flip_all("flips_in_the_heads_of_pool_and_shards", "heads", 1);
}

#[test]
fn flips_in_the_heads_of_several_shards() {
    play(&[("flipper", flipper)]);
    flip_all("flips_in_the_heads_of_several_shards", "heads", 4);
}

#[test]
fn flips_in_page_words_segments_and_slabs() {
    play(&[("flipper", flipper)]);
    flip_all("flips_in_page_words_segments_and_slabs", "pages", 1);
}

#[test]
fn flips_in_items_and_chains() {
    play(&[("flipper", flipper)]);
    flip_all("flips_in_items_and_chains", "items", 2);
}

/// Compacting waits for the grace of freed pages, but not because of a counter that is wrong.
#[test]
fn compacting_with_a_flipped_counter_ends() {
    let dir = Dir::new();
    let template = dir.table("template");
    build(&template, 1, 240);
    let original = Image::read(&template);
    let counters = heads(&original)
        .into_iter()
        .filter(|place| ["pool lists", "counters", "levels"].contains(&place.name))
        .flat_map(|place| place.bytes)
        .flat_map(|range| range.step_by(4));
    let flips = counters.flat_map(|at| [(at, 0), (at, 4), (at + 3, 7)]);
    std::thread::scope(|scope| {
        for (number, (at, bit)) in flips.enumerate() {
            let path = dir.table(&number.to_string());
            let mut image = Image {
                bytes: original.bytes.clone(),
            };
            scope.spawn(move || {
                image.flip(at, bit);
                image.write(&path);
                let table = Table::open(&path).unwrap();
                let begun = std::time::Instant::now();
                // Damage that is found may end it early.
                let _ = table.compact();
                let seconds = begun.elapsed().as_secs();
                assert!(seconds < 10, "byte {at} bit {bit}: {seconds} s");
                table.repair().unwrap();
                assert_clean(&table);
                std::fs::remove_file(path).unwrap();
            });
        }
    });
}

//! Random operations on a cache against a map of the standard library: a key may be missing at any
//! time, but what is there is what the map has, and operations on it answer so. A value that was
//! set with tags tells them: it may not be there any more when one of them was invalidated.

use crate::support::{Dir, Random, over_every_table};
use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;
use tavola::{Attributes, CasOutcome, Error, Expiry, Hint, Options, Table};

const MIB: u64 = 1 << 20;
const HOUR: Duration = Duration::from_secs(3600);
/// So many are tried until one keeps the ghost of a key.
const TABLES: u32 = 20;

/// What each key has, if it is there.
type Model = HashMap<Vec<u8>, Vec<u8>>;

/// What becomes of a number, by another.
type Change = fn(u64, u64) -> u64;

const TAGS: [&str; 6] = ["tag 0", "tag 1", "tag 2", "tag 3", "tag 4", "tag 5"];

/// Keys, some of which come often.
fn key(random: &mut Random, keys: u64) -> Vec<u8> {
    let bound = if random.below(2) == 0 {
        keys / 20
    } else {
        keys
    };
    match random.below(bound) {
        0 => Vec::new(),
        1 => vec![b'k'; 300],
        2 => vec![b'K'; 17_000],
        n => n.to_le_bytes().to_vec(),
    }
}

fn value(random: &mut Random) -> Vec<u8> {
    let len = match random.below(40) {
        0 => 0,
        1 => random.below(60_000),
        2..=4 => random.below(5_000),
        5..=7 => return random.below(1 << 40).to_string().into_bytes(),
        8 => 8,
        _ => random.below(60),
    };
    random.bytes(len as usize)
}

fn number(text: &[u8]) -> Option<u64> {
    let is_number = !text.is_empty() && text.len() <= 20 && text.iter().all(u8::is_ascii_digit);
    is_number.then(|| std::str::from_utf8(text).unwrap().parse().ok())?
}

/// What is there now: what the model has, or nothing, and then the model has it no more.
fn there(table: &Table, model: &mut Model, key: &[u8]) -> Option<Vec<u8>> {
    let found = table.get(key).unwrap();
    match &found {
        Some(value) => assert_eq!(Some(value), model.get(key), "{}", key.escape_ascii()),
        None => drop(model.remove(key)),
    }
    found
}

/// Whether an operation on a key that was there a moment ago found it: to make room for itself it
/// may have evicted it.
fn is_answer(found: bool, old: &Option<Vec<u8>>) -> bool {
    assert!(!found || old.is_some(), "what was missing is found");
    found
}

fn write(table: &Table, model: &mut Model, random: &mut Random, key: Vec<u8>) {
    let (value, old) = (value(random), there(table, model, &key));
    let old_or_none = |answer: Option<Vec<u8>>| assert!(answer.is_none() || answer == old);
    match random.below(9) {
        0..=2 => {
            table.set(&key, &value).unwrap();
            model.insert(key.clone(), value);
            assert!(table.contains(&key).unwrap(), "it was just set");
        }
        3 => {
            let added = table.add(&key, &value).unwrap();
            assert!(added || old.is_some());
            if added {
                model.insert(key, value);
            }
        }
        4 => {
            if is_answer(table.replace(&key, &value).unwrap(), &old) {
                model.insert(key, value);
            }
        }
        5 => {
            let joined = [&old.clone().unwrap_or_default(), &value[..]].concat();
            if is_answer(table.append(&key, &value).unwrap(), &old) {
                model.insert(key, joined);
            }
        }
        6 => {
            let joined = [&value[..], &old.clone().unwrap_or_default()].concat();
            if is_answer(table.prepend(&key, &value).unwrap(), &old) {
                model.insert(key, joined);
            }
        }
        7 => {
            old_or_none(table.swap(&key, &value).unwrap());
            model.insert(key, value);
        }
        _ => {
            let mut seen = Vec::new();
            let longer = |old: Option<&[u8]>| {
                seen = old.unwrap_or_default().to_vec();
                Some([&seen[..], b"more"].concat())
            };
            table.update(&key, longer).unwrap();
            assert!(seen.is_empty() || Some(&seen) == old.as_ref());
            model.insert(key, [&seen[..], b"more"].concat());
        }
    }
}

fn remove(table: &Table, model: &mut Model, random: &mut Random, key: &[u8]) {
    let old = there(table, model, key);
    match random.below(3) {
        0 => assert_eq!(table.remove(key).unwrap(), old.is_some()),
        1 => assert_eq!(table.take(key).unwrap(), old),
        _ => {
            let touched = table.touch(key, Expiry::PAST).unwrap();
            is_answer(touched, &old);
        }
    }
    model.remove(key);
    assert_eq!(table.get(key).unwrap(), None);
}

fn count(table: &Table, model: &mut Model, random: &mut Random, key: Vec<u8>) {
    let (by, old) = (random.below(1000), there(table, model, &key));
    let initial = (random.below(3) > 0).then(|| random.below(1000));
    let (up, down): (Change, Change) = (u64::wrapping_add, u64::saturating_sub);
    let (which, hour) = (random.below(4), Attributes::ttl(HOUR));
    // What is told, what was to be done, and what a missing key was to become.
    let (told, change, begins) = match which {
        0 => (table.incr(&key, by).map(Some), up, Some(by)),
        1 => (table.decr(&key, by).map(Some), down, Some(0)),
        2 => (table.incr_with(&key, by, initial, hour), up, initial),
        _ => (table.decr_with(&key, by, initial, hour), down, initial),
    };
    let now = match (told, old.as_deref().map(number)) {
        (Ok(now), Some(Some(old))) if now == Some(change(old, by)) => now,
        (Ok(now), _) => {
            assert_eq!(now, begins, "of {old:?}");
            now
        }
        (Err(Error::NotACounter), Some(None)) => return,
        (other, _) => panic!("{other:?} of {old:?}"),
    };
    if old.is_none() {
        assert_lives(table, &key, which >= 2);
    }
    match now {
        Some(now) => drop(model.insert(key, now.to_string().into_bytes())),
        None => drop(model.remove(&key)),
    }
}

/// Whether a key, if it is still there, has an hour, or for ever.
fn assert_lives(table: &Table, key: &[u8], an_hour: bool) {
    match table.ttl(key).unwrap() {
        Some(Expiry::After(left)) => assert!(an_hour && left <= HOUR, "{left:?}"),
        Some(_) => assert!(!an_hour, "it was to have an hour"),
        None => {}
    }
}

fn swap_by_token(table: &Table, model: &mut Model, random: &mut Random, key: Vec<u8>) {
    let new = value(random);
    let Some((old, token)) = table.get_with_token(&key).unwrap() else {
        model.remove(&key);
        return;
    };
    assert_eq!(Some(&old), model.get(&key));
    match table.compare_and_swap(&key, token, &new).unwrap() {
        CasOutcome::Swapped => drop(model.insert(key, new)),
        _ => assert_eq!(there(table, model, &key), None, "nobody has changed it"),
    }
}

/// Touches a key so that it gets a field for its time, or none.
fn touch(table: &Table, model: &mut Model, random: &mut Random, key: &[u8]) {
    let (old, hour) = (there(table, model, key), Expiry::After(HOUR));
    let which = random.below(3);
    let found = match which {
        0 => table.touch(key, hour).unwrap(),
        1 => {
            let entry = table.get_and_touch(key, hour).unwrap();
            let value = entry.map(|entry| entry.value);
            assert!(value.is_none() || value == old);
            value.is_some()
        }
        _ => table.persist(key).unwrap(),
    };
    if is_answer(found, &old) {
        assert_lives(table, key, which < 2);
    }
}

/// The tags a value begins with, a bit each. What is appended to it leaves the key its tags; what
/// takes its place begins otherwise, as does what has something before it: its tags are not looked
/// at any more.
fn tags_in(value: &[u8]) -> u64 {
    let named = value.strip_prefix(b"tags ");
    let digits = named.and_then(|rest| str::from_utf8(rest.get(..2)?).ok());
    digits.map_or(0, |digits| u64::from_str_radix(digits, 16).unwrap_or(0))
}

fn set_tagged(table: &Table, model: &mut Model, random: &mut Random, key: Vec<u8>) {
    let mask = random.below(1 << TAGS.len());
    let has = |number: usize| mask >> number & 1 == 1;
    let names: Vec<&str> = (0..TAGS.len())
        .filter(|n| has(*n))
        .map(|n| TAGS[n])
        .collect();
    let value = [format!("tags {mask:02x}").into_bytes(), value(random)].concat();
    let tags = table.fetch_tags(&names).unwrap();
    let late = random.below(50 * TAGS.len() as u64) as usize;
    if late < TAGS.len() {
        invalidate(table, model, late);
    }
    let set = table.set_tagged(&key, &value, Attributes::default(), &tags);
    set.unwrap();
    model.insert(key.clone(), value);
    if let Some(told) = table.tags_of(&key).unwrap() {
        assert!(late >= TAGS.len() || !has(late), "of a tag of before");
        let told: Vec<&str> = told
            .iter()
            .map(|name| str::from_utf8(name).unwrap())
            .collect();
        assert_eq!(told, names);
    } else {
        // For a tag of before, or that had to make room.
        model.remove(&key);
    }
}

fn invalidate(table: &Table, model: &mut Model, number: usize) {
    table.invalidate_tag(TAGS[number].as_bytes()).unwrap();
    model.retain(|_, value| tags_in(value) >> number & 1 == 0);
}

fn agree(table: &Table, model: &mut Model) {
    let keys: Vec<Vec<u8>> = model.keys().cloned().collect();
    let mut found = HashMap::new();
    let mut note = |i: usize, value: Option<&[u8]>| {
        found.extend(value.map(|value| (keys[i].clone(), value.to_vec())));
    };
    table.get_many(&keys, &mut note).unwrap();
    model.retain(|key, _| found.contains_key(key));
    for (key, value) in &found {
        let held = &model[key];
        let (a, b) = (value.len(), held.len());
        assert!(
            value == held,
            "{} has {a} bytes, not {b}",
            key.escape_ascii()
        );
    }
    table.remove_expired().unwrap();
    let walked: Model = table.iter().map(Result::unwrap).collect();
    assert_eq!(&walked, model);
    assert_eq!(table.len().unwrap(), model.len() as u64);
    let report = table.check().unwrap();
    assert!(report.is_clean(), "{:?}", report.problems);
    assert_eq!(report.bytes_in_use, report.bytes_reachable);
    let stats = table.stats().unwrap();
    assert!(stats.probationary_bytes <= stats.payload_bytes);
}

fn assert_within(table: &Table) {
    let stats = table.stats().unwrap();
    let (has, may) = (stats.resident_bytes, stats.capacity.unwrap());
    assert!(has <= may, "{has} bytes of {may}");
}

fn play(table: &Table, seed: u64, keys: u64, rounds: u64) {
    let mut random = Random::new(seed);
    let mut model = Model::new();
    for round in 0..rounds {
        let key = key(&mut random, keys);
        if round % 500 == 499 {
            invalidate(table, &mut model, round as usize / 500 % TAGS.len());
        }
        match random.below(13) {
            0..=4 => write(table, &mut model, &mut random, key),
            5 => remove(table, &mut model, &mut random, &key),
            6 => count(table, &mut model, &mut random, key),
            7 => swap_by_token(table, &mut model, &mut random, key),
            8 => touch(table, &mut model, &mut random, &key),
            9 => set_tagged(table, &mut model, &mut random, key),
            _ => drop(there(table, &mut model, &key)),
        }
        if round % (rounds / 4) == rounds / 8 {
            agree(table, &mut model);
            assert_within(table);
        }
    }
    let stats = table.stats().unwrap();
    assert!(stats.evicted_new > 0, "{stats:?}");
    table.compact().unwrap();
    agree(table, &mut model);
    table.repair().unwrap();
    agree(table, &mut model);
    table.clear().unwrap();
    agree(table, &mut Model::new());
}

#[test]
fn answers_are_those_of_a_map_or_misses() {
    for (seed, mib) in [(1, 2), (2, 3), (3, 8)] {
        let options = Table::options().capacity(mib * MIB).max_size(16 * MIB);
        over_every_table(options, |table| {
            play(table, seed, 4000 * mib, 24_000 * mib);
        });
    }
}

/// The smallest there is: of a few pages.
#[test]
fn the_smallest_cache_answers_so_too() {
    let dir = Dir::new();
    let options = Table::options().shards(1).max_size(MIB);
    let capacity = (100 << 10..MIB).step_by(4096).find(|bytes| {
        let made = options.clone().capacity(*bytes).create(dir.table("t"));
        made.is_ok()
    });
    let table = Table::open(dir.table("t")).unwrap();
    println!("{capacity:?} bytes");
    for round in 0..30_000u64 {
        let key = (round % 3000).to_le_bytes();
        let len = [20, 300, 2000, 8][round as usize % 4];
        let set = table.set(key, vec![round as u8; len]);
        assert!(set.is_ok(), "{round}: {set:?}, {:?}", table.stats());
        assert_eq!(table.get(key).unwrap(), Some(vec![round as u8; len]));
    }
    assert_within(&table);
    crate::support::assert_clean(&table);
}

/// A capacity that changes all the time.
#[test]
fn with_a_capacity_that_goes_up_and_down() {
    let dir = Dir::new();
    let options = Table::options().capacity(4 * MIB).shards(2);
    let table = options.create(dir.table("t")).unwrap();
    let (mut random, mut model) = (Random::new(5), Model::new());
    for round in 0..60_000u64 {
        if round % 3000 == 0 {
            table.set_capacity((2 + random.below(8)) * MIB).unwrap();
        }
        let key = key(&mut random, 20_000);
        match random.below(4) {
            0 => drop(there(&table, &mut model, &key)),
            1 if round % 100 == 1 => drop(table.maintain(0).unwrap()),
            _ => {
                let value = value(&mut random);
                table.set(&key, &value).unwrap();
                model.insert(key, value);
            }
        }
        if round % 10_000 == 9_999 {
            agree(&table, &mut model);
        }
    }
}

/// Keys of fixed lengths with uids: one that is evicted leaves its uid to others.
#[test]
fn uids_lead_to_their_keys_or_nowhere() {
    let dir = Dir::new();
    for fixed in [false, true] {
        let options = Table::options().capacity(2 * MIB).uids(true).shards(1);
        let options = if fixed { options.fixed(8, 40) } else { options };
        let path = dir.table(&fixed.to_string());
        let table = options.create(path).unwrap();
        let mut random = Random::new(6);
        let mut versions: HashMap<u64, (u64, Hint)> = HashMap::new();
        let value = |number: u64, version: u64| {
            crate::support::value_of(&number.to_le_bytes(), version, 40)
        };
        for round in 0..100_000u64 {
            let number = random.below(40_000);
            if random.below(2) == 0 {
                let key = number.to_le_bytes();
                let hint = table.set_uid(key, value(number, round)).unwrap();
                versions.insert(number, (round, hint));
                continue;
            }
            let Some((version, hint)) = versions.get(&number) else {
                continue;
            };
            if let Some(found) = table.get_by_uid(*hint).unwrap() {
                assert_eq!(found, value(number, *version));
                let key = table.key_of_uid(*hint).unwrap().unwrap();
                assert_eq!(key, number.to_le_bytes());
            } else {
                assert!(!table.contains(number.to_le_bytes()).unwrap());
            }
        }
        let stats = table.stats().unwrap();
        assert!(stats.evicted_new > 1000);
        assert_within(&table);
        crate::support::assert_clean(&table);
    }
}

/// The ghost of a key of zeroes leads nowhere: not into the superblock, where zeroes stand.
#[test]
fn a_ghost_is_no_item_of_zeroes() {
    let dir = Dir::new();
    let variable = Table::options()
        .capacity(MIB / 2)
        .max_size(4 * MIB)
        .shards(1);
    for (name, options, key) in [
        ("fixed", variable.clone().fixed(8, 8), &[0; 8][..]),
        ("variable", variable, &[]),
    ] {
        let tables = (0..TABLES).map(|number| dir.table(&format!("{name}{number}")));
        let mut met = tables.map(|path| is_missing_and_met(&options, &path, key));
        assert!(met.any(|is_met| is_met), "{name}: no ghost was there");
    }
}

/// Asks for a key that was evicted, again and again; whether its ghost was there to the end: a new
/// key may have taken its place.
fn is_missing_and_met(options: &Options, path: &Path, key: &[u8]) -> bool {
    let table = options.create(path).unwrap();
    table.set(key, [7; 8]).unwrap();
    // Reads before the table is mapped are not noted, and do not keep it.
    let is_there = || Table::open(path).unwrap().contains(key).unwrap();
    let mut fresh = 1u64..;
    let mut add = |count: usize| {
        let each = fresh.by_ref().take(count);
        each.for_each(|number| table.set(number.to_le_bytes(), [1; 8]).unwrap());
    };
    while is_there() {
        add(100);
    }
    for _ in 0..50 {
        table
            .get_many(&[key], |_, found| assert_eq!(found, None))
            .unwrap();
        assert_eq!(table.get(key).unwrap(), None);
        assert_eq!(Table::open(path).unwrap().get(key).unwrap(), None);
        assert!(!table.contains(key).unwrap());
        add(20);
    }
    assert!(table.stats().unwrap().evicted_new > 0);
    table.set(key, [7; 8]).unwrap();
    table.stats().unwrap().ghost_hits == 1
}

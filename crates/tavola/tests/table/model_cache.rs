//! Random operations on a cache against a map of the standard library: a key may be missing at any
//! time, but what is there is what the map has, and operations on it answer so. A key that was set
//! with tags may not be there any more when one of them was invalidated.

use crate::support::{Dir, Random, over_every_table, rounds};
use std::collections::HashMap;
use std::path::Path;
use tavola::{Hint, Options, Table};
use tavola_model::{Answer, Life, Model, Op, Refusal, Tags, agree, play_lossy};

const MIB: u64 = 1 << 20;
/// The most that are tried until one keeps the ghost of a key.
const TABLES: u32 = 20;
/// Tags that keys may have.
const TAGS: u64 = 6;

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

fn draw(random: &mut Random, keys: u64) -> Op {
    let key = key(random, keys);
    match random.below(41) {
        0..=4 => Op::Set(key, value(random)),
        5 | 6 => Op::Add(key, value(random)),
        7 => Op::Replace(key, value(random)),
        8 => Op::Append(key, value(random)),
        9 => Op::Prepend(key, value(random)),
        30 => Op::AppendWith(key, value(random), Life::Hours(1), 0),
        31 => Op::PrependWith(key, value(random), Life::Hours(1), 0),
        10 | 11 => Op::Swap(key, value(random)),
        12..=14 => Op::Update(key, value(random)),
        15 => Op::Remove(key),
        16 => Op::Take(key),
        17 => Op::Touch(key, Life::Gone),
        18..=20 => count(random, key),
        21..=23 => Op::CompareAndSwap(key, value(random), None),
        // It gets a field for its time, or loses it.
        24 => Op::Touch(key, Life::Hours(1)),
        25 => Op::GetAndTouch(key, Life::Hours(1)),
        26 => Op::Persist(key),
        27..=29 => {
            let late = random.below(50 * TAGS);
            let late = (late < TAGS).then(|| Tags(1 << late));
            let tags = Tags(random.below(1 << TAGS));
            Op::SetTagged(key, value(random), tags, late)
        }
        _ => Op::Get(key),
    }
}

fn count(random: &mut Random, key: Vec<u8>) -> Op {
    let by = random.below(1000);
    let initial = (random.below(3) > 0).then(|| random.below(1000));
    match random.below(4) {
        0 => Op::Incr(key, by),
        1 => Op::Decr(key, by),
        2 => Op::IncrWith(key, by, initial, Life::Hours(1), 0),
        _ => Op::DecrWith(key, by, initial, Life::Hours(1), 0),
    }
}

/// Does an operation; what was just set is there.
fn act(table: &Table, model: &mut Model, op: &Op) {
    let answer = play_lossy(table, model, op).unwrap();
    assert_ne!(answer, Answer::Refused(Refusal::Full));
    if let Op::Set(key, _) = op {
        assert!(table.contains(key).unwrap(), "it was just set");
    }
}

fn all_agree(table: &Table, model: &mut Model) {
    let keys: Vec<Vec<u8>> = model.keys().map(|key| key.to_vec()).collect();
    let mut note = |i: usize, value: Option<&[u8]>| {
        if value.is_none() {
            model.forget(&keys[i]);
        }
    };
    table.get_many(&keys, &mut note).unwrap();
    act(table, model, &Op::RemoveExpired);
    agree(table, model).unwrap();
    assert_eq!(table.len().unwrap(), model.len() as u64);
    let stats = table.stats().unwrap();
    assert!(stats.probationary_bytes <= stats.payload_bytes);
}

fn assert_within(table: &Table) {
    let stats = table.stats().unwrap();
    let (has, may) = (stats.resident_bytes, stats.capacity.unwrap());
    assert!(has <= may, "{has} bytes of {may}");
}

/// Does random operations to a cache and to a model.
fn run(table: &Table, seed: u64, keys: u64, rounds: u64) {
    let mut random = Random::new(seed);
    let mut model = Model::default();
    for round in 0..rounds {
        if round % 500 == 499 {
            let tag = Tags(1 << (round / 500 % TAGS));
            act(table, &mut model, &Op::Invalidate(tag));
        }
        act(table, &mut model, &draw(&mut random, keys));
        if round % (rounds / 4) == rounds / 8 {
            all_agree(table, &mut model);
            assert_within(table);
        }
    }
    let stats = table.stats().unwrap();
    assert!(stats.evicted_new > 0, "{stats:?}");
    for op in [Op::Compact, Op::Repair, Op::Clear] {
        act(table, &mut model, &op);
        all_agree(table, &mut model);
    }
}

#[test]
fn answers_are_those_of_a_map_or_misses() {
    for (seed, mib) in [(1, 2), (2, 3), (3, 8)] {
        let options = Table::options().capacity(mib * MIB).max_size(16 * MIB);
        over_every_table(options, |table| {
            run(table, seed, 4000 * mib, rounds(24_000 * mib));
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
    let (mut random, mut model) = (Random::new(5), Model::default());
    for round in 0..60_000u64 {
        if round % 3000 == 0 {
            table.set_capacity((2 + random.below(8)) * MIB).unwrap();
        }
        let key = key(&mut random, 20_000);
        match random.below(4) {
            0 => act(&table, &mut model, &Op::Get(key)),
            1 if round % 100 == 1 => drop(table.maintain(0).unwrap()),
            _ => act(&table, &mut model, &Op::Set(key, value(&mut random))),
        }
        if round % 10_000 == 9_999 {
            all_agree(&table, &mut model);
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

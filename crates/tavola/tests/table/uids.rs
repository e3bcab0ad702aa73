//! Uids: stable while the key lives, whatever becomes of its value and its bytes; distinguished
//! from those of other keys by their generation; the same answers by uid as by key.

use crate::support::{
    Dir, Random, any_uid, assert_clean, over_every_table, rounds, value_of, version_of,
};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;
use tavola::{Attributes, Error, Expiry, Hint, Table, Updated};
use tavola_model::{Life, Model, Op, agree, play};

fn options() -> tavola::Options {
    Table::options().max_size(64 << 20)
}

fn key_of(number: u64) -> Vec<u8> {
    match number % 7 {
        0 => vec![number as u8; 20_000],
        1..=3 => number.to_le_bytes().to_vec(),
        _ => format!("key {number}").into_bytes(),
    }
}

fn value(random: &mut Random) -> Vec<u8> {
    let len = match random.below(12) {
        0 => random.below(60_000),
        1 => random.below(4_000),
        2..=5 => 8,
        6 => return random.below(1 << 40).to_string().into_bytes(),
        _ => random.below(60),
    };
    random.bytes(len as usize)
}

fn by_key(random: &mut Random, key: Vec<u8>) -> Op {
    match random.below(9) {
        0 | 1 => Op::Set(key, value(random)),
        2 | 3 => Op::SetUid(key, value(random)),
        4 => Op::UidOf(key),
        5 => Op::Incr(key, 7),
        6 => Op::Remove(key),
        7 => Op::Take(key),
        _ => Op::Append(key, b"more".to_vec()),
    }
}

fn by_uid(random: &mut Random, model: &Model) -> Op {
    let uid = any_uid(random, model);
    match random.below(9) {
        0 | 1 => Op::SetByUid(uid, value(random)),
        2 => Op::UpdateByUid(uid, value(random)),
        3 => Op::RemoveByUid(uid),
        4 => Op::IncrByUid(uid, random.below(1 << 20)),
        5 => Op::DecrByUid(uid, random.below(1 << 20)),
        6 => Op::TouchByUid(
            uid,
            [Life::Forever, Life::Hours(2)][random.below(2) as usize],
        ),
        7 => Op::GetByUid(uid),
        _ => Op::KeyOfUid(uid),
    }
}

fn run(table: &Table, keys: u64, rounds: u64) {
    let mut random = Random::new(keys);
    let mut model = Model::default();
    for round in 1..=rounds {
        let op = match random.below(4) {
            0 => by_uid(&mut random, &model),
            _ => {
                let key = key_of(random.below(keys));
                by_key(&mut random, key)
            }
        };
        play(table, &mut model, &op).unwrap();
        if round % (rounds / 4) == 0 {
            agree(table, &model).unwrap();
        }
    }
    for op in [Op::Compact, Op::Repair, Op::Clear] {
        play(table, &mut model, &op).unwrap();
        agree(table, &model).unwrap();
    }
}

#[test]
fn the_answers_are_those_of_a_map() {
    over_every_table(options(), |table| {
        run(table, 40, rounds(4_000));
        run(table, 3_000, rounds(8_000));
    });
}

#[test]
fn every_key_gets_one_where_the_handle_says_so() {
    over_every_table(options().uids(true), |table| {
        table.set(b"set", b"1").unwrap();
        table.add(b"add", b"1").unwrap();
        table.incr(b"incr", 1).unwrap();
        table.set_many(&[("many", "1"), ("more", "2")]).unwrap();
        table.set(b"large", [1; 100_000]).unwrap();
        table.update(b"update", |_| Some(vec![1])).unwrap();
        assert_eq!(table.stats().unwrap().uids, 7);
        assert_clean(table);
    });
}

#[test]
fn what_was_never_given_out_is_missing() {
    over_every_table(options(), |table| {
        for round in 0..2 {
            for uid in [0, 1, 31, 32, 33, 40_000, 1 << 20, u32::MAX] {
                assert_eq!(table.get_by_uid(uid).unwrap(), None, "{uid}");
                assert_eq!(table.key_of_uid(uid).unwrap(), None);
                assert!(!table.set_by_uid(uid, b"8 bytes.").unwrap());
                assert!(!table.remove_by_uid(uid).unwrap());
            }
            if round == 0 {
                let hint = table.set_uid(b"key", b"value").unwrap();
                assert!(table.remove_by_uid(hint).unwrap());
            }
        }
    });
}

#[test]
fn many_uids_are_read_in_order() {
    over_every_table(options(), |table| {
        let hints: Vec<Hint> = (0..100u64)
            .map(|n| table.set_uid(key_of(n), n.to_string()).unwrap())
            .collect();
        table.remove(key_of(40)).unwrap();
        for count in [0, 1, 31, 32, 33, 64, 100] {
            let mut values = Vec::new();
            let found = |at, value: Option<&[u8]>| values.push((at, value.map(<[u8]>::to_vec)));
            table.get_many_by_uid(&hints[..count], found).unwrap();
            let text = |n: usize| (n != 40).then(|| n.to_string().into_bytes());
            let expected: Vec<_> = (0..count).map(|n| (n, text(n))).collect();
            assert_eq!(values, expected);
        }
        let bare: Vec<u32> = hints.iter().map(|hint| hint.uid()).collect();
        let mut there = 0;
        let count = |_, value: Option<&[u8]>| there += u32::from(value.is_some());
        table.get_many_by_uid(&bare, count).unwrap();
        assert_eq!(there, 99);
    });
}

#[test]
fn a_counter_by_uid_is_the_one_that_is_meant() {
    let table = options().shards(1).private().unwrap();
    let first = table.set_uid(b"first", b"1").unwrap();
    table.remove(b"first").unwrap();
    let second = table.set_uid(b"second", b"2").unwrap();
    assert_eq!(first.uid(), second.uid());
    assert_eq!(table.incr_by_uid(first, 1).unwrap(), None);
    assert_eq!(table.decr_by_uid(first, 1).unwrap(), None);
    assert!(!table.touch_by_uid(first, Expiry::Never).unwrap());
    assert_eq!(table.incr_by_uid(second, 1).unwrap(), Some(3));
    assert_eq!(table.incr_by_uid(second.uid(), 1).unwrap(), Some(4));
    // Too long a key for a counter in place, and a text that is none.
    let long = table.set_uid([b'k'; 20_000], b"9").unwrap();
    assert_eq!(table.incr_by_uid(long, 1).unwrap(), Some(10));
    assert_eq!(table.decr_by_uid(long, 11).unwrap(), Some(0));
    let text = table.set_uid(b"text", b"one").unwrap();
    let outcome = table.incr_by_uid(text, 1);
    assert!(matches!(outcome, Err(Error::NotACounter)));
    table.remove([b'k'; 20_000]).unwrap();
    assert_eq!(table.incr_by_uid(long, 1).unwrap(), None);
}

#[test]
fn a_uid_that_is_used_again_has_another_generation() {
    let table = options().shards(1).private().unwrap();
    let first = table.set_uid(b"first", b"1").unwrap();
    table.remove(b"first").unwrap();
    let second = table.set_uid(b"second", b"2").unwrap();
    assert_eq!(first.uid(), second.uid());
    assert_ne!(first.generation(), second.generation());
    assert_eq!(table.get_by_uid(first).unwrap(), None);
    assert!(!table.set_by_uid(first, b"x").unwrap());
    assert_eq!(table.get_by_uid(second).unwrap().unwrap(), b"2");
    assert_eq!(table.get_by_uid(second.uid()).unwrap().unwrap(), b"2");
    assert_eq!(Hint::from_bits(second.to_bits()), second);
}

#[test]
fn an_update_by_uid_changes_removes_or_leaves_what_is_meant() {
    over_every_table(options(), |table| {
        let with = Attributes {
            expiry: Expiry::After(Duration::from_secs(3600)),
            flags: 7,
        };
        let hint = table.set_uid(b"key", b"").unwrap();
        table.set_with(b"key", b"old", with).unwrap();
        for len in [20, 60_000, 8, 3] {
            let mut had = Vec::new();
            let replace = |old: &[u8]| {
                had = old.to_vec();
                Some(vec![b'x'; len])
            };
            let before = table.get(b"key").unwrap().unwrap();
            let updated = table.update_by_uid(hint, replace).unwrap();
            assert_eq!(updated, Updated::Stored(vec![b'x'; len]));
            assert_eq!(had, before);
            let mut now = Vec::new();
            let attributes = table.get_entry_by_uid_into(hint, &mut now).unwrap();
            assert_eq!(now, vec![b'x'; len]);
            assert_eq!(attributes.unwrap().attributes.flags, 7);
            assert_ne!(table.ttl(b"key").unwrap(), Some(Expiry::Never));
            assert_eq!(table.uid_of(b"key").unwrap(), Some(hint));
        }
        // A counter is shown as text, and is text then.
        table.remove(b"key").unwrap();
        table.incr(b"count", 41).unwrap();
        let count = table.uid_of(b"count").unwrap().unwrap();
        let found = table.update_by_uid(count.uid(), |old| Some([old, b"0"].concat()));
        assert_eq!(found.unwrap(), Updated::Stored(b"410".to_vec()));
        assert_eq!(table.incr(b"count", 1).unwrap(), 411);
        let stopped = table.try_update_by_uid::<Box<dyn std::error::Error>>(count, |_| Err("no")?);
        assert_eq!(stopped.unwrap_err().to_string(), "no");
        assert_eq!(table.get(b"count").unwrap().unwrap(), b"411");
        assert_eq!(
            table.update_by_uid(count, |_| None).unwrap(),
            Updated::Removed
        );
        let unasked = |_: &[u8]| panic!("there is no value to change");
        for gone in [hint, count, Hint::from_bits(0)] {
            assert_eq!(
                table.update_by_uid(gone, unasked).unwrap(),
                Updated::NotFound
            );
        }
        assert!(table.is_empty().unwrap());
        assert_clean(table);
    });
}

#[test]
fn an_update_begins_again_where_its_uid_went_to_another_key() {
    for with_generation in [true, false] {
        let table = options().shards(1).private().unwrap();
        let first = table.set_uid(b"first", b"same").unwrap();
        let hint = match with_generation {
            true => first,
            false => first.uid().into(),
        };
        let mut seen = 0;
        let updated = table.update_by_uid(hint, |old| {
            assert_eq!(old, b"same");
            seen += 1;
            if seen == 1 {
                // The first key is there again, but with another uid than the second.
                assert!(table.remove(b"first").unwrap());
                let second = table.set_uid(b"second", b"same").unwrap();
                assert_eq!((second.uid(), second == first), (first.uid(), false));
                table.set_uid(b"first", b"same").unwrap();
            }
            Some(b"new".to_vec())
        });
        let expected = match with_generation {
            true => (Updated::NotFound, 1, &b"same"[..]),
            false => (Updated::Stored(b"new".to_vec()), 2, &b"new"[..]),
        };
        let second = table.get(b"second").unwrap().unwrap();
        assert_eq!((updated.unwrap(), seen, &second[..]), expected);
        assert_eq!(table.get(b"first").unwrap().unwrap(), b"same");
        assert_clean(&table);
    }
}

#[test]
fn reading_only_gives_what_there_is_and_no_uid() {
    let dir = Dir::new();
    let table = options().create(dir.table("t")).unwrap();
    let named = table.set_uid(b"named", b"1").unwrap();
    table.set(b"plain", b"2").unwrap();
    let reader = Table::open_read_only(dir.table("t")).unwrap();
    assert_eq!(reader.uid_of(b"named").unwrap(), Some(named));
    assert_eq!(reader.get_by_uid(named).unwrap().unwrap(), b"1");
    assert_eq!(reader.key_of_uid(named).unwrap().unwrap(), b"named");
    assert_eq!(reader.uid_of(b"missing").unwrap(), None);
    for refused in [
        reader.uid_of(b"plain").map(|_| ()),
        reader.set_by_uid(named, b"x").map(|_| ()),
        reader.remove_by_uid(named).map(|_| ()),
        reader.set_uid(b"plain", b"x").map(|_| ()),
    ] {
        assert!(matches!(refused, Err(Error::ReadOnly)));
    }
}

#[test]
fn the_memory_of_uids_comes_back() {
    let dir = Dir::new();
    let table = options().shards(4).create(dir.table("t")).unwrap();
    table.set_uid(b"one", b"1").unwrap();
    let fresh = table.stats().unwrap();
    assert!(fresh.uid_bytes > 0);
    for number in 0..40_000u64 {
        table.set_uid(number.to_le_bytes(), b"value").unwrap();
    }
    let full = table.stats().unwrap();
    assert_eq!(full.uids, 40_001);
    assert!(full.uid_bytes >= 40_000 * 8 && full.uid_bytes < 60_000 * 8);
    for number in 0..40_000u64 {
        assert!(table.remove(number.to_le_bytes()).unwrap());
    }
    table.compact().unwrap();
    let now = table.stats().unwrap();
    assert!(now.uid_bytes <= fresh.uid_bytes + (4 << 14), "{now:?}");
    // Given out again, from where chunks were given back.
    for number in 0..40_000u64 {
        table.set_uid(number.to_le_bytes(), b"value").unwrap();
    }
    assert_eq!(table.stats().unwrap().uid_bytes, full.uid_bytes);
    assert_clean(&table);
}

#[test]
fn a_full_table_gives_no_uid_and_loses_nothing() {
    let dir = Dir::new();
    let table = Table::options()
        .max_size(1 << 20)
        .shards(1)
        .create(dir.table("t"))
        .unwrap();
    let mut set = 0u64;
    let refused = loop {
        match table.set_uid(set.to_le_bytes(), [7; 100]) {
            Ok(_) => set += 1,
            Err(error) => break error,
        }
    };
    assert!(matches!(refused, Error::Full { .. }), "{refused}");
    assert_clean(&table);
    assert_eq!(table.stats().unwrap().uids, set);
    for number in 0..set {
        let hint = table.uid_of(number.to_le_bytes()).unwrap().unwrap();
        assert_eq!(table.get_by_uid(hint).unwrap().unwrap(), [7; 100]);
        assert!(table.remove_by_uid(hint).unwrap());
    }
    table.set_uid(b"again", [7; 100]).unwrap();
    assert_clean(&table);
}

/// Writers change, remove and set keys; readers by uid see only whole values of the key that is
/// meant, and never an older one than they have seen by key.
#[test]
fn readers_by_uid_see_whole_values_and_none_older_than_by_key() {
    let dir = Dir::new();
    let table = options().shards(2).create(dir.table("t")).unwrap();
    let keys: Vec<Vec<u8>> = (0..20u64).map(|n| n.to_be_bytes().to_vec()).collect();
    let hints: Vec<Hint> = keys
        .iter()
        .map(|key| table.set_uid(key, value_of(key, 0, 40)).unwrap())
        .collect();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut random = Random::new(1);
            for version in 1..60_000u64 {
                let at = random.below(20) as usize;
                let value = value_of(&keys[at], version, 16 + random.below(60) as usize);
                match version % 3 {
                    0 => assert!(table.set_by_uid(hints[at], &value).unwrap()),
                    _ => table.set(&keys[at], &value).unwrap(),
                }
                if version % 16 == 0 {
                    // Another key comes and goes with its uid.
                    let other = table.set_uid(b"other", &value).unwrap();
                    assert!(table.remove_by_uid(other).unwrap());
                }
            }
            stop.store(true, Relaxed);
        });
        for seed in 0..2 {
            let (table, keys, hints, stop) = (&table, &keys, &hints, &stop);
            scope.spawn(move || {
                let mut random = Random::new(seed + 7);
                let mut is_last = false;
                while !is_last {
                    is_last = stop.load(Relaxed);
                    let at = random.below(20) as usize;
                    let read =
                        |value: Option<Vec<u8>>| version_of(&keys[at], &value.unwrap()).unwrap();
                    let before = read(table.get(&keys[at]).unwrap());
                    let named = read(table.get_by_uid(hints[at]).unwrap());
                    let after = read(table.get(&keys[at]).unwrap());
                    assert!(before <= named && named <= after);
                }
            });
        }
    });
    assert_clean(&table);
}

//! Tables of fixed lengths: the answers are those of a map, other lengths are refused, and an item
//! is its key and its value.

use crate::support::format::{Image, PAGE, SLAB, UID_BIRTHS};
use crate::support::patience::Watch;
use crate::support::{Dir, Random, any_uid, assert_clean, over_every_table, rounds, value_of};
use std::path::Path;
use tavola::{Error, Hint, Options, Table};
use tavola_model::{Fixed, Life, Model, Op, agree, play};

/// Words, words that are not aligned, no value, more than a line, the longest.
const LENGTHS: [(u32, u32); 7] = [
    (8, 8),
    (16, 8),
    (4, 8),
    (3, 0),
    (1, 1),
    (20, 100),
    (300, 15_869),
];

fn options(key: u32, value: u32, uids: bool) -> Options {
    let options = Table::options().max_size(32 << 20);
    options.fixed(key, value).uids(uids)
}

fn key_of(number: u64, len: u32) -> Vec<u8> {
    let mut key = number.to_le_bytes().to_vec();
    key.resize(len as usize, b'k');
    key
}

/// An operation on a table of these lengths.
fn draw(random: &mut Random, keys: u64, key: u32, value: u32, model: &Model) -> Op {
    let key = key_of(random.below(keys), key);
    let value = random.bytes(value as usize);
    match random.below(30) {
        0..=2 => Op::Set(key, value),
        3 => Op::SetMany(vec![(key, value)]),
        4 | 5 => Op::Add(key, value),
        6 | 7 => Op::Replace(key, value),
        8 => Op::Swap(key, value),
        9 | 10 => Op::Turn(key, value),
        11 | 12 => Op::Remove(key),
        13 => Op::Take(key),
        14 | 15 => Op::CompareAndSwap(key, value, None),
        16 => Op::UidOf(key),
        17 => Op::RemoveByUid(any_uid(random, model)),
        18 => Op::SetByUid(any_uid(random, model), value),
        19 => Op::UpdateByUid(any_uid(random, model), value),
        20 => Op::Incr(key, random.next()),
        21 => Op::Decr(key, random.next()),
        22 => Op::IncrByUid(any_uid(random, model), random.next()),
        23 => Op::DecrByUid(any_uid(random, model), random.next()),
        24 => Op::GetByUid(any_uid(random, model)),
        25 => Op::AppendWith(key, value, Life::Forever, 0),
        26 => Op::PrependWith(key, Vec::new(), Life::Default, 0),
        _ => Op::Get(key),
    }
}

#[test]
fn the_answers_are_those_of_a_map() {
    for lengths in LENGTHS {
        // Not so many keys that they do not fit, not more than there are.
        let keys = match lengths {
            (1, _) => 200,
            (_, 15_869) => 300,
            _ => 3_000,
        };
        for uids in [false, true] {
            over_every_table(options(lengths.0, lengths.1, uids), |table| {
                let mut random = Random::new(u64::from(lengths.0) << 32 | u64::from(lengths.1));
                let (key, value) = (lengths.0 as usize, lengths.1 as usize);
                let mut model = Model::new(Some(Fixed { key, value, uids }), uids);
                for op in [Op::Compact, Op::Repair, Op::Walk, Op::Clear] {
                    for _ in 0..rounds(4_000) {
                        let next = draw(&mut random, keys, lengths.0, lengths.1, &model);
                        play(table, &mut model, &next).unwrap();
                    }
                    agree(table, &model).unwrap();
                    play(table, &mut model, &op).unwrap();
                    agree(table, &model).unwrap();
                }
                // What is stored by an update, there and not there.
                for version in [7, 8] {
                    let (key, value) = (key_of(1, lengths.0), vec![version; value]);
                    let updated = table.update(&key, |_| Some(value.clone()));
                    assert_eq!(updated.unwrap().as_ref(), Some(&value));
                    model.apply(&Op::Set(key, value));
                    agree(table, &model).unwrap();
                }
            });
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "needs files")]
fn a_table_keeps_its_lengths_and_is_read_before_it_is_mapped() {
    let dir = Dir::new();
    for lengths in LENGTHS {
        let path = dir.table(&format!("{}-{}", lengths.0, lengths.1));
        let mut random = Random::new(1);
        let value = random.bytes(lengths.1 as usize);
        let key = key_of(7, lengths.0);
        let made = options(lengths.0, lengths.1, false).create(&path).unwrap();
        made.set(&key, &value).unwrap();
        for opened in [
            Table::open_read_only(&path).unwrap(),
            Table::options().fixed(2, 2).open(&path).unwrap(),
        ] {
            // The first reads are done without a mapping.
            for _ in 0..4 {
                assert_eq!(opened.get(&key).unwrap().as_ref(), Some(&value));
                assert_eq!(opened.get(key_of(8, lengths.0)).unwrap(), None);
            }
        }
    }
}

#[test]
fn other_lengths_are_refused_and_nothing_changes() {
    over_every_table(options(8, 8, false), |table| {
        let (key, value) = (1u64.to_le_bytes(), 2u64.to_le_bytes());
        table.set(key, value).unwrap();
        let refused = |outcome: tavola::Result<bool>| {
            let error = outcome.unwrap_err();
            assert!(
                matches!(error, Error::Lengths { key: 8, value: 8 }),
                "{error}"
            );
            assert!(error.to_string().contains("8 bytes"), "{error}");
        };
        for other in [&b""[..], b"1234567", b"123456789", &[0; 40_000]] {
            refused(table.set(key, other).map(|()| true));
            refused(table.set(other, value).map(|()| true));
            refused(table.add(other, value));
            refused(table.replace(key, other));
            refused(table.swap(key, other).map(|_| true));
            refused(table.update(key, |_| Some(other.to_vec())).map(|_| true));
            refused(table.set_many(&[(&key[..], other)]).map(|()| true));
            assert_eq!(table.get(other).unwrap(), None);
            assert!(!table.contains(other).unwrap());
            assert!(!table.remove(other).unwrap());
            assert_eq!(table.take(other).unwrap(), None);
        }
        refused(table.append(key, b"1"));
        refused(table.prepend(key, b"1"));
        refused(table.incr(b"1234567", 1).map(|_| true));
        refused(table.decr(b"123456789", 1).map(|_| true));
        for outcome in [
            table.uid_of(key).map(|_| ()),
            table.set_uid(key, value).map(|_| ()),
        ] {
            assert!(matches!(outcome, Err(Error::NoUids)));
        }
        let mut only = Model::default();
        only.apply(&Op::Set(key.to_vec(), value.to_vec()));
        agree(table, &only).unwrap();
    });
}

#[test]
fn lengths_that_no_table_can_have_are_refused() {
    for (key, value) in [(0, 8), (1, 16_169), (16_170, 0), (u32::MAX, u32::MAX)] {
        let outcome = options(key, value, false).private();
        assert!(matches!(
            outcome,
            Err(Error::BadOption {
                option: "fixed",
                ..
            })
        ));
    }
    options(1, 16_168, true).private().unwrap();
}

#[test]
fn an_item_is_its_key_and_its_value() {
    let block_of = |options: Options| {
        let table = options.private().unwrap();
        table.set([1; 8], [2; 8]).unwrap();
        let stats = table.stats().unwrap();
        let used = stats.classes.iter().find(|class| class.used > 0).unwrap();
        used.block_bytes
    };
    assert_eq!(block_of(options(8, 8, false)), 16);
    assert_eq!(block_of(options(8, 8, true)), 24);
    assert_eq!(block_of(Table::options().max_size(8 << 20)), 24);
}

/// Keys of the table whose bits are flipped, each with its value and where its item is.
struct Known {
    key: Vec<u8>,
    value: Vec<u8>,
    hint: Hint,
    at: u64,
}

const FLIPPED: (u32, u32) = (16, 32);
/// Bytes of such an item, its uid among them.
const ITEM: u64 = 56;

fn known(path: &Path) -> (Image, Vec<Known>) {
    let table = options(FLIPPED.0, FLIPPED.1, true)
        .max_size(2 << 20)
        .shards(1)
        .create(path)
        .unwrap();
    let mut all = Vec::new();
    for number in 0..500u64 {
        let key = value_of(b"key", number, FLIPPED.0 as usize);
        let value = value_of(&key, number, FLIPPED.1 as usize);
        let hint = table.set_uid(&key, &value).unwrap();
        all.push((key, value, hint));
    }
    drop(table);
    let image = Image::read(path);
    let place_of = |key: &[u8]| {
        image.pages(SLAB).into_iter().find_map(|page| {
            let bytes = &image.bytes[(page * PAGE) as usize..][..PAGE as usize];
            let mut windows = bytes.windows(key.len());
            windows
                .position(|window| window == key)
                .map(|at| page * PAGE + at as u64)
        })
    };
    let known = |(key, value, hint): (Vec<u8>, Vec<u8>, Hint)| {
        let at = place_of(&key).unwrap();
        Known {
            key,
            value,
            hint,
            at,
        }
    };
    let all = all.into_iter().map(known).collect();
    (image, all)
}

/// The keys that are there, and have their own values.
fn still_there(table: &Table, all: &[Known], flipped: u64, is_repaired: bool) -> usize {
    let mut there = 0;
    for one in all {
        let is_touched = (one.at..one.at + ITEM).contains(&flipped);
        let answers = [table.get(&one.key), table.get_by_uid(one.hint)];
        there += usize::from(matches!(answers[0], Ok(Some(_))));
        for answer in answers {
            match answer {
                Ok(Some(value)) => assert!(value == one.value || is_touched, "a wrong value"),
                Ok(None) => {}
                Err(Error::Corrupt { .. }) if !is_repaired => {}
                Err(error) => panic!("{error}"),
            }
        }
    }
    there
}

fn damage_allowed<T>(outcome: tavola::Result<T>) {
    match outcome {
        Ok(_) | Err(Error::Corrupt { .. } | Error::Full { .. }) => {}
        Err(error) => panic!("{error}"),
    }
}

/// A bit, mostly of words that are in use; not of the counter of generations, as nobody can notice
/// a change of it.
fn any_bit(image: &Image, random: &mut Random) -> (u64, u32) {
    let end = image.high_water() * PAGE;
    let births = image.shard(0) + UID_BIRTHS;
    loop {
        let at = random.below(end);
        if (births..births + 4).contains(&at) {
            continue;
        }
        if random.below(64) == 0 || image.word64(at & !7) != 0 {
            return (at, random.below(8) as u32);
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "needs files")]
fn one_flipped_bit_is_no_wrong_answer() {
    let dir = Dir::new();
    let (image, all) = known(&dir.table("template"));
    let (path, mut random) = (dir.table("flipped"), Random::new(9));
    for turn in 0..1500 {
        let (at, bit) = any_bit(&image, &mut random);
        let mut flipped = Image {
            bytes: image.bytes.clone(),
        };
        flipped.flip(at, bit);
        flipped.write(&path);
        let _watch = Watch::begin();
        let table = match Table::open(&path) {
            Ok(table) => table,
            Err(Error::NotATable { .. } | Error::Version { .. } | Error::Endianness { .. }) => {
                continue;
            }
            Err(error) => panic!("{error}"),
        };
        if turn % 2 == 0 {
            still_there(&table, &all, at, false);
            for n in 0..40u64 {
                let key = value_of(b"other", n, 16);
                damage_allowed(table.set(&key, value_of(&key, n, 32)));
                damage_allowed(table.remove(&key));
            }
            still_there(&table, &all, at, false);
        }
        table.repair().unwrap();
        assert_clean(&table);
        still_there(&table, &all, at, true);
        for one in &all {
            table.set(&one.key, &one.value).unwrap();
        }
        assert_eq!(still_there(&table, &all, u64::MAX, true), all.len());
        assert_clean(&table);
    }
}

//! Tables of fixed lengths: the answers are those of a map, other lengths are refused, and an item
//! is its key and its value.

use crate::support::format::{Image, PAGE, SLAB, UID_BIRTHS};
use crate::support::patience::Watch;
use crate::support::{Dir, Random, assert_clean, over_every_table, value_of};
use std::collections::HashMap;
use std::path::Path;
use tavola::{CasOutcome, Error, Hint, Options, Table};

type Model = HashMap<Vec<u8>, Vec<u8>>;

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

fn options((key, value): (u32, u32), uids: bool) -> Options {
    let options = Table::options().max_size(32 << 20);
    options.fixed(key, value).uids(uids)
}

fn key_of(number: u64, len: u32) -> Vec<u8> {
    let mut key = number.to_le_bytes().to_vec();
    key.resize(len as usize, b'k');
    key
}

/// A table at work beside its model.
struct Play<'a> {
    table: &'a Table,
    lengths: (u32, u32),
    uids: bool,
    model: Model,
    hints: HashMap<Vec<u8>, Hint>,
    random: Random,
}

impl<'a> Play<'a> {
    fn new(table: &'a Table, lengths: (u32, u32), uids: bool) -> Self {
        Self {
            table,
            lengths,
            uids,
            model: Model::new(),
            hints: HashMap::new(),
            random: Random::new(u64::from(lengths.0) << 32 | u64::from(lengths.1)),
        }
    }

    fn value(&mut self) -> Vec<u8> {
        self.random.bytes(self.lengths.1 as usize)
    }

    fn write(&mut self, key: &[u8]) {
        let value = self.value();
        let (table, model) = (self.table, &mut self.model);
        let is_there = model.contains_key(key);
        let done = match self.random.below(7) {
            0 | 1 => table.set(key, &value).map(|()| true),
            2 => table.set_many(&[(key, &value)]).map(|()| true),
            3 => Ok(table.add(key, &value).unwrap() && !is_there),
            4 => Ok(table.replace(key, &value).unwrap() && is_there),
            5 => {
                assert_eq!(table.swap(key, &value).unwrap().as_ref(), model.get(key));
                Ok(true)
            }
            _ => {
                let now = table.update(key, |old| {
                    assert_eq!(old, model.get(key).map(|value| &value[..]));
                    Some(value.clone())
                });
                now.map(|now| now.as_ref() == Some(&value))
            }
        };
        if done.unwrap() {
            model.insert(key.to_vec(), value);
        }
    }

    fn remove(&mut self, key: &[u8]) {
        let had = self.model.remove(key);
        match self.random.below(2) {
            0 => assert_eq!(self.table.remove(key).unwrap(), had.is_some()),
            _ => assert_eq!(self.table.take(key).unwrap(), had),
        }
        self.hints.remove(key);
    }

    fn swap_by_token(&mut self, key: &[u8]) {
        let value = self.value();
        let Some((old, token)) = self.table.get_with_token(key).unwrap() else {
            assert!(!self.model.contains_key(key));
            return;
        };
        assert_eq!(self.model.insert(key.to_vec(), value.clone()), Some(old));
        let swapped = self.table.compare_and_swap(key, token, &value);
        assert_eq!(swapped.unwrap(), CasOutcome::Swapped);
    }

    fn by_uid(&mut self, key: &[u8]) {
        let value = self.value();
        let Some(old) = self.model.get(key).cloned() else {
            assert_eq!(self.table.uid_of(key).unwrap(), None);
            return;
        };
        let hint = self.table.uid_of(key).unwrap().unwrap();
        assert_eq!(*self.hints.entry(key.to_vec()).or_insert(hint), hint);
        assert_eq!(self.table.get_by_uid(hint).unwrap(), Some(old));
        assert_eq!(
            self.table.key_of_uid(hint.uid()).unwrap().as_deref(),
            Some(key)
        );
        if self.random.below(3) == 0 {
            assert!(self.table.remove_by_uid(hint).unwrap());
            assert_eq!(self.table.get_by_uid(hint).unwrap(), None);
            self.model.remove(key);
            self.hints.remove(key);
        } else {
            assert!(self.table.set_by_uid(hint, &value).unwrap());
            self.model.insert(key.to_vec(), value);
        }
    }

    fn steps(&mut self, keys: u64, steps: u64) {
        for _ in 0..steps {
            let key = key_of(self.random.below(keys), self.lengths.0);
            match self.random.below(12) {
                0..=4 => self.write(&key),
                5 | 6 => self.remove(&key),
                7 => self.swap_by_token(&key),
                8 | 9 if self.uids => self.by_uid(&key),
                _ => assert_eq!(self.table.get(&key).unwrap().as_ref(), self.model.get(&key)),
            }
        }
    }

    fn agree(&self) {
        agree(self.table, &self.model);
        for (key, hint) in &self.hints {
            assert_eq!(
                self.table.get_by_uid(*hint).unwrap(),
                self.model.get(key).cloned()
            );
        }
    }
}

fn agree(table: &Table, model: &Model) {
    let keys: Vec<&Vec<u8>> = model.keys().collect();
    let mut seen = 0;
    let look = |i: usize, value: Option<&[u8]>| {
        assert_eq!(value, Some(&model[keys[i]][..]));
        seen += 1;
    };
    table.get_many(&keys, look).unwrap();
    assert_eq!(
        (seen, table.len().unwrap()),
        (keys.len(), keys.len() as u64)
    );
    let walked: Model = table.iter().map(Result::unwrap).collect();
    assert_eq!(&walked, model);
    assert_clean(table);
}

fn steps(steps: u64) -> u64 {
    if cfg!(miri) { steps / 200 } else { steps }
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
            over_every_table(options(lengths, uids), |table| {
                let mut play = Play::new(table, lengths, uids);
                play.steps(keys, steps(12_000));
                play.agree();
                table.compact().unwrap();
                play.agree();
                table.repair().unwrap();
                play.agree();
                play.steps(keys, steps(2_000));
                play.agree();
                table.clear().unwrap();
                agree(table, &Model::new());
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
        let made = options(lengths, false).create(&path).unwrap();
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
    over_every_table(options((8, 8), false), |table| {
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
        refused(table.incr(key, 1).map(|_| true));
        refused(table.decr(key, 1).map(|_| true));
        for outcome in [
            table.uid_of(key).map(|_| ()),
            table.set_uid(key, value).map(|_| ()),
        ] {
            assert!(matches!(outcome, Err(Error::NoUids)));
        }
        let only = Model::from([(key.to_vec(), value.to_vec())]);
        agree(table, &only);
    });
}

#[test]
fn lengths_that_no_table_can_have_are_refused() {
    for (key, value) in [(0, 8), (1, 16_169), (16_170, 0), (u32::MAX, u32::MAX)] {
        let outcome = options((key, value), false).private();
        assert!(matches!(
            outcome,
            Err(Error::BadOption {
                option: "fixed",
                ..
            })
        ));
    }
    options((1, 16_168), true).private().unwrap();
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
    assert_eq!(block_of(options((8, 8), false)), 16);
    assert_eq!(block_of(options((8, 8), true)), 24);
    assert_eq!(block_of(Table::options().max_size(8 << 20)), 24);
}

/// Keys of the table whose bits are flipped, each with its value and where its item stands.
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
    let table = options(FLIPPED, true)
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

//! Random operations against a map of the standard library: the answers are the same.

use crate::support::{Random, over_every_table};
use std::collections::HashMap;
use tavola::{CasOutcome, Error, Table};

type Model = HashMap<Vec<u8>, Vec<u8>>;

/// Keys from a small set, so that operations meet; among them an empty and a long one.
fn key(random: &mut Random, keys: u64) -> Vec<u8> {
    match random.below(keys) {
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
        _ => random.below(40),
    };
    random.bytes(len as usize)
}

fn number(text: &[u8]) -> Option<u64> {
    let is_number = !text.is_empty() && text.len() <= 20 && text.iter().all(u8::is_ascii_digit);
    if is_number {
        std::str::from_utf8(text).unwrap().parse().ok()
    } else {
        None
    }
}

fn write(table: &Table, model: &mut Model, random: &mut Random, key: Vec<u8>) {
    let value = value(random);
    match random.below(8) {
        0 | 1 => {
            table.set(&key, &value).unwrap();
            model.insert(key, value);
        }
        2 => {
            assert_eq!(table.add(&key, &value).unwrap(), !model.contains_key(&key));
            model.entry(key).or_insert(value);
        }
        3 => {
            assert_eq!(
                table.replace(&key, &value).unwrap(),
                model.contains_key(&key)
            );
            model.entry(key).and_modify(|old| *old = value);
        }
        4 => {
            let more = random.bytes(9);
            assert_eq!(table.append(&key, &more).unwrap(), model.contains_key(&key));
            model.entry(key).and_modify(|old| old.extend(more));
        }
        5 => {
            let more = random.bytes(9);
            assert_eq!(
                table.prepend(&key, &more).unwrap(),
                model.contains_key(&key)
            );
            model
                .entry(key)
                .and_modify(|old| *old = [&more[..], old].concat());
        }
        6 => assert_eq!(table.swap(&key, &value).unwrap(), model.insert(key, value)),
        _ => {
            let flipped = |old: Option<&[u8]>| old.is_none().then(|| value.clone());
            assert_eq!(
                table.update(&key, flipped).unwrap(),
                flipped(model.get(&key).map(|v| &v[..]))
            );
            match model.remove(&key) {
                Some(_) => {}
                None => drop(model.insert(key, value)),
            }
        }
    }
}

fn remove(table: &Table, model: &mut Model, random: &mut Random, key: &[u8]) {
    match random.below(2) {
        0 => assert_eq!(table.remove(key).unwrap(), model.remove(key).is_some()),
        _ => assert_eq!(table.take(key).unwrap(), model.remove(key)),
    }
}

fn count(table: &Table, model: &mut Model, random: &mut Random, key: Vec<u8>) {
    let by = random.below(1000);
    let up = random.below(2) == 0;
    let changed = if up {
        table.incr(&key, by)
    } else {
        table.decr(&key, by)
    };
    let now = match model.get(&key) {
        None => Some(if up { by } else { 0 }),
        Some(old) => number(old).map(|n| {
            if up {
                n.wrapping_add(by)
            } else {
                n.saturating_sub(by)
            }
        }),
    };
    match now {
        Some(now) => {
            assert_eq!(changed.unwrap(), now);
            model.insert(key, now.to_string().into_bytes());
        }
        None => assert!(matches!(changed, Err(Error::NotACounter))),
    }
}

fn swap_by_token(table: &Table, model: &mut Model, random: &mut Random, key: Vec<u8>) {
    let new = value(random);
    let Some((old, token)) = table.get_with_token(&key).unwrap() else {
        assert!(!model.contains_key(&key));
        return;
    };
    assert_eq!(Some(&old), model.get(&key));
    if random.below(3) == 0 {
        let other = random.next().to_string().into_bytes();
        table.set(&key, &other).unwrap();
        model.insert(key.clone(), other);
        assert_eq!(
            table.compare_and_swap(&key, token, &new).unwrap(),
            CasOutcome::Changed
        );
    } else {
        assert_eq!(
            table.compare_and_swap(&key, token, &new).unwrap(),
            CasOutcome::Swapped
        );
        model.insert(key, new);
    }
}

fn agree(table: &Table, model: &Model) {
    assert_eq!(table.len().unwrap(), model.len() as u64);
    let keys: Vec<&Vec<u8>> = model.keys().collect();
    let mut seen = 0;
    table
        .get_many(&keys, |i, value| {
            assert_eq!(value, Some(&model[keys[i]][..]));
            seen += 1;
        })
        .unwrap();
    assert_eq!(seen, keys.len());
    let walked: Model = table.iter().map(Result::unwrap).collect();
    assert_eq!(&walked, model);
    let report = table.check().unwrap();
    assert!(report.is_clean(), "{:?}", report.problems);
    assert_eq!(report.keys, model.len() as u64);
    assert_eq!(report.bytes_in_use, report.bytes_reachable);
}

fn play(table: &Table, seed: u64, keys: u64, rounds: u64) {
    let mut random = Random::new(seed);
    let mut model = Model::new();
    for _ in 0..rounds {
        let key = key(&mut random, keys);
        match random.below(12) {
            0..=4 => write(table, &mut model, &mut random, key),
            5 | 6 => remove(table, &mut model, &mut random, &key),
            7 => count(table, &mut model, &mut random, key),
            8 => swap_by_token(table, &mut model, &mut random, key),
            _ => {
                assert_eq!(table.get(&key).unwrap().as_ref(), model.get(&key));
                assert_eq!(table.contains(&key).unwrap(), model.contains_key(&key));
            }
        }
    }
    agree(table, &model);
    table.compact().unwrap();
    agree(table, &model);
    table.repair().unwrap();
    agree(table, &model);
    table.clear().unwrap();
    agree(table, &Model::new());
}

fn rounds(rounds: u64) -> u64 {
    if cfg!(miri) { rounds / 200 } else { rounds }
}

#[test]
fn few_keys_many_changes() {
    over_every_table(Table::options().max_size(32 << 20), |table| {
        play(table, 1, 20, rounds(20_000));
    });
    let versions = Table::options().max_size(32 << 20).versions(true);
    over_every_table(versions, |table| play(table, 3, 20, rounds(10_000)));
}

#[test]
fn many_keys_splits_and_moves() {
    over_every_table(Table::options().max_size(64 << 20), |table| {
        play(table, 2, 20_000, rounds(60_000));
    });
}

#[test]
fn growing_and_shrinking() {
    let keys = rounds(60_000);
    over_every_table(Table::options().max_size(64 << 20), |table| {
        for round in 0..3u64 {
            let pairs: Vec<_> = (0..keys)
                .map(|n| (n.to_le_bytes(), (n ^ round).to_le_bytes()))
                .collect();
            table.set_many(&pairs).unwrap();
            agree(
                table,
                &pairs
                    .iter()
                    .map(|(k, v)| (k.to_vec(), v.to_vec()))
                    .collect(),
            );
            for n in 0..keys {
                assert!(table.remove(n.to_le_bytes()).unwrap());
            }
            agree(table, &Model::new());
        }
    });
}

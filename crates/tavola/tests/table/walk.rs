//! Scanning a table while it changes: a key that is there all the time is met.

use crate::support::{Dir, Random, assert_clean, over_every_table, value_of, version_of};
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use tavola::Table;

const LASTING: u64 = 2000;

fn lasting(number: u64) -> Vec<u8> {
    format!("lasting {number}").into_bytes()
}

fn passing(number: u64) -> Vec<u8> {
    format!("passing {number}").into_bytes()
}

/// Scans; the lasting keys that were met. Every entry is whole.
fn walk(table: &Table) -> HashSet<Vec<u8>> {
    let mut met = HashSet::new();
    for entry in table.iter() {
        let (key, value) = entry.unwrap();
        version_of(&key, &value).unwrap();
        if key.starts_with(b"lasting") {
            met.insert(key);
        }
    }
    met
}

fn assert_met(table: &Table) {
    let met = walk(table);
    let missed: Vec<u64> = (0..LASTING)
        .filter(|number| !met.contains(&lasting(*number)))
        .collect();
    assert!(
        missed.is_empty(),
        "{} missed, {:?}",
        missed.len(),
        &missed[..missed.len().min(5)]
    );
}

fn set(table: &Table, key: &[u8], version: u64, len: usize) {
    table.set(key, value_of(key, version, len)).unwrap();
}

/// A hundred times as many keys come and go during the scans, as often as it takes for some to meet
/// that.
fn breathe(table: &Table, changing: &AtomicBool, walks: &AtomicU64) {
    for round in (0..).take_while(|round| *round < 2 || walks.load(Ordering::Relaxed) < 2) {
        for number in 0..LASTING * 100 {
            set(table, &passing(number), round, 16);
        }
        for number in 0..LASTING * 100 {
            assert!(table.remove(passing(number)).unwrap());
        }
    }
    changing.store(false, Ordering::Relaxed);
}

/// The lasting keys are overwritten all the time, so that their items move.
fn overwrite(table: &Table, changing: &AtomicBool) {
    let mut random = Random::new(1);
    while changing.load(Ordering::Relaxed) {
        let key = lasting(random.below(LASTING));
        set(table, &key, random.next(), 16 + random.below(64) as usize);
    }
}

#[test]
fn keys_that_stay_are_met_while_the_table_grows_and_shrinks() {
    over_every_table(Table::options().max_size(64 << 20), |table| {
        for number in 0..LASTING {
            set(table, &lasting(number), 0, 16);
        }
        let changing = AtomicBool::new(true);
        let walks = AtomicU64::new(0);
        std::thread::scope(|scope| {
            scope.spawn(|| breathe(table, &changing, &walks));
            scope.spawn(|| overwrite(table, &changing));
            scope.spawn(|| {
                while changing.load(Ordering::Relaxed) {
                    assert_met(table);
                    walks.fetch_add(1, Ordering::Relaxed);
                }
            });
        });
        assert_met(table);
        assert_clean(table);
    });
}

#[test]
fn keys_that_stay_are_met_while_the_table_is_compacted() {
    let dir = Dir::new();
    let options = Table::options().max_size(64 << 20).shards(1);
    let table = options.create(dir.table("t")).unwrap();
    for number in 0..LASTING {
        set(&table, &lasting(number), 0, 16);
    }
    for round in 0..3 {
        for number in 0..60_000 {
            set(&table, &passing(number), round, 16);
        }
        for number in 0..60_000 {
            assert!(table.remove(passing(number)).unwrap());
        }
        let compacting = AtomicBool::new(true);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                table.compact().unwrap();
                compacting.store(false, Ordering::Relaxed);
            });
            while compacting.load(Ordering::Relaxed) {
                assert_met(&table);
            }
        });
        assert_clean(&table);
    }
}

/// One scan, held up again and again; between its steps the table turns over.
#[test]
fn one_slow_walk_over_a_table_that_turns_over() {
    over_every_table(Table::options().max_size(64 << 20), |table| {
        for number in 0..LASTING {
            set(table, &lasting(number), 0, 40);
        }
        let mut met = HashSet::new();
        let mut walk = table.iter();
        let mut step = 0;
        while let Some((key, value)) = walk.next_entry().unwrap() {
            version_of(key, value).unwrap();
            if key.starts_with(b"lasting") {
                met.insert(key.to_vec());
            }
            step += 1;
            if step % 250 == 0 {
                turn_over(table, step);
            }
            assert!(step < 10_000_000, "the walk does not end");
        }
        assert_eq!(met.len() as u64, LASTING);
    });
}

/// Grows far, or shrinks to the lasting keys and compacts what can be without waiting.
fn turn_over(table: &Table, step: u64) {
    if step.is_multiple_of(500) {
        for number in 0..15_000 {
            set(table, &passing(number), step, 16);
        }
    } else {
        for number in 0..15_000 {
            table.remove(passing(number)).unwrap();
        }
    }
}

#[test]
fn a_walk_over_an_emptied_table_ends() {
    over_every_table(Table::options().max_size(16 << 20), |table| {
        for number in 0..LASTING {
            set(table, &lasting(number), 0, 300);
        }
        let mut walk = table.iter();
        assert!(walk.next_entry().unwrap().is_some());
        table.clear().unwrap();
        let mut rest = 0;
        while walk.next_entry().unwrap().is_some() {
            rest += 1;
        }
        assert!(rest < LASTING, "{rest} keys after a clear");
        assert_eq!(table.iter().count(), 0);
    });
}

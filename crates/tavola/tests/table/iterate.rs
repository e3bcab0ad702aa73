//! A scan meets every key that is there from its beginning to its end, whatever else comes and
//! goes.

use crate::support::{Dir, assert_clean, over_every_table, value_of};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use tavola::{Cursor, Options, Table};

const KEPT: u64 = 400;
const GROWTH: u64 = 100;

fn options() -> Options {
    Table::options().max_size(64 << 20)
}

fn kept_key(number: u64) -> Vec<u8> {
    format!("kept {number}").into_bytes()
}

fn passing_key(number: u64) -> Vec<u8> {
    format!("passing {number}").into_bytes()
}

/// Grows the table a hundredfold, shrinks it again and compacts it.
fn breathe(table: &Table) {
    for number in 0..KEPT * GROWTH {
        let key = passing_key(number);
        table.set(&key, &key).unwrap();
    }
    for number in 0..KEPT * GROWTH {
        assert!(table.remove(passing_key(number)).unwrap());
    }
    table.compact().unwrap();
}

/// One scan; every kept key is met with its value, and nothing that was never set.
fn walk(table: &Table) {
    let mut met = vec![false; KEPT as usize];
    for entry in table.iter() {
        let (key, value) = entry.unwrap();
        let text = std::str::from_utf8(&key).unwrap();
        if let Some(number) = text.strip_prefix("kept ") {
            let number: u64 = number.parse().unwrap();
            assert_eq!(value, value_of(&key, number, 40));
            met[number as usize] = true;
        } else {
            assert!(text.starts_with("passing "), "{text}");
            assert_eq!(value, key);
        }
    }
    let missed: Vec<usize> = (0..met.len()).filter(|number| !met[*number]).collect();
    assert!(missed.is_empty(), "missed {missed:?}");
}

fn scan_while_it_breathes(table: &Table) {
    for number in 0..KEPT {
        let key = kept_key(number);
        table.set(&key, value_of(&key, number, 40)).unwrap();
    }
    let walks = AtomicU64::new(0);
    std::thread::scope(|scope| {
        // As often as it takes for some scans to meet it.
        let breather = scope.spawn(|| {
            breathe(table);
            while walks.load(Relaxed) < 3 {
                breathe(table);
            }
        });
        while !breather.is_finished() {
            walk(table);
            walks.fetch_add(1, Relaxed);
        }
    });
    assert_eq!(table.len().unwrap(), KEPT);
    walk(table);
    assert_clean(table);
}

#[test]
fn a_walk_meets_what_stays_while_a_mapped_table_breathes() {
    let dir = Dir::new();
    let options = options().shards(4);
    scan_while_it_breathes(&options.create(dir.table("t")).unwrap());
}

#[test]
fn a_walk_meets_what_stays_while_a_private_table_breathes() {
    scan_while_it_breathes(&options().shards(1).private().unwrap());
}

#[test]
fn both_kinds_of_iteration_agree_on_a_quiet_table() {
    over_every_table(options(), |table| {
        assert!(table.iter().next_entry().unwrap().is_none());
        let mut model = BTreeMap::new();
        for number in 0..5_000u64 {
            let key = kept_key(number);
            let len = if number % 1000 == 0 {
                50_000
            } else {
                number % 300
            };
            let value = value_of(&key, number, len as usize);
            table.set(&key, &value).unwrap();
            model.insert(key, value);
        }
        let mut lent = Vec::new();
        let mut walk = table.iter();
        while let Some((key, value)) = walk.next_entry().unwrap() {
            lent.push((key.to_vec(), value.to_vec()));
        }
        assert!(
            walk.next_entry().unwrap().is_none(),
            "the end stays the end"
        );
        let owned: Vec<_> = table.iter().map(Result::unwrap).collect();
        assert_eq!(lent, owned);
        assert_eq!(owned.len(), model.len(), "each key once");
        assert_eq!(owned.into_iter().collect::<BTreeMap<_, _>>(), model);
    });
}

/// Rests after each of its entries, or each few; between two of them much may happen.
fn scan_with_rests(table: &Table, mut between: impl FnMut(u64)) -> Vec<Vec<u8>> {
    let (mut met, mut rests) = (Vec::new(), 0);
    let mut cursor = Cursor::default();
    loop {
        let mut entries = table.resume(cursor);
        for _ in 0..=rests % 7 {
            match entries.next_with_class().unwrap() {
                Some(((key, value, _), class)) => {
                    assert!((1..=64).contains(&class));
                    if key.starts_with(b"kept") {
                        assert_eq!(value.len(), 40);
                    }
                    met.push(key.to_vec());
                }
                None => return met,
            }
        }
        cursor = entries.pause();
        between(rests);
        rests += 1;
    }
}

fn keep(table: &Table) {
    for number in 0..KEPT {
        let key = kept_key(number);
        table.set(&key, value_of(&key, number, 40)).unwrap();
    }
}

#[test]
fn a_walk_that_rests_meets_each_key_once_where_nothing_changes() {
    over_every_table(options(), |table| {
        keep(table);
        let mut met = scan_with_rests(table, |_| ());
        met.sort();
        let mut kept: Vec<_> = (0..KEPT).map(kept_key).collect();
        kept.sort();
        assert!(met == kept);
    });
}

#[test]
fn a_walk_that_rests_meets_what_stays() {
    let table = options().private().unwrap();
    keep(&table);
    let met = scan_with_rests(&table, |rests| match rests {
        // Splits many times, then merges while a segment is read.
        20 => (0..KEPT * GROWTH).for_each(|n| table.set(passing_key(n), b"").unwrap()),
        60 => breathe(&table),
        _ => (),
    });
    for number in 0..KEPT {
        assert!(met.contains(&kept_key(number)), "{number}");
    }
}

#[test]
fn a_cursor_of_another_table_does_no_harm() {
    let (large, small) = (
        options().private().unwrap(),
        options().shards(1).private().unwrap(),
    );
    breathe(&large);
    keep(&large);
    keep(&small);
    for skipped in 0..KEPT {
        let mut entries = large.iter();
        for _ in 0..skipped {
            entries.next_entry().unwrap();
        }
        let mut other = small.resume(entries.pause());
        let mut met = 0;
        while let Some((key, _)) = other.next_entry().unwrap() {
            assert!(key.starts_with(b"kept "));
            met += 1;
        }
        assert!(met <= KEPT + 400);
    }
}

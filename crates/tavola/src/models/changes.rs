//! Writers of one key: what depends on the old value is done as if one came after the other.

use super::{Observer, Table, Write, beside, explore, quietly, table, thread};
use crate::values::{Attributes, CasOutcome, Expiry};
use std::sync::{Arc, Mutex};

fn number(table: &Table, key: &[u8]) -> u64 {
    let text = table
        .get(key)
        .unwrap()
        .expect("a key that is there throughout");
    std::str::from_utf8(&text).unwrap().parse().unwrap()
}

/// A reader of a number that only grows.
fn grows(key: &'static [u8]) -> Observer {
    let mut last = 0;
    Box::new(move |t| {
        let now = number(t, key);
        assert!(now >= last, "{now} after {last}");
        last = now;
    })
}

fn add_one(old: Option<&[u8]>) -> Option<Vec<u8>> {
    let number: u64 = std::str::from_utf8(old?).unwrap().parse().unwrap();
    Some((number + 1).to_string().into_bytes())
}

#[test]
fn sums_are_exact() {
    explore(2000, || {
        let table = table(|t| t.set(b"n", b"7").unwrap());
        let swap: Write = Box::new(|t| {
            loop {
                let (old, token) = t.get_with_token(b"n").unwrap().unwrap();
                let new = add_one(Some(&old)).unwrap();
                if t.compare_and_swap(b"n", token, &new).unwrap() == CasOutcome::Swapped {
                    return;
                }
                thread::yield_now();
            }
        });
        let update: Write = Box::new(|t| {
            for _ in 0..2 {
                t.update(b"n", add_one).unwrap();
            }
        });
        let count: Write = Box::new(|t| {
            for _ in 0..2 {
                t.incr(b"n", 1).unwrap();
            }
        });
        beside(&table, vec![swap, update, count], vec![grows(b"n")]);
        assert_eq!(quietly(|| number(&table, b"n")), 7 + 5);
    });
}

#[test]
fn counters_are_exact() {
    explore(2000, || {
        let table = table(|t| assert_eq!(t.incr(b"n", 7).unwrap(), 7));
        let count = || -> Write {
            Box::new(|t| {
                let first = t.incr(b"n", 1).unwrap();
                assert!(t.incr(b"n", 1).unwrap() > first);
            })
        };
        beside(&table, vec![count(), count(), count()], vec![grows(b"n")]);
        assert_eq!(quietly(|| number(&table, b"n")), 7 + 6);
    });
}

#[test]
fn appends_that_create_lose_no_byte() {
    explore(2000, || {
        let table = table(|_| ());
        let lengths = Arc::new(Mutex::new(Vec::new()));
        let joins = |word: &'static [u8], flags| -> Write {
            let lengths = Arc::clone(&lengths);
            let attributes = Attributes {
                expiry: Expiry::Never,
                flags,
            };
            Box::new(move |t| {
                let joined = match flags {
                    1 => t.prepend_with(b"k", word, attributes),
                    _ => t.append_with(b"k", word, attributes),
                };
                lengths.lock().unwrap().push(joined.unwrap());
            })
        };
        let writers = vec![joins(b"p", 1), joins(b"a", 2), joins(b"b", 3)];
        beside(&table, writers, Vec::new());
        let mut lengths = std::mem::take(&mut *lengths.lock().unwrap());
        lengths.sort_unstable();
        assert_eq!(lengths, [1, 2, 3]);
        let entry = quietly(|| table.get_entry(b"k").unwrap()).unwrap();
        let (value, flags) = (&entry.value[..], entry.attributes.flags);
        // The one that created it gave it its flags; what was prepended comes first.
        let created: &[&[u8]] = match flags {
            1 => &[b"pab", b"pba"],
            2 => &[b"pab"],
            _ => &[b"pba"],
        };
        assert!(created.contains(&value), "{value:?} has the flags {flags}");
    });
}

#[test]
fn one_adds_and_one_takes() {
    explore(2000, || {
        let table = table(|_| ());
        let add = |name: &'static [u8]| -> Write {
            Box::new(move |t| {
                if t.add(b"k", name).unwrap() {
                    // Nobody else's: it stays until it is taken.
                    assert!(t.incr(b"added", 1).unwrap() > 0);
                }
            })
        };
        let take = || -> Write {
            Box::new(move |t| {
                if let Some(taken) = t.take(b"k").unwrap() {
                    assert!(taken == b"one" || taken == b"another");
                    assert!(t.incr(b"taken", 1).unwrap() > 0);
                }
            })
        };
        let writers = vec![add(b"one"), add(b"another"), take(), take()];
        beside(&table, writers, Vec::new());
        quietly(|| {
            let count = |key: &[u8]| table.incr(key, 0).unwrap();
            let there = u64::from(table.contains(b"k").unwrap());
            assert_eq!(count(b"added"), count(b"taken") + there);
        });
    });
}

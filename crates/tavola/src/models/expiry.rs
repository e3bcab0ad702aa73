//! Keys that expire, beside those who read, write, touch and search. No model waits for a time to
//! pass: what expires has done so when it is stored, or is asked to by a touch.

use super::moves::Crowd;
use super::{
    Key, Observer, Table, Write, beside, explore, keys_between, keys_where, never_missing, quietly,
    region, scan_meets, set, table, value, version, version_of, writer,
};
use crate::index::locate::{SweepSize, may_expire, sweep_step};
use crate::layout::{BUCKETS, SweepWord};
use crate::lock::ShardLock;
use crate::sync::Ordering;
use crate::{Attributes, Expiry, Hint};
use std::sync::{Arc, Mutex};
use std::time::Duration;

pub(super) const KEY: Key = *b"the key!";
const HOUR: Duration = Duration::from_secs(3600);
const LASTING: Expiry = Expiry::After(HOUR);
const PAST: Expiry = Expiry::PAST;
/// Where the keys of a search stand, if not away.
const HOME: u32 = 10;
const OTHER: u32 = 200;

fn set_with(table: &Table, key: &[u8], version: u8, expiry: Expiry) {
    let attributes = Attributes { expiry, flags: 7 };
    let stored = table.set_with(key, value(version), attributes);
    stored.expect("room");
}

pub(super) fn mortal(table: &Table) {
    set_with(table, &KEY, 1, LASTING);
}

pub(super) fn expired(table: &Table, key: &[u8]) {
    set_with(table, key, 1, PAST);
}

/// One step of the search, from this bucket on.
fn search(table: &Table, bucket: usize) {
    let lock = ShardLock::acquire(region(table), 0, writer(table));
    let lock = lock.expect("nobody holds it for long").0;
    let sweep = &lock.head.sweep;
    let there = SweepWord::decode(sweep.load(Ordering::Relaxed));
    let from = SweepWord {
        bucket: bucket as u8,
        ..there
    };
    sweep.store(from.encode(), Ordering::Relaxed);
    assert!(sweep_step(&lock, SweepSize::Paced).is_ok());
}

/// The first keys that stand where a search from `HOME` on begins.
pub(super) fn searched_keys(count: usize) -> Vec<Key> {
    keys_between(HOME, OTHER, count)
}

pub(super) fn search_home(table: &Table) {
    search(table, HOME as usize);
}

/// A reader of a key that is missing or has one of these versions; seen once, it stays.
fn comes(key: Key, versions: &'static [u8]) -> Observer {
    let mut seen = None;
    Box::new(move |t| match t.get(key).unwrap().as_deref() {
        None => assert_eq!(seen, None, "seen, and not any more"),
        Some(found) => {
            let now = version_of(found);
            assert!(versions.contains(&now) && seen.is_none_or(|seen| seen == now));
            seen = Some(now);
        }
    })
}

/// A reader of a key that has this version until it expires, and never again.
pub(super) fn goes(key: Key, hint: Option<Hint>, version: u8) -> Observer {
    let mut gone = false;
    Box::new(move |t| {
        let by_uid = hint.map(|hint| t.get_by_uid(hint).unwrap());
        for found in by_uid.into_iter().chain([t.get(key).unwrap()]) {
            match found {
                Some(found) => assert!(!gone && version_of(&found) == version),
                None => gone = true,
            }
        }
        gone |= t.ttl(key).unwrap().is_none();
    })
}

/// A reader of the entry of a key that is there throughout, with a time that somebody gave it.
pub(super) fn entries() -> Observer {
    Box::new(|t| {
        let entry = t.get_entry(KEY).unwrap();
        let entry = entry.expect("a key that is there throughout");
        version_of(&entry.value);
        match entry.attributes.expiry {
            Expiry::Never => {}
            Expiry::After(left) => assert!(left > HOUR / 2 && left <= 2 * HOUR, "{left:?}"),
            other => panic!("{other:?}"),
        }
    })
}

/// Adds the field, changes it in place, and says that the key is to stay.
pub(super) fn touches(table: &Table) {
    for expiry in [LASTING, Expiry::After(2 * HOUR), Expiry::Never] {
        assert!(table.touch(KEY, expiry).unwrap());
    }
}

#[test]
fn of_two_that_add_an_expired_key_one_wins() {
    explore(400, || {
        let table = table(|t| expired(t, &KEY));
        let add = |version: u8| -> Write {
            Box::new(move |t| {
                if t.add(KEY, value(version)).unwrap() {
                    assert_eq!(t.incr(b"added", 1).unwrap(), 1, "two have added it");
                }
            })
        };
        let observers = vec![comes(KEY, &[2, 3])];
        beside(&table, vec![add(2), add(3)], observers);
        quietly(|| assert_eq!(table.incr(b"added", 0).unwrap(), 1));
    });
}

#[test]
fn a_count_on_an_expired_counter_starts_again() {
    explore(400, || {
        let gone = Attributes::from(PAST);
        let table = table(|t| {
            let set = t.incr_with(b"n", 1, Some(41), gone).unwrap();
            assert_eq!(set, Some(41));
        });
        let count = || -> Write { Box::new(|t| assert!(t.incr(b"n", 1).unwrap() <= 2)) };
        let observe = |t: &Table| {
            let found = t.get(b"n").unwrap();
            assert!([None, Some(&b"1"[..]), Some(b"2")].contains(&found.as_deref()));
        };
        beside(&table, vec![count(), count()], vec![Box::new(observe)]);
        quietly(|| assert_eq!(table.get(b"n").unwrap().unwrap(), b"2"));
    });
}

#[test]
fn touches_lose_no_value() {
    explore(400, || {
        let table = table(|t| set(t, &KEY, 1));
        let overwrite: Write = Box::new(|t| (2..5).for_each(|version| set(t, &KEY, version)));
        let observers = vec![never_missing([KEY]), entries()];
        beside(&table, vec![Box::new(touches), overwrite], observers);
        quietly(|| assert_eq!(version(&table, &KEY), 4));
    });
}

#[test]
fn touches_tear_no_large_value() {
    let large = |version: u8| vec![version; 20_000 + usize::from(version) * 8];
    explore(300, move || {
        let table = table(|t| {
            t.set(b"another", large(1)).unwrap();
            t.set(KEY, large(1)).unwrap();
        });
        let replace: Write = Box::new(move |t| t.set(KEY, large(2)).unwrap());
        let observe = move |t: &Table| {
            let found = t.get(KEY).unwrap();
            let found = found.expect("a key that is there throughout");
            assert_eq!(found, large(found[0]), "a torn value");
        };
        beside(
            &table,
            vec![Box::new(touches), replace],
            vec![Box::new(observe)],
        );
    });
}

#[test]
fn a_touch_to_the_past_ends_a_key_for_good() {
    explore(400, || {
        let table = table(mortal);
        let hint = quietly(|| table.uid_of(KEY).unwrap());
        let end: Write = Box::new(|t| assert!(t.touch(KEY, PAST).unwrap()));
        let renew = || -> Write {
            Box::new(|t| {
                let before = t.get_and_touch(KEY, LASTING).unwrap();
                if let Some(entry) = before {
                    assert_eq!((version_of(&entry.value), entry.attributes.flags), (1, 7));
                }
            })
        };
        let observers = vec![goes(KEY, hint, 1), goes(KEY, hint, 1)];
        beside(&table, vec![end, renew(), renew()], observers);
        quietly(|| assert_eq!(table.get(KEY).unwrap(), None));
    });
}

/// A thread that gets a value and touches it has touched that one.
#[test]
fn the_value_that_is_returned_is_the_one_touched() {
    explore(400, || {
        let table = table(|t| set(t, &KEY, 1));
        let returned = Arc::new(Mutex::new(0));
        let renew: Write = {
            let returned = Arc::clone(&returned);
            Box::new(move |t| {
                let entry = t.get_and_touch(KEY, LASTING).unwrap().unwrap();
                *returned.lock().unwrap() = version_of(&entry.value);
            })
        };
        let overwrite: Write = Box::new(|t| set(t, &KEY, 2));
        beside(&table, vec![renew, overwrite], vec![never_missing([KEY])]);
        let is_mortal = quietly(|| table.ttl(KEY).unwrap() != Some(Expiry::Never));
        assert_eq!(is_mortal, *returned.lock().unwrap() == 2);
    });
}

#[test]
fn a_search_takes_nothing_but_the_expired() {
    let keys = searched_keys(4);
    explore(400, move || {
        let [renewed, gone, stays, lasts] = [keys[0], keys[1], keys[2], keys[3]];
        let table = table(|t| {
            expired(t, &renewed);
            expired(t, &gone);
            set(t, &stays, 1);
            set_with(t, &lasts, 1, LASTING);
        });
        let renew: Write = Box::new(move |t| set(t, &renewed, 2));
        let observers = vec![
            comes(renewed, &[2]),
            comes(gone, &[]),
            scan_meets(&[stays, lasts]),
            never_missing([stays, lasts]),
        ];
        beside(&table, vec![Box::new(search_home), renew], observers);
        quietly(|| {
            assert_eq!(version(&table, &renewed), 2);
            assert_eq!(table.len().unwrap(), 3);
        });
    });
}

/// The blocks of what has expired go to other keys.
#[test]
fn a_new_key_is_distinguished_from_the_expired_one() {
    let keys = searched_keys(2);
    explore(400, move || {
        let [even, odd] = [keys[0], keys[1]];
        let table = table(|t| {
            set_with(t, &even, 2, LASTING);
            set(t, b"another", 4);
        });
        let write: Write = Box::new(move |t| {
            assert!(t.touch(even, PAST).unwrap());
            search_home(t);
            set_with(t, &odd, 3, PAST);
            assert!(t.add(odd, value(5)).unwrap());
            set_with(t, &even, 4, PAST);
            assert!(!t.remove(even).unwrap());
            set(t, &odd, 9);
        });
        let observers = move |t: &Table| {
            for (key, versions) in [(even, &[2][..]), (odd, &[5, 9])] {
                if let Some(found) = t.get(key).unwrap() {
                    assert!(versions.contains(&version_of(&found)));
                }
            }
        };
        beside(
            &table,
            vec![write],
            vec![Box::new(observers), Box::new(observers)],
        );
    });
}

/// The uid of what has expired goes to another key.
#[test]
fn a_uid_of_an_expired_key_is_distinguished() {
    explore(400, || {
        let table = table(mortal);
        let hint = quietly(|| table.uid_of(KEY).unwrap().unwrap());
        let write: Write = Box::new(move |t| {
            assert!(t.touch(KEY, PAST).unwrap());
            assert_eq!(t.uid_of(KEY).unwrap(), None);
            assert!(!t.remove(KEY).unwrap());
            let other = t.set_uid(b"other", value(3)).unwrap();
            assert_eq!(other.uid(), hint.uid());
        });
        let by_number: Observer = Box::new(move |t| {
            if let Some(key) = t.key_of_uid(hint.uid()).unwrap() {
                assert!(key == KEY || key == b"other");
            }
        });
        beside(
            &table,
            vec![write],
            vec![goes(KEY, Some(hint), 1), by_number],
        );
    });
}

/// A key that is stored where the search has been is looked for in its next round.
#[test]
fn a_search_that_ends_knows_of_keys_behind_it() {
    let behind = keys_where(1, |hash| hash.home() == HOME)[0];
    explore(300, move || {
        let table = table(|t| {
            set(t, &behind, 1);
            set_with(t, &KEY, 1, PAST);
            assert!(!t.remove(KEY).unwrap());
            search(t, BUCKETS - 4);
        });
        let touch: Write = Box::new(move |t| assert!(t.touch(behind, PAST).unwrap()));
        let end: Write = Box::new(|t| search(t, BUCKETS - 4));
        beside(&table, vec![touch, end], Vec::new());
        assert!(quietly(|| may_expire(region(&table).shard(0))));
        quietly(|| {
            search_home(&table);
            assert_eq!(table.len().unwrap(), 0);
        });
    });
}

/// A key that is moved behind the search is looked for in its next round.
#[test]
fn a_search_that_ends_knows_of_keys_moved_past_it() {
    let crowd = Crowd::new();
    let table = table(|t| {
        crowd.fill(t);
        crowd.push_away(t, 2);
        assert!(t.touch(crowd.moved, LASTING).unwrap());
    });
    assert!(crowd.is_away(&table));
    search(&table, BUCKETS - 4);
    search(&table, BUCKETS / 2);
    crowd.push_home(&table, 2);
    assert!(!crowd.is_away(&table));
    search(&table, BUCKETS - 4);
    assert!(may_expire(region(&table).shard(0)));
}

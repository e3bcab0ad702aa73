//! Caches: keys are evicted, come back, and are noted as read, beside those who read and write
//! them.

#[cfg(feature = "shuttle")]
use super::deaths::{Deaths, Work};
use super::growth::{crowd, fill, segments};
use super::{
    Key, Observer, Table, Write, beside, explore, keys_between, never_missing, open_up, quietly,
    region, scan_meets, set, version_of, writer,
};
use crate::index::locate::evict;
use crate::lock::ShardLock;
use std::sync::Arc;

const KEY: Key = *b"the key!";
const OTHER: Key = *b"another!";
/// Has room for a segment and some pages.
const CAPACITY: u64 = 256 << 10;
/// Of the values by which it is filled: few fit.
const LONG: usize = 7000;

/// A cache of one shard that holds what `fill` puts there.
fn cache(fill: impl FnOnce(&Table)) -> Arc<Table> {
    quietly(|| {
        let options = Table::options().max_size(1 << 20).shards(1);
        let table = options.capacity(CAPACITY).private();
        let table = table.expect("a private table");
        table.set(b"first", b"attaches").expect("a small value");
        table.remove(b"first").expect("no error");
        fill(&table);
        open_up(region(&table));
        Arc::new(table)
    })
}

/// Lets the hands evict so many keys.
fn evict_some(table: &Table, count: usize) {
    for _ in 0..count {
        let lock = ShardLock::acquire(region(table), 0, writer(table));
        let lock = lock.expect("nobody holds it for long").0;
        assert!(evict(&lock).is_ok());
    }
}

/// A reader of a key that may be missing and come back, whose versions never go back.
fn never_stale(key: Key) -> Observer {
    let mut last = 0;
    let mut as_batch = false;
    Box::new(move |t| {
        let mut observe = |found: &[u8]| {
            let now = version_of(found);
            assert!(now >= last, "version {now} after {last}");
            last = now;
        };
        as_batch = !as_batch;
        if as_batch {
            let found = |_, found: Option<&[u8]>| found.iter().for_each(|found| observe(found));
            t.get_many(&[key], found).expect("no damage");
        } else {
            let found = t.get(key).expect("no damage");
            found.iter().for_each(|found| observe(found));
        }
    })
}

#[test]
fn a_key_is_read_while_it_is_evicted() {
    explore(400, || {
        let table = cache(|t| set(t, &KEY, 1));
        let write: Write = Box::new(|t| {
            evict_some(t, 1);
            // In its block.
            set(t, &OTHER, 3);
        });
        let observers = vec![never_stale(KEY), never_stale(KEY), never_stale(OTHER)];
        beside(&table, vec![write], observers);
        quietly(|| {
            assert_eq!(
                table.get(OTHER).unwrap().as_deref().map(version_of),
                Some(3)
            )
        });
    });
}

#[test]
fn a_key_is_read_while_it_goes_and_comes_back() {
    explore(400, || {
        let table = cache(|t| set(t, &KEY, 1));
        let write: Write = Box::new(|t| {
            for version in 2..5 {
                evict_some(t, 1);
                set(t, &KEY, version);
            }
        });
        let observers = vec![never_stale(KEY), never_stale(KEY)];
        beside(&table, vec![write], observers);
        quietly(|| assert_eq!(table.get(KEY).unwrap().as_deref().map(version_of), Some(4)));
    });
}

#[test]
fn two_evicting_and_two_reading_threads() {
    let keys = keys_between(3, 9, 4);
    explore(300, move || {
        let first = keys.clone();
        let table = cache(|t| fill(t, &first));
        let evicts = || -> Write { Box::new(|t| evict_some(t, 2)) };
        let key = keys[0];
        let renew: Write = Box::new(move |t| set(t, &key, 2));
        let observers = vec![never_stale(keys[0]), never_stale(keys[1])];
        beside(&table, vec![evicts(), evicts(), renew], observers);
    });
}

/// A reader notes it, in a slot that may be another's by then.
#[test]
fn visits_beside_overwrites_change_nothing() {
    explore(400, || {
        let table = cache(|t| set(t, &KEY, 1));
        let write: Write = Box::new(|t| (2..5).for_each(|version| set(t, &KEY, version)));
        let observers = vec![never_missing([KEY]), never_missing([KEY])];
        beside(&table, vec![write], observers);
    });
}

#[test]
fn visits_beside_a_split_lose_nothing() {
    let keys = crowd();
    explore(200, move || {
        let (last, first) = keys.split_last().unwrap();
        let table = cache(|t| fill(t, first));
        let last = *last;
        let write: Write = Box::new(move |t| set(t, &last, 1));
        let observers = vec![never_missing(first[..4].to_vec()), scan_meets(first)];
        beside(&table, vec![write], observers);
        assert!(segments(&table) >= 2);
    });
}

fn long(version: u8) -> Vec<u8> {
    vec![version; LONG]
}

fn set_long(table: &Table, number: u64, version: u8) {
    table
        .set(number.to_le_bytes(), long(version))
        .expect("room in a cache");
}

/// A cache that has evicted a key.
fn full() -> Arc<Table> {
    cache(|t| {
        let is_full = |t: &Table| t.stats().expect("counts").evicted_new > 0;
        let fresh = (0..).take_while(|_| !is_full(t));
        fresh.for_each(|number| set_long(t, number, 1));
    })
}

/// A reader of a key with a long value.
fn whole(number: u64) -> Observer {
    let mut last = 0;
    Box::new(move |t| {
        let Some(found) = t.get(number.to_le_bytes()).expect("no damage") else {
            return;
        };
        assert_eq!(found, long(found[0]), "a torn value");
        assert!(found[0] >= last, "version {} after {last}", found[0]);
        last = found[0];
    })
}

#[test]
fn two_writers_at_the_limit_both_find_room() {
    explore(60, || {
        let table = full();
        let write = |number: u64| -> Write {
            Box::new(move |t| (2..4).for_each(|version| set_long(t, number, version)))
        };
        let observers = vec![whole(3), whole(1000)];
        beside(&table, vec![write(1000), write(1001)], observers);
        quietly(|| {
            let stats = table.stats().unwrap();
            assert!(stats.evicted_new + stats.evicted_old > 1);
        });
    });
}

/// Another writer, whose writes come through whatever the first one left.
#[cfg(feature = "shuttle")]
fn survivor() -> Write {
    Box::new(|t| (1..3).for_each(|version| set(t, b"survivor", version)))
}

/// Lets one thread die in `work` on a cache, while others look and one writes.
#[cfg(feature = "shuttle")]
fn dying(
    schedules: usize,
    begin: fn() -> Arc<Table>,
    work: impl Fn(&Table) + Send + Sync + 'static,
    observers: fn() -> Vec<Observer>,
) {
    let work: Work = Arc::new(work);
    let deaths = Deaths::of(begin, &work);
    let seen = Arc::clone(&deaths);
    deaths.explore(schedules, move || {
        let table = begin();
        beside(&table, vec![seen.meet(&work), survivor()], observers());
    });
}

#[cfg(feature = "shuttle")]
#[test]
fn a_writer_dies_while_it_evicts() {
    dying(
        300,
        || cache(|t| [KEY, OTHER].iter().for_each(|key| set(t, key, 1))),
        |t| evict_some(t, 2),
        || vec![never_stale(KEY), never_stale(OTHER)],
    );
}

#[cfg(feature = "shuttle")]
#[test]
fn a_writer_dies_while_a_key_comes_back() {
    dying(
        300,
        || {
            cache(|t| {
                set(t, &KEY, 1);
                evict_some(t, 1);
            })
        },
        |t| set(t, &KEY, 2),
        || vec![never_stale(KEY)],
    );
}

#[cfg(feature = "shuttle")]
#[test]
fn a_reader_dies_while_it_notes_that() {
    dying(
        300,
        || cache(|t| set(t, &KEY, 1)),
        |t| (0..2).for_each(|_| assert!(t.get(KEY).unwrap().is_some())),
        || vec![never_missing([KEY])],
    );
}

#[cfg(feature = "shuttle")]
#[test]
fn a_writer_dies_at_the_limit() {
    dying(
        60,
        full,
        |t| set_long(t, 1000, 2),
        || vec![whole(3), whole(1000)],
    );
}

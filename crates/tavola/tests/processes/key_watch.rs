//! Watches of keys: every way a key changes, processes that are killed, more keys than records.

use crate::support::part::{Actor, hear, play, say};
use crate::support::patience::MINUTE;
use crate::support::{Dir, assert_clean};
use std::time::{Duration, Instant};
use tavola::serving::ServeTable;
use tavola::{Attributes, Condition, Error, Expiry, KeyWatch, Options, Result, Table, Transaction};

const LONG: Duration = Duration::from_secs(20);
const MIB: u64 = 1 << 20;

fn options() -> Options {
    Table::options().max_size(8 * MIB).shards(1)
}

fn is_changed(watch: &mut KeyWatch) -> bool {
    watch.wait(Duration::ZERO).unwrap()
}

/// One change is reported once.
fn assert_once(watch: &mut KeyWatch, what: &str) {
    assert!(is_changed(watch), "{what}");
    assert!(!is_changed(watch), "{what}, twice");
}

#[test]
fn every_kind_of_change_is_reported_once() {
    let table = options().private().unwrap();
    let key = b"the key!";
    let mut watch = table.watch_key(key).unwrap();
    assert_eq!(watch.key(), key);
    assert!(!is_changed(&mut watch));
    let mut once = |what: &str, change: &dyn Fn()| {
        change();
        assert_once(&mut watch, what);
        table.set(b"other", b"value").unwrap();
        table.remove(b"other").unwrap();
        table.get(key).unwrap();
        assert!(!is_changed(&mut watch), "another key, after {what}");
    };
    once("set", &|| table.set(key, b"a value").unwrap());
    once("the same again", &|| table.set(key, b"a value").unwrap());
    once("eight bytes", &|| table.set(key, b"12345678").unwrap());
    once("in place", &|| table.set(key, b"87654321").unwrap());
    once("many", &|| {
        (0..100u64).for_each(|n| table.set(key, n.to_le_bytes()).unwrap())
    });
    once("large", &|| table.set(key, [7; 100_000]).unwrap());
    once("append", &|| assert!(table.append(key, b"more").unwrap()));
    once("removed", &|| assert!(table.remove(key).unwrap()));
    once("counter", &|| assert_eq!(table.incr(key, 1).unwrap(), 1));
    once("counted", &|| assert_eq!(table.incr(key, 1).unwrap(), 2));
    once("uid", &|| {
        let uid = table.set_uid(key, b"12345678").unwrap();
        assert!(table.set_by_uid(uid, b"87654321").unwrap());
    });
    once("time to live", &|| {
        assert!(table.touch(key, Expiry::After(LONG)).unwrap());
    });
    once("cleared", &|| table.clear().unwrap());
    once("tagged", &|| {
        let tags = table.fetch_tags(&["tag"]).unwrap();
        table
            .set_tagged(key, b"x", Attributes::default(), &tags)
            .unwrap();
    });
    once("invalidated", &|| {
        assert!(table.invalidate_tag(b"tag").unwrap())
    });
    let taken = table.take(key).unwrap();
    assert_eq!(taken, None);
    assert_clean(&table);
}

#[test]
fn changes_of_transactions_and_of_marks_are_reported_once() {
    let table = options().private().unwrap();
    let key = b"the key!";
    let mut watch = table.watch_key(key).unwrap();
    let mut once = |what: &str, change: &dyn Fn()| {
        change();
        assert_once(&mut watch, what);
        table
            .transaction(|t| t.set("other", "1").and(t.get(key)))
            .unwrap();
        assert!(!is_changed(&mut watch), "another key, after {what}");
    };
    let transact = |change: &dyn Fn(&mut Transaction<'_>) -> Result<()>| {
        table.transaction(|t| change(t)).unwrap();
    };
    once("created", &|| transact(&|t| t.set(key, "12345678")));
    once("a word", &|| transact(&|t| t.set(key, "87654321")));
    once("with another", &|| {
        transact(&|t| t.set(key, "a value").and(t.set("another", "a value")));
    });
    let mark = |set| {
        let marked = table.mark(key, Condition::Present, 0, set);
        assert!(marked.unwrap().is_some());
    };
    once("marked, with a new field", &|| mark(1));
    once("marked, in place", &|| mark(2));
    once("removed", &|| {
        transact(&|t| t.remove(key).map(|was_there| assert!(was_there)));
    });
    let aborted = table.transaction(|t| t.set(key, "1").and(Err::<(), _>(t.abort())));
    assert!(matches!(aborted, Err(Error::Aborted)));
    assert!(!is_changed(&mut watch), "an aborted transaction");
    assert_clean(&table);
}

#[test]
fn a_key_that_expires_ends_the_wait() {
    let table = options().private().unwrap();
    let ttl = Duration::from_millis(200);
    table
        .set_with(b"key", b"value", Attributes::ttl(ttl))
        .unwrap();
    let mut watch = table.watch_key(b"key").unwrap();
    let begun = Instant::now();
    assert!(watch.wait(10 * MINUTE).unwrap());
    assert!(begun.elapsed() < MINUTE && table.get(b"key").unwrap().is_none());
    assert!(!watch.wait(Duration::from_millis(50)).unwrap());
}

#[test]
fn an_evicted_key_ends_the_wait() {
    let cache = options().capacity(2 * MIB).private().unwrap();
    cache.set(b"key", b"value").unwrap();
    let mut watch = cache.watch_key(b"key").unwrap();
    let mut number = 0u64;
    while cache.contains(b"key").unwrap() {
        cache.set(number.to_le_bytes(), [7; 1000]).unwrap();
        number += 1;
    }
    assert_once(&mut watch, "evicted");
}

#[test]
fn only_handles_that_may_write_watch() {
    let dir = Dir::new();
    let path = dir.table("t");
    options().create(&path).unwrap();
    let reader = Table::open_read_only(&path).unwrap();
    assert!(matches!(reader.watch_key(b"key"), Err(Error::ReadOnly)));
}

#[test]
fn more_keys_than_records_are_watched() {
    let table = options().private().unwrap();
    let keys: Vec<[u8; 8]> = (0..20u64).map(u64::to_le_bytes).collect();
    let mut watches: Vec<_> = keys
        .iter()
        .map(|key| table.watch_key(key).unwrap())
        .collect();
    for (number, key) in keys.iter().enumerate() {
        table.set(key, b"value").unwrap();
        for (other, watch) in watches.iter_mut().enumerate() {
            assert_eq!(
                is_changed(watch),
                other == number,
                "{other} when {number} changed"
            );
        }
    }
    assert_clean(&table);
}

/// An actor: watches a key and says each value that it finds.
fn watcher(args: &[String]) {
    let table = Table::open(&args[0]).unwrap();
    let mut watch = table.watch_key(b"key").unwrap();
    say("watching");
    loop {
        if watch.wait(LONG).unwrap() {
            let value = table.get(b"key").unwrap().unwrap_or_default();
            say(String::from_utf8(value).unwrap());
        }
    }
}

/// An actor: sets the key again and again, to be killed.
fn writer(args: &[String]) {
    let table = Table::open(&args[0]).unwrap();
    assert_eq!(hear().as_deref(), Some("begin"));
    say("begun");
    for number in 0u64.. {
        let value = format!("{number:0>width$}", width = 10 + (number % 50) as usize);
        table.set(b"key", value.as_bytes()).unwrap();
    }
}

#[test]
fn another_process_is_woken_at_once() {
    play(&[("watcher", watcher)]);
    let dir = Dir::new();
    let path = dir.table("t");
    let table = options().create(&path).unwrap();
    let test = "another_process_is_woken_at_once";
    let mut actors: Vec<_> = (0..3)
        .map(|_| Actor::start(test, "watcher", &[path.to_str().unwrap()]))
        .collect();
    actors
        .iter_mut()
        .for_each(|actor| assert_eq!(actor.hear(), "watching"));
    for value in [
        "first",
        "second",
        "a third, which is longer than those before",
    ] {
        table.set(b"key", value.as_bytes()).unwrap();
        actors
            .iter_mut()
            .for_each(|actor| assert_eq!(actor.hear(), value));
    }
    // Killed watchers leave records that others do not wait for.
    actors.into_iter().for_each(Actor::kill);
    table.set(b"key", b"after them").unwrap();
    let mut watch = table.watch_key(b"key").unwrap();
    table.set(b"key", b"and once more").unwrap();
    assert_once(&mut watch, "after killed watchers");
    assert_clean(&table);
}

#[test]
fn the_last_value_of_a_killed_writer_is_seen() {
    play(&[("writer", writer)]);
    let dir = Dir::new();
    let path = dir.table("t");
    let table = options().create(&path).unwrap();
    let test = "the_last_value_of_a_killed_writer_is_seen";
    for round in 0..8u64 {
        let mut watch = table.watch_key(b"key").unwrap();
        let mut seen = table.get(b"key").unwrap();
        let mut actor = Actor::start(test, "writer", &[path.to_str().unwrap()]);
        actor.send("begin");
        assert_eq!(actor.hear(), "begun");
        let until = Instant::now() + Duration::from_micros(500 + 1700 * round);
        while Instant::now() < until {
            if watch.wait(Duration::from_millis(1)).unwrap() {
                seen = table.get(b"key").unwrap();
            }
        }
        actor.kill();
        // Nobody else writes: the watcher itself finds what the dead one left.
        while watch.wait(Duration::from_millis(1500)).unwrap() {
            seen = table.get(b"key").unwrap();
        }
        assert_eq!(table.get(b"key").unwrap(), seen, "round {round}");
    }
    assert_clean(&table);
}

//! Large values that are lent to readers: they stay as they were whatever is written, hold nobody
//! up, and come back whichever process dies.

use crate::support::part::{Actor, alone, hear, play, say};
use crate::support::process::{alarm, fork};
use crate::support::{Dir, assert_clean, value_of, version_of};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tavola::{Attributes, Expiry, Table, View};

const LEN: usize = 1 << 20;
/// Views and reads of large values that may be under way through one `Table`.
const PINS: usize = 6;
const KEY: &[u8] = b"large";

fn options() -> tavola::Options {
    Table::options().max_size(64 << 20).shards(2)
}

fn large(version: u64) -> Vec<u8> {
    value_of(KEY, version, LEN + version as usize * 1000)
}

fn view(table: &Table) -> View<'_> {
    table.get_view(KEY).unwrap().expect("it was set")
}

fn assert_shows(view: &View<'_>, version: u64) {
    assert_eq!(version_of(KEY, &view.to_vec()), Some(version));
    assert_eq!(view.to_vec().len(), view.len());
}

/// Nothing is held by anybody any more.
fn assert_all_back(table: &Table) {
    assert_clean(table);
    table.remove(KEY).unwrap();
    assert_clean(table);
    assert_eq!(table.stats().unwrap().large_bytes, 0);
}

#[test]
fn a_view_stays_what_it_was() {
    let dir = Dir::new();
    let table = options().create(dir.table("t")).unwrap();
    let other = options().open_existing(dir.table("t")).unwrap();
    let changes: [&dyn Fn(); 9] = [
        &|| other.set(KEY, large(2)).unwrap(),
        &|| other.set(KEY, b"small").unwrap(),
        &|| assert!(other.append(KEY, b"more").unwrap()),
        &|| assert!(other.remove(KEY).unwrap()),
        &|| other.clear().unwrap(),
        &|| drop(other.repair().unwrap()),
        &|| assert!(other.compact().is_ok()),
        &|| {
            assert!(
                other
                    .touch(KEY, Expiry::After(Duration::from_nanos(1)))
                    .unwrap()
            )
        },
        &|| assert!(other.uid_of(KEY).unwrap().is_some()),
    ];
    for change in changes {
        table.set(KEY, large(1)).unwrap();
        let seen = view(&table);
        assert!(seen.is_lent());
        change();
        for version in 3..9 {
            other.set(KEY, large(version)).unwrap();
            other
                .set(b"beside", value_of(b"beside", version, LEN))
                .unwrap();
        }
        other.compact().unwrap();
        assert_shows(&seen, 1);
        assert_clean(&other);
        drop(seen);
    }
    table.remove(b"beside").unwrap();
    assert_all_back(&table);
}

#[test]
fn recovery_leaves_what_is_lent() {
    let table = options().private().unwrap();
    table.set(KEY, large(1)).unwrap();
    let seen = view(&table);
    table.set(KEY, large(2)).unwrap();
    assert!(table.repair().unwrap().is_clean());
    table
        .set(b"beside", value_of(b"beside", 1, 8 * LEN))
        .unwrap();
    assert_shows(&seen, 1);
    drop(seen);
    table.remove(b"beside").unwrap();
    assert_all_back(&table);
}

#[test]
fn a_chain_that_two_lend_goes_with_the_last() {
    let table = options().private().unwrap();
    for first in [0, 1] {
        table.set(KEY, large(1)).unwrap();
        let mut views = vec![view(&table), view(&table), view(&table)];
        table.set(KEY, large(2)).unwrap();
        while !views.is_empty() {
            drop(views.remove(first.min(views.len() - 1)));
            table
                .set(b"beside", value_of(b"beside", 3, 2 * LEN))
                .unwrap();
            assert_clean(&table);
            views.iter().for_each(|view| assert_shows(view, 1));
        }
    }
    table.remove(b"beside").unwrap();
    assert_all_back(&table);
}

/// Nobody has to ask for a check, or to be short of room: the next large value frees the pages.
#[test]
fn the_next_write_frees_what_was_lent() {
    let table = options().private().unwrap();
    let in_use = || table.stats().unwrap().large_bytes;
    table.set(KEY, large(1)).unwrap();
    let of_one = in_use();
    for _ in 0..3 {
        let seen = view(&table);
        table.set(KEY, large(1)).unwrap();
        assert_eq!(in_use(), 2 * of_one, "one is lent");
        drop(seen);
        table.set(KEY, large(1)).unwrap();
        assert_eq!(in_use(), of_one);
    }
}

#[test]
fn what_is_short_or_cannot_be_pinned_is_copied() {
    let dir = Dir::new();
    let table = options().create(dir.table("t")).unwrap();
    for value in [&b""[..], b"short", &[7; 16_000]] {
        table.set(KEY, value).unwrap();
        let seen = view(&table);
        assert!(!seen.is_lent());
        assert_eq!(seen.as_slice(), Some(value));
        assert_eq!(seen.is_empty(), value.is_empty());
    }
    assert!(table.get_view(b"nowhere").unwrap().is_none());
    table.set(KEY, large(1)).unwrap();
    let reader = Table::open_read_only(dir.table("t")).unwrap();
    let copied = view(&reader);
    let all = (0..PINS).map(|_| view(&table)).collect::<Vec<_>>();
    let one_more = view(&table);
    table.set(KEY, large(2)).unwrap();
    assert!(!copied.is_lent() && !one_more.is_lent());
    assert_shows(&copied, 1);
    assert_shows(&one_more, 1);
    for seen in &all {
        assert!(seen.is_lent());
        assert_shows(seen, 1);
    }
    // Reads continue without.
    assert_eq!(version_of(KEY, &table.get(KEY).unwrap().unwrap()), Some(2));
    drop(all);
    assert!(view(&table).is_lent());
    assert_all_back(&table);
}

/// A value of whole pages, in a table where pages adjoin, is in one piece.
#[test]
fn a_value_of_whole_pages_is_one_piece() {
    let table = options().private().unwrap();
    let value = value_of(KEY, 1, LEN);
    table.set(KEY, &value).unwrap();
    assert_eq!(view(&table).as_slice(), Some(&value[..]));
}

#[test]
fn a_cache_evicts_what_is_lent_and_it_stays() {
    let table = Table::options()
        .max_size(64 << 20)
        .capacity(16 << 20)
        .shards(1)
        .private()
        .unwrap();
    table.set(KEY, large(1)).unwrap();
    let seen = view(&table);
    for number in 0..200u64 {
        let key = number.to_le_bytes();
        table.set(key, value_of(&key, number, LEN)).unwrap();
        // As often used as that one was.
        table.get(key).unwrap();
    }
    assert!(!table.contains(KEY).unwrap(), "it was not evicted");
    assert_shows(&seen, 1);
    drop(seen);
    assert_clean(&table);
}

#[test]
fn what_expires_while_it_is_lent_stays() {
    let table = options().private().unwrap();
    let soon = Attributes {
        expiry: Expiry::After(Duration::from_millis(30)),
        ..Attributes::default()
    };
    table.set_with(KEY, large(1), soon).unwrap();
    let Some(seen) = table.get_view(KEY).unwrap() else {
        return;
    };
    while table.contains(KEY).unwrap() {
        std::thread::sleep(Duration::from_millis(5));
    }
    table.remove_expired().unwrap();
    table
        .set(b"beside", value_of(b"beside", 1, 4 * LEN))
        .unwrap();
    assert_shows(&seen, 1);
    drop(seen);
    table.remove(b"beside").unwrap();
    assert_all_back(&table);
}

fn lend(args: &[String]) {
    alarm(120);
    let table = options().open_existing(Path::new(&args[0])).unwrap();
    let seen = view(&table);
    say(seen.len());
    hear();
    // The table was overwritten meanwhile.
    assert_shows(&seen, 1);
    say("whole");
    hear();
}

#[test]
fn what_a_dead_reader_had_comes_back() {
    play(&[("lend", lend)]);
    let dir = Dir::new();
    let path = dir.table("t");
    let table = options().create(&path).unwrap();
    let name = "what_a_dead_reader_had_comes_back";
    // Killed before and after the value is overwritten.
    for is_early in [true, false] {
        table.set(KEY, large(1)).unwrap();
        let mut actor = Actor::start(name, "lend", &[path.to_str().unwrap()]);
        assert_eq!(actor.hear_number(), large(1).len() as u64);
        if !is_early {
            for version in 2..20 {
                table.set(KEY, large(version)).unwrap();
            }
            actor.send("look");
            assert_eq!(actor.hear(), "whole");
            assert_clean(&table);
        }
        actor.kill();
        table.set(KEY, large(2)).unwrap();
        table.reclaim().unwrap();
        assert_all_back(&table);
    }
}

/// The slot of a dead reader goes to another process before anybody has looked after it.
#[test]
fn a_new_participant_takes_old_pins_off() {
    play(&[("lend", lend)]);
    let dir = Dir::new();
    let path = dir.table("t");
    let table = options().create(&path).unwrap();
    table.set(KEY, large(1)).unwrap();
    let name = "a_new_participant_takes_old_pins_off";
    let start = || Actor::start(name, "lend", &[path.to_str().unwrap()]);
    for _ in 0..3 {
        let mut actor = start();
        actor.hear();
        actor.kill();
    }
    table.set(KEY, large(2)).unwrap();
    table.reclaim().unwrap();
    assert_all_back(&table);
}

#[test]
fn a_forked_child_takes_no_pin_of_its_parent_off() {
    alone("a_forked_child_takes_no_pin_of_its_parent_off", &[], || {
        let dir = Dir::new();
        let table = options().create(dir.table("t")).unwrap();
        table.set(KEY, large(1)).unwrap();
        let mut seen = Some(view(&table));
        fork(|| drop(seen.take())).finish();
        fork(|| {
            table.set(KEY, large(2)).unwrap();
            let own = view(&table);
            assert!(own.is_lent());
            table.set(KEY, large(3)).unwrap();
            assert_shows(&own, 2);
        })
        .finish();
        for version in 4..9 {
            table.set(KEY, large(version)).unwrap();
        }
        assert_shows(seen.as_ref().unwrap(), 1);
        drop(seen);
        table.reclaim().unwrap();
        assert_all_back(&table);
    });
}

#[test]
fn a_view_that_is_forgotten_goes_with_its_table() {
    let dir = Dir::new();
    let table = options().create(dir.table("t")).unwrap();
    table.set(KEY, large(1)).unwrap();
    let other = options().open_existing(dir.table("t")).unwrap();
    std::mem::forget(view(&other));
    table.set(KEY, large(2)).unwrap();
    drop(other);
    assert_all_back(&table);
}

/// Ends the writer, also when a reader has found a fault.
struct End<'a>(&'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Each way to read, beside a writer that never rests, through a table of its own.
#[test]
fn all_kinds_of_reads_see_whole_values() {
    let dir = Dir::new();
    let table = options().create(dir.table("t")).unwrap();
    let uid = table.set_uid(KEY, large(1)).unwrap();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let other = options().open_existing(dir.table("t")).unwrap();
            let values = [1, 2, 3].map(large);
            while !is_over.load(Ordering::Relaxed) {
                for value in &values {
                    other.set(KEY, value).unwrap();
                }
            }
        });
        let end = End(&is_over);
        let is_whole = |value: &[u8]| assert!(version_of(KEY, value).is_some(), "torn");
        let mut slice = vec![0; 2 * LEN];
        for _ in 0..10 {
            is_whole(&table.get(KEY).unwrap().unwrap());
            is_whole(&table.get_by_uid(uid).unwrap().unwrap());
            let len = table.get_to_slice(KEY, &mut slice).unwrap().unwrap();
            is_whole(&slice[..len]);
            let many = |_, value: Option<&[u8]>| is_whole(value.unwrap());
            table.get_many(&[KEY], many).unwrap();
            let mut met = 0;
            for entry in table.iter() {
                is_whole(&entry.unwrap().1);
                met += 1;
            }
            assert!(met > 0);
            is_whole(&table.get_entry(KEY).unwrap().unwrap().value);
            is_whole(&view(&table).to_vec());
        }
        drop(end);
    });
    assert_all_back(&table);
}

//! Models: the real operations of a few threads on a small table in the heap, with what must hold
//! whatever their order.
//!
//! With the feature `shuttle` each access to a shared word is a scheduling point and a model is run
//! under many schedules ([`schedules`]; `make shuttle`). Without it the threads are the system's
//! ([`threads`]): so Miri and ThreadSanitizer run the same models, and judge the memory orders,
//! which the checker does not: it knows one order of all accesses.

mod caches;
mod changes;
#[cfg(feature = "shuttle")]
mod deaths;
#[cfg(not(miri))]
mod durable;
mod expiry;
mod growth;
mod key_watch;
#[cfg(feature = "shuttle")]
mod key_watch_deaths;
#[cfg(feature = "shuttle")]
mod lease_deaths;
mod leases;
mod locks;
#[cfg(feature = "shuttle")]
mod log_deaths;
#[cfg(feature = "shuttle")]
mod log_drains;
mod log_story;
mod logs;
mod moves;
#[cfg(feature = "shuttle")]
mod named_locks;
mod pins;
#[cfg(feature = "shuttle")]
mod queue_deaths;
#[cfg(feature = "shuttle")]
mod queue_makers;
mod queues;
mod reads;
mod samples;
#[cfg(feature = "shuttle")]
mod schedules;
mod tags;
#[cfg(not(feature = "shuttle"))]
mod threads;
mod transactions;
mod uids;

use crate::engine::Core;
use crate::index::locate::Hash;
use crate::lock::Me;
use crate::region::Region;
use crate::sync::{Ordering, W32};
use crate::table::Table;
#[cfg(feature = "shuttle")]
use schedules::{
    explore, explore_fully, explore_until, late, open_but, open_pages, open_up, quietly, run_once,
    thread,
};
use std::sync::Arc;
#[cfg(not(feature = "shuttle"))]
use threads::{explore, late, open_but, open_pages, open_up, quietly, thread};

/// Numbers of keys that the models seek, tried first: Miri would take long to try a million others.
#[rustfmt::skip]
const SOUGHT: [u64; 62] = [
    3445, 5360, 6816, 7002, 10509, 13205, 48300, 56340, 68181,
    75367, 79918, 88115, 97910, 106262, 112203, 113172, 114855, 117936,
    119914, 122933, 129927, 132871, 158233, 161303, 163897, 164481, 164488,
    166239, 168464, 172023, 177991, 178662, 191571, 202699, 204580, 209346,
    209646, 218136, 218431, 249347, 268163, 284771, 290239, 330923, 361981,
    449367, 466841, 468809, 488236, 554741, 565149, 574738, 630877, 632148,
    669260, 858676, 877347, 890391, 965046, 1150469, 1447263, 1481603,
];

type Key = [u8; 8];
type Write = Box<dyn FnOnce(&Table) + Send>;
type Observer = Box<dyn FnMut(&Table) + Send>;

/// A table of one shard that holds what `fill` puts there.
fn table(fill: impl FnOnce(&Table)) -> Arc<Table> {
    quietly(|| {
        let options = Table::options().max_size(1 << 20).shards(1);
        let table = options.private().expect("a private table");
        table.set(b"first", b"attaches").expect("a small value");
        table.remove(b"first").expect("no error");
        fill(&table);
        open_up(region(&table));
        Arc::new(table)
    })
}

fn core(table: &Table) -> &Core {
    table.core().expect("a table in the heap is there at once")
}

fn region(table: &Table) -> &Region {
    core(table).region()
}

/// The participant that this process is.
fn writer(table: &Table) -> Me {
    core(table)
        .writer()
        .expect("attached when the table was made")
}

/// Lets the writers write, and meanwhile the readers look, again and again until all is written
/// and once more. In the end the table must be whole.
fn beside(table: &Arc<Table>, writers: Vec<Write>, readers: Vec<Observer>) {
    let left = Arc::new(W32::new(writers.len() as u32));
    let mut threads = Vec::new();
    for write in writers {
        let (table, left) = (Arc::clone(table), Arc::clone(&left));
        threads.push(thread::spawn(move || {
            write(&table);
            quietly(|| left.fetch_add(u32::MAX, Ordering::Relaxed));
        }));
    }
    for mut observe in readers {
        let (table, left) = (Arc::clone(table), Arc::clone(&left));
        threads.push(thread::spawn(move || {
            loop {
                let is_last = quietly(|| left.load(Ordering::Relaxed)) == 0;
                observe(&table);
                if is_last {
                    break;
                }
                thread::yield_now();
            }
        }));
    }
    for thread in threads {
        thread
            .join()
            .expect("a thread that panicked has ended the test");
    }
    quietly(|| is_whole(table));
}

fn is_whole(table: &Table) {
    let report = table.check().expect("a report");
    assert!(report.is_clean(), "{:?}", report.problems);
    assert_eq!(report.bytes_in_use, report.bytes_reachable);
}

/// From this version on values are words, which are changed in place behind a key of 8 bytes.
const WORDS: u8 = 100;

/// A value that contains its version; all of one size class, and no two versions in a row as long
/// but for the words.
fn value(version: u8) -> Vec<u8> {
    if version >= WORDS {
        return vec![version; 8];
    }
    vec![version; 9 + usize::from(version % 8)]
}

/// The version of a value, which must be whole.
fn version_of(found: &[u8]) -> u8 {
    let version = *found.first().expect("an empty value");
    assert_eq!(found, value(version), "a torn value");
    version
}

/// Reads a key that is there throughout.
fn version(table: &Table, key: &[u8]) -> u8 {
    let found = table.get(key).expect("no damage");
    version_of(&found.expect("a key that is there throughout"))
}

/// A reader of keys that are there throughout, whose versions never go back.
fn never_missing(keys: impl IntoIterator<Item = Key>) -> Observer {
    let keys: Vec<Key> = keys.into_iter().collect();
    let mut last = vec![0; keys.len()];
    let mut as_batch = false;
    Box::new(move |table| {
        let mut observe = |i: usize, now: u8| {
            assert!(now >= last[i], "version {now} after {}", last[i]);
            last[i] = now;
        };
        as_batch = !as_batch;
        if as_batch {
            let found = |i, found: Option<&[u8]>| {
                observe(
                    i,
                    version_of(found.expect("a key that is there throughout")),
                );
            };
            table.get_many(&keys, found).expect("no damage");
        } else {
            for (i, key) in keys.iter().enumerate() {
                observe(i, version(table, &key[..]));
            }
        }
    })
}

/// A scan that must meet all these keys, with a whole value each.
fn scan_meets(keys: &[Key]) -> Observer {
    let keys = keys.to_vec();
    Box::new(move |table| {
        let mut left = keys.clone();
        for entry in table.iter() {
            let (key, value) = entry.expect("no damage");
            version_of(&value);
            left.retain(|wanted| wanted[..] != key[..]);
        }
        assert!(left.is_empty(), "keys not met: {left:?}");
    })
}

/// The first keys with this home bucket and this other one.
fn keys_between(home: u32, other: u32, count: usize) -> Vec<Key> {
    keys_where(count, move |hash| {
        hash.home() == home && hash.away() == other
    })
}

/// The first keys whose hash is so.
fn keys_where(count: usize, is_so: impl Fn(&Hash) -> bool) -> Vec<Key> {
    let sample = table(|_| ());
    let others = (0..).filter(|number| !SOUGHT.contains(number));
    let all = SOUGHT.into_iter().chain(others).map(u64::to_le_bytes);
    let found = all.filter(|key| is_so(&Hash::of(region(&sample), key)));
    found.take(count).collect()
}

fn set(table: &Table, key: &[u8], version: u8) {
    table.set(key, value(version)).expect("room");
}

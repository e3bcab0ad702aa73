//! Threads share a table freely, in one handle and in several; the library starts none unasked,
//! prints nothing and ends no process.

use crate::support::process::threads;
use crate::support::{Dir, Random, assert_clean, value_of, version_of};
use std::path::Path;
use std::process::Stdio;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};
use tavola::{Attributes, Error, Iter, Options, Table};

const THREADS: u64 = 8;

/// Holds at compile time.
const _: () = {
    const fn is_shared<T: Send + Sync>() {}
    const fn is_sent<T: Send>() {}
    is_shared::<Table>();
    is_shared::<Options>();
    is_shared::<Error>();
    is_sent::<Iter<'static>>();
};

fn key_of(number: u64) -> Vec<u8> {
    format!("key {number}").into_bytes()
}

/// One thread's share of mixed work on keys that all have in common; the counts it added.
fn work(table: &Table, thread: u64, rounds: u64) -> u64 {
    let mut random = Random::new(thread + 1);
    let mut counted = 0;
    for round in 0..rounds {
        let key = key_of(random.below(3000));
        let value = value_of(&key, round, 16 + random.below(400) as usize);
        match random.below(16) {
            0..=4 => table.set(&key, &value).unwrap(),
            5 => drop(table.add(&key, &value).unwrap()),
            6 => drop(table.replace(&key, &value).unwrap()),
            7 | 8 => drop(table.remove(&key).unwrap()),
            9 => {
                if let Some(taken) = table.take(&key).unwrap() {
                    version_of(&key, &taken).unwrap();
                }
            }
            10 => {
                table.incr(b"count", thread).unwrap();
                counted += thread;
            }
            11 => {
                let renewed = |_: Option<&[u8]>| Some(value.clone());
                table.update(&key, renewed).unwrap();
            }
            12 if round % 40 == 0 => {
                table.set(&key, value_of(&key, round, 40_000)).unwrap();
            }
            _ => {
                if let Some(value) = table.get(&key).unwrap() {
                    version_of(&key, &value).unwrap();
                }
            }
        }
    }
    counted
}

fn walk(table: &Table) {
    for entry in table.iter() {
        let (key, value) = entry.unwrap();
        assert!(key == b"count" || version_of(&key, &value).is_some());
    }
}

fn share(tables: &[&Table]) {
    let barrier = Barrier::new(THREADS as usize);
    let counted: u64 = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..THREADS)
            .map(|thread| {
                let table = tables[thread as usize % tables.len()];
                let barrier = &barrier;
                scope.spawn(move || {
                    barrier.wait();
                    let counted = work(table, thread, 12_000);
                    walk(table);
                    counted
                })
            })
            .collect();
        workers
            .into_iter()
            .map(|worker| worker.join().unwrap())
            .sum()
    });
    for table in tables {
        assert_eq!(
            table.get(b"count").unwrap().unwrap(),
            counted.to_string().into_bytes()
        );
        walk(table);
        assert_clean(table);
    }
}

#[test]
fn eight_threads_share_one_handle() {
    crate::support::over_every_table(Table::options().max_size(32 << 20), |table| share(&[table]));
}

/// A word whose halves show whether they belong together.
fn word(number: u32) -> [u8; 8] {
    (u64::from(number) << 32 | u64::from(!number)).to_le_bytes()
}

/// Reads the keys by every kind of read, until it is asked to stop.
fn read_words(table: &Table, path: &Path, is_over: &AtomicBool) {
    let assert_whole = |value: &[u8]| {
        let number = u64::from_le_bytes(value.try_into().unwrap());
        assert_eq!((number >> 32) as u32, !(number as u32), "a torn word");
    };
    let keys: Vec<[u8; 8]> = (0..20u64).map(u64::to_le_bytes).collect();
    let mut rounds = 0;
    while !is_over.load(Relaxed) || rounds == 0 {
        for key in &keys {
            assert_whole(&table.get(key).unwrap().unwrap());
            // The first reads of a table that was just opened go another way.
            let fresh = Table::open_read_only(path).unwrap();
            assert_whole(&fresh.get(key).unwrap().unwrap());
        }
        let found = |_, value: Option<&[u8]>| assert_whole(value.unwrap());
        table.get_many(&keys, found).unwrap();
        table
            .iter()
            .for_each(|entry| assert_whole(&entry.unwrap().1));
        rounds += 1;
    }
}

/// Values of 8 bytes behind keys of 8 are changed in place, by `set` and all that sets.
#[test]
fn a_word_changed_in_place_is_never_torn() {
    let dir = Dir::new();
    let path = dir.table("t");
    let table = Table::options().max_size(32 << 20).create(&path).unwrap();
    for key in 0..20u64 {
        table.set(key.to_le_bytes(), word(0)).unwrap();
    }
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let readers = [0; 3].map(|_| scope.spawn(|| read_words(&table, &path, &is_over)));
        let writers = [1, 2].map(|seed| {
            let table = &table;
            scope.spawn(move || {
                let mut random = Random::new(seed);
                for round in 0..200_000u32 {
                    let key = random.below(20).to_le_bytes();
                    match round % 8 {
                        0 => drop(table.swap(key, word(round)).unwrap()),
                        1 => drop(table.update(key, |_| Some(word(round).to_vec())).unwrap()),
                        _ => table.set(key, word(round)).unwrap(),
                    }
                }
            })
        });
        for writer in writers {
            writer.join().unwrap();
        }
        is_over.store(true, Relaxed);
        for reader in readers {
            reader.join().unwrap();
        }
    });
    assert_eq!(table.len().unwrap(), 20);
    assert_clean(&table);
}

/// The flags that a first read returns are those of the value that it returns.
#[test]
fn flags_belong_to_the_value_of_a_first_read() {
    let dir = Dir::new();
    let path = dir.table("t");
    let table = Table::options().max_size(32 << 20).create(&path).unwrap();
    let set = |key: u64, number: u32| {
        let len = 4 + number as usize % 7;
        let value = number.to_le_bytes().repeat(len);
        let flags = Attributes::default().with_flags(number);
        table.set_with(key.to_le_bytes(), value, flags).unwrap();
    };
    (0..20).for_each(|key| set(key, key as u32));
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut reads = 0u64;
            while !is_over.load(Relaxed) {
                let fresh = Table::open_read_only(&path).unwrap();
                let mut value = Vec::new();
                let key = (reads % 20).to_le_bytes();
                let details = fresh.get_entry_into(key, &mut value).unwrap().unwrap();
                let number = details.attributes.flags;
                let len = 4 + number as usize % 7;
                assert_eq!(value, number.to_le_bytes().repeat(len));
                reads += 1;
            }
            reads
        });
        let mut random = Random::new(3);
        for round in 0..300_000u32 {
            // Sometimes without flags, so that an item without the field has its place.
            set(random.below(20), if round % 3 == 0 { 0 } else { round });
        }
        is_over.store(true, Relaxed);
        assert!(reader.join().unwrap() > 100);
    });
    assert_clean(&table);
}

#[test]
fn eight_threads_share_two_handles_of_one_table() {
    let dir = Dir::new();
    let options = Table::options().max_size(32 << 20).shards(2);
    let first = options.create(dir.table("t")).unwrap();
    let second = options.open(dir.table("t")).unwrap();
    share(&[&first, &second]);
    assert_eq!(first.participants().unwrap().len(), 2);
    drop(second);
    assert_eq!(first.participants().unwrap().len(), 1);
    first.set(b"after", b"all").unwrap();
}

/// Handles come and go while others work.
#[test]
fn handles_are_opened_and_dropped_by_many_threads() {
    let dir = Dir::new();
    let path = dir.table("t");
    let own = |thread, round| key_of(10_000 + thread * 1000 + round);
    let kept = Table::options().max_size(32 << 20).create(&path).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let path = &path;
            scope.spawn(move || {
                for round in 0..200u64 {
                    let table = Table::open(path).unwrap();
                    let key = own(thread, round);
                    table.set(&key, value_of(&key, round, 30)).unwrap();
                }
            });
        }
        work(&kept, 1, 5_000);
    });
    for thread in 0..THREADS {
        for round in 0..200 {
            assert!(kept.contains(own(thread, round)).unwrap());
        }
    }
    assert_eq!(kept.participants().unwrap().len(), 1);
    assert_clean(&kept);
}

/// An actor: everything once, good and bad, then a word of its own.
fn user(args: &[String]) {
    let before = threads();
    let table = Table::options().max_size(8 << 20).open(&args[0]).unwrap();
    work(&table, 1, 20_000);
    walk(&table);
    while table.set(b"large", [0; 100_000]).is_ok() && table.len().unwrap() < 4000 {
        let number = table.len().unwrap();
        if table.set(number.to_le_bytes(), [0; 5_000]).is_err() {
            break;
        }
    }
    table.clear().unwrap();
    table.maintain(1 << 20).unwrap();
    table.compact().unwrap();
    table.check().unwrap();
    table.repair().unwrap();
    assert!(Table::open("/proc/self/no such table").is_err());
    assert!(Table::open("").is_err());
    assert!(Table::create(&args[0]).is_err());
    assert_eq!(threads(), before, "a thread was started");
    let table = Table::options().background(true).open(&args[0]).unwrap();
    assert_eq!(threads(), before + 1, "one thread was allowed");
    drop(table);
    let until = Instant::now() + Duration::from_secs(60);
    while threads() != before && Instant::now() < until {
        std::thread::yield_now();
    }
    assert_eq!(threads(), before, "the thread outlived its handle");
    eprintln!("all done");
    crate::support::part::say("done");
}

#[test]
fn the_library_is_silent_and_starts_no_thread() {
    crate::support::part::play(&[("user", user)]);
    let dir = Dir::new();
    let path = dir.table("t");
    let test = "the_library_is_silent_and_starts_no_thread";
    let mut command = crate::support::part::command(test, "user", &[path.to_str().unwrap()]);
    let output = command.stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success());
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "all done\n");
    let stdout = String::from_utf8(output.stdout).unwrap();
    let (_, after) = stdout.split_once("said begun\n").unwrap();
    assert_eq!(after.trim_start(), "\u{1}said done\n");
}

//! Changes that depend on the old value are done once each, whatever else changes the same key.

use crate::support::part::{Actor, hear, play, say};
use crate::support::{Dir, assert_clean, over_every_table};
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};
use tavola::{CasOutcome, Hint, Options, Table, Updated};

const PROCESSES: u64 = 4;
const COUNTERS: u64 = 8;
const INCREMENTS: u64 = 20_000;
const THREADS: u64 = 4;
const UPDATES: u64 = 3_000;

fn options() -> Options {
    Table::options().max_size(32 << 20)
}

/// An actor: counts all counters up when it is asked to.
fn counter(args: &[String]) {
    let table = Table::open(&args[0]).unwrap();
    say("ready");
    hear().unwrap();
    for _ in 0..INCREMENTS {
        for counter in 0..COUNTERS {
            table.incr(counter.to_le_bytes(), counter + 1).unwrap();
        }
    }
}

#[test]
fn processes_count_exactly() {
    play(&[("counter", counter)]);
    let dir = Dir::new();
    let path = dir.table("t");
    let table = options().create(&path).unwrap();
    let args = [path.to_str().unwrap()];
    let mut counters: Vec<Actor> = (0..PROCESSES)
        .map(|_| Actor::start("processes_count_exactly", "counter", &args))
        .collect();
    for counter in &mut counters {
        assert_eq!(counter.hear(), "ready");
    }
    for counter in &mut counters {
        counter.send("begin");
    }
    counters.into_iter().for_each(Actor::finish);
    for counter in 0..COUNTERS {
        let sum = PROCESSES * INCREMENTS * (counter + 1);
        let found = table.get(counter.to_le_bytes()).unwrap().unwrap();
        assert_eq!(found, sum.to_string().as_bytes());
    }
    assert_clean(&table);
}

#[test]
fn an_update_that_fails_leaves_the_key_as_it_is() {
    over_every_table(options(), |table| {
        table.set(b"k", b"old").unwrap();
        let fail = |old: Option<&[u8]>| match old {
            Some(b"old") => Err("as it is".into()),
            Some(_) => Ok(None),
            None => Ok(Some(b"new".to_vec())),
        };
        let update = |key: &[u8]| table.try_update::<Box<dyn std::error::Error>>(key, fail);
        assert_eq!(update(b"k").unwrap_err().to_string(), "as it is");
        assert_eq!(table.get(b"k").unwrap().unwrap(), b"old");
        assert_eq!(update(b"other").unwrap().unwrap(), b"new");
        assert_eq!(update(b"other").unwrap(), None);
        assert_eq!(table.len().unwrap(), 1);
    });
}

fn number(value: Option<&[u8]>) -> u64 {
    value.map_or(0, |value| u64::from_le_bytes(value.try_into().unwrap()))
}

#[test]
fn updates_add_up() {
    const ROUNDS: u64 = 5_000;
    over_every_table(options(), |table| {
        std::thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    for round in 0..ROUNDS {
                        let key = (round % 3).to_le_bytes();
                        let add =
                            |old: Option<&[u8]>| Some((number(old) + round).to_le_bytes().to_vec());
                        table.update(key, add).unwrap();
                    }
                });
            }
        });
        for key in 0..3u64 {
            let of_one: u64 = (0..ROUNDS).filter(|round| round % 3 == key).sum();
            let found = table.get(key.to_le_bytes()).unwrap();
            assert_eq!(number(found.as_deref()), of_one * THREADS);
        }
        assert_clean(table);
    });
}

/// An actor: counts the key of a uid up, by its uid, when it is asked to.
fn uid_counter(args: &[String]) {
    let table = Table::open(&args[0]).unwrap();
    let hint = Hint::from_bits(args[1].parse().unwrap());
    say("ready");
    hear().unwrap();
    count_by_uid(&table, hint);
}

fn count_by_uid(table: &Table, hint: Hint) {
    let one_more = |old: &[u8]| Some((number(Some(old)) + 1).to_le_bytes().to_vec());
    for _ in 0..UPDATES {
        let updated = table.update_by_uid(hint, one_more).unwrap();
        assert!(matches!(updated, Updated::Stored(_)), "{updated:?}");
    }
}

#[test]
fn updates_by_uid_add_up_beside_others_of_processes_and_threads() {
    play(&[("uid counter", uid_counter)]);
    // A word is changed in place, by uid as by key; a longer value is another item each time.
    for key in [&b"12345678"[..], b"a key"] {
        let dir = Dir::new();
        let path = dir.table("t");
        let table = options().create(&path).unwrap();
        let hint = table.set_uid(key, 0u64.to_le_bytes()).unwrap();
        let test = "updates_by_uid_add_up_beside_others_of_processes_and_threads";
        let args = [path.to_str().unwrap(), &hint.to_bits().to_string()];
        let mut counters: Vec<Actor> = (0..PROCESSES)
            .map(|_| Actor::start(test, "uid counter", &args))
            .collect();
        for counter in &mut counters {
            assert_eq!(counter.hear(), "ready");
        }
        for counter in &mut counters {
            counter.send("begin");
        }
        std::thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| count_by_uid(&table, hint));
            }
            scope.spawn(|| {
                let one_more = |old: Option<&[u8]>| Some((number(old) + 1).to_le_bytes().to_vec());
                for _ in 0..UPDATES {
                    table.update(key, one_more).unwrap();
                }
            });
        });
        counters.into_iter().for_each(Actor::finish);
        let sum = number(table.get(key).unwrap().as_deref());
        assert_eq!(sum, (PROCESSES + THREADS + 1) * UPDATES);
        assert_eq!(table.uid_of(key).unwrap(), Some(hint));
        assert_clean(&table);
    }
}

/// Each job is taken by one thread, however many reach for it.
#[test]
fn each_job_is_taken_once() {
    const JOBS: u64 = 5_000;
    over_every_table(options(), |table| {
        let taken: Vec<AtomicU64> = (0..JOBS).map(|_| AtomicU64::new(0)).collect();
        let left = AtomicU64::new(JOBS);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for job in 0..JOBS {
                    let key = job.to_le_bytes();
                    table.set(key, (job * 3).to_le_bytes()).unwrap();
                }
            });
            for _ in 1..THREADS {
                scope.spawn(|| {
                    for job in (0..JOBS).cycle() {
                        if left.load(Ordering::Relaxed) == 0 {
                            break;
                        }
                        if let Some(value) = table.take(job.to_le_bytes()).unwrap() {
                            assert_eq!(number(Some(&value)), job * 3);
                            taken[job as usize].fetch_add(1, Ordering::Relaxed);
                            left.fetch_sub(1, Ordering::Relaxed);
                        }
                    }
                });
            }
        });
        assert!(taken.iter().all(|times| times.load(Ordering::Relaxed) == 1));
        assert!(table.is_empty().unwrap());
        assert_clean(table);
    });
}

#[test]
fn one_compare_and_swap_wins_each_round() {
    const ROUNDS: u64 = 1_000;
    over_every_table(options(), |table| {
        table.set(b"key", u64::MAX.to_le_bytes()).unwrap();
        let barrier = Barrier::new(THREADS as usize);
        let wins: Vec<AtomicU64> = (0..ROUNDS).map(|_| AtomicU64::new(0)).collect();
        std::thread::scope(|scope| {
            for thread in 0..THREADS {
                let (wins, barrier) = (&wins, &barrier);
                scope.spawn(move || {
                    for round in 0..ROUNDS {
                        let (_, token) = table.get_with_token(b"key").unwrap().unwrap();
                        barrier.wait();
                        let value = (round * THREADS + thread).to_le_bytes();
                        match table.compare_and_swap(b"key", token, value).unwrap() {
                            CasOutcome::Swapped => {
                                wins[round as usize].fetch_add(1, Ordering::Relaxed);
                            }
                            CasOutcome::Changed => {}
                            CasOutcome::NotFound => panic!("the key is gone"),
                        }
                        barrier.wait();
                    }
                });
            }
        });
        assert!(wins.iter().all(|wins| wins.load(Ordering::Relaxed) == 1));
        let last = number(table.get(b"key").unwrap().as_deref());
        assert_eq!(last / THREADS, ROUNDS - 1);
        let gone = table.get_with_token(b"key").unwrap().unwrap().1;
        assert!(table.remove(b"key").unwrap());
        let outcome = table.compare_and_swap(b"key", gone, b"x").unwrap();
        assert_eq!(outcome, CasOutcome::NotFound);
    });
}

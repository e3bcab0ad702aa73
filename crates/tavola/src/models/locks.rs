//! The lock word: one thread at a time, no wake that is lost, and one thread that takes it over
//! after a death.

use super::{explore, region, table, thread, writer};
use crate::alloc::lock_pool;
use crate::lock::{ShardLock, Taken};
#[cfg(feature = "shuttle")]
use crate::sync::model::outlives;
use crate::sync::{Ordering, W32};
use std::sync::Arc;

const THREADS: u32 = 3;
const TURNS: u32 = 2;

/// What only the holder of a lock may touch: added to in two steps.
fn add(counter: &W32) {
    counter.add_owned(1);
    let seen = counter.load(Ordering::Relaxed);
    counter.store(seen + 1, Ordering::Relaxed);
    assert_eq!(counter.load(Ordering::Relaxed), seen + 1);
}

fn join(threads: Vec<thread::JoinHandle<()>>) {
    for thread in threads {
        thread
            .join()
            .expect("a thread that panicked has ended the test");
    }
}

#[test]
fn one_holds_a_lock_and_nobody_sleeps_for_ever() {
    explore(3000, || {
        let table = table(|_| ());
        let counter = Arc::new(W32::new(0));
        let threads = (0..THREADS).map(|n| {
            let (table, counter) = (Arc::clone(&table), Arc::clone(&counter));
            thread::spawn(move || {
                let (region, me) = (region(&table), writer(&table));
                for turn in 0..TURNS {
                    let (_lock, taken) = ShardLock::acquire(region, 0, me).expect("a lock");
                    assert_eq!(taken, Taken::Clean);
                    add(&counter);
                    if (n + turn) % 2 == 0 {
                        drop(lock_pool(region, me).expect("the pool's lock"));
                    }
                }
            })
        });
        join(threads.collect());
        assert_eq!(counter.load(Ordering::Relaxed), 2 * THREADS * TURNS);
    });
}

#[test]
#[cfg(feature = "shuttle")]
fn after_a_death_one_waiter_learns_of_it() {
    explore(3000, || {
        let table = table(|_| ());
        let (counter, informed) = (Arc::new(W32::new(0)), Arc::new(W32::new(0)));
        let mut threads = Vec::new();
        for is_doomed in [true, false, false, false] {
            let (table, counter) = (Arc::clone(&table), Arc::clone(&counter));
            let informed = Arc::clone(&informed);
            threads.push(thread::spawn(move || {
                let (region, me) = (region(&table), writer(&table));
                let hold = || {
                    let (_lock, taken) = ShardLock::acquire(region, 0, me).expect("a lock");
                    if taken != Taken::Clean {
                        add(&informed);
                    }
                    add(&counter);
                };
                let k = if is_doomed { 2 } else { u64::MAX };
                assert_eq!(outlives(k, hold).is_none(), is_doomed);
            }));
        }
        join(threads);
        // The doomed one was let through once, and died when it had added twice.
        assert_eq!(counter.load(Ordering::Relaxed), 2 * 4);
        let last = ShardLock::acquire(region(&table), 0, writer(&table));
        let left = u32::from(last.unwrap().1 != Taken::Clean);
        assert_eq!(informed.load(Ordering::Relaxed) + 2 * left, 2);
    });
}

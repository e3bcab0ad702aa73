//! Queues: what is pushed is popped once and in order, and nobody sleeps while there is something.

use super::{Table, Write, beside, explore, open_pages, quietly, table};
use crate::{Queue, QueueOptions, QueuePool};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Longer than any model takes.
const LONG: Duration = Duration::from_secs(3600);

/// A table beside which is a pool of two queues; all elements stand in the first.
pub(super) fn pool_of(elements: u32) -> Arc<Table> {
    let table = table(|t| {
        let options = QueueOptions::new(elements, 8).queues(["a", "b"]);
        options.create_in(t, "pool").expect("room for a pool");
    });
    open_pages();
    table
}

/// The same, all elements of which this process holds.
fn all_held(elements: u32) -> Arc<Table> {
    let table = pool_of(elements);
    let queues = Queues::of(&table);
    assert_eq!(drain(&queues.a).len() as u32, elements);
    table
}

/// The pool and its two queues.
pub(super) struct Queues {
    pub(super) pool: QueuePool,
    pub(super) a: Queue,
    pub(super) b: Queue,
}

impl Queues {
    pub(super) fn of(table: &Table) -> Self {
        quietly(|| {
            let pool = table.pool("pool").expect("it was made");
            let [a, b] = ["a", "b"].map(|name| pool.queue(name).expect("it has two"));
            Self { pool, a, b }
        })
    }

    /// The popper of an element sees what its pusher wrote.
    fn sign(&self, element: u32) {
        let bytes = (!element).to_le_bytes();
        self.pool.write(element, 0, &bytes).expect("it is held");
    }

    fn is_signed(&self, element: u32) {
        let mut bytes = [0; 4];
        self.pool.read(element, 0, &mut bytes).expect("it is held");
        assert_eq!(bytes, (!element).to_le_bytes(), "of element {element}");
    }
}

/// Pops until there is nothing.
pub(super) fn drain(queue: &Queue) -> Vec<u32> {
    quietly(|| std::iter::from_fn(|| queue.pop().expect("no damage")).collect())
}

/// Writes to these elements and pushes each run of them to the second queue.
fn pushes(runs: &'static [&'static [u32]]) -> Write {
    Box::new(move |t| {
        let queues = Queues::of(t);
        for run in runs {
            run.iter().for_each(|element| queues.sign(*element));
            queues.b.push_many(run).expect("they are held");
        }
    })
}

/// Of two pushers: 0, then 1 and 2 in one go; 3, then 4.
const RUNS: [&[&[u32]]; 2] = [&[&[0], &[1, 2]], &[&[3], &[4]]];

fn is_in_order(popped: &[u32]) {
    for pusher in RUNS {
        let mine = popped.iter().filter(|e| pusher.concat().contains(e));
        assert!(mine.is_sorted(), "popped {popped:?}");
    }
}

#[test]
fn each_element_is_popped_once_and_in_order() {
    explore(700, || {
        let table = all_held(5);
        let log = Arc::new(Mutex::new(Vec::new()));
        let popped_log = Arc::clone(&log);
        let pop: Write = Box::new(move |t| {
            let (queues, mut out) = (Queues::of(t), [0; 3]);
            for _ in 0..3 {
                let count = queues.b.pop_many(&mut out).expect("no damage");
                let popped = &out[..count];
                popped.iter().for_each(|element| queues.is_signed(*element));
                let is_halved = count < 3 && popped.contains(&1) && !popped.contains(&2);
                assert!(!is_halved, "half of a run: {popped:?}");
                popped_log.lock().unwrap().extend_from_slice(popped);
            }
        });
        let pass: Write = Box::new(|t| {
            let queues = Queues::of(t);
            for most in 1..3 {
                queues.b.pass(&queues.a, most).expect("no damage");
            }
        });
        let [first, second] = RUNS.map(pushes);
        beside(&table, vec![first, second, pop, pass], Vec::new());
        let (queues, log) = (Queues::of(&table), log.lock().unwrap().clone());
        let (passed, rest) = (drain(&queues.a), drain(&queues.b));
        is_in_order(&[&log[..], &rest].concat());
        is_in_order(&[&passed[..], &rest].concat());
        let mut all = [log, passed, rest].concat();
        all.sort_unstable();
        assert_eq!(all, [0, 1, 2, 3, 4]);
    });
}

/// The threads that wait for an element each, which these push.
fn each_sleeper_gets_one(sleepers: u32, others: impl Fn() -> Vec<Write> + Send + Sync + 'static) {
    explore(700, move || {
        let table = all_held(4);
        let got = Arc::new(Mutex::new(Vec::new()));
        let sleep = |_| -> Write {
            let got = Arc::clone(&got);
            Box::new(move |t| {
                let queues = Queues::of(t);
                let element = queues.b.pop_wait(LONG).expect("no damage");
                let element = element.expect("one for each");
                queues.is_signed(element);
                got.lock().unwrap().push(element);
            })
        };
        let all = (0..sleepers).map(sleep).chain(others());
        beside(&table, all.collect(), Vec::new());
        got.lock().unwrap().sort_unstable();
        assert_eq!(*got.lock().unwrap(), (0..sleepers).collect::<Vec<_>>());
    });
}

#[test]
fn a_sleeper_is_woken() {
    each_sleeper_gets_one(1, || vec![pushes(&[&[0]])]);
}

#[test]
fn two_pushes_wake_two_sleepers() {
    each_sleeper_gets_one(2, || vec![pushes(&[&[0]]), pushes(&[&[1]])]);
}

/// The second push finds nobody noted who sleeps: who was woken by the first wakes the next.
#[test]
fn a_sleeper_wakes_the_next() {
    each_sleeper_gets_one(2, || vec![pushes(&[&[0], &[1]])]);
    each_sleeper_gets_one(3, || vec![pushes(&[&[0], &[1], &[2]])]);
}

#[test]
fn a_run_wakes_as_many_as_it_has_elements() {
    each_sleeper_gets_one(2, || vec![pushes(&[&[0, 1]])]);
    each_sleeper_gets_one(3, || vec![pushes(&[&[0, 1]]), pushes(&[&[2]])]);
}

/// One that does not wait takes what a sleeper was woken for, and brings it back.
#[test]
fn a_sleeper_that_comes_too_late_is_woken_again() {
    each_sleeper_gets_one(2, || {
        let borrow: Write = Box::new(|t| {
            let queues = Queues::of(t);
            for _ in 0..2 {
                if let Some(element) = queues.b.pop().expect("no damage") {
                    queues.b.push(element).expect("it was popped");
                }
            }
        });
        vec![pushes(&[&[0], &[1]]), borrow]
    });
}

#[test]
fn a_passed_element_wakes_a_waiting_thread() {
    each_sleeper_gets_one(2, || {
        let pass = || -> Write {
            Box::new(|t| {
                let queues = Queues::of(t);
                assert_eq!(
                    queues.a.pass_wait(&queues.b, 1, LONG).expect("no damage"),
                    1
                );
            })
        };
        let push: Write = Box::new(|t| {
            let queues = Queues::of(t);
            for element in 0..2 {
                queues.sign(element);
                queues.a.push(element).expect("it is held");
            }
        });
        vec![pass(), pass(), push]
    });
}

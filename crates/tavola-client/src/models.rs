//! Models of the pool and of held requests under many schedules of the checker shuttle, which also
//! finds threads that wait forever. Two mistakes, which tests make, must be found.
//!
//! `TAVOLA_MODEL_TIMES` multiplies the number of schedules, `SHUTTLE_RANDOM_SEED` chooses others.

use crate::conn::Conn;
use crate::held::Held;
use crate::pool::{Link, Pool};
use crate::sync::{AtomicUsize, thread};
use shuttle::scheduler::{PctScheduler, RandomScheduler, Scheduler};
use shuttle::{Config, FailurePersistence, Runner};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

/// A mistake that a test makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mistake {
    /// A lease that ends wakes nobody.
    WakesNobody,
    /// The entry of a thread that is about to hold something is dropped.
    DropsWhatIsAboutToChange,
}

thread_local! {
    /// All threads of a model run in one thread of the system.
    static MISTAKE: Cell<Option<Mistake>> = const { Cell::new(None) };
}

pub(crate) fn is_made(mistake: Mistake) -> bool {
    MISTAKE.get() == Some(mistake)
}

/// Schedules of each kind.
const SCHEDULES: usize = 500;

fn explore(model: fn()) {
    let times = std::env::var("TAVOLA_MODEL_TIMES").map_or(1.0, |n| n.parse().expect("a number"));
    let schedules = (SCHEDULES as f64 * times).ceil() as usize;
    run(RandomScheduler::new_from_seed(1, schedules), model);
    run(PctScheduler::new_from_seed(2, 3, schedules), model);
}

fn run(scheduler: impl Scheduler + 'static, model: fn()) {
    let mut config = Config::new();
    config.silence_warnings = true;
    config.failure_persistence = FailurePersistence::None;
    Runner::new(scheduler, config).run(model);
}

/// Whether a mistake makes a model fail.
fn is_found(mistake: Mistake, model: fn()) -> bool {
    MISTAKE.set(Some(mistake));
    let ran = catch_unwind(AssertUnwindSafe(|| explore(model)));
    MISTAKE.set(None);
    ran.is_err()
}

/// Threads share a few connections; some end theirs, some give it back, one closes those that are
/// free and adds one.
fn pool<const MOST: usize>() {
    let pool = Arc::new(Pool::new(MOST));
    let used = Arc::new(AtomicUsize::new(0));
    let later = Instant::now() + Duration::from_secs(3600);
    let take = |ends: bool| {
        let (pool, used) = (Arc::clone(&pool), Arc::clone(&used));
        thread::spawn(move || {
            for _ in 0..2 {
                let mut lease = pool.take(Instant::now(), later).expect("an hour is enough");
                assert!(used.fetch_add(1, SeqCst) < MOST, "too many at once");
                if matches!(lease.held, Link::None) {
                    lease.held = Link::Open(Conn::to_nobody());
                }
                used.fetch_sub(1, SeqCst);
                match ends {
                    true => drop(lease),
                    false => lease.give_back(Instant::now()),
                }
            }
        })
    };
    let mut threads = vec![take(false), take(true), take(false)];
    let other = Arc::clone(&pool);
    threads.push(thread::spawn(move || {
        other.close_idle();
        other.add(Conn::to_nobody());
    }));
    for thread in threads {
        thread.join().expect("it ended");
    }
    // Nothing is counted that is not there: all can be taken at once.
    let all: Vec<_> = (0..MOST)
        .filter_map(|_| pool.take(Instant::now(), later))
        .collect();
    assert_eq!(all.len(), MOST);
    assert!(pool.take(Instant::now(), Instant::now()).is_none());
}

/// Threads hold requests and take them, while one sends what all hold.
fn held() {
    let held = Arc::new(Held::default());
    let came = Arc::new(AtomicUsize::new(0));
    let was_held = Arc::new(AtomicUsize::new(0));
    let hold = |byte: u8, takes: bool| {
        let (held, came, was_held) = (Arc::clone(&held), Arc::clone(&came), Arc::clone(&was_held));
        thread::spawn(move || {
            for _ in 0..2 {
                was_held.fetch_add(usize::from(held.hold(&[byte])), SeqCst);
            }
            if takes {
                let mut out = Vec::new();
                held.take(&mut out);
                assert!(out.iter().all(|taken| *taken == byte), "those of others");
                came.fetch_add(out.len(), SeqCst);
            }
        })
    };
    let send_all = |held: &Held| {
        let mut count = 0;
        for entry in held.all() {
            let mut bytes = entry.lock().unwrap_or_else(PoisonError::into_inner);
            count += bytes.len();
            bytes.clear();
        }
        count
    };
    // More threads than there is room for.
    let threads = [hold(b'a', true), hold(b'b', true), hold(b'c', false)];
    came.fetch_add(send_all(&held), SeqCst);
    for thread in threads {
        thread.join().expect("it ended");
    }
    let rest = send_all(&held);
    assert_eq!(
        came.load(SeqCst) + rest,
        was_held.load(SeqCst),
        "all or none"
    );
}

#[test]
fn a_pool_gives_each_connection_to_one_and_lets_nobody_wait_forever() {
    explore(pool::<1>);
    explore(pool::<2>);
}

#[test]
fn what_is_held_is_taken_once() {
    explore(held);
}

#[test]
fn a_lease_that_wakes_nobody_is_found() {
    assert!(is_found(Mistake::WakesNobody, pool::<1>));
}

#[test]
fn an_entry_that_is_dropped_too_early_is_found() {
    assert!(is_found(Mistake::DropsWhatIsAboutToChange, held));
}

//! Named locks, semaphores and areas, of the threads of one process.

use crate::support::{Dir, assert_clean};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};
use tavola::{Error, Table};

const SHORT: Duration = Duration::from_millis(20);

fn table(dir: &Dir) -> Table {
    let options = Table::options().max_size(8 << 20);
    options.create(dir.table("t")).unwrap()
}

/// Adds in two steps, which only one thread at a time may do.
fn add(counter: &AtomicU64) {
    let seen = counter.load(Relaxed);
    std::thread::yield_now();
    counter.store(seen + 1, Relaxed);
}

#[test]
fn one_thread_at_a_time_holds_a_lock_and_sharers_keep_it_out() {
    let dir = Dir::new();
    let table = table(&dir);
    let (counter, sharers) = (AtomicU64::new(0), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for number in 0..4 {
            let (table, counter, sharers) = (&table, &counter, &sharers);
            scope.spawn(move || {
                let lock = table.named_lock("counter").unwrap();
                for turn in 0..500 {
                    if (turn + number) % 3 == 0 {
                        let guard = lock.share().unwrap();
                        assert!(guard.is_shared() && !guard.owner_died());
                        sharers.fetch_add(1, Relaxed);
                        let seen = counter.load(Relaxed);
                        std::thread::yield_now();
                        assert_eq!(counter.load(Relaxed), seen);
                        sharers.fetch_sub(1, Relaxed);
                    } else {
                        let guard = lock.lock().unwrap();
                        assert!(!guard.is_shared() && !guard.owner_died());
                        assert_eq!(sharers.load(Relaxed), 0);
                        add(counter);
                    }
                }
            });
        }
    });
    let shared = (0..4)
        .flat_map(|number| (0..500).map(move |turn| turn + number))
        .filter(|sum| sum % 3 == 0);
    assert_eq!(counter.load(Relaxed) as usize, 2000 - shared.count());
    assert_clean(&table);
}

#[test]
fn waits_end_when_their_time_is_up() {
    let dir = Dir::new();
    let table = table(&dir);
    let lock = table.named_lock("l").unwrap();
    let takes = |limit| (lock.lock_within(limit), lock.share_within(limit));
    let guard = lock.lock().unwrap();
    assert!(lock.try_lock().unwrap().is_none() && lock.try_share().unwrap().is_none());
    let begun = Instant::now();
    assert!(matches!(takes(SHORT), (Ok(None), Ok(None))));
    assert!(begun.elapsed() >= 2 * SHORT);
    drop(guard);
    let shared = lock.share().unwrap();
    assert!(lock.try_lock().unwrap().is_none() && lock.lock_within(SHORT).unwrap().is_none());
    // The one that gave up does not keep sharers out.
    assert!(lock.try_share().unwrap().is_some());
    drop(shared);
    assert!(lock.try_lock().unwrap().is_some());
    // A time beyond what the clock can express is no limit.
    assert!(lock.lock_within(Duration::MAX).unwrap().is_some());
}

#[test]
fn a_thread_that_waits_to_lock_keeps_new_sharers_out() {
    let dir = Dir::new();
    let table = table(&dir);
    let lock = table.named_lock("l").unwrap();
    let shared = lock.share().unwrap();
    std::thread::scope(|scope| {
        let waiter = scope.spawn(|| drop(lock.lock().unwrap()));
        while lock.try_share().unwrap().is_some() {
            std::thread::yield_now();
        }
        drop(shared);
        waiter.join().unwrap();
    });
    assert!(lock.try_share().unwrap().is_some());
}

#[test]
fn as_many_share_a_lock_as_there_are_places() {
    let dir = Dir::new();
    let table = table(&dir);
    let lock = table.named_lock("l").unwrap();
    let mut guards: Vec<_> = (0..96)
        .map(|_| lock.try_share().unwrap().unwrap())
        .collect();
    assert!(lock.share_within(SHORT).unwrap().is_none());
    guards.pop();
    assert!(lock.try_share().unwrap().is_some());
    drop(guards);
    assert!(lock.try_lock().unwrap().is_some());
}

#[test]
fn no_more_threads_have_a_permit_than_there_are() {
    let dir = Dir::new();
    let table = table(&dir);
    let inside = AtomicU64::new(0);
    let most = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                let semaphore = table.semaphore("s", 3).unwrap();
                for _ in 0..300 {
                    let permit = semaphore.acquire().unwrap();
                    assert!(!permit.owner_died());
                    most.fetch_max(inside.fetch_add(1, Relaxed) + 1, Relaxed);
                    std::thread::yield_now();
                    inside.fetch_sub(1, Relaxed);
                }
            });
        }
    });
    assert!((2..=3).contains(&most.load(Relaxed)));
    let semaphore = table.semaphore("s", 3).unwrap();
    let all: Vec<_> = (0..3)
        .map(|_| semaphore.try_acquire().unwrap().unwrap())
        .collect();
    assert!(semaphore.acquire_within(SHORT).unwrap().is_none());
    drop(all);
    assert!(semaphore.try_acquire().unwrap().is_some());
}

#[test]
fn the_next_holder_learns_of_a_panic() {
    let dir = Dir::new();
    let table = table(&dir);
    let lock = table.named_lock("l").unwrap();
    let panicked = std::thread::scope(|scope| {
        let panics = scope.spawn(|| {
            let _guard = lock.lock().unwrap();
            panic!("on purpose");
        });
        panics.join().is_err()
    });
    assert!(panicked);
    // Even one that wants to share has it alone then.
    let guard = lock.share().unwrap();
    assert!(guard.owner_died() && !guard.is_shared() && lock.try_share().unwrap().is_none());
    drop(guard);
    assert!(!lock.lock().unwrap().owner_died());
}

#[test]
fn names_are_found_again_and_mistakes_are_refused() {
    let dir = Dir::new();
    let table = table(&dir);
    for name in ["a", "b", &"n".repeat(56)] {
        table.named_lock(name).unwrap();
        table.named_lock(name).unwrap();
    }
    table.semaphore("s", 96).unwrap();
    assert_eq!(
        table.lock_names().unwrap(),
        ["a", "b", &"n".repeat(56), "s"]
    );
    for name in ["", "a\0b", &"n".repeat(57)] {
        assert!(matches!(table.named_lock(name), Err(Error::BadName { .. })));
    }
    let why = |refused: Result<(), Error>| match refused {
        Err(Error::BadOption { why, .. }) => why,
        other => panic!("{other:?}"),
    };
    assert!(why(table.named_lock("s").map(drop)).contains("is a semaphore"));
    assert!(why(table.semaphore("a", 1).map(drop)).contains("is a lock"));
    assert!(why(table.semaphore("s", 95).map(drop)).contains("with 96 permits"));
    for permits in [0, 97] {
        assert!(why(table.semaphore("t", permits).map(drop)).contains("between 1 and 96"));
    }
    let reader = Table::open_read_only(dir.table("t")).unwrap();
    assert!(matches!(reader.named_lock("a"), Err(Error::ReadOnly)));
    assert_eq!(reader.lock_names().unwrap().len(), 4);
    assert_clean(&table);
}

#[test]
fn there_is_room_for_more_locks_than_one_page_has() {
    let dir = Dir::new();
    let table = table(&dir);
    let name = |number| format!("lock {number}");
    for number in 0..300 {
        drop(table.named_lock(&name(number)).unwrap().lock().unwrap());
    }
    assert_eq!(table.lock_names().unwrap().len(), 300);
    let first = table.named_lock(&name(0)).unwrap();
    let _held = first.lock().unwrap();
    assert!(
        table
            .named_lock(&name(0))
            .unwrap()
            .try_lock()
            .unwrap()
            .is_none()
    );
    assert!(
        table
            .named_lock(&name(299))
            .unwrap()
            .try_lock()
            .unwrap()
            .is_some()
    );
    assert_clean(&table);
}

#[test]
fn an_area_is_zero_at_first_and_the_same_for_all() {
    let dir = Dir::new();
    let table = table(&dir);
    let area = table.area("own", 100_001).unwrap();
    assert_eq!((area.len(), area.words().len()), (100_001, 12_501));
    assert!(area.words().iter().all(|word| word.load(Relaxed) == 0));
    assert_eq!(area.as_ptr() as usize % 4096, 0);
    area.words()[12_500].store(7, Relaxed);
    let other = Table::open(dir.table("t")).unwrap();
    let same = other.existing_area("own").unwrap();
    assert_eq!(same.words()[12_500].load(Relaxed), 7);
    assert_eq!(table.areas().unwrap(), ["own"]);
    let refused = other.area("own", 100_000);
    assert!(matches!(
        refused,
        Err(Error::BadOption {
            option: "bytes",
            ..
        })
    ));
    assert!(matches!(
        other.existing_area("none"),
        Err(Error::NotThere { .. })
    ));
    assert!(matches!(
        other.area("none", 0),
        Err(Error::BadOption { .. })
    ));
    assert!(matches!(
        other.area("large", 1 << 30),
        Err(Error::Full { .. })
    ));
    assert!(matches!(other.area("", 1), Err(Error::BadName { .. })));
    assert_clean(&table);
}

//! Named locks and semaphores of processes that die, stop, leave or are forked.

#![cfg(not(miri))]

use crate::support::part::{Actor, alone, hear, play, say};
use crate::support::patience::{HANG_S, MINUTE};
use crate::support::process::{alarm, fork};
use crate::support::{Dir, Random, assert_clean};
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};
use tavola::{NamedLock, Semaphore, Table};

const LOCK: &str = "the lock";

fn create(dir: &Dir) -> (Table, String) {
    let path = dir.table("t");
    let table = Table::options().max_size(8 << 20).create(&path).unwrap();
    (table, path.to_str().unwrap().to_string())
}

fn semaphore(table: &Table) -> Semaphore {
    table.semaphore("the semaphore", 3).unwrap()
}

/// An actor: takes what it is told, and keeps it until it is killed.
fn keep(args: &[String]) {
    alarm(HANG_S);
    let table = Table::open(&args[0]).unwrap();
    let lock = table.named_lock(LOCK).unwrap();
    let semaphore = semaphore(&table);
    let mut held = Vec::new();
    let mut permits = Vec::new();
    match args[1].as_str() {
        "alone" => held.push(lock.lock().unwrap()),
        "shared" => held.push(lock.share().unwrap()),
        "permits" => permits.extend((0..2).map(|_| semaphore.acquire().unwrap())),
        other => panic!("{other}"),
    }
    say("kept");
    hear();
}

fn keeper(test: &str, path: &str, what: &str) -> Actor {
    let mut actor = Actor::start(test, "keep", &[path, what]);
    assert_eq!(actor.hear(), "kept");
    actor
}

/// Asserts that the lock is free, and that nothing is left of who held it.
fn assert_free(lock: &NamedLock) {
    assert!(!lock.try_lock().unwrap().expect("it is free").owner_died());
    assert!(lock.try_share().unwrap().expect("it is free").is_shared());
}

#[test]
fn what_the_dead_held_passes_on_and_the_next_holder_learns_of_it() {
    play(&[("keep", keep)]);
    let test = "what_the_dead_held_passes_on_and_the_next_holder_learns_of_it";
    let dir = Dir::new();
    let (table, path) = create(&dir);
    let lock = table.named_lock(LOCK).unwrap();

    // Who waits has it, alone, whatever it asked for.
    for shares in [false, true] {
        let holder = keeper(test, &path, "alone");
        assert!(lock.try_lock().unwrap().is_none() && lock.try_share().unwrap().is_none());
        std::thread::scope(|scope| {
            let waiter = scope.spawn(|| {
                let guard = match shares {
                    true => lock.share_within(MINUTE),
                    false => lock.lock_within(MINUTE),
                };
                let guard = guard.unwrap().expect("it passes on");
                assert!(guard.owner_died() && !guard.is_shared());
            });
            holder.kill();
            waiter.join().unwrap();
        });
        assert_free(&lock);
    }
    // Who only tries, too.
    keeper(test, &path, "alone").kill();
    assert!(lock.try_lock().unwrap().expect("it passes on").owner_died());
    keeper(test, &path, "alone").kill();
    assert!(
        lock.try_share()
            .unwrap()
            .expect("it passes on")
            .owner_died()
    );
    assert_free(&lock);

    // A sharer leaves nothing to be told.
    let (one, other) = (keeper(test, &path, "shared"), keeper(test, &path, "shared"));
    assert!(lock.try_lock().unwrap().is_none() && lock.try_share().unwrap().is_some());
    one.kill();
    assert!(lock.try_lock().unwrap().is_none());
    other.kill();
    assert_free(&lock);
    assert_clean(&table);
}

#[test]
fn one_that_gives_up_after_a_death_leaves_the_news() {
    play(&[("wait", wait)]);
    let test = "one_that_gives_up_after_a_death_leaves_the_news";
    let dir = Dir::new();
    let (table, path) = create(&dir);
    let lock = table.named_lock(LOCK).unwrap();
    // The holder of the word died while it waited for one that shares the lock.
    let shared = lock.share().unwrap();
    let waiter = {
        let mut actor = Actor::start(test, "wait", &[&path]);
        assert_eq!(actor.hear(), "waits");
        let begun = Instant::now();
        while lock.try_share().unwrap().is_some() {
            assert!(begun.elapsed() < MINUTE, "the lock is never wanted");
        }
        actor
    };
    waiter.kill();
    for _ in 0..3 {
        assert!(lock.try_lock().unwrap().is_none());
    }
    drop(shared);
    assert!(lock.lock().unwrap().owner_died());
    assert_free(&lock);
}

/// An actor: waits for the lock.
fn wait(args: &[String]) {
    alarm(HANG_S);
    let table = Table::open(&args[0]).unwrap();
    let lock = table.named_lock(LOCK).unwrap();
    say("waits");
    let _guard = lock.lock().unwrap();
    hear();
}

#[test]
fn permits_of_the_dead_pass_on() {
    play(&[("keep", keep)]);
    let test = "permits_of_the_dead_pass_on";
    let dir = Dir::new();
    let (table, path) = create(&dir);
    let semaphore = semaphore(&table);
    let holder = keeper(test, &path, "permits");
    let mine = semaphore.try_acquire().unwrap().expect("the third");
    assert!(
        semaphore
            .acquire_within(Duration::from_millis(30))
            .unwrap()
            .is_none()
    );
    holder.kill();
    let two: Vec<_> = (0..2)
        .map(|_| semaphore.try_acquire().unwrap().expect("it passes on"))
        .collect();
    assert!(two.iter().all(|permit| permit.owner_died()));
    assert!(semaphore.try_acquire().unwrap().is_none());
    drop((mine, two));
    let all: Vec<_> = (0..3).map(|_| semaphore.acquire().unwrap()).collect();
    assert!(all.iter().all(|permit| !permit.owner_died()));
}

#[test]
fn a_stopped_holder_keeps_what_it_has() {
    play(&[("keep", keep)]);
    let test = "a_stopped_holder_keeps_what_it_has";
    let dir = Dir::new();
    let (table, path) = create(&dir);
    let lock = table.named_lock(LOCK).unwrap();
    let holder = keeper(test, &path, "alone");
    holder.signal(libc::SIGSTOP);
    assert!(
        lock.lock_within(Duration::from_millis(100))
            .unwrap()
            .is_none()
    );
    holder.kill();
    assert!(lock.lock().unwrap().owner_died());
}

#[test]
fn a_forked_child_holds_nothing_and_releases_nothing() {
    alone(
        "a_forked_child_holds_nothing_and_releases_nothing",
        &[],
        || {
            let dir = Dir::new();
            let (table, _) = create(&dir);
            let (lock, other) = (
                table.named_lock(LOCK).unwrap(),
                table.named_lock("b").unwrap(),
            );
            let semaphore = semaphore(&table);
            let permits: Vec<_> = (0..3).map(|_| semaphore.acquire().unwrap()).collect();
            let mut held = Some((lock.lock().unwrap(), other.share().unwrap(), permits));
            let assert_held = || {
                assert!(lock.try_lock().unwrap().is_none() && other.try_lock().unwrap().is_none());
                assert!(semaphore.try_acquire().unwrap().is_none());
            };
            fork(|| {
                assert_held();
                drop(held.take());
                assert_held();
            })
            .finish();
            assert_held();
            drop(held);
            assert_free(&lock);
            assert!(semaphore.try_acquire().unwrap().is_some());
        },
    );
}

/// A forked child is a participant of its own, also at locks that its parent has open.
#[test]
fn a_forked_child_locks_for_itself_and_may_die() {
    alone("a_forked_child_locks_for_itself_and_may_die", &[], || {
        let dir = Dir::new();
        let (table, _) = create(&dir);
        let lock = table.named_lock(LOCK).unwrap();
        let semaphore = semaphore(&table);
        let area = table.area("counts", 4096).unwrap();
        let has_it = &area.words()[0];
        let child = fork(|| {
            let _held = (lock.lock().unwrap(), semaphore.acquire().unwrap());
            has_it.store(1, Relaxed);
            loop {
                std::thread::park();
            }
        });
        let begun = Instant::now();
        while has_it.load(Relaxed) == 0 {
            assert!(begun.elapsed() < MINUTE, "the child does not get it");
        }
        assert!(lock.try_lock().unwrap().is_none());
        let two = [(); 2].map(|()| semaphore.try_acquire().unwrap().expect("of three"));
        assert!(semaphore.try_acquire().unwrap().is_none());
        child.signal(libc::SIGKILL);
        assert_eq!(child.end(), -libc::SIGKILL);
        assert!(lock.try_lock().unwrap().expect("it is dead").owner_died());
        assert!(
            semaphore
                .try_acquire()
                .unwrap()
                .expect("it is dead")
                .owner_died()
        );
        drop(two);
        assert_free(&lock);
    });
}

#[test]
fn a_closed_handle_is_as_a_death() {
    let dir = Dir::new();
    let (table, path) = create(&dir);
    let other = Table::open(&path).unwrap();
    {
        let lock = other.named_lock(LOCK).unwrap();
        std::mem::forget(lock.lock().unwrap());
    }
    let lock = table.named_lock(LOCK).unwrap();
    assert!(lock.try_lock().unwrap().is_none());
    drop(other);
    assert!(lock.try_lock().unwrap().expect("it is closed").owner_died());
}

/// Adds under the lock, in two steps, until it is killed; shares it in between.
fn add_forever(path: &str, seed: u64) {
    let table = Table::open(path).unwrap();
    let lock = table.named_lock(LOCK).unwrap();
    let area = table.area("counts", 4096).unwrap();
    let [one, other] = [&area.words()[0], &area.words()[100]];
    let mut random = Random::new(seed);
    loop {
        if random.below(3) == 0 {
            let guard = lock.share().unwrap();
            // After a death it is held alone, and may find half a change.
            if !guard.owner_died() {
                assert_eq!(one.load(Relaxed), other.load(Relaxed));
                continue;
            }
            other.store(one.load(Relaxed), Relaxed);
        } else {
            let guard = lock.lock().unwrap();
            if guard.owner_died() {
                other.store(one.load(Relaxed), Relaxed);
            }
            assert_eq!(one.load(Relaxed), other.load(Relaxed));
            let next = one.load(Relaxed) + 1;
            one.store(next, Relaxed);
            if random.below(8) == 0 {
                std::thread::yield_now();
            }
            other.store(next, Relaxed);
        }
    }
}

#[test]
fn half_a_change_of_the_dead_is_never_met_unannounced() {
    alone(
        "half_a_change_of_the_dead_is_never_met_unannounced",
        &[],
        || {
            let dir = Dir::new();
            let (table, path) = create(&dir);
            let area = table.area("counts", 4096).unwrap();
            let mut random = Random::new(5);
            let start = |seed| fork(|| add_forever(&path, seed));
            let mut children: Vec<_> = (0..3).map(start).collect();
            for round in 0..150 {
                std::thread::sleep(Duration::from_micros(random.below(4000)));
                let at = random.below(3) as usize;
                children[at].signal(libc::SIGKILL);
                let dead = std::mem::replace(&mut children[at], start(round + 10));
                assert_eq!(dead.end(), -libc::SIGKILL);
            }
            for child in children {
                child.signal(libc::SIGKILL);
                assert_eq!(child.end(), -libc::SIGKILL);
            }
            let lock = table.named_lock(LOCK).unwrap();
            let guard = lock.lock_within(MINUTE).unwrap().expect("all are dead");
            let [one, other] = [0, 100].map(|at| area.words()[at].load(Relaxed));
            assert!(
                one > 1000 && (guard.owner_died() || one == other),
                "{one} {other}"
            );
            assert_clean(&table);
        },
    );
}

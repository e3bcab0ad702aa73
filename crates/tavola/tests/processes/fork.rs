//! Families: forked children, their parents, namespaces of pids, exec. Whichever of them dies, the
//! others continue.

use crate::support::part::{Actor, hear, play, say};
use crate::support::process::{Forked, fork, unshare};
use crate::support::{Dir, Random, assert_clean, value_of, version_of};
use std::cell::Cell;
use std::path::Path;
use std::time::{Duration, Instant};
use tavola::{Begin, Error, Table};

/// One shard, so that who dies in a write most likely dies with the lock all others want.
fn open(path: impl AsRef<Path>) -> Table {
    let options = Table::options().max_size(16 << 20).shards(1);
    options.open(path.as_ref()).unwrap()
}

fn key_of(number: u64) -> Vec<u8> {
    format!("key {number}").into_bytes()
}

/// Writes, removes and counts; the sum of what was added to the counter.
fn write(table: &Table, random: &mut Random, rounds: u64) -> u64 {
    for round in 0..rounds {
        let key = key_of(random.below(2000));
        match random.below(8) {
            0 | 1 => drop(table.remove(&key).unwrap()),
            2 => table.set(&key, value_of(&key, round, 20_000)).unwrap(),
            _ => table
                .set(&key, value_of(&key, round, 16 + random.below(200) as usize))
                .unwrap(),
        }
        table.incr(b"count", 1).unwrap();
    }
    rounds
}

fn write_until_killed(table: &Table, seed: u64) -> ! {
    let mut random = Random::new(seed);
    loop {
        write(table, &mut random, 100);
    }
}

/// Everything still works, and nobody waits forever.
fn assert_usable(table: &Table, random: &mut Random) {
    let begun = Instant::now();
    write(table, random, 50);
    let seconds = begun.elapsed().as_secs_f64();
    assert!(seconds < 60.0, "50 writes took {seconds} s");
    for entry in table.iter() {
        let (key, value) = entry.unwrap();
        assert!(!key.starts_with(b"key ") || version_of(&key, &value).is_some());
    }
}

/// Whether enough was done: so many rounds, and more until one died with the lock.
fn is_enough(table: &Table, round: u64, rounds: u64) -> bool {
    let seen = table.stats().unwrap().recoveries > 0;
    assert!(seen || round < rounds * 20, "nobody died with the lock");
    seen && round >= rounds
}

/// Plays a part that forks and does all there is to do itself.
fn run(test: &str, part: &str) {
    let dir = Dir::new();
    let path = dir.table("t");
    let mut actor = Actor::start(test, part, &[path.to_str().unwrap()]);
    assert_eq!(actor.hear(), "done");
    actor.finish();
    let table = open(&path);
    assert_clean(&table);
    assert_usable(&table, &mut Random::new(9));
}

#[test]
fn parent_child_and_grandchild_all_write() {
    play(&[("family", |args| {
        let table = open(&args[0]);
        write(&table, &mut Random::new(1), 10);
        let child = fork(|| {
            let grandchild = fork(|| assert_eq!(write(&table, &mut Random::new(2), 4000), 4000));
            write(&table, &mut Random::new(3), 4000);
            grandchild.finish();
        });
        write(&table, &mut Random::new(4), 4000);
        child.finish();
        assert_eq!(table.get(b"count").unwrap().unwrap(), b"12010");
        assert_clean(&table);
        // The two that ended were three participants with their parent; now it is one.
        table.reclaim().unwrap();
        assert_eq!(table.participants().unwrap().len(), 1);
        say("done");
    })]);
    run("parent_child_and_grandchild_all_write", "family");
}

/// A child that has the table and leaves it alone, or drops it, takes nothing from its parent.
#[test]
fn a_child_that_does_not_write_harms_nobody() {
    play(&[("family", |args| {
        let mut table = Some(open(&args[0]));
        let mut random = Random::new(1);
        write(table.as_ref().unwrap(), &mut random, 10);
        fork(|| ()).finish();
        fork(|| drop(table.take())).finish();
        let table = table.unwrap();
        fork(|| assert!(table.get(b"count").unwrap().is_some())).finish();
        let other = open(&args[0]);
        other.set(b"other", b"one").unwrap();
        other.reclaim().unwrap();
        let members = other.participants().unwrap();
        assert_eq!(members.len(), 2);
        assert!(members.iter().all(|member| member.alive));
        write(&table, &mut random, 1000);
        say("done");
    })]);
    run("a_child_that_does_not_write_harms_nobody", "family");
}

/// Another thread of the parent is in the middle of a write at the instant of the fork.
#[test]
fn a_child_forked_beside_a_writing_thread_writes() {
    play(&[("family", |args| {
        let table = open(&args[0]);
        let enough = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut random = Random::new(1);
                while !enough.load(std::sync::atomic::Ordering::Relaxed) {
                    write(&table, &mut random, 10);
                }
            });
            for seed in 0..100 {
                let child = fork(|| {
                    let mut random = Random::new(seed);
                    write(&table, &mut random, 20);
                });
                child.finish();
            }
            enough.store(true, std::sync::atomic::Ordering::Relaxed);
        });
        assert_clean(&table);
        say("done");
    })]);
    run("a_child_forked_beside_a_writing_thread_writes", "family");
}

/// A child that drops a copy of its parent's transaction does not give the parent's turn away.
#[test]
fn the_turn_of_a_parent_stays_its_own() {
    play(&[("family", |args| {
        let table = open(&args[0]);
        let turn = Cell::new(Some(table.begin(Begin::Turn).unwrap()));
        let child = fork(|| {
            drop(turn.take());
            table
                .set_lock_timeout(Some(Duration::from_millis(20)))
                .unwrap();
            let busy = table.begin(Begin::Turn).map(drop);
            assert!(matches!(busy, Err(Error::Busy { .. })), "{busy:?}");
        });
        child.finish();
        // It also keeps its copy, and still waits for the turn as any other process does.
        let child = fork(|| {
            let limit = |ms| table.set_lock_timeout(Some(Duration::from_millis(ms)));
            limit(20).unwrap();
            let busy = table.begin(Begin::Turn).map(drop);
            assert!(matches!(busy, Err(Error::Busy { .. })), "{busy:?}");
            limit(60_000).unwrap();
            let mine = table.begin(Begin::Turn).unwrap();
            drop(turn.take());
            let nested = table.begin(Begin::Turn).map(drop);
            assert!(matches!(nested, Err(Error::Reentrant)), "{nested:?}");
            drop(mine);
            table.transaction_once(|t| t.set("copy", "1")).unwrap();
        });
        std::thread::sleep(Duration::from_millis(100));
        drop(turn.take());
        child.finish();
        table.transaction_once(|t| t.set("parent", "1")).unwrap();
        let child = fork(|| table.transaction_once(|t| t.set("child", "1")).unwrap());
        child.finish();
        say("done");
    })]);
    run("the_turn_of_a_parent_stays_its_own", "family");
}

/// The parent dies in the middle of a write while its child lives on, with the parent's open file.
#[test]
fn a_parent_is_killed_and_its_child_lives() {
    play(&[("parent", |args| {
        let table = open(&args[0]);
        table.set(b"parent", b"was here").unwrap();
        let child = fork(|| {
            // Idle until the end, then a writer; it outlives its parent.
            let mut random = Random::new(2);
            while hear().is_some() {
                write(&table, &mut random, 100);
                say("child wrote");
            }
        });
        say(child.pid());
        write_until_killed(&table, 3);
    })]);
    let test = "a_parent_is_killed_and_its_child_lives";
    let dir = Dir::new();
    let path = dir.table("t");
    let table = open(&path);
    let mut random = Random::new(4);
    for _ in (0..).take_while(|round| !is_enough(&table, *round, 40)) {
        let mut parent = Actor::start(test, "parent", &[path.to_str().unwrap()]);
        parent.hear_number();
        std::thread::sleep(Duration::from_micros(random.below(8000)));
        parent.signal(libc::SIGKILL);
        assert_usable(&table, &mut random);
        parent.send("write");
        assert_eq!(parent.hear(), "child wrote");
        assert_usable(&table, &mut random);
        // At the end of its input the child ends too.
        parent.end();
    }
    table.reclaim().unwrap();
    assert!(
        table.stats().unwrap().recoveries > 0,
        "nobody died with the lock"
    );
    assert_clean(&table);
}

/// Forks a child that writes until it is killed, and kills it at a random moment.
fn kill_writers(table: &Table, rounds: u64, mut survive: impl FnMut(&mut Random)) {
    let mut random = Random::new(rounds);
    for round in (0..).take_while(|round| !is_enough(table, *round, rounds)) {
        let child: Forked = fork(|| write_until_killed(table, round));
        std::thread::sleep(Duration::from_micros(200 + random.below(6000)));
        child.signal(libc::SIGKILL);
        assert_eq!(child.end(), -libc::SIGKILL);
        survive(&mut random);
    }
}

#[test]
fn forked_writers_are_killed_and_their_siblings_continue() {
    play(&[("parent", |args| {
        let table = open(&args[0]);
        kill_writers(&table, 60, |random| assert_usable(&table, random));
        assert!(
            table.stats().unwrap().recoveries > 0,
            "nobody died with the lock"
        );
        say("done");
    })]);
    run(
        "forked_writers_are_killed_and_their_siblings_continue",
        "parent",
    );
}

/// Processes whose pids mean nothing to each other: those of a new namespace are killed, and those
/// outside continue.
#[test]
fn writers_in_another_pid_namespace_are_killed() {
    play(&[("outer", |args| {
        if !unshare(libc::CLONE_NEWPID) {
            println!("skipped: this user may not make namespaces");
            say("done");
            return;
        }
        let table = open(&args[0]);
        table.set(b"outside", b"is here").unwrap();
        // The first child is pid 1 of the new namespace: it must live for others to be there.
        let first = fork(|| {
            let table = open(&args[0]);
            kill_writers(&table, 25, |random| assert_usable(&table, random));
        });
        let mut random = Random::new(6);
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_millis(300) {
            assert_usable(&table, &mut random);
        }
        first.finish();
        assert!(
            table.stats().unwrap().recoveries > 0,
            "nobody died with the lock"
        );
        say("done");
    })]);
    run("writers_in_another_pid_namespace_are_killed", "outer");
}

/// The other way: a process inside survives one outside; and a whole namespace dies at once.
#[test]
fn a_pid_namespace_dies_at_once_and_is_survived() {
    play(&[("outer", |args| {
        let table = open(&args[0]);
        let mut random = Random::new(7);
        for round in 0..20 {
            let first = fork(|| {
                if !unshare(libc::CLONE_NEWPID) {
                    return;
                }
                let init = fork(|| {
                    let table = open(&args[0]);
                    for seed in 0..3 {
                        std::mem::forget(fork(|| write_until_killed(&table, seed)));
                    }
                    write_until_killed(&table, round)
                });
                std::thread::sleep(Duration::from_millis(4));
                // Pid 1 takes all of its namespace along.
                init.signal(libc::SIGKILL);
                init.end();
            });
            first.finish();
            assert_usable(&table, &mut random);
        }
        table.reclaim().unwrap();
        assert_eq!(table.participants().unwrap().len(), 1);
        say("done");
    })]);
    run("a_pid_namespace_dies_at_once_and_is_survived", "outer");
}

/// exec ends a thread in the middle of its write, and keeps pid and start time.
#[test]
fn a_process_that_execs_in_mid_write_is_survived() {
    play(&[("exec", |args| {
        let table = open(&args[0]);
        table.set(b"here", b"still").unwrap();
        say("writing");
        std::thread::spawn(move || write_until_killed(&table, 8));
        std::thread::sleep(Duration::from_micros(args[1].parse().unwrap()));
        use std::os::unix::process::CommandExt;
        let error = std::process::Command::new("cat").exec();
        panic!("{error}");
    })]);
    let test = "a_process_that_execs_in_mid_write_is_survived";
    let dir = Dir::new();
    let path = dir.table("t");
    let table = open(&path);
    let mut random = Random::new(10);
    for _ in (0..).take_while(|round| !is_enough(&table, *round, 40)) {
        let micros = (500 + random.below(6000)).to_string();
        let mut actor = Actor::start(test, "exec", &[path.to_str().unwrap(), &micros]);
        assert_eq!(actor.hear(), "writing");
        std::thread::sleep(Duration::from_millis(8));
        assert_usable(&table, &mut random);
        // It lives on as another program.
        actor.signal(0);
        actor.kill();
    }
    assert!(
        table.stats().unwrap().recoveries > 0,
        "nobody held the lock at exec"
    );
    assert_clean(&table);
}

/// The usual daemon: opened with rights, given up after the fork. A worker that wrote before goes
/// on writing; one that did not may only read, and gets an error that says what to do.
#[test]
fn a_child_writes_once_before_it_gives_up_its_rights() {
    play(&[("master", |args| {
        let table = open(&args[0]);
        table.set(b"master", b"is here").unwrap();
        let late = fork(|| {
            crate::support::process::become_user(65_534);
            let error = table.set(b"late", b"too").unwrap_err();
            assert!(error.to_string().contains("write once"), "{error}");
            assert_eq!(table.get(b"master").unwrap().unwrap(), b"is here");
            assert!(table.participants().unwrap().iter().all(|one| one.alive));
        });
        late.finish();
        let worker = fork(|| {
            table.set(b"worker", b"too").unwrap();
            crate::support::process::become_user(65_534);
            let mut random = Random::new(11);
            write(&table, &mut random, 20_000);
        });
        // Values of many pages, in our hands while they are written.
        for round in 0..60 {
            let value = value_of(b"key 0", round, 1_000_000);
            table.set(b"large", &value).unwrap();
            assert_eq!(table.get(b"large").unwrap().unwrap(), value);
        }
        worker.finish();
        let members = table.participants().unwrap();
        assert!(members.iter().any(|one| one.pid == std::process::id()));
        assert_clean(&table);
        say("done");
    })]);
    if !crate::support::process::is_root() {
        println!("skipped: only root has rights to give up");
        return;
    }
    run(
        "a_child_writes_once_before_it_gives_up_its_rights",
        "master",
    );
}

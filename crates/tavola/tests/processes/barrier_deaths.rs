//! Barriers: processes that die while they wait or before they come hold nobody up.

#![cfg(not(miri))]

use crate::support::Dir;
use crate::support::part::{Actor, hear, play, say};
use crate::support::patience::{HANG_S, MINUTE};
use crate::support::process::alarm;
use std::path::Path;
use std::time::Duration;
use tavola::{Error, Table};

const KEY: &str = "start";

fn open(path: impl AsRef<Path>) -> Table {
    let options = Table::options().max_size(8 << 20);
    options.open(path.as_ref()).unwrap()
}

/// An actor: comes to so many races of so many, says after each how many have died, and then waits
/// for its end.
fn race(args: &[String]) {
    alarm(HANG_S);
    let table = open(&args[0]);
    let count = args[1].parse().unwrap();
    table.barrier_join(KEY).unwrap();
    say("joined");
    while hear().is_some_and(|line| line == "come") {
        say("comes");
        let dead = table.barrier_wait(KEY, count, MINUTE).unwrap();
        say(dead.expect("the others come"));
    }
}

fn racers(test: &str, path: &Path, count: usize) -> Vec<Actor> {
    let of = count.to_string();
    let start = || {
        let mut actor = Actor::start(test, "race", &[path.to_str().unwrap(), &of]);
        assert_eq!(actor.hear(), "joined");
        actor
    };
    (0..count).map(|_| start()).collect()
}

fn come(racer: &mut Actor) {
    racer.send("come");
    assert_eq!(racer.hear(), "comes");
}

/// Returns whether so many wait at the barrier now; nobody else writes to the table.
fn are_waiting(table: &Table, count: usize) -> bool {
    let text = table.get(KEY).unwrap().unwrap();
    let text = String::from_utf8(text).unwrap();
    let waiting = text.split(';').nth(3).unwrap_or("");
    waiting.split_ascii_whitespace().count() == count
}

fn wait_until(mut holds: impl FnMut() -> bool) {
    let begun = std::time::Instant::now();
    while !holds() {
        assert!(begun.elapsed() < MINUTE, "waited in vain");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn the_dead_hold_nobody_up() {
    play(&[("race", race)]);
    let test = "the_dead_hold_nobody_up";
    let dir = Dir::new();
    let path = dir.table("t");
    let table = open(&path);
    let mut racers = racers(test, &path, 4);
    let all_come = |racers: &mut [Actor], dead: &str| {
        racers.iter_mut().for_each(come);
        for racer in racers {
            assert_eq!(racer.hear(), dead);
        }
    };
    all_come(&mut racers, "0");
    // One dies before it comes: also if the others wait for it already.
    let victim = racers.pop().unwrap();
    racers.iter_mut().for_each(come);
    wait_until(|| are_waiting(&table, 3));
    victim.kill();
    for racer in &mut racers {
        assert_eq!(racer.hear(), "1");
    }
    all_come(&mut racers, "1");
    // One dies while it waits.
    let mut victim = racers.pop().unwrap();
    come(&mut victim);
    wait_until(|| are_waiting(&table, 1));
    victim.kill();
    all_come(&mut racers, "2");
    all_come(&mut racers, "2");
    // Who comes in the place of a dead one is waited for.
    let mut new = Actor::start(test, "race", &[path.to_str().unwrap(), "4"]);
    assert_eq!(new.hear(), "joined");
    racers.iter_mut().for_each(come);
    wait_until(|| are_waiting(&table, 2));
    racers.push(new);
    come(racers.last_mut().unwrap());
    for racer in &mut racers {
        assert_eq!(racer.hear(), "1");
    }
    // All are gone: the next use of the key begins from nothing.
    racers.into_iter().for_each(Actor::kill);
    let short = Duration::from_millis(30);
    assert_eq!(table.barrier_wait(KEY, 2, short).unwrap(), None);
    assert_eq!(table.barrier_wait(KEY, 1, short).unwrap(), Some(0));
}

/// An actor: comes to a barrier of so many, which nobody expects of it.
fn come_unexpected(args: &[String]) {
    alarm(HANG_S);
    let table = open(&args[0]);
    let count = args[1].parse().unwrap();
    let dead = table.barrier_wait(KEY, count, MINUTE).unwrap();
    say(dead.expect("the others come"));
}

#[test]
fn one_that_dies_while_it_waits_has_come() {
    play(&[("come", come_unexpected)]);
    let test = "one_that_dies_while_it_waits_has_come";
    let dir = Dir::new();
    let path = dir.table("t");
    let table = open(&path);
    table.set(KEY, "0;0;;").unwrap();
    let start = || Actor::start(test, "come", &[path.to_str().unwrap(), "3"]);
    let victim = start();
    wait_until(|| are_waiting(&table, 1));
    let mut other = start();
    wait_until(|| are_waiting(&table, 2));
    victim.kill();
    assert_eq!(table.barrier_wait(KEY, 3, MINUTE).unwrap(), Some(1));
    assert_eq!(other.hear(), "1");
}

#[test]
fn a_process_that_is_stopped_is_waited_for() {
    play(&[("race", race)]);
    let test = "a_process_that_is_stopped_is_waited_for";
    let dir = Dir::new();
    let path = dir.table("t");
    let table = open(&path);
    let mut racers = racers(test, &path, 2);
    racers[0].signal(libc::SIGSTOP);
    come(&mut racers[1]);
    wait_until(|| are_waiting(&table, 1));
    std::thread::sleep(Duration::from_millis(50));
    assert!(are_waiting(&table, 1));
    racers[0].signal(libc::SIGCONT);
    come(&mut racers[0]);
    for racer in &mut racers {
        assert_eq!(racer.hear(), "0");
    }
}

#[test]
fn a_key_of_another_kind_and_a_race_of_none_are_refused() {
    let table = Table::options().max_size(1 << 20).private().unwrap();
    table.set(KEY, "ready, steady, go").unwrap();
    let outcome = table.barrier_wait(KEY, 1, MINUTE);
    assert!(matches!(outcome, Err(Error::NotACounter)));
    assert!(matches!(table.barrier_join(KEY), Err(Error::NotACounter)));
    assert_eq!(table.get(KEY).unwrap().unwrap(), b"ready, steady, go");
    let outcome = table.barrier_wait("other", 0, MINUTE);
    assert!(matches!(outcome, Err(Error::BadOption { .. })));
    assert!(!table.contains("other").unwrap());
}

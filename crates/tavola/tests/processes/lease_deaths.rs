//! Leases between processes: of many one computes, and of those that die the lease passes on.

use crate::support::part::{Actor, hear, play, say};
use crate::support::patience::MINUTE;
use crate::support::process::{fork, signal};
use crate::support::{Dir, assert_clean};
use std::sync::mpsc;
use std::time::{Duration, Instant};
use tavola::{LeaseOptions, Leased, Table};

const KEY: &[u8] = b"the key";
const PROCESSES: usize = 32;
/// What nobody waits for.
const LONG: Duration = Duration::from_secs(3600);
/// The time within which a lease passes on.
const PASSES: Duration = Duration::from_millis(50);

fn options() -> LeaseOptions {
    LeaseOptions::new(LONG).lease(LONG)
}

fn create(dir: &Dir) -> (Table, String) {
    let path = dir.table("t");
    let table = Table::options().max_size(16 << 20).create(&path).unwrap();
    (table, path.to_str().unwrap().to_string())
}

fn count(table: &Table) -> u64 {
    table.incr(b"computed", 0).unwrap()
}

/// An actor: computes the value if it is to, which takes a while; the first one to do so may be
/// asked to stay forever.
fn ask(args: &[String]) {
    let table = Table::open(&args[0]).unwrap();
    let stays = args[1] == "stays";
    table.set(b"attached", b"before").unwrap();
    say("ready");
    hear();
    let value = table.get_or_compute(KEY, options(), || {
        let number = table.incr(b"computed", 1)?;
        table.set(b"who", std::process::id().to_le_bytes())?;
        if stays && number == 1 {
            std::thread::sleep(LONG);
        }
        std::thread::sleep(Duration::from_millis(100));
        Ok(b"value".to_vec())
    });
    say(String::from_utf8(value.unwrap()).unwrap());
}

fn ask_all(test: &str, path: &str, stays: &str) -> Vec<Actor> {
    let start = |_| Actor::start(test, "ask", &[path, stays]);
    let mut actors: Vec<Actor> = (0..PROCESSES).map(start).collect();
    actors
        .iter_mut()
        .for_each(|a| assert_eq!(a.hear(), "ready"));
    actors.iter_mut().for_each(|actor| actor.send("go"));
    actors
}

fn answer_all(actors: Vec<Actor>) {
    for mut actor in actors {
        assert_eq!(actor.hear(), "value");
        actor.finish();
    }
}

#[test]
fn of_thirty_two_processes_that_miss_at_once_one_computes() {
    play(&[("ask", ask)]);
    let test = "of_thirty_two_processes_that_miss_at_once_one_computes";
    let dir = Dir::new();
    let (table, path) = create(&dir);
    answer_all(ask_all(test, &path, "goes on"));
    assert_eq!(count(&table), 1);
    assert_clean(&table);
}

#[test]
fn of_thirty_two_processes_one_more_computes_when_the_first_is_killed() {
    play(&[("ask", ask)]);
    let test = "of_thirty_two_processes_one_more_computes_when_the_first_is_killed";
    let dir = Dir::new();
    let (table, path) = create(&dir);
    let mut actors = ask_all(test, &path, "stays");
    let winner = loop {
        if let Some(pid) = table.get(b"who").unwrap() {
            break i32::from_le_bytes(pid.try_into().unwrap());
        }
        std::thread::yield_now();
    };
    // The others are asleep by now, or soon.
    std::thread::sleep(Duration::from_millis(100));
    assert_eq!(count(&table), 1);
    let position = actors.iter().position(|actor| actor.pid() == winner);
    actors.remove(position.unwrap()).kill();
    answer_all(actors);
    assert_eq!(count(&table), 2);
    table.reclaim().unwrap();
    assert_clean(&table);
}

/// An actor: wins the lease and keeps it.
fn win(args: &[String]) {
    let table = Table::open(&args[0]).unwrap();
    let options = options().stale(2 * LONG);
    let kept = table.get_or_lease(args[1].as_bytes(), options).unwrap();
    say(match &kept {
        Leased::Won(_) => "won",
        Leased::Stale { lease: Some(_), .. } => "stale",
        _ => "something else",
    });
    hear();
    drop(kept);
}

/// How a lease passed on.
#[derive(Debug)]
struct Passing {
    /// From the kill until who waits has the lease.
    took: Duration,
    /// Of that, how long who waits was to run and had no processor.
    delayed: Duration,
    /// By how much a thread that only sleeps came late at most, meanwhile: as late may he who is
    /// killed have come to his end.
    late: Duration,
}

impl Passing {
    /// What is left where the machine does nothing else.
    fn in_time(&self) -> bool {
        self.took < PASSES + self.delayed + self.late
    }

    /// Passes a lease on again and again; `None`: more than one came too late. That one the machine
    /// may have kept for a reason of its own.
    fn all_in_time(pass: impl FnMut(u64) -> Self) -> Option<()> {
        let passed: Vec<Self> = (0..9).map(pass).collect();
        println!("{passed:#?}");
        let too_late = passed.iter().filter(|passing| !passing.in_time());
        (too_late.count() <= 1).then_some(())
    }
}

/// How long this thread was to run and had no processor, so far.
fn delayed() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let ns = text.split_whitespace().nth(1).map(|ns| ns.parse().unwrap());
    Duration::from_nanos(ns.unwrap_or(0))
}

/// Sleeps again and again until there is an answer; says by how much it came late at most.
fn most_late<T>(at: &mpsc::Receiver<T>) -> (T, Duration) {
    let (nap, mut late) = (Duration::from_millis(1), Duration::ZERO);
    loop {
        let began = Instant::now();
        std::thread::sleep(nap);
        late = late.max(began.elapsed() - nap);
        if let Ok(answer) = at.try_recv() {
            return (answer, late);
        }
    }
}

/// Kills who has the lease of a key, while a thread waits for it: how long that waits from then.
fn passing(table: &Table, winner: Actor, key: &[u8], after: Duration) -> Passing {
    let (done, at) = mpsc::channel();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let before = delayed();
            let value = table.get_or_compute(key, options(), || {
                done.send((Instant::now(), delayed() - before)).unwrap();
                Ok(b"value".to_vec())
            });
            assert_eq!(value.unwrap(), b"value");
        });
        std::thread::sleep(Duration::from_millis(20) + after);
        assert!(at.try_recv().is_err(), "it did not wait");
        let killed = Instant::now();
        signal(winner.pid(), libc::SIGKILL);
        let ((has, delayed), late) = most_late(&at);
        Passing {
            took: has - killed,
            delayed,
            late,
        }
    })
}

#[test]
fn a_dead_winners_lease_passes_on_within_50_ms() {
    play(&[("win", win)]);
    let test = "a_dead_winners_lease_passes_on_within_50_ms";
    let dir = Dir::new();
    let (table, path) = create(&dir);
    let pass = |turn: u64, number: u64| {
        let key = format!("key {turn} {number}");
        let mut winner = Actor::start(test, "win", &[&path, &key]);
        assert_eq!(winner.hear(), "won");
        let after = Duration::from_micros(1300 * number);
        passing(&table, winner, key.as_bytes(), after)
    };
    // A machine that is busy for longer delays others in ways that are reported nowhere, too.
    let mut turns = (0..6).map(|turn| Passing::all_in_time(|number| pass(turn, number)));
    assert!(turns.any(|turn| turn.is_some()), "always late");
    table.reclaim().unwrap();
    assert_clean(&table);
}

/// A process that serves a stale value meanwhile notices the death, too.
#[test]
fn a_dead_winners_lease_of_a_stale_value_passes_on() {
    play(&[("win", win)]);
    let test = "a_dead_winners_lease_of_a_stale_value_passes_on";
    let dir = Dir::new();
    let (table, path) = create(&dir);
    let soon = tavola::Attributes::ttl(LONG);
    table.set_with(KEY, b"old", soon).unwrap();
    let served = || {
        let options = options().stale(2 * LONG);
        match table.get_or_lease(KEY, options).unwrap() {
            Leased::Stale { value, lease } => {
                assert_eq!(value, b"old");
                lease
            }
            other => panic!("{other:?}"),
        }
    };
    let mut winner = Actor::start(test, "win", &[&path, "the key"]);
    assert_eq!(winner.hear(), "stale");
    for _ in 0..1000 {
        assert!(served().is_none());
    }
    winner.kill();
    let killed = Instant::now();
    let lease = loop {
        if let Some(lease) = served() {
            break lease;
        }
        assert!(killed.elapsed() < MINUTE, "it does not pass on");
    };
    assert!(lease.fill(b"new").unwrap());
    assert_eq!(table.get(KEY).unwrap().unwrap(), b"new");
}

/// Between one that is stopped and continues, and the one that took its place, there is one value.
#[test]
fn one_that_is_stopped_for_too_long_stores_nothing() {
    play(&[("late", |args| {
        let table = Table::open(&args[0]).unwrap();
        let options = options().lease(Duration::from_millis(50));
        let Leased::Won(lease) = table.get_or_lease(KEY, options).unwrap() else {
            panic!("not won");
        };
        say("won");
        hear();
        say(lease.fill(b"late").unwrap());
    })]);
    let dir = Dir::new();
    let (table, path) = create(&dir);
    let test = "one_that_is_stopped_for_too_long_stores_nothing";
    let mut late = Actor::start(test, "late", &[&path]);
    assert_eq!(late.hear(), "won");
    late.signal(libc::SIGSTOP);
    let value = table.get_or_compute(KEY, options(), || Ok(b"value".to_vec()));
    assert_eq!(value.unwrap(), b"value");
    late.signal(libc::SIGCONT);
    late.send("go on");
    assert_eq!(late.hear(), "false");
    late.finish();
    assert_eq!(table.get(KEY).unwrap().unwrap(), b"value");
}

/// A child that is forked with its parent's lease in hand has no part in it.
#[test]
fn a_forked_child_ends_nothing_and_fills_nothing() {
    play(&[("family", |args| {
        let table = Table::open(&args[0]).unwrap();
        let win = |key: &[u8]| match table.get_or_lease(key, options()).unwrap() {
            Leased::Won(lease) => Some(lease),
            _ => None,
        };
        let mut lease = win(KEY);
        fork(|| drop(lease.take())).finish();
        fork(|| assert!(!lease.take().unwrap().fill(b"the child's").unwrap())).finish();
        fork(|| {
            // It may have leases of its own; its parent's is another's.
            assert!(win(KEY).is_none());
            assert!(win(b"own").unwrap().fill(b"the child's").unwrap());
        })
        .finish();
        assert!(win(KEY).is_none());
        assert!(lease.unwrap().fill(b"the parent's").unwrap());
        assert_eq!(table.get(KEY).unwrap().unwrap(), b"the parent's");
        assert_eq!(table.get(b"own").unwrap().unwrap(), b"the child's");
        say("done");
    })]);
    let dir = Dir::new();
    let (table, path) = create(&dir);
    let test = "a_forked_child_ends_nothing_and_fills_nothing";
    let mut actor = Actor::start(test, "family", &[&path]);
    assert_eq!(actor.hear(), "done");
    actor.finish();
    assert_clean(&table);
}

/// The child has the parent's open file, and with it the lock by which deaths are noticed.
#[test]
fn a_parent_is_killed_with_a_lease_and_its_child_lives() {
    play(&[("parent", |args| {
        let table = Table::open(&args[0]).unwrap();
        let lease = table.get_or_lease(KEY, options()).unwrap();
        assert!(matches!(lease, Leased::Won(_)));
        let child = fork(|| std::thread::sleep(10 * MINUTE));
        say(child.pid());
        std::thread::sleep(LONG);
        drop(lease);
    })]);
    let dir = Dir::new();
    let (table, path) = create(&dir);
    let test = "a_parent_is_killed_with_a_lease_and_its_child_lives";
    let mut parent = Actor::start(test, "parent", &[&path]);
    let child = parent.hear().parse().unwrap();
    // Zombies are dead, too: it is collected afterwards only.
    let took = passing(&table, parent, KEY, Duration::ZERO).took;
    assert!(took < 5 * MINUTE, "{took:?}");
    signal(child, libc::SIGKILL);
}

//! Writers are killed at random instants: the others continue at once, every write that had
//! returned is there, and nothing is lost or left over.

use crate::support::part::{Actor, play, say};
use crate::support::patience::{HANG_S, MINUTE, Prompt};
use crate::support::process::{alarm, fork, signal, unshare};
use crate::support::{Dir, Random, assert_clean, value_of, version_of};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::sync::Barrier;
use std::time::{Duration, Instant};
use tavola::Table;

const KEYS: u64 = 500;
/// A survivor's writes take no longer than that, whichever process died, on a machine that lets it
/// run.
const PATIENCE: Duration = Duration::from_secs(1);

fn options() -> tavola::Options {
    Table::options().max_size(64 << 20).shards(4)
}

fn key_of(step: u64) -> Vec<u8> {
    format!("key {}", step % KEYS).into_bytes()
}

/// What a step leaves under its key; `None`: it removes it.
fn outcome(step: u64) -> Option<Vec<u8>> {
    let key = key_of(step);
    match step % 11 {
        0 => None,
        1 => Some(value_of(&key, step, 40_000)),
        _ => Some(value_of(&key, step, 16 + (step * 37 % 900) as usize)),
    }
}

fn do_step(table: &Table, step: u64) {
    let key = key_of(step);
    match outcome(step) {
        Some(value) => table.set(&key, &value).unwrap(),
        None => drop(table.remove(&key).unwrap()),
    }
}

fn acknowledged(file: &File) -> u64 {
    let mut step = [0; 8];
    file.read_exact_at(&mut step, 0).unwrap();
    u64::from_le_bytes(step)
}

/// Step after step, each acknowledged in a file once it has returned, until death.
fn work(args: &[String]) {
    alarm(HANG_S);
    let table = Table::open(&args[0]).unwrap();
    let file = File::options()
        .read(true)
        .write(true)
        .open(&args[1])
        .unwrap();
    for step in acknowledged(&file) + 1.. {
        do_step(&table, step);
        file.write_all_at(&step.to_le_bytes(), 0).unwrap();
    }
}

/// Panics unless each key has what the last acknowledged step left, or what the one that may have
/// been under way did.
fn assert_acknowledged(table: &Table, done: u64) {
    for step in done.saturating_sub(KEYS - 1).max(1)..=done {
        let found = table.get(key_of(step)).unwrap();
        let next_is_same_key = (done + 1) % KEYS == step % KEYS;
        let may_be_next = next_is_same_key && found == outcome(done + 1);
        assert!(found == outcome(step) || may_be_next, "step {step}");
    }
}

/// Starts an actor that works; gives it with the pid of the one to be killed, `None`: cannot.
trait Starter: Fn(&Path, &Path) -> Option<(Actor, i32)> + Sync {}
impl<F: Fn(&Path, &Path) -> Option<(Actor, i32)> + Sync> Starter for F {}

fn kill_rounds(rounds: u32, table: &Table, path: &Path, acks: &Path, start: &impl Starter) {
    let file = File::open(acks).unwrap();
    let mut random = Random::new(11);
    let mut before = 0;
    let prompt = Prompt::new(PATIENCE);
    for _ in 0..rounds {
        let Some((actor, victim)) = start(path, acks) else {
            break;
        };
        while acknowledged(&file) == before {
            std::thread::yield_now();
        }
        std::thread::sleep(Duration::from_micros(random.below(20_000)));
        signal(victim, libc::SIGKILL);
        collect(actor, victim);
        before = acknowledged(&file);
        let begun = Instant::now();
        for moved in before..before + KEYS {
            // In every shard, the one the victim died in too.
            table.set((moved % KEYS).to_le_bytes(), b"after").unwrap();
        }
        prompt.done(begun);
        assert_acknowledged(table, before);
        // The unfinished step is redone, so that the next round begins from what is known.
        do_step(table, before + 1);
        std::fs::write(acks, (before + 1).to_le_bytes()).unwrap();
        before += 1;
    }
    assert_mostly(&prompt, table);
}

/// Panics if a process that found the lock of a dead one was late for it half of the time.
fn assert_mostly(prompt: &Prompt, table: &Table) {
    let recoveries = table.stats().unwrap().recoveries;
    prompt.assert_late_at_most(1 + recoveries / 2);
}

/// Kills a victim at random instants beside a survivor that never waits long for anything.
fn kill_again_and_again(rounds: u32, start: impl Starter) {
    let dir = Dir::new();
    let path = dir.table("t");
    let table = options().create(&path).unwrap();
    let acks = dir.table("acks");
    std::fs::write(&acks, [0; 8]).unwrap();
    std::thread::scope(|scope| {
        let killer = scope.spawn(|| kill_rounds(rounds, &table, &path, &acks, &start));
        let mut round = 0;
        while !killer.is_finished() {
            survive(&table, round);
            round += 1;
        }
    });
    table.reclaim().unwrap();
    assert_eq!(table.participants().unwrap().len(), 1);
    assert_clean(&table);
}

/// The victim is the actor itself, or a child of it that it collects.
fn collect(mut actor: Actor, victim: i32) {
    if actor.pid() == victim {
        actor.kill();
    } else {
        assert_eq!(actor.hear(), "collected");
        actor.finish();
    }
}

/// One write, which ends the thread that dies, and its reading.
fn survive(table: &Table, round: u64) {
    let key = format!("own {}", round % 300).into_bytes();
    let value = value_of(&key, round, (round * 53 % 700) as usize);
    let begun = Instant::now();
    table.set(&key, &value).unwrap();
    assert!(begun.elapsed() < MINUTE, "{:?}", begun.elapsed());
    let found = table.get(&key).unwrap().unwrap();
    assert_eq!(version_of(&key, &found), Some(round));
}

fn start(test: &str, part: &str, path: &Path, acks: &Path) -> Actor {
    let args = [path.to_str().unwrap(), acks.to_str().unwrap()];
    Actor::start(test, part, &args)
}

#[test]
fn a_killed_writer_stops_nobody() {
    play(&[("work", work)]);
    kill_again_and_again(40, |path, acks| {
        let actor = start("a_killed_writer_stops_nobody", "work", path, acks);
        let victim = actor.pid();
        Some((actor, victim))
    });
}

/// An actor: its child works as the first process of a pid namespace of its own.
fn work_inside(args: &[String]) {
    if !unshare(libc::CLONE_NEWPID) {
        say("not permitted");
        return;
    }
    let child = fork(|| {
        assert_eq!(std::process::id(), 1);
        work(args);
    });
    say(child.pid());
    assert_eq!(child.end(), -libc::SIGKILL);
    say("collected");
}

#[test]
fn a_writer_killed_in_a_pid_namespace_of_its_own_stops_nobody() {
    play(&[("work inside", work_inside)]);
    let test = "a_writer_killed_in_a_pid_namespace_of_its_own_stops_nobody";
    kill_again_and_again(25, |path, acks| {
        let mut actor = start(test, "work inside", path, acks);
        let Ok(victim) = actor.hear().parse() else {
            eprintln!("skipped: this user may not make pid namespaces");
            return None;
        };
        Some((actor, victim))
    });
}

/// An actor: becomes another program while a thread of it writes.
fn changeling(args: &[String]) {
    let table = Table::open(&args[0]).unwrap();
    let after = Duration::from_micros(args[1].parse().unwrap());
    let begun = Barrier::new(2);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            say("writing");
            begun.wait();
            for step in 1.. {
                do_step(&table, step);
            }
        });
        begun.wait();
        std::thread::sleep(after);
        panic!("{}", Command::new("cat").exec());
    });
}

/// The process lives on under its pid and start time, but the table is no more its own.
#[test]
fn exec_while_another_thread_writes_stops_nobody() {
    play(&[("changeling", changeling)]);
    let dir = Dir::new();
    let path = dir.table("t");
    let table = options().create(&path).unwrap();
    let mut random = Random::new(5);
    let prompt = Prompt::new(PATIENCE);
    let test = "exec_while_another_thread_writes_stops_nobody";
    for _ in 0..20 {
        let after = (1000 + random.below(5000)).to_string();
        let mut actor = Actor::start(test, "changeling", &[path.to_str().unwrap(), &after]);
        assert_eq!(actor.hear(), "writing");
        let name = format!("/proc/{}/comm", actor.pid());
        while std::fs::read_to_string(&name).unwrap() != "cat\n" {
            std::thread::yield_now();
        }
        let begun = Instant::now();
        for step in 0..KEYS {
            do_step(&table, step + 1);
        }
        prompt.done(begun);
        // The kernel lets go of the file, and of the lock on it that shows this, a little after the
        // name has changed.
        let own = std::process::id();
        let is_reported = || {
            let members = table.participants().unwrap();
            members
                .iter()
                .all(|member| member.alive == (member.pid == own))
        };
        while !is_reported() {
            assert!(begun.elapsed() < MINUTE, "{:?}", table.participants());
            std::thread::yield_now();
        }
        table.reclaim().unwrap();
        assert_eq!(table.participants().unwrap().len(), 1);
        assert_acknowledged(&table, KEYS);
        assert_clean(&table);
        actor.finish();
    }
    assert_mostly(&prompt, &table);
}

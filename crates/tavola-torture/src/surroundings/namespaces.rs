//! A master dies, maybe with a lock, and leaves a child that never uses the table. A waiter in
//! another pid namespace, which cannot compare pids, must get on at once anyway.
//!
//! The words `go`, `killed` and `waited` hold the number of a round: they pass the turn from the
//! supervisor to the family, from there to the waiter, and back.

use super::{apart, expect_clean, expect_count};
use crate::board::{Board, Count};
use crate::child::{Found, Outcome, failed};
use crate::scratch::Scratch;
use crate::system::{
    Stopwatch, alarm, fork, fork_free, kill, now_ns, poll, shared_words, sleep_ms, unshare_pids,
    wait,
};
use crate::value::Numbers;
use rustix::process::{Pid, Signal, kill_process_group, setpgid};
use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use tavola::Table;

/// Whether the family and the waiter have a pid namespace of their own.
const PLACES: [[bool; 2]; 3] = [[true, false], [false, true], [true, true]];
/// Longer than a waiter may wait; shorter than an idle child lives.
const MOST_NS: u64 = 5_000_000_000;
/// Seconds that the idle children live, and the family at most.
const IDLE_S: u32 = 40;
const LIFE_S: u32 = 120;
/// Children that are left at most.
const ROUNDS: u64 = 200;
/// The exit code where namespaces are not permitted.
const NOT_PERMITTED: i32 = 77;
const KEY: &[u8] = b"count";

#[derive(Clone, Copy)]
struct Words(&'static [AtomicU64]);

impl Words {
    fn go(self) -> &'static AtomicU64 {
        &self.0[0]
    }

    fn killed(self) -> &'static AtomicU64 {
        &self.0[1]
    }

    fn waited(self) -> &'static AtomicU64 {
        &self.0[2]
    }

    fn acknowledged(self) -> &'static AtomicU64 {
        &self.0[3]
    }

    /// How many idle children there were so far.
    fn idle(self) -> &'static AtomicU64 {
        &self.0[4]
    }
}

pub(super) fn run(board: &Board, scratch: &Scratch, seed: u64, length_ns: u64) -> Outcome<()> {
    for (number, places) in PLACES.iter().enumerate() {
        let path = scratch.path(&format!("namespaces-{number}"));
        let options = Table::options().max_size(16 << 20).shards(1);
        drop(options.create(&path)?);
        let words = Words(shared_words(5)?);
        let seed = seed ^ number as u64;
        let family = in_place(places[0], || family(&path, words, seed))?;
        let waiter = in_place(places[1], || waiter(board, &path, words))?;
        let rounds = play(board, words, [family, waiter], length_ns / 3)?;
        for pid in [family, waiter] {
            // With its idle children: those in its group, or all in its namespace.
            let _ = kill_process_group(pid, Signal::KILL);
            let _ = kill(pid, Signal::KILL);
            wait(pid)?;
        }
        let Some(rounds) = rounds else {
            println!("namespaces: skipped, this user may not make them");
            return Ok(());
        };
        let counted = words.acknowledged().load(Relaxed);
        apart(board, "namespaces", || {
            let table = Table::open(&path).map_err(failed)?;
            table.reclaim().map_err(failed)?;
            expect_clean(&table, false)?;
            // Each master may have died in an increment, and so may the waiter at the end.
            expect_count(&table, KEY, counted, rounds + 1)
        })?;
        println!("namespaces: {places:?}: {rounds} masters killed, {counted} increments");
    }
    Ok(())
}

/// Runs `work` in a child, inside a new pid namespace if that is wanted.
fn in_place(inside: bool, work: impl FnOnce() -> Found<()>) -> Outcome<Pid> {
    let ended = |found: Found<()>| i32::from(found.is_err());
    Ok(fork(|| {
        alarm(LIFE_S);
        if !inside {
            let _ = setpgid(None, None);
            return ended(work());
        }
        if !unshare_pids() {
            return NOT_PERMITTED;
        }
        let first = fork(|| {
            alarm(LIFE_S);
            ended(work())
        });
        first.and_then(wait).map_or(1, |_| 1)
    })?)
}

/// Passes the turn round until the time is over. Returns `None` if namespaces are not permitted.
fn play(board: &Board, words: Words, pids: [Pid; 2], length_ns: u64) -> Outcome<Option<u64>> {
    let (mut rounds, began) = (0, now_ns());
    while now_ns() - began < length_ns && rounds < ROUNDS {
        rounds += 1;
        words.go().store(rounds, Release);
        while words.waited().load(Acquire) < rounds {
            for pid in pids {
                if let Some(ended) = poll(pid)? {
                    if ended == crate::system::Ended::Exited(NOT_PERMITTED) {
                        return Ok(None);
                    }
                    return Err(format!("namespaces: a process ended: {ended:?}").into());
                }
            }
            sleep_ms(1);
        }
        board.add(Count::Killed, 1);
    }
    Ok(Some(rounds))
}

fn await_round(word: &AtomicU64, round: u64) {
    while word.load(Acquire) < round {
        std::thread::sleep(std::time::Duration::from_micros(200));
    }
}

/// Each round a master that writes, has an idle child, and is killed.
fn family(path: &Path, words: Words, seed: u64) -> Found<()> {
    let text = |error: std::io::Error| error.to_string();
    let mut numbers = Numbers::new(seed);
    for round in 1.. {
        await_round(words.go(), round);
        let master = fork(|| master(path, words).map_or(1, |()| 0)).map_err(text)?;
        await_round(words.idle(), round);
        std::thread::sleep(std::time::Duration::from_micros(numbers.below(3000)));
        kill(master, Signal::KILL).map_err(text)?;
        wait(master).map_err(text)?;
        words.killed().store(round, Release);
    }
    Ok(())
}

fn master(path: &Path, words: Words) -> Found<()> {
    let table = Table::open(path).map_err(failed)?;
    table.incr(KEY, 1).map_err(failed)?;
    words.acknowledged().fetch_add(1, Relaxed);
    let idle = || {
        loop {
            sleep_ms(1000);
        }
    };
    fork_free(IDLE_S, idle).map_err(|error| error.to_string())?;
    words.idle().fetch_add(1, Release);
    loop {
        table.incr(KEY, 1).map_err(failed)?;
        words.acknowledged().fetch_add(1, Relaxed);
    }
}

/// Each round one write, after the death of the master.
fn waiter(board: &Board, path: &Path, words: Words) -> Found<()> {
    let table = Table::open(path).map_err(failed)?;
    for round in 1.. {
        await_round(words.killed(), round);
        let watch = Stopwatch::start();
        table.incr(KEY, 1).map_err(failed)?;
        words.acknowledged().fetch_add(1, Relaxed);
        let took_ns = watch.took_ns();
        if took_ns > MOST_NS {
            let ms = took_ns / 1_000_000;
            board.fault(&format!("namespaces: a waiter waited {ms} ms for the dead"));
        }
        words.waited().store(round, Release);
    }
    Ok(())
}

//! Closing lines in the form of TAP: one process, and two where the line says so.
//!
//! A line is `ok` only if everything that it counts has happened.

use std::io::Write;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::Instant;

use serde::{Deserialize, Serialize};
use serde_json::json;
use tavola::{Level, LogOptions, LogText, QueueOptions, QueuePool, Table};
use tavola_program::units::count;

use crate::clock::wait_until;
use crate::crew::{Answer, Crew};
use crate::duty::{self, answer, follow};
use crate::scratch::Scratch;
use crate::table::{Emit, show};
use crate::{Place, Result};

/// The most keys of these lines.
const MOST_KEYS: u64 = 1_000_000;
const ELEMENTS: u32 = 10_000;
/// Elements that one call moves.
const RUN: usize = 1000;
/// Elements that are moved for each key of the first lines, and keys for a line of the log.
const MOVES_EACH: u64 = 5;
const KEYS_A_LINE: u64 = 5;
/// Lines between two passes of the drain.
const PASS: u64 = 2000;
const LOCK: &str = "shf";
/// How often the lock is taken at least, also with few keys.
const LOCKS: u64 = 300_000;
/// Of so many times that a process has the lock, it gives its CPU away once: a lock that does not
/// keep the other process out is found even if both have only one CPU.
const GIVE_WAY: u64 = 10_000;
/// The queue that gets an element of each process that has moved enough.
const DONE: &str = "qid-done";

/// The lines, numbered.
struct Tap<'a> {
    as_json: bool,
    emit: Emit<'a>,
    number: u32,
}

impl Tap<'_> {
    fn line(&mut self, is_ok: bool, what: &str, per_second: Option<(f64, &str)>) -> Result<()> {
        self.number += 1;
        if self.as_json {
            return (self.emit)(&json!({
                "tap": self.number, "ok": is_ok, "what": what,
                "per_second": per_second.map(|(rate, _)| rate),
                "unit": per_second.map(|(_, unit)| unit),
            }));
        }
        let word = if is_ok { "ok" } else { "not ok" };
        let estimate = per_second.map_or(String::new(), |(rate, unit)| {
            format!(" // estimate {} {unit}", count(rate as u64))
        });
        show(format!("{word} {} - {what}{estimate}", self.number))
    }

    /// Does something so many times, and prints how often it was right.
    fn times(
        &mut self,
        what: &str,
        unit: &str,
        times: u64,
        mut each: impl FnMut(u64) -> Result<bool>,
    ) -> Result<()> {
        let began = Instant::now();
        let mut right = 0;
        for at in 0..times {
            right += u64::from(each(at)?);
        }
        let rate = times as f64 / began.elapsed().as_secs_f64();
        self.line(right == times, what, Some((rate, unit)))
    }
}

/// Prints all lines. `keys` is how many keys the first of them use, up to a million.
pub(super) fn run(place: &Place, keys: u64, as_json: bool, emit: Emit<'_>) -> Result<()> {
    const LINES_OF_ALL: u32 = 14;
    if !as_json {
        show(format!("1..{LINES_OF_ALL}"))?;
    }
    let mut tap = Tap {
        as_json,
        emit,
        number: 0,
    };
    let (scratch, table) = Scratch::create(place)?;
    let times = keys.min(MOST_KEYS);
    calls(&mut tap, &table, times)?;
    queues(&mut tap, place, times * MOVES_EACH)?;
    locks(&mut tap, &scratch, &table, times.max(LOCKS))?;
    lines(&mut tap, place, times.div_ceil(KEYS_A_LINE))?;
    let is_sound = table.check()?.problems.is_empty();
    tap.line(is_sound, "the table is sound, and test still alive", None)
}

fn calls(tap: &mut Tap<'_>, table: &Table, keys: u64) -> Result<()> {
    let key = |at: u64| (at as u32).to_le_bytes();
    let other = |at: u64| (!(at as u32)).to_le_bytes();
    let unit = "keys per second";
    tap.line(table.is_empty()?, "a new table has no keys", None)?;
    tap.times(
        "put expected number of              keys",
        unit,
        keys,
        |at| {
            table.set(key(at), key(at))?;
            Ok(true)
        },
    )?;
    let mut found = [0; 4];
    tap.times(
        "got expected number of non-existing keys",
        unit,
        keys,
        |at| {
            let missing = [&key(at)[..], b"-"].concat();
            Ok(table.get_to_slice(missing, &mut found)?.is_none())
        },
    )?;
    tap.times(
        "got expected number of     existing keys",
        unit,
        keys,
        |at| Ok(table.get_to_slice(key(at), &mut found)? == Some(4) && found == key(at)),
    )?;
    tap.times(
        "upd expected number of     existing keys",
        unit,
        keys,
        |at| Ok(table.replace(key(at), other(at))?),
    )?;
    tap.times(
        "del expected number of     existing keys",
        unit,
        keys,
        |at| Ok(table.remove(key(at))?),
    )
}

fn queues(tap: &mut Tap<'_>, place: &Place, moves: u64) -> Result<()> {
    let unit = "q items per second";
    let options = QueueOptions::new(ELEMENTS, 64).queues(["qid-a2b", "qid-b2a", DONE]);
    let (scratch, pool) = Scratch::create_pool(place.dir.as_deref(), &options)?;
    let (from, to) = (pool.queue("qid-a2b")?, pool.queue("qid-b2a")?);
    let mut elements = [0; RUN];
    let began = Instant::now();
    let mut moved = 0;
    while moved < moves {
        let (from, to) = match moved / u64::from(ELEMENTS) % 2 {
            0 => (&from, &to),
            _ => (&to, &from),
        };
        let some = from.pop_many(&mut elements)?;
        to.push_many(&elements[..some])?;
        if some == 0 {
            break;
        }
        moved += some as u64;
    }
    let rate = moved as f64 / began.elapsed().as_secs_f64();
    let what = "moved   expected number of new queue items; without contention";
    tap.line(moved >= moves, what, Some((rate, unit)))?;

    let halves = [
        (
            Move {
                to: "qid-b2a",
                from: "qid-a2b",
            },
            "process a",
        ),
        (
            Move {
                to: "qid-a2b",
                from: "qid-b2a",
            },
            "process b",
        ),
    ];
    let all = together(&halves.map(|(half, _)| Setup {
        leader_pid: std::process::id(),
        path: scratch.name().into(),
        what: What::Move {
            from: half.from.into(),
            to: half.to.into(),
        },
        times: moves,
    }))?;
    let rate: f64 = all.iter().map(|done| done.ops as f64 / done.seconds).sum();
    let is_whole = all.iter().all(|done| done.ops >= moves) && held(&pool)? == ELEMENTS;
    let what = "moved   expected number of new queue items; two processes";
    tap.line(is_whole, what, Some((rate, unit)))
}

/// A direction of elements.
#[derive(Clone, Copy)]
struct Move {
    from: &'static str,
    to: &'static str,
}

/// Returns how many elements are in the queues.
fn held(pool: &QueuePool) -> Result<u32> {
    let lengths =
        ["qid-a2b", "qid-b2a", DONE].map(|name| pool.queue(name).map(|queue| queue.len()));
    let mut sum = 0;
    for length in lengths {
        sum += length? as u32;
    }
    Ok(sum)
}

fn locks(tap: &mut Tap<'_>, scratch: &Scratch, table: &Table, times: u64) -> Result<()> {
    let unit = "locks per second";
    let setup = || Setup {
        leader_pid: std::process::id(),
        path: scratch.name().into(),
        what: What::Lock,
        times,
    };
    let area = table.area(LOCK, 8)?;
    let all = together(&[setup(), setup()])?;
    let is_whole = area.words()[0].load(Relaxed) == 2 * times;
    for (done, process) in all.iter().zip(["a", "b"]) {
        let what = format!("lock    expected number of times; two processes, process {process}");
        let is_ok = is_whole && done.ops == times;
        tap.line(is_ok, &what, Some((done.ops as f64 / done.seconds, unit)))?;
    }
    let lock = table.named_lock(LOCK)?;
    let mut sum = 0;
    let what = "lock    expected number of times; without contention";
    tap.times(what, unit, times, |at| {
        let _held = lock.lock()?;
        sum = std::hint::black_box(sum + at);
        Ok(true)
    })?;
    let what = "lock    expected number of times; without lock, just loop";
    tap.times(what, unit, times, |at| {
        sum = std::hint::black_box(sum + at);
        Ok(true)
    })
}

/// Counts lines.
struct Counter(u64);

impl Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn lines(tap: &mut Tap<'_>, place: &Place, count: u64) -> Result<()> {
    let (_scratch, log) = Scratch::create_log(place.dir.as_deref(), &LogOptions::new())?;
    let mut drain = log.drain()?;
    let mut counter = Counter(0);
    let began = Instant::now();
    for at in 0..count {
        log.line(Level::Info, "testing process a IPC log speed")?;
        if at % PASS == PASS - 1 {
            drain.pass(&mut LogText::new(&mut counter))?;
        }
    }
    drain.finish(&mut LogText::new(&mut counter))?;
    let rate = count as f64 / began.elapsed().as_secs_f64();
    let what = "logged  expected number of lines, which a drain has read";
    tap.line(counter.0 == count, what, Some((rate, "lines per second")))
}

/// What one of two processes does.
#[derive(Serialize, Deserialize)]
enum What {
    Move { from: String, to: String },
    Lock,
}

/// The first line of a process. The second is the instant at which it begins.
#[derive(Serialize, Deserialize)]
struct Setup {
    leader_pid: u32,
    path: std::path::PathBuf,
    what: What,
    times: u64,
}

/// What a process did.
#[derive(Serialize, Deserialize)]
struct Did {
    ops: u64,
    seconds: f64,
}

fn together(setups: &[Setup]) -> Result<Vec<Did>> {
    let mut crew: Crew<u64, Did> = Crew::new("tap");
    for (at, setup) in setups.iter().enumerate() {
        crew.hire("shf-pair", setup)?;
        crew.ready(at)?;
    }
    let start_ns = crew.start_ns();
    let all = crew.run_all(setups.len(), &start_ns)?;
    crew.end()?;
    Ok(all)
}

/// Does what the leader at the other end of standard input says.
pub fn work() -> Result<()> {
    duty::work(|setup: Setup, jobs| {
        follow(setup.leader_pid, None)?;
        match &setup.what {
            What::Move { from, to } => {
                let pool = QueuePool::open(&setup.path)?;
                let queues = [pool.queue(from)?, pool.queue(to)?, pool.queue(DONE)?];
                answer(&Answer::<Did>::Ready)?;
                let Some(start_ns) = jobs.next::<u64>()? else {
                    return Ok(());
                };
                wait_until(start_ns);
                answer(&Answer::Done(move_all(&queues, setup.times)?))
            }
            What::Lock => {
                let table = Table::options().open_existing(&setup.path)?;
                answer(&Answer::<Did>::Ready)?;
                let Some(start_ns) = jobs.next::<u64>()? else {
                    return Ok(());
                };
                wait_until(start_ns);
                answer(&Answer::Done(lock_all(&table, setup.times)?))
            }
        }
    })
}

/// Moves elements until there are enough. Then it continues until the other process has moved
/// enough, too, which has no elements otherwise.
fn move_all(queues: &[tavola::Queue; 3], moves: u64) -> Result<Did> {
    let [from, to, done] = queues;
    let mut elements = [0; RUN];
    let (began, mut ops, mut seconds) = (Instant::now(), 0, None);
    loop {
        let some = from.pop_many(&mut elements)?;
        let mut moved = &elements[..some];
        if let (true, None, Some((last, rest))) = (ops >= moves, seconds, moved.split_last()) {
            seconds = Some(began.elapsed().as_secs_f64());
            done.push(*last)?;
            moved = rest;
        }
        to.push_many(moved)?;
        match seconds {
            None => ops += some as u64,
            Some(seconds) if done.len() == 2 => return Ok(Did { ops, seconds }),
            Some(_) => {}
        }
        if some == 0 {
            thread::yield_now();
        }
    }
}

/// Adds to a number under the lock, in two steps that another process must not come between.
fn lock_all(table: &Table, times: u64) -> Result<Did> {
    let (lock, area) = (table.named_lock(LOCK)?, table.area(LOCK, 8)?);
    let number = &area.words()[0];
    let (began, mut ops) = (Instant::now(), 0);
    while ops < times {
        let _held = lock.lock()?;
        let before = number.load(Relaxed);
        if ops.is_multiple_of(GIVE_WAY) {
            thread::yield_now();
        }
        number.store(before + 1, Relaxed);
        ops += 1;
    }
    let seconds = began.elapsed().as_secs_f64();
    Ok(Did { ops, seconds })
}

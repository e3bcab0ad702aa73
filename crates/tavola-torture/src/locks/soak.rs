//! Workers that take a lock alone, share it and take permits, and are killed and stopped at random.
//!
//! Two words are guarded by the lock: one that has it alone raises both, one that shares it finds
//! them equal. They differ only for one that learns that the holder before died. No more permits
//! are had at once than there are; those of workers that are to be killed do not count.

use super::{PERMITS, is_usable, lock, semaphore};
use crate::board::{Board, Count};
use crate::child::{Found, Outcome, child, failed};
use crate::scratch::Scratch;
use crate::system::{alarm, fork, kill, now_ns, sleep_ms, wait};
use crate::value::Numbers;
use rustix::process::{Pid, Signal};
use std::convert::Infallible;
use std::path::Path;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;
use tavola::{Area, LockGuard, NamedLock, Semaphore, Table};

const WORKERS: u64 = 6;
const KILL_EVERY_US: u64 = 8_000;
const STOPPED_MS: u64 = 40;
/// Kills between two looks at the whole.
const LOOK_EVERY: u64 = 100;
/// Seconds a process may live.
const LIFE_S: u32 = 120;
/// For so long a worker waits: others hold what they have for microseconds, or are stopped.
const WAIT: Duration = Duration::from_secs(30);

/// Words of the area.
const GUARDED: [usize; 2] = [0, 1];
/// Whether somebody is there alone.
const INSIDE: usize = 2;
/// Holds of each kind, of all workers.
const DONE: [usize; 3] = [3, 4, 5];
/// Of each worker: its life, and whether it has a permit.
const PERMIT_OF: usize = 8;
/// Of each worker: the life in which it was or will be killed.
const DOOMED: usize = PERMIT_OF + WORKERS as usize;
const BYTES: u64 = 4096;

/// Kills processes that use locks, for so long.
pub(crate) fn run(board: &Board, scratch: &Scratch, seed: u64, for_ns: u64) -> Outcome<()> {
    let path = scratch.path("lock soak");
    let table = Table::options().max_size(2 << 20).create(&path)?;
    let area = table.area("words", BYTES)?;
    let mut numbers = Numbers::new(seed);
    let began = now_ns();
    let (mut kills, mut stops) = (0, 0);
    while kills == 0 || now_ns() - began < for_ns && board.faults() == 0 {
        let mut workers = Vec::new();
        for number in 0..WORKERS {
            workers.push(start(board, &path, &area, &mut numbers, number)?);
        }
        for _ in 0..LOOK_EVERY {
            std::thread::sleep(Duration::from_micros(numbers.below(KILL_EVERY_US)));
            let number = numbers.below(WORKERS);
            let worker = &mut workers[number as usize];
            if numbers.below(4) == 0 {
                kill(*worker, Signal::STOP)?;
                sleep_ms(numbers.below(STOPPED_MS));
                kill(*worker, Signal::CONT)?;
                stops += 1;
                continue;
            }
            end(board, &area, number, *worker)?;
            *worker = start(board, &path, &area, &mut numbers, number)?;
            kills += 1;
        }
        for (number, worker) in workers.into_iter().enumerate() {
            end(board, &area, number as u64, worker)?;
            kills += 1;
        }
        child(board, "lock soak", "a look at the whole", || {
            let table = Table::open(&path).map_err(failed)?;
            is_usable(&table).map(drop)
        })?;
        // What the last of them left half changed nobody has mended.
        let most = GUARDED.map(|word| area.words()[word].load(SeqCst));
        for word in GUARDED {
            area.words()[word].store(most[0].max(most[1]), SeqCst);
        }
        area.words()[INSIDE].store(0, SeqCst);
    }
    let done = DONE.map(|word| area.words()[word].load(SeqCst));
    if done.contains(&0) {
        board.fault(&format!("lock soak: nothing of some: {done:?}"));
    }
    println!(
        "lock soak: {} s, {kills} kills, {stops} stops, {done:?} holds alone, shared, of permits, \
         {} faults",
        (now_ns() - began) / 1_000_000_000,
        board.faults()
    );
    Ok(())
}

fn start(
    board: &Board,
    path: &Path,
    area: &Area,
    numbers: &mut Numbers,
    number: u64,
) -> Outcome<Pid> {
    let life = area.words()[DOOMED + number as usize].load(SeqCst) + 1;
    let own = Numbers::new(numbers.next());
    let pid = fork(|| {
        alarm(LIFE_S);
        let Err(why) = work(path, number as usize, life, own);
        board.fault(&format!("lock soak: worker {number}: {why}"));
        1
    })?;
    Ok(pid)
}

/// Kills a worker; it must have been alive.
fn end(board: &Board, area: &Area, number: u64, pid: Pid) -> Outcome<()> {
    area.words()[DOOMED + number as usize].fetch_add(1, SeqCst);
    kill(pid, Signal::KILL)?;
    match wait(pid)? {
        ended if ended.was_killed() => board.add(Count::Killed, 1),
        ended => board.fault(&format!("lock soak: a worker ended before: {ended:?}")),
    }
    Ok(())
}

fn work(path: &Path, number: usize, life: u64, mut numbers: Numbers) -> Found<Infallible> {
    let table = Table::open(path).map_err(failed)?;
    let area = table.area("words", BYTES).map_err(failed)?;
    let (lock, semaphore) = (lock(&table)?, semaphore(&table)?);
    loop {
        match numbers.below(3) {
            0 => be_alone(&area, &lock)?,
            1 => compare(&area, &lock)?,
            _ => have_permit(&area, &semaphore, number, life)?,
        }
    }
}

fn be_alone(area: &Area, lock: &NamedLock) -> Found<()> {
    let guard = lock.lock_within(WAIT).map_err(failed)?;
    change(area, &guard.ok_or("the lock does not become free")?)?;
    area.words()[DONE[0]].fetch_add(1, SeqCst);
    Ok(())
}

/// Changes what the lock guards; after a death, mends it first.
fn change(area: &Area, guard: &LockGuard<'_>) -> Found<()> {
    let words = area.words();
    let inside = words[INSIDE].swap(1, SeqCst);
    let [one, other] = GUARDED.map(|word| words[word].load(SeqCst));
    if !guard.owner_died() && (inside != 0 || one != other) {
        return Err(format!("alone with {inside} others, {one} and {other}"));
    }
    let next = one.max(other) + 1;
    for word in GUARDED {
        words[word].store(next, SeqCst);
        std::thread::yield_now();
    }
    words[INSIDE].store(0, SeqCst);
    Ok(())
}

fn compare(area: &Area, lock: &NamedLock) -> Found<()> {
    let guard = lock.share_within(WAIT).map_err(failed)?;
    let guard = guard.ok_or("the lock cannot be shared")?;
    if !guard.is_shared() {
        return change(area, &guard);
    }
    let words = area.words();
    for _ in 0..2 {
        let [one, other] = GUARDED.map(|word| words[word].load(SeqCst));
        if one != other || words[INSIDE].load(SeqCst) != 0 {
            return Err(format!("shared, and there are {one} and {other}"));
        }
        std::thread::yield_now();
    }
    words[DONE[1]].fetch_add(1, SeqCst);
    Ok(())
}

fn have_permit(area: &Area, semaphore: &Semaphore, number: usize, life: u64) -> Found<()> {
    let permit = semaphore.acquire_within(WAIT).map_err(failed)?;
    let permit = permit.ok_or("no permit becomes free")?;
    let words = area.words();
    words[PERMIT_OF + number].store(life << 1 | 1, SeqCst);
    let has = |number: &usize| {
        let word = words[PERMIT_OF + number].load(SeqCst);
        word & 1 != 0 && words[DOOMED + number].load(SeqCst) < word >> 1
    };
    let had = (0..WORKERS as usize).filter(has).count();
    std::thread::yield_now();
    words[PERMIT_OF + number].store(life << 1, SeqCst);
    drop(permit);
    words[DONE[2]].fetch_add(1, SeqCst);
    match had <= PERMITS as usize {
        true => Ok(()),
        false => Err(format!("{had} workers have permits")),
    }
}

//! Random moves between queues, random deaths and stops.

use super::{Found, NAMES, Outcome, are_all, drained, failed, options, queues};
use crate::board::{Board, Count};
use crate::scratch::Scratch;
use crate::system::{Ended, Stopwatch, alarm, fork, kill, now_ns, sleep_ms, wait};
use crate::value::Numbers;
use rustix::process::{Pid, Signal};
use std::path::Path;
use std::time::Duration;
use tavola::{QueuePool, Table};

const ELEMENTS: u32 = 5000;
const MOVERS: usize = 6;
/// Between two kills, at most.
const KILL_EVERY_US: u64 = 5000;
/// Kills between two audits.
const AUDIT_EVERY: u64 = 100;
/// Seconds a mover may live.
const LIFE_S: u32 = 120;
/// How long the elements of a dead process may take to be taken.
const PATIENCE_NS: u64 = 3_000_000_000;

/// Kills movers for so long.
pub(crate) fn run(board: &Board, scratch: &Scratch, seed: u64, for_ns: u64) -> Outcome<()> {
    let path = scratch.path("queues");
    let table = Table::options()
        .max_size(64 << 20)
        .shards(4)
        .create(&path)?;
    drop(options(ELEMENTS).create_in(&table, "pool")?);
    drop(table);
    let mut numbers = Numbers::new(seed);
    let began = now_ns();
    let mut movers = Vec::new();
    for _ in 0..MOVERS {
        movers.push(start(&path, board, numbers.next())?);
    }
    let (mut kills, mut stops, mut audits) = (0, 0, 0);
    while now_ns() - began < for_ns && board.faults() == 0 {
        std::thread::sleep(Duration::from_micros(numbers.below(KILL_EVERY_US)));
        let at = numbers.below(MOVERS as u64) as usize;
        match numbers.below(3) {
            0 => {
                kill(movers[at], Signal::STOP)?;
                sleep_ms(numbers.below(20));
                kill(movers[at], Signal::CONT)?;
                stops += 1;
            }
            _ => {
                end(board, movers[at])?;
                movers[at] = start(&path, board, numbers.next())?;
                kills += 1;
            }
        }
        if kills % AUDIT_EVERY == AUDIT_EVERY - 1 {
            for mover in &movers {
                end(board, *mover)?;
            }
            audit(&path, board)?;
            audits += 1;
            kills += MOVERS as u64;
            for mover in &mut movers {
                *mover = start(&path, board, numbers.next())?;
            }
        }
    }
    for mover in movers {
        end(board, mover)?;
    }
    audit(&path, board)?;
    println!(
        "queue soak: {} s, {kills} kills, {stops} stops, {} audits, {} faults",
        (now_ns() - began) / 1_000_000_000,
        audits + 1,
        board.faults()
    );
    Ok(())
}

fn start(path: &Path, board: &Board, seed: u64) -> Outcome<Pid> {
    let pid = fork(|| {
        alarm(LIFE_S);
        let Err(why) = shuffle(path, Numbers::new(seed));
        board.fault(&format!("queue soak: a mover: {why}"));
        1
    })?;
    Ok(pid)
}

/// Kills a mover; it must have been alive.
fn end(board: &Board, pid: Pid) -> Outcome<()> {
    kill(pid, Signal::KILL)?;
    match wait(pid)? {
        ended if ended.was_killed() => board.add(Count::Killed, 1),
        ended => board.fault(&format!("queue soak: a mover ended before: {ended:?}")),
    }
    Ok(())
}

/// Moves elements between queues forever, sometimes those of the dead.
fn shuffle(path: &Path, mut numbers: Numbers) -> Found<std::convert::Infallible> {
    let table = Table::open(path).map_err(failed)?;
    let pool = table.pool("pool").map_err(failed)?;
    let queues = queues(&pool).map_err(failed)?;
    let mut held = Vec::new();
    let mut run = [0; 700];
    loop {
        let mut queue = || &queues[numbers.below(NAMES.len() as u64) as usize];
        let (from, to, back) = (queue(), queue(), queue());
        let most = 1 << numbers.below(10);
        let most = numbers.below(most) as usize;
        match numbers.below(200) {
            0 => {
                let found = pool.reclaim().map_err(failed)?;
                found
                    .iter()
                    .try_for_each(|element| unseal(&pool, *element))?;
                held.extend(found);
            }
            1..20 => drop(from.pass(to, most).map_err(failed)?),
            20 => {
                let wait = Duration::from_micros(numbers.below(2000));
                let count = from.pop_many_wait(&mut run[..most], wait).map_err(failed)?;
                held.extend(&run[..count]);
            }
            _ => {
                let count = from.pop_many(&mut run[..most]).map_err(failed)?;
                held.extend(&run[..count]);
            }
        }
        for element in held.iter().take(3) {
            seal(&pool, *element, numbers.next())?;
        }
        let kept = numbers.below(held.len().min(300) as u64 + 1) as usize;
        back.push_many(&held.split_off(kept)).map_err(failed)?;
        table.set(b"beside", most.to_le_bytes()).map_err(failed)?;
    }
}

/// A worker that holds an element is alone with it: its two halves agree.
fn seal(pool: &QueuePool, element: u32, number: u64) -> Found<()> {
    let mut bytes = [0; 8];
    pool.read(element, 0, &mut bytes).map_err(failed)?;
    if bytes[..4] != bytes[4..] {
        return Err(format!("element {element} holds {bytes:?}"));
    }
    let half = &number.to_le_bytes()[..4];
    pool.write(element, 0, half).map_err(failed)?;
    pool.write(element, 4, half).map_err(failed)
}

/// Its holder may have died between the halves.
fn unseal(pool: &QueuePool, element: u32) -> Found<()> {
    pool.write(element, 0, &[0; 8]).map_err(failed)
}

/// Nobody lives: every element is in one place.
fn audit(path: &Path, board: &Board) -> Outcome<()> {
    let pid = fork(|| {
        alarm(LIFE_S);
        match audit_table(path) {
            Ok(()) => 0,
            Err(why) => {
                board.fault(&format!("queue soak: an audit: {why}"));
                1
            }
        }
    })?;
    match wait(pid)? {
        Ended::Exited(0 | 1) => {}
        ended => board.fault(&format!("queue soak: an audit ended by {ended:?}")),
    }
    Ok(())
}

fn audit_table(path: &Path) -> Found<()> {
    let table = Table::open(path).map_err(failed)?;
    let pool = table.pool("pool").map_err(failed)?;
    let queues = queues(&pool).map_err(failed)?;
    let watch = Stopwatch::start();
    let mut all = pool.reclaim().map_err(failed)?;
    let took = watch.took_ns();
    if took > PATIENCE_NS {
        return Err(format!("it took {} ms to reclaim", took / 1_000_000));
    }
    super::whole(&pool)?;
    all.iter().try_for_each(|element| unseal(&pool, *element))?;
    for queue in &queues {
        all.extend(drained(queue)?);
    }
    are_all(all.clone(), ELEMENTS)?;
    queues[0].push_many(&all).map_err(failed)?;
    super::whole(&pool)
}

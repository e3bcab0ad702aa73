//! Queues: processes that push, pop and make pools are killed at each store they make, and at
//! random, and afterwards every element must be in one place.
//!
//! Per point `k` of a case: a file is written anew; a *victim* does the case's operations and is
//! killed before its `k`-th store; a *finder* reclaims what the victim held and is killed before
//! its `j`-th, for each `j` it has; a *survivor* finds in each queue what the operations that had
//! returned left there, or what the one under way was to leave, in this order; takes what is lost;
//! and finds every element once.

mod create;
mod op;
mod points;
mod soak;

use crate::args::Args;
use crate::board::{Board, Count};
use crate::scratch::Scratch;
use crate::system::{Ended, alarm, fork, now_ns, wait};
use std::error::Error;
use tavola::{Queue, QueueOptions, QueuePool, killpoint};

/// Seconds after which a process that still runs counts as hung.
const HUNG_S: u32 = 30;

/// Queues of a case's pool.
const NAMES: [&str; 3] = ["free", "todo", "done"];

type Outcome<T> = Result<T, Box<dyn Error>>;

/// What a child found out; the words are a fault.
type Found<T> = Result<T, String>;

fn failed(error: tavola::Error) -> String {
    error.to_string()
}

fn options(elements: u32) -> QueueOptions {
    QueueOptions::new(elements, 8).queues(NAMES)
}

fn queues(pool: &QueuePool) -> tavola::Result<Vec<Queue>> {
    NAMES.iter().map(|name| pool.queue(name)).collect()
}

/// All elements of a queue, taken out.
fn drained(queue: &Queue) -> Found<Vec<u32>> {
    let mut all = Vec::new();
    let mut run = [0; 512];
    loop {
        match queue.pop_many(&mut run).map_err(failed)? {
            0 => return Ok(all),
            count => all.extend(&run[..count]),
        }
    }
}

/// Whether these are all elements of a pool, each once.
fn are_all(mut found: Vec<u32>, elements: u32) -> Found<()> {
    found.sort_unstable();
    match found.iter().copied().eq(0..elements) {
        true => Ok(()),
        false => Err(format!("of {elements} elements there are {found:?}")),
    }
}

/// Whether nothing is wrong with the file a pool is in.
fn whole(pool: &QueuePool) -> Found<()> {
    let report = pool.check().map_err(failed)?;
    match report.is_clean() {
        true => Ok(()),
        false => Err(format!("the pool is not whole: {:?}", report.problems)),
    }
}

/// Whether a child that was to die did.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Died {
    Yes,
    No,
}

/// Runs a child; what it says, and any end but a death by plan, is a fault.
fn child(board: &Board, case: &str, who: &str, work: impl FnOnce() -> Found<()>) -> Outcome<Died> {
    let pid = fork(|| {
        alarm(HUNG_S);
        match work() {
            Ok(()) => 0,
            Err(why) => {
                killpoint::die_at(0);
                board.fault(&format!("{case}: {who}: {why}"));
                1
            }
        }
    })?;
    match wait(pid)? {
        ended if ended.was_killed() => {
            board.add(Count::Killed, 1);
            return Ok(Died::Yes);
        }
        Ended::Exited(0 | 1) => {}
        ended => board.fault(&format!("{case}: {who}: {ended:?}")),
    }
    Ok(Died::No)
}

/// Prints what a case came to.
fn told(case: &str, points: u64, finders: u64, began: u64) {
    println!(
        "  {case:<46} {points} points, all killed at; {finders} finders killed, {:.1} s",
        (now_ns() - began) as f64 / 1e9
    );
}

/// Kills at every point, of finders at every one or a sample.
pub(crate) fn points(args: &Args, board: &Board, scratch: &Scratch) -> Outcome<()> {
    points::run(args, board, scratch)?;
    create::run(args, board, scratch)
}

pub(crate) use soak::run as soak;

//! Queues: processes that push, pop and make pools are killed at each store they make, and at
//! random, and afterwards every element must be in one place.
//!
//! Per point `k` of a case: a file is written again; a *victim* does the case's operations and is
//! killed before its `k`-th store; a *finder* reclaims what the victim held and is killed before
//! its `j`-th, for each `j` it has; a *survivor* finds in each queue what the operations that had
//! returned left there, or what the one under way was to leave, in this order; takes what is lost;
//! and finds every element once.

mod create;
mod op;
mod points;
mod soak;

use crate::args::Args;
use crate::board::Board;
use crate::child::{Died, Found, Outcome, child, failed, print_result};
use crate::scratch::Scratch;
use tavola::{Queue, QueueOptions, QueuePool};

/// Queues of a case's pool, and one that is added to some.
const NAMES: [&str; 3] = ["free", "todo", "done"];
const ADDED: &str = "a queue that is added, in words";

fn options(elements: u32) -> QueueOptions {
    QueueOptions::new(elements, 8).queues(NAMES).queue_room(4)
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

/// Kills at every point, of finders at every one or a sample.
pub(crate) fn points(args: &Args, board: &Board, scratch: &Scratch) -> Outcome<()> {
    points::run(args, board, scratch)?;
    create::run(args, board, scratch)
}

pub(crate) use soak::run as soak;

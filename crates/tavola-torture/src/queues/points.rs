//! A victim, a finder, a survivor.

use super::op::{Model, Op, Seat};
use super::{
    ADDED, Died, Found, NAMES, Outcome, are_all, child, drained, failed, options, print_result,
    queues, whole,
};
use crate::args::Args;
use crate::board::{Board, Count, Of};
use crate::image::Image;
use crate::scratch::Scratch;
use crate::system::{Stopwatch, now_ns};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::Relaxed;
use tavola::{Error, Queue, QueuePool, Result, killpoint};

/// Elements of a pool: its rings go round soon.
const ELEMENTS: u32 = 13;
/// How long what a survivor does may take: a death is noticed and its resources are reclaimed.
const PATIENCE_NS: u64 = 2_000_000_000;
/// When a sample is wanted, one in so many finders.
const SPARE: u64 = 23;

struct Case {
    name: &'static str,
    image: Image,
    model: Model,
    ops: Vec<Op>,
    /// Of the operations, the first so many lead up to what is meant.
    lead: usize,
}

/// A case's name, what its file went through, what leads up to what is meant, what is meant.
type Steps<'a> = (&'static str, &'a [Op], &'a [Op], &'a [Op]);

struct Points<'a> {
    args: &'a Args,
    board: &'a Board,
    path: PathBuf,
    /// Of finders, one in so many.
    step: u64,
}

pub(super) fn run(args: &Args, board: &Board, scratch: &Scratch) -> Outcome<()> {
    let points = Points {
        args,
        board,
        path: scratch.path("pool"),
        step: if args.every_point() { 1 } else { SPARE },
    };
    for case in cases(scratch)? {
        if args
            .only
            .as_deref()
            .is_none_or(|only| case.name.contains(only))
        {
            points.case(&case)?;
        }
    }
    Ok(())
}

fn cases(scratch: &Scratch) -> Outcome<Vec<Case>> {
    use Op::{Add, Check, Pass, Pop, Push, PushWrong, Reclaim, Repair, Wait};
    let all: [Steps; 14] = [
        ("queue: push", &[], &[Pop(0, 3)], &[Push(1, 1)]),
        (
            "queue: push many",
            &[],
            &[Pop(0, 9)],
            &[Push(1, 5), Push(1, 4)],
        ),
        (
            "queue: push one twice",
            &[],
            &[Pop(0, 5)],
            &[PushWrong(1, 4)],
        ),
        ("queue: pop", &[], &[], &[Pop(0, 1)]),
        (
            "queue: pop many",
            &[],
            &[],
            &[Pop(0, 6), Pop(0, 6), Pop(0, 6)],
        ),
        ("queue: pop from an empty one", &[], &[], &[Pop(1, 1)]),
        (
            "queue: pass",
            &[],
            &[],
            &[Pass(0, 1, 5), Pass(1, 2, 3), Pass(2, 0, 9)],
        ),
        (
            "queue: past the end of a ring",
            &[Pass(0, 1, 13), Pass(1, 0, 13)],
            &[Pop(0, 4)],
            &[Push(0, 2), Pass(0, 1, 8), Push(1, 2)],
        ),
        ("queue: wait in vain", &[], &[], &[Wait(1)]),
        (
            "queue: push for a sleeper",
            &[],
            &[Wait(1), Pop(0, 2)],
            &[Push(1, 2)],
        ),
        (
            "queue: reclaim",
            &[Pass(0, 1, 4), Pop(0, 5), Pop(1, 1)],
            &[],
            &[Reclaim, Push(2, 4)],
        ),
        ("queue: add a queue", &[], &[], &[Add]),
        ("queue: check", &[Pop(0, 2)], &[], &[Check]),
        ("queue: repair", &[Pass(0, 1, 3), Pop(0, 2)], &[], &[Repair]),
    ];
    let made = all.into_iter().map(|(name, before, lead, meant)| {
        let (image, model) = start(scratch, before)?;
        Ok(Case {
            name,
            image,
            model,
            ops: [lead, meant].concat(),
            lead: lead.len(),
        })
    });
    made.collect()
}

/// A pool that a process used, which held something when it left.
fn start(scratch: &Scratch, before: &[Op]) -> Outcome<(Image, Model)> {
    let path = scratch.path("pool");
    if path.exists() {
        std::fs::remove_file(&path)?;
    }
    drop(options(ELEMENTS).create(&path)?);
    let mut model = Model::default();
    model.queues[0].extend(0..ELEMENTS);
    let mut seat = Seat::open(&path)?;
    for op in before {
        if !seat.apply(op)? {
            return Err(format!("{op:?} gave another answer than it should have").into());
        }
        model = model.states(op).pop().unwrap_or_default();
    }
    drop(seat);
    model.lost = model.held.drain(..).collect();
    Ok((Image::load(&path)?, model))
}

impl Points<'_> {
    fn case(&self, case: &Case) -> Outcome<()> {
        let began = now_ns();
        let (mut killed, mut finders) = (0, 0);
        for k in self.args.points_until_the_end() {
            if let Died::No = self.victim(case, k)? {
                break;
            }
            killed += 1;
            let done = self.acknowledged();
            self.survivor(case, k, 0, done)?;
            let mut j = 1 + k % self.step;
            loop {
                case.image.store(&self.path)?;
                self.kill(case, k)?;
                if let Died::No = self.finder(case, k, j)? {
                    break;
                }
                finders += 1;
                self.survivor(case, k, j, done)?;
                j += self.step;
            }
        }
        print_result(case.name, killed, finders, began);
        Ok(())
    }

    fn acknowledged(&self) -> usize {
        self.board.lane(0, Of::Acknowledged).load(Relaxed) as usize
    }

    /// A fresh file and a victim, that dies at `k` or has fewer stores.
    fn victim(&self, case: &Case, k: u64) -> Outcome<Died> {
        case.image.store(&self.path)?;
        let end = self.kill(case, k)?;
        if let Died::No = end {
            // What was to be done is done then.
            self.survivor(case, k, 0, case.ops.len())?;
        }
        Ok(end)
    }

    fn kill(&self, case: &Case, k: u64) -> Outcome<Died> {
        let acknowledged = self.board.lane(0, Of::Acknowledged);
        acknowledged.store(0, Relaxed);
        child(
            self.board,
            case.name,
            &format!("the victim of point {k}"),
            || {
                let mut seat = Seat::open(&self.path).map_err(failed)?;
                for (number, op) in case.ops.iter().enumerate() {
                    if number == case.lead {
                        killpoint::die_at(k);
                    }
                    if !seat.apply(op).map_err(failed)? {
                        return Err(format!("{op:?} gave another answer than it should have"));
                    }
                    acknowledged.fetch_add(1, Relaxed);
                }
                killpoint::die_at(0);
                Ok(())
            },
        )
    }

    fn finder(&self, case: &Case, k: u64, j: u64) -> Outcome<Died> {
        child(
            self.board,
            case.name,
            &format!("point {k}: the finder {j}"),
            || {
                let pool = QueuePool::open(&self.path).map_err(failed)?;
                killpoint::die_at(j);
                let outcome = match case.ops[case.lead] {
                    Op::Add => added(&pool, ADDED).map(drop),
                    _ => pool.reclaim().map(drop),
                };
                killpoint::die_at(0);
                outcome.map_err(failed)
            },
        )
    }

    fn survivor(&self, case: &Case, k: u64, j: u64, done: usize) -> Outcome<()> {
        let name = format!("point {k}, finder {j}: the survivor");
        child(self.board, case.name, &name, || {
            let watch = Stopwatch::start();
            check_survivor(&self.path, &case.model, &case.ops, done, k ^ j)?;
            match watch.took_ns() {
                ..=PATIENCE_NS => Ok(()),
                took => Err(format!("it took {} ms", took / 1_000_000)),
            }
        })?;
        self.board.add(Count::Survived, 1);
        Ok(())
    }
}

/// What a survivor finds; `turn` says how it begins.
fn check_survivor(path: &Path, model: &Model, ops: &[Op], done: usize, turn: u64) -> Found<()> {
    let mut model = model.clone();
    let mut states = vec![model.clone()];
    for op in &ops[..(done + 1).min(ops.len())] {
        states = model.states(op);
        model = states.last().cloned().unwrap_or_default();
    }
    if done == ops.len() {
        states = vec![model];
    }
    let pool = QueuePool::open(path).map_err(failed)?;
    let queues = queues(&pool).map_err(failed)?;
    // The first to come finds the dead: here one that takes what was lost, there one that pops.
    let mut lost = Vec::new();
    if turn.is_multiple_of(2) {
        lost = pool.reclaim().map_err(failed)?;
    }
    let mut found = Model {
        has_added: pool.queues().len() > NAMES.len(),
        ..Model::default()
    };
    for (queue, into) in queues.iter().zip(&mut found.queues) {
        into.extend(drained(queue)?);
    }
    lost.extend(pool.reclaim().map_err(failed)?);
    let parts = |model: &Model| (model.queues.clone(), model.has_added);
    if !states.iter().any(|state| parts(state) == parts(&found)) {
        return Err(format!(
            "the queues hold {:?}, not {states:?}",
            parts(&found)
        ));
    }
    let in_queues = found.queues.iter().flatten().copied();
    let all: Vec<u32> = in_queues.chain(lost).collect();
    are_all(all.clone(), ELEMENTS)?;
    // Half of a name that was to be added may stand where another goes.
    let name = match found.has_added || turn.is_multiple_of(2) {
        true => ADDED,
        false => "another",
    };
    goes_through(&pool, name, &all)?;
    queues[1].push_many(&all).map_err(failed)?;
    whole(&pool)?;
    match queues[1].len() == ELEMENTS as usize {
        true => Ok(()),
        false => Err("what was pushed is not there".to_owned()),
    }
}

/// A queue that is there, or is added now.
fn added(pool: &QueuePool, name: &str) -> Result<Queue> {
    match pool.add_queue(name) {
        Err(Error::AlreadyThere { .. }) => pool.queue(name),
        added => added,
    }
}

/// The queue that was added, or is now, is the last and whole.
fn goes_through(pool: &QueuePool, name: &str, elements: &[u32]) -> Found<()> {
    let queue = added(pool, name).map_err(failed)?;
    queue.push_many(elements).map_err(failed)?;
    let (found, names) = (drained(&queue)?, pool.queues());
    match found == elements && names[..NAMES.len()] == NAMES && names[NAMES.len()..] == [name] {
        true => Ok(()),
        false => Err(format!("of {names:?} the last held {found:?}")),
    }
}

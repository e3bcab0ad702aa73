//! Operations on queues, and what they make of a model.

use super::{ADDED, queues};
use std::collections::VecDeque;
use std::path::Path;
use std::time::Duration;
use tavola::{Error, QueuePool, Result};

/// One call, by queues' numbers.
#[derive(Clone, Debug)]
pub(super) enum Op {
    /// Pushes so many of the elements held longest.
    Push(usize, usize),
    /// The same and one that is not held: nothing is pushed.
    PushWrong(usize, usize),
    Pop(usize, usize),
    Pass(usize, usize, usize),
    /// Waits in vain for something in an empty queue.
    Wait(usize),
    /// Adds a queue.
    Add,
    /// Takes what the dead held.
    Reclaim,
    Check,
    Repair,
}

/// What a pool should hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Model {
    pub(super) queues: [VecDeque<u32>; 3],
    /// Whether there is a fourth, which is empty.
    pub(super) has_added: bool,
    /// What the process holds.
    pub(super) held: VecDeque<u32>,
    /// What an earlier process held that is dead.
    pub(super) lost: Vec<u32>,
}

impl Model {
    fn take(&mut self, queue: usize, count: usize) -> Vec<u32> {
        let from = &mut self.queues[queue];
        from.drain(..count.min(from.len())).collect()
    }

    /// What it may be while the operation is under way, the last being what it makes of it.
    pub(super) fn states(&self, op: &Op) -> Vec<Self> {
        let mut next = self.clone();
        match op {
            Op::Push(to, count) => {
                let pushed = next.held.drain(..*count);
                next.queues[*to].extend(pushed);
            }
            Op::Pop(from, count) => {
                let popped = next.take(*from, *count);
                next.held.extend(popped);
            }
            Op::Pass(from, to, count) => {
                let passed = next.take(*from, *count);
                let mut between = next.clone();
                between.held.extend(&passed);
                next.queues[*to].extend(&passed);
                return vec![self.clone(), between, next];
            }
            Op::Add => next.has_added = true,
            Op::Reclaim => {
                let mut taken = std::mem::take(&mut next.lost);
                taken.sort_unstable();
                next.held.extend(taken);
            }
            Op::PushWrong(..) | Op::Wait(_) | Op::Check | Op::Repair => {}
        }
        vec![self.clone(), next]
    }
}

/// A process's place at a pool.
pub(super) struct Seat {
    pool: QueuePool,
    held: VecDeque<u32>,
}

impl Seat {
    pub(super) fn open(path: &Path) -> Result<Self> {
        let pool = QueuePool::open(path)?;
        // Attached before stores are counted.
        pool.lost()?;
        Ok(Self {
            pool,
            held: VecDeque::new(),
        })
    }

    /// Does an operation. Returns whether its answer was right.
    pub(super) fn apply(&mut self, op: &Op) -> Result<bool> {
        let queues = queues(&self.pool)?;
        match op {
            Op::Push(to, count) => {
                let elements: Vec<u32> = self.held.drain(..*count).collect();
                queues[*to].push_many(&elements)?;
            }
            Op::PushWrong(to, count) => {
                let mut elements: Vec<u32> = self.held.iter().copied().take(*count).collect();
                elements.push(self.held[0]);
                let refused = queues[*to].push_many(&elements);
                return Ok(matches!(refused, Err(Error::NotHeld { .. })));
            }
            Op::Pop(from, count) => {
                let mut run = vec![0; *count];
                let popped = queues[*from].pop_many(&mut run)?;
                self.held.extend(&run[..popped]);
            }
            Op::Pass(from, to, count) => {
                queues[*from].pass(&queues[*to], *count)?;
            }
            Op::Wait(from) => {
                return Ok(queues[*from].pop_wait(Duration::from_millis(1))?.is_none());
            }
            Op::Add => return Ok(self.pool.add_queue(ADDED)?.is_empty()),
            Op::Reclaim => self.held.extend(self.pool.reclaim()?),
            Op::Check => return Ok(self.pool.check()?.is_clean()),
            Op::Repair => {
                let table = tavola::Table::open(self.pool.path())?;
                return Ok(table.repair()?.is_clean());
            }
        }
        Ok(true)
    }
}

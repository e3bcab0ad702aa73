//! The way over three queues of a pool: what is measured.

use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use tavola::{Queue, QueueOptions, QueuePool};

use crate::queue::element;
use crate::queue::job::{Plan, Side};
use crate::queue::turns::Way;
use crate::{Error, Result};

const FREE: &str = "free";
const THERE: &str = "a2b";
const BACK: &str = "b2a";
/// How long a side sleeps at most that nobody wakes.
const NAP: Duration = Duration::from_millis(10);

/// One side's queues.
pub(in crate::queue) struct Pool {
    pool: QueuePool,
    free: Queue,
    from: Queue,
    to: Queue,
    end_mark: u32,
}

/// The pool that a plan needs: its elements and the end mark.
pub(in crate::queue) fn options(elements: u32, element_bytes: u32) -> QueueOptions {
    QueueOptions::new(elements + 1, element_bytes).queues([FREE, THERE, BACK])
}

/// After a game all elements are free again, and the pool is sound.
pub(in crate::queue) fn check(pool: &QueuePool) -> Result<()> {
    let wrong = |what: String| Err(Error::wrong("queue", what));
    let (free, all) = (pool.queue(FREE)?.len(), pool.elements() as usize);
    if free != all {
        return wrong(format!("{free} of {all} elements are free at the end"));
    }
    let report = pool.check()?;
    match report.problems.first() {
        Some(problem) => wrong(problem.clone()),
        None => Ok(()),
    }
}

impl Pool {
    /// The starter takes the end mark out, and gives every element its bytes.
    pub(in crate::queue) fn open(pool: QueuePool, side: Side, plan: &Plan) -> Result<Self> {
        let (from, to) = match side {
            Side::Starter => (BACK, THERE),
            Side::Returner => (THERE, BACK),
        };
        let mut way = Self {
            free: pool.queue(FREE)?,
            from: pool.queue(from)?,
            to: pool.queue(to)?,
            pool,
            end_mark: plan.end_mark(),
        };
        if side == Side::Starter {
            way.prepare()?;
        }
        Ok(way)
    }

    fn prepare(&mut self) -> Result<()> {
        let mut all = vec![0; self.pool.elements() as usize];
        let mut count = 0;
        while count < all.len() {
            match self.free.pop_many(&mut all[count..])? {
                0 => break,
                more => count += more,
            }
        }
        all.truncate(count);
        let mut bytes = vec![0; self.pool.element_bytes() as usize];
        for &element in &all {
            element::fill(&mut bytes, element);
            self.pool.write(element, 0, &bytes)?;
        }
        all.retain(|element| *element != self.end_mark);
        Ok(self.free.push_many(&all)?)
    }
}

impl Way for Pool {
    #[inline]
    fn fresh(&mut self, out: &mut [u32]) -> Result<usize> {
        Ok(self.free.pop_many(out)?)
    }

    #[inline]
    fn take(&mut self, out: &mut [u32]) -> Result<usize> {
        Ok(self.from.pop_many(out)?)
    }

    fn wait_and_take(&mut self, out: &mut [u32]) -> Result<usize> {
        Ok(self.from.pop_many_wait(out, NAP)?)
    }

    #[inline]
    fn send(&mut self, run: &[u32]) -> Result<()> {
        Ok(self.to.push_many(run)?)
    }

    fn send_end(&mut self) -> Result<()> {
        Ok(self.to.push(self.end_mark)?)
    }

    #[inline]
    fn touch(&mut self, run: &[u32]) -> bool {
        // In place, and all of the run whatever is found: so the lines of several come at once.
        run.iter().fold(true, |all, &element| {
            all & element::are_touched(self.pool.words(element), element)
        })
    }

    fn touches(&mut self, _: usize, element: u32) -> u32 {
        element::touches(self.pool.words(element)[0].load(Relaxed))
    }

    fn put_away(&mut self, elements: &[u32]) -> Result<()> {
        self.free.push_many(elements)?;
        Ok(self.free.push(self.end_mark)?)
    }
}

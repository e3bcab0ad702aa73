//! One queue, as a user has it open.

use super::handle::PoolInner;
use crate::error::Result;
use crate::lock::{sleep, wake};
use crate::queue::{Announced, RUN};
use crate::sync::spin_hint;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The longest that a waiter sleeps before it checks the queue by itself: if a pusher is killed
/// before it wakes the waiters, they are delayed by this much.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// The pause between two checks while a pusher holds the lock, as it may be stopped.
const PAUSE: Duration = Duration::from_millis(if cfg!(feature = "shuttle") { 0 } else { 1 });
/// How often to check an empty queue before sleeping, which takes some microseconds.
const SPINS: u32 = if cfg!(feature = "shuttle") { 1 } else { 100 };

/// A queue of elements, first in, first out; from [`QueuePool::queue`](crate::QueuePool::queue).
///
/// # Concurrency
/// Any number of threads and processes can push and pop at the same time. Push and pop each take a
/// short lock. If a process dies or is stopped while it holds the lock, others wait until its death
/// is noticed (about 10 ms), or until it continues, whatever their timeout. A pop from an empty
/// queue takes no lock.
#[derive(Clone)]
pub struct Queue {
    pub(super) pool: Arc<PoolInner>,
    number: u32,
}

impl Queue {
    pub(super) fn new(pool: Arc<PoolInner>, number: u32) -> Self {
        Self { pool, number }
    }

    /// Adds an element that this process holds. The process then no longer holds it.
    ///
    /// # Errors
    /// [`Error::NotHeld`](crate::Error::NotHeld); [`Error::ReadOnly`](crate::Error::ReadOnly);
    /// [`Error::Reentrant`](crate::Error::Reentrant) in a signal handler that interrupted a push,
    /// pop or write of its thread; at the first write of a process, the errors of attaching, see
    /// [`Table::set`](crate::Table::set).
    pub fn push(&self, element: u32) -> Result<()> {
        self.push_many(&[element])
    }

    /// Adds elements in this order. Each batch of 1024 becomes visible in one step.
    ///
    /// # Errors
    /// As [`Queue::push`]. Earlier batches of 1024 are then in the queue; the other elements are
    /// still held.
    #[inline]
    pub fn push_many(&self, elements: &[u32]) -> Result<()> {
        let me = self.pool.core.writer()?;
        let ends = self.pool.ends(self.number);
        for run in elements.chunks(RUN) {
            if ends.push(me, run)? {
                wake(&ends.head.pushes, run.len() as u32);
            }
        }
        Ok(())
    }

    /// Removes and returns the first element, or `None` if the queue is empty.
    ///
    /// # Errors
    /// As [`Queue::push`]; [`Error::Corrupt`](crate::Error::Corrupt).
    pub fn pop(&self) -> Result<Option<u32>> {
        let mut element = [0];
        Ok((self.pop_many(&mut element)? == 1).then_some(element[0]))
    }

    /// Removes elements from the front into `out`, at most 1024, and returns how many.
    ///
    /// # Errors
    /// As [`Queue::pop`].
    #[inline]
    pub fn pop_many(&self, out: &mut [u32]) -> Result<usize> {
        let me = self.pool.core.writer()?;
        self.pool.ends(self.number).pop(me, out)
    }

    /// Removes and returns the first element; if the queue is empty, waits for one, at most for
    /// `timeout`.
    ///
    /// # Errors
    /// As [`Queue::pop`].
    pub fn pop_wait(&self, timeout: Duration) -> Result<Option<u32>> {
        let mut element = [0];
        Ok((self.pop_many_wait(&mut element, timeout)? == 1).then_some(element[0]))
    }

    /// Removes elements as [`Queue::pop_many`]; if the queue is empty, waits for one, at most for
    /// `timeout`. Returns 0 after the timeout.
    ///
    /// # Errors
    /// As [`Queue::pop`].
    pub fn pop_many_wait(&self, out: &mut [u32], timeout: Duration) -> Result<usize> {
        let mut wait = Wait::new(timeout);
        loop {
            match self.pop_many(out)? {
                0 if !out.is_empty() && self.wait(&mut wait)? => {}
                count => {
                    self.woken(&wait);
                    return Ok(count);
                }
            }
        }
    }

    /// Pops at most `most` elements (up to 1024), pushes them to another queue of the pool, and
    /// returns how many.
    ///
    /// # Errors
    /// As [`Queue::pop`]. [`Error::NotHeld`](crate::Error::NotHeld): if another thread has just
    /// pushed one of them, or the pool is damaged. The other elements are then at the end of this
    /// queue, and no element is in the other queue.
    ///
    /// # Panics
    /// If the other queue belongs to another pool, or to another handle of the pool.
    ///
    /// # Crash
    /// In between, this process holds the elements, as if it had popped them.
    pub fn pass(&self, to: &Queue, most: usize) -> Result<usize> {
        assert!(
            self.pool.is_same(&to.pool),
            "elements can only be passed within one pool"
        );
        let mut run = [0; RUN];
        let count = self.pop_many(&mut run[..most.min(RUN)])?;
        self.pass_to(to, &run[..count])?;
        Ok(count)
    }

    /// Pushes elements that were popped here to another queue, or back to this one if that fails.
    fn pass_to(&self, to: &Queue, run: &[u32]) -> Result<()> {
        to.push_many(run).inspect_err(|_| {
            for element in run {
                // This fails for an element that this process no longer holds, and rightly so.
                let _ = self.push(*element);
            }
        })
    }

    /// Passes elements as [`Queue::pass`]; if the queue is empty, waits for one, at most for
    /// `timeout`.
    ///
    /// # Errors
    /// As [`Queue::pop`].
    ///
    /// # Panics
    /// As [`Queue::pass`].
    pub fn pass_wait(&self, to: &Queue, most: usize, timeout: Duration) -> Result<usize> {
        let mut wait = Wait::new(timeout);
        loop {
            match self.pass(to, most)? {
                0 if most > 0 && self.wait(&mut wait)? => {}
                count => {
                    self.woken(&wait);
                    return Ok(count);
                }
            }
        }
    }

    /// Returns the number of elements at the moment.
    pub fn len(&self) -> usize {
        self.pool.ends(self.number).len() as usize
    }

    /// Returns whether the queue is empty at the moment.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(super) fn path(&self) -> &std::path::Path {
        self.pool.core.path()
    }

    /// Waits for an element. Returns false if the time is over.
    pub(super) fn wait(&self, wait: &mut Wait) -> Result<bool> {
        let me = self.pool.core.writer()?;
        let ends = self.pool.ends(self.number);
        let left = wait.left();
        if left.is_zero() {
            return Ok(false);
        }
        for _ in 0..SPINS {
            if ends.len() != 0 {
                return Ok(true);
            }
            spin_hint();
        }
        match ends.announce(me) {
            Announced::There => {}
            Announced::Until(pushes) => {
                wait.has_slept = true;
                sleep(&ends.head.pushes, pushes, left.min(POLL_INTERVAL));
            }
            Announced::NotNow => std::thread::sleep(left.min(PAUSE)),
        }
        Ok(true)
    }

    /// Must be called at the end of a wait: wakes the next waiter if there are more elements, or
    /// lets the next push do so.
    pub(super) fn woken(&self, wait: &Wait) {
        if let (true, Ok(me)) = (wait.has_slept, self.pool.core.writer()) {
            let ends = self.pool.ends(self.number);
            if ends.pass_on(me) {
                wake(&ends.head.pushes, 1);
            }
        }
    }

    /// Wakes all waiters; they check the queue, and sleep again.
    pub(super) fn stir(&self) {
        wake(&self.pool.ends(self.number).head.pushes, u32::MAX);
    }
}

/// A wait with a deadline.
pub(super) struct Wait {
    /// The end of the wait. `None` means a time later than the clock can express.
    until: Option<Instant>,
    /// Whether the thread has slept.
    has_slept: bool,
}

impl Wait {
    pub(super) fn new(timeout: Duration) -> Self {
        Self {
            until: Instant::now().checked_add(timeout),
            has_slept: false,
        }
    }

    fn left(&self) -> Duration {
        match self.until {
            Some(until) => until.saturating_duration_since(Instant::now()),
            None => POLL_INTERVAL,
        }
    }
}

impl std::fmt::Debug for Queue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Queue")
            .field("path", &self.path())
            .field("number", &self.number)
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use crate::error::Error;
    use crate::table::{QueueOptions, Table};

    #[test]
    fn what_cannot_be_passed_is_in_its_queue_again() {
        let table = Table::options().max_size(4 << 20).private().unwrap();
        let options = QueueOptions::new(10, 8).queues(["free", "todo"]);
        let pool = options.create_in(&table, "pool").unwrap();
        let [free, todo] = ["free", "todo"].map(|name| pool.queue(name).unwrap());
        let mut run = [0; 4];
        assert_eq!(free.pop_many(&mut run).unwrap(), 4);
        // As if another thread had pushed the third element meanwhile.
        free.push(run[2]).unwrap();
        let refused = free.pass_to(&todo, &run).unwrap_err();
        assert!(matches!(refused, Error::NotHeld { element } if element == run[2]));
        assert_eq!((free.len(), todo.len()), (10, 0));
        assert!(table.check().unwrap().is_clean());
    }
}

//! The connections to one server: how many there are, and which are free.

use crate::conn::{Conn, Opening};
use crate::fork::{self, Process};
use crate::sync::{Condvar, Mutex, MutexGuard};
use std::mem;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

/// A connection that was free for longer is looked at before it is used.
const FRESH: Duration = Duration::from_secs(1);

/// The connections to one server. The last one given back is the first to be taken.
#[derive(Debug)]
pub(crate) struct Pool {
    state: Mutex<PoolState>,
    freed: Condvar,
    most: usize,
}

/// The connections of a pool, behind its lock.
#[derive(Debug)]
struct PoolState {
    #[expect(
        clippy::vec_box,
        reason = "connections move between calls, which have them boxed"
    )]
    idle: Vec<Box<Conn>>,
    /// All connections, free, used and in the making.
    count: usize,
    /// Threads that wait for one. To wake nobody would cost a system call.
    waiting: usize,
}

/// The right to one connection. If it is dropped, its connection is closed.
#[derive(Debug)]
pub(crate) struct Lease<'p> {
    pool: &'p Pool,
    owner: Process,
    pub(crate) held: Link,
}

/// What a lease has.
#[derive(Debug)]
pub(crate) enum Link {
    None,
    Opening(Opening),
    Open(Box<Conn>),
}

impl Pool {
    pub(crate) fn new(most: usize) -> Self {
        Self {
            state: Mutex::new(PoolState {
                idle: Vec::new(),
                count: 0,
                waiting: 0,
            }),
            freed: Condvar::new(),
            most,
        }
    }

    fn lock(&self) -> MutexGuard<'_, PoolState> {
        // No code of others runs under the lock, so nothing is half done.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wake_one(&self, state: &PoolState) {
        if state.waiting > 0 {
            self.freed.notify_one();
        }
    }

    /// Takes a free connection, or the right to make one; waits for it if there are too many.
    pub(crate) fn take(&self, now: Instant, deadline: Instant) -> Option<Lease<'_>> {
        let mut state = self.lock();
        loop {
            if let Some(mut conn) = state.idle.pop() {
                let since = conn.idle_since;
                if since.is_some_and(|since| now.saturating_duration_since(since) > FRESH)
                    && !conn.is_alive()
                {
                    state.count -= 1;
                    continue;
                }
                let held = Link::Open(conn);
                return Some(Lease::new(self, held));
            }
            if state.count < self.most {
                state.count += 1;
                let held = Link::None;
                return Some(Lease::new(self, held));
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return None;
            }
            state.waiting += 1;
            let waited = self.freed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            state.waiting -= 1;
        }
    }

    /// Takes a connection that was made elsewhere in.
    pub(crate) fn add(&self, conn: Box<Conn>) {
        let mut state = self.lock();
        if state.count < self.most {
            state.count += 1;
            state.idle.push(conn);
            self.wake_one(&state);
        }
    }

    /// Closes the free connections.
    pub(crate) fn close_idle(&self) {
        let mut state = self.lock();
        let idle = mem::take(&mut state.idle);
        state.count -= idle.len();
        drop(state);
        self.freed.notify_all();
    }

    /// Closes the free connections of another process, which cannot be waited for.
    pub(crate) fn abandon(&self) {
        if let Ok(mut state) = self.state.try_lock() {
            state.idle.clear();
        }
    }
}

impl<'p> Lease<'p> {
    fn new(pool: &'p Pool, held: Link) -> Self {
        let owner = fork::process();
        Self { pool, owner, held }
    }

    /// Gives the connection back, if it is certain that no answer is outstanding; at `now`, or a
    /// little later.
    pub(crate) fn give_back(mut self, now: Instant) {
        if let Link::Open(mut conn) = mem::replace(&mut self.held, Link::None)
            && conn.is_quiet()
        {
            conn.idle_since = Some(now);
            let mut state = self.pool.lock();
            state.idle.push(conn);
            self.pool.wake_one(&state);
            drop(state);
            // The count stays.
            mem::forget(self);
        }
    }
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        // In a forked child the lock may be held by a thread that is not there.
        if self.owner == fork::process() {
            let mut state = self.pool.lock();
            state.count -= 1;
            #[cfg(all(test, feature = "shuttle"))]
            if crate::models::is_made(crate::models::Mistake::WakesNobody) {
                return;
            }
            self.pool.wake_one(&state);
        }
    }
}

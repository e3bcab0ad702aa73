//! A gate that one thread of this process passes at a time, to attach, or to reclaim what a dead
//! participant left. Record locks belong to the open file, so they do not keep the threads of one
//! process apart.
//!
//! The word holds the generation of the process whose thread is inside. A forked child inherits the
//! word, but not the thread. To the child the word is another generation's, so the gate counts as
//! open; a mutex of the standard library would stay locked forever.

use super::{GATE, HELD};
use crate::error::{Error, Result};
use crate::sync::{Ordering, W64, handler_fence};
use crate::sys::process::generation;

/// The gate, in process memory.
pub(crate) struct Gate(W64);

/// Proof that this thread is inside; dropping it opens the gate.
pub(crate) struct GateGuard<'a>(&'a Gate);

impl Gate {
    pub(crate) const fn new() -> Self {
        Self(W64::new(0))
    }

    /// Passes the gate if no thread is inside.
    pub(crate) fn try_enter(&self) -> Option<GateGuard<'_>> {
        let seen = self.0.load(Ordering::Relaxed);
        let mine = generation();
        let held = HELD.get();
        // A handler may interrupt its thread while that is about to pass the gate. If the handler
        // passed, it would remove the note of its thread when it leaves.
        if held & GATE != 0 || seen == mine {
            return None;
        }
        // Before the word: a handler that interrupts us in between would wait for its own thread.
        HELD.set(held | GATE);
        handler_fence();
        // Pairs with the release in `drop`.
        if self.0.cas(seen, mine, Ordering::Acquire).is_err() {
            HELD.set(held);
            return None;
        }
        Some(GateGuard(self))
    }

    /// Passes the gate, after waiting for the thread that is inside.
    ///
    /// # Errors
    /// [`Error::Reentrant`] if this very thread is inside, interrupted by a signal handler.
    pub(crate) fn enter(&self) -> Result<GateGuard<'_>> {
        loop {
            if let Some(inside) = self.try_enter() {
                return Ok(inside);
            }
            if HELD.get() & GATE != 0 {
                return Err(Error::Reentrant);
            }
            std::thread::yield_now();
        }
    }
}

impl Drop for GateGuard<'_> {
    fn drop(&mut self) {
        self.0.0.store(0, Ordering::Release);
        handler_fence();
        HELD.set(HELD.get() & !GATE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_at_a_time_and_not_the_same_thread_twice() {
        let gate = Gate::new();
        let inside = gate.try_enter().unwrap();
        assert!(gate.try_enter().is_none());
        assert!(matches!(gate.enter(), Err(Error::Reentrant)));
        // What a handler finds if its thread is about to pass the gate of another table.
        assert!(matches!(Gate::new().enter(), Err(Error::Reentrant)));
        drop(inside);
        drop(gate.enter().unwrap());
        assert!(gate.try_enter().is_some());
    }
}

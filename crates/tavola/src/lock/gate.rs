//! A gate one thread of this process passes at a time: attaching, and settling the estates of the
//! dead. Record locks belong to the open file, so they do not keep our own threads apart.
//!
//! The word holds the generation of the process whose thread is inside. A forked child inherits it,
//! not the thread: another generation's word counts as open, where a mutex of the standard library
//! would stay shut for ever.

use super::{GATE, HELD};
use crate::error::{Error, Result};
use crate::sync::{Ordering, W64, handler_fence};
use crate::sys::process::generation;

/// The gate; process memory.
pub(crate) struct Gate(W64);

/// Who is inside; dropped, the gate opens.
pub(crate) struct Inside<'a>(&'a Gate);

impl Gate {
    pub(crate) const fn new() -> Self {
        Self(W64::new(0))
    }

    /// Passes the gate if nobody is inside.
    pub(crate) fn try_enter(&self) -> Option<Inside<'_>> {
        let seen = self.0.load(Ordering::Relaxed);
        let mine = generation();
        let held = HELD.get();
        // A handler that passed while its thread is about to would take the note away.
        if held & GATE != 0 || seen == mine {
            return None;
        }
        // Before the word: a handler that comes in between would wait for its own thread.
        HELD.set(held | GATE);
        handler_fence();
        // Pairs with the release in `drop`.
        if self.0.cas(seen, mine, Ordering::Acquire).is_err() {
            HELD.set(held);
            return None;
        }
        Some(Inside(self))
    }

    /// Passes the gate, waiting for who is inside.
    ///
    /// # Errors
    /// [`Error::Reentrant`] when it is this very thread, interrupted by a signal handler.
    pub(crate) fn enter(&self) -> Result<Inside<'_>> {
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

impl Drop for Inside<'_> {
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
        // As a handler finds it whose thread is about to pass the gate of another table.
        assert!(matches!(Gate::new().enter(), Err(Error::Reentrant)));
        drop(inside);
        drop(gate.enter().unwrap());
        assert!(gate.try_enter().is_some());
    }
}

//! The turn: a lock that a transaction holds while its user's code runs. It guards nothing: all
//! writes of a transaction are its own until it commits. Transactions that hold it in turn do not
//! conflict with each other.

#[cfg(not(feature = "shuttle"))]
use super::HELD;
use super::{Held, Me, TURN};
use crate::error::Result;
use crate::region::Region;
#[cfg(not(feature = "shuttle"))]
use crate::sync::handler_fence;
use crate::sys::process::generation;
#[cfg(not(feature = "shuttle"))]
use std::cell::Cell;

#[cfg(not(feature = "shuttle"))]
thread_local! {
    /// The process generation in which this thread has noted its turn. In another one, the note is
    /// a copy of the parent's.
    static NOTED_IN: Cell<u64> = const { Cell::new(0) };
}

/// Proof that it is this thread's turn.
pub(crate) struct Turn<'a> {
    /// Taken out only when it is dropped.
    held: Option<Held<'a>>,
    /// The process generation that has the turn. In another one this is a forked child.
    generation: u64,
}

impl<'a> Turn<'a> {
    /// Waits for the turn. There is nothing to recover of an owner that died.
    pub(crate) fn acquire(region: &'a Region, me: Me) -> Result<Self> {
        forget_turn_of_parent();
        let (held, _) = Held::acquire(region, &region.superblock().turn, me, TURN)?;
        let generation = generation();
        note(generation);
        Ok(Self {
            held: Some(held),
            generation,
        })
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        // The turn is the parent's: the child only has a copy of its note.
        if self.generation != generation()
            && let Some(held) = self.held.take()
        {
            forget_turn_of_parent();
            std::mem::forget(held);
        }
    }
}

#[cfg(not(feature = "shuttle"))]
fn note(generation: u64) {
    NOTED_IN.set(generation);
}

/// In a forked child, removes the copy of its parent's note. The child may have a turn of its own,
/// which stays.
#[cfg(not(feature = "shuttle"))]
fn forget_turn_of_parent() {
    if HELD.get() & TURN != 0 && NOTED_IN.get() != generation() {
        handler_fence();
        HELD.set(HELD.get() & !TURN);
    }
}

/// No model forks.
#[cfg(feature = "shuttle")]
fn note(_: u64) {}

#[cfg(feature = "shuttle")]
fn forget_turn_of_parent() {}

//! The turn: a lock that a transaction holds while its user's code runs. It guards nothing: all
//! writes of a transaction are its own until it commits. Transactions that hold it in turn do not
//! conflict with each other.

use super::{HELD, Held, Me, TURN};
use crate::error::Result;
use crate::region::Region;
use crate::sync::handler_fence;
use crate::sys::process::generation;

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
        let (held, _) = Held::acquire(region, &region.superblock().turn, me, TURN)?;
        Ok(Self {
            held: Some(held),
            generation: generation(),
        })
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        // The turn is the parent's: the child only has a copy of its note.
        if self.generation != generation()
            && let Some(held) = self.held.take()
        {
            handler_fence();
            HELD.set(HELD.get() & !TURN);
            std::mem::forget(held);
        }
    }
}

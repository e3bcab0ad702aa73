//! The turn: a lock that a transaction holds while its user's code runs. It guards nothing: all
//! writes of a transaction are its own until it commits. Transactions that hold it in turn do not
//! conflict with each other.

use super::{Held, Me, TURN};
use crate::error::Result;
use crate::region::Region;

/// Proof that it is this thread's turn.
pub(crate) struct Turn<'a> {
    _held: Held<'a>,
}

impl<'a> Turn<'a> {
    /// Waits for the turn. There is nothing to recover of an owner that died.
    pub(crate) fn acquire(region: &'a Region, me: Me) -> Result<Self> {
        let (held, _) = Held::acquire(region, &region.superblock().turn, me, TURN)?;
        Ok(Self { _held: held })
    }
}

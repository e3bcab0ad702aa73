//! What a read needs of its process for a large item, whose chain it pins.

use super::hash::Hash;
use crate::alloc::Item;
use crate::error::Result;

/// Takes what is wanted of an item; false: it could not be followed.
pub(crate) type Take<'t> = &'t mut dyn FnMut(&Item<'_>) -> bool;

/// Where a read may pin, and how it goes on where it cannot.
pub(crate) trait Seat {
    /// Makes the process a participant, if it may be one and is not yet.
    fn take(&self);

    /// Looks a key up under its shard's lock, as copies without it were spoiled again and again.
    /// `None`: it may not lock, or the lock is not to be had.
    ///
    /// # Errors
    /// As [`read`](super::read).
    fn read_locked(&self, key: &[u8], hash: Hash, take: Take<'_>) -> Result<Option<bool>>;
}

/// Of a process that pins where it is a participant already, and never locks.
pub(crate) struct AsItIs;

impl Seat for AsItIs {
    fn take(&self) {}

    fn read_locked(&self, _: &[u8], _: Hash, _: Take<'_>) -> Result<Option<bool>> {
        Ok(None)
    }
}

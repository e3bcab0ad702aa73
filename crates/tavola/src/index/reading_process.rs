//! What a read of a large item needs from its process. It pins the item's chain in the process's
//! own participant slot; without one, it copies again and again, and in the end takes the shard's
//! lock.

use super::hash::Hash;
use crate::alloc::Item;
use crate::error::Result;

/// Takes what is wanted of an item. Returns false if the item could not be followed.
pub(crate) type Take<'t> = &'t mut dyn FnMut(&Item<'_>) -> bool;

/// Access to the participant slot in which a read pins, and a fallback for a read that cannot pin.
pub(crate) trait ReadingProcess {
    /// Makes the process a participant, if it may be one and is not one yet.
    fn attach(&self);

    /// Looks a key up under its shard's lock, after copies without the lock were invalid several
    /// times. Returns `None` if the process may not lock, or the lock is not available.
    ///
    /// # Errors
    /// As [`read`](super::read).
    fn read_locked(&self, key: &[u8], hash: Hash, take: Take<'_>) -> Result<Option<bool>>;
}

/// A process that pins if it already is a participant, and never locks.
pub(crate) struct AsItIs;

impl ReadingProcess for AsItIs {
    fn attach(&self) {}

    fn read_locked(&self, _: &[u8], _: Hash, _: Take<'_>) -> Result<Option<bool>> {
        Ok(None)
    }
}

//! The locks of a journal: one of the records in memory, which is taken under a shard's lock, and
//! those of the files, which are held across system calls.

use super::{FILE, Held, JOURNAL, Me, Taken, is_alive, owner_of};
use crate::error::Result;
use crate::region::Region;
use crate::sync::W32;

/// Proof that the records in memory are locked. It is the innermost lock, like the pool's.
pub(crate) struct JournalLock<'a> {
    _held: Held<'a>,
}

impl<'a> JournalLock<'a> {
    /// Locks the records. After [`Taken::FromDead`] the caller must finish the change of the last
    /// record before anything else.
    pub(crate) fn acquire(region: &'a Region, me: Me) -> Result<(Self, Taken)> {
        let head = region.journal_head(region.journal());
        let (held, taken) = Held::acquire(region, &head.lock, me, JOURNAL)?;
        Ok((Self { _held: held }, taken))
    }
}

/// Proof that a lock of the files is held.
pub(crate) struct FileLock<'a> {
    _held: Held<'a>,
}

impl<'a> FileLock<'a> {
    /// Waits for a lock of the files.
    pub(crate) fn acquire(region: &'a Region, word: &'a W32, me: Me) -> Result<(Self, Taken)> {
        let (held, taken) = Held::acquire(region, word, me, FILE)?;
        Ok((Self { _held: held }, taken))
    }

    /// Waits for one more, under another one.
    pub(crate) fn acquire_next(region: &'a Region, word: &'a W32, me: Me) -> Result<(Self, Taken)> {
        let (held, taken) = Held::acquire_next(region, word, me, FILE)?;
        Ok((Self { _held: held }, taken))
    }

    /// Takes a lock of the files if it is free or its owner is dead, without a note: its holder may
    /// take the others.
    pub(crate) fn try_unnoted(region: &'a Region, word: &'a W32, me: Me) -> Result<Option<Self>> {
        let owner = owner_of(word);
        if owner != 0 && is_alive(region, owner, me) {
            return Ok(None);
        }
        let (held, _) = Held::acquire_next(region, word, me, FILE)?;
        Ok(Some(Self { _held: held }))
    }

    /// Takes a lock of the files if it is free.
    pub(crate) fn try_acquire(word: &'a W32, me: Me) -> Option<Self> {
        let held = Held::try_acquire(word, me, FILE)?;
        Some(Self { _held: held })
    }
}

//! Touching, deleting and flushing, for all protocols.

use tavola::{CasOutcome, CasToken, Expiry, Result};

use super::tally::Event;
use super::work::Work;

/// Gives a key another time; false: it is missing.
pub(super) fn touch(work: &Work, key: &[u8], expiry: Expiry) -> Result<bool> {
    let found = work.table().touch(key, expiry)?;
    work.count(if found {
        Event::TouchHit
    } else {
        Event::TouchMiss
    });
    Ok(found)
}

/// Removes a key; false: it is missing.
pub(super) fn delete(work: &Work, key: &[u8]) -> Result<bool> {
    let found = work.table().remove(key)?;
    work.count(if found {
        Event::DeleteHit
    } else {
        Event::DeleteMiss
    });
    Ok(found)
}

/// What became of a key that was to be deleted at one unique number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Deleted {
    Done,
    Missing,
    Exists,
}

/// Removes a key that has this unique number.
pub(super) fn delete_at(work: &Work, key: &[u8], cas: u64) -> Result<Deleted> {
    let deleted = match work.table().compare_and_remove(key, CasToken(cas))? {
        CasOutcome::Swapped => Deleted::Done,
        CasOutcome::Missing => Deleted::Missing,
        CasOutcome::Changed => Deleted::Exists,
    };
    work.count(if deleted == Deleted::Done {
        Event::DeleteHit
    } else {
        Event::DeleteMiss
    });
    Ok(deleted)
}

/// Removes all keys when the time has come.
pub(super) fn flush(work: &Work, time: Expiry) -> Result<()> {
    work.count(Event::Flush);
    work.shared.flush.ask(work.table(), time)
}

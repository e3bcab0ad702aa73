//! Touching, deleting and flushing, for all protocols.

use tavola::{Expiry, Result};

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

/// Removes all keys when the time has come.
pub(super) fn flush(work: &Work, time: Expiry) -> Result<()> {
    work.count(Event::Flush);
    work.shared.flush.ask(work.table(), time)
}

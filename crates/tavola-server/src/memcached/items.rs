//! Touching, deleting and flushing, for all protocols.

use tavola::{Error, Expiry, Result};

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

enum Stop {
    Table(Error),
    Exists,
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Table(error)
    }
}

/// Removes a key that has this unique number.
pub(super) fn delete_at(work: &Work, key: &[u8], cas: u64) -> Result<Deleted> {
    let mut value = Vec::new();
    let taken = work.table().try_take(key, &mut value, |value| {
        if work.cas_of(value)? == cas {
            Ok(())
        } else {
            Err(Stop::Exists)
        }
    });
    let deleted = match taken {
        Ok(true) => Deleted::Done,
        Ok(false) => Deleted::Missing,
        Err(Stop::Exists) => Deleted::Exists,
        Err(Stop::Table(error)) => return Err(error),
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

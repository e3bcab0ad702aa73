//! Touching, deleting and flushing, for all protocols.

use tavola::{CasOutcome, CasToken, Expiry, Result};

use super::tally::Event;
use super::work::Work;

/// Changes the expiry of a key. Returns false if the key is missing.
pub(super) fn touch(work: &Work, key: &[u8], expiry: Expiry) -> Result<bool> {
    work.log_lookup(key)?;
    let found = work.table().touch(key, expiry)?;
    if found && let Some((_, details)) = work.table().get_entry_to_slice(key, &mut [])? {
        work.used(key, &details);
    }
    work.count(if found {
        Event::TouchHit
    } else {
        Event::TouchMiss
    });
    Ok(found)
}

/// Removes a key. Returns false if the key is missing. Watchers see `command`.
pub(super) fn delete(work: &Work, key: &[u8], command: &str) -> Result<bool> {
    work.deletes(key);
    work.log_lookup(key)?;
    let found = if work.has_deletion_watchers() {
        let taken = work.table().take(key)?;
        if let Some(value) = &taken {
            let watchers = &work.shared.watchers;
            watchers.deleted(key, command, value.len());
        }
        taken.is_some()
    } else {
        work.table().remove(key)?
    };
    work.count(if found {
        Event::DeleteHit
    } else {
        Event::DeleteMiss
    });
    Ok(found)
}

/// The result of deleting a key of one unique number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Deleted {
    Done,
    Missing,
    Exists,
}

/// Removes a key if its item has this unique number.
pub(super) fn delete_at(work: &Work, key: &[u8], cas: u64, command: &str) -> Result<Deleted> {
    work.deletes(key);
    work.log_lookup(key)?;
    let size_bytes = if work.has_deletion_watchers() {
        work.table().get(key)?.map_or(0, |value| value.len())
    } else {
        0
    };
    let deleted = match work.table().compare_and_remove(key, CasToken(cas))? {
        CasOutcome::Swapped => {
            work.shared.watchers.deleted(key, command, size_bytes);
            Deleted::Done
        }
        CasOutcome::NotFound => Deleted::Missing,
        CasOutcome::Changed => Deleted::Exists,
    };
    work.count(if deleted == Deleted::Done {
        Event::DeleteHit
    } else {
        Event::DeleteMiss
    });
    Ok(deleted)
}

/// Removes all keys at a time, or at once if it has come.
pub(super) fn flush(work: &Work, time: Expiry) -> Result<()> {
    work.count(Event::Flush);
    work.shared.flush.ask(work.table(), time)
}

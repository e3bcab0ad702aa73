//! Raising `max_size`. The file becomes longer first, and then the limit rises, under the pool's
//! lock: so no page below the limit lies outside the file.

use super::pool::lock;
use crate::error::{Error, Result};
use crate::layout::{MAX_SIZE, PAGE, PagesWord};
use crate::lock::Me;
use crate::region::{Region, explained};
use crate::sync::Ordering;
use std::path::Path;

/// Raises `max_size` for all processes that use the table. Call without locks.
///
/// A death between the two steps leaves a file that is longer than the limit, which is harmless: no
/// process uses a page at or above the limit, and the next raise starts from there.
pub(crate) fn raise_max_size(region: &Region, me: Me, bytes: u64) -> Result<()> {
    let bad = |why| {
        Err(Error::BadOption {
            option: "max_size",
            why,
        })
    };
    if bytes > MAX_SIZE {
        return bad(format!("{bytes} is not between 1 MiB and 4 TiB"));
    }
    let bytes = bytes.next_multiple_of(PAGE);
    let lock = lock(region, me)?;
    let now = region.max_size();
    if bytes < now {
        return bad(format!(
            "{bytes} is less than the current {now} bytes, and max_size can only be raised; for \
            a smaller one, load the keys into a new table"
        ));
    }
    let room = region.geometry().room;
    let limit = match region.geometry().limit_of(bytes) {
        Some(limit) => limit.max(region.limit()),
        None => {
            return bad(format!(
                "{bytes} exceeds {room} bytes, the limit set when this table was created; create \
                a table with a larger max_size and copy the keys (tavola dump, tavola load)"
            ));
        }
    };
    region.lengthen(limit).map_err(|source| {
        let path = region.file().map(|file| file.path());
        explained(
            "making the table's file longer",
            path.unwrap_or(Path::new("")),
            source,
        )
    })?;
    store(region, limit, (bytes / PAGE) as u32);
    drop(lock);
    Ok(())
}

/// Stores the limit, which must not be above the file's length: other processes use pages below it
/// at once.
fn store(region: &Region, limit: u32, max_pages: u32) {
    let pool = region.pool();
    pool.limit
        .store(PagesWord::encode(limit), Ordering::Release);
    pool.max_size
        .store(PagesWord::encode(max_pages), Ordering::Relaxed);
}

/// Returns what is wrong with the two words, as a sentence. Under the pool's lock.
pub(crate) fn damaged_max_size(region: &Region) -> Option<&'static str> {
    match (region.stored_limit(), region.stored_max_size()) {
        (None, _) => Some("the word of the limit is damaged; repair makes it the file's length"),
        (_, None) => Some("the word of max_size is damaged; repair makes it what is in force"),
        (Some(limit), _) if limit > region.file_limit() => {
            Some("the file is shorter than its limit; it was cut while it was in use")
        }
        _ => None,
    }
}

/// Repairs damaged words: they get the values that are in force. Under the pool's lock.
pub(super) fn mend(region: &Region) {
    if region.stored_limit().is_none() || region.stored_max_size().is_none() {
        let limit = region.limit();
        store(region, limit, region.stored_max_size().unwrap_or(limit));
    }
}

//! `md`.

use tavola::serving::Marks;
use tavola::{Attributes, CasToken, Condition, Details, Error, Result, StoreOptions, Stored};
use tavola_proto::KeyRoom;
use tavola_proto::meta::{Flags, Item, Request, Status, answer};

use super::{ANSWER_BYTES, version_of};
use crate::memcached::exptime;
use crate::memcached::failure;
use crate::memcached::items::{self, Deleted};
use crate::memcached::marks::{STALE, TOKEN_SENT};
use crate::memcached::tally::Event;
use crate::memcached::watch;
use crate::memcached::work::Work;
use crate::net::Output;

pub(super) fn carry_out(
    work: &mut Work,
    request: &Request<'_>,
    item: &Item<'_>,
    output: &mut Output,
) {
    let mut room = KeyRoom::default();
    let key = item.key.bytes(&mut room);
    let deleted = if item.flags.has(b'x') || item.flags.has(b'I') {
        let mut value = work.borrow_value();
        let changed = change(work, &item.flags, key, &mut value);
        work.give_back(value);
        changed
    } else {
        delete(work, &item.flags, key)
    };
    match deleted {
        Ok(status) if request.hides(status) => {}
        Ok(status) => answer::bare(output.room(ANSWER_BYTES), status, item),
        Err(Error::Full { .. }) => output.extend(failure::NO_ROOM),
        Err(error) => failure::line(output, &error),
    }
}

fn delete(work: &Work, flags: &Flags<'_>, key: &[u8]) -> Result<Status> {
    let deleted = match flags.compare() {
        Some(cas) => items::delete_at(work, key, cas, "md")?,
        None if items::delete(work, key, "md")? => Deleted::Done,
        None => Deleted::Missing,
    };
    Ok(match deleted {
        Deleted::Done => Status::Done,
        Deleted::Missing => Status::NotFound,
        Deleted::Exists => Status::Exists,
    })
}

/// Keeps the item: without a value (`x`), or as a stale one (`I`).
fn change(work: &Work, flags: &Flags<'_>, key: &[u8], value: &mut Vec<u8>) -> Result<Status> {
    work.deletes(key);
    work.log_lookup(key)?;
    let status = loop {
        let Some(details) = work.table().get_entry_into(key, value)? else {
            break Status::NotFound;
        };
        let token = work.table().token(&details, &*value)?;
        if flags.compare().is_some_and(|cas| cas != token.0) {
            break Status::Exists;
        }
        let size_bytes = value.len();
        let value = if flags.has(b'x') { &[] } else { &value[..] };
        let how = how(work, flags, &details, token);
        if let Stored::Done(_) = work.table().store(key, value, &how)? {
            if flags.has(b'x') {
                // Memcached takes this for a store, which looks up the key once more.
                work.log_fetch(key, Some(size_bytes));
                work.log_stored(key, || watch::Stored::by_command("set", how.attributes, 0));
            }
            break Status::Done;
        }
        // The item was changed in between.
    };
    match status {
        Status::Done if flags.has(b'I') => {}
        Status::Done => {
            work.count(Event::DeleteHit);
            // Watchers see the item without a value, which is there now.
            work.shared.watchers.deleted(key, "md", 0);
        }
        _ => work.count(Event::DeleteMiss),
    }
    Ok(status)
}

/// Returns how to store the item that is kept. An item without a value is a new one with the old
/// unique number. An item that becomes stale keeps all except that number, and the next client may
/// be asked for a new value.
fn how(
    work: &Work,
    flags: &Flags<'_>,
    details: &Details,
    token: CasToken,
) -> StoreOptions<'static> {
    let mut attributes = details.attributes;
    let mut marks = Some(Marks::default());
    let mut version = None;
    if flags.has(b'x') {
        attributes = Attributes {
            expiry: exptime::signed(flags.exptime().unwrap_or(0)),
            flags: flags.client_flags(),
        };
        marks = work.new_marks(false);
        version = Some(details.version).filter(|version| *version != 0);
    }
    if flags.has(b'I') {
        if let Some(time) = flags.exptime() {
            attributes.expiry = exptime::signed(time);
        }
        let Marks { clear, set } = marks.unwrap_or_default();
        marks = Some(Marks {
            clear: clear | TOKEN_SENT,
            set: set | STALE,
        });
        version = None;
    }
    StoreOptions {
        condition: Condition::Is(token),
        attributes: Some(attributes),
        version: version_of(flags).or(version),
        marks,
        ..StoreOptions::default()
    }
}

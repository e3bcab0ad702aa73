//! `mg`.

use tavola::serving::ServeTable;
use tavola::{
    Attributes, CasToken, Condition, Details, Error, Expiry, Result, StoreOptions, Stored,
};
use tavola_proto::meta::answer::{self, Found};
use tavola_proto::meta::{Flags, Item, Request, Status};
use tavola_proto::{KeyRoom, is_word};

use super::{ANSWER_BYTES, version_of};
use crate::memcached::exptime;
use crate::memcached::failure;
use crate::memcached::marks::{self, BASE64, FETCHED, STALE, TOKEN_SENT};
use crate::memcached::tally::Event;
use crate::memcached::work::Work;
use crate::net::Output;

/// An item with the facts that the answer may contain.
struct FoundItem {
    details: Details,
    cas: u64,
    times: Times,
    /// Whether the client is to bring a value.
    is_winner: bool,
}

/// The time of an item as flags change it. They work in their order.
#[derive(Clone, Copy)]
struct Times {
    /// The time that is left after all flags.
    expiry: Expiry,
    /// The time that was left at the flag `t`.
    at_t: Expiry,
    /// Whether the time left at the flag `R` is less than it asks for.
    is_short: bool,
}

pub(super) fn carry_out(
    work: &mut Work,
    request: &Request<'_>,
    item: &Item<'_>,
    output: &mut Output,
) {
    let mut value = work.borrow_value();
    let mut room = KeyRoom::default();
    let key = item.key.bytes(&mut room);
    match read(work, item, key, &mut value) {
        Ok(Some(found_item)) => {
            let flags = &item.flags;
            let is_known = flags.compare().is_some_and(|known| known == found_item.cas);
            let marks = found_item.details.marks;
            let found = Found {
                value: &value,
                with_value: flags.has(b'v') && !is_known,
                is_key_base64: marks & BASE64 != 0 || !is_word(key),
                client_flags: found_item.details.attributes.flags,
                cas: found_item.cas,
                ttl_s: exptime::left_s(found_item.times.at_t),
                idle_s: marks::idle_s(marks, work.now_s),
                is_fetched: marks & FETCHED != 0,
                is_token_sent: marks & TOKEN_SENT != 0,
                is_stale: marks & STALE != 0,
                is_winner: found_item.is_winner,
            };
            answer::found(output.room(ANSWER_BYTES + value.len()), item, &found);
        }
        Ok(None) if request.hides(Status::Miss) => {}
        Ok(None) => answer::bare(output.room(ANSWER_BYTES), Status::Miss, item),
        Err(error) => failure::line(output, &error),
    }
    work.give_back(value);
}

/// Reads an item, or makes one if flags ask for that, and carries out the flags.
fn read(
    work: &Work,
    item: &Item<'_>,
    key: &[u8],
    value: &mut Vec<u8>,
) -> Result<Option<FoundItem>> {
    let flags = &item.flags;
    let (hit, miss) = match flags.exptime() {
        None => (Event::GetHit, Event::GetMiss),
        Some(_) => (Event::TouchHit, Event::TouchMiss),
    };
    loop {
        if let Some(details) = read_item(work, flags, key, value)? {
            if let Some(found_item) = found(work, flags, key, details, value)? {
                work.fetched(key, Some(value.len()));
                work.count(hit);
                return Ok(Some(found_item));
            }
        } else {
            let made = flags.vivify().map(|_| make(work, flags, key));
            match made.transpose() {
                // The item was made in between.
                Ok(Some(None)) => continue,
                Ok(Some(Some(found_item))) => {
                    work.fetched(key, None);
                    work.count(hit);
                    return Ok(Some(found_item));
                }
                // Without room an item is missing as well.
                Ok(None) | Err(Error::Full { .. }) => {
                    work.fetched(key, None);
                    work.count(miss);
                    return Ok(None);
                }
                Err(error) => return Err(error),
            }
        }
        // The item was changed or removed in between.
    }
}

/// Reads an item, and gives it the time of `T`. Returns the time that it had.
fn read_item(
    work: &Work,
    flags: &Flags<'_>,
    key: &[u8],
    value: &mut Vec<u8>,
) -> Result<Option<Details>> {
    match flags.exptime() {
        None => work.table().get_entry_into(key, value),
        Some(time) => {
            let expiry = exptime::signed(time);
            work.table().get_and_touch_into(key, expiry, value)
        }
    }
}

/// Updates the marks of an existing item. Returns `None` if the item was replaced meanwhile.
fn found(
    work: &Work,
    flags: &Flags<'_>,
    key: &[u8],
    details: Details,
    value: &[u8],
) -> Result<Option<FoundItem>> {
    let times = Times::of(flags, details.attributes.expiry, false);
    let is_free = details.marks & TOKEN_SENT == 0;
    let is_winner = is_free && (times.is_short || details.marks & STALE != 0);
    // Without versions the unique number costs a read of the whole value.
    let with_cas = is_winner || flags.has(b'c') || flags.compare().is_some();
    let cas = if with_cas {
        work.cas_of(&details, value)?
    } else {
        0
    };
    let found_item = FoundItem {
        details,
        cas,
        times,
        is_winner,
    };
    // A client that makes an item expire at once is the last one that gets it.
    if exptime::left_s(times.expiry) == Some(0) {
        return Ok(Some(found_item));
    }
    if is_winner {
        let here = Condition::Is(CasToken(cas));
        let had = work.table().mark(key, here, 0, TOKEN_SENT)?;
        // One client alone is asked for a new value.
        if had.is_none_or(|had| had & TOKEN_SENT != 0) {
            return Ok(None);
        }
    }
    if !flags.has(b'u') {
        work.used(key, &details);
    }
    Ok(Some(found_item))
}

/// Makes an item without a value, for which the client is to bring one. Returns `None` if the item
/// exists by now.
fn make(work: &Work, flags: &Flags<'_>, key: &[u8]) -> Result<Option<FoundItem>> {
    let times = Times::of(flags, Expiry::Never, true);
    let attributes = Attributes {
        expiry: times.expiry,
        flags: 0,
    };
    let mut marks = work.new_marks(false).unwrap_or_default();
    let details = Details {
        attributes,
        version: 0,
        marks: marks.set,
    };
    let is_used = marks.set != 0 && !flags.has(b'u');
    marks.set |= TOKEN_SENT | if is_used { FETCHED } else { 0 };
    let how = StoreOptions {
        condition: Condition::Absent,
        attributes: Some(attributes),
        version: version_of(flags),
        marks: Some(marks),
        ..StoreOptions::default()
    };
    let Stored::Done(token) = work.table().store(key, [], &how)? else {
        return Ok(None);
    };
    work.count(Event::Stored);
    Ok(Some(FoundItem {
        details,
        cas: token.0,
        times,
        is_winner: true,
    }))
}

impl Times {
    fn of(flags: &Flags<'_>, had: Expiry, is_made: bool) -> Self {
        let mut times = Self {
            expiry: had,
            at_t: had,
            is_short: false,
        };
        for word in flags.words() {
            match (word[0], flags.exptime(), flags.vivify(), flags.recache()) {
                (b'T', Some(time), ..) => times.expiry = exptime::signed(time),
                (b'N', _, Some(time), _) if is_made => times.expiry = exptime::signed(time),
                (b'R', .., Some(time)) if !is_made => {
                    let [left, least] = [times.expiry, exptime::signed(time)].map(exptime::left_s);
                    times.is_short =
                        matches!((left, least), (Some(left), Some(least)) if left < least);
                }
                (b't', ..) => times.at_t = times.expiry,
                _ => {}
            }
        }
        times
    }
}

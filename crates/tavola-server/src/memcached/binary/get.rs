//! Get, get and touch, touch.

use tavola::{Attributes, Result};
use tavola_proto::binary::{Get, Header, Status, answer};

use super::{ANSWER_BYTES, fail, refuse};
use crate::memcached::exptime;
use crate::memcached::tally::Event;
use crate::memcached::work::Work;
use crate::net::Output;

pub(super) fn get(
    work: &mut Work,
    header: &Header,
    asked: &Get<'_>,
    quiet: bool,
    output: &mut Output,
) {
    let mut value = work.borrow_value();
    let key = if asked.with_key { asked.key } else { &[] };
    match read(work, asked, &mut value) {
        Ok(Some((attributes, cas))) => {
            let out = output.room(ANSWER_BYTES + key.len() + value.len());
            answer::value(out, header, key, attributes.flags, &value, cas);
        }
        Ok(None) if quiet => {}
        Ok(None) if asked.with_key => {
            answer::miss_of(output.room(ANSWER_BYTES + key.len()), header, key);
        }
        Ok(None) => refuse(output, header, Status::NotFound),
        Err(error) => fail(output, header, &error),
    }
    work.give_back(value);
}

/// Reads a key. Returns the attributes of its item, and its unique number.
fn read(work: &Work, asked: &Get<'_>, value: &mut Vec<u8>) -> Result<Option<(Attributes, u64)>> {
    let (found, hit, miss) = match asked.touch {
        None => (
            work.table().get_entry_into(asked.key, value)?,
            Event::GetHit,
            Event::GetMiss,
        ),
        Some(exptime) => {
            let expiry = exptime::unsigned(exptime);
            let found = work.table().get_and_touch_into(asked.key, expiry, value)?;
            (found, Event::TouchHit, Event::TouchMiss)
        }
    };
    let Some(details) = found else {
        work.count(miss);
        work.fetched(asked.key, None);
        return Ok(None);
    };
    work.count(hit);
    work.fetched(asked.key, Some(value.len()));
    work.used(asked.key, &details);
    Ok(Some((details.attributes, work.cas_of(&details, value)?)))
}

pub(super) fn touch(
    work: &mut Work,
    header: &Header,
    key: &[u8],
    exptime: u32,
    output: &mut Output,
) {
    let asked = Get {
        key,
        with_key: false,
        touch: Some(exptime),
    };
    let mut value = work.borrow_value();
    match read(work, &asked, &mut value) {
        Ok(Some((attributes, cas))) => {
            answer::touched(output.room(ANSWER_BYTES), header, attributes.flags, cas);
        }
        Ok(None) => refuse(output, header, Status::NotFound),
        Err(error) => fail(output, header, &error),
    }
    work.give_back(value);
}

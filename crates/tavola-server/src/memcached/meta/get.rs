//! `mg`.

use tavola::{Attributes, Details, Result};
use tavola_proto::KeyRoom;
use tavola_proto::meta::answer::{self, Found};
use tavola_proto::meta::{Item, Request, Status};

use super::ANSWER_BYTES;
use crate::memcached::exptime;
use crate::memcached::failure;
use crate::memcached::tally::Event;
use crate::memcached::work::Work;
use crate::net::Output;

pub(super) fn carry_out(
    work: &mut Work,
    request: &Request<'_>,
    item: &Item<'_>,
    output: &mut Output,
) {
    let mut value = work.borrow_value();
    match read(work, item, &mut value) {
        Ok(Some((attributes, cas))) => {
            let flags = &item.flags;
            let is_known = flags.compare().is_some_and(|known| known == cas);
            let found = Found {
                value: &value,
                with_value: flags.has(b'v') && !is_known,
                is_key_base64: item.key.is_base64(),
                client_flags: attributes.flags,
                cas,
                ttl_s: exptime::left_s(attributes.expiry),
                idle_s: 0,
                is_fetched: false,
                is_token_sent: false,
                is_stale: false,
                is_winner: false,
            };
            answer::found(output.room(ANSWER_BYTES + value.len()), item, &found);
        }
        Ok(None) if request.hides(Status::Miss) => {}
        Ok(None) => answer::bare(output.room(ANSWER_BYTES), Status::Miss, item),
        Err(error) => failure::line(output, &error),
    }
    work.give_back(value);
}

/// What stands beside the value as it is to be told, and the unique number, if it matters.
fn read(work: &Work, item: &Item<'_>, value: &mut Vec<u8>) -> Result<Option<(Attributes, u64)>> {
    let flags = &item.flags;
    let mut room = KeyRoom::default();
    let key = item.key.bytes(&mut room);
    let (found, hit, miss) = match flags.exptime() {
        None => (
            work.table().get_entry_into(key, value)?,
            Event::GetHit,
            Event::GetMiss,
        ),
        Some(time) => {
            let expiry = exptime::signed(time);
            let had = work.table().get_and_touch_into(key, expiry, value)?;
            // Flags work in their order: `t` before `T` tells the time that was.
            let first = flags.words().find(|word| matches!(word[0], b't' | b'T'));
            let tells_old = first.is_some_and(|word| word[0] == b't');
            let found = had.map(|had| {
                let was = had.attributes;
                let attributes = if tells_old {
                    was
                } else {
                    Attributes { expiry, ..was }
                };
                Details { attributes, ..had }
            });
            (found, Event::TouchHit, Event::TouchMiss)
        }
    };
    let Some(details) = found else {
        work.count(miss);
        work.fetched(key, None);
        return Ok(None);
    };
    work.count(hit);
    work.fetched(key, Some(value.len()));
    let with_cas = flags.has(b'c') || flags.compare().is_some();
    let cas = if with_cas {
        work.cas_of(&details, value)?
    } else {
        0
    };
    Ok(Some((details.attributes, cas)))
}

//! `ma`.

use tavola::{Expiry, Result};
use tavola_proto::KeyRoom;
use tavola_proto::meta::{Item, Request, Status, answer};

use super::{ANSWER_BYTES, version_of};
use crate::memcached::count::{Count, Counted, Make, count};
use crate::memcached::exptime;
use crate::memcached::failure;
use crate::memcached::work::Work;
use crate::net::Output;

/// The answer of memcached if there is no room for a number that was missing.
const NO_NEW: &[u8] = b"SERVER_ERROR Out of memory allocating new item\r\n";

pub(super) fn carry_out(
    work: &Work,
    request: &Request<'_>,
    item: &Item<'_>,
    down: bool,
    output: &mut Output,
) {
    let flags = &item.flags;
    let mut room = KeyRoom::default();
    let key = item.key.bytes(&mut room);
    let counted = count(
        work,
        &Count {
            key,
            delta: flags.delta(),
            down,
            cas: flags.compare().filter(|cas| *cas != 0),
            make: flags.vivify().map(|time| Make {
                number: flags.initial(),
                expiry: exptime::signed(time),
            }),
            version: version_of(flags),
        },
    );
    let answered = match counted {
        Ok(Counted::Now {
            number,
            cas,
            is_made,
        }) => touch(work, item, key, is_made).map(|ttl_s| {
            if !request.hides(Status::Done) {
                let counted = answer::Counted {
                    value: number,
                    cas,
                    ttl_s,
                };
                answer::counted(output.room(ANSWER_BYTES), item, counted);
            }
        }),
        Ok(Counted::Missing) => {
            answer::bare(output.room(ANSWER_BYTES), Status::NotFound, item);
            Ok(())
        }
        Ok(Counted::Exists) => {
            answer::bare(output.room(ANSWER_BYTES), Status::Exists, item);
            Ok(())
        }
        Ok(Counted::NonNumeric) => {
            output.extend(answer::NON_NUMERIC);
            Ok(())
        }
        Ok(Counted::NoRoom { is_new }) => {
            output.extend(if is_new { NO_NEW } else { failure::NO_ROOM });
            Ok(())
        }
        Err(error) => Err(error),
    };
    if let Err(error) = answered {
        failure::line(output, &error);
    }
}

/// Gives the item the time of `T`, and returns the time that `t` asks for. Flags work in their
/// order: a number that was made has the time of `N` from that flag on, and no time before it.
fn touch(work: &Work, item: &Item<'_>, key: &[u8], is_made: bool) -> Result<Option<u32>> {
    let flags = &item.flags;
    let mut now = is_made.then_some(Expiry::Never);
    let mut ttl_s = None;
    for word in flags.words() {
        match (word[0], flags.exptime(), flags.vivify()) {
            (b't', ..) => {
                let expiry = match now {
                    Some(expiry) => Some(expiry),
                    None => work.table().ttl(key)?,
                };
                ttl_s = expiry.and_then(exptime::left_s);
            }
            (b'T', Some(time), _) => now = Some(exptime::signed(time)),
            (b'N', _, Some(time)) if is_made => now = Some(exptime::signed(time)),
            _ => {}
        }
    }
    if let Some(expiry) = now
        && flags.exptime().is_some()
    {
        work.table().touch(key, expiry)?;
    }
    Ok(ttl_s)
}

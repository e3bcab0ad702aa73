//! `ma`.

use tavola::{Error, Result};
use tavola_proto::KeyRoom;
use tavola_proto::meta::{Item, Request, Status, answer};

use super::ANSWER_BYTES;
use crate::memcached::count::{Count, Counted, Make, count};
use crate::memcached::exptime;
use crate::memcached::failure;
use crate::memcached::work::Work;
use crate::net::Output;

/// What memcached says where there is no room for a longer number.
const NO_MEMORY: &[u8] = b"SERVER_ERROR out of memory\r\n";

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
        },
    );
    let told = match counted {
        Ok(Counted::Now { number, cas }) => touch(work, item, key).map(|ttl_s| {
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
        Err(error) => Err(error),
    };
    match told {
        Ok(()) => {}
        Err(Error::Full { .. }) => output.extend(NO_MEMORY),
        Err(error) => failure::line(output, &error),
    }
}

/// Gives the item the time of `T`, and says what `t` asks for: flags work in their order.
fn touch(work: &Work, item: &Item<'_>, key: &[u8]) -> Result<Option<u32>> {
    let mut ttl_s = None;
    for word in item.flags.words() {
        match (word[0], item.flags.exptime()) {
            (b't', _) => ttl_s = work.table().ttl(key)?.and_then(exptime::left_s),
            (b'T', Some(time)) => {
                work.table().touch(key, exptime::signed(time))?;
            }
            _ => {}
        }
    }
    Ok(ttl_s)
}

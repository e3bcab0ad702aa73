//! Increment and decrement.

use tavola_proto::binary::{self, Header, Status, answer};

use super::{ANSWER_BYTES, fail, refuse};
use crate::memcached::count::{Count, Counted, Make, count};
use crate::memcached::exptime;
use crate::memcached::work::Work;
use crate::net::Output;

/// The expiry time that forbids making a missing number.
const MAKE_NOTHING: u32 = u32::MAX;

pub(super) fn carry_out(
    work: &Work,
    header: &Header,
    asked: &binary::Count<'_>,
    quiet: bool,
    output: &mut Output,
) {
    let counted = count(
        work,
        &Count {
            key: asked.key,
            delta: asked.delta,
            down: asked.down,
            cas: (asked.cas != 0).then_some(asked.cas),
            make: (asked.exptime != MAKE_NOTHING).then(|| Make {
                number: asked.initial,
                expiry: exptime::unsigned(asked.exptime),
            }),
            version: None,
        },
    );
    match counted {
        Ok(Counted::Now { .. }) if quiet => {}
        Ok(Counted::Now { number, cas, .. }) => {
            answer::count(output.room(ANSWER_BYTES), header, number, cas);
        }
        Ok(Counted::Missing) => refuse(output, header, Status::NotFound),
        Ok(Counted::NonNumeric) => refuse(output, header, Status::NonNumeric),
        Ok(Counted::Exists) => refuse(output, header, Status::Exists),
        Ok(Counted::NoRoom { is_new }) => {
            let text: &[u8] = match is_new {
                true => b"Out of memory allocating new item",
                false => b"Out of memory incrementing value",
            };
            answer::no_memory(output.room(ANSWER_BYTES), header, text);
        }
        Err(error) => fail(output, header, &error),
    }
}

//! `incr` and `decr`.

use tavola_proto::text::{self, answer};

use super::{Reply, write_reply};
use crate::memcached::count::{Count, Counted, count};
use crate::memcached::failure;
use crate::memcached::work::Work;
use crate::net::Output;

pub(super) fn carry_out(work: &Work, asked: &text::Count<'_>, output: &mut Output) {
    let counted = count(
        work,
        &Count {
            key: asked.key,
            delta: asked.delta,
            down: asked.down,
            cas: None,
            make: None,
            version: None,
        },
    );
    let reply = match counted {
        Ok(Counted::Now { number, .. }) => Ok(Reply::Number(number)),
        Ok(Counted::Missing) => Ok(Reply::Line(answer::NOT_FOUND)),
        // No unique number was asked for, so that there is no other.
        Ok(Counted::NonNumeric | Counted::Exists) => Ok(Reply::Line(answer::NON_NUMERIC)),
        Ok(Counted::NoRoom { .. }) => Ok(Reply::Line(failure::NO_ROOM)),
        Err(error) => Err(error),
    };
    write_reply(output, asked.noreply, reply);
}

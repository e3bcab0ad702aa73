//! `ms`.

use tavola::Attributes;
use tavola_proto::KeyRoom;
use tavola_proto::meta::answer::{self, Stored};
use tavola_proto::meta::{Item, Mode, Request, Status};

use super::{ANSWER_BYTES, version_of};
use crate::memcached::exptime;
use crate::memcached::failure;
use crate::memcached::store::{Join, More, Store, StoreOutcome, Verb, store};
use crate::memcached::work::Work;
use crate::net::Output;

pub(super) fn carry_out(
    work: &Work,
    request: &Request<'_>,
    item: &Item<'_>,
    mode: Mode,
    data: &[u8],
    output: &mut Output,
) {
    let flags = &item.flags;
    let cas = flags.compare();
    let join = Join {
        cas: cas.filter(|cas| *cas != 0),
        makes: flags.vivify().is_some(),
    };
    let verb = match (mode, cas) {
        (Mode::Append, _) => Verb::Append(join),
        (Mode::Prepend, _) => Verb::Prepend(join),
        (Mode::Set | Mode::Replace, Some(cas)) => Verb::Cas(cas),
        (Mode::Set, None) => Verb::Set,
        (Mode::Replace, None) => Verb::Replace,
        (Mode::Add, _) => Verb::Add,
    };
    let time = match verb {
        Verb::Append(_) | Verb::Prepend(_) => flags.vivify().or(flags.exptime()),
        _ => flags.exptime(),
    };
    let mut room = KeyRoom::default();
    let stored = store(
        work,
        &Store {
            verb,
            key: item.key.bytes(&mut room),
            data,
            attributes: Attributes {
                expiry: exptime::signed(time.unwrap_or(0)),
                flags: flags.client_flags(),
            },
            more: More {
                version: version_of(flags),
                takes_stale: flags.has(b'I'),
                is_base64: item.key.is_base64(),
            },
        },
    );
    let (status, facts) = match stored {
        Ok(StoreOutcome::Done {
            cas, size_bytes, ..
        }) => (Status::Done, Stored { cas, size_bytes }),
        Ok(other) => {
            let status = match other {
                StoreOutcome::Exists => Status::Exists,
                StoreOutcome::NotFound => Status::NotFound,
                _ => Status::NotStored,
            };
            let size_bytes = data.len();
            (status, Stored { cas: 0, size_bytes })
        }
        Err(error) => return failure::line(output, &error),
    };
    if !request.hides(status) {
        answer::stored(output.room(ANSWER_BYTES), status, item, facts);
    }
}

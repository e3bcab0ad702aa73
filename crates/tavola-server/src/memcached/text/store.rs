//! `set`, `add`, `replace`, `append`, `prepend`, `cas`.

use tavola::{Attributes, Result};
use tavola_proto::text::{self, StoreVerb, answer};

use super::Reply;
use crate::memcached::exptime;
use crate::memcached::store::{Join, More, Store, StoreOutcome, Verb, store};
use crate::memcached::work::Work;

pub(super) fn carry_out(work: &Work, asked: &text::Store<'_>) -> Result<Reply> {
    let stored = store(
        work,
        &Store {
            verb: match asked.verb {
                StoreVerb::Set => Verb::Set,
                StoreVerb::Add => Verb::Add,
                StoreVerb::Replace => Verb::Replace,
                StoreVerb::Append => Verb::Append(Join::default()),
                StoreVerb::Prepend => Verb::Prepend(Join::default()),
                StoreVerb::Cas(cas) => Verb::Cas(cas),
            },
            key: asked.key,
            data: asked.data,
            attributes: Attributes {
                expiry: exptime::signed(asked.exptime),
                flags: asked.flags,
            },
            more: More::default(),
        },
    )?;
    Ok(Reply::Line(match stored {
        StoreOutcome::Done { .. } => answer::STORED,
        StoreOutcome::NotStored => answer::NOT_STORED,
        StoreOutcome::Exists => answer::EXISTS,
        StoreOutcome::NotFound => answer::NOT_FOUND,
    }))
}

//! Set, add, replace, append, prepend.

use tavola::Attributes;
use tavola_proto::binary::{self, Status, StoreVerb};

use super::Failure;
use crate::memcached::exptime;
use crate::memcached::store::{Join, More, Store, StoreOutcome, Verb, store};
use crate::memcached::work::Work;

/// Stores a value. Returns its unique number if the answer has one.
pub(super) fn carry_out(work: &Work, asked: &binary::Store<'_>) -> Result<u64, Failure> {
    let cas = (asked.cas != 0).then_some(asked.cas);
    let join = Join { cas, makes: false };
    let verb = match (asked.verb, cas) {
        (StoreVerb::Append, _) => Verb::Append(join),
        (StoreVerb::Prepend, _) => Verb::Prepend(join),
        (_, Some(cas)) => Verb::Cas(cas),
        (StoreVerb::Set, None) => Verb::Set,
        (StoreVerb::Add, None) => Verb::Add,
        (StoreVerb::Replace, None) => Verb::Replace,
    };
    let stored = store(
        work,
        &Store {
            verb,
            key: asked.key,
            data: asked.data,
            attributes: Attributes {
                expiry: exptime::unsigned(asked.exptime),
                flags: asked.flags,
            },
            more: More::default(),
        },
    )?;
    Err(Failure::Status(match stored {
        StoreOutcome::Done { cas, .. } => return Ok(cas),
        StoreOutcome::Exists => Status::Exists,
        StoreOutcome::NotFound => Status::NotFound,
        StoreOutcome::NotStored => match verb {
            Verb::Add => Status::Exists,
            Verb::Replace => Status::NotFound,
            _ => Status::NotStored,
        },
    }))
}

//! `me`: what the table knows of an item.

use tavola::Result;
use tavola_proto::meta::answer;
use tavola_proto::{Key, KeyRoom};

use super::ANSWER_BYTES;
use crate::memcached::exptime;
use crate::memcached::failure;
use crate::memcached::work::Work;
use crate::net::Output;

pub(super) fn carry_out(work: &mut Work, key: Key<'_>, output: &mut Output) {
    let mut value = work.borrow_value();
    if let Err(error) = look(work, key, &mut value, output) {
        failure::line(output, &error);
    }
    work.give_back(value);
}

fn look(work: &Work, key: Key<'_>, value: &mut Vec<u8>, output: &mut Output) -> Result<()> {
    let mut room = KeyRoom::default();
    let found = work.table().get_entry_into(key.bytes(&mut room), value)?;
    let Some(details) = found else {
        output.extend(answer::MISS);
        return Ok(());
    };
    let left = exptime::left_s(details.attributes.expiry);
    let left = left.map_or("-1".to_owned(), |left| left.to_string());
    let cas = work.cas_of(&details, value)?.to_string();
    let size = value.len().to_string();
    let facts = [("exp", &left[..]), ("cas", &cas[..]), ("size", &size[..])];
    answer::debug(output.room(ANSWER_BYTES), key, key.is_base64(), &facts);
    Ok(())
}

//! `me`: facts about an item.

use tavola::Result;
use tavola_proto::meta::answer;
use tavola_proto::{Key, KeyRoom, is_word};

use super::ANSWER_BYTES;
use crate::memcached::exptime;
use crate::memcached::failure;
use crate::memcached::marks::{self, BASE64, FETCHED};
use crate::memcached::work::Work;
use crate::net::Output;

pub(super) fn carry_out(work: &mut Work, key: Key<'_>, output: &mut Output) {
    let mut value = work.borrow_value();
    if let Err(error) = write_facts(work, key, &mut value, output) {
        failure::line(output, &error);
    }
    work.give_back(value);
}

fn write_facts(work: &Work, key: Key<'_>, value: &mut Vec<u8>, output: &mut Output) -> Result<()> {
    let mut room = KeyRoom::default();
    let bytes = key.bytes(&mut room);
    let found = work.table().get_entry_into(bytes, value)?;
    work.log_fetch(bytes, found.map(|_| value.len()));
    let Some(details) = found else {
        output.extend(answer::MISS);
        return Ok(());
    };
    let left = exptime::left_s(details.attributes.expiry);
    let left = left.map_or("-1".to_owned(), |left| left.to_string());
    let idle = marks::idle_s(details.marks, work.now_s).to_string();
    let cas = work.cas_of(&details, value)?.to_string();
    let is_fetched = details.marks & FETCHED != 0;
    let size = (bytes.len() + value.len()).to_string();
    let facts = [
        ("exp", &left[..]),
        ("la", &idle[..]),
        ("cas", &cas[..]),
        ("fetch", if is_fetched { "yes" } else { "no" }),
        // A read of an item does not return its class.
        ("cls", "0"),
        ("size", &size[..]),
    ];
    let is_base64 = details.marks & BASE64 != 0 || !is_word(bytes);
    answer::debug(output.room(ANSWER_BYTES), key, is_base64, &facts);
    Ok(())
}

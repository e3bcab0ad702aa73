//! `md`.

use tavola::{Attributes, CasOutcome, CasToken, Result};
use tavola_proto::KeyRoom;
use tavola_proto::meta::{Item, Request, Status, answer};

use super::ANSWER_BYTES;
use crate::memcached::exptime;
use crate::memcached::failure;
use crate::memcached::items::{self, Deleted};
use crate::memcached::tally::Event;
use crate::memcached::work::Work;
use crate::net::Output;

pub(super) fn carry_out(work: &Work, request: &Request<'_>, item: &Item<'_>, output: &mut Output) {
    let deleted = if item.flags.has(b'x') {
        empty(work, item)
    } else {
        delete(work, item)
    };
    match deleted {
        Ok(status) if request.hides(status) => {}
        Ok(status) => answer::bare(output.room(ANSWER_BYTES), status, item),
        Err(error) => failure::line(output, &error),
    }
}

fn delete(work: &Work, item: &Item<'_>) -> Result<Status> {
    let mut room = KeyRoom::default();
    let key = item.key.bytes(&mut room);
    let deleted = match item.flags.compare() {
        Some(cas) => items::delete_at(work, key, cas, "md")?,
        None if items::delete(work, key, "md")? => Deleted::Done,
        None => Deleted::Missing,
    };
    Ok(match deleted {
        Deleted::Done => Status::Done,
        Deleted::Missing => Status::NotFound,
        Deleted::Exists => Status::Exists,
    })
}

/// `x`: the item stays, with no bytes as its value.
fn empty(work: &Work, item: &Item<'_>) -> Result<Status> {
    let flags = &item.flags;
    let attributes = Attributes {
        expiry: exptime::signed(flags.exptime().unwrap_or(0)),
        flags: flags.client_flags(),
    };
    let mut room = KeyRoom::default();
    let key = item.key.bytes(&mut room);
    let table = work.table();
    let status = match flags.compare() {
        None if table.replace_with(key, &[], attributes)? => Status::Done,
        None => Status::NotFound,
        Some(cas) => match table.compare_and_swap_with(key, CasToken(cas), &[], attributes)? {
            CasOutcome::Swapped => Status::Done,
            CasOutcome::Changed => Status::Exists,
            CasOutcome::Missing => Status::NotFound,
        },
    };
    work.count(if status == Status::Done {
        Event::DeleteHit
    } else {
        Event::DeleteMiss
    });
    Ok(status)
}

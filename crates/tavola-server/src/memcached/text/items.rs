//! `touch`, `delete`, `flush_all`.

use tavola::Result;
use tavola_proto::text::answer;

use super::Reply;
use crate::memcached::exptime;
use crate::memcached::items;
use crate::memcached::work::Work;

pub(super) fn touch(work: &Work, key: &[u8], exptime: i32) -> Result<Reply> {
    let found = items::touch(work, key, exptime::signed(exptime))?;
    Ok(Reply::Line(if found {
        answer::TOUCHED
    } else {
        answer::NOT_FOUND
    }))
}

pub(super) fn delete(work: &Work, key: &[u8]) -> Result<Reply> {
    let found = items::delete(work, key, "delete")?;
    Ok(Reply::Line(if found {
        answer::DELETED
    } else {
        answer::NOT_FOUND
    }))
}

pub(super) fn flush_all(work: &Work, delay: i32) -> Result<Reply> {
    items::flush(work, exptime::signed(delay))?;
    Ok(Reply::Line(answer::OK))
}

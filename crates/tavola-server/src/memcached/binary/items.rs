//! Delete and flush.

use tavola_proto::binary::Status;

use super::Failure;
use crate::memcached::exptime;
use crate::memcached::items::{self, Deleted};
use crate::memcached::work::Work;

/// Deletes a key. `cas` is the unique number that its item must have; 0 allows any.
pub(super) fn delete(work: &Work, key: &[u8], cas: u64) -> Result<u64, Failure> {
    let deleted = if cas == 0 {
        items::delete(work, key, "delete")?
    } else {
        match items::delete_at(work, key, cas, "delete")? {
            Deleted::Done => true,
            Deleted::Missing => false,
            Deleted::Exists => return Err(Failure::Status(Status::Exists)),
        }
    };
    if deleted {
        Ok(0)
    } else {
        Err(Failure::Status(Status::NotFound))
    }
}

pub(super) fn flush(work: &Work, delay: u32) -> Result<u64, Failure> {
    items::flush(work, exptime::unsigned(delay))?;
    Ok(0)
}

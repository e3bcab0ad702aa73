//! MGET, MSET, MSETNX.

use tavola_proto::resp::Args;
use tavola_proto::resp::answer::{self, Version};

use super::call::{Call, Done};
use super::change::NEVER;
use super::refusal::{LARGE_REPLY, Refusal};
use super::work::Work;

/// The bytes of the largest reply that is collected.
pub(super) const REPLY_BYTES: usize = 64 << 20;

pub(super) fn mget(call: &mut Call<'_>) -> Done {
    let (keys, version) = (call.args.after(1), call.version());
    let reply = match keys.len() > 1 && !call.work.shared.is_cache {
        true => values_at_one_moment(call.work, &call.args, version)?,
        false => values(call.work, &keys.collect::<Vec<_>>(), version)?,
    };
    call.push(reply)
}

/// Writes the values of keys, each read on its own.
fn values(work: &Work, keys: &[&[u8]], version: Version) -> Result<Vec<u8>, Refusal> {
    let mut reply = Vec::new();
    answer::array(&mut reply, keys.len());
    let mut written = Ok(());
    work.table().get_many(keys, |_, value| {
        if written.is_ok() {
            work.count_read(value.is_some());
            written = write(&mut reply, value, version);
        }
    })?;
    written.map(|()| reply)
}

fn values_at_one_moment(
    work: &Work,
    args: &Args<'_>,
    version: Version,
) -> Result<Vec<u8>, Refusal> {
    let keys = args.after(1);
    let (reply, found) = work.table().view::<_, Refusal>(|reads| {
        let (mut reply, mut found) = (Vec::new(), 0);
        answer::array(&mut reply, keys.len());
        for key in keys.clone() {
            let value = reads.get(key)?;
            found += u64::from(value.is_some());
            write(&mut reply, value.as_deref(), version)?;
        }
        Ok((reply, found))
    })?;
    work.tally.hits.add(found);
    work.tally.misses.add(keys.len() as u64 - found);
    Ok(reply)
}

fn write(reply: &mut Vec<u8>, value: Option<&[u8]>, version: Version) -> Result<(), Refusal> {
    match value {
        Some(value) if reply.len() + value.len() > REPLY_BYTES => return Err(LARGE_REPLY),
        Some(value) => answer::bulk(reply, value),
        None => answer::null(reply, version),
    }
    Ok(())
}

pub(super) fn mset(call: &mut Call<'_>) -> Done {
    set_all(call, false)?;
    call.ok()
}

pub(super) fn msetnx(call: &mut Call<'_>) -> Done {
    let is_set = set_all(call, true)?;
    call.truth(is_set)
}

/// Sets all keys. Returns false if they have to be missing and one of them exists.
fn set_all(call: &Call<'_>, only_if_missing: bool) -> Result<bool, Refusal> {
    let words = call.args.after(1);
    if !words.len().is_multiple_of(2) {
        return Err(Refusal::arity(call.command.name));
    }
    call.work.table().transaction::<_, Refusal>(|changes| {
        if only_if_missing {
            for key in words.clone().step_by(2) {
                if changes.contains(key)? {
                    return Ok(false);
                }
            }
        }
        let values = words.clone().skip(1).step_by(2);
        for (key, value) in words.clone().step_by(2).zip(values) {
            changes.set_with(key, value, NEVER)?;
        }
        Ok(true)
    })
}

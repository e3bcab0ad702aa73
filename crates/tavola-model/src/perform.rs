//! Operations, done to a table.

use crate::answer::Answer;
use crate::held::{Bytes, Held, Life};
use crate::op::{End, Op, Uid};
use std::time::Duration;
use tavola::serving::{Marks, ServeTable};
use tavola::{
    Attributes, CasOutcome, Condition, Hint, LeaseOptions, Leased, Result, StoreOptions, Table,
    Updated, View,
};

const HOUR: Duration = Duration::from_secs(3600);
const PAGES: u64 = 1 << 30;

/// Why the computing of a value has failed.
pub const LEASE_ERROR: &[u8] = b"no such thing";

/// Returns how leases are asked for: a key that was stored for three hours or fewer is stale.
pub fn lease_options() -> LeaseOptions {
    LeaseOptions::new(HOUR).stale(3 * HOUR).lease(HOUR)
}

/// Does an operation to a table; a refusal is an answer.
///
/// # Errors
/// Whatever else the table reports.
pub fn perform(table: &Table, op: &Op) -> Result<Answer> {
    call(table, op).or_else(Answer::of)
}

fn value(value: Option<Vec<u8>>) -> Answer {
    Answer::Value(value.map(Bytes::from))
}

fn call(table: &Table, op: &Op) -> Result<Answer> {
    Ok(match op {
        Op::Get(key) => value(table.get(key)?),
        Op::Contains(key) => Answer::Was(table.contains(key)?),
        Op::GetMany(keys) => {
            let mut values = vec![None; keys.len()];
            table.get_many(keys, |at, value| values[at] = value.map(Bytes::from))?;
            Answer::Values(values)
        }
        Op::Set(key, value) => done_by(table.set(key, value)?),
        Op::SetMany(pairs) => done_by(table.set_many(pairs)?),
        Op::Transaction(changes) => Answer::Values(change_at_once(table, changes)?),
        Op::SetViewed(key, value) => Answer::Was(set_viewed(table, key, value)?),
        Op::Add(key, value) => Answer::Was(table.add(key, value)?),
        Op::Replace(key, value) => Answer::Was(table.replace(key, value)?),
        Op::Append(key, more) => Answer::Was(table.append(key, more)?),
        Op::Prepend(key, more) => Answer::Was(table.prepend(key, more)?),
        Op::Swap(key, new) => value(table.swap(key, new)?),
        Op::CompareAndSwap(key, value, between) => {
            Answer::Swap(compare_and_swap(table, key, value, between.as_deref())?)
        }
        Op::Update(key, more) => {
            value(table.update(key, |old| Some([old.unwrap_or_default(), more].concat()))?)
        }
        Op::Turn(key, new) => value(table.update(key, |old| old.is_none().then(|| new.clone()))?),
        Op::Remove(key) => Answer::Was(table.remove(key)?),
        Op::Take(key) => value(table.take(key)?),
        Op::Incr(key, by) => Answer::Count(Some(table.incr(key, *by)?)),
        Op::Decr(key, by) => Answer::Count(Some(table.decr(key, *by)?)),
        Op::Lease(key, end) => Answer::Was(lease(table, key, end)?),
        Op::Clear => done_by(table.clear()?),
        Op::Walk => done_by(table.iter().try_for_each(|entry| entry.map(drop))?),
        Op::Stats => done_by(table.stats()?),
        Op::Check => Answer::Was(table.check()?.is_clean()),
        Op::Repair => Answer::Was(table.repair()?.is_clean()),
        Op::Reclaim => done_by(table.reclaim()?),
        Op::Compact => done_by(table.compact()?),
        Op::Maintain => done_by(table.maintain(PAGES)?),
        Op::RemoveExpired => done_by(table.remove_expired()?),
        Op::SetCapacity(bytes) => done_by(table.set_capacity(*bytes)?),
        Op::SetUid(..) | Op::UidOf(_) | Op::GetByUid(_) | Op::KeyOfUid(_) => by_uid(table, op)?,
        Op::SetByUid(..) | Op::UpdateByUid(..) | Op::RemoveByUid(_) => by_uid(table, op)?,
        Op::IncrByUid(..) | Op::DecrByUid(..) | Op::TouchByUid(..) => by_uid(table, op)?,
        _ => with_attributes(table, op)?,
    })
}

/// The answer of a call whose result says nothing that a model knows.
fn done_by<T>(_: T) -> Answer {
    Answer::Done
}

/// Performs operations on attributes.
fn with_attributes(table: &Table, op: &Op) -> Result<Answer> {
    let with = |life: &Life, flags: &u32| life.with(*flags);
    Ok(match op {
        Op::IncrWith(key, by, initial, life, flags) => {
            Answer::Count(table.incr_with(key, *by, *initial, with(life, flags))?)
        }
        Op::DecrWith(key, by, initial, life, flags) => {
            Answer::Count(table.decr_with(key, *by, *initial, with(life, flags))?)
        }
        Op::AppendWith(key, more, life, flags) => {
            let len = table.append_with(key, more, with(life, flags))?;
            Answer::Count(Some(len as u64))
        }
        Op::PrependWith(key, more, life, flags) => {
            let len = table.prepend_with(key, more, with(life, flags))?;
            Answer::Count(Some(len as u64))
        }
        Op::SetWith(key, value, life, flags) => {
            done_by(table.set_with(key, value, with(life, flags))?)
        }
        Op::AddWith(key, value, life, flags) => {
            Answer::Was(table.add_with(key, value, with(life, flags))?)
        }
        Op::Ttl(key) => Answer::Life(table.ttl(key)?.map(Life::of)),
        Op::Touch(key, life) => Answer::Was(table.touch(key, life.expiry())?),
        Op::Persist(key) => Answer::Was(table.persist(key)?),
        Op::GetAndTouch(key, life) => {
            let entry = table.get_and_touch(key, life.expiry())?;
            Answer::Held(entry.as_ref().map(Held::read))
        }
        Op::Mark(key, bits) => Answer::Was(table.mark(key, Condition::Always, 0, *bits)?.is_some()),
        Op::SetMarked(key, value, bits) => {
            let how = StoreOptions {
                marks: Some(Marks::only(*bits)),
                ..StoreOptions::default()
            };
            done_by(table.store(key, value, &how)?)
        }
        Op::SetTagged(key, value, tags, late) => {
            let tags = table.fetch_tags(&tags.names())?;
            for name in late.iter().flat_map(|late| late.names()) {
                table.invalidate_tag(name)?;
            }
            done_by(table.set_tagged(key, value, Attributes::default(), &tags)?)
        }
        Op::Invalidate(tags) => {
            let mut all = tags.names().into_iter();
            let ended = |all, name| Ok(all & table.invalidate_tag(name)?);
            Answer::Was(all.try_fold(true, ended)?)
        }
        other => unreachable!("{other:?} is done elsewhere"),
    })
}

fn by_uid(table: &Table, op: &Op) -> Result<Answer> {
    let hint = match op.uid() {
        Some(Uid::Hint(hint)) => *hint,
        Some(Uid::Of(key)) => table.uid_of(key)?.unwrap_or(Hint::from(0)),
        None => Hint::from(0),
    };
    Ok(match op {
        Op::SetUid(key, value) => Answer::Uid(Some(table.set_uid(key, value)?)),
        Op::UidOf(key) => Answer::Uid(table.uid_of(key)?),
        Op::GetByUid(_) => value(get_by_uid(table, hint)?),
        Op::KeyOfUid(_) => Answer::Key(table.key_of_uid(hint)?.map(Bytes::from)),
        Op::SetByUid(_, value) => Answer::Was(table.set_by_uid(hint, value)?),
        Op::UpdateByUid(_, value) => {
            let updated = table.update_by_uid(hint, |_| Some(value.clone()))?;
            Answer::Was(updated == Updated::Stored(value.clone()))
        }
        Op::IncrByUid(_, by) => Answer::Count(table.incr_by_uid(hint, *by)?),
        Op::DecrByUid(_, by) => Answer::Count(table.decr_by_uid(hint, *by)?),
        Op::TouchByUid(_, life) => Answer::Was(table.touch_by_uid(hint, life.expiry())?),
        Op::RemoveByUid(_) => Answer::Was(table.remove_by_uid(hint)?),
        other => unreachable!("{other:?} is done elsewhere"),
    })
}

/// Reads a value by uid, alone and among others, which must agree.
fn get_by_uid(table: &Table, hint: Hint) -> Result<Option<Vec<u8>>> {
    let alone = table.get_by_uid(hint)?;
    let asked = [Hint::from(0), hint, Hint::from(u32::MAX), hint];
    let mut values = vec![Some(Vec::new()); asked.len()];
    table.get_many_by_uid(&asked, |at, value| values[at] = value.map(<[u8]>::to_vec))?;
    let expected = [None, alone.clone(), None, alone.clone()];
    assert_eq!(values, expected, "{hint:?} among others");
    Ok(alone)
}

fn compare_and_swap(
    table: &Table,
    key: &[u8],
    value: &[u8],
    between: Option<&[u8]>,
) -> Result<CasOutcome> {
    let Some((_, token)) = table.get_with_token(key)? else {
        return Ok(CasOutcome::NotFound);
    };
    if let Some(between) = between {
        table.set(key, between)?;
    }
    table.compare_and_swap(key, token, value)
}

fn change_at_once(
    table: &Table,
    changes: &[(Vec<u8>, Option<Vec<u8>>)],
) -> Result<Vec<Option<Bytes>>> {
    table.transaction(|t| {
        let mut values = Vec::new();
        for (key, value) in changes {
            values.push(t.get(key)?.map(Bytes::from));
            match value {
                Some(value) => t.set(key, value)?,
                None => {
                    t.remove(key)?;
                }
            }
        }
        Ok(values)
    })
}

fn set_viewed(table: &Table, key: &[u8], value: &[u8]) -> Result<bool> {
    let before = table.get(key)?;
    let views = [table.get_view(key)?, table.get_view(key)?];
    table.set(key, value)?;
    let is_as_before = |view: &Option<View<'_>>| view.as_ref().map(View::to_vec) == before;
    Ok(before.is_some() && views.iter().all(is_as_before))
}

/// Wins the lease of a key and ends it. Returns false if somebody else has it, or the value is
/// fresh.
fn lease(table: &Table, key: &[u8], end: &End) -> Result<bool> {
    let lease = match table.get_or_lease(key, lease_options())? {
        Leased::Won(lease) => lease,
        Leased::Stale {
            lease: Some(lease), ..
        } => lease,
        _ => return Ok(false),
    };
    match end {
        End::Fill(value) => lease.fill(value),
        End::Fail => lease.fail(HOUR, LEASE_ERROR),
        End::GiveUp => {
            drop(lease);
            Ok(true)
        }
        End::Keep => {
            std::mem::forget(lease);
            Ok(true)
        }
    }
}

//! What a survivor may find of a cache: any key may be missing, but not the one that was set last;
//! and it stays within its capacity.

use super::case::Case;
use tavola::Table;
use tavola_model::{Model, Op};

fn failed(error: tavola::Error) -> String {
    error.to_string()
}

/// Takes out of the model what the cache does not have any more.
pub(super) fn thin(table: &Table, case: &Case, model: &mut Model) -> Result<(), String> {
    if !case.is_cache {
        return Ok(());
    }
    let mut gone = Vec::new();
    for key in model.keys() {
        if !table.contains(key).map_err(failed)? {
            gone.push(key.clone());
        }
    }
    gone.iter().for_each(|key| drop(model.remove(key)));
    Ok(())
}

/// What was set last is there, unless the write that was under way has evicted it.
pub(super) fn has_last(case: &Case, model: &Model, done: usize) -> Result<(), String> {
    let (returned, pending) = case.ops.split_at(done);
    let is_quiet = pending.iter().all(|op| matches!(op, Op::Get(_)));
    match returned.iter().rev().find(|op| !matches!(op, Op::Get(_))) {
        Some(Op::Set(key, _)) if case.is_cache && is_quiet && !case.shrinks => {
            is_there(model.contains_key(&key[..]), key)
        }
        _ => Ok(()),
    }
}

/// What was just set is there.
pub(super) fn has(table: &Table, case: &Case, key: &[u8]) -> Result<(), String> {
    match case.is_cache && !case.shrinks {
        true => is_there(table.contains(key).map_err(failed)?, key),
        false => Ok(()),
    }
}

fn is_there(there: bool, key: &[u8]) -> Result<(), String> {
    match there {
        true => Ok(()),
        false => Err(format!("{} was set, and is gone", key.escape_ascii())),
    }
}

/// It has no more of the system's memory than it may have; one that becomes smaller has to wait for
/// a grace. What is reported of the last seconds is no more than there ever was.
pub(super) fn is_within(table: &Table, case: &Case) -> Result<(), String> {
    if !case.is_cache || case.shrinks {
        return Ok(());
    }
    let stats = table.stats().map_err(failed)?;
    for one in stats.recent {
        if one.hits > stats.hits || one.misses > stats.misses || one.writes > stats.writes {
            return Err(format!("of late {one:?}, of {stats:?} in all"));
        }
    }
    let (has, may) = (stats.resident_bytes, stats.capacity.unwrap_or(0));
    match has <= may {
        true => Ok(()),
        false => Err(format!("a cache of {may} bytes takes {has}")),
    }
}

//! DEL, EXISTS and what else is about keys alone.

use tavola_proto::resp::answer;

use super::call::{After, Call, Done, is};
use super::refusal::{Refusal, SYNTAX};

/// The bytes of the longest reply.
const WORD_BYTES: usize = 32;

pub(super) fn del(call: &mut Call<'_>) -> Done {
    let table = call.work.table();
    let keys = call.args.after(1);
    let count = match keys.len() > 1 && !call.work.shared.is_cache {
        true => table.transaction::<_, Refusal>(|changes| {
            let mut count = 0;
            for key in keys.clone() {
                count += usize::from(changes.remove(key)?);
            }
            Ok(count)
        })?,
        false => {
            let mut count = 0;
            for key in keys {
                count += usize::from(table.remove(key)?);
            }
            count
        }
    };
    call.count(count)
}

/// EXISTS, and TOUCH, which differs for the caches that Redis has.
pub(super) fn exists(call: &mut Call<'_>) -> Done {
    let table = call.work.table();
    let keys = call.args.after(1);
    let count = match keys.len() > 1 && !call.work.shared.is_cache {
        true => table.view::<_, Refusal>(|reads| {
            let mut count = 0;
            for key in keys.clone() {
                count += usize::from(reads.contains(key)?);
            }
            Ok(count)
        })?,
        false => {
            let mut count = 0;
            for key in keys {
                count += usize::from(table.get_to_slice(key, &mut [])?.is_some());
            }
            count
        }
    };
    call.count(count)
}

pub(super) fn kind(call: &mut Call<'_>) -> Done {
    let is_there = call.work.table().contains(&call.args[1])?;
    let word = if is_there { "string" } else { "none" };
    answer::simple(call.output.room(WORD_BYTES), word);
    Ok(After::NextCommand)
}

pub(super) fn dbsize(call: &mut Call<'_>) -> Done {
    let count = call.work.table().len()?;
    call.integer(i64::try_from(count).unwrap_or(i64::MAX))
}

pub(super) fn flush(call: &mut Call<'_>) -> Done {
    let is_known = match call.args.len() {
        1 => true,
        2 => is(&call.args[1], "async") || is(&call.args[1], "sync"),
        _ => false,
    };
    if !is_known {
        return Err(SYNTAX);
    }
    if !call.work.shared.rules.flush {
        return Err(Refusal::permission(call.command.name));
    }
    call.work.table().clear()?;
    call.ok()
}

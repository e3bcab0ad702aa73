//! What is asked by uid after a death: each uid that had been given out leads to its key, those of
//! keys that are gone lead nowhere.

use super::case::{Case, Hints};
use super::op::Model;
use std::path::Path;
use tavola::{Error, Hint, Table};

/// Compares what is found by uid with what the keys hold. `done`: how many operations had returned;
/// `last`: the uid that the last of them was given, 0: none.
pub(crate) fn check(
    case: &Case,
    path: &Path,
    model: &Model,
    done: usize,
    last: u64,
) -> Result<(), String> {
    let Some(hints) = known(case, done, last) else {
        return Ok(());
    };
    let table = Table::open_read_only(path).map_err(|error| error.to_string())?;
    for (key, hint) in &hints {
        leads_to(&table, key, *hint, model.get(key).map(|value| &value[..]))?;
    }
    for (key, value) in model {
        match table.uid_of(key) {
            Ok(Some(hint)) => leads_to(&table, key, hint, Some(value))?,
            Err(Error::ReadOnly) => {}
            outcome => return Err(format!("the uid of {}: {outcome:?}", key.escape_ascii())),
        }
    }
    Ok(())
}

/// The uids that had been given out; `None`: the case has nothing to do with them. As in [`check`].
pub(crate) fn known(case: &Case, done: usize, last: u64) -> Option<Hints> {
    let mut hints = Hints::clone(case.hints.as_ref()?);
    let given = done.checked_sub(1).and_then(|at| case.ops[at].named());
    let given = given.filter(|_| last != 0);
    hints.extend(given.map(|key| (key.into(), Hint::from_bits(last))));
    Some(hints)
}

/// Whether a uid leads to a key and its value; to nothing where there is none.
fn leads_to(table: &Table, key: &[u8], hint: Hint, value: Option<&[u8]>) -> Result<(), String> {
    let failed = |error: Error| format!("uid {}: {error}", hint.uid());
    let found = table.get_by_uid(hint).map_err(failed)?;
    let found_key = table.key_of_uid(hint).map_err(failed)?;
    let expected = value.map(|_| key);
    if found.as_deref() == value && found_key.as_deref() == expected {
        return Ok(());
    }
    Err(format!(
        "uid {} of {} should lead to {:?} bytes of it, and leads to {:?} of {:?}",
        hint.uid(),
        key.escape_ascii(),
        value.map(<[u8]>::len),
        found.map(|value| value.len()),
        found_key.map(|key| key.escape_ascii().to_string()),
    ))
}

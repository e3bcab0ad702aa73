//! What is asked by uid after a death: each uid that had been given out leads to its key, those of
//! keys that are gone lead nowhere.

use super::case::{Case, Hints};
use std::path::Path;
use tavola::{Error, Hint, Table};
use tavola_model::{Model, Op, leads_to};

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
    for (key, value) in model.iter() {
        match table.uid_of(key) {
            Ok(Some(hint)) => leads_to(&table, key, hint, Some(value))?,
            Err(Error::ReadOnly) => {}
            outcome => return Err(format!("the uid of {}: {outcome:?}", key.escape_ascii())),
        }
    }
    Ok(())
}

/// Returns the uids that had been given out, as in [`check`], or `None` if the case is not about
/// uids.
pub(crate) fn known(case: &Case, done: usize, last: u64) -> Option<Hints> {
    let mut hints = Hints::clone(case.hints.as_ref()?);
    let given = match done.checked_sub(1).map(|at| &case.ops[at]) {
        Some(Op::SetUid(key, _) | Op::UidOf(key)) if last != 0 => Some(key),
        _ => None,
    };
    hints.extend(given.map(|key| (key[..].into(), Hint::from_bits(last))));
    Some(hints)
}

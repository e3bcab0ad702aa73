//! What a survivor looks at in tables with versions.

use super::case::Case;
use std::path::Path;
use tavola::Table;
use tavola_model::Model;

fn failed(error: tavola::Error) -> String {
    error.to_string()
}

/// With its old value comes its old version, and with another value another version.
pub(crate) fn before(case: &Case, path: &Path) -> Result<(), String> {
    let Some(versions) = &case.versions else {
        return Ok(());
    };
    let table = Table::open_read_only(path).map_err(failed)?;
    for (key, value, token) in versions.iter() {
        if let Some((now, now_token)) = table.get_with_token(key).map_err(failed)?
            && (now[..] == value[..]) != (now_token == *token)
        {
            let key = key.escape_ascii();
            return Err(format!("{key} had {token:?} and has {now_token:?}"));
        }
    }
    Ok(())
}

/// Keys that are set again, to what they hold, get versions that they never had.
pub(crate) fn after(table: &Table, case: &Case, model: &Model) -> Result<(), String> {
    let Some(versions) = &case.versions else {
        return Ok(());
    };
    for (key, _, token) in versions.iter() {
        let Some((value, now)) = table.get_with_token(key).map_err(failed)? else {
            continue;
        };
        if model[key].has_attributes() {
            continue;
        }
        table.set(key, &value).map_err(failed)?;
        let then = table.get_with_token(key).map_err(failed)?;
        if then.is_none_or(|(_, then)| then == now || then == *token) {
            let key = key.escape_ascii();
            return Err(format!("{key} was set and has a version that it had"));
        }
    }
    Ok(())
}

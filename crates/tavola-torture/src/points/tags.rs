//! What a survivor looks at in tables with tags.

use super::held::{Held, Names};
use tavola::Table;

/// All tags of the cases.
pub(crate) const TAGS: Names = &["one", "two", "new", "other"];

/// Whether a key has the tags it should have.
pub(crate) fn are(table: &Table, key: &[u8], held: &Held) -> Result<(), String> {
    if held.tags().is_empty() {
        return Ok(());
    }
    let names = table.tags_of(key).map_err(|error| error.to_string())?;
    let wanted: Vec<Vec<u8>> = held
        .tags()
        .iter()
        .map(|name| name.as_bytes().to_vec())
        .collect();
    match names {
        Some(names) if names == wanted => Ok(()),
        names => Err(format!(
            "{} has the tags {names:?}, and should have {wanted:?}",
            key.escape_ascii()
        )),
    }
}

/// Invalidates all tags: nothing of them may stay.
pub(crate) fn end(table: &Table) -> Result<(), String> {
    for name in TAGS {
        let ended = table.invalidate_tag(name.as_bytes());
        ended.map_err(|error| error.to_string())?;
    }
    match table.stats().map_err(|error| error.to_string())?.tags {
        0 => Ok(()),
        left => Err(format!("{left} tags stay")),
    }
}

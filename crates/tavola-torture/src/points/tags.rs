//! What a survivor looks at in tables with tags.

use tavola::Table;
use tavola_model::Tags;

/// All tags of the cases.
const TAGS: Tags = Tags(0b1111);

/// Invalidates all tags: nothing of them may stay.
pub(crate) fn end(table: &Table) -> Result<(), String> {
    for name in TAGS.names() {
        let ended = table.invalidate_tag(name);
        ended.map_err(|error| error.to_string())?;
    }
    match table.stats().map_err(|error| error.to_string())?.tags {
        0 => Ok(()),
        left => Err(format!("{left} tags stay")),
    }
}

//! Text files of facts: entries with empty lines between, comments before the first.
//!
//! ```text
//! name
//!   fact: value
//! ```

/// A name and a value.
pub(super) type Fact = (&'static str, &'static str);

/// The entries of a file with their names, in its order.
pub(super) fn entries(text: &'static str) -> impl Iterator<Item = (&'static str, Vec<Fact>)> {
    text.split("\n\n").skip(1).map(|entry| {
        let mut lines = entry.lines();
        let name = lines.next().unwrap_or_default();
        let facts = lines.map(|line| line.trim().split_once(": ").unwrap_or((line, "")));
        (name, facts.collect())
    })
}

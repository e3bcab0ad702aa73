//! The real data of the tour: the Unicode Character Database's main table, one record a line.
//!
//! Source and licence: `data/README.md` and `data/LICENSE-UNICODE` at the root of the repository.

use std::collections::HashMap;

use super::value::Fingerprint;

const TEXT: &str = include_str!("../../../data/UnicodeData.txt");

/// One character (or one end of a range of characters).
pub struct Record {
    /// `U+1F41A`
    pub key: String,
    /// All fields after the code point: `SPIRAL SHELL;So;0;ON;;;;;N;;;;;`
    pub text: &'static str,
    pub fingerprint: Fingerprint,
    /// The index of its general category in [`Records::categories`].
    pub category: usize,
}

pub struct Records {
    pub all: Vec<Record>,
    /// The general categories, such as `Lu`, in the order they first occur.
    pub categories: Vec<&'static str>,
}

impl Records {
    pub fn load() -> Self {
        let mut categories = Vec::new();
        let mut known = HashMap::new();
        let all = TEXT.lines().filter_map(|line| {
            let (code, text) = line.split_once(';')?;
            let name = text.split(';').nth(1)?;
            let category = *known.entry(name).or_insert_with(|| {
                categories.push(name);
                categories.len() - 1
            });
            Some(Record {
                key: format!("U+{code}"),
                text,
                fingerprint: Fingerprint::of(text),
                category,
            })
        });
        let all = all.collect();
        Self { all, categories }
    }

    /// The key of the counter of a category.
    pub fn counter_key(&self, category: usize) -> String {
        format!("count/{}", self.categories[category])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_a_record_with_a_key_of_its_own() {
        let records = Records::load();
        assert_eq!(records.all.len(), TEXT.lines().count());
        assert!(
            records.all.len() > 30_000,
            "{} is not the whole table",
            records.all.len()
        );
        let keys: std::collections::HashSet<&str> = records
            .all
            .iter()
            .map(|record| record.key.as_str())
            .collect();
        assert_eq!(keys.len(), records.all.len());
        assert!(records.categories.iter().all(|name| name.len() == 2));
    }

    #[test]
    fn a_record_is_the_line_of_the_source() {
        let records = Records::load();
        let shell = records
            .all
            .iter()
            .find(|record| record.key == "U+1F41A")
            .unwrap();
        assert_eq!(shell.text, "SPIRAL SHELL;So;0;ON;;;;;N;;;;;");
        assert_eq!(records.counter_key(shell.category), "count/So");
    }
}

//! No marks of unfinished work: what is not done is not in the tree.

use super::tree::{File, Finding, Tree};

/// Words of their own, anywhere in code, scripts and pages.
const WORDS: [&str; 3] = [
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("XX", "X"),
];
/// Macros that stand for code not written.
const MACROS: [&str; 2] = [concat!("to", "do!"), concat!("un", "implemented!")];
/// Data, whose words are not ours.
const DATA: [&str; 7] = ["txt", "tsv", "csv", "json", "jsonl", "lock", "svg"];

/// The one mark that may stand at a test: it is left to a tier that CI runs.
const IN_TEST_LONG: &str = "#[ignore = \"`make test-long` runs it\"]";

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree
        .files()
        .iter()
        .filter(|file| !file.has_extension(&DATA))
    {
        for (line, text) in file.lines() {
            if let Some(mark) = mark(file, text) {
                findings.push(file.finding(line, format!("`{mark}`: finish it or leave it out")));
            }
        }
    }
    findings
}

fn mark(file: &File, line: &str) -> Option<&'static str> {
    if let Some(word) = WORDS.into_iter().find(|word| has_word(line, word)) {
        return Some(word);
    }
    if !file.is_rust() {
        return None;
    }
    let line = line.trim_start();
    if line.starts_with("#[ignore") && line != IN_TEST_LONG {
        return Some("#[ignore]");
    }
    MACROS.into_iter().find(|name| has_word(line, name))
}

/// Returns whether `word` is in `line` with no letter, digit or underscore at either side.
pub(super) fn has_word(line: &str, word: &str) -> bool {
    let joins = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    let open_end = word.ends_with(char::is_alphanumeric);
    line.match_indices(word).any(|(at, _)| {
        let joined_before = joins(line[..at].chars().next_back());
        let joined_after = open_end && joins(line[at + word.len()..].chars().next());
        !joined_before && !joined_after
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finished_work_passes() {
        let text = "mktemp /tmp/a.XXXXXX\nlet todos = 1;\n#[cfg_attr(miri, ignore)]\n";
        let text = format!("{text}{IN_TEST_LONG}\n");
        assert_eq!(
            check(&Tree::of(&[("a.rs", &text), ("b.md", "a to-do list\n")])),
            []
        );
    }

    #[test]
    fn words_are_found_everywhere_but_in_data() {
        for word in WORDS {
            let text = format!("a\n# {word}: later\n");
            let tree = Tree::of(&[("a.md", &text), ("scripts/a", &text), ("data.txt", &text)]);
            assert_eq!(check(&tree).len(), 2, "{word}");
        }
    }

    #[test]
    fn rust_marks_are_found() {
        for mark in [
            &format!("    {}()", MACROS[0]),
            MACROS[1],
            "#[ignore]",
            "#[ignore = \"slow\"]",
            "#[ignore = \"`make test-long` runs it\"] fn f() {}",
        ] {
            assert_eq!(check(&Tree::of(&[("a.rs", mark)])).len(), 1, "{mark}");
        }
    }
}

//! Plain English: in pages, help, messages, errors, and in the comments of all crates.

use super::marks::has_word;
use super::stale::prose;
use super::tree::{File, Finding, Tree};

/// What the rule covers: files, and folders with all below them. The list only grows.
const SCOPE: [&str; 21] = [
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "README.md",
    "crates/tavola-bench/src/",
    "crates/tavola-capi/src/",
    "crates/tavola-cdb/src/",
    "crates/tavola-cli/src/",
    "crates/tavola-client-capi/src/",
    "crates/tavola-client/src/",
    "crates/tavola-model/src/",
    "crates/tavola-program/src/",
    "crates/tavola-proto/src/",
    "crates/tavola-server/src/",
    "crates/tavola-torture/src/",
    "crates/tavola-tracing/src/",
    "crates/tavola/src/",
    "docs/guide/",
    "docs/internals/",
    "fuzz/src/",
    "xtask/src/",
];

/// Files that list the words.
const LISTS: [&str; 2] = ["xtask/src/tidy/plain.rs", "xtask/src/tidy/verbs.rs"];

/// Files in the scope that are not rewritten yet, a list that only shrinks: an entry without a
/// finding goes.
const NOT_YET: [&str; 0] = [];

/// Words and phrases, each with plain ones in its place.
const BANNED: [(&str, &str); 16] = [
    ("all the same", "anyway"),
    ("anew", "again"),
    ("are none", "are missing, are invalid"),
    ("as a rule", "usually"),
    ("but for", "except"),
    ("for ever", "forever, without a limit"),
    ("goes on", "continues"),
    ("is none", "is not one, is missing, is invalid"),
    ("stands", "is"),
    ("tell", "print, report, return"),
    ("tells", "prints, reports, returns"),
    ("to be had", "available"),
    ("told", "reported, acknowledged, given"),
    ("untold", "unacknowledged"),
    ("whoever", "a process that, anyone who"),
    ("whosoever", "a process that, anyone who"),
];

/// What is plain although a banned phrase is in it.
const FINE: [&str; 5] = [
    "stands for",
    "stands in for",
    "stands still",
    "there are none",
    "there is none",
];

/// How a sentence does not begin: with a clause or a number as its subject.
const OPENINGS: [&str; 3] = ["Who ", "So many ", "So much "];

/// Where sentences name a client or a process before they say what it does. The list only grows.
const NAMED: [&str; 1] = ["crates/tavola-server/src/"];

/// Clauses without a noun before them, in the middle of a sentence.
const CLAUSES: [&str; 8] = [
    ": who ",
    "; who ",
    " by who ",
    " for who ",
    " from who ",
    " of who ",
    " than who ",
    " to who ",
];

/// Half sentences about what a call returns.
const HALVES: [&str; 7] = [
    "`None`: ",
    "None: ",
    "False: ",
    "; false: ",
    "; true: ",
    "; none: ",
    "True: ",
];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.files().iter().filter(|file| is_covered(&file.path)) {
        let found = check_file(file);
        match (NOT_YET.contains(&file.path.as_str()), found.is_empty()) {
            (true, true) => findings.push(file.finding(1, "is plain now; remove it from NOT_YET")),
            (true, false) => {}
            (false, _) => findings.extend(found),
        }
    }
    findings
}

fn is_covered(path: &str) -> bool {
    let covers = |part: &&str| path == *part || part.ends_with('/') && path.starts_with(*part);
    // The rules name what they find.
    let is_rule = LISTS.contains(&path);
    SCOPE.iter().any(covers) && !path.contains("/models/") && !is_rule
}

fn check_file(file: &File) -> Vec<Finding> {
    let texts: Vec<(usize, String)> = match file.is_rust() {
        true => shown(&file.text),
        false if file.has_extension(&["md"]) => prose(file)
            .map(|(line, text)| (line, text.to_string()))
            .collect(),
        false => Vec::new(),
    };
    let finding = |(line, text): &(usize, String)| {
        let why = wrong(text).or_else(|| unnamed(&file.path, text))?;
        Some(file.finding(*line, why))
    };
    texts.iter().filter_map(finding).collect()
}

fn wrong(text: &str) -> Option<String> {
    let mut small = without_names(text).to_lowercase();
    for fine in FINE {
        small = small.replace(fine, "");
    }
    if let Some((word, plain)) = BANNED.iter().find(|(word, _)| has_word(&small, word)) {
        return Some(format!("\"{word}\": write {plain}"));
    }
    let begins = |opening: &&&str| {
        let starts = text
            .trim_start_matches([' ', '-', '|', '*'])
            .starts_with(**opening);
        starts || text.contains(&format!(". {opening}"))
    };
    if let Some(opening) = OPENINGS.iter().find(begins).filter(|_| !text.contains('?')) {
        return Some(format!(
            "a sentence that begins with \"{opening}\" needs a subject"
        ));
    }
    let half = HALVES.iter().find(|half| text.contains(**half))?;
    Some(format!("\"{half}\": write \"Returns ... if ...\""))
}

fn unnamed(path: &str, text: &str) -> Option<String> {
    let is_covered = NAMED.iter().any(|part| path.starts_with(part));
    let clause = CLAUSES.iter().find(|clause| text.contains(**clause));
    let clause = clause.filter(|_| is_covered)?;
    Some(format!(
        "\"{clause}\": write \"a client that\", \"a process that\""
    ))
}

/// Returns a text without the names of values that a message has in it, as `{told}`.
fn without_names(text: &str) -> String {
    let mut parts = text.split('{');
    let first = parts.next().unwrap_or_default().to_string();
    parts.fold(first, |all, part| {
        all + part.split_once('}').map_or(part, |(_, after)| after)
    })
}

/// Returns the sentences of a Rust file above its tests, by line: comments and the inside of
/// strings.
fn shown(text: &str) -> Vec<(usize, String)> {
    let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or(text);
    let mut texts = Vec::new();
    let (mut in_string, mut raw) = (false, false);
    for (index, line) in code.lines().enumerate() {
        let bare = line.trim_start();
        if !in_string && bare.starts_with("//") {
            let comment = bare.trim_start_matches(['/', '!']);
            texts.push((index + 1, comment.to_string()));
            continue;
        }
        let mut inside = String::new();
        let mut letters = line.chars().peekable();
        let mut before = ' ';
        while let Some(letter) = letters.next() {
            match letter {
                '\\' if in_string && !raw => inside.extend(letters.next()),
                '"' if in_string => {
                    in_string = raw && letters.peek() != Some(&'#');
                    inside.push('\n');
                }
                // The letter '"' begins no string.
                '"' if before != '\'' => (in_string, raw) = (true, before == '#'),
                '/' if !in_string && letters.peek() == Some(&'/') => break,
                _ if in_string => inside.push(letter),
                _ => {}
            }
            before = letter;
        }
        // A single word is a key or a name, not a sentence.
        let sentences = inside.split('\n').filter(|text| text.trim().contains(' '));
        texts.extend(sentences.map(|text| (index + 1, text.to_string())));
    }
    texts
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMAND: &str = "crates/tavola-cli/src/cmd/a.rs";

    fn lines_found(path: &str, text: &str) -> Vec<usize> {
        let findings = check(&Tree::of(&[(path, text)]));
        findings.iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn plain_sentences_pass() {
        let page = "Returns the value, or `None` if there is none.\nWho may write? Its group.\n\
            A name stands for a file. The clock stands still.\n";
        assert!(lines_found("README.md", page).is_empty());
        let code = "//! What is shown.\n/// Returns it, if there is none.\n\
            fn told() { print(\"it\") }\n\
            // Reported later.\nlet a = ('\"', told(\"stands\"));\nlet b = \"is not {told:?}\";\n\
            #[cfg(test)]\nmod tests {\n\"is told\"\n";
        assert!(lines_found(COMMAND, code).is_empty());
        assert!(lines_found("examples/a.md", "It is told anew.\n").is_empty());
        assert!(lines_found("crates/tavola/src/models/a.rs", "/// It is told.\n").is_empty());
    }

    #[test]
    fn banned_words_are_found() {
        for (word, _) in BANNED {
            let page = format!("Fine.\nIt {} here.\n", word.to_uppercase());
            assert_eq!(lines_found("docs/guide/a.md", &page), [2], "{word}");
            let code =
                format!("/// It {word} here.\nf(\"a\", \"it {word}\");\n\"\\\nit {word}\n\"\n");
            assert_eq!(lines_found(COMMAND, &code), [1, 2, 4], "{word}");
            let comments = format!("//! It {word} here.\nf();\n    // It {word}.\n");
            assert_eq!(lines_found(COMMAND, &comments), [1, 3], "{word}");
        }
    }

    #[test]
    fn clauses_without_a_noun_are_found() {
        for clause in CLAUSES {
            let code = format!("/// It is sent{clause}asks.\n// A client who asks.\n");
            let path = "crates/tavola-server/src/net/a.rs";
            assert_eq!(lines_found(path, &code), [1], "{clause}");
            assert!(lines_found(COMMAND, &code).is_empty());
        }
    }

    #[test]
    fn openings_and_half_sentences_are_found() {
        for text in [
            "Who asks waits.",
            "Fine. So many are kept.",
            "The key; false: none.",
        ] {
            assert_eq!(lines_found("README.md", text), [1], "{text}");
        }
        let doc = "/// The value; `None`: it is missing.\n";
        assert_eq!(lines_found("crates/tavola/src/table/a.rs", doc), [1]);
    }
}

//! Plain words in pages and comments: none that only fill or praise.

use super::marks::has_word;
use super::stale::prose;
use super::tree::{File, Finding, Tree};

const BANNED: [&str; 30] = [
    "basically",
    "battle-tested",
    "best-in-class",
    "blazing",
    "blazingly",
    "bleeding-edge",
    "cutting-edge",
    "delve",
    "effortless",
    "effortlessly",
    "enterprise-grade",
    "game-changer",
    "game-changing",
    "in order to",
    "it is important to note",
    "it is worth noting",
    "it should be noted",
    "leverage",
    "leverages",
    "lightning-fast",
    "needless to say",
    "obviously",
    "of course",
    "please note",
    "seamless",
    "seamlessly",
    "state-of-the-art",
    "utilise",
    "utilize",
    "world-class",
];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.files() {
        let lines: Vec<(usize, &str)> = if file.has_extension(&["md"]) {
            prose(file).collect()
        } else if file.is_rust() {
            file.lines()
                .filter(|(_, text)| text.trim_start().starts_with("//"))
                .collect()
        } else {
            continue;
        };
        findings.extend(
            lines
                .iter()
                .filter_map(|(line, text)| check_line(file, *line, text)),
        );
    }
    findings
}

fn check_line(file: &File, line: usize, text: &str) -> Option<Finding> {
    let text = text.to_lowercase();
    let word = BANNED.into_iter().find(|word| has_word(&text, word))?;
    Some(file.finding(
        line,
        format!("\"{word}\" says nothing; leave it out or say it plainly"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_words_pass() {
        let page = "A table that every process sits at.\n```\n$ grep obviously log\n```\n";
        let code = "//! Reads take no lock.\nfn f() { g(\"obviously\") }\n";
        assert_eq!(check(&Tree::of(&[("a.md", page), ("a.rs", code)])), []);
    }

    #[test]
    fn filler_is_found() {
        for word in BANNED {
            let page = format!("Fine.\nIt is {} fast.\n", word.to_uppercase());
            let code = format!("/// It is {word} fast.\nfn f() {{}}\n");
            let findings = check(&Tree::of(&[("a.md", &page), ("a.rs", &code)]));
            let lines: Vec<usize> = findings.iter().map(|finding| finding.line).collect();
            assert_eq!(lines, [2, 1], "{word}");
        }
    }
}

//! `cargo xtask wrap PAGE...`: breaks the prose of pages at 100 columns, and changes no word.
//!
//! Paragraphs and list items are filled; a word in backticks stays on one line, so that a path is
//! found whole. Tables, headings, comments and fenced code stay as they are.

use crate::failure::Failure;
use std::path::Path;

const MAX_COLUMNS: usize = 100;

/// Wraps the pages that are named, seen from the top of the repository.
pub(crate) fn run(root: &Path, pages: &[&str]) -> Result<String, Failure> {
    let mut count = 0;
    for page in pages {
        let path = root.join(page);
        let failed = |source| Failure::File {
            path: path.clone(),
            source,
        };
        let text = std::fs::read_to_string(&path).map_err(failed)?;
        let new = wrapped(&text);
        if new != text {
            std::fs::write(&path, new).map_err(failed)?;
            count += 1;
        }
    }
    Ok(format!("wrap: {count} of {} pages changed", pages.len()))
}

/// A paragraph or list item that is being read: what its first line begins with, what the others
/// do, and its words.
#[derive(Default)]
struct Paragraph {
    first: String,
    rest: String,
    text: String,
}

fn wrapped(page: &str) -> String {
    let (mut out, mut paragraph) = (Vec::new(), Paragraph::default());
    let mut in_fence = false;
    for line in page.lines() {
        let is_fence = line.trim_start().starts_with("```");
        in_fence ^= is_fence;
        if is_fence || in_fence || stays(line) {
            paragraph.finish(&mut out);
            out.push(line.to_owned());
        } else if let Some(marker) = marker(line) {
            paragraph.finish(&mut out);
            paragraph.first = line[..marker].to_owned();
            paragraph.rest = " ".repeat(marker);
            line[marker..].clone_into(&mut paragraph.text);
        } else {
            paragraph.add(line);
        }
    }
    paragraph.finish(&mut out);
    let end = if page.ends_with('\n') { "\n" } else { "" };
    out.join("\n") + end
}

/// Whether a line is no part of a paragraph.
fn stays(line: &str) -> bool {
    let line = line.trim_start();
    line.is_empty() || line.starts_with(['|', '#', '>', '<'])
}

/// How long the beginning of a list item is, `- ` or `1. ` with what is before it.
fn marker(line: &str) -> Option<usize> {
    let text = line.trim_start();
    let (mark, _) = text.split_once(' ')?;
    let is_number = |digits: &str| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    let is_mark = matches!(mark, "-" | "*" | "+") || mark.strip_suffix('.').is_some_and(is_number);
    is_mark.then_some(line.len() - text.len() + mark.len() + 1)
}

impl Paragraph {
    fn add(&mut self, line: &str) {
        let text = line.trim_start();
        if self.text.is_empty() {
            self.first = line[..line.len() - text.len()].to_owned();
            self.rest.clone_from(&self.first);
        } else {
            self.text.push(' ');
        }
        self.text += text;
    }

    fn finish(&mut self, out: &mut Vec<String>) {
        let done = std::mem::take(self);
        let (mut line, mut is_empty) = (done.first, true);
        for word in words(&done.text) {
            let fits = line.chars().count() + 1 + word.chars().count() <= MAX_COLUMNS;
            // At the beginning of a line this word would be a mark.
            let is_mark = stays(&word) || marker(&format!("{word} ")).is_some();
            if !is_empty && (fits || is_mark) {
                line.push(' ');
            } else if !is_empty {
                out.push(std::mem::replace(&mut line, done.rest.clone()));
            }
            line += &word;
            is_empty = false;
        }
        if !is_empty {
            out.push(line);
        }
    }
}

/// The words of a text; blanks within backticks do not divide.
fn words(text: &str) -> Vec<String> {
    let (mut words, mut is_open) = (Vec::<String>::new(), false);
    for word in text.split_whitespace() {
        match words.last_mut() {
            Some(last) if is_open => {
                last.push(' ');
                last.push_str(word);
            }
            _ => words.push(word.to_owned()),
        }
        is_open ^= word.matches('`').count() % 2 == 1;
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fills_paragraphs_and_items() {
        let long = "word ".repeat(40);
        let out = wrapped(&format!("{long}\n- {long}\n  more\n\n1. one\n"));
        assert!(out.lines().all(|line| line.chars().count() <= MAX_COLUMNS));
        assert!(
            out.contains("\n- word") && out.contains("\n  word") && out.ends_with("\n1. one\n")
        );
        assert_eq!(wrapped(&out), out);
        assert_eq!(wrapped("a\nb\n"), "a b\n");
    }

    #[test]
    fn leaves_tables_headings_and_code() {
        let wide = "x ".repeat(80);
        let page = format!("# {wide}\n| {wide} |\n<!-- {wide}-->\n```\n{wide}\n- a\nb\n```\n");
        assert_eq!(wrapped(&page), page);
    }

    #[test]
    fn keeps_words_in_backticks_whole_and_makes_no_marks() {
        let out = wrapped(&format!("{} `a b c d e f` z\n", "y".repeat(93)));
        assert_eq!(out.lines().nth(1), Some("`a b c d e f` z"));
        let out = wrapped(&format!("{} - z\n", "y".repeat(99)));
        assert!(!out.contains("\n-"));
    }
}

//! Lines of pages fit in a window.

use super::tree::{Finding, Tree};

const MAX_COLUMNS: usize = 100;

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let pages = tree
        .files()
        .iter()
        .filter(|file| file.has_extension(&["md"]));
    for page in pages {
        let wide = page.lines().filter_map(|(line, text)| {
            let columns = text.chars().count();
            let message = format!("{columns} columns; {MAX_COLUMNS} is the most");
            (columns > MAX_COLUMNS).then(|| page.finding(line, message))
        });
        findings.extend(wide);
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines_found(path: &str, text: &str) -> Vec<usize> {
        let findings = check(&Tree::of(&[(path, text)]));
        findings.iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn narrow_pages_pass() {
        assert!(lines_found("a.md", &"é".repeat(100)).is_empty());
        assert!(lines_found("a.rs", &"y".repeat(101)).is_empty());
    }

    #[test]
    fn a_wide_line_is_found() {
        let text = format!("x\n{}\n| {} |\n", "y".repeat(101), "z".repeat(101));
        assert_eq!(lines_found("a.md", &text), [2, 3]);
    }
}

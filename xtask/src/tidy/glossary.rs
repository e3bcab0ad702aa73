//! The glossary of private terms stays short: a newcomer has to learn each of them.

use super::tree::{File, Finding, Tree};
use std::collections::BTreeSet;

const PAGE: &str = "ARCHITECTURE.md";
const HEADING: &str = "### Private terms";
const MAX_TERMS: usize = 25;
/// Lines of one entry.
const MAX_LINES: usize = 2;

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let pages = tree.files().iter().filter(|file| file.path == PAGE);
    pages.flat_map(check_page).collect()
}

fn check_page(page: &File) -> Vec<Finding> {
    let mut section = page.lines().skip_while(|(_, text)| *text != HEADING);
    if section.next().is_none() {
        return vec![page.finding(1, format!("the section \"{HEADING}\" is missing"))];
    }
    let mut findings = Vec::new();
    let mut terms = BTreeSet::new();
    let (mut count, mut height) = (0, 0);
    for (line, text) in section.take_while(|(_, text)| !text.starts_with('#')) {
        if let Some((term, _)) = text
            .strip_prefix("- **")
            .and_then(|rest| rest.split_once("**"))
        {
            (count, height) = (count + 1, 0);
            if count > MAX_TERMS {
                let message = format!("{count} private terms; {MAX_TERMS} is the most");
                findings.push(page.finding(line, message));
            }
            if !terms.insert(term) {
                let message = format!("\"{term}\" has an entry already; a term has one meaning");
                findings.push(page.finding(line, message));
            }
        }
        height += 1;
        if count > 0 && !text.is_empty() && height > MAX_LINES {
            findings.push(page.finding(line, format!("an entry has at most {MAX_LINES} lines")));
        }
    }
    if count == 0 {
        findings.push(page.finding(1, format!("no term under \"{HEADING}\"")));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines_found(entries: &str) -> Vec<usize> {
        let page = format!("{HEADING}\n\n{entries}\n### More\n\n- **a**: one\n  two\n  three\n");
        let findings = check(&Tree::of(&[(PAGE, &page)]));
        findings.iter().map(|finding| finding.line).collect()
    }

    fn entries(count: usize) -> String {
        (0..count)
            .map(|number| format!("- **term {number}**: a\n  meaning\n"))
            .collect()
    }

    #[test]
    fn a_short_glossary_passes() {
        assert!(lines_found(&entries(MAX_TERMS)).is_empty());
        assert!(check(&Tree::of(&[("docs/a.md", "No glossary.\n")])).is_empty());
    }

    #[test]
    fn a_term_too_many_is_found() {
        assert_eq!(lines_found(&entries(MAX_TERMS + 1)), [3 + 2 * MAX_TERMS]);
    }

    #[test]
    fn a_second_meaning_is_found() {
        assert_eq!(
            lines_found("- **a**: one\n- **b**: two\n- **a**: three\n"),
            [5]
        );
    }

    #[test]
    fn a_long_entry_is_found() {
        assert_eq!(lines_found("- **a**: one\n  two\n  three\n"), [5]);
    }

    #[test]
    fn a_missing_glossary_is_found() {
        assert_eq!(lines_found("None.\n"), [1]);
        assert_eq!(check(&Tree::of(&[(PAGE, "# Words\n")])).len(), 1);
    }
}

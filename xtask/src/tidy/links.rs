//! A link of a page leads to a heading that exists, and stays in the book.
//!
//! Whether the file of a link exists is the rule `stale`. This rule looks at what is behind the
//! `#`, as GitHub and mdBook name the headings of a page, and at the pages below `docs`: these are
//! the chapters of a site, and what is not a chapter is not on it.

use super::stale::{folder, join, prose};
use super::tree::{File, Finding, Tree};
use std::collections::BTreeSet;

/// The folder of the site's chapters, and the list of them.
const BOOK: &str = "docs/";
const SUMMARY: &str = "docs/SUMMARY.md";

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for page in tree.files().iter().filter(|file| is_page(file)) {
        for (line, text) in prose(page) {
            for link in links(text) {
                if let Some(message) = fault(tree, page, link) {
                    findings.push(page.finding(line, message));
                }
            }
        }
        findings.extend(not_a_chapter(tree, page));
    }
    findings
}

fn is_page(file: &File) -> bool {
    file.has_extension(&["md"])
}

/// Targets of `[text](target)` that lie in the repository.
fn links(text: &str) -> impl Iterator<Item = &str> {
    let targets = text.split("](").skip(1);
    let targets = targets.filter_map(|rest| rest.split([')', ' ']).next());
    targets.filter(|target| !target.contains("://") && !target.starts_with("mailto:"))
}

/// What is wrong with a link of a page.
fn fault(tree: &Tree, page: &File, link: &str) -> Option<String> {
    let (path, anchor) = link
        .split_once('#')
        .map_or((link, None), |(path, anchor)| (path, Some(anchor)));
    let target = match path {
        "" => page.path.clone(),
        path => join(folder(page), path)?,
    };
    if page.path.starts_with(BOOK) && !is_chapter_path(&target) {
        return Some(format!(
            "`{link}` leaves the site; name the path in backticks"
        ));
    }
    // A file that is not there is found by the rule `stale`.
    let target = tree.file(&target)?;
    let anchor = anchor.filter(|anchor| is_page(target) && !anchors(target).contains(*anchor))?;
    Some(format!("{} has no heading `#{anchor}`", target.path))
}

fn is_chapter_path(path: &str) -> bool {
    path.starts_with(BOOK) && path.ends_with(".md")
}

/// A page of the site that its list does not have.
fn not_a_chapter(tree: &Tree, page: &File) -> Option<Finding> {
    let summary = tree.file(SUMMARY)?;
    let path = page.path.strip_prefix(BOOK)?;
    let is_listed = page.path == SUMMARY
        || prose(summary).any(|(_, text)| links(text).any(|link| link == path));
    (!is_listed).then(|| page.finding(1, format!("is not listed in {SUMMARY}")))
}

/// The names of a page's headings. The second of two equal ones ends in `-1`.
fn anchors(page: &File) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for (_, text) in prose(page) {
        let Some(title) = text.trim_start_matches('#').strip_prefix(' ') else {
            continue;
        };
        if !text.starts_with('#') {
            continue;
        }
        let name = anchor(title);
        let mut unique = name.clone();
        let mut count = 0;
        while !all.insert(unique) {
            count += 1;
            unique = format!("{name}-{count}");
        }
    }
    all
}

fn anchor(title: &str) -> String {
    let title = title.trim().to_lowercase();
    let kept = title.chars().filter_map(|c| match c {
        ' ' => Some('-'),
        c if c.is_alphanumeric() || "_-".contains(c) => Some(c),
        _ => None,
    });
    kept.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const OTHER: &str = "# Other page\n\n## The `get` call, twice\n\n## Limits\n\n## Limits\n";

    fn faults(path: &str, text: &str) -> Vec<String> {
        let summary = "[a](guide/page.md) [b](guide/other.md)\n";
        let tree = Tree::of(&[
            (path, text),
            ("docs/guide/other.md", OTHER),
            (SUMMARY, summary),
            ("README.md", "# Tavola\n"),
        ]);
        let findings = check(&tree);
        findings
            .into_iter()
            .map(|finding| finding.message)
            .collect()
    }

    #[test]
    fn links_to_headings_pass() {
        let text = "# Page\n[a](#page) [b](other.md#the-get-call-twice) [c](other.md#limits-1) \
                    [d](other.md) [e](https://a.example/#b)\n```\n[f](#gone)\n# no heading\n```\n";
        assert!(faults("docs/guide/page.md", text).is_empty());
        let text = "[a](docs/guide/other.md#other-page) [b](README.md#tavola)\n";
        assert!(faults("CONTRIBUTING.md", text).is_empty());
    }

    #[test]
    fn links_to_no_heading_are_found() {
        let text = "# Page\n[a](#pages) [b](other.md#limits-2)\n```\n# gone\n```\n[c](#gone)\n";
        assert_eq!(faults("docs/guide/page.md", text).len(), 3);
        assert_eq!(faults("a.md", "[a](docs/guide/other.md#none)\n").len(), 1);
    }

    #[test]
    fn links_that_leave_the_site_are_found() {
        assert_eq!(
            faults("docs/guide/page.md", "[a](../../README.md)\n").len(),
            1
        );
        assert_eq!(
            faults("docs/guide/page.md", "[a](../../README.md#tavola)\n").len(),
            1
        );
    }

    #[test]
    fn a_page_that_is_not_listed_is_found() {
        assert_eq!(
            faults("docs/guide/page.md", "# Page\n"),
            Vec::<String>::new()
        );
        assert_eq!(faults("docs/guide/new.md", "# Page\n").len(), 1);
    }
}

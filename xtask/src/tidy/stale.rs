//! A path that a page mentions exists.
//!
//! Looked at are links and words in backticks of `*.md`, outside code fences. A word is taken for
//! a path when its first part is something at the top of the repository, or when it ends in `.rs`
//! or `.md`. The changelog describes the past, and is left out.

use super::tree::{File, Finding, Tree};

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree
        .files()
        .iter()
        .filter(|file| file.has_extension(&["md"]))
    {
        if file.name() == "CHANGELOG.md" {
            continue;
        }
        for (line, text) in prose(file) {
            let links = links(text)
                .into_iter()
                .filter(|link| !link_holds(tree, file, link));
            let words = ticked(text).filter(|word| names_path(tree, word));
            let words = words.filter(|word| !word_holds(tree, file, word));
            for path in links.chain(words) {
                findings.push(file.finding(line, format!("`{path}` is not there")));
            }
        }
    }
    findings
}

/// The lines of a page outside code fences.
pub(super) fn prose(file: &File) -> impl Iterator<Item = (usize, &str)> {
    let mut in_fence = false;
    file.lines().filter(move |(_, text)| {
        let is_fence = text.trim_start().starts_with("```");
        in_fence ^= is_fence;
        !in_fence && !is_fence
    })
}

/// Targets of `[text](target)` that lie in the repository.
fn links(text: &str) -> Vec<&str> {
    let targets = text
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split([')', ' ']).next());
    let local = |target: &&str| !target.contains("://") && !target.starts_with("mailto:");
    targets
        .filter(local)
        .filter_map(|target| target.split('#').next())
        .filter(|target| !target.is_empty())
        .collect()
}

/// Words in backticks.
fn ticked(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

fn names_path(tree: &Tree, word: &str) -> bool {
    let plain = word
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || "./_-".contains(c));
    if !plain || word.starts_with('/') || word.is_empty() {
        return false;
    }
    let is_source = word.ends_with(".rs") || word.ends_with(".md");
    let top = word
        .trim_start_matches("./")
        .split('/')
        .next()
        .unwrap_or(word);
    let below_top = word.contains('/') && (tree.holds(top) || ["crates", ".."].contains(&top));
    let is_extension = word.starts_with('.') && !word.contains('/');
    (is_source && !is_extension) || below_top
}

/// A link is relative to its page.
fn link_holds(tree: &Tree, page: &File, link: &str) -> bool {
    join(folder(page), link).is_some_and(|path| tree.holds(&path))
}

/// A word may also be relative to the top, or the end of a path.
fn word_holds(tree: &Tree, page: &File, word: &str) -> bool {
    link_holds(tree, page, word)
        || join("", word).is_some_and(|path| tree.holds(&path) || tree.holds_ending(&path))
}

pub(super) fn folder(page: &File) -> &str {
    page.path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// `path` seen from `folder`, without `.` and `..`; `None` when it leaves the repository.
pub(super) fn join(folder: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = Vec::new();
    for part in folder.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stale_in(text: &str) -> Vec<String> {
        let tree = Tree::of(&[
            ("docs/page.md", text),
            ("docs/other.md", ""),
            ("crates/tavola/src/lock/word.rs", ""),
            ("Makefile", ""),
        ]);
        let findings = check(&tree);
        findings
            .iter()
            .map(|f| f.message.split('`').nth(1).unwrap_or("").to_owned())
            .collect()
    }

    #[test]
    fn paths_that_exist_pass() {
        let text = "`crates/tavola/src/lock/word.rs` `lock/word.rs` `word.rs` `docs/` \
                    `../Makefile` [a](other.md#part) \
                    [b](../crates/tavola) [c](https://a.example/b.md) [d](#e)\n";
        assert!(stale_in(text).is_empty());
    }

    #[test]
    fn words_that_are_no_paths_pass() {
        let text = "`get/set` `MIT/Apache` `a::b` `/dev/shm/x` `.rs` `<name>.rs` `crates/*` `1/2`\n\
                    ```\ncat crates/gone.rs `gone.rs`\n```\n";
        assert!(stale_in(text).is_empty());
    }

    #[test]
    fn stale_paths_are_found() {
        let text = "`crates/tavola/src/gone.rs` `gone.md` `docs/gone` [a](gone.md) [b](../../x)\n";
        let expected = [
            "../../x",
            "crates/tavola/src/gone.rs",
            "docs/gone",
            "gone.md",
            "gone.md",
        ];
        let mut found = stale_in(text);
        found.sort();
        assert_eq!(found, expected);
    }

    #[test]
    fn the_changelog_may_describe_the_past() {
        let tree = Tree::of(&[("CHANGELOG.md", "`crates/gone.rs`"), ("crates/a.rs", "")]);
        assert_eq!(check(&tree), []);
    }
}

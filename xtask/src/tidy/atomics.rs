//! In the core, one file imports atomics, so that a model checker can stand in for them.
//!
//! Tests may, for what they keep beside the region.

use super::paths;
use super::tree::{Finding, Tree};

const CORE: &str = "crates/tavola/src/";
const ONE_PLACE: &str = "crates/tavola/src/sync.rs";

/// Other places that may, a file or a folder: path, reason.
const EXCEPTIONS: [(&str, &str); 4] = [
    (
        "crates/tavola/src/sync/",
        "the inner modules of that one place",
    ),
    (
        "crates/tavola/src/sys/process/",
        "state private to one process, seen by no other",
    ),
    (
        "crates/tavola/src/sys/map.rs",
        "a hint private to one process: where it mapped last",
    ),
    (
        "crates/tavola/src/sys/testing.rs",
        "words that a test shares with its children",
    ),
];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.rust_files() {
        let is_excepted = EXCEPTIONS
            .iter()
            .any(|(place, _)| file.path.starts_with(place));
        if file.path == ONE_PLACE || is_excepted || !file.path.starts_with(CORE) {
            continue;
        }
        let Ok(names) = paths::read(&file.text) else {
            continue;
        };
        let outside_tests = names.paths.iter().filter(|path| !path.is_in_tests());
        for path in outside_tests.filter(|path| names_atomics(&path.segments)) {
            findings.push(file.finding(path.line, format!("atomics come from {ONE_PLACE}")));
        }
    }
    findings
}

fn names_atomics(segments: &[String]) -> bool {
    let segments: Vec<&str> = segments.iter().take(3).map(String::as_str).collect();
    matches!(segments[..], ["std" | "core", "sync", "atomic"])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count_in(path: &str, text: &str) -> usize {
        check(&Tree::of(&[(path, text)])).len()
    }

    #[test]
    fn the_one_place_and_other_crates_may() {
        let text = "use core::sync::atomic::AtomicU64;";
        assert_eq!(count_in(ONE_PLACE, text), 0);
        assert_eq!(count_in("crates/tavola/src/sys/process/mod.rs", text), 0);
        assert_eq!(
            count_in(
                "crates/tavola/src/lock.rs",
                &format!("mod tests {{ {text} }}")
            ),
            0
        );
        assert_eq!(count_in("crates/tavola-cli/src/main.rs", text), 0);
    }

    #[test]
    fn the_rest_of_the_core_may_not() {
        let path = "crates/tavola/src/lock/word.rs";
        assert_eq!(count_in(path, "use std::sync::atomic::AtomicU64;"), 1);
        assert_eq!(
            count_in(path, "use core::{sync::{atomic::{AtomicU8, fence}}};"),
            2
        );
        assert_eq!(
            count_in(path, "fn f() { ::std::sync::atomic::fence(o) }"),
            1
        );
        assert_eq!(
            count_in(path, "use crate::sync::W64; use std::sync::Arc;"),
            0
        );
    }
}

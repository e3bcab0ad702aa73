//! The operations of the core know the index only through `index::locate`, and none of its
//! structures. So another kind of index can stand beside the hash.

use super::layers::{CORE, module_of, resolve};
use super::paths;
use super::tree::{Finding, Tree};

/// The modules of the operations.
const OPERATIONS: [&str; 2] = ["engine", "table"];
/// Names of `layout` that say how the hash is built.
const STRUCTURES: [&str; 14] = [
    "ACCESSED",
    "BUCKETS",
    "Bucket",
    "DIR_INLINE",
    "LayoutWord",
    "PROTECTED",
    "SLOTS",
    "Segment",
    "is_key",
    "pending_ref",
    "pending_word",
    "slot_ref",
    "slot_tag",
    "slot_word",
];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.rust_files() {
        let Some(inner) = file.path.strip_prefix(CORE) else {
            continue;
        };
        let place = module_of(inner);
        let is_operation = |module: &String| OPERATIONS.contains(&module.as_str());
        let is_test = place.iter().any(|name| name == "tests");
        if is_test || !place.first().is_some_and(is_operation) {
            continue;
        }
        let Ok(names) = paths::read(&file.text) else {
            continue;
        };
        for path in names.paths.iter().filter(|path| !path.is_in_tests()) {
            let target = resolve(&place, path);
            let target: Vec<&str> = target.iter().map(String::as_str).collect();
            let message = match target[..] {
                ["index", "locate", ..] => continue,
                ["index", ..] => "operations use the index through `index::locate` alone".into(),
                ["layout", name, ..] if STRUCTURES.contains(&name) => {
                    format!("`{name}` is the index's own; ask `index::locate` instead")
                }
                _ => continue,
            };
            findings.push(file.finding(path.line, message));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines_in(path: &str, text: &str) -> Vec<usize> {
        let tree = Tree::of(&[(&format!("{CORE}{path}"), text)]);
        check(&tree).iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn operations_may_use_the_seam() {
        let text = "use crate::index::locate::{find, Spot};\nuse crate::layout::{Hint, PAGE};";
        assert!(lines_in("engine/write.rs", text).is_empty());
        let test = "mod tests { use crate::index::dir; }";
        assert!(lines_in("table/read.rs", test).is_empty());
    }

    #[test]
    fn nothing_else_of_the_index_may_be_named() {
        let text = "use crate::index::lookup;\nuse crate::{index, layout::{Bucket, PAGE}};";
        assert_eq!(lines_in("engine/write.rs", text), [1, 2, 2]);
        let called = "fn f() { crate::layout::slot_ref(1) }";
        assert_eq!(lines_in("table/iter/part.rs", called), [1]);
    }

    #[test]
    fn recovery_and_the_index_know_the_structures() {
        let text = "use crate::layout::{Bucket, Segment};\nuse crate::index::lookup;";
        assert!(lines_in("recover/check.rs", text).is_empty());
        assert!(lines_in("index/find.rs", text).is_empty());
    }
}

//! The files of a module of the core do not use each other in a circle.
//!
//! Files in folders count one by one. What a file re-exports is the file's that defines it
//! (`modules.rs`). A call of a method of `Core` uses the file that defines it. Only the file that
//! opens a folder, and declares what the files in it share, may use them and be used by them. Tests
//! and models may use anything.

use super::layers::{CORE, LAYERS};
use super::modules::{Modules, Place};
use super::tree::{Finding, Tree};
use std::collections::{BTreeMap, BTreeSet};

/// The files that a file uses.
type Uses = BTreeMap<String, BTreeSet<String>>;

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let modules = Modules::read(tree);
    let mut findings = Vec::new();
    for module in LAYERS {
        let uses = uses_in(&modules, module);
        for circle in circles_of(&uses) {
            let message = format!(
                "files of `{module}` use each other in a circle: {}; move what they share into a \
                file below them",
                edges_in(&uses, &circle).join(", ")
            );
            findings.push(finding(tree, module, message));
        }
    }
    findings
}

fn finding(tree: &Tree, module: &str, message: String) -> Finding {
    let paths = [
        format!("{CORE}{module}/mod.rs"),
        format!("{CORE}{module}.rs"),
    ];
    let file = paths.iter().find_map(|path| tree.file(path));
    file.expect("a module has a file").finding(1, message)
}

fn uses_in(modules: &Modules, module: &str) -> Uses {
    let is_inside = |place: &Place| place.first().is_some_and(|first| first == module);
    let mut uses = Uses::new();
    for place in modules.places().into_iter().filter(is_inside) {
        let used = modules.used_by(&place).into_iter();
        let others = used.filter(|other| {
            is_inside(other) && !other.starts_with(&place) && !place.starts_with(other)
        });
        uses.insert(
            place.join("/"),
            others.map(|other| other.join("/")).collect(),
        );
    }
    uses
}

/// Returns who uses whom in a circle.
fn edges_in(uses: &Uses, circle: &[String]) -> Vec<String> {
    let mut edges = Vec::new();
    for file in circle {
        for used in uses.get(file).into_iter().flatten() {
            if circle.contains(used) {
                edges.push(format!("{file} -> {used}"));
            }
        }
    }
    edges
}

/// The sets of files that can be reached from each other, each sorted.
fn circles_of(uses: &Uses) -> Vec<Vec<String>> {
    let reached: BTreeMap<&String, BTreeSet<&String>> = uses
        .keys()
        .map(|file| (file, reached_from(uses, file)))
        .collect();
    let mut circles = Vec::new();
    for (file, reach) in reached.iter().filter(|(file, reach)| reach.contains(*file)) {
        let back = |other: &&&String| reached.get(**other).is_some_and(|all| all.contains(file));
        let circle: Vec<String> = reach
            .iter()
            .filter(back)
            .map(|name| (*name).clone())
            .collect();
        if !circles.contains(&circle) {
            circles.push(circle);
        }
    }
    circles
}

fn reached_from<'a>(uses: &'a Uses, file: &String) -> BTreeSet<&'a String> {
    let mut reached = BTreeSet::new();
    let mut left: Vec<&String> = uses.get(file).into_iter().flatten().collect();
    while let Some(next) = left.pop() {
        if reached.insert(next) {
            left.extend(uses.get(next).into_iter().flatten());
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(files: &[(&str, &str)]) -> Vec<String> {
        let files: Vec<(String, &str)> = files
            .iter()
            .map(|(path, text)| (format!("{CORE}{path}"), *text))
            .collect();
        let files: Vec<(&str, &str)> = files
            .iter()
            .map(|(path, text)| (path.as_str(), *text))
            .collect();
        let findings = check(&Tree::of(&files));
        findings.into_iter().map(|one| one.message).collect()
    }

    const ROOM: (&str, &str) = (
        "queue/mod.rs",
        "mod a; mod b; mod c; pub(crate) use a::take; pub(crate) use b::{give, B};",
    );

    #[test]
    fn files_may_use_files_below_them() {
        let files = [
            ROOM,
            ("queue/a.rs", "use super::b::give; use crate::queue::c::C;"),
            (
                "queue/b.rs",
                "use super::c::C; #[cfg(test)] mod tests { use super::super::a; }",
            ),
            ("queue/c.rs", "use crate::sync::W64;"),
        ];
        assert!(messages(&files).is_empty(), "{:?}", messages(&files));
    }

    #[test]
    fn a_circle_is_found_also_through_re_exports_and_inside_a_folder() {
        let files = [
            ROOM,
            ("queue/a.rs", "use super::give;"),
            ("queue/b.rs", "use super::c; fn f() { c::g() }"),
            ("queue/c/mod.rs", "mod d; mod e; pub(super) use d::g;"),
            ("queue/c/d.rs", "fn f() { super::super::take() }"),
            ("queue/c/e.rs", "use super::g; use crate::queue::B;"),
        ];
        let messages = messages(&files);
        assert_eq!(messages.len(), 1);
        let circle = "circle: queue/a -> queue/b, queue/b -> queue/c/d, queue/c/d -> queue/a;";
        assert!(messages[0].contains(circle), "{messages:?}");
    }

    #[test]
    fn a_folder_may_share_what_its_own_file_defines() {
        let files = [
            ROOM,
            ("queue/a.rs", "use super::C;"),
            ("queue/b/mod.rs", "mod d; use d::D; use super::a::A;"),
            ("queue/b/d.rs", "use super::B;"),
            (
                "queue/c.rs",
                "use super::b::{self as other, B}; fn f() { other::D }",
            ),
        ];
        assert!(messages(&files).is_empty(), "{:?}", messages(&files));
    }

    #[test]
    fn a_circle_is_found_also_through_methods() {
        let files = [
            ("engine/mod.rs", "mod core; mod fetch; pub use core::Core;"),
            (
                "engine/core.rs",
                "impl Core { fn lock(&self) { self.fetch() } }",
            ),
            (
                "engine/fetch.rs",
                "impl Core { fn fetch(&self) { self.lock() } }",
            ),
        ];
        assert_eq!(messages(&files).len(), 1);
    }
}

//! The files of a room of the core do not use each other in a circle.
//!
//! A folder in a room counts as one file, and `mod.rs` as none: what it re-exports is the file's
//! that it is from. Tests and models may use anything.

use super::paths;
use super::rooms::{CORE, ROOMS, module_of, resolve};
use super::tree::{Finding, Tree};
use std::collections::{BTreeMap, BTreeSet};

/// The files that a file uses.
type Uses = BTreeMap<String, BTreeSet<String>>;

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for room in ROOMS {
        let uses = uses_in(tree, room);
        for circle in circles_of(&uses) {
            let message = format!(
                "files of `{room}` use each other in a circle: {}; move what they share into a \
                file below them",
                circle.join(", ")
            );
            findings.push(finding(tree, room, message));
        }
    }
    findings
}

fn finding(tree: &Tree, room: &str, message: String) -> Finding {
    let paths = [format!("{CORE}{room}/mod.rs"), format!("{CORE}{room}.rs")];
    let file = paths.iter().find_map(|path| tree.file(path));
    file.expect("a room has a file").finding(1, message)
}

fn uses_in(tree: &Tree, room: &str) -> Uses {
    let mut uses = Uses::new();
    let mut re_exported = BTreeMap::new();
    let mut named = Vec::new();
    for file in tree.rust_files() {
        let Some(inner) = file.path.strip_prefix(CORE) else {
            continue;
        };
        let place = module_of(inner);
        let is_test = |name: &String| name == "tests" || name == "models";
        if place.first().map(String::as_str) != Some(room) || place.iter().any(is_test) {
            continue;
        }
        let Ok(names) = paths::read(&file.text) else {
            continue;
        };
        let Some(own) = place.get(1) else {
            // `pub use find::find` in the room's own file.
            for path in names.paths.iter().filter(|path| path.segments.len() == 2) {
                re_exported.insert(path.segments[1].clone(), path.segments[0].clone());
            }
            continue;
        };
        uses.entry(own.clone()).or_default();
        for path in names.paths.iter().filter(|path| !path.is_in_tests()) {
            let target = resolve(&place, path);
            if let [of, name, ..] = &target[..]
                && of == room
            {
                named.push((own.clone(), name.clone()));
            }
        }
    }
    for (own, name) in named {
        let file = match uses.contains_key(&name) {
            true => name,
            false => re_exported.get(&name).cloned().unwrap_or(name),
        };
        if file != own
            && uses.contains_key(&file)
            && let Some(used) = uses.get_mut(&own)
        {
            used.insert(file);
        }
    }
    uses
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
    fn a_circle_is_found_also_through_a_re_export_and_a_folder() {
        let files = [
            ROOM,
            ("queue/a.rs", "use super::give;"),
            ("queue/b.rs", "use super::c::C;"),
            ("queue/c/mod.rs", ""),
            ("queue/c/d.rs", "fn f() { super::super::take() }"),
        ];
        let messages = messages(&files);
        assert_eq!(messages.len(), 1);
        assert!(messages[0].contains("circle: a, b, c;"), "{messages:?}");
    }
}

//! The modules of the core use only modules below them.
//!
//! What a path names is resolved from the file it is in, so `crate::lock`, `super::lock` and a
//! name that `lib.rs` re-exports from `lock` are all seen as the module `lock`. Tests may look
//! anywhere.

use super::paths::{self, Named};
use super::tree::{File, Finding, Tree};
use std::collections::BTreeMap;

pub(super) const CORE: &str = "crates/tavola/src/";

/// The modules, lowest first.
pub(super) const LAYERS: [&str; 16] = [
    "sync", "error", "sys", "layout", "region", "lock", "alloc", "values", "journal", "index",
    "recover", "queue", "log", "locks", "engine", "table",
];

/// Files that may use one module above them: path, module, reason.
const EXCEPTIONS: [(&str, &str, &str); 0] = [];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let exported = exported(tree);
    let mut findings = Vec::new();
    for file in tree.rust_files() {
        let Some(inner) = file.path.strip_prefix(CORE) else {
            continue;
        };
        let place = module_of(inner);
        let Some(module) = place.first() else {
            continue;
        };
        // They look anywhere, as tests do.
        if module == "models" {
            continue;
        }
        match LAYERS.iter().position(|name| name == module) {
            Some(height) if !place.iter().any(|name| name == "tests") => {
                findings.extend(check_module(file, &place, height, &exported));
            }
            Some(_) => {}
            None => {
                let message =
                    format!("`{module}` has no place in the order of modules; give it one");
                findings.push(file.finding(1, message));
            }
        }
    }
    findings
}

fn check_module(
    file: &File,
    place: &[String],
    height: usize,
    exported: &BTreeMap<String, String>,
) -> Vec<Finding> {
    let Ok(names) = paths::read(&file.text) else {
        return Vec::new();
    };
    let mut findings = Vec::new();
    for path in names.paths.iter().filter(|path| !path.is_in_tests()) {
        let Some(target) = resolve(place, path).into_iter().next() else {
            continue;
        };
        if target == "*" {
            findings.push(file.finding(path.line, "name the module instead of the whole crate"));
            continue;
        }
        let module = exported.get(&target).unwrap_or(&target);
        let above = LAYERS
            .iter()
            .position(|name| name == module)
            .is_some_and(|at| at > height);
        if above && !is_excepted(&file.path, module) {
            let message = format!(
                "`{}` may not use `{module}`, a module above it",
                LAYERS[height]
            );
            findings.push(file.finding(path.line, message));
        }
    }
    findings
}

fn is_excepted(path: &str, module: &str) -> bool {
    EXCEPTIONS
        .iter()
        .any(|(file, above, _)| *file == path && *above == module)
}

/// The module that a file is: `alloc/mod.rs` and `alloc.rs` are `alloc`, `lib.rs` is the crate.
pub(super) fn module_of(inner: &str) -> Vec<String> {
    let stem = inner.trim_end_matches(".rs");
    let stem = stem.strip_suffix("/mod").unwrap_or(stem);
    if stem == "lib" {
        return Vec::new();
    }
    stem.split('/').map(str::to_owned).collect()
}

/// The names below the crate that a path leads along; none when it leads elsewhere.
pub(super) fn resolve(place: &[String], path: &Named) -> Vec<String> {
    let mut module: Vec<&String> = place.iter().chain(&path.modules).collect();
    let mut segments = path.segments.iter();
    match path.segments[0].as_str() {
        "crate" => {
            module.clear();
            segments.next();
        }
        "super" => {
            for _ in path
                .segments
                .iter()
                .take_while(|segment| *segment == "super")
            {
                module.pop();
                segments.next();
            }
        }
        _ => return Vec::new(),
    }
    module.into_iter().chain(segments).cloned().collect()
}

/// What `lib.rs` re-exports: name → module.
fn exported(tree: &Tree) -> BTreeMap<String, String> {
    let mut exported = BTreeMap::new();
    let Some(lib) = tree.file(&format!("{CORE}lib.rs")) else {
        return exported;
    };
    let Ok(names) = paths::read(&lib.text) else {
        return exported;
    };
    for path in names.paths {
        let from = path.segments.iter().find(|segment| !is_relative(segment));
        if let (Some(module), Some(name)) = (from, path.segments.last())
            && LAYERS.contains(&module.as_str())
            && name != module
        {
            exported.insert(name.clone(), module.clone());
        }
    }
    exported
}

fn is_relative(segment: &str) -> bool {
    ["crate", "self"].contains(&segment)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIB: (&str, &str) = (
        "crates/tavola/src/lib.rs",
        "mod table;\npub use error::Error;\npub use crate::table::{Table, Options};\n",
    );

    fn findings_in(path: &str, text: &str) -> Vec<usize> {
        let tree = Tree::of(&[LIB, (&format!("{CORE}{path}"), text)]);
        check(&tree).iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn modules_below_may_be_used() {
        let text = "use crate::{Error, sync::W64};\nuse super::class;\nfn f() { crate::sys::g() }";
        assert!(findings_in("layout/slab.rs", text).is_empty());
        assert!(findings_in("table/mod.rs", "use crate::index::Index;").is_empty());
    }

    #[test]
    fn modules_above_may_not() {
        assert_eq!(
            findings_in("alloc/slab.rs", "\nuse crate::index::Index;"),
            [2]
        );
        assert_eq!(
            findings_in("alloc/mod.rs", "use crate::{sync::W64, table::Table};"),
            [1]
        );
        assert_eq!(
            findings_in("alloc/slab.rs", "use super::super::index;"),
            [1]
        );
        assert_eq!(
            findings_in("lock.rs", "fn f() { crate::recover::shard() }"),
            [1]
        );
        assert_eq!(
            findings_in("lock.rs", "mod word { use super::super::alloc::Block; }"),
            [1]
        );
    }

    #[test]
    fn a_re_export_counts_as_its_module() {
        assert_eq!(findings_in("lock.rs", "use crate::Table;"), [1]);
        assert_eq!(findings_in("lock.rs", "use super::*;"), [1]);
    }

    #[test]
    fn tests_may_import_anything() {
        assert!(findings_in("lock.rs", "mod tests { use crate::table::Table; }").is_empty());
        assert!(findings_in("lock/tests.rs", "use crate::table::Table;").is_empty());
    }

    #[test]
    fn a_new_module_needs_a_place() {
        assert_eq!(findings_in("cellar.rs", ""), [1]);
    }
}

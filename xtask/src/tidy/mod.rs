//! `cargo xtask tidy`: the rules of the house style that a machine can hold.
//!
//! A rule is a function from the [`Tree`] to its findings, in a file of its own, with a good and a
//! bad sample in its tests. What clippy, rustfmt and rustdoc hold is not repeated here.

mod atomics;
mod boundary;
mod circles;
mod columns;
mod commented;
mod functions;
mod glossary;
mod language;
mod layers;
mod links;
mod manifests;
mod marks;
mod methods;
mod modules;
mod names;
mod openings;
mod paths;
mod places;
mod plain;
mod seam;
mod size;
mod stale;
mod stores;
mod tree;
mod tuples;
mod types;
mod verbs;

use crate::failure::Failure;
use std::path::Path;
use tree::{Finding, Tree};

type Rule = fn(&Tree) -> Vec<Finding>;

const RULES: &[(&str, Rule)] = &[
    ("size", size::check),
    ("functions", functions::check),
    ("tuples", tuples::check),
    ("layers", layers::check),
    ("circles", circles::check),
    ("seam", seam::check),
    ("stores", stores::check),
    ("atomics", atomics::check),
    ("boundary", boundary::check),
    ("manifests", manifests::check),
    ("crates", manifests::check_direction),
    ("names", names::check),
    ("marks", marks::check),
    ("commented", commented::check),
    ("stale", stale::check),
    ("places", places::check),
    ("columns", columns::check),
    ("links", links::check),
    ("language", language::check),
    ("plain", plain::check),
    ("openings", openings::check),
    ("glossary", glossary::check),
    ("verbs", verbs::check),
    ("types", types::check),
];

/// Runs every rule and prints what it finds.
pub(crate) fn run(root: &Path) -> Result<String, Failure> {
    let tree = Tree::read(root)?;
    let mut count = 0;
    for (name, rule) in RULES {
        let mut findings = rule(&tree);
        findings.sort();
        findings.dedup();
        count += findings.len();
        for Finding {
            path,
            line,
            message,
        } in findings
        {
            println!("{path}:{line}: [{name}] {message}");
        }
    }
    let files = tree.files().len();
    if count > 0 {
        return Err(Failure::Findings { count, files });
    }
    Ok(format!("tidy: {} rules hold in {files} files", RULES.len()))
}

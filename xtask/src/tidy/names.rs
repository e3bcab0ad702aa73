//! No drawers: a file or module is named after what is in it.

use super::paths;
use super::tree::{Finding, Tree};

/// Headers here have the names that other libraries gave them.
const FOREIGN: &str = "crates/tavola-client-capi/include/compat/";

const BANNED: [&str; 6] = ["utils", "util", "common", "helpers", "helper", "misc"];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.files() {
        let mut parts = file
            .path
            .split('/')
            .map(|part| part.split('.').next().unwrap_or(part));
        let banned = parts.find(|part| is_banned(part));
        if let Some(name) = banned.filter(|_| !file.path.starts_with(FOREIGN)) {
            findings.push(file.finding(1, format!("`{name}` says nothing; name what is in it")));
        }
        if !file.is_rust() {
            continue;
        }
        let Ok(names) = paths::read(&file.text) else {
            continue;
        };
        for (name, line) in names.modules.iter().filter(|(name, _)| is_banned(name)) {
            findings.push(file.finding(*line, format!("`mod {name}` says nothing; name it")));
        }
    }
    findings
}

fn is_banned(name: &str) -> bool {
    BANNED.contains(&name.to_ascii_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptive_names_pass() {
        let tree = Tree::of(&[
            (
                "crates/tavola/src/lock/word.rs",
                "mod commons;\n// mod utils\nfn common() {}",
            ),
            ("docs/utilities.md", ""),
        ]);
        assert_eq!(check(&tree), []);
    }

    #[test]
    fn drawers_are_found() {
        for path in [
            "crates/tavola/tests/common/mod.rs",
            "src/utils.rs",
            "scripts/helpers.sh",
        ] {
            assert_eq!(check(&Tree::of(&[(path, "")])).len(), 1, "{path}");
        }
        assert_eq!(
            check(&Tree::of(&[("src/a.rs", "mod a;\nmod misc { }")]))[0].line,
            2
        );
    }
}

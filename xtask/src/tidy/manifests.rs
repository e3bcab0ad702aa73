//! Every dependency has its reason, and crates of the workspace depend on each other one way.

use super::tree::{File, Finding, Tree};

/// Which crates of the workspace a crate may use.
const DIRECTION: [(&str, &[&str]); 17] = [
    // For its tests.
    ("tavola", &["tavola-model"]),
    ("tavola-model", &["tavola"]),
    ("tavola-proto", &[]),
    ("tavola-capi", &["tavola", "tavola-cdb"]),
    ("tavola-cdb", &[]),
    // The server and its table for its tests.
    (
        "tavola-client",
        &["tavola", "tavola-proto", "tavola-server"],
    ),
    (
        "tavola-client-capi",
        &["tavola", "tavola-client", "tavola-server"],
    ),
    ("tavola-server", &["tavola", "tavola-proto"]),
    ("tavola-near", &["tavola", "tavola-proto"]),
    ("tavola-program", &[]),
    (
        "tavola-bench",
        &[
            "tavola",
            "tavola-cdb",
            "tavola-client",
            "tavola-program",
            "tavola-proto",
        ],
    ),
    ("tavola-torture", &["tavola", "tavola-model"]),
    ("tavola-tracing", &["tavola"]),
    (
        "tavola-cli",
        &[
            "tavola",
            "tavola-cdb",
            "tavola-client",
            "tavola-near",
            "tavola-program",
            "tavola-server",
        ],
    ),
    ("tavola-python", &["tavola", "tavola-cdb", "tavola-client"]),
    (
        "tavola-fuzz",
        &[
            "tavola",
            "tavola-cdb",
            "tavola-client",
            "tavola-model",
            "tavola-proto",
        ],
    ),
    ("xtask", &[]),
];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in manifests(tree) {
        for dependency in dependencies(file)
            .iter()
            .filter(|dependency| !dependency.has_reason)
        {
            let message = format!(
                "`{}` needs a comment line above: why it is here",
                dependency.name
            );
            findings.push(file.finding(dependency.line, message));
        }
    }
    findings
}

pub(super) fn check_direction(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in manifests(tree) {
        let Some((line, package)) = package(file) else {
            continue;
        };
        let Some((_, allowed)) = DIRECTION.iter().find(|(name, _)| *name == package) else {
            let message = format!("`{package}` has no place in the table of crates; give it one");
            findings.push(file.finding(line, message));
            continue;
        };
        for Dependency { line, name, .. } in dependencies(file) {
            let ours = DIRECTION.iter().any(|(ours, _)| *ours == name);
            if ours && !allowed.contains(&name.as_str()) {
                findings.push(file.finding(line, format!("`{package}` may not use `{name}`")));
            }
        }
    }
    findings
}

fn manifests(tree: &Tree) -> impl Iterator<Item = &File> {
    tree.files()
        .iter()
        .filter(|file| file.name() == "Cargo.toml")
}

/// The line and the name of `[package]`.
fn package(file: &File) -> Option<(usize, String)> {
    let mut lines = file
        .lines()
        .skip_while(|(_, text)| text.trim() != "[package]")
        .skip(1);
    let (line, text) = lines
        .by_ref()
        .take_while(|(_, text)| !text.starts_with('['))
        .find(|(_, text)| key(text) == Some("name"))?;
    Some((line, text.split('"').nth(1)?.to_owned()))
}

struct Dependency {
    line: usize,
    name: String,
    has_reason: bool,
}

/// Reads `name = …` lines of dependency sections, and sections of one dependency.
fn dependencies(file: &File) -> Vec<Dependency> {
    let mut found = Vec::new();
    let mut in_section = false;
    let mut open_brackets = 0;
    let mut above = "";
    for (line, text) in file.lines() {
        let text = text.trim();
        let name = match text.strip_prefix('[') {
            Some(header) if open_brackets == 0 => {
                let header = header.trim_end_matches(']');
                in_section = header.ends_with("dependencies");
                header.rsplit_once("dependencies.").map(|(_, name)| name)
            }
            _ if in_section && open_brackets == 0 => key(text),
            _ => None,
        };
        if let Some(name) = name.map(|name| renamed(text).unwrap_or(name)) {
            let has_reason = above
                .strip_prefix('#')
                .is_some_and(|why| why.trim().contains(' '));
            found.push(Dependency {
                line,
                name: name.to_owned(),
                has_reason,
            });
        }
        if name.is_none() || in_section {
            open_brackets += depth_change(text);
        }
        above = text;
    }
    found
}

/// The package of a dependency that goes by another name: `{ package = "…", … }`.
fn renamed(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("package = \"")?;
    rest.split('"').next()
}

/// The first word of `key = value` or `key.part = value`.
fn key(text: &str) -> Option<&str> {
    let (key, _) = text.split_once('=')?;
    let key = key.split('.').next()?.trim().trim_matches('"');
    (!key.is_empty() && !key.starts_with('#')).then_some(key)
}

/// Brackets opened less brackets closed, outside strings and comments.
fn depth_change(text: &str) -> i32 {
    let code = text.split('"').step_by(2).collect::<String>();
    let code = code.split('#').next().unwrap_or_default();
    let count = |wanted: [char; 2]| code.matches(wanted).count() as i32;
    count(['[', '{']) - count([']', '}'])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names_without_reason(text: &str) -> Vec<String> {
        let tree = Tree::of(&[("Cargo.toml", text)]);
        let findings = check(&tree);
        findings
            .iter()
            .map(|f| f.message.split('`').nth(1).unwrap_or("").to_owned())
            .collect()
    }

    #[test]
    fn reasons_stand_above() {
        let text = "[package]\nname = \"a\"\n[dependencies]\n\
                    # System calls of Linux.\nlibc = \"0.2\"\n\
                    # Reads Rust.\nsyn = { version = \"2\", features = [\n    \"full\",\n] }\n\
                    # Makes noise.\nrand.workspace = true\n[features]\nx = []\n";
        assert!(names_without_reason(text).is_empty());
    }

    #[test]
    fn a_line_without_its_reason_is_found() {
        let text = "[dependencies]\nlibc = \"0.2\"\n# One word counts for one line.\na = \"1\"\n\
                    b = { version = \"1\", features = [\n  \"x\",\n] }\nc.workspace = true\n";
        assert_eq!(names_without_reason(text), ["libc", "b", "c"]);
    }

    #[test]
    fn every_kind_of_section_counts() {
        let text = "[dev-dependencies]\na = \"1\"\n\n[target.'cfg(unix)'.build-dependencies]\n\
                    b = \"1\"\n[dependencies.c]\nversion = \"1\"\n\
                    [workspace.dependencies]\nd = \"1\"\n";
        assert_eq!(names_without_reason(text), ["a", "b", "c", "d"]);
    }

    fn manifest(package: &str, dependency: &str) -> String {
        format!(
            "[package]\nname = \"{package}\"\n[dependencies]\n# The table.\n{dependency} = \"1\"\n"
        )
    }

    #[test]
    fn crates_depend_one_way() {
        let lines = |text: &str| {
            let findings = check_direction(&Tree::of(&[("Cargo.toml", text)]));
            findings
                .iter()
                .map(|finding| finding.line)
                .collect::<Vec<_>>()
        };
        assert!(lines(&manifest("tavola-cli", "tavola-server")).is_empty());
        assert_eq!(lines(&manifest("tavola-cli", "tavola-bench")), [5]);
        assert!(lines(&manifest("tavola", "libc")).is_empty());
        assert_eq!(lines(&manifest("tavola", "tavola-proto")), [5]);
        assert_eq!(lines(&manifest("tavola-proto", "tavola")), [5]);
        assert_eq!(lines(&manifest("tavola-cellar", "libc")), [2]);
        let renamed = manifest("tavola-proto", "core = { package = \"tavola\" }\n# x y\na");
        assert_eq!(lines(&renamed), [5]);
    }
}

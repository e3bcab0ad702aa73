//! Files stay short enough to be read in one sitting, and lines fit in a window.

use super::tree::{File, Finding, Tree};

const MAX_COLUMNS: usize = 100;
/// Above this a file needs a reason in the list.
const LONG_LINES: usize = 500;
/// Above this there is no excuse.
const MAX_LINES: usize = 800;
const LIST: &str = "xtask/src/tidy/long_files.txt";
/// Made from other files, which are measured.
const MADE: [&str; 9] = [
    "crates/tavola-capi/include/tavola_table.h",
    "crates/tavola-capi/include/tavola_stats.h",
    "crates/tavola-capi/include/tavola_cdb.h",
    "crates/tavola-capi/include/tavola_queue.h",
    "crates/tavola-capi/include/tavola_lock.h",
    "crates/tavola-capi/include/tavola_log.h",
    "crates/tavola-client-capi/include/tavola_client.h",
    "bindings/php/src/tavola_arginfo.h",
    "bindings/php/memcached/src/memcached_arginfo.h",
];

/// Folders of other people's files, kept as they were published.
const VENDORED: &str = "/vendor/";

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let excused = excused(tree);
    let mut findings = stale_entries(tree, &excused);
    for file in tree.files().iter().filter(|file| is_code(file)) {
        let count = file.text.lines().count();
        if count > MAX_LINES {
            findings.push(file.finding(1, format!("{count} lines; {MAX_LINES} is the most")));
        } else if count > LONG_LINES && !excused.iter().any(|entry| entry.path == file.path) {
            let message = format!("{count} lines; split it, or give the reason in {LIST}");
            findings.push(file.finding(1, message));
        }
        if file.is_rust() {
            findings.extend(wide_lines(file));
        }
    }
    findings
}

fn is_code(file: &File) -> bool {
    if MADE.contains(&file.path.as_str()) || file.path.contains(VENDORED) {
        return false;
    }
    let code = [
        "rs", "c", "h", "hpp", "cpp", "py", "pl", "rb", "php", "js", "css",
    ];
    file.is_script() || file.has_extension(&code)
}

fn wide_lines(file: &File) -> Vec<Finding> {
    let wide = |(line, text): (usize, &str)| {
        let columns = text.chars().count();
        (columns > MAX_COLUMNS).then(|| {
            file.finding(
                line,
                format!("{columns} columns; {MAX_COLUMNS} is the most"),
            )
        })
    };
    file.lines().filter_map(wide).collect()
}

/// A line of the list: `path: reason`.
struct Entry {
    line: usize,
    path: String,
    reason: String,
}

fn excused(tree: &Tree) -> Vec<Entry> {
    let Some(list) = tree.file(LIST) else {
        return Vec::new();
    };
    let entries = list
        .lines()
        .filter(|(_, text)| !text.is_empty() && !text.starts_with('#'));
    entries
        .map(|(line, text)| {
            let (path, reason) = text.split_once(':').unwrap_or((text, ""));
            Entry {
                line,
                path: path.trim().to_owned(),
                reason: reason.trim().to_owned(),
            }
        })
        .collect()
}

/// The list only shrinks: an entry that excuses nothing any more goes.
fn stale_entries(tree: &Tree, excused: &[Entry]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for entry in excused {
        let needed = tree
            .file(&entry.path)
            .is_some_and(|file| file.text.lines().count() > LONG_LINES);
        let message = if !needed {
            format!(
                "{} is not longer than {LONG_LINES} lines; remove the entry",
                entry.path
            )
        } else if entry.reason.is_empty() {
            format!("{} has no reason; write `path: reason`", entry.path)
        } else {
            continue;
        };
        findings.push(Finding {
            path: LIST.to_owned(),
            line: entry.line,
            message,
        });
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_lines(count: usize) -> String {
        "a\n".repeat(count)
    }

    #[test]
    fn short_files_and_lines_pass() {
        let edge = format!("{}\n", "é".repeat(100));
        let tree = Tree::of(&[("a.rs", &of_lines(500)), ("b.rs", &edge)]);
        assert_eq!(check(&tree), []);
    }

    #[test]
    fn a_long_file_needs_a_reason() {
        let long = of_lines(501);
        assert_eq!(check(&Tree::of(&[("a.rs", &long)])).len(), 1);
        assert_eq!(
            check(&Tree::of(&[
                ("a.rs", &long),
                (LIST, "# list\na.rs: one table\n")
            ])),
            []
        );
        assert_eq!(
            check(&Tree::of(&[("a.rs", &long), (LIST, "a.rs:\n")])).len(),
            1
        );
    }

    #[test]
    fn no_reason_excuses_a_huge_file() {
        let tree = Tree::of(&[("a.rs", &of_lines(801)), (LIST, "a.rs: one table\n")]);
        assert_eq!(check(&tree).len(), 1);
    }

    #[test]
    fn an_entry_without_a_long_file_goes() {
        let tree = Tree::of(&[("a.rs", "a\n"), (LIST, "a.rs: was long\ngone.rs: gone\n")]);
        assert_eq!(check(&tree).len(), 2);
    }

    #[test]
    fn a_wide_line_is_found() {
        let wide = format!("x\n{}\n", "y".repeat(101));
        let findings = check(&Tree::of(&[("a.rs", &wide), ("a.md", &wide)]));
        assert_eq!(findings.iter().map(|f| f.line).collect::<Vec<_>>(), [2]);
    }

    #[test]
    fn scripts_are_measured_and_data_is_not() {
        let script = format!("#!/bin/sh\n{}", of_lines(800));
        let tree = Tree::of(&[("scripts/run", &script), ("data.txt", &of_lines(5000))]);
        assert_eq!(check(&tree).len(), 1);
        assert_eq!(check(&Tree::of(&[(MADE[0], &of_lines(5000))])), []);
        assert_eq!(check(&Tree::of(&[("a/page.js", &of_lines(801))])).len(), 1);
        assert_eq!(check(&Tree::of(&[("a/vendor/d3.js", &of_lines(801))])), []);
    }
}

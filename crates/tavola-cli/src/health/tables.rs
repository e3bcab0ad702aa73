//! The tables themselves: can they be opened, are there dead participants, is room left.

use std::fs;
use std::path::{Path, PathBuf};

use tavola::{Error, Table};

use super::Finding;
use crate::output::printable;
use crate::units::{counted, size};

const TOPIC: &str = "table";

/// Opens every file of the directory, also those that do not look like tables.
pub fn examine(directory: &Path) -> Vec<Finding> {
    let files = files(directory);
    if files.is_empty() {
        return vec![Finding::good(TOPIC, "there are none yet")];
    }
    files.iter().flat_map(|path| examine_one(path)).collect()
}

/// The visible regular files; a directory that cannot be read is told elsewhere.
fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()))
        .filter(|entry| !entry.file_name().as_encoded_bytes().starts_with(b"."))
        .map(|entry| entry.path())
        .collect();
    files.sort();
    files
}

fn examine_one(path: &Path) -> Vec<Finding> {
    let name = printable(path.file_name().unwrap_or_default().as_encoded_bytes()).into_owned();
    match Table::open_read_only(path).and_then(|table| examine_open(&name, &table)) {
        Ok(findings) => findings,
        // Dropped since it was listed.
        Err(Error::NotFound { .. }) => Vec::new(),
        Err(error) => vec![unreadable(&name, &error.to_string())],
    }
}

/// The sentence of an error tells what is the case and, after a semicolon, what to do.
fn unreadable(name: &str, error: &str) -> Finding {
    let advice = format!("try: tavola check {name} --repair");
    match error.split_once("; ") {
        Some((message, advice)) => Finding::attention(TOPIC, message, advice),
        None => Finding::attention(TOPIC, format!("{name}: {error}"), advice),
    }
}

fn examine_open(name: &str, table: &Table) -> Result<Vec<Finding>, Error> {
    let stats = table.stats()?;
    let dead = table
        .participants()?
        .iter()
        .filter(|one| !one.alive)
        .count() as u64;
    let mut findings = Vec::new();
    if dead > 0 {
        let message = format!("{name}: {} died while attached", counted(dead, "process"));
        let advice = format!("harmless, and cleared by: tavola maintain {name}");
        findings.push(Finding::attention(TOPIC, message, advice));
    }
    let in_use_bytes = stats.resident_bytes.saturating_sub(stats.free_bytes);
    if in_use_bytes > stats.max_size / 10 * 9 {
        let (used, most) = (size(in_use_bytes), size(stats.max_size));
        let message = format!("{name}: {used} of at most {most} are in use");
        let advice = "remove keys, or dump it, drop it, create it with a larger --max-size, \
            and load it again";
        findings.push(Finding::attention(TOPIC, message, advice));
    }
    if findings.is_empty() {
        let (keys, bytes) = (counted(stats.keys, "key"), size(stats.resident_bytes));
        findings.push(Finding::good(TOPIC, format!("{name}: {keys}, {bytes}")));
    }
    Ok(findings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_parted_into_what_is_and_what_to_do() {
        let finding = unreadable("t", "t is of version 9; dump it");
        assert_eq!(
            (&*finding.message, &*finding.advice),
            ("t is of version 9", "dump it")
        );
        let finding = unreadable("t", "it is odd");
        assert_eq!(finding.message, "t: it is odd");
        assert!(finding.advice.contains("check t --repair"));
    }

    #[test]
    fn only_visible_files_are_looked_at() {
        let directory = tempfile::tempdir().unwrap();
        for name in ["b", "a", ".being-made"] {
            fs::write(directory.path().join(name), "x").unwrap();
        }
        fs::create_dir(directory.path().join("c")).unwrap();
        let names = ["a", "b"].map(|name| directory.path().join(name));
        assert_eq!(files(directory.path()), names);
    }
}

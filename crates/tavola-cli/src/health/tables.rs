//! The tables themselves: can they be opened, are there dead participants, is room left.

use std::fs;
use std::path::{Path, PathBuf};

use tavola::{Error, Table, names};

use super::Finding;
use super::cgroup::memory_limit_bytes;
use crate::args::options;
use crate::durable;
use crate::output::printable;
use crate::units::{counted, size};

const TOPIC: &str = "table";

/// Opens every file of the directory, also those that do not look like tables.
pub fn examine(directory: &Path) -> Vec<Finding> {
    // The directory's own check reports why it cannot be read.
    let Ok(tables) = names::list() else {
        return Vec::new();
    };
    let files = files(directory);
    if files.is_empty() {
        return vec![Finding::good(TOPIC, "there are no tables yet")];
    }
    let limit = memory_limit_bytes();
    let examine = |path: &PathBuf| examine_one(path, tables.contains(path), limit);
    files.iter().flat_map(examine).collect()
}

/// The visible regular files; a directory that cannot be read is reported elsewhere.
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

fn examine_one(path: &Path, is_table: bool, limit: Option<u64>) -> Vec<Finding> {
    let mut name = printable(path.file_name().unwrap_or_default().as_encoded_bytes()).into_owned();
    let opened = options().open_read_only(path);
    if let Ok(table) = &opened {
        name = printable(durable::label_of(table, path).as_encoded_bytes()).into_owned();
    }
    match opened.and_then(|table| examine_open(&name, &table, limit)) {
        Ok(findings) => findings,
        // Dropped since it was listed.
        Err(Error::NotFound { .. }) => Vec::new(),
        Err(error) => vec![unreadable(&name, is_table, &error)],
    }
}

/// The sentence of an error says what is the case and, after a semicolon, what to do.
fn unreadable(name: &str, is_table: bool, error: &Error) -> Finding {
    let sentence = error.to_string();
    let (message, advice) = match sentence.split_once("; ") {
        Some((message, advice)) => (message, advice.to_string()),
        None => (
            &*sentence,
            "see what the system's log says of its file system".to_string(),
        ),
    };
    let (message, advice) = match error {
        Error::Corrupt { .. } => (
            format!("{name}: {message}"),
            format!("run: tavola check {name} --repair"),
        ),
        Error::NotATable { .. } if is_table => (
            message.to_string(),
            format!("load a dump into another table; what is left goes with: tavola drop {name}"),
        ),
        Error::NotATable { .. } => (
            message.to_string(),
            "fine if it is meant to be here; no table can have its name".to_string(),
        ),
        _ if message.contains(name) => (message.to_string(), advice),
        _ => (format!("{name}: {message}"), advice),
    };
    Finding::attention(TOPIC, message, advice)
}

fn examine_open(name: &str, table: &Table, limit: Option<u64>) -> Result<Vec<Finding>, Error> {
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
    for holder in table.lock_holders()? {
        let message = format!("{name}: {} is locked by {holder}", holder.lock);
        let advice = match (holder.is_alive, holder.is_local, holder.is_stopped) {
            (false, _, _) => format!("the next writer recovers it; or: tavola maintain {name}"),
            (true, true, true) => format!("continue it: kill -CONT {}; or end it", holder.pid),
            _ => "see why it does not continue; writers wait for it, or set a lock timeout"
                .to_owned(),
        };
        findings.push(Finding::attention(TOPIC, message, advice));
    }
    let in_use_bytes = stats.resident_bytes.saturating_sub(stats.free_bytes);
    if in_use_bytes > stats.max_size / 10 * 9 {
        let (used, most) = (size(in_use_bytes), size(stats.max_size));
        let message = format!("{name}: {used} of at most {most} are in use");
        let advice = "remove keys, or raise the limit: tavola resize TABLE SIZE";
        findings.push(Finding::attention(TOPIC, message, advice));
    }
    findings.extend(judge_memory(name, stats.capacity, in_use_bytes, limit));
    if findings.is_empty() {
        let live = table.live_keys()?;
        let (keys, bytes) = (counted(live.live, "key"), size(stats.resident_bytes));
        findings.push(Finding::good(TOPIC, format!("{name}: {keys}, {bytes}")));
    }
    Ok(findings)
}

/// What a table takes, or a cache will take, against the limit of the memory cgroup.
fn judge_memory(
    name: &str,
    capacity: Option<u64>,
    in_use_bytes: u64,
    limit: Option<u64>,
) -> Option<Finding> {
    let limit = limit?;
    let (what, bytes, advice) = match capacity {
        Some(bytes) if bytes > limit => (
            "may take",
            bytes,
            format!(
                "run: tavola set-capacity {name} SIZE with less than that, or raise the limit \
                 (memory.max; docker run --memory)"
            ),
        ),
        None if in_use_bytes > limit / 10 * 9 => (
            "takes",
            in_use_bytes,
            "remove keys, or raise the limit (memory.max; docker run --memory)".to_string(),
        ),
        _ => return None,
    };
    let (bytes, limit) = (size(bytes), size(limit));
    let message = format!(
        "{name}: it {what} {bytes}, and the memory cgroup of this process allows {limit}: \
         the kernel kills processes there when it is used up"
    );
    Some(Finding::attention(TOPIC, message, advice))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;

    #[test]
    fn an_error_is_parted_into_what_is_and_what_to_do() {
        let path = || PathBuf::from("/d/t");
        let (found, expected) = (9, 1);
        let version = Error::Version {
            path: path(),
            found,
            expected,
        };
        let finding = unreadable("t", true, &version);
        assert!(finding.message.ends_with("reads version 1"), "{finding:?}");
        assert!(finding.advice.starts_with("dump it"), "{finding:?}");
        let finding = unreadable("t", true, &Error::Corrupt { what: "a page" });
        assert!(finding.message.starts_with("t: "), "{finding:?}");
        assert!(finding.advice.contains("check t --repair"));
        let why = String::new();
        let foreign = Error::NotATable { path: path(), why };
        let advice = unreadable("t", false, &foreign).advice;
        assert!(!advice.contains("drop"), "{advice}");
        let (op, source) = ("mapping", io::Error::from_raw_os_error(5));
        let other = Error::Io {
            op,
            path: path(),
            source,
        };
        let advice = unreadable("t", true, &other).advice;
        assert!(!advice.is_empty() && !advice.contains("repair"), "{advice}");
    }

    #[test]
    fn a_cache_may_not_be_larger_than_the_memory_cgroup() {
        const MIB: u64 = 1 << 20;
        let judged = |capacity, in_use| judge_memory("t", capacity, in_use, Some(64 * MIB));
        assert!(judged(Some(64 * MIB), 0).is_none());
        let found = judged(Some(65 * MIB), 0).expect("too large");
        assert!(
            found.message.contains("may take 65 MiB"),
            "{}",
            found.message
        );
        assert!(found.advice.contains("set-capacity t"), "{}", found.advice);
        assert!(judged(None, 50 * MIB).is_none());
        assert!(judged(None, 60 * MIB).is_some());
        assert!(judge_memory("t", Some(u64::MAX), u64::MAX, None).is_none());
    }

    #[test]
    fn only_visible_files_are_checked() {
        let directory = tempfile::tempdir().unwrap();
        for name in ["b", "a", ".being-made"] {
            fs::write(directory.path().join(name), "x").unwrap();
        }
        fs::create_dir(directory.path().join("c")).unwrap();
        let names = ["a", "b"].map(|name| directory.path().join(name));
        assert_eq!(files(directory.path()), names);
    }
}

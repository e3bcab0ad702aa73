//! Durable tables: where their directories are, whether the disk has room, whether their journals
//! are good.

use std::path::{Path, PathBuf};

use rustix::fs::statfs;
use tavola::durable::{JournalEnd, verify};
use tavola::{Durability, DurableStats, names};

use super::Finding;
use crate::args::options;
use crate::durable::{home_of, snapshot, syncs};
use crate::output::printable;
use crate::units::size;

const TOPIC: &str = "durable";

/// Free bytes that suffice for any journal for a while.
const LEAST_FREE: u64 = 256 << 20;

/// Looks at the durable tables whose memory is in the directory, and at those in `homes`.
pub fn examine(directory: &Path, homes: &[PathBuf]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut seen = Vec::new();
    // The directory's own check reports why it cannot be read.
    for path in names::list().unwrap_or_default() {
        let table = options().open_read_only(&path);
        let Ok(Some(stats)) = table
            .as_ref()
            .map_or(Ok(None), tavola::Table::durable_stats)
        else {
            continue;
        };
        let made_unix_s = table
            .as_ref()
            .map_or(Ok(0), |table| table.stats().map(|all| all.created_unix_s))
            .unwrap_or(0);
        let has_users = table
            .and_then(|table| table.participants())
            .is_ok_and(|all| all.iter().any(|one| one.alive && !one.is_this_process()));
        findings.extend(of_memory(&path, &stats, made_unix_s, has_users));
        seen.extend(same(&stats.home));
    }
    for home in homes {
        if same(home).is_some_and(|home| seen.contains(&home)) {
            continue;
        }
        findings.extend(of_files(directory, home));
    }
    findings
}

/// A path by which directories are compared.
fn same(home: &Path) -> Option<PathBuf> {
    std::fs::canonicalize(home).ok()
}

fn shown(path: &Path) -> String {
    printable(path.as_os_str().as_encoded_bytes()).into_owned()
}

/// A table that is in memory.
fn of_memory(
    memory: &Path,
    stats: &DurableStats,
    made_unix_s: u64,
    has_users: bool,
) -> Vec<Finding> {
    let home = shown(&stats.home);
    if home_of(stats.home.as_os_str()).is_none() {
        let name = memory.file_name().unwrap_or_default().display();
        let message = format!("{home} is gone, but its table is still in memory, as {name}");
        let advice = format!(
            "move the directory back; or save the keys (tavola dump {name}), then: tavola drop \
             {name}"
        );
        return vec![Finding::attention(TOPIC, message, advice)];
    }
    let mut findings = of_place(&stats.home, stats.snapshot.map_or(0, |(_, bytes)| bytes));
    if let Some(errno) = stats.failed {
        let why = std::io::Error::from_raw_os_error(errno);
        let message = format!("{home}: its disk failed ({why}), and writes are refused");
        let advice = format!("mend or free the disk, then run: tavola snapshot {home}");
        findings.push(Finding::attention(TOPIC, message, advice));
    }
    if !has_users && stats.unsynced_bytes > 0 && matches!(stats.policy, Durability::Within(_)) {
        let bytes = size(stats.unsynced_bytes);
        let message = format!("{home}: {bytes} are not on disk, and no process has it open");
        let advice = format!("run: tavola sync {home}; or always: tavola keep {home}");
        findings.push(Finding::attention(TOPIC, message, advice));
    }
    findings.extend(figures(&home, stats, made_unix_s));
    findings
}

/// The figures of a journal that takes changes.
fn figures(home: &str, stats: &DurableStats, made_unix_s: u64) -> Option<Finding> {
    stats.failed.is_none().then(|| {
        let message = format!(
            "{home}: good; a journal of {}; snapshot: {}; syncs: {}",
            size(stats.journal_bytes),
            snapshot(stats),
            syncs(stats, made_unix_s)
        );
        Finding::good(TOPIC, message)
    })
}

/// The file system of the directory.
fn of_place(home: &Path, snapshot_bytes: u64) -> Vec<Finding> {
    let mut findings = Vec::new();
    if let Some(warning) = tavola::durable::warning(home) {
        let (message, advice) = warning.split_once("; ").unwrap_or((&warning, ""));
        findings.push(Finding::attention(TOPIC, message, advice));
    }
    if let Ok(stat) = statfs(home) {
        let free = stat.f_bavail * stat.f_bsize as u64;
        findings.extend(judge_room(&shown(home), free, snapshot_bytes));
    }
    findings
}

/// The next snapshot is written beside the last one.
fn judge_room(home: &str, free: u64, snapshot_bytes: u64) -> Option<Finding> {
    let needed = LEAST_FREE + 2 * snapshot_bytes;
    (free < needed).then(|| {
        let message = format!("{home}: only {} are free on its disk", size(free));
        let advice = format!(
            "free at least {} there: writes fail when the journal finds no room",
            size(needed)
        );
        Finding::attention(TOPIC, message, advice)
    })
}

/// A table that is not in memory.
fn of_files(directory: &Path, home: &Path) -> Vec<Finding> {
    let label = shown(home);
    let report = match verify(home) {
        Ok(report) => report,
        Err(error) => {
            let text = error.to_string();
            let (message, advice) = text.split_once("; ").unwrap_or((&text, ""));
            return vec![Finding::attention(TOPIC, message, advice)];
        }
    };
    let of_snapshot = |file: &&tavola::durable::HomeFile| file.name.starts_with("snapshot-");
    let bytes = report
        .files
        .iter()
        .rfind(of_snapshot)
        .map_or(0, |file| file.bytes);
    let mut findings = of_place(home, bytes);
    if let JournalEnd::Damaged { file, why, .. } = &report.ending {
        let advice = format!(
            "look for a backup; to give up what is lost by it: tavola repair --cut {label}"
        );
        let message = format!("{label}: {file} is damaged ({why})");
        findings.push(Finding::attention(TOPIC, message, advice));
    }
    if report.is_in_use && !report.is_in_memory {
        let message = format!("{label}: its users have it in memory that is not reachable here");
        let advice = "run all of its users in the same /dev/shm, or end them";
        findings.push(Finding::attention(TOPIC, message, advice));
    }
    let free = statfs(directory).map_or(u64::MAX, |stat| stat.f_bavail * stat.f_bsize as u64);
    if !report.is_in_memory && free < bytes {
        let message = format!(
            "{label}: its snapshot has {}, and {} has only {} for the table",
            size(bytes),
            directory.display(),
            size(free)
        );
        let advice = "enlarge it: mount -o remount,size=8G /dev/shm; in a container: docker run \
                      --shm-size=8g";
        findings.push(Finding::attention(TOPIC, message, advice));
    }
    if findings.is_empty() {
        findings.push(Finding::good(
            TOPIC,
            format!("{label}: its files are whole"),
        ));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snapshot_needs_room_beside_the_last_one() {
        assert!(judge_room("/d", LEAST_FREE, 0).is_none());
        assert!(judge_room("/d", LEAST_FREE - 1, 0).is_some());
        let finding = judge_room("/d", LEAST_FREE, 1 << 30).unwrap();
        assert!(finding.message.contains("256 MiB"), "{finding:?}");
    }
}

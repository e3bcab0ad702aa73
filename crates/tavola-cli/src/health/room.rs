//! The file system that the tables lie on: memory or disk, how large, how full.

use std::path::Path;

use rustix::fs::{StatFs, statfs};

use super::Finding;
use crate::units::size;

const TOPIC: &str = "room";
const TMPFS: u64 = 0x0102_1994;
const RAMFS: u64 = 0x8584_58f6;
const HUGETLBFS: u64 = 0x9584_58f6;

/// Below this a table of any use soon finds no room. Containers come with 64 MiB by default.
const SMALL_BYTES: u64 = 256 << 20;

/// Looks at the file system of the directory, or of the nearest parent that is there.
pub fn examine(directory: &Path) -> Vec<Finding> {
    let mut there = directory;
    loop {
        match (statfs(there), there.parent()) {
            (Ok(stat), _) => return judge(&Room::of(&stat, directory)),
            (Err(_), Some(parent)) if !parent.as_os_str().is_empty() => there = parent,
            (Err(error), _) => {
                let message = format!(
                    "cannot read the free space of {} ({error})",
                    there.display()
                );
                return vec![Finding::attention(
                    TOPIC,
                    message,
                    "check the path in TAVOLA_DIR",
                )];
            }
        }
    }
}

/// Whether the file lies on a file system in memory, the only kind with huge pages.
pub fn is_in_memory(path: &Path) -> bool {
    statfs(path).is_ok_and(|stat| Room::of(&stat, path).kind == Kind::Memory)
}

struct Room {
    path: String,
    kind: Kind,
    total_bytes: u64,
    free_bytes: u64,
    /// Files that can still be made; `None` when the file system does not count them.
    free_files: Option<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Memory,
    HugePages,
    Disk,
}

impl Room {
    fn of(stat: &StatFs, directory: &Path) -> Room {
        // The type's width differs between systems; its low 32 bits are the number.
        let kind = match stat.f_type as u64 & 0xffff_ffff {
            TMPFS | RAMFS => Kind::Memory,
            HUGETLBFS => Kind::HugePages,
            _ => Kind::Disk,
        };
        let block_bytes = stat.f_bsize as u64;
        Room {
            path: directory.display().to_string(),
            kind,
            total_bytes: stat.f_blocks * block_bytes,
            free_bytes: stat.f_bavail * block_bytes,
            free_files: (stat.f_files > 0).then_some(stat.f_ffree),
        }
    }
}

fn judge(room: &Room) -> Vec<Finding> {
    let mut findings = vec![judge_kind(room)];
    // Neither ramfs nor a tmpfs with size=0 counts or limits its bytes.
    if room.total_bytes > 0 {
        findings.push(judge_bytes(room));
    }
    if room.free_files.is_some_and(|files| files < 16) {
        let message = format!("the file system of {} has no free inodes", room.path);
        let advice = "remove files there, or mount it with a larger nr_inodes";
        findings.push(Finding::attention(TOPIC, message, advice));
    }
    findings
}

fn judge_kind(room: &Room) -> Finding {
    let path = &room.path;
    if let Some(finding) = judge_sharing(path) {
        return finding;
    }
    match room.kind {
        Kind::Memory => Finding::good(TOPIC, format!("{path} is in memory")),
        Kind::HugePages => Finding::attention(
            TOPIC,
            format!("{path} is on hugetlbfs, where files cannot grow a little at a time"),
            "set TAVOLA_DIR to a directory on tmpfs, such as one in /dev/shm",
        ),
        Kind::Disk => Finding::note(
            TOPIC,
            format!("{path} is on a disk: tables outlive a reboot, but writes cost disk traffic"),
            "for speed, set TAVOLA_DIR to a directory on tmpfs, such as one in /dev/shm",
        ),
    }
}

/// A file system on which processes may not see each other's writes.
fn judge_sharing(path: &str) -> Option<Finding> {
    let place = format!("{path}/");
    let warning = tavola::names::warning(place).ok().flatten()?;
    let (message, advice) = warning.split_once("; ").unwrap_or((&warning, ""));
    Some(Finding::attention(TOPIC, message, advice))
}

fn judge_bytes(room: &Room) -> Finding {
    let (free, total) = (size(room.free_bytes), size(room.total_bytes));
    let message = format!("{free} free of {total}");
    let advice = match room.kind {
        Kind::Disk => "remove files there, or set TAVOLA_DIR to a file system with more space",
        _ => {
            "drop tables (tavola ls), or enlarge it: mount -o remount,size=8G /dev/shm; \
             in a container: docker run --shm-size=8g"
        }
    };
    if room.free_bytes < room.total_bytes / 10 {
        return Finding::attention(TOPIC, message + ": nearly full", advice);
    }
    if room.total_bytes < SMALL_BYTES {
        return Finding::attention(TOPIC, message + ": small", advice);
    }
    Finding::good(TOPIC, message)
}

#[cfg(test)]
mod tests {
    use super::super::Level;
    use super::*;

    fn worst(kind: Kind, total_bytes: u64, free_bytes: u64) -> Level {
        let path = "/d".to_string();
        let free_files = Some(100);
        let findings = judge(&Room {
            path,
            kind,
            total_bytes,
            free_bytes,
            free_files,
        });
        let levels = findings.iter().map(|finding| finding.level);
        levels.max_by_key(|level| *level as u8).unwrap()
    }

    #[test]
    fn a_small_or_full_file_system_needs_attention() {
        const GIB: u64 = 1 << 30;
        assert_eq!(worst(Kind::Memory, 8 * GIB, 4 * GIB), Level::Good);
        assert_eq!(worst(Kind::Memory, 8 * GIB, GIB / 2), Level::Attention);
        assert_eq!(worst(Kind::Memory, 64 << 20, 64 << 20), Level::Attention);
        assert_eq!(worst(Kind::Memory, 0, 0), Level::Good);
        assert_eq!(worst(Kind::Disk, 8 * GIB, 4 * GIB), Level::Note);
        assert_eq!(worst(Kind::HugePages, 8 * GIB, 4 * GIB), Level::Attention);
    }

    #[test]
    fn a_file_system_without_room_for_files_needs_attention() {
        let room = Room {
            path: "/d".to_string(),
            kind: Kind::Memory,
            total_bytes: 8 << 30,
            free_bytes: 8 << 30,
            free_files: Some(0),
        };
        assert!(
            judge(&room)
                .iter()
                .any(|finding| finding.level == Level::Attention)
        );
    }

    #[test]
    fn the_room_of_a_path_that_is_not_there_is_that_of_its_parent() {
        let findings = examine(Path::new("/dev/shm/not/there/yet"));
        assert!(
            findings
                .iter()
                .any(|finding| finding.message.contains("in memory"))
        );
    }
}

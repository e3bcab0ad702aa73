//! Tables of an older format are migrated: every key with all that belongs to it, the old file
//! kept; what is refused; what a killed migration leaves.

use crate::support::{Dir, assert_clean};
use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tavola::{Attributes, Error, Expiry, Migrated, Table};

const FORMAT_1: &[u8] = include_bytes!("../golden/format-1.sparse");
/// In a superblock: the version of the format.
const FORMAT: u64 = 12;
/// The first participant of a table of two shards, and the byte that it locks.
const PARTICIPANT_1: u64 = 4096 + 2 * 1536 + 128;
const LOCK_BYTE_1: i64 = (1 << 62) + 1;

/// Writes the golden file out; `golden/README.md` describes how it is encoded.
fn golden(path: &Path) {
    let number = |at: usize, len: usize| {
        let mut bytes = [0; 8];
        bytes[..len].copy_from_slice(&FORMAT_1[at..at + len]);
        u64::from_le_bytes(bytes)
    };
    let file = File::create(path).unwrap();
    file.set_len(number(0, 8)).unwrap();
    let mut at = 8;
    while at < FORMAT_1.len() {
        let (offset, len) = (number(at, 4), number(at + 4, 4) as usize);
        file.write_all_at(&FORMAT_1[at + 8..][..len], offset)
            .unwrap();
        at += 8 + len;
    }
}

fn old_table(dir: &Dir) -> PathBuf {
    let path = dir.table("t");
    golden(&path);
    path
}

fn migrate(path: &Path) -> tavola::Result<Migrated> {
    Table::options().migrate(path)
}

/// The keys that `golden/README.md` lists.
fn assert_whole(path: &Path) {
    let table = Table::options().open_existing(path).unwrap();
    assert_clean(&table);
    assert_eq!(table.len().unwrap(), 80 + 6);
    for number in 0..100u32 {
        let found = table.get(format!("key {number}").as_bytes()).unwrap();
        let expected = (number >= 20).then(|| number.to_le_bytes().to_vec());
        assert_eq!(found, expected, "key {number}");
    }
    let entry = |key: &[u8]| table.get_entry(key).unwrap().unwrap();
    let lasting = entry(b"ttl");
    assert_eq!(
        (&lasting.value[..], lasting.attributes.flags),
        (&b"lives long"[..], 7)
    );
    let Expiry::After(left) = lasting.attributes.expiry else {
        panic!("{:?}", lasting.attributes);
    };
    let years = |count: u64| Duration::from_secs(count * 365 * 86_400);
    assert!(left > years(50) && left <= years(100), "{left:?}");
    assert_eq!(entry(b"large").value, [9; 20_000]);
    assert_eq!(entry(b"uid").value, b"named");
    assert!(table.uid_of(b"uid").unwrap().is_some());
    assert_eq!(entry(b"marked").marks, 5);
    assert_eq!(
        table.tags_of(b"tagged").unwrap().unwrap(),
        [&b"news"[..], b"user:7"]
    );
    assert_eq!(table.incr(b"counter", 1).unwrap(), 42);
    let token = entry(b"key 50").token;
    table
        .set_with(b"key 50", b"new", Attributes::default())
        .unwrap();
    assert_ne!(entry(b"key 50").token, token);
    let stats = table.stats().unwrap();
    assert_eq!(
        (stats.max_size, stats.shards, stats.has_versions),
        (2 << 20, 2, true)
    );
    table.set_max_size(8 << 20).unwrap();
}

#[test]
fn a_table_of_format_1_has_all_its_keys_afterwards() {
    let dir = Dir::new();
    let path = old_table(&dir);
    let refused = Table::options().open_existing(&path).unwrap_err();
    assert!(matches!(refused, Error::Version { found: 1, .. }));
    let (text, remedy) = (
        refused.to_string(),
        format!("tavola migrate {}", path.display()),
    );
    assert!(text.contains(&remedy), "{text}");
    let before = std::fs::read(&path).unwrap();
    let mode = path.metadata().unwrap().mode();
    let done = migrate(&path).unwrap();
    assert_eq!((done.found, done.now, done.left_out.len()), (1, 2, 0));
    assert_eq!(done.old, dir.table("t.old"));
    assert_eq!(std::fs::read(&done.old).unwrap(), before);
    assert_eq!(path.metadata().unwrap().mode(), mode);
    assert_whole(&path);
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 2);
    // Once more: there is nothing to do.
    let again = migrate(&path).unwrap();
    assert_eq!((again.found, again.now), (2, 2));
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 2);
}

#[test]
fn a_new_name_leaves_the_old_file_where_it_is() {
    let dir = Dir::new();
    let (path, new) = (old_table(&dir), dir.table("new"));
    let before = std::fs::read(&path).unwrap();
    Table::options().migrate_to(&path, &new).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), before);
    assert_whole(&new);
    let taken = Table::options().migrate_to(&path, &new);
    assert!(
        matches!(taken, Err(Error::AlreadyExists { .. })),
        "{taken:?}"
    );
}

#[test]
fn a_symbolic_link_leads_to_the_new_table() {
    let dir = Dir::new();
    let (path, link) = (old_table(&dir), dir.table("link"));
    std::os::unix::fs::symlink(&path, &link).unwrap();
    migrate(&link).unwrap();
    assert!(link.symlink_metadata().unwrap().is_symlink());
    assert_whole(&link);
}

/// Makes participant 1 of an old table one that lives: this process.
fn attach(path: &Path) -> File {
    let file = File::options().read(true).write(true).open(path).unwrap();
    // Generation and state, then pid, start, and the namespaces of pids and times.
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let start: u64 = stat
        .rsplit(')')
        .next()
        .unwrap()
        .split(' ')
        .nth(20)
        .unwrap()
        .parse()
        .unwrap();
    let namespace = |name: &str| {
        Path::new("/proc/self/ns")
            .join(name)
            .metadata()
            .unwrap()
            .ino()
    };
    let words = [
        (0, 1 | 1 << 32),
        (8, u64::from(std::process::id())),
        (16, start),
        (24, namespace("pid")),
        (32, namespace("time")),
    ];
    for (at, word) in words {
        file.write_all_at(&word.to_le_bytes(), PARTICIPANT_1 + at)
            .unwrap();
    }
    // SAFETY: all zeros is a valid `flock`, a struct of integers.
    let mut lock: libc::flock = unsafe { std::mem::zeroed() };
    lock.l_type = libc::F_WRLCK as _;
    (lock.l_start, lock.l_len) = (LOCK_BYTE_1, 1);
    // SAFETY: passes a valid `flock`.
    let locked = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_SETLK, &raw mut lock) };
    assert_eq!(locked, 0);
    file
}

#[test]
fn a_table_that_is_written_is_refused_and_that_of_a_dead_process_is_not() {
    let dir = Dir::new();
    let path = old_table(&dir);
    let attached = attach(&path);
    let refused = migrate(&path).unwrap_err().to_string();
    assert!(
        refused.contains(&format!("process {}", std::process::id())),
        "{refused}"
    );
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    drop(attached);
    migrate(&path).unwrap();
    assert_whole(&path);
}

#[test]
fn another_file_with_the_kept_name_is_not_touched() {
    let dir = Dir::new();
    let path = old_table(&dir);
    std::fs::write(dir.table("t.old"), "mine").unwrap();
    let refused = migrate(&path);
    assert!(
        matches!(refused, Err(Error::AlreadyExists { .. })),
        "{refused:?}"
    );
    assert_eq!(std::fs::read(dir.table("t.old")).unwrap(), b"mine");
    std::fs::remove_file(dir.table("t.old")).unwrap();
    std::fs::write(dir.table("t.migrating"), "mine").unwrap();
    assert!(matches!(migrate(&path), Err(Error::NotATable { .. })));
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 2);
}

/// A migration that was killed leaves a complete table under a name of its own, and maybe both
/// names of the old file; the next one continues.
#[test]
fn a_killed_migration_is_done_again() {
    let dir = Dir::new();
    let path = old_table(&dir);
    Table::options()
        .migrate_to(&path, dir.table("t.migrating"))
        .unwrap();
    std::fs::hard_link(&path, dir.table("t.old")).unwrap();
    migrate(&path).unwrap();
    assert_whole(&path);
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 2);
}

#[test]
fn other_versions_and_damage_are_refused() {
    let dir = Dir::new();
    let path = old_table(&dir);
    let file = File::options().write(true).open(&path).unwrap();
    file.write_all_at(&3u32.to_le_bytes(), FORMAT).unwrap();
    assert!(matches!(
        migrate(&path),
        Err(Error::Version { found: 3, .. })
    ));
    file.write_all_at(&1u32.to_le_bytes(), FORMAT).unwrap();
    file.set_len(1 << 20).unwrap();
    assert!(matches!(migrate(&path), Err(Error::NotATable { .. })));
    let missing = migrate(&dir.table("missing"));
    assert!(
        matches!(missing, Err(Error::NotFound { .. })),
        "{missing:?}"
    );
}

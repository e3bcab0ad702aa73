//! Durable tables in use whose directory is moved, whose memory is removed, or whose files belong
//! to a group or to somebody else.

use crate::support::durable::DurableDir;
use crate::support::part::{Actor, hear, play, say};
use crate::support::patience::HANG_S;
use crate::support::process::{alarm, become_user, is_root};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use tavola::{Durability, Error, Options, Table};

/// Users who are not root.
const MEMBER: u32 = 65_533;
const STRANGER: u32 = 65_532;
/// Bytes of a file of the journal.
const FILE: u64 = 64 << 10;

fn options() -> Options {
    let options = Table::options().max_size(8 << 20).shards(1);
    options.durable(Durability::Os).journal_file_size(FILE)
}

/// Sets keys until the journal has new files.
fn fill_files(table: &Table) {
    for number in 0..40_u32 {
        table.set(number.to_le_bytes(), [7; 9000]).unwrap();
    }
}

#[test]
fn a_directory_can_be_moved_while_the_table_is_in_use() {
    let dir = DurableDir::new();
    let table = options().create(dir.path()).unwrap();
    table.set("before", "1").unwrap();
    let moved = dir.path().with_file_name("moved");
    let memory = dir.memory().unwrap();
    std::fs::rename(dir.path(), &moved).unwrap();
    fill_files(&table);
    table.snapshot().unwrap();
    table.set("after", "1").unwrap();
    let other = Table::open(&moved).unwrap();
    assert_eq!(other.get("after").unwrap().unwrap(), b"1");
    drop((table, other));
    std::fs::remove_file(memory).unwrap();
    let table = Table::open(&moved).unwrap();
    assert_eq!(table.get("before").unwrap().unwrap(), b"1");
    assert_eq!(table.get("after").unwrap().unwrap(), b"1");
    drop(table);
    Table::options().remove(&moved).unwrap();
}

#[test]
fn the_last_user_of_removed_memory_can_leave_it_and_nobody_else() {
    let dir = DurableDir::new();
    let mut table = options().create(dir.path()).unwrap();
    let other = Table::open(dir.path()).unwrap();
    table.set("before", "1").unwrap();
    dir.lose_memory();
    let refused = table.refresh();
    assert!(
        matches!(refused, Err(Error::InUseElsewhere { .. })),
        "{refused:?}"
    );
    // Nobody else may rebuild it meanwhile, and nothing is written to two memories.
    other.set("other", "1").unwrap();
    table.set("late", "1").unwrap();
    drop(other);
    let fresh = table.reopened().unwrap().unwrap();
    let left = table.set("lost", "1").unwrap_err();
    assert!(matches!(left, Error::NotDurable { .. }), "{left:?}");
    let text = left.to_string();
    assert!(
        text.contains("; refresh this handle") && !text.contains("disk"),
        "{text}"
    );
    assert!(table.snapshot().is_err());
    for key in ["before", "other", "late"] {
        assert_eq!(fresh.get(key).unwrap().unwrap(), b"1", "{key}");
    }
    fresh.set("fresh", "1").unwrap();
    // A handle that was left follows at any time.
    assert!(table.refresh().unwrap());
    assert_eq!(table.get("fresh").unwrap().unwrap(), b"1");
    table.set("again", "1").unwrap();
    drop((fresh, table));
    dir.lose_memory();
    let table = Table::open(dir.path()).unwrap();
    assert!(table.get("again").unwrap().is_some() && table.get("lost").unwrap().is_none());
}

#[test]
fn a_table_can_be_created_where_a_removal_was_killed() {
    let dir = DurableDir::new();
    let table = options().create(dir.path()).unwrap();
    table.set("old", "1").unwrap();
    table.snapshot().unwrap();
    drop(table);
    dir.lose_memory();
    // Its first step.
    let file = |name| dir.path().join(name);
    std::fs::rename(file("table"), file("table.removed")).unwrap();
    let refused = Table::options().open_existing(dir.path()).map(drop);
    assert!(
        matches!(refused, Err(Error::NotATable { .. })),
        "{refused:?}"
    );
    let table = options().create(dir.path()).unwrap();
    assert!(table.get("old").unwrap().is_none());
    table.set("new", "1").unwrap();
    drop(table);
    dir.lose_memory();
    let table = Table::open(dir.path()).unwrap();
    assert!(table.get("old").unwrap().is_none() && table.get("new").unwrap().is_some());
    assert!(!file("table.removed").exists());
}

#[test]
fn a_snapshot_without_its_table_is_not_removed_by_a_creation() {
    let dir = DurableDir::new();
    let table = options().create(dir.path()).unwrap();
    table.snapshot().unwrap();
    drop(table);
    dir.lose_memory();
    std::fs::remove_file(dir.path().join("table")).unwrap();
    let before = std::fs::read_dir(dir.path()).unwrap().count();
    let refused = options().create(dir.path()).map(drop);
    assert!(
        matches!(refused, Err(Error::NotATable { .. })),
        "{refused:?}"
    );
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), before);
}

fn rights(path: &Path) -> (u32, u32) {
    let found = std::fs::metadata(path).unwrap();
    (found.gid(), found.mode() & 0o777)
}

/// An actor: creates a table of a group and with a mode.
fn make(args: &[String]) {
    let [path, group, mode] = [0, 1, 2].map(|i| &args[i]);
    let options = options().group(group.parse().unwrap());
    drop(options.mode(mode.parse().unwrap()).create(path).unwrap());
}

/// The same, for a test: its memory is among these tables.
fn made(test: &str, home: &Path, mode: u32, tables: &Path) {
    let args = [
        home.to_str().unwrap(),
        &MEMBER.to_string(),
        &mode.to_string(),
    ];
    Actor::start_by(test, "make", &args, |command| {
        command.env("TAVOLA_DIR", tables);
    })
    .finish();
}

/// An actor: becomes a user, and opens and uses tables; says how that went.
fn use_as(args: &[String]) {
    alarm(HANG_S);
    become_user(args[0].parse().unwrap());
    while let Some(asked) = hear() {
        let path = PathBuf::from(asked.trim_start_matches('!'));
        let options = Table::options().any_owner(asked.starts_with('!'));
        let used = options.open_existing(&path).and_then(|table| {
            fill_files(&table);
            table.snapshot()
        });
        say(match used {
            Ok(_) => "used".to_string(),
            Err(error @ Error::Permission { .. }) => format!("refused: {error}"),
            Err(error) => error.to_string(),
        });
    }
}

fn actor(test: &str, user: u32, tables: &Path) -> Actor {
    Actor::start_by(test, "use", &[&user.to_string()], |command| {
        command.env("TAVOLA_DIR", tables);
    })
}

fn ask(actor: &mut Actor, path: &Path, trust: &str) -> String {
    actor.send(&format!("{trust}{}", path.display()));
    actor.hear()
}

/// A directory where everybody may make files.
fn open_to_all(parent: &str) -> tempfile::TempDir {
    let mut named = tempfile::Builder::new();
    let dir = named.prefix("tavola-test-").tempdir_in(parent).unwrap();
    std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o1777)).unwrap();
    dir
}

/// Whoever makes a file or rebuilds the memory: members of the group can use them.
#[test]
fn the_group_of_a_durable_table_is_that_of_all_its_files_and_of_its_memory() {
    play(&[("use", use_as), ("make", make)]);
    if !is_root() {
        println!("skipped: only root can become another user");
        return;
    }
    let test = "the_group_of_a_durable_table_is_that_of_all_its_files_and_of_its_memory";
    let (homes, tables) = (open_to_all("/tmp"), open_to_all("/dev/shm"));
    let home = homes.path().join("home");
    made(test, &home, 0o660, tables.path());
    assert_eq!(rights(&home), (MEMBER, 0o770));
    for entry in std::fs::read_dir(tables.path()).unwrap() {
        std::fs::remove_file(entry.unwrap().path()).unwrap();
    }
    // The user has the group of the same number.
    let mut member = actor(test, MEMBER, tables.path());
    assert_eq!(ask(&mut member, &home, ""), "used");
    for entry in std::fs::read_dir(&home).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(rights(&path), (MEMBER, 0o660), "{}", path.display());
    }
    let memory = std::fs::read_dir(tables.path()).unwrap().next().unwrap();
    assert_eq!(rights(&memory.unwrap().path()), (MEMBER, 0o660));
    let mut stranger = actor(test, STRANGER, tables.path());
    let refused = ask(&mut stranger, &home, "");
    assert!(refused.starts_with("refused"), "{refused}");
    member.finish();
    stranger.finish();
    let table = Table::open(&home).unwrap();
    table.set("root", "1").unwrap();
    drop(table);
    Table::options().remove(&home).unwrap();
}

/// A table that somebody else has put into a public directory is used only when that is wanted.
#[test]
fn a_foreign_directory_in_a_public_one_is_refused() {
    play(&[("use", use_as), ("make", make)]);
    if !is_root() {
        println!("skipped: only root can become another user");
        return;
    }
    let test = "a_foreign_directory_in_a_public_one_is_refused";
    let (homes, tables) = (open_to_all("/tmp"), open_to_all("/dev/shm"));
    let home = homes.path().join("home");
    made(test, &home, 0o666, tables.path());
    for entry in std::fs::read_dir(&home).unwrap() {
        chown(entry.unwrap().path(), Some(STRANGER), None).unwrap();
    }
    chown(&home, Some(STRANGER), None).unwrap();
    let mut user = actor(test, MEMBER, tables.path());
    let refused = ask(&mut user, &home, "");
    assert!(refused.contains("any_owner"), "{refused}");
    assert_eq!(ask(&mut user, &home, "!"), "used");
    user.finish();
    Table::options().any_owner(true).remove(&home).unwrap();
}

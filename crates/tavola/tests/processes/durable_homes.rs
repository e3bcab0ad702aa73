//! The directories of durable tables: copied, moved, read-only, with their memory elsewhere or
//! removed.

use crate::support::durable::DurableDir;
use crate::support::part::{Actor, hear, play, say};
use crate::support::patience::{HANG_S, MINUTE};
use crate::support::process::{alarm, become_user, is_root};
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::Path;
use std::process::Command;
use std::time::Instant;
use tavola::{Durability, Error, Options, Table, names};

fn options(durability: Durability) -> Options {
    let options = Table::options().max_size(8 << 20).shards(1);
    options.durable(durability)
}

fn has(table: &Table, key: &str) -> bool {
    table.get(key).unwrap().is_some()
}

/// A copy, removed with its memory.
struct Copied<'a>(&'a Path);

impl Drop for Copied<'_> {
    fn drop(&mut self) {
        let _ = Table::options().remove(self.0);
    }
}

#[test]
fn a_copied_directory_is_another_table() {
    let dir = DurableDir::new();
    let table = options(Durability::Commit).create(dir.path()).unwrap();
    table.set("before", "1").unwrap();
    drop(table);
    let path = dir.path().with_file_name("copy");
    let _copied = Copied(&path);
    let copied = Command::new("cp")
        .args(["-r", dir.path().to_str().unwrap(), path.to_str().unwrap()])
        .status();
    assert!(copied.unwrap().success());
    let (one, other) = (
        Table::open(dir.path()).unwrap(),
        Table::open(&path).unwrap(),
    );
    one.set("one", "1").unwrap();
    other.set("other", "1").unwrap();
    assert!(has(&one, "before") && has(&other, "before"));
    assert!(!has(&one, "other") && !has(&other, "one"));
    drop((one, other));
    dir.lose_memory();
    let one = Table::open(dir.path()).unwrap();
    let other = Table::open(&path).unwrap();
    assert!(has(&one, "one") && has(&other, "other"));
    assert!(!has(&one, "other") && !has(&other, "one"));
}

#[test]
fn a_moved_directory_is_the_same_table() {
    let dir = DurableDir::new();
    let table = options(Durability::Os).create(dir.path()).unwrap();
    table.set("before", "1").unwrap();
    drop(table);
    let path = dir.path().with_file_name("moved");
    let memory = dir.memory().unwrap();
    std::fs::rename(dir.path(), &path).unwrap();
    let _moved = Copied(&path);
    let table = Table::open(&path).unwrap();
    assert!(has(&table, "before"));
    table.set("after", "1").unwrap();
    table.snapshot().unwrap();
    drop(table);
    std::fs::remove_file(memory).unwrap();
    let table = Table::open(&path).unwrap();
    assert!(has(&table, "before") && has(&table, "after"));
    assert!(!dir.path().exists());
}

/// An actor: sets a key at each line, until there are no more.
fn set_at_lines(args: &[String]) {
    alarm(HANG_S);
    let table = Table::open(&args[0]).unwrap();
    say("open");
    while let Some(key) = hear() {
        table.set(&key, "1").unwrap();
        say("set");
    }
}

#[test]
fn a_table_whose_memory_was_removed_while_in_use_is_refused_until_nobody_uses_it() {
    play(&[("set", set_at_lines)]);
    let test = "a_table_whose_memory_was_removed_while_in_use_is_refused_until_nobody_uses_it";
    let dir = DurableDir::new();
    drop(options(Durability::Commit).create(dir.path()).unwrap());
    let mut actor = Actor::start(test, "set", &[dir.path().to_str().unwrap()]);
    assert_eq!(actor.hear(), "open");
    dir.lose_memory();
    let begun = Instant::now();
    let refused = Table::open(dir.path()).map(drop);
    assert!(
        matches!(refused, Err(Error::InUseElsewhere { .. })),
        "{refused:?}"
    );
    assert!(begun.elapsed() < MINUTE, "{:?}", begun.elapsed());
    // Those who use it are not disturbed.
    actor.send("late");
    assert_eq!(actor.hear(), "set");
    actor.finish();
    let table = Table::open(dir.path()).unwrap();
    assert!(has(&table, "late"));
}

/// An actor: does what each line says.
fn use_at_lines(args: &[String]) {
    alarm(HANG_S);
    let table = Table::open(&args[0]).unwrap();
    say("open");
    while let Some(line) = hear() {
        match line.split_once(' ') {
            Some(("has", key)) => say(has(&table, key)),
            Some(("set", key)) => say(table.set(key, "1").is_ok()),
            Some(("both", key)) => {
                let both = table.transaction(|t| {
                    t.set(key, "1")?;
                    t.set(format!("{key} too"), "1")
                });
                say(both.is_ok());
            }
            _ => say(table.snapshot().unwrap()),
        }
    }
}

/// As `RemoveIPC` of systemd does when a user logs out: the memory goes while processes use it.
#[test]
fn what_is_acknowledged_after_the_memory_was_removed_is_in_the_next_one() {
    play(&[("use", use_at_lines)]);
    let test = "what_is_acknowledged_after_the_memory_was_removed_is_in_the_next_one";
    for with_snapshot in [false, true] {
        let dir = DurableDir::new();
        drop(options(Durability::Commit).create(dir.path()).unwrap());
        let start = || {
            let mut actor = Actor::start(test, "use", &[dir.path().to_str().unwrap()]);
            assert_eq!(actor.hear(), "open");
            actor
        };
        let (mut one, mut other) = (start(), start());
        let ask = |actor: &mut Actor, line: &str| {
            actor.send(line);
            assert_eq!(actor.hear(), "true", "{line}");
        };
        ask(&mut one, "set before");
        dir.lose_memory();
        // Both still have the same memory.
        ask(&mut other, "has before");
        ask(&mut other, "both after");
        ask(&mut one, "has after too");
        if with_snapshot {
            ask(&mut one, "snapshot");
        }
        ask(&mut one, "set late");
        let refused = Table::open_read_only(dir.path()).map(drop).unwrap_err();
        assert!(
            matches!(refused, Error::InUseElsewhere { .. }),
            "{refused:?}"
        );
        let reason = refused.to_string();
        assert!(reason.contains(dir.path().to_str().unwrap()), "{reason}");
        one.kill();
        ask(&mut other, "has late");
        ask(&mut other, "set later");
        other.kill();
        let table = Table::open(dir.path()).unwrap();
        for key in ["before", "after", "after too", "late", "later"] {
            assert!(has(&table, key), "{key}");
        }
        assert!(table.check().unwrap().is_clean());
    }
}

/// The memory is where the first one who opens the table after a restart wants it.
#[test]
fn openers_with_other_directories_of_tables_meet() {
    play(&[("set", set_at_lines)]);
    let test = "openers_with_other_directories_of_tables_meet";
    let dir = DurableDir::new();
    let table = options(Durability::Os).create(dir.path()).unwrap();
    table.set("first", "1").unwrap();
    let elsewhere = tempfile::Builder::new()
        .prefix("tavola-test-")
        .tempdir_in("/dev/shm")
        .unwrap();
    let start = || {
        let home = dir.path().to_str().unwrap();
        let mut actor = Actor::start_by(test, "set", &[home], |command| {
            command.env("TAVOLA_DIR", elsewhere.path());
        });
        assert_eq!(actor.hear(), "open");
        actor
    };
    let mut actor = start();
    actor.send("second");
    assert_eq!(actor.hear(), "set");
    assert!(has(&table, "second"));
    table.sync().unwrap();
    actor.finish();
    drop(table);
    dir.lose_memory();
    let mut actor = start();
    assert!(dir.memory().unwrap().starts_with(elsewhere.path()));
    actor.send("third");
    assert_eq!(actor.hear(), "set");
    let table = Table::open(dir.path()).unwrap();
    for key in ["first", "second", "third"] {
        assert!(has(&table, key), "{key}");
    }
    actor.finish();
    drop(table);
    dir.remove();
}

/// An actor, of a user for whom permissions count: uses a directory that it may not change.
fn use_read_only(args: &[String]) {
    alarm(HANG_S);
    if is_root() {
        become_user(USER);
    }
    let home = Path::new(&args[0]);
    let mode = |mode| {
        std::fs::set_permissions(home, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    let table = options(Durability::Commit).create(home).unwrap();
    table.set("before", "1").unwrap();
    drop(table);
    mode(0o555);
    let table = Table::open(home).unwrap();
    assert!(has(&table, "before"));
    table.set("after", "1").unwrap();
    // A snapshot is a new file.
    let refused = table.snapshot();
    assert!(matches!(refused, Err(Error::Io { .. })), "{refused:?}");
    // So is the room for more records: until there is none, writes are accepted.
    let mut numbers = 0..20_000_u32;
    let refused = numbers.find_map(|n| table.set((n % 100).to_le_bytes(), [7; 9000]).err());
    say(format!("{refused:?}"));
    assert!(refused.is_some());
    assert!(table.set("refused", [7; 9000]).is_err());
    assert!(!has(&table, "refused") && has(&table, "after"));
    mode(0o755);
    table.set("again", "1").unwrap();
    assert!(table.snapshot().unwrap());
    drop(table);
    let table = Table::open(home).unwrap();
    assert!(has(&table, "before") && has(&table, "again") && !has(&table, "refused"));
    drop(table);
    Table::options().remove(home).unwrap();
}

const USER: u32 = 54321;

#[test]
fn a_directory_that_may_not_be_changed_refuses_what_needs_new_files() {
    play(&[("use", use_read_only)]);
    let test = "a_directory_that_may_not_be_changed_refuses_what_needs_new_files";
    let [homes, tables] = ["/tmp", "/dev/shm"].map(|parent| {
        let dir = tempfile::Builder::new()
            .prefix("tavola-test-")
            .tempdir_in(parent)
            .unwrap();
        if is_root() {
            chown(dir.path(), Some(USER), None).unwrap();
        }
        dir
    });
    let home = homes.path().join("home");
    let mut actor = Actor::start_by(test, "use", &[home.to_str().unwrap()], |command| {
        command.env("TAVOLA_DIR", tables.path());
    });
    println!("{}", actor.hear());
    actor.finish();
}

fn is_of_memory(error: &Error) -> bool {
    matches!(error, Error::BadOption { why, .. } if why.contains("name that instead"))
}

#[test]
fn a_durable_table_is_listed_and_removed_by_its_directory_alone() {
    let dir = DurableDir::new();
    let table = options(Durability::Os).create(dir.path()).unwrap();
    table.set("key", "1").unwrap();
    let memory = dir.memory().unwrap();
    let listed = |path: &Path| names::list().unwrap().iter().any(|one| one == path);
    assert!(listed(dir.path()) && !listed(&memory));
    assert!(is_of_memory(&names::remove(&memory).unwrap_err()));
    assert!(is_of_memory(&names::rename(&memory, "other").unwrap_err()));
    let any_owner = Table::options().any_owner(true);
    assert!(is_of_memory(&any_owner.remove(&memory).unwrap_err()));
    let name = memory.file_name().unwrap();
    if memory.parent() == Some(&names::directory()) {
        assert!(is_of_memory(&names::remove(name).unwrap_err()));
    }
    assert!(has(&table, "key") && memory.exists());
    drop(table);
    names::remove(dir.path()).unwrap();
    assert!(!memory.exists() && !listed(dir.path()));
}

#[test]
fn memory_whose_directory_is_gone_is_listed_and_can_be_removed() {
    let dir = DurableDir::new();
    drop(options(Durability::Os).create(dir.path()).unwrap());
    let memory = dir.memory().unwrap();
    let listed = |path: &Path| names::list().unwrap().iter().any(|one| one == path);
    // Rebuilt: the file with the earlier id is not the memory of the table any more.
    let earlier = memory.with_file_name("durable-earlier");
    std::fs::rename(&memory, &earlier).unwrap();
    drop(Table::open(dir.path()).unwrap());
    assert!(listed(dir.path()) && listed(&earlier) && !listed(&memory));
    names::remove(&earlier).unwrap();
    std::fs::remove_dir_all(dir.path()).unwrap();
    assert!(listed(&memory) && !listed(dir.path()));
    names::remove(&memory).unwrap();
    assert!(!memory.exists());
}

#[test]
fn a_table_that_is_only_called_like_memory_is_a_table() {
    let name = format!("durable-{}", std::process::id());
    let path = names::path_of(&name).unwrap();
    drop(Table::options().max_size(1 << 20).create(&name).unwrap());
    assert!(names::list().unwrap().contains(&path));
    names::remove(&path).unwrap();
    assert!(!names::list().unwrap().contains(&path));
}

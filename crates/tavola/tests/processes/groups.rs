//! The group of a new table's file: it is there before the file has a name, and only members of a
//! group can give it.

use crate::support::Dir;
use crate::support::part::{Actor, hear, play, say};
use crate::support::process::{become_user, is_root};
use std::os::unix::fs::{MetadataExt, chown};
use std::path::Path;
use tavola::{Error, LogOptions, QueueOptions, Table};

/// A user who is in no group except one of the same number.
const USER: u32 = 65_534;
const FOREIGN: u32 = 65_533;

fn options() -> tavola::Options {
    Table::options().max_size(1 << 20)
}

fn rights(path: &Path) -> (u32, u32) {
    let found = std::fs::metadata(path).unwrap();
    (found.gid(), found.mode() & 0o7777)
}

#[test]
fn a_table_a_queue_and_a_log_get_the_group_that_is_asked_for() {
    let dir = Dir::new();
    // Of the groups of this process one that it surely is in.
    let own = std::fs::metadata("/proc/self").unwrap().gid();
    let group = if is_root() { FOREIGN } else { own };
    let path = |name| dir.table(name);
    options().group(group).create(path("t")).unwrap();
    assert_eq!(rights(&path("t")), (group, 0o660));
    let read = options().group(group).mode(0o640);
    read.create(path("read")).unwrap();
    assert_eq!(rights(&path("read")), (group, 0o640));
    let pool = QueueOptions::new(9, 8).group(group).mode(0o660);
    pool.create(path("pool")).unwrap();
    assert_eq!(rights(&path("pool")), (group, 0o660));
    let log = LogOptions::new().group(group).mode(0o660);
    log.create(path("log")).unwrap();
    assert_eq!(rights(&path("log")), (group, 0o660));
    options().create(path("alone")).unwrap();
    assert_eq!(rights(&path("alone")).1, 0o600);
    // An existing table keeps its own.
    options().group(own).mode(0o600).open(path("t")).unwrap();
    assert_eq!(rights(&path("t")), (group, 0o660));
}

/// An actor: becomes a user and creates tables; says what came of it.
fn user(args: &[String]) {
    become_user(args[0].parse().unwrap());
    while let Some(asked) = hear() {
        let (group, name) = asked.split_once(' ').unwrap();
        if group == "copy" {
            let copy = format!("{name}.copy");
            Table::open_read_only(name).unwrap().copy_to(copy).unwrap();
            say("copied");
            continue;
        }
        let made = options().group(group.parse().unwrap()).create(name);
        say(match made {
            Ok(_) => "created".to_string(),
            Err(error @ Error::Permission { .. }) => format!("refused: {error}"),
            Err(error) => error.to_string(),
        });
    }
}

#[test]
fn a_user_outside_the_group_gets_an_error_and_leaves_no_file() {
    play(&[("user", user)]);
    if !is_root() {
        println!("skipped: only root can become another user");
        return;
    }
    let dir = Dir::new();
    chown(dir.path(), Some(USER), None).unwrap();
    let test = "a_user_outside_the_group_gets_an_error_and_leaves_no_file";
    let mut actor = Actor::start(test, "user", &[&USER.to_string()]);
    let mut ask = |group: &str, name: &Path| {
        actor.send(&format!("{group} {}", name.display()));
        actor.hear()
    };
    let refused = ask("65533", &dir.table("foreign"));
    let words = [
        "refused",
        "group 65533",
        "user 65534 is not in that group",
        "usermod",
    ];
    for word in words {
        assert!(refused.contains(word), "{word}: {refused}");
    }
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    assert_eq!(ask("65534", &dir.table("own")), "created");
    assert_eq!(rights(&dir.table("own")), (USER, 0o660));
    // The group of a copy never gets rights that were meant for another one.
    options()
        .mode(0o664)
        .group(FOREIGN)
        .create(dir.table("t"))
        .unwrap();
    assert_eq!(ask("copy", &dir.table("t")), "copied");
    assert_eq!(rights(&dir.table("t.copy")), (USER, 0o604));
    actor.finish();
    Table::open_read_only(dir.table("t"))
        .unwrap()
        .copy_to(dir.table("root"))
        .unwrap();
    assert_eq!(rights(&dir.table("root")), (FOREIGN, 0o664));
}

//! Tables that go with their owner: one that is killed, stopped, forked, or closes them.

#![cfg(not(miri))]

use crate::support::part::{Actor, hear, play, say};
use crate::support::patience::HANG_S;
use crate::support::process::{alarm, fork};
use crate::support::{Dir, assert_clean};
use std::path::{Path, PathBuf};
use tavola::{Error, LivesWith, Options, Table};

fn options(owner: LivesWith) -> Options {
    Table::options().max_size(8 << 20).lives_with(owner)
}

/// An actor: creates the table, or opens it, and keeps it until it is killed or told to go.
fn keep(args: &[String]) {
    alarm(HANG_S);
    let owner = match args[1].as_str() {
        "with me" => LivesWith::Process(std::process::id()),
        _ => LivesWith::LastUser,
    };
    let table = options(owner).open(&args[0]).unwrap();
    assert_eq!(table.lives_with().unwrap(), Some(owner));
    table.set(b"key", b"value").unwrap();
    say("kept");
    hear();
    drop(table);
    say("closed");
    hear();
}

fn keeper(test: &str, path: &Path, owner: &str) -> Actor {
    let mut actor = Actor::start(test, "keep", &[path.to_str().unwrap(), owner]);
    assert_eq!(actor.hear(), "kept");
    actor
}

fn is_missing(path: &Path) -> bool {
    let opened = Table::open_read_only(path);
    let is_missing = matches!(opened, Err(Error::NotFound { .. }));
    assert_eq!(is_missing, !path.exists());
    is_missing
}

fn path_in(dir: &Dir) -> PathBuf {
    dir.table("t")
}

#[test]
fn a_table_goes_with_a_process_that_was_killed_and_not_with_one_that_is_stopped() {
    play(&[("keep", keep)]);
    let test = "a_table_goes_with_a_process_that_was_killed_and_not_with_one_that_is_stopped";
    let dir = Dir::new();
    let path = path_in(&dir);
    let owner = keeper(test, &path, "with me");
    let table = Table::options().open_existing(&path).unwrap();
    assert_eq!(table.get(b"key").unwrap().unwrap(), b"value");

    owner.signal(libc::SIGSTOP);
    assert!(!is_missing(&path));
    owner.signal(libc::SIGCONT);

    owner.kill();
    assert!(is_missing(&path));
    // Who has it open goes on with it.
    table.set(b"key", b"later").unwrap();
    assert_eq!(table.get(b"key").unwrap().unwrap(), b"later");
    let second = keeper(test, &path, "with me");
    second.kill();
    // A table that is to be created is in nobody's way, although nobody has looked.
    assert!(path.exists());
    let new = Table::create(&path).unwrap();
    assert!(new.is_empty().unwrap() && new.lives_with().unwrap().is_none());
    for table in [table, new] {
        assert_clean(&table);
    }
}

#[test]
fn a_table_of_a_process_outlives_its_handles_there() {
    play(&[("keep", keep)]);
    let test = "a_table_of_a_process_outlives_its_handles_there";
    let dir = Dir::new();
    let path = path_in(&dir);
    let mut owner = keeper(test, &path, "with me");
    owner.send("close");
    assert_eq!(owner.hear(), "closed");
    assert!(!is_missing(&path));
    owner.kill();
    assert!(is_missing(&path));
}

#[test]
fn a_table_goes_with_the_last_of_its_users() {
    play(&[("keep", keep)]);
    let test = "a_table_goes_with_the_last_of_its_users";
    let dir = Dir::new();
    let path = path_in(&dir);
    for is_killed in [true, false] {
        let (one, mut other) = (keeper(test, &path, "last"), keeper(test, &path, "last"));
        let reader = Table::open_read_only(&path).unwrap();
        one.kill();
        assert!(!is_missing(&path));
        assert_eq!(reader.get(b"key").unwrap().unwrap(), b"value");
        if is_killed {
            other.kill();
            // Nobody has done it yet; the next does.
            assert!(path.exists() && is_missing(&path));
        } else {
            other.send("close");
            assert_eq!(other.hear(), "closed");
            assert!(!path.exists());
            other.kill();
        }
        assert_eq!(reader.get(b"key").unwrap().unwrap(), b"value");
    }
}

#[test]
fn a_handle_that_was_only_opened_is_a_user() {
    let dir = Dir::new();
    let path = path_in(&dir);
    let first = options(LivesWith::LastUser).create(&path).unwrap();
    let second = Table::options().open_existing(&path).unwrap();
    drop(first);
    assert!(!is_missing(&path));
    drop(second);
    assert!(is_missing(&path));
}

/// An actor: its child uses the table, and outlives it.
fn leave_a_child(args: &[String]) {
    alarm(HANG_S);
    let table = options(LivesWith::LastUser).create(&args[0]).unwrap();
    table.set(b"key", b"value").unwrap();
    let child = fork(|| {
        alarm(HANG_S);
        table.set(b"child", b"writes").unwrap();
        say(std::process::id());
        loop {
            std::thread::park();
        }
    });
    // It is not collected, and not ended: this process is killed before.
    std::mem::forget(child);
    hear();
}

#[test]
fn a_forked_child_that_has_written_is_a_user_of_its_own() {
    play(&[("leave a child", leave_a_child)]);
    let test = "a_forked_child_that_has_written_is_a_user_of_its_own";
    let dir = Dir::new();
    let path = path_in(&dir);
    let mut parent = Actor::start(test, "leave a child", &[path.to_str().unwrap()]);
    let child: i32 = parent.hear().parse().unwrap();
    parent.kill();
    assert!(!is_missing(&path));
    let table = Table::options().open_existing(&path).unwrap();
    assert_eq!(table.get(b"child").unwrap().unwrap(), b"writes");
    drop(table);
    assert!(!is_missing(&path));
    let end = Ended::of(child);
    crate::support::process::signal(child, libc::SIGKILL);
    end.wait();
    assert!(is_missing(&path));
}

/// A process that need not be a child of this one, to wait for its end.
struct Ended(std::os::fd::OwnedFd);

impl Ended {
    fn of(pid: i32) -> Self {
        use std::os::fd::FromRawFd;
        // SAFETY: passes numbers only.
        let fd = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
        assert!(fd >= 0, "{}", std::io::Error::last_os_error());
        // SAFETY: made just now, and nobody else has it.
        Self(unsafe { std::os::fd::OwnedFd::from_raw_fd(fd as i32) })
    }

    fn wait(&self) {
        use std::os::fd::AsRawFd;
        let mut asked = libc::pollfd {
            fd: self.0.as_raw_fd(),
            events: libc::POLLIN,
            revents: 0,
        };
        // SAFETY: one structure, which lives through the call.
        let ready = unsafe { libc::poll(&raw mut asked, 1, 60_000) };
        assert_eq!(ready, 1, "it does not end");
    }
}

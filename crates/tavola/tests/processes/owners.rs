//! Directories and files of other users: what somebody else put where a table is looked for is
//! neither opened nor removed.

use crate::support::Dir;
use crate::support::part::{Actor, hear, play, say};
use crate::support::process::{become_user, is_root};
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use tavola::{Error, LogOptions, QueueOptions, Table, names};

/// Users who are not root and own nothing.
const VICTIM: u32 = 65_534;
const ATTACKER: u32 = 65_533;

fn options() -> tavola::Options {
    Table::options().max_size(1 << 20)
}

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

/// A table with a key, which belongs to a user, and which all may write to.
fn table_of(uid: u32, path: &Path) {
    let table = options().mode(0o666).create(path).unwrap();
    table.set(b"key", b"value").unwrap();
    chown(path, Some(uid), None).unwrap();
}

fn link_of(uid: u32, target: &Path, path: &Path) {
    symlink(target, path).unwrap();
    std::os::unix::fs::lchown(path, Some(uid), None).unwrap();
}

fn kind_of<T>(result: tavola::Result<T>) -> &'static str {
    match result {
        Ok(_) => "fine",
        Err(Error::Permission { .. }) => "refused",
        Err(Error::NotFound { .. }) => "missing",
        Err(Error::AlreadyExists { .. }) => "exists",
        Err(Error::NotATable { .. }) => "foreign",
        Err(_) => "other",
    }
}

/// An actor: becomes a user, and returns what each way to a table comes to. A `!` before a name
/// trusts all owners.
fn user(args: &[String]) {
    become_user(args[0].parse().unwrap());
    while let Some(asked) = hear() {
        let name = asked.trim_start_matches('!');
        let options = options().any_owner(asked.starts_with('!'));
        let listed = names::list().map(|all| all.len());
        let found = [
            kind_of(options.open(name)),
            kind_of(options.open_existing(name)),
            kind_of(options.open_read_only(name)),
            kind_of(options.create(name)),
            kind_of(listed),
            kind_of(options.remove(name)),
        ];
        say(found.join(" "));
    }
}

fn ask(actor: &mut Actor, name: &str) -> String {
    actor.send(name);
    actor.hear()
}

fn actor(test: &str, uid: u32, dir: Option<&Path>) -> Actor {
    Actor::start_by(test, "user", &[&uid.to_string()], |command| {
        match dir {
            Some(dir) => command.env("TAVOLA_DIR", dir),
            None => command.env_remove("TAVOLA_DIR"),
        };
    })
}

const REFUSED: &str = "refused refused refused refused refused refused";

/// The default directory is a link to a directory of the source page's own, made by somebody else.
#[test]
fn a_default_directory_that_is_a_link_is_refused() {
    play(&[("user", user)]);
    if !is_root() {
        println!("skipped: only root can be somebody else");
        return;
    }
    let test = "a_default_directory_that_is_a_link_is_refused";
    // A user id that nobody has, so that the directory is this test's alone.
    let uid = 61_000_000 + std::process::id();
    let own = Dir::new();
    chown(own.path(), Some(uid), None).unwrap();
    table_of(uid, &own.table("t"));
    let home = PathBuf::from(format!("/dev/shm/tavola-{uid}"));
    let _removed = Removed(&home);
    let mut actor = actor(test, uid, None);
    for maker in [ATTACKER, 0, uid] {
        link_of(maker, own.path(), &home);
        assert_eq!(ask(&mut actor, "t"), REFUSED, "{maker}");
        assert!(own.table("t").exists());
        std::fs::remove_file(&home).unwrap();
    }
    actor.finish();
}

/// `TAVOLA_DIR` is a link: of root or one's own it is followed, of somebody else it is not.
#[test]
fn a_link_of_another_user_in_place_of_the_directory_is_refused() {
    play(&[("user", user)]);
    if !is_root() {
        println!("skipped: only root can be somebody else");
        return;
    }
    let test = "a_link_of_another_user_in_place_of_the_directory_is_refused";
    let (own, public) = (Dir::new(), Dir::new());
    set_mode(public.path(), 0o777);
    chown(own.path(), Some(VICTIM), None).unwrap();
    let link = public.path().join("tables");
    for dir in [link.clone(), link.join(""), link.join(".")] {
        let mut actor = actor(test, VICTIM, Some(&dir));
        for (maker, expected) in [
            (ATTACKER, REFUSED),
            (0, "fine fine fine exists fine fine"),
            (VICTIM, "fine fine fine exists fine fine"),
        ] {
            table_of(VICTIM, &own.table("t"));
            link_of(maker, own.path(), &link);
            assert_eq!(ask(&mut actor, "t"), expected, "{maker} {dir:?}");
            assert_eq!(own.table("t").exists(), maker == ATTACKER);
            let _ = std::fs::remove_file(own.table("t"));
            std::fs::remove_file(&link).unwrap();
        }
        // A trusted link that leads to one that is not.
        let second = public.path().join("second");
        table_of(VICTIM, &own.table("t"));
        link_of(ATTACKER, own.path(), &second);
        link_of(VICTIM, Path::new("second/"), &link);
        assert_eq!(ask(&mut actor, "t"), REFUSED, "{dir:?}");
        assert!(own.table("t").exists());
        for path in [own.table("t"), second, link.clone()] {
            std::fs::remove_file(path).unwrap();
        }
        actor.finish();
    }
}

/// In a directory where everybody may make files, what another user made is refused, unless the
/// caller trusts all owners.
#[test]
fn a_table_that_somebody_else_made_in_a_public_directory_is_refused() {
    play(&[("user", user)]);
    if !is_root() {
        println!("skipped: only root can be somebody else");
        return;
    }
    let test = "a_table_that_somebody_else_made_in_a_public_directory_is_refused";
    let public = Dir::new();
    set_mode(public.path(), 0o777);
    let path = public.table("t");
    let by_path = path.to_str().unwrap().to_string();
    let mut actor = actor(test, VICTIM, Some(public.path()));
    let refused = "refused refused refused refused fine refused";
    let fine = "fine fine fine exists fine fine";
    for name in ["t", &by_path] {
        table_of(ATTACKER, &path);
        assert_eq!(ask(&mut actor, name), refused, "{name}");
        assert!(path.exists());
        assert_eq!(ask(&mut actor, &format!("!{name}")), fine, "{name}");
        for owner in [0, VICTIM] {
            table_of(owner, &path);
            assert_eq!(ask(&mut actor, name), fine, "{name} of {owner}");
        }
    }
    // Links to a table of the source page's own.
    let own = Dir::new();
    chown(own.path(), Some(VICTIM), None).unwrap();
    table_of(VICTIM, &own.table("t"));
    link_of(ATTACKER, &own.table("t"), &path);
    assert_eq!(ask(&mut actor, "t"), refused);
    assert_eq!(ask(&mut actor, "!t"), fine);
    link_of(VICTIM, &own.table("t"), &path);
    assert_eq!(ask(&mut actor, "t"), fine);
    assert!(own.table("t").exists());
    actor.finish();
}

/// An actor: opens logs and queue pools of files of their own.
fn user_of_others(args: &[String]) {
    become_user(args[0].parse().unwrap());
    let log = |any| LogOptions::new().any_owner(any).open("log");
    let pool = |any| QueueOptions::new(9, 8).any_owner(any).open("pool");
    say(kind_of(log(false)));
    say(kind_of(pool(false)));
    say(kind_of(log(true)));
    say(kind_of(pool(true)));
}

#[test]
fn logs_and_queues_of_another_user_are_refused_likewise() {
    play(&[("user", user_of_others)]);
    if !is_root() {
        println!("skipped: only root can be somebody else");
        return;
    }
    let test = "logs_and_queues_of_another_user_are_refused_likewise";
    let public = Dir::new();
    set_mode(public.path(), 0o777);
    let log = LogOptions::new().mode(0o666);
    drop(log.create(public.table("log")).unwrap());
    let pool = QueueOptions::new(9, 8).mode(0o666);
    drop(pool.create(public.table("pool")).unwrap());
    for name in ["log", "pool"] {
        chown(public.table(name), Some(ATTACKER), None).unwrap();
    }
    let mut actor = actor(test, VICTIM, Some(public.path()));
    for expected in ["refused", "refused", "fine", "fine"] {
        assert_eq!(actor.hear(), expected);
    }
    actor.finish();
}

/// Of many that remove a table at once one does, and the others get the error that it does not
/// exist.
#[test]
fn of_two_processes_that_remove_a_table_one_succeeds() {
    let dir = Dir::new();
    let path = dir.table("t");
    let made = 300;
    let removed = AtomicU32::new(0);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while removed.load(Ordering::Relaxed) < made {
                    match names::remove(&path) {
                        Ok(()) => drop(removed.fetch_add(1, Ordering::Relaxed)),
                        Err(Error::NotFound { .. }) => {}
                        Err(error) => {
                            // Nobody waits for more.
                            removed.store(made, Ordering::Relaxed);
                            panic!("{error}");
                        }
                    }
                }
            });
        }
        // Names of one file are as good as tables, and quicker made.
        drop(options().create(dir.table("file")).unwrap());
        for number in 0..made {
            std::fs::hard_link(dir.table("file"), &path).unwrap();
            while removed.load(Ordering::Relaxed) <= number {
                std::thread::yield_now();
            }
        }
    });
    assert!(!path.exists());
}

struct Removed<'a>(&'a Path);

impl Drop for Removed<'_> {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(self.0);
    }
}

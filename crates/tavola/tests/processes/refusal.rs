//! What is refused, and with which words: rights, read-only file systems, names, directories,
//! participants, sizes.

use crate::support::Dir;
use crate::support::mount::Mount;
use crate::support::part::{Actor, hear, play, say};
use crate::support::process::{become_user, is_root, umask};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use tavola::{Error, Table, names};

/// Some user who is not root and owns nothing.
const NOBODY: u32 = 65_534;

fn options() -> tavola::Options {
    Table::options().max_size(1 << 20)
}

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

fn kind_of<T>(result: tavola::Result<T>) -> String {
    match result {
        Ok(_) => "fine".to_string(),
        Err(error) => {
            let text = format!("{error:?}");
            let kind = text.split([' ', '{', '(']).next().unwrap();
            kind.to_string()
        }
    }
}

/// An actor without rights: reports the result of each kind of access to a table.
fn stranger(args: &[String]) {
    become_user(NOBODY);
    for path in args {
        let found = [
            kind_of(options().open(path)),
            kind_of(options().open_existing(path)),
            kind_of(Table::open_read_only(path)),
            kind_of(options().create(path)),
        ];
        say(found.join(" "));
    }
}

#[test]
fn permissions_decide_which_processes_read_and_write() {
    play(&[("stranger", stranger)]);
    if !is_root() {
        println!("skipped: only root can be somebody else");
        return;
    }
    let dir = Dir::new();
    set_mode(dir.path(), 0o755);
    let expected = [
        (0o600, "Permission Permission Permission AlreadyExists"),
        (0o644, "Permission Permission fine AlreadyExists"),
        (0o444, "Permission Permission fine AlreadyExists"),
        (0o666, "fine fine fine AlreadyExists"),
        (0o622, "Permission Permission Permission AlreadyExists"),
        (0o000, "Permission Permission Permission AlreadyExists"),
    ];
    let paths: Vec<_> = expected
        .iter()
        .map(|(mode, _)| {
            let path = dir.table(&format!("{mode:o}"));
            let table = options().mode(*mode).create(&path).unwrap();
            table.set(b"key", b"value").unwrap();
            path.into_os_string().into_string().unwrap()
        })
        .collect();
    let new = dir.table("new").into_os_string().into_string().unwrap();
    let mut args: Vec<&str> = paths.iter().map(String::as_str).collect();
    args.push(&new);
    let mut actor = Actor::start(
        "permissions_decide_which_processes_read_and_write",
        "stranger",
        &args,
    );
    for (mode, expected) in expected {
        assert_eq!(actor.hear(), expected, "{mode:o}");
    }
    assert_eq!(actor.hear(), "Permission NotFound NotFound Permission");
    actor.finish();
    assert!(!Path::new(&new).exists());
}

/// The mode is what was asked for, whatever the umask.
#[test]
fn the_mode_of_a_table_is_exact() {
    play(&[("creator", creator)]);
    let dir = Dir::new();
    let path = dir.path().to_str().unwrap();
    let mut actor = Actor::start("the_mode_of_a_table_is_exact", "creator", &[path]);
    assert_eq!(actor.hear(), "done");
    actor.finish();
}

/// An actor, as the umask is the whole process's.
fn creator(args: &[String]) {
    for mask in [0o000, 0o022, 0o077, 0o777, 0o027] {
        umask(mask);
        for mode in [0o600, 0o660, 0o666, 0o640, 0o400, 0o777] {
            let path = Path::new(&args[0]).join(format!("{mask:o}-{mode:o}"));
            options().mode(mode).create(&path).unwrap();
            assert_eq!(
                path.metadata().unwrap().mode() & 0o7777,
                mode,
                "umask {mask:o}"
            );
        }
        let path = Path::new(&args[0]).join(format!("{mask:o}"));
        options().open(&path).unwrap();
        assert_eq!(path.metadata().unwrap().mode() & 0o7777, 0o600);
    }
    say("done");
}

/// A read-only file system: reading works, the rest says why not.
#[test]
fn a_read_only_file_system_is_read_and_no_more() {
    let Some(mount) = Mount::tmpfs(4 << 20) else {
        return;
    };
    let path = mount.table("t");
    let table = options().create(&path).unwrap();
    table.set(b"key", b"value").unwrap();
    drop(table);
    mount.set_read_only(true);
    let reader = Table::open_read_only(&path).unwrap();
    assert_eq!(reader.get(b"key").unwrap().unwrap(), b"value");
    for error in [
        options().open(&path).unwrap_err(),
        options().open_existing(&path).unwrap_err(),
        options().create(mount.table("new")).unwrap_err(),
        options().open(mount.table("new")).unwrap_err(),
        names::remove(&path).unwrap_err(),
    ] {
        let text = error.to_string();
        let fits = text.contains("read-only");
        assert!(fits, "{text}");
    }
    assert!(matches!(reader.set(b"key", b"other"), Err(Error::ReadOnly)));
    drop(reader);
    mount.set_read_only(false);
    options()
        .open(&path)
        .unwrap()
        .set(b"key", b"other")
        .unwrap();
}

#[test]
fn names_with_odd_characters_are_names_or_are_refused() {
    play(&[("namer", namer)]);
    let dir = Dir::new();
    let test = "names_with_odd_characters_are_names_or_are_refused";
    let home = dir.table("home");
    let mut actor = Actor::start_by(test, "namer", &[], |command| {
        command.env("TAVOLA_DIR", &home);
    });
    assert_eq!(actor.hear(), "done");
    actor.finish();
}

/// An actor, as TAVOLA_DIR is the whole process's.
fn namer(_: &[String]) {
    let home = names::directory();
    let longest = "n".repeat(200);
    let good = [
        "sessions",
        "with space",
        "größe",
        "表",
        "a.b",
        "-rf",
        "$(echo)",
        "*",
        "~",
        "a\\b",
        "'",
        "\"",
        "%s%n",
        "new\u{202e}old",
        &longest,
    ];
    for name in good {
        let table = options().open(name).unwrap();
        assert_eq!(table.path().parent(), Some(home.as_path()), "{name:?}");
        table.set(b"name", name.as_bytes()).unwrap();
        assert_eq!(
            Table::open_read_only(name)
                .unwrap()
                .get(b"name")
                .unwrap()
                .unwrap(),
            name.as_bytes()
        );
    }
    let not_utf8 = std::ffi::OsStr::from_bytes(b"\xFF\xFE");
    options()
        .open(not_utf8)
        .unwrap()
        .set(b"key", b"value")
        .unwrap();
    assert_eq!(names::list().unwrap().len(), good.len() + 1);
    let too_long = "n".repeat(201);
    let bad = [
        "", ".", "..", ".hidden", "a\nb", "tab\t", "\u{7f}", "\x1b[31m", "a\0b", &too_long,
    ];
    for name in bad {
        for error in [
            options().open(name).unwrap_err(),
            options().create(name).unwrap_err(),
            Table::open_read_only(name).unwrap_err(),
            names::remove(name).unwrap_err(),
        ] {
            assert!(
                matches!(error, Error::BadName { .. }),
                "{name:?}: {error:?}"
            );
            let message = error.to_string();
            assert!(!message.contains(|c: char| c.is_control()), "{message:?}");
        }
    }
    paths_are_the_system_s(&home);
    for name in good {
        names::remove(name).unwrap();
    }
    say("done");
}

/// A path is whatever the system takes.
fn paths_are_the_system_s(home: &std::path::Path) {
    let missing = home.join("no/such/directory/t");
    let error = options().open(&missing).unwrap_err().to_string();
    assert!(error.contains("create the directory first"), "{error}");
    let endless = home.join("x".repeat(300));
    assert!(options().open(&endless).is_err());
    assert!(options().open("a/\0").is_err());
}

/// An actor: opens a name in the default directory and returns what came of it.
fn user_of_the_default(args: &[String]) {
    become_user(args[0].parse().unwrap());
    while hear().is_some() {
        let found = [
            kind_of(options().open("t")),
            kind_of(options().open_existing("t")),
            kind_of(Table::open_read_only("t")),
            kind_of(options().create("t")),
        ];
        say(found.join(" "));
    }
}

/// The default directory lies where everybody may write: one that somebody else made first, or
/// may write to, is not used, not even for what is in it already.
#[test]
fn an_unsafe_default_directory_is_refused() {
    play(&[("user", user_of_the_default)]);
    if !is_root() {
        println!("skipped: only root can be somebody else");
        return;
    }
    // A user id that nobody has, so that the directory is this test's alone.
    let uid = 60_000_000 + std::process::id();
    let home = std::path::PathBuf::from(format!("/dev/shm/tavola-{uid}"));
    let _removed = Removed(&home);
    let test = "an_unsafe_default_directory_is_refused";
    let mut actor = Actor::start_by(test, "user", &[&uid.to_string()], |command| {
        command.env_remove("TAVOLA_DIR");
    });
    let mut ask = || {
        actor.send("go");
        actor.hear()
    };
    let refused = "Permission Permission Permission Permission";
    // Somebody else's, with a table that all may use.
    std::fs::create_dir(&home).unwrap();
    set_mode(&home, 0o755);
    options().mode(0o666).create(home.join("t")).unwrap();
    assert_eq!(ask(), refused);
    // One's own, but others may write to it.
    std::os::unix::fs::chown(&home, Some(uid), None).unwrap();
    std::os::unix::fs::chown(home.join("t"), Some(uid), None).unwrap();
    for mode in [0o777, 0o720, 0o702] {
        set_mode(&home, mode);
        assert_eq!(ask(), refused, "{mode:o}");
    }
    set_mode(&home, 0o755);
    assert_eq!(ask(), "fine fine fine AlreadyExists");
    // A link to elsewhere.
    std::fs::remove_dir_all(&home).unwrap();
    let elsewhere = Dir::new();
    std::os::unix::fs::symlink(elsewhere.path(), &home).unwrap();
    assert!(ask().starts_with("Permission"));
    std::fs::remove_file(&home).unwrap();
    // None: it is made, for its owner alone.
    assert_eq!(ask(), "fine fine fine AlreadyExists");
    assert_eq!(home.metadata().unwrap().mode() & 0o7777, 0o700);
    actor.finish();
}

struct Removed<'a>(&'a Path);

impl Drop for Removed<'_> {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(self.0);
        let _ = std::fs::remove_file(self.0);
    }
}

/// An actor: attaches as often as it is asked to and stays so.
fn attacher(args: &[String]) {
    let mut tables = Vec::new();
    while let Some(count) = hear() {
        for _ in 0..count.parse::<u32>().unwrap() {
            let table = Table::open(&args[0]).unwrap();
            table.set(b"key", b"value").unwrap();
            tables.push(table);
        }
        say("attached");
    }
}

#[test]
fn too_many_participants_are_refused_and_the_dead_make_room() {
    play(&[("attacher", attacher)]);
    let dir = Dir::new();
    let path = dir.table("t");
    let test = "too_many_participants_are_refused_and_the_dead_make_room";
    let first = options().create(&path).unwrap();
    let mut actors: Vec<Actor> = (0..31)
        .map(|_| Actor::start(test, "attacher", &[path.to_str().unwrap()]))
        .collect();
    for actor in &mut actors {
        actor.send("33");
    }
    actors
        .iter_mut()
        .for_each(|actor| assert_eq!(actor.hear(), "attached"));
    // 31 x 33 = 1023: all slots are taken.
    match first.set(b"key", b"value") {
        Err(Error::TooManyParticipants { limit: 1023 }) => {}
        other => panic!("{other:?}"),
    }
    // Reading needs no slot.
    assert_eq!(first.get(b"key").unwrap().unwrap(), b"value");
    assert_eq!(Table::open_read_only(&path).unwrap().len().unwrap(), 1);
    actors.pop().unwrap().kill();
    first.set(b"key", b"by the first").unwrap();
    for actor in actors.drain(..15) {
        actor.kill();
    }
    // Those that died are found by who looks for a slot, many at once.
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for round in 0..40u32 {
                    let table = Table::open(&path).unwrap();
                    table.set(round.to_le_bytes(), b"value").unwrap();
                }
            });
        }
    });
    crate::support::assert_clean(&first);
    actors.into_iter().for_each(Actor::finish);
}

#[test]
fn more_than_four_gigabytes_are_too_large() {
    let dir = Dir::new();
    let table = options().create(dir.table("t")).unwrap();
    // No memory is behind them until they are read, which they are not.
    let large = crate::support::process::Zeros::new(1 << 32);
    let large = large.bytes();
    let refused = [
        kind_of(table.set(b"", large)),
        kind_of(table.set(b"k", &large[1..])),
        kind_of(table.set(&large[..1 << 31], &large[..1 << 31])),
        kind_of(table.add(b"k", large)),
        kind_of(table.replace(b"k", large)),
    ];
    for kind in refused {
        assert_eq!(kind, "TooLarge");
    }
    match table.set(b"key", large) {
        Err(Error::TooLarge { bytes }) => assert_eq!(bytes, (1 << 32) + 3),
        other => panic!("{other:?}"),
    }
    assert_eq!(kind_of(table.set(b"", &large[1..])), "Full");
    crate::support::assert_clean(&table);
}

/// The errors of calls that fail say in plain words what to do; none shows how the program is
/// written. (`src/error/tests.rs` reads the sentence of every variant.)
#[test]
fn every_error_is_a_sentence_that_helps() {
    let dir = Dir::new();
    std::fs::write(dir.table("text"), "text").unwrap();
    let table = options().create(dir.table("t")).unwrap();
    table.set(b"text", b"text").unwrap();
    let missing = Table::options().open_existing(dir.table("none"));
    let read_only = Table::open_read_only(dir.table("t")).unwrap();
    let cache = Table::options().max_size(4 << 20).capacity(1 << 20);
    let large = vec![0; 2 << 20];
    let errors = [
        (missing.unwrap_err(), "; check the name"),
        (options().create(dir.table("t")).unwrap_err(), "; open it"),
        (Table::open(dir.table("text")).unwrap_err(), "; check the"),
        (table.set(b"key", &large).unwrap_err(), "; remove keys"),
        (
            cache.private().unwrap().set(b"key", &large).unwrap_err(),
            "; try again, or raise the capacity",
        ),
        (table.incr(b"text", 1).unwrap_err(), "; set it to"),
        (read_only.remove(b"key").unwrap_err(), "; open the table"),
        (Table::open(".hidden").unwrap_err(), "; choose another"),
        (
            options().shards(3).create(dir.table("new")).unwrap_err(),
            "3 is not a power of two up to 1024",
        ),
        (
            options().max_size(5).create(dir.table("new")).unwrap_err(),
            "is not between 1 MiB and 4 TiB",
        ),
    ];
    for (error, advice) in errors {
        let text = error.to_string();
        assert!(text.contains(advice), "{text}");
        assert!(text.len() > 30 && text.len() < 400, "{text}");
        assert!(
            text.chars().next().unwrap().is_lowercase() || text.starts_with('/'),
            "{text}"
        );
        for trace in [
            "Some(", "None", "Err(", "{ ", "::", "Error", "unwrap", "panick",
        ] {
            assert!(!text.contains(trace), "{text}");
        }
        let debug = format!("{error:?}");
        assert!(!text.contains(&debug), "{text}");
    }
}

//! A table's file is removed or replaced while it is open: a writer says so once, and a handle can
//! be moved over to what has the name now.

use crate::support::Dir;
use crate::support::part::{Actor, End, play};
use crate::support::patience::{HANG_S, MINUTE};
use crate::support::process::alarm;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};
use tavola::{Error, Table};

static NOTICES: Mutex<Vec<String>> = Mutex::new(Vec::new());

fn notices_of(path: &Path) -> usize {
    let path = path.to_str().unwrap();
    let notices = NOTICES.lock().unwrap();
    notices
        .iter()
        .filter(|notice| notice.contains(path))
        .count()
}

/// Writes until a notice comes, or for a while.
fn write(table: &Table, until: impl Fn() -> bool, most: Duration) {
    let begin = Instant::now();
    while begin.elapsed() < most && !until() {
        for number in 0..100u64 {
            table.set(number.to_le_bytes(), b"value").unwrap();
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A notice comes, and only one.
fn assert_notices(table: &Table, path: &Path) {
    write(table, || notices_of(path) > 0, MINUTE);
    write(table, || false, Duration::from_millis(2500));
    assert_eq!(notices_of(path), 1);
}

#[test]
fn a_writer_says_once_that_its_table_was_removed() {
    tavola::on_notice(|notice| NOTICES.lock().unwrap().push(notice.to_string()));
    let dir = Dir::new();
    let mut table = Table::open(dir.table("removed")).unwrap();
    let path = table.path().to_path_buf();
    write(&table, || false, Duration::from_millis(1500));
    assert_eq!(notices_of(&path), 0);
    assert!(!table.refresh().unwrap());
    std::fs::remove_file(&path).unwrap();
    assert_notices(&table, &path);
    assert!(matches!(table.refresh(), Err(Error::NotFound { .. })));
    table.set(b"key", b"goes on").unwrap();
    assert_eq!(table.get(b"key").unwrap().unwrap(), b"goes on");
    let other = Table::open(&path).unwrap();
    other.set(b"key", b"new").unwrap();
    assert!(table.refresh().unwrap());
    assert_eq!(table.get(b"key").unwrap().unwrap(), b"new");
}

#[test]
fn handles_move_over_to_the_table_that_has_the_name_now() {
    tavola::on_notice(|notice| NOTICES.lock().unwrap().push(notice.to_string()));
    let dir = Dir::new();
    let live = dir.table("live");
    let new = Table::open(dir.table("new")).unwrap();
    new.set(b"key", b"new").unwrap();
    let old = Table::open(&live).unwrap();
    old.set(b"key", b"old").unwrap();
    drop(old);
    let mut writer = Table::options().background(true).open(&live).unwrap();
    let mut reader = Table::open_read_only(&live).unwrap();
    // Read by a mapping and without: handles that were never used move as well.
    let mut unused = Table::open_read_only(&live).unwrap();
    for _ in 0..5 {
        assert_eq!(reader.get(b"key").unwrap().unwrap(), b"old");
    }
    std::fs::rename(new.path(), &live).unwrap();
    assert_notices(&writer, &live);
    for handle in [&mut writer, &mut reader, &mut unused] {
        assert!(handle.refresh().unwrap());
        assert!(!handle.refresh().unwrap());
        assert_eq!(handle.get(b"key").unwrap().unwrap(), b"new");
    }
    assert!(reader.is_read_only() && !writer.is_read_only());
    writer.set(b"key", b"newer").unwrap();
    assert_eq!(reader.get(b"key").unwrap().unwrap(), b"newer");
}

/// Loses its table's name, with the standard error it was given or with a file of its own there.
fn lose(args: &[String]) {
    alarm(HANG_S);
    let table = Table::open(&args[0]).unwrap();
    table.set(b"key", b"value").unwrap();
    if let Some(own) = args.get(1) {
        let own = std::fs::File::create(own).unwrap();
        // SAFETY: puts the file in the place of standard error, as daemons do by mistake.
        assert_eq!(unsafe { libc::dup2(own.as_raw_fd(), 2) }, 2);
    }
    std::fs::remove_file(table.path()).unwrap();
    write(&table, || false, Duration::from_millis(2500));
}

#[test]
fn notices_go_to_standard_error_and_not_to_what_took_its_place() {
    play(&[("lose", lose)]);
    let test = "notices_go_to_standard_error_and_not_to_what_took_its_place";
    let dir = Dir::new();
    let said = |args: &[&str]| {
        let errors = dir.path().join("errors");
        let file = std::fs::File::create(&errors).unwrap();
        let mut actor = Actor::start_by(test, "lose", args, |command| {
            command.stderr(file);
        });
        assert_eq!(actor.end(), End::Exit(0));
        std::fs::read_to_string(&errors).unwrap()
    };
    let table = dir.table("t");
    let table = table.to_str().unwrap();
    let own = dir.path().join("own");
    assert_eq!(said(&[table]).matches("was removed while").count(), 1);
    assert_eq!(said(&[table, own.to_str().unwrap()]), "");
    assert_eq!(std::fs::read_to_string(&own).unwrap(), "");
}

#[test]
fn a_table_is_renamed_in_one_step_and_replaces_nothing() {
    use tavola::names::rename;
    let dir = Dir::new();
    let [a, b, c] = ["a", "b", "c"].map(|name| dir.table(name));
    let table = Table::open(&a).unwrap();
    drop(Table::open(&b).unwrap());
    let taken = rename(&a, &b);
    assert!(matches!(taken, Err(Error::AlreadyExists { path }) if path == b));
    rename(&a, &c).unwrap();
    assert!(matches!(rename(&a, &c), Err(Error::NotFound { .. })));
    // A handle keeps its table.
    table.set("k", "v").unwrap();
    let again = Table::options().open_existing(&c).unwrap();
    assert_eq!(again.get("k").unwrap().as_deref(), Some(&b"v"[..]));
    std::fs::write(&a, "text").unwrap();
    assert!(matches!(rename(&a, &c), Err(Error::NotATable { path, .. }) if path == a));
    assert!(matches!(rename(&c, &a), Err(Error::NotATable { path, .. }) if path == a));
    assert_eq!(std::fs::read(&a).unwrap(), b"text");
}

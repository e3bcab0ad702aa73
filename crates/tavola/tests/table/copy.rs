//! A copy of a table has every key, whole, with all that belongs to it; it appears complete or not
//! at all, and never in the place of another file.

use crate::support::{Dir, assert_clean};
use std::os::unix::fs::PermissionsExt;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;
use tavola::serving::Marks;
use tavola::{
    Attributes, CheckReport, Error, Expiry, LogOptions, Options, QueueOptions, StoreOptions,
    Stored, Table,
};

fn options() -> Options {
    Table::options().max_size(64 << 20)
}

fn copied(table: &Table, dir: &Dir, name: &str) -> Table {
    let keys = table.copy_to(dir.table(name)).unwrap();
    let copy = Table::options().open_existing(dir.table(name)).unwrap();
    assert_eq!(copy.len().unwrap(), keys);
    assert_clean(&copy);
    copy
}

#[test]
fn a_key_keeps_all_that_it_has() {
    let dir = Dir::new();
    let table = options()
        .versions(true)
        .mode(0o640)
        .create(dir.table("t"))
        .unwrap();
    let hour = Duration::from_secs(3600);
    table.set(b"plain", b"value").unwrap();
    table
        .set_with(b"ttl", b"x", Attributes::ttl(hour).with_flags(7))
        .unwrap();
    table.set_with(b"over", b"x", Expiry::PAST.into()).unwrap();
    table.set(b"large", vec![9; 3 << 20]).unwrap();
    table.incr(b"counter", 41).unwrap();
    let tags = table.fetch_tags(&["news", "user:7"]).unwrap();
    table
        .set_tagged(b"tagged", b"x", Attributes::default(), &tags)
        .unwrap();
    let gone = table.fetch_tags(&["gone"]).unwrap();
    table
        .set_tagged(b"invalidated", b"x", Attributes::default(), &gone)
        .unwrap();
    table.invalidate_tag(b"gone").unwrap();
    let marked = StoreOptions {
        marks: Some(Marks::only(5)),
        ..StoreOptions::default()
    };
    table.store(b"marked", b"x", &marked).unwrap();
    table.set_uid(b"uid", b"x").unwrap();

    let copy = copied(&table, &dir, "copy");
    assert_eq!(copy.len().unwrap(), 7);
    for key in ["plain", "ttl", "large", "tagged", "marked", "uid"] {
        let key = key.as_bytes();
        let (mut old, mut new) = (
            table.get_entry(key).unwrap().unwrap(),
            copy.get_entry(key).unwrap().unwrap(),
        );
        if let (Expiry::After(was), Expiry::After(is)) =
            (old.attributes.expiry, new.attributes.expiry)
        {
            assert!(is <= hour && was.abs_diff(is) < Duration::from_secs(60));
            (old.attributes.expiry, new.attributes.expiry) = (Expiry::Never, Expiry::Never);
        }
        assert_eq!(old, new);
    }
    assert_eq!(copy.incr(b"counter", 1).unwrap(), 42);
    assert_eq!(
        copy.tags_of(b"tagged").unwrap(),
        table.tags_of(b"tagged").unwrap()
    );
    copy.invalidate_tag(b"news").unwrap();
    assert!(!copy.contains(b"tagged").unwrap() && table.contains(b"tagged").unwrap());
    let mode = copy.path().metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o640);

    // A version that the table gave out names no other value of the copy.
    let given = table.get_entry(b"plain").unwrap().unwrap().token;
    let Stored::Done(next) = copy.store(b"new", b"x", &StoreOptions::default()).unwrap() else {
        panic!("not stored");
    };
    assert_ne!(next, given);
    assert!(copy.get_entry(b"marked").unwrap().unwrap().token != next);
}

#[test]
fn a_table_of_each_kind_is_copied_as_one_of_its_kind() {
    let dir = Dir::new();
    let kinds = [
        options().shards(4),
        options().fixed(8, 8),
        options().fixed(8, 16).uids(true),
        options().ttl(Duration::from_secs(600)),
        options().capacity(16 << 20),
    ];
    for (number, options) in kinds.iter().enumerate() {
        let table = options.create(dir.table(&format!("t{number}"))).unwrap();
        let value = vec![3; if number == 2 { 16 } else { 8 }];
        for key in 0..2000u64 {
            table.set(key.to_le_bytes(), &value).unwrap();
        }
        let copy = copied(&table, &dir, &format!("c{number}"));
        for key in 0..2000u64 {
            assert_eq!(
                copy.get(key.to_le_bytes()).unwrap().as_deref(),
                Some(&value[..])
            );
        }
        let (old, new) = (table.stats().unwrap(), copy.stats().unwrap());
        assert_eq!((old.max_size, old.shards), (new.max_size, new.shards));
        assert_eq!(old.capacity, new.capacity);
        assert_eq!(
            table.ttl([0; 8]).unwrap() == Some(Expiry::Never),
            copy.ttl([0; 8]).unwrap() == Some(Expiry::Never)
        );
    }
}

#[test]
fn values_are_whole_while_others_write() {
    const KEYS: u64 = 200;
    let dir = Dir::new();
    let table = options().create(dir.table("t")).unwrap();
    let value = |round: u64, key: u64| vec![(round + key) as u8; 100 + (key as usize % 5) * 9000];
    for key in 0..KEYS {
        table.set(key.to_le_bytes(), value(0, key)).unwrap();
    }
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut round = 0;
            while !done.load(Relaxed) {
                round += 1;
                for key in 0..KEYS {
                    table.set(key.to_le_bytes(), value(round, key)).unwrap();
                    table
                        .set(format!("passing {round} {key}").as_bytes(), b"x")
                        .unwrap();
                    table
                        .remove(format!("passing {round} {key}").as_bytes())
                        .unwrap();
                }
            }
        });
        for number in 0..5 {
            let copy = copied(&table, &dir, &format!("c{number}"));
            for key in 0..KEYS {
                let value = copy
                    .get(key.to_le_bytes())
                    .unwrap()
                    .expect("a key that stays");
                assert_eq!(value.len(), 100 + (key as usize % 5) * 9000);
                assert!(value.iter().all(|byte| *byte == value[0]));
            }
        }
        done.store(true, Relaxed);
    });
}

#[test]
fn a_file_that_is_there_is_left_alone_and_a_failed_copy_leaves_nothing() {
    let dir = Dir::new();
    let table = options().create(dir.table("t")).unwrap();
    table.set(b"k", b"v").unwrap();
    std::fs::write(dir.table("taken"), "mine").unwrap();
    let refused = table.copy_to(dir.table("taken"));
    assert!(matches!(refused, Err(Error::NotATable { .. })));
    assert_eq!(std::fs::read(dir.table("taken")).unwrap(), b"mine");
    assert!(matches!(
        table.copy_to(dir.table("t")),
        Err(Error::AlreadyExists { .. })
    ));
    let nowhere = table.copy_to(dir.path().join("not/there"));
    assert!(nowhere.is_err());
    let names = std::fs::read_dir(dir.path()).unwrap().count();
    assert_eq!(names, 2, "the table, and the file that was there");
    // To read is enough.
    let reader = Table::open_read_only(dir.table("t")).unwrap();
    assert_eq!(reader.copy_to(dir.table("copy")).unwrap(), 1);
}

#[test]
fn what_has_no_keys_is_refused() {
    let dir = Dir::new();
    let _log = LogOptions::new().create(dir.table("log")).unwrap();
    let _pool = QueueOptions::new(8, 64).create(dir.table("pool")).unwrap();
    for name in ["log", "pool"] {
        let file = Table::open_read_only(dir.table(name)).unwrap();
        let refused = file.copy_to(dir.table("copy"));
        assert!(
            matches!(refused, Err(Error::NotATable { .. })),
            "{refused:?}"
        );
    }
}

fn check_of(path: &std::path::Path) -> CheckReport {
    let read_only = Table::open_read_only(path).unwrap().check().unwrap();
    let table = Table::options().open_existing(path).unwrap();
    let report = table.check().unwrap();
    assert_eq!(read_only.copied_in_use, report.copied_in_use);
    table.repair().unwrap();
    let repaired = table.check().unwrap();
    assert!(repaired.is_clean(), "{:?}", repaired.problems);
    assert_eq!(repaired.copied_in_use, report.copied_in_use);
    report
}

#[test]
fn a_copy_of_the_bytes_of_a_table_in_use_says_so_for_good() {
    let dir = Dir::new();
    let (live, bytes) = (dir.table("live"), dir.table("bytes"));
    let table = options().create(&live).unwrap();
    table.set(b"k", b"v").unwrap();
    std::fs::copy(&live, &bytes).unwrap();
    for _ in 0..2 {
        assert!(check_of(&bytes).copied_in_use);
    }
    // The slot of the one that was attached is given out again meanwhile.
    let copy = Table::options().open_existing(&bytes).unwrap();
    copy.set(b"k", b"v").unwrap();
    assert!(copy.check().unwrap().copied_in_use);
    copy.copy_to(dir.table("next")).unwrap();
    assert!(check_of(&dir.table("next")).copied_in_use);

    // Not so: the table itself, under another name too; a whole copy; a copy of one at rest.
    table.copy_to(dir.table("whole")).unwrap();
    std::fs::rename(&live, dir.table("moved")).unwrap();
    assert!(!check_of(&dir.table("moved")).copied_in_use);
    assert!(!check_of(&dir.table("whole")).copied_in_use);
    drop(table);
    std::fs::copy(dir.table("moved"), dir.table("rest")).unwrap();
    assert!(!check_of(&dir.table("rest")).copied_in_use);
}

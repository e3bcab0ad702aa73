//! Saved files on the real and on the simulated disk.

use super::{Place, restore, save};
use crate::error::{Error, Result};
use crate::journal::{
    About, ChangeRecord, Content, Kind, NOTE_AGAIN, Op, SavedReader, SavedWriter,
};
use crate::sys::disk::simulated::check::{CutChoices, check_all_cuts};
use crate::sys::disk::simulated::fault::{CallKind, Fault};
use crate::sys::disk::simulated::{SimulatedHome, count_of, one_in};
use crate::sys::disk::{HomeDir, RealHome};
use crate::table::Table;
use crate::values::{Attributes, Expiry, Restored, Saved};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

const NAME: &str = "keys";

fn table() -> Table {
    let options = Table::options().max_size(8 << 20).shards(2);
    options.private().expect("a table")
}

fn place() -> Place<'static> {
    Place::of(Path::new(NAME)).expect("a name")
}

fn save_to(table: &Table, home: &SimulatedHome) -> Result<Saved> {
    save::save(table, home, &place(), &mut |_, _| {})
}

fn restore_from(table: &Table, home: &SimulatedHome) -> Result<Restored> {
    restore::restore(table, home, &place(), &mut |_, _| {})
}

fn contents(table: &Table) -> BTreeMap<Vec<u8>, Vec<u8>> {
    table
        .iter()
        .map(|entry| entry.expect("no damage"))
        .collect()
}

/// A table with keys of all kinds.
fn full() -> Table {
    let table = table();
    for number in 0..40_u32 {
        table
            .set(number.to_le_bytes(), vec![7; number as usize])
            .unwrap();
    }
    table.set("large", vec![9; 200_000]).unwrap();
    let tags = table.fetch_tags(&["one", "two"]).unwrap();
    let hour = Attributes::ttl(Duration::from_secs(3600)).with_flags(5);
    table.set_tagged("tagged", "value", hour, &tags).unwrap();
    table
}

/// A file with these changes.
fn file_of(about: &About, changes: &[ChangeRecord<'_>]) -> SimulatedHome {
    let home = SimulatedHome::new();
    let dir = home.clone();
    let mut writer = SavedWriter::create(&dir, NAME, about).unwrap().unwrap();
    for change in changes {
        writer.records.draft().push_change(change);
        writer.records.after_change().unwrap();
    }
    let written = writer.records.finish(0, changes.len() as u64, 0);
    assert!(written.is_ok());
    home
}

fn set<'a>(key: &'a [u8], value: &'a [u8]) -> ChangeRecord<'a> {
    ChangeRecord {
        content: Content::Here(value),
        ..ChangeRecord::of(Op::Set, key)
    }
}

fn about() -> About {
    About {
        uuid: [1, 2],
        unix_ms: crate::sys::clock::unix_ms(),
        clock_ms: 1_000_000,
    }
}

#[test]
fn any_flipped_byte_and_any_shorter_or_longer_file_is_refused_before_a_key_is_set() {
    let home = SimulatedHome::new();
    let saved = table();
    for number in 0..20_u32 {
        saved.set(number.to_le_bytes(), [7; 9]).unwrap();
    }
    saved.set("large", vec![9; 70_000]).unwrap();
    save_to(&saved, &home).unwrap();
    let whole = home.image()[NAME].clone();
    let refused = |bytes: Vec<u8>, what: &str| {
        let image = [(NAME.to_string(), bytes.into())].into_iter().collect();
        let table = table();
        let outcome = restore_from(&table, &SimulatedHome::from_image(image, Vec::new()));
        assert!(
            matches!(outcome, Err(Error::NotRestorable { .. })),
            "{what}: {outcome:?}"
        );
        assert!(table.is_empty().unwrap(), "{what}");
    };
    // The last words of the head are not used; the middle of the large value is like its rest.
    let places = (0..40)
        .chain(64..2000)
        .chain(whole.len() - 900..whole.len());
    for at in places.step_by(one_in(5, 29)) {
        let mut bytes = whole.to_vec();
        bytes[at] ^= 1 << (at % 8);
        refused(bytes, &format!("byte {at}"));
    }
    for len in (0..200).chain([1000, whole.len() - 8, whole.len() - 1]) {
        refused(whole[..len].to_vec(), &format!("{len} bytes"));
    }
    refused([&whole[..], b"12345678"].concat(), "a longer file");
    refused(
        b"<!DOCTYPE html>, which is longer than a head of 64 bytes, is no saved file".into(),
        "html",
    );
}

#[test]
fn files_of_others_are_named() {
    let why = |bytes: Vec<u8>| {
        let image = [(NAME.to_string(), bytes.into())].into_iter().collect();
        let home = SimulatedHome::from_image(image, Vec::new());
        match restore_from(&table(), &home) {
            Err(Error::NotRestorable { why, .. }) => why,
            other => panic!("{other:?}"),
        }
    };
    assert!(why(b"no such file".to_vec()).contains("tavola save"));
    let durable = SimulatedHome::new();
    let writer = crate::journal::SnapshotWriter::create(&durable, 7, 4096, 1).unwrap();
    writer.finish(4096, 0, 0).unwrap();
    let snapshot = durable.image().remove(&crate::journal::snapshot_name(4096));
    assert!(why(snapshot.unwrap().to_vec()).contains("durable"));
    let newer = SimulatedHome::new();
    let writer = SavedWriter::create_of_format(&newer, NAME, &about(), 9);
    writer.unwrap().unwrap().records.finish(0, 0, 0).unwrap();
    assert!(why(newer.image()[NAME].to_vec()).contains("format 9"));
}

#[test]
fn a_power_failure_leaves_the_file_before_or_the_new_one() {
    let home = SimulatedHome::new();
    let old = table();
    old.set("old", "1").unwrap();
    save_to(&old, &home).unwrap();
    home.acknowledge(1);
    let new = full();
    save_to(&new, &home).unwrap();
    home.acknowledge(2);
    // And over what a dead writer left.
    home.create("keys.new")
        .unwrap()
        .write_all_at(&[1; 5000], 0)
        .unwrap();
    save_to(&old, &home).unwrap();
    let (old, new) = (contents(&old), contents(&new));
    for seed in 0..count_of(20, 1) as u64 {
        let choices = CutChoices::Random { seed, count: 10 };
        let judged = check_all_cuts(&home.history(), choices, |left, acknowledged| {
            let table = table();
            match restore_from(&table, &left) {
                Ok(_) => {}
                Err(Error::Io { .. }) if acknowledged.is_empty() => return Ok(()),
                Err(error) => return Err(error.to_string()),
            }
            let has = contents(&table);
            let is_right = match acknowledged.len() {
                0 => has == old,
                _ => has == old || has == new,
            };
            is_right
                .then_some(())
                .ok_or_else(|| format!("{} keys", has.len()))
        });
        let judged = judged.unwrap_or_else(|failure| panic!("{failure}"));
        assert!(judged.cuts > 100, "{judged:?}");
    }
}

#[test]
fn a_disk_that_fails_at_any_call_leaves_the_file_before() {
    let kinds = CallKind::ALL.map(Some).into_iter().chain([None]);
    let faults = [Fault::new(libc::EIO), Fault::after_bytes(libc::ENOSPC, 100)];
    let mut failures = 0;
    for (kind, fault) in kinds.flat_map(|kind| faults.map(|fault| (kind, fault))) {
        for calls in 0.. {
            let home = SimulatedHome::new();
            let old = table();
            old.set("old", "1").unwrap();
            save_to(&old, &home).unwrap();
            home.fail_nth(kind, calls, fault);
            let saved = save_to(&full(), &home);
            home.stop_failing();
            let table = table();
            restore_from(&table, &home).unwrap();
            match saved {
                Ok(_) if table.len().unwrap() > 1 => break,
                Err(Error::Io { source, .. }) => {
                    assert_eq!(source.raw_os_error(), Some(fault.errno));
                    // The last sync is that of the directory, after the rename.
                    let is_renamed = table.len().unwrap() > 1;
                    assert!(!is_renamed || home.image().len() == 1);
                    failures += 1;
                }
                other => panic!("{kind:?} {calls}: {other:?}, {} keys", table.len().unwrap()),
            }
        }
    }
    assert!(failures > 20, "{failures}");
}

#[test]
fn a_full_disk_gets_its_room_back() {
    let home = SimulatedHome::new();
    save_to(&table(), &home).unwrap();
    home.fail_from(
        Some(CallKind::Write),
        0,
        Fault::after_bytes(libc::ENOSPC, 4096),
    );
    let saved = save_to(&full(), &home);
    assert!(matches!(saved, Err(Error::Io { .. })), "{saved:?}");
    assert_eq!(home.image().keys().collect::<Vec<_>>(), [NAME]);
}

#[test]
fn the_last_of_several_values_of_a_key_counts() {
    let again = |value| ChangeRecord {
        note: NOTE_AGAIN,
        ..set(b"key", value)
    };
    let home = file_of(
        &about(),
        &[
            set(b"key", b"1"),
            again(b"2"),
            set(b"other", b"3"),
            again(b"4"),
        ],
    );
    let table = table();
    let restored = restore_from(&table, &home).unwrap();
    assert_eq!((restored.keys, restored.present), (2, 0));
    assert_eq!(table.get("key").unwrap().as_deref(), Some(&b"4"[..]));
    let (file, _) = restore::check(&home, &place()).unwrap();
    assert_eq!(file.keys, 2);
}

#[test]
fn a_key_that_is_rewritten_during_the_walk_is_there_once() {
    let home = SimulatedHome::new();
    let saved = table();
    for number in 0..5000_u32 {
        saved.set(number.to_le_bytes(), [b'o'; 100]).unwrap();
    }
    // More keys split the segments that are being read, whose keys are then read again.
    let mut next = 5000_u32;
    let mut report = |_, _| {
        for _ in 0..5000 {
            saved.set(next.to_le_bytes(), [b'n'; 100]).unwrap();
            next += 1;
        }
        for number in 0..5000_u32 {
            saved.set(number.to_le_bytes(), [b'n'; 120]).unwrap();
        }
    };
    let written = save::save(&saved, &home, &place(), &mut report).unwrap();
    let file = SavedReader::open(&home, NAME).unwrap().unwrap();
    let mut again = 0;
    let read = file.read(|record| -> std::io::Result<()> {
        if record.kind == Kind::Commit {
            record.each_change(|change, _| again += u64::from(change.note & NOTE_AGAIN != 0));
        }
        Ok(())
    });
    let foot = read.unwrap().unwrap();
    assert!(again > 100, "{again}");
    assert_eq!(foot.keys, written.keys + again);
    let table = table();
    let restored = restore_from(&table, &home).unwrap();
    assert_eq!((restored.keys, restored.present), (written.keys, 0));
    for number in 0..5000_u32 {
        assert!(table.contains(number.to_le_bytes()).unwrap(), "{number}");
    }
    assert_eq!(table.len().unwrap(), written.keys);
}

#[test]
fn expired_keys_stay_out_and_others_expire_by_the_wall_clock() {
    let about = about();
    let with_end = |key, expiry_ms| ChangeRecord {
        expiry_ms,
        ..set(key, b"1")
    };
    let home = file_of(
        &About {
            // Saved an hour ago.
            unix_ms: about.unix_ms - 3_600_000,
            ..about
        },
        &[
            with_end(b"over", about.clock_ms + 3_500_000),
            with_end(b"there", about.clock_ms + 36_000_000),
            with_end(b"never", 0),
        ],
    );
    let table = table();
    let restored = restore_from(&table, &home).unwrap();
    assert_eq!((restored.keys, restored.expired), (2, 1));
    assert!(!table.contains("over").unwrap());
    let Some(Expiry::After(left)) = table.ttl("there").unwrap() else {
        panic!("it expires");
    };
    // Nine hours, less the time of this test.
    let most = 9 * 3600;
    assert!((most - 600..=most).contains(&left.as_secs()), "{left:?}");
    assert_eq!(table.ttl("never").unwrap(), Some(Expiry::Never));
}

#[test]
fn two_writers_do_not_write_the_same_file() {
    let dir = tempfile::tempdir().unwrap();
    let home = RealHome::of_mode(dir.path(), 0o600).unwrap();
    let first = home.claim("f.new").unwrap().expect("it is free");
    assert!(home.claim("f.new").unwrap().is_none());
    first.write_all_at(b"half", 0).unwrap();
    drop(first);
    // The file of a dead writer is overwritten.
    let second = home.claim("f.new").unwrap().expect("it is free");
    assert_eq!(second.len().unwrap(), 0);
    home.rename("f.new", "f").unwrap();
    assert!(home.claim("f.new").unwrap().is_some());
    std::os::unix::fs::symlink("f", dir.path().join("link")).unwrap();
    assert!(home.claim("link").is_err());
}

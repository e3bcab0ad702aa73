//! Scans through a damaged table: they meet every key that can be read, report the damage once, and
//! end.

use crate::support::Dir;
use crate::support::format::{self, Image};
use std::collections::BTreeSet;
use std::path::Path;
use tavola::{Cursor, Error, Table};

const KEYS: u64 = 5000;

fn key_of(number: u64) -> Vec<u8> {
    format!("key#{number:08}").into_bytes()
}

fn build(path: &Path) {
    let table = Table::options().max_size(4 << 20).shards(1);
    let table = table.create(path).unwrap();
    for number in 0..KEYS {
        table.set(key_of(number), b"a value of some bytes").unwrap();
    }
}

/// The bytes of a table's file, changed.
fn damage(path: &Path, change: impl FnOnce(&mut Image)) {
    let mut image = Image::read(path);
    change(&mut image);
    image.write(path);
}

/// Calls until the scan says that it is over, and three times more. Returns the keys that were met,
/// and how often damage was reported.
fn walk(mut next: impl FnMut() -> tavola::Result<Option<Vec<u8>>>) -> (BTreeSet<Vec<u8>>, u32) {
    let (mut met, mut reports) = (BTreeSet::new(), 0);
    for _ in 0..4 * KEYS {
        match next() {
            Ok(Some(key)) => _ = met.insert(key),
            Ok(None) => {
                for _ in 0..3 {
                    assert!(next().unwrap().is_none(), "it goes on behind its end");
                }
                return (met, reports);
            }
            Err(Error::Corrupt { .. }) => reports += 1,
            Err(error) => panic!("{error}"),
        }
    }
    panic!(
        "the walk does not end: {} keys, {reports} reports",
        met.len()
    );
}

fn walks(table: &Table) -> Vec<(BTreeSet<Vec<u8>>, u32)> {
    let mut lent = table.iter();
    let mut full = table.iter();
    let mut copied = table.iter();
    let mut cursor = Some(Cursor::default());
    vec![
        walk(|| Ok(lent.next_entry()?.map(|(key, _)| key.to_vec()))),
        walk(|| Ok(full.next_with_tags()?.map(|((key, ..), _)| key.to_vec()))),
        walk(|| {
            copied
                .next()
                .transpose()
                .map(|entry| entry.map(|(key, _)| key))
        }),
        // One that rests after each entry.
        walk(|| {
            let mut entries = table.resume(cursor.take().unwrap());
            let next = entries
                .next_entry()
                .map(|entry| entry.map(|(key, _)| key.to_vec()));
            cursor = Some(entries.pause());
            next
        }),
    ]
}

#[test]
fn items_that_cannot_be_read_are_passed_over() {
    let dir = Dir::new();
    let path = dir.table("t");
    build(&path);
    let mut lost = BTreeSet::new();
    damage(&path, |image| {
        let items = image.items(b"key#", 12);
        for item in items.iter().step_by(500) {
            let header = item.ranges[0].start as usize;
            image.bytes[header..header + 8].fill(0xff);
            lost.insert(item.key.clone());
        }
    });
    assert!(lost.len() > 3);
    let table = Table::open(&path).unwrap();
    for (met, reports) in walks(&table) {
        assert_eq!(reports, 1);
        for number in 0..KEYS {
            let key = key_of(number);
            assert_eq!(met.contains(&key), !lost.contains(&key), "{number}");
        }
    }
    // After a repair there is nothing to report.
    table.repair().unwrap();
    for (met, reports) in walks(&table) {
        assert_eq!((met.len(), reports), (KEYS as usize - lost.len(), 0));
    }
}

#[test]
fn a_directory_that_leads_nowhere_is_passed_over() {
    let dir = Dir::new();
    let path = dir.table("t");
    for entry in 0..3 {
        let _ = std::fs::remove_file(&path);
        build(&path);
        damage(&path, |image| {
            let at = (image.shard(0) + format::DIRECTORY + 4 * entry) as usize;
            assert_ne!(image.word32(at as u64), 0, "a segment");
            image.bytes[at..at + 4].fill(0x7f);
        });
        let table = Table::open(&path).unwrap();
        for (met, reports) in walks(&table) {
            assert_eq!(reports, 1, "entry {entry}");
            assert!(met.len() > 500, "entry {entry}: {} keys", met.len());
        }
    }
}

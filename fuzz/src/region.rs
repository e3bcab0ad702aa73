//! A table's file with changed bytes: whatever they say, no panic, no access outside, no endless
//! loop; and once repaired, a clean table that takes writes.

pub(crate) mod damaged;

use crate::change::{MOST_CHANGES, open_changed, write_changed};
use crate::image::Area;
use crate::lengths::Lengths;
use crate::template::{fixed_template, template};
use crate::watch::within_limit;
use arbitrary::{Arbitrary, Unstructured};
use damaged::{Damaged, tolerate};
use std::collections::HashSet;
use tavola::{Error, Table};

const MOST_OPS: usize = 40;

/// Damages the table as the input says, uses it, repairs it and uses it again.
///
/// # Panics
/// When something is wrong with the library.
pub fn run(input: &[u8]) {
    let mut source = Unstructured::new(input);
    let count = usize::from(u8::arbitrary(&mut source).unwrap_or(0));
    let is_fixed = count / MOST_CHANGES % 2 == 1;
    let template = if is_fixed {
        fixed_template(u8::arbitrary(&mut source).unwrap_or(0))
    } else {
        template()
    };
    let (image, _) = write_changed::<Area>(template, count, &mut source);
    within_limit(|| {
        let Some(table) = open_changed() else {
            return;
        };
        // As the superblock says them now: they may be damaged, and believed.
        let lengths = Lengths(image.fixed());
        let mut damaged = Damaged::new(&table, lengths, template.hints.clone());
        for _ in 0..MOST_OPS {
            if !damaged.play_next(&mut source) {
                break;
            }
            if source.is_empty() {
                break;
            }
        }
        repair(&table, lengths);
    });
}

fn repair(table: &Table, lengths: Lengths) {
    tolerate(table.check().map(drop));
    table.repair().expect("a repair");
    let report = table.check().expect("a check");
    assert!(report.is_clean(), "{:?}", report.problems);
    for entry in table.iter() {
        let (key, value) = entry.expect("an entry of a repaired table");
        let got = table.get(&key).expect("a key of a repaired table");
        assert!(got.as_ref() == Some(&value), "a walk and a get differ");
        assert!(lengths.fit(&key, value.len()), "of other lengths");
    }
    name_all(table, lengths);
    write_after(table, lengths);
    let report = table.check().expect("a check");
    assert!(report.is_clean(), "{:?}", report.problems);
}

/// A repaired table takes writes, and those of its lengths only.
fn write_after(table: &Table, lengths: Lengths) {
    let (key, value) = lengths.entry(b"after", b"all");
    match table.set(&key, &value) {
        Ok(()) => assert_eq!(table.get(&key).unwrap().unwrap(), value),
        Err(Error::Full { .. }) => {}
        Err(error) => panic!("{error}"),
    }
    if lengths.are_fixed() {
        let before = (table.get(&key).unwrap(), table.len().unwrap());
        for (key, value) in [
            (&key, &[&value[..], b"x"].concat()),
            (&[&key[..], b"x"].concat(), &value),
        ] {
            let error = table.set(key, value).expect_err("other lengths are taken");
            assert!(lengths.are_in_error(&error), "{error}");
        }
        assert_eq!((table.get(&key).unwrap(), table.len().unwrap()), before);
    }
}

/// Every key of a repaired table has a uid or gets one, unless there is no room, and the answers
/// by uid are those by key; or none does, where items have no room for one.
fn name_all(table: &Table, lengths: Lengths) {
    let keys: Vec<_> = table.iter().map(|entry| entry.unwrap().0).collect();
    if !lengths.have_uids() {
        let refused = |key: &Vec<u8>| matches!(table.uid_of(key), Err(Error::NoUids));
        assert!(keys.iter().all(refused), "a uid that has no room");
        return;
    }
    let mut uids = HashSet::new();
    for key in keys {
        let value = table.get(&key).expect("a key of a repaired table");
        let hint = match table.uid_of(&key) {
            Ok(hint) => hint.expect("a uid of a key that is there"),
            Err(Error::Full { .. }) => break,
            Err(error) => panic!("{error}"),
        };
        assert!(uids.insert(hint.uid()), "two keys have one uid");
        for asked in [hint, hint.uid().into()] {
            let named = table.get_by_uid(asked).expect("a uid of a repaired table");
            assert!(named == value, "the answers by uid and by key differ");
            assert_eq!(table.key_of_uid(asked).unwrap().as_ref(), Some(&key));
        }
        assert!(table.get(&key).unwrap() == value, "lost by its uid");
    }
}

//! Watches of keys: nobody sleeps through the last change.

use super::{Key, Table, Write, beside, explore, quietly, set, table, version};
use std::time::Duration;

pub(super) const KEY: Key = *b"the key!";

/// One that watches until the key has that version.
pub(super) fn watches(last: u8) -> Write {
    Box::new(move |t| {
        let mut watch = t.watch_key(KEY).unwrap();
        while version(t, &KEY) != last {
            assert!(watch.wait(Duration::MAX).unwrap());
        }
    })
}

/// One that sets the key to those versions.
fn sets(versions: std::ops::Range<u8>) -> Write {
    Box::new(move |t| versions.for_each(|version| set(t, &KEY, version)))
}

/// The records are backed, and the key is there.
fn begin(t: &Table) {
    set(t, &KEY, 1);
    drop(t.watch_key(b"another").unwrap());
}

#[test]
fn the_last_change_wakes_all_that_watch() {
    explore(400, || {
        let table = table(begin);
        beside(&table, vec![sets(2..4), watches(3), watches(3)], Vec::new());
    });
}

#[test]
fn a_change_in_place_wakes() {
    const FIRST: u8 = super::WORDS;
    explore(400, || {
        let table = table(|t| {
            begin(t);
            set(t, &KEY, FIRST);
        });
        let all = vec![sets(FIRST + 1..FIRST + 3), watches(FIRST + 2)];
        beside(&table, all, Vec::new());
    });
}

#[test]
fn a_tag_that_is_invalidated_wakes() {
    explore(400, || {
        let table = table(|t| {
            let tags = t.fetch_tags(&["tag"]).unwrap();
            t.set_tagged(KEY, b"value", crate::Attributes::default(), &tags)
                .unwrap();
            drop(t.watch_key(b"another").unwrap());
        });
        let invalidates: Write = Box::new(|t| assert!(t.invalidate_tag(b"tag").unwrap()));
        let watches: Write = Box::new(|t| {
            let mut watch = t.watch_key(KEY).unwrap();
            while t.contains(KEY).unwrap() {
                assert!(watch.wait(Duration::MAX).unwrap());
            }
        });
        beside(&table, vec![invalidates, watches], Vec::new());
        assert!(!quietly(|| table.contains(KEY).unwrap()));
    });
}

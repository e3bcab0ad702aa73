//! Keys with tags in a cache: a key may be missing at any time, but none is there that has a tag
//! which was invalidated after the key was set.

use super::tolerate_leases;
use crate::lengths::Lengths;
use crate::op::Value;
use std::collections::BTreeSet;
use tavola::{Attributes, Error, Table};

const TAGS: [&str; 4] = ["tag 0", "tag 1", "tag 2", "tag 3"];

/// What a tagged value begins with: its tags, a bit each, and how many invalidations there were
/// before. What is appended to it leaves the key its tags; what takes its place begins otherwise.
fn head(mask: u8, serial: u16) -> [u8; 8] {
    let [low, high] = serial.to_le_bytes();
    [b't', b'a', b'g', b's', 0xFF, mask, low, high]
}

/// Sets and invalidates, and looks whether what it saw set is gone.
pub(super) struct TagPlayer<'a> {
    table: &'a Table,
    lengths: Lengths,
    /// Nothing was damaged: so answers must be right.
    is_whole: bool,
    serial: u16,
    /// Of each tag, the last invalidation.
    ended: [u16; TAGS.len()],
    keys: BTreeSet<Vec<u8>>,
}

impl<'a> TagPlayer<'a> {
    pub(super) fn new(table: &'a Table, lengths: Lengths, is_whole: bool) -> Self {
        Self {
            table,
            lengths,
            is_whole,
            serial: 0,
            ended: [0; TAGS.len()],
            keys: BTreeSet::new(),
        }
    }

    pub(super) fn set(&mut self, key: &[u8], value: Value, mask: u8, is_late: bool) {
        let mask = mask % (1 << TAGS.len());
        let numbers = (0..TAGS.len()).filter(|number| mask >> number & 1 == 1);
        let names: Vec<&str> = numbers.map(|number| TAGS[number]).collect();
        let value = [&head(mask, self.serial)[..], &self.lengths.value(value)].concat();
        let taken = self.table.fetch_tags(&names);
        if is_late && mask != 0 {
            self.invalidate(mask.trailing_zeros() as u8);
        }
        let none = Attributes::default();
        let set = taken.and_then(|tags| self.table.set_tagged(key, &value, none, &tags));
        self.keys.insert(key.to_vec());
        self.tolerate(set);
        self.check_tags(key);
    }

    pub(super) fn invalidate(&mut self, number: u8) {
        let number = usize::from(number) % TAGS.len();
        let result = self.table.invalidate_tag(TAGS[number].as_bytes());
        let is_done = result.is_ok();
        self.tolerate(result.map(drop));
        if is_done {
            self.serial += 1;
            self.ended[number] = self.serial;
        }
        for key in &self.keys {
            self.check_tags(key);
        }
    }

    /// Checks that a value that begins as a tagged one still has its tags.
    fn check_tags(&self, key: &[u8]) {
        let Ok(Some(value)) = self.table.get(key) else {
            return;
        };
        let [b't', b'a', b'g', b's', 0xFF, mask, low, high, ..] = value[..] else {
            return;
        };
        let serial = u16::from_le_bytes([low, high]);
        let is_old = |number: &usize| mask >> number & 1 == 1 && self.ended[*number] > serial;
        let old = (0..TAGS.len()).find(|number| is_old(number));
        assert!(old.is_none() || !self.is_whole, "it has lost {old:?}");
    }

    fn tolerate(&self, result: tavola::Result<()>) {
        match result {
            Err(error @ Error::Corrupt { .. }) if self.is_whole => panic!("{error}"),
            result => tolerate_leases(result, self.lengths),
        }
    }
}

/// Of a repaired cache: a key goes with its tag, and the tag can be used again.
pub(super) fn end_all(table: &Table, lengths: Lengths) {
    if lengths.are_fixed() {
        return;
    }
    for name in TAGS {
        let key = format!("with {name}").into_bytes();
        for _ in 0..2 {
            let set = table
                .fetch_tags(&[name])
                .and_then(|tags| table.set_tagged(&key, b"value", Attributes::default(), &tags));
            match set {
                Ok(()) | Err(Error::Full { .. }) => {}
                Err(error) => panic!("{error}"),
            }
            let found = table.get(&key).expect("a key of a repaired table");
            assert!(found.is_none_or(|found| found == b"value"));
            match table.invalidate_tag(name.as_bytes()) {
                Ok(_) | Err(Error::Full { .. }) => {}
                Err(error) => panic!("{error}"),
            }
            assert_eq!(table.get(&key).expect("a key of a repaired table"), None);
        }
    }
}

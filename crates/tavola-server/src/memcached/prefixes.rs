//! `stats detail`: commands counted by the prefixes of their keys. A prefix ends at the first `:`,
//! or at another byte.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tavola_proto::text::answer;

/// The byte at which a prefix ends by default.
const DELIMITER: u8 = b':';
/// The most prefixes; keys of further ones are not counted.
const MOST: usize = 1 << 16;

/// The action of a command on a key.
#[derive(Clone, Copy, Debug)]
pub(super) enum Deed {
    Hit,
    Miss,
    Set,
    Delete,
}

/// The counts of all prefixes, while counting is on.
#[derive(Debug)]
pub(super) struct Prefixes {
    /// The byte at which a prefix ends; a key without it is not counted.
    delimiter: u8,
    is_on: AtomicBool,
    counts: Mutex<BTreeMap<Box<[u8]>, Counts>>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    gets: u64,
    hits: u64,
    sets: u64,
    deletes: u64,
}

impl Prefixes {
    /// Makes counts without prefixes. Counting is on from the beginning if a delimiter is given.
    pub(super) fn new(delimiter: Option<u8>) -> Self {
        Self {
            delimiter: delimiter.unwrap_or(DELIMITER),
            is_on: AtomicBool::new(delimiter.is_some()),
            counts: Mutex::default(),
        }
    }

    pub(super) fn delimiter(&self) -> char {
        self.delimiter.into()
    }

    pub(super) fn is_on(&self) -> bool {
        self.is_on.load(Relaxed)
    }

    pub(super) fn turn(&self, is_on: bool) {
        self.is_on.store(is_on, Relaxed);
    }

    /// Counts an action on a key.
    pub(super) fn count(&self, key: &[u8], deed: Deed) {
        let Some(end) = key.iter().position(|byte| *byte == self.delimiter) else {
            return;
        };
        let prefix = &key[..end];
        let mut counts = self.counts();
        if counts.len() >= MOST && !counts.contains_key(prefix) {
            return;
        }
        if !counts.contains_key(prefix) {
            counts.insert(prefix.into(), Counts::default());
        }
        let Some(counts) = counts.get_mut(prefix) else {
            return;
        };
        match deed {
            Deed::Hit => {
                counts.gets += 1;
                counts.hits += 1;
            }
            Deed::Miss => counts.gets += 1,
            Deed::Set => counts.sets += 1,
            Deed::Delete => counts.deletes += 1,
        }
    }

    /// Appends a line for each prefix, and the end.
    pub(super) fn dump(&self, out: &mut Vec<u8>) {
        for (prefix, counts) in self.counts().iter() {
            let numbers = [counts.gets, counts.hits, counts.sets, counts.deletes];
            answer::prefix(out, prefix, numbers);
        }
        out.extend_from_slice(answer::END);
    }

    pub(super) fn reset(&self) {
        self.counts().clear();
    }

    fn counts(&self) -> MutexGuard<'_, BTreeMap<Box<[u8]>, Counts>> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_prefixes_is_bounded() {
        let prefixes = Prefixes::new(None);
        for number in 0..MOST + 10 {
            prefixes.count(format!("{number}:x").as_bytes(), Deed::Set);
        }
        prefixes.count(b"0:y", Deed::Hit);
        prefixes.count(b"none", Deed::Hit);
        assert_eq!(prefixes.counts().len(), MOST);
        let mut out = Vec::new();
        prefixes.dump(&mut out);
        assert!(out.starts_with(b"PREFIX 0 get 1 hit 1 set 1 del 0\r\nPREFIX 1 get 0"));
        assert!(out.ends_with(b"del 0\r\nEND\r\n"));
        prefixes.reset();
        assert!(prefixes.counts().is_empty());
    }
}

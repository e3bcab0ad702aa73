//! Keys that are moved to their other bucket and back while they are read.

use super::{Key, Table, Write, beside, explore, keys_between, never_missing, set, table};
use super::{region, scan_meets};
use crate::index::locate::Hash;
use crate::layout::{SLOTS, slot_tag};
use crate::sync::Ordering;
use std::sync::Arc;

/// Far from each other, so that a scan is between them most of the time.
const A: u32 = 10;
const C: u32 = 240;
const B: u32 = 11;
const D: u32 = 241;

/// Keys that crowd the buckets around one that can be moved between A and C.
pub(super) struct Crowd {
    pub(super) moved: Key,
    /// At home in A, else in B.
    a: Vec<Key>,
    pub(super) b: Vec<Key>,
    /// At home in C, else in D.
    c: Vec<Key>,
    pub(super) d: Vec<Key>,
}

impl Crowd {
    pub(super) fn new() -> Self {
        Self {
            moved: keys_between(A, C, 1)[0],
            a: keys_between(A, B, 7),
            b: keys_between(B, A, 7),
            c: keys_between(C, D, 7),
            d: keys_between(D, C, 7),
        }
    }

    /// A full (the moved key among them), B and D full, C with room for one.
    pub(super) fn fill(&self, table: &Table) {
        set(table, &self.moved, 1);
        let neighbours = self.a[..6].iter().chain(&self.b).chain(&self.c[..6]);
        neighbours.chain(&self.d).for_each(|key| set(table, key, 1));
        assert!(!self.is_away(table));
    }

    pub(super) fn is_away(&self, table: &Table) -> bool {
        let region = region(table);
        let hash = Hash::of(region, &self.moved);
        let segment = region.segment(region.dir_entry(0, 0).load(Ordering::Relaxed));
        let away = &segment.buckets[hash.away() as usize];
        (0..SLOTS).any(|slot| {
            let word = away.slots[slot].load(Ordering::Relaxed);
            word != 0 && slot_tag(word) == hash.tag()
        })
    }

    /// Sets and removes a seventh key that belongs to A: the moved one makes room for it.
    pub(super) fn push_away(&self, table: &Table, version: u8) {
        set(table, &self.a[6], version);
        assert!(table.remove(self.a[6]).unwrap());
    }

    /// The same with a seventh key that belongs to C, which is full by then.
    pub(super) fn push_home(&self, table: &Table, version: u8) {
        set(table, &self.c[6], version);
        assert!(table.remove(self.c[6]).unwrap());
    }
}

/// Moves the key from A to C and back, twice.
fn push_around(crowd: &Arc<Crowd>) -> Write {
    let crowd = Arc::clone(crowd);
    Box::new(move |t| {
        for version in [2, 3] {
            crowd.push_away(t, version);
            crowd.push_home(t, version);
        }
    })
}

#[test]
fn a_key_is_found_while_it_is_moved() {
    let crowd = Arc::new(Crowd::new());
    explore(2000, move || {
        let table = table(|t| crowd.fill(t));
        let readers = vec![never_missing([crowd.moved]), never_missing([crowd.moved])];
        beside(&table, vec![push_around(&crowd)], readers);
    });
}

#[test]
fn a_key_is_met_by_walks_while_it_is_moved() {
    let crowd = Arc::new(Crowd::new());
    explore(150, move || {
        let table = table(|t| crowd.fill(t));
        let present = [&crowd.b[..], &crowd.d[..], &[crowd.moved]].concat();
        beside(
            &table,
            vec![push_around(&crowd)],
            vec![scan_meets(&present)],
        );
    });
}

#[test]
fn a_key_that_is_rewritten_is_found_while_it_is_moved() {
    let crowd = Arc::new(Crowd::new());
    explore(1000, move || {
        let table = table(|t| crowd.fill(t));
        let moved = crowd.moved;
        let rewrite: Write = Box::new(move |t| (2..5).for_each(|version| set(t, &moved, version)));
        let writers = vec![push_around(&crowd), rewrite];
        beside(&table, writers, vec![never_missing([moved])]);
    });
}

#[test]
fn the_key_is_moved_there_and_back() {
    let crowd = Crowd::new();
    let table = table(|t| crowd.fill(t));
    set(&table, &crowd.a[6], 2);
    assert!(crowd.is_away(&table));
    assert!(table.remove(crowd.a[6]).unwrap());
    set(&table, &crowd.c[6], 2);
    assert!(!crowd.is_away(&table));
}

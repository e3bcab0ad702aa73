//! Segments that split and merge, and a root that goes and comes, while keys are read.

use super::{
    Key, Table, WORDS, Write, beside, explore, keys_between, keys_where, never_missing, set, table,
};
use super::{core, region, scan_meets, writer};
use crate::index::locate::Hash;
use crate::sync::Ordering;

const HOME: u32 = 20;
const OTHER: u32 = 220;

/// Keys that stand in two buckets only: fourteen fill them, the fifteenth splits the segment.
pub(super) fn crowd() -> Vec<Key> {
    let keys = [keys_between(HOME, OTHER, 8), keys_between(OTHER, HOME, 7)];
    keys.concat()
}

pub(super) fn segments(table: &Table) -> u32 {
    region(table).shard(0).segments.load(Ordering::Relaxed)
}

/// Two keys of each half of a split.
fn of_both_halves(table: &Table, keys: &[Key]) -> Vec<Key> {
    let is_low = |key: &&Key| Hash::of(region(table), *key).tag() & 1 == 0;
    let low = keys.iter().filter(is_low).take(2);
    let high = keys.iter().filter(|key| !is_low(key)).take(2);
    low.chain(high).copied().collect()
}

pub(super) fn fill(table: &Table, keys: &[Key]) {
    keys.iter().for_each(|key| set(table, key, 1));
}

#[test]
fn a_split_loses_nothing_to_readers() {
    let keys = crowd();
    explore(400, move || {
        let (last, first) = keys.split_last().unwrap();
        let table = table(|t| fill(t, first));
        let last = *last;
        let write: Write = Box::new(move |t| set(t, &last, 1));
        let watched = of_both_halves(&table, first);
        beside(
            &table,
            vec![write],
            vec![never_missing(watched.clone()), never_missing(watched)],
        );
        assert!(segments(&table) >= 2);
    });
}

#[test]
fn a_split_loses_nothing_to_walks() {
    let keys = crowd();
    explore(200, move || {
        let (last, first) = keys.split_last().unwrap();
        let table = table(|t| fill(t, first));
        let last = *last;
        let write: Write = Box::new(move |t| set(t, &last, 1));
        beside(&table, vec![write], vec![scan_meets(first)]);
        assert!(segments(&table) >= 2);
    });
}

#[test]
fn a_split_that_leaves_the_depth_loses_nothing() {
    let of_half = |half: u32, home: u32, other: u32, count: usize| {
        keys_where(count, move |hash| {
            hash.home() == home && hash.away() == other && hash.tag() & 1 == half
        })
    };
    let deep = [of_half(1, HOME, OTHER, 8), of_half(1, OTHER, HOME, 7)].concat();
    let first = [of_half(0, HOME, OTHER, 7), of_half(0, OTHER, HOME, 7)].concat();
    let last = *of_half(0, HOME, OTHER, 8).last().unwrap();
    explore(400, move || {
        // The upper half of the tags is split deeper; the lower one is in a full segment.
        let table = table(|t| {
            fill(t, &deep);
            fill(t, &first);
        });
        let before = segments(&table);
        let write: Write = Box::new(move |t| set(t, &last, 1));
        let observers = vec![never_missing(first.clone()), scan_meets(&first)];
        beside(&table, vec![write], observers);
        assert!(segments(&table) > before);
    });
}

/// One step of the housekeeping that writes do from time to time.
pub(super) fn maintain() -> Write {
    Box::new(|t| {
        let me = writer(t);
        for _ in 0..2 {
            core(t).maintain_shard(0, me, 8, true).unwrap();
        }
    })
}

/// A split segment, and then only so many keys of each half that one segment holds them.
pub(super) fn split_and_thin(table: &Table, keys: &[Key], left: &[Key]) {
    fill(table, keys);
    assert!(segments(table) >= 2);
    for key in keys.iter().filter(|key| !left.contains(key)) {
        assert!(table.remove(&key[..]).unwrap());
    }
}

#[test]
fn a_merge_loses_nothing_to_readers() {
    let keys = crowd();
    explore(400, move || {
        let left = &keys[..10];
        let table = table(|t| split_and_thin(t, &keys, left));
        let before = segments(&table);
        let watched = of_both_halves(&table, left);
        beside(&table, vec![maintain()], vec![never_missing(watched)]);
        // Unless the turn of tending came in the middle of the filling.
        assert!(segments(&table) < before.max(2));
    });
}

#[test]
fn a_merge_loses_nothing_to_walks() {
    let keys = crowd();
    explore(1000, move || {
        let left = &keys[..10];
        let table = table(|t| split_and_thin(t, &keys, left));
        beside(&table, vec![maintain()], vec![scan_meets(left)]);
    });
}

#[test]
#[cfg_attr(miri, ignore = "a page changes its use: atomics of two sizes meet")]
fn the_page_of_a_merged_segment_is_used_again() {
    let keys = crowd();
    explore(400, move || {
        let left = &keys[..10];
        let table = table(|t| split_and_thin(t, &keys, left));
        let write: Write = Box::new(|t| {
            maintain()(t);
            // As large as a page, and empty slots to a reader that still takes it for a segment.
            t.set(b"large", [0; 16_000]).unwrap();
        });
        beside(&table, vec![write], vec![never_missing(left.to_vec())]);
    });
}

#[test]
fn a_merge_that_finds_no_room_loses_nothing() {
    let keys = crowd();
    explore(300, move || {
        // All fifteen do not fit into the two buckets of one segment.
        let table = table(|t| fill(t, &keys));
        let before = segments(&table);
        let watched = of_both_halves(&table, &keys);
        beside(
            &table,
            vec![maintain()],
            vec![never_missing(watched), scan_meets(&keys)],
        );
        assert_eq!(segments(&table), before);
    });
}

#[test]
fn splits_and_merges_beside_writers() {
    let keys = crowd();
    explore(300, move || {
        let left = &keys[..10];
        let table = table(|t| split_and_thin(t, &keys, left));
        let watched = of_both_halves(&table, left);
        let (rewritten, others) = (watched[3], keys[10..].to_vec());
        let rewrite: Write =
            Box::new(move |t| (2..6).for_each(|version| set(t, &rewritten, version)));
        let grow: Write = Box::new(move |t| fill(t, &others));
        beside(
            &table,
            vec![maintain(), rewrite, grow],
            vec![never_missing(watched)],
        );
    });
}

#[test]
fn what_is_written_goes_where_a_split_has_led_the_key() {
    let keys = crowd();
    explore(400, move || {
        let (last, first) = keys.split_last().unwrap();
        let table = table(|t| fill(t, first));
        let count = keys.len() as u64;
        let [low, _, high, _] = of_both_halves(&table, first)[..] else {
            panic!("a half without two keys");
        };
        let split: Write = Box::new({
            let last = *last;
            move |t| set(t, &last, 1)
        });
        // Each of them looks for its segment before it has the lock.
        let write: Write = Box::new(move |t| {
            for key in [high, low] {
                set(t, &key, WORDS);
                set(t, &key, WORDS + 1);
                assert!(t.remove(key).unwrap());
                assert!(t.add(key, super::value(WORDS + 2)).unwrap());
            }
        });
        beside(&table, vec![split, write], vec![]);
        super::quietly(|| {
            assert_eq!(table.len().unwrap(), count);
            for key in [high, low] {
                assert_eq!(super::version(&table, &key), WORDS + 2);
            }
        });
    });
}

#[test]
#[cfg_attr(miri, ignore = "a page changes its use: atomics of two sizes meet")]
fn a_root_goes_and_comes() {
    explore(300, || {
        let table = table(|_| ());
        let key = *b"come+go!";
        let come_and_go: Write = Box::new(move |t| {
            for version in 1..3 {
                set(t, &key, version);
                assert!(t.remove(key).unwrap());
            }
            set(t, &key, 3);
        });
        let observe = Box::new(move |t: &Table| {
            if let Some(found) = t.get(key).unwrap() {
                super::version_of(&found);
            }
        });
        beside(&table, vec![come_and_go, maintain()], vec![observe]);
        super::quietly(|| assert_eq!(super::version(&table, &key), 3));
    });
}

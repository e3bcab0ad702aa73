//! Reading by uid beside reading by key, while values, keys and uids change.

use super::growth::maintain;
use super::{Key, Observer, Table, WORDS, Write, beside, explore, quietly, region, set, table};
use super::{value, version_of};
use crate::alloc::entry_of;
use crate::layout::{Hint, PAGE, UNIT, UidEntry};
use crate::sync::Ordering;
use crate::values::Expiry;
use std::time::Duration;

const KEY: &[u8; 8] = b"the key!";

fn set_uid(table: &Table, key: &[u8], version: u8) -> Hint {
    table.set_uid(key, value(version)).expect("room")
}

fn hint(table: &Table, key: &[u8]) -> Hint {
    let hint = quietly(|| table.uid_of(key).expect("no damage"));
    hint.expect("a key that is there")
}

/// A reader that asks by key and by uid in turn: versions never go back, whichever way.
fn key_and_uid_agree(hint: Hint) -> Observer {
    let mut last = 0;
    Box::new(move |t| {
        for by_uid in [true, false, true] {
            let found = match by_uid {
                true => t.get_by_uid(hint),
                false => t.get(KEY),
            };
            let found = found.expect("no damage");
            let now = version_of(&found.expect("a key that is there throughout"));
            assert!(now >= last, "version {now} after {last}");
            last = now;
        }
    })
}

fn overwrites(versions: std::ops::Range<u8>) -> Write {
    Box::new(move |t| versions.for_each(|version| set(t, KEY, version)))
}

#[test]
fn key_and_uid_agree_while_values_change() {
    for words in [0, WORDS - 3] {
        explore(1500, move || {
            let table = table(|t| {
                set_uid(t, KEY, words + 1);
            });
            let hint = hint(&table, KEY);
            let observers = vec![key_and_uid_agree(hint), key_and_uid_agree(hint)];
            beside(&table, vec![overwrites(words + 2..words + 5)], observers);
        });
    }
}

#[test]
fn key_and_uid_agree_while_it_is_set_by_uid() {
    explore(1500, || {
        let table = table(|t| {
            set_uid(t, KEY, 1);
        });
        let hint = hint(&table, KEY);
        let write: Write = Box::new(move |t| {
            for version in 2..4 {
                assert!(t.set_by_uid(hint, value(version)).unwrap());
            }
        });
        beside(&table, vec![write], vec![key_and_uid_agree(hint)]);
    });
}

#[test]
fn a_key_that_gets_its_uid_is_the_same_for_all() {
    explore(1500, || {
        let table = table(|t| set(t, KEY, 1));
        let ask = || -> Write {
            Box::new(|t| {
                let hint = t.uid_of(KEY).unwrap().unwrap();
                assert_eq!(t.uid_of(KEY).unwrap(), Some(hint));
                assert_eq!(t.key_of_uid(hint).unwrap().unwrap(), KEY);
                assert_eq!(version_of(&t.get_by_uid(hint).unwrap().unwrap()), 1);
            })
        };
        beside(&table, vec![ask(), ask()], Vec::new());
    });
}

/// One key goes, and another gets its uid: who asks by the hint of the first sees that key or
/// nothing, and nothing from then on; who asks by the plain uid sees one of the two, whole.
#[test]
fn a_reused_uid_is_distinguished() {
    explore(1500, || {
        let table = table(|t| {
            set_uid(t, KEY, 1);
        });
        let first = hint(&table, KEY);
        let write: Write = Box::new(move |t| {
            assert!(t.remove_by_uid(first).unwrap());
            let second = set_uid(t, b"other", 2);
            assert_eq!(second.uid(), first.uid());
            assert!(t.remove(b"other").unwrap());
            set_uid(t, KEY, 3);
        });
        let mut gone = false;
        let by_hint: Observer = Box::new(move |t| match t.get_by_uid(first).unwrap() {
            Some(found) => {
                assert!(!gone);
                assert_eq!(version_of(&found), 1);
            }
            None => gone = true,
        });
        let mut last = 0;
        let by_uid: Observer = Box::new(move |t| {
            if let Some(found) = t.get_by_uid(first.uid()).unwrap() {
                let now = version_of(&found);
                assert!(now >= last, "version {now} after {last}");
                last = now;
            }
            if let Some(key) = t.key_of_uid(first.uid()).unwrap() {
                assert!(key == KEY || key == b"other");
            }
        });
        beside(&table, vec![write], vec![by_hint, by_uid]);
    });
}

/// Counting and touching by the hint of a key changes no later key of that name, which has the
/// same uid again.
#[test]
fn a_later_key_of_the_same_name_is_not_changed_by_uid() {
    explore(1500, || {
        let table = table(|t| {
            t.set_uid(KEY, b"5").expect("room");
        });
        let first = hint(&table, KEY);
        let replace: Write = Box::new(move |t| {
            assert!(t.remove(KEY).unwrap());
            let second = t.set_uid(KEY, b"7").unwrap();
            assert_eq!(second.uid(), first.uid());
        });
        let count: Write = Box::new(move |t| {
            let counted = t.incr_by_uid(first, 1).unwrap();
            assert!(counted.is_none_or(|count| count == 6));
        });
        let touch: Write = Box::new(move |t| {
            let hour = Duration::from_secs(3600);
            t.touch_by_uid(first, Expiry::After(hour)).unwrap();
        });
        beside(&table, vec![replace, count, touch], Vec::new());
        let entry = quietly(|| table.get_entry(KEY).unwrap()).expect("it was set");
        let found = (&entry.value[..], entry.attributes.expiry);
        assert_eq!(found, (&b"7"[..], Expiry::Never));
    });
}

/// Items of one class in three pages, half of which go again: the rest of one page is being moved
/// to the others.
pub(super) fn sparse(table: &Table) {
    let keys = (0..1400u64).map(u64::to_le_bytes);
    keys.clone().for_each(|key| {
        set_uid(table, &key, 1);
    });
    keys.step_by(2).for_each(|key| {
        table.remove(key).expect("no error");
    });
}

/// The keys whose items are moved next.
pub(super) fn about_to_move(table: &Table) -> Vec<(Key, Hint)> {
    let victim = region(table).shard(0).source.load(Ordering::Relaxed);
    let mut keys: Vec<_> = (1..1400u64)
        .step_by(2)
        .map(u64::to_le_bytes)
        .filter_map(|key| {
            let hint = hint(table, &key);
            let item_ref = item_of(table, hint);
            (item_ref * UNIT / PAGE == u64::from(victim)).then_some((item_ref, key, hint))
        })
        .collect();
    keys.sort_unstable_by_key(|(item_ref, ..)| *item_ref);
    assert!(keys.len() > 8, "no page is being emptied");
    let next = keys.into_iter().take(3);
    next.map(|(_, key, hint)| (key, hint)).collect()
}

pub(super) fn item_of(table: &Table, hint: Hint) -> u64 {
    let entry = entry_of(region(table), 0, hint).expect("the entry of a uid");
    match UidEntry::decode(entry.load(Ordering::Relaxed)) {
        UidEntry::Live { item_ref } => item_ref,
        state => panic!("an entry in use says {state:?}"),
    }
}

/// A reader of these keys by uid and by key, which are there throughout.
pub(super) fn all_keys_and_uids_agree(keys: Vec<(Key, Hint)>) -> Observer {
    Box::new(move |t| {
        for (key, hint) in &keys {
            let by_uid = t.get_by_uid(*hint).expect("no damage");
            let by_key = t.get(key).expect("no damage");
            for found in [by_uid, by_key] {
                version_of(&found.expect("a key that is there throughout"));
            }
        }
    })
}

#[test]
fn an_item_that_is_moved_is_found_by_its_uid() {
    explore(100, || {
        let table = table(sparse);
        let keys = quietly(|| about_to_move(&table));
        let before: Vec<u64> = keys
            .iter()
            .map(|(_, hint)| item_of(&table, *hint))
            .collect();
        let (_, last) = keys[2];
        let write: Write = Box::new(move |t| {
            for version in 2..4 {
                assert!(t.set_by_uid(last, value(version)).unwrap());
            }
        });
        let observers = vec![
            all_keys_and_uids_agree(keys.clone()),
            all_keys_and_uids_agree(keys.clone()),
        ];
        beside(&table, vec![maintain(), write], observers);
        quietly(|| {
            let moved = |((_, hint), from): (&(Key, Hint), &u64)| item_of(&table, *hint) != *from;
            assert!(keys.iter().zip(&before).all(moved));
        });
    });
}

/// What models of deaths begin with.
#[cfg(feature = "shuttle")]
pub(super) fn named(table: &Table) {
    set_uid(table, KEY, 1);
}

/// Reads the key both ways, whatever its uid is.
#[cfg(feature = "shuttle")]
pub(super) fn key_and_uid_agree_by_its_hint() -> Observer {
    let mut observe: Option<Observer> = None;
    Box::new(move |t| {
        let observe = observe.get_or_insert_with(|| key_and_uid_agree(hint(t, KEY)));
        observe(t);
    })
}

/// Writes by key and by uid.
#[cfg(feature = "shuttle")]
pub(super) fn change(table: &Table) {
    set(table, KEY, 2);
    let hint = table.uid_of(KEY).unwrap().unwrap();
    assert!(table.set_by_uid(hint, value(3)).unwrap());
}

/// Other keys get uids, by both ways, and lose them.
#[cfg(feature = "shuttle")]
pub(super) fn come_and_go(table: &Table) {
    let first = set_uid(table, b"a", 1);
    set(table, b"b", 1);
    let second = table.uid_of(b"b").unwrap().unwrap();
    assert!(table.remove_by_uid(first).unwrap());
    assert!(table.remove(b"b").unwrap());
    assert_eq!(table.get_by_uid(second).unwrap(), None);
}

/// All uids of a chunk are given out.
#[cfg(feature = "shuttle")]
pub(super) fn a_full_chunk(table: &Table) {
    for number in 0..2046u64 {
        set_uid(table, &number.to_le_bytes(), 1);
    }
}

/// A chunk is added, given back, and added again in its place.
#[cfg(feature = "shuttle")]
pub(super) fn add_and_give_a_chunk(table: &Table) {
    set_uid(table, b"more", 1);
    assert!(table.remove(5u64.to_le_bytes()).unwrap());
    assert!(table.remove(b"more").unwrap());
    set_uid(table, b"one", 1);
    set_uid(table, b"two", 1);
}

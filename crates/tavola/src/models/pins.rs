//! Large values that are lent, beside those who replace them: they stay as they are, and their
//! pages come back.

#[cfg(feature = "shuttle")]
use super::deaths::dying;
use super::{Observer, Table, Write, beside, explore, late, quietly, region, set, table};
use crate::layout::PinWord;
use crate::sync::Ordering;
use std::ops::Range;

/// Two pages, and lengths that differ.
fn large(version: u8) -> Vec<u8> {
    vec![version; 20_000 + usize::from(version) * 8]
}

fn set_large(table: &Table, version: u8) {
    table.set(b"k", large(version)).expect("room");
}

/// Lends the value, looks at others meanwhile, and then at what was lent.
fn lends() -> Observer {
    Box::new(|t| {
        let view = t.get_view(b"k").unwrap().expect("it is there throughout");
        let before = quietly(|| view.to_vec());
        for _ in 0..3 {
            drop(t.get(b"other").unwrap());
        }
        assert!(before == large(before[0]), "torn when it was lent");
        assert!(view.to_vec() == before, "torn while it was lent");
    })
}

/// Reads the value by its uid.
fn asks_by_uid() -> Observer {
    Box::new(|t| {
        let uid = quietly(|| t.uid_of(b"k").unwrap().expect("it has one"));
        let found = t.get_by_uid(uid).unwrap();
        let found = found.expect("it is there throughout");
        assert!(found == large(found[0]), "torn");
    })
}

/// Meets the value on a scan.
fn walks() -> Observer {
    Box::new(|t| {
        let entries = t.iter().map(|entry| entry.expect("no damage"));
        let found = entries
            .filter(|(key, _)| key == b"k")
            .map(|(_, value)| value);
        let found = found.last().expect("it is there throughout");
        assert!(found == large(found[0]), "torn");
    })
}

fn replaces(versions: Range<u8>) -> Write {
    Box::new(move |t| versions.for_each(|version| set_large(t, version)))
}

/// The slot of a participant that does nothing but pin.
const READERS: u32 = 3;

/// Lets readers pin where another process would, which is not the first that came.
fn read_as_another(table: &Table) {
    region(table)
        .superblock()
        .last_slot
        .store(READERS, Ordering::Relaxed);
    region(table).take_pin_slot(READERS);
}

fn fill(table: &Table) {
    set(table, b"other", 1);
    set_large(table, 1);
}

fn no_pin_is_left(table: &Table) {
    let words = region(table).pins();
    let states = words.map(|word| PinWord::decode(word.load(Ordering::Relaxed)));
    assert!(states.into_iter().all(|state| state == PinWord::Free));
}

#[test]
fn of_a_value_that_is_replaced() {
    explore(500, || {
        let table = table(fill);
        beside(&table, vec![replaces(2..5)], vec![lends(), lends()]);
        quietly(|| no_pin_is_left(&table));
    });
}

/// Two writers, and a value that is lent as often as it is replaced.
#[test]
fn of_a_value_that_two_replace() {
    explore(300, || {
        let table = table(fill);
        beside(&table, vec![replaces(2..5), replaces(6..9)], vec![lends()]);
        quietly(|| no_pin_is_left(&table));
    });
}

#[test]
fn of_a_value_that_is_asked_for_by_uid() {
    explore(200, || {
        let table = table(|t| {
            fill(t);
            t.uid_of(b"k").unwrap();
        });
        beside(&table, vec![replaces(2..6)], vec![asks_by_uid()]);
        quietly(|| no_pin_is_left(&table));
    });
}

#[test]
fn of_a_value_that_is_met_on_a_walk() {
    explore(100, || {
        let table = table(fill);
        beside(&table, vec![replaces(2..6)], vec![walks()]);
        quietly(|| no_pin_is_left(&table));
    });
}

/// The pins are those of a participant that is neither the writer nor the first.
#[test]
fn of_a_value_that_another_process_lends() {
    explore(100, || {
        let table = table(fill);
        quietly(|| read_as_another(&table));
        beside(&table, vec![replaces(2..5)], vec![lends()]);
        quietly(|| no_pin_is_left(&table));
    });
}

/// Stores are seen late, as on a real processor: here the fences between a pin and the version
/// count, which under one order of all accesses do nothing.
#[test]
fn of_a_value_with_late_stores() {
    explore(300, || {
        let table = table(fill);
        late(|| beside(&table, vec![replaces(2..5)], vec![lends()]));
        quietly(|| no_pin_is_left(&table));
    });
}

/// A writer dies anywhere on its way: recovery leaves what is lent, and loses nothing.
#[cfg(feature = "shuttle")]
#[test]
fn of_a_value_with_a_dying_writer() {
    dying(
        100,
        fill,
        |t| (2..4).for_each(|version| set_large(t, version)),
        || vec![lends(), lends()],
    );
}

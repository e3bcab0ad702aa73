//! Large values that are lent, beside those who replace them: they stay as they are, and their
//! pages come back.

#[cfg(feature = "shuttle")]
use super::deaths::dying;
use super::{Look, Table, Write, beside, explore, quietly, region, set, table};
use crate::layout::PinWord;
use crate::sync::Ordering;

/// Two pages, and lengths that differ.
fn large(version: u8) -> Vec<u8> {
    vec![version; 20_000 + usize::from(version) * 8]
}

fn set_large(table: &Table, version: u8) {
    table.set(b"k", &large(version)).expect("room");
}

/// Lends the value, looks at others meanwhile, and then at what was lent.
fn lends() -> Look {
    Box::new(|t| {
        let view = t.get_view(b"k").unwrap().expect("it is there throughout");
        let before = quietly(|| view.to_vec());
        for _ in 0..3 {
            drop(t.get(b"other").unwrap());
        }
        assert_eq!(before, large(before[0]), "torn when it was lent");
        assert_eq!(view.to_vec(), before, "torn while it was lent");
    })
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
        let replace: Write = Box::new(|t| (2..5).for_each(|version| set_large(t, version)));
        beside(&table, vec![replace], vec![lends(), lends()]);
        quietly(|| no_pin_is_left(&table));
    });
}

/// Two writers, and a value that is lent as often as it is replaced.
#[test]
fn of_a_value_that_two_replace() {
    explore(300, || {
        let table = table(fill);
        let replace = |from: u8| -> Write {
            Box::new(move |t| (from..from + 3).for_each(|version| set_large(t, version)))
        };
        beside(&table, vec![replace(2), replace(6)], vec![lends()]);
        quietly(|| no_pin_is_left(&table));
    });
}

/// A writer dies anywhere on its way: recovery leaves what is lent, and loses nothing.
#[cfg(feature = "shuttle")]
#[test]
fn of_a_value_whose_writer_dies() {
    dying(
        100,
        fill,
        |t| (2..4).for_each(|version| set_large(t, version)),
        || vec![lends(), lends()],
    );
}

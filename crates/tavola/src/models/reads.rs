//! Readers beside writers: what is read is whole, and what is there is found.

use super::{
    Observer, Table, WORDS, Write, beside, explore, keys_between, never_missing, set, table, value,
    version_of,
};

#[test]
fn of_a_key_that_is_overwritten() {
    let key = *b"the one!";
    explore(4000, move || {
        let table = table(|t| set(t, &key, 1));
        beside(
            &table,
            vec![Box::new(move |t| {
                (2..10).for_each(|version| set(t, &key, version))
            })],
            vec![never_missing([key]), never_missing([key])],
        );
    });
}

#[test]
fn of_a_word_that_is_changed_in_place() {
    let key = *b"the one!";
    explore(4000, move || {
        let table = table(|t| set(t, &key, WORDS));
        beside(
            &table,
            vec![Box::new(move |t| {
                (WORDS + 1..WORDS + 6).for_each(|version| set(t, &key, version))
            })],
            vec![never_missing([key]), never_missing([key])],
        );
    });
}

/// A value may have been copied by a read that then finds the key missing.
#[test]
fn of_a_key_that_comes_and_goes_into_a_buffer() {
    let key = *b"the one!";
    explore(2000, move || {
        let table = table(|t| set(t, &key, 1));
        let reads = move || -> Observer {
            let mut out = Vec::with_capacity(64);
            Box::new(move |t| {
                let there = t.get_into(key, &mut out).unwrap();
                assert_ne!(there, out.is_empty(), "{out:?}");
            })
        };
        beside(
            &table,
            vec![Box::new(move |t| {
                for version in 2..6 {
                    assert!(t.remove(key).unwrap());
                    set(t, &key, version);
                }
            })],
            vec![reads(), reads()],
        );
    });
}

/// The same into a slice: what the value does not cover is as it was, or zeros.
#[test]
fn of_a_key_that_comes_and_goes_to_a_slice() {
    let key = *b"the one!";
    explore(2000, move || {
        let table = table(|t| set(t, &key, 1));
        let reads = move || -> Observer {
            Box::new(move |t| {
                let mut out = [0; 64];
                let found = t.get_to_slice(key, &mut out).unwrap();
                let len = found.unwrap_or(0);
                if found.is_some() {
                    version_of(&out[..len]);
                }
                assert_eq!(out[len..], [0; 64][len..]);
            })
        };
        beside(
            &table,
            vec![Box::new(move |t| {
                for version in 2..6 {
                    assert!(t.remove(key).unwrap());
                    set(t, &key, version);
                }
            })],
            vec![reads(), reads()],
        );
    });
}

/// The word's block is freed, and taken by another key, whose value is a word as well.
#[test]
fn of_a_word_with_a_reused_block() {
    let keys = keys_between(3, 9, 2);
    explore(2000, move || {
        let (comes, goes) = (keys[0], keys[1]);
        let table = table(|t| set(t, &goes, WORDS));
        let reads = move || -> Observer {
            Box::new(move |t| {
                for (key, parity) in [(goes, 0), (comes, 1)] {
                    if let Some(found) = t.get(key).unwrap() {
                        assert_eq!(version_of(&found) % 2, parity, "another key's value");
                    }
                }
            })
        };
        beside(
            &table,
            vec![Box::new(move |t| {
                for version in [WORDS + 2, WORDS + 6] {
                    set(t, &goes, version);
                    assert!(t.remove(goes).unwrap());
                    set(t, &comes, version + 1);
                    set(t, &comes, version + 3);
                    assert!(t.remove(comes).unwrap());
                    set(t, &goes, version);
                }
            })],
            vec![reads(), reads()],
        );
    });
}

#[test]
fn of_a_key_with_a_reused_block() {
    let keys = keys_between(3, 9, 3);
    explore(2000, move || {
        let (stays, comes, goes) = (keys[0], keys[1], keys[2]);
        let table = table(|t| {
            set(t, &stays, 1);
            set(t, &goes, 2);
        });
        beside(
            &table,
            vec![Box::new(move |t| {
                for version in [4, 6] {
                    assert!(t.remove(goes).unwrap());
                    set(t, &comes, version + 1);
                    assert!(t.remove(comes).unwrap());
                    set(t, &goes, version);
                }
            })],
            vec![
                never_missing([stays]),
                Box::new(move |t| {
                    for (key, parity) in [(goes, 0), (comes, 1)] {
                        if let Some(found) = t.get(key).unwrap() {
                            assert_eq!(version_of(&found) % 2, parity, "another key's value");
                        }
                    }
                }),
            ],
        );
    });
}

/// A value of several pages, or a short one.
fn large(version: u8) -> Vec<u8> {
    let len = if version.is_multiple_of(3) {
        40
    } else {
        20_000
    };
    vec![version; len + usize::from(version) * 8]
}

#[test]
fn of_a_large_value_that_is_replaced() {
    explore(500, || {
        let table = table(|t| {
            // There is a slab for each size: no page of a value becomes one, which Miri forbids.
            t.set(b"a", large(1)).unwrap();
            t.set(b"b", large(3)).unwrap();
            t.set(b"k", large(1)).unwrap();
        });
        let observe = |t: &Table| {
            let found = t.get(b"k").unwrap();
            let found = found.expect("a key that is there throughout");
            assert_eq!(found, large(found[0]), "a torn value");
        };
        let replace: Write =
            Box::new(|t| (2..6).for_each(|version| t.set(b"k", large(version)).unwrap()));
        beside(
            &table,
            vec![replace],
            vec![Box::new(observe), Box::new(observe)],
        );
    });
}

#[test]
fn of_a_missing_key_find_nothing() {
    let keys = keys_between(3, 9, 3);
    explore(2000, move || {
        let (stays, comes, never) = (keys[0], keys[1], keys[2]);
        let table = table(|t| set(t, &stays, 1));
        beside(
            &table,
            vec![Box::new(move |t| {
                for version in 2..5 {
                    set(t, &comes, version);
                    set(t, &stays, version);
                    assert!(t.remove(comes).unwrap());
                }
            })],
            vec![
                never_missing([stays]),
                Box::new(move |t| assert_eq!(t.get(never).unwrap(), None)),
                Box::new(move |t| {
                    t.get_many(&[comes, stays], |i, found| match (i, found) {
                        (0, None) => {}
                        (_, found) => drop(value(version_of(found.unwrap()))),
                    })
                    .unwrap();
                }),
            ],
        );
    });
}

//! Tables with versions: a token stands for one setting of a key, and marks leave it.

use crate::support::{Dir, Random, assert_clean, over_every_table};
use std::collections::{HashMap, HashSet};
use std::sync::Mutex;
use tavola::serving::{Marks, ServeTable};
use tavola::{
    Attributes, CasOutcome, CasToken, Condition, Error, Expiry, Options, StoreOptions, Stored,
    Table,
};

fn options() -> Options {
    Table::options().max_size(32 << 20).versions(true)
}

fn token(table: &Table, key: &[u8]) -> CasToken {
    table.get_with_token(key).unwrap().unwrap().1
}

/// Does it, and says whether the key has another token than before.
fn renews(table: &Table, key: &[u8], change: impl FnOnce()) -> bool {
    let before = token(table, key);
    change();
    token(table, key) != before
}

#[test]
fn each_change_of_a_value_gives_another_version_and_nothing_else_does() {
    over_every_table(options(), |table| {
        for (key, value) in [
            (&b"k"[..], b"12".to_vec()),
            (b"word key", 12u64.to_le_bytes().to_vec()),
            (b"large", vec![b'1'; 70_000]),
        ] {
            table.set(key, &value).unwrap();
            let renewed = |change: &dyn Fn()| renews(table, key, change);
            assert!(renewed(&|| table.set(key, &value).unwrap()));
            assert!(renewed(&|| table.set_many(&[(key, &value)]).unwrap()));
            assert!(renewed(&|| assert!(table.replace(key, &value).unwrap())));
            assert!(renewed(&|| assert!(table.append(key, b"3").unwrap())));
            assert!(renewed(&|| drop(table.swap(key, &value).unwrap())));
            assert!(renewed(&|| drop(
                table.update(key, |old| old.map(<[u8]>::to_vec)).unwrap()
            )));
            let hint = table.uid_of(key).unwrap().unwrap();
            assert!(renewed(&|| assert!(
                table.set_by_uid(hint, &value).unwrap()
            )));
            assert!(renewed(&|| _ = table.set_uid(key, &value).unwrap()));
            assert!(renewed(&|| {
                let tags = table.fetch_tags(&["tag"]).unwrap();
                let plain = Attributes::default();
                table.set_tagged(key, &value, plain, &tags).unwrap();
            }));
            assert!(!renewed(&|| assert!(
                table.touch(key, Expiry::Never).unwrap()
            )));
            assert!(!renewed(&|| {
                let hour = Expiry::After(std::time::Duration::from_secs(3600));
                assert!(table.touch(key, hour).unwrap());
            }));
            assert!(!renewed(&|| assert!(!table.add(key, b"x").unwrap())));
            assert!(!renewed(&|| {
                table.mark(key, Condition::Always, 0, 1).unwrap().unwrap();
            }));
        }
        table.set(b"n", b"41").unwrap();
        for _ in 0..3 {
            assert!(renews(table, b"n", || _ = table.incr(b"n", 1).unwrap()));
        }
        assert_eq!(table.get(b"n").unwrap().unwrap(), b"44");
        assert!(renews(table, b"n", || _ = table.decr(b"n", 0).unwrap()));
        let before = token(table, b"n");
        table.remove(b"n").unwrap();
        table.set(b"n", b"44").unwrap();
        assert_ne!(token(table, b"n"), before);
        assert_clean(table);
    });
}

#[test]
fn a_conditional_write_returns_its_token() {
    for versions in [true, false] {
        over_every_table(options().versions(versions), |table| {
            let how = |condition| StoreOptions {
                condition,
                ..StoreOptions::default()
            };
            let store = |value: &[u8], condition| table.store(b"k", value, &how(condition));
            let never = Condition::Is(CasToken(1 << 40));
            assert_eq!(store(b"a", Condition::Present).unwrap(), Stored::NotFound);
            assert_eq!(store(b"a", never).unwrap(), Stored::NotFound);
            let Stored::Done(first) = store(b"a", Condition::Absent).unwrap() else {
                panic!("it is missing");
            };
            assert_eq!(token(table, b"k"), first);
            assert_eq!(store(b"b", Condition::Absent).unwrap(), Stored::Exists);
            assert_eq!(store(b"b", never).unwrap(), Stored::Exists);
            let Stored::Done(same) = store(b"a", Condition::Is(first)).unwrap() else {
                panic!("nobody has set it");
            };
            assert_eq!(same == first, !versions);
            assert_eq!(token(table, b"k"), same);
            let again = store(b"a", Condition::Is(first)).unwrap();
            assert_eq!(again == Stored::Exists, versions);
            let last = token(table, b"k");
            let remove = |token| table.compare_and_remove(b"k", token).unwrap();
            assert_eq!(remove(CasToken(last.0 ^ 1 << 40)), CasOutcome::Changed);
            assert_eq!(remove(last), CasOutcome::Swapped);
            assert_eq!(remove(last), CasOutcome::NotFound);
            assert_clean(table);
        });
    }
}

#[test]
fn a_version_can_be_asked_for() {
    over_every_table(options(), |table| {
        let at = |version| StoreOptions {
            version: Some(version),
            ..StoreOptions::default()
        };
        let done = table.store(b"k", b"v", &at(1 << 60)).unwrap();
        assert_eq!(done, Stored::Done(CasToken(1 << 60)));
        assert_eq!(token(table, b"k"), CasToken(1 << 60));
        table.set(b"k", b"v").unwrap();
        assert!(token(table, b"k").0 < 1 << 60);
        for wrong in [0, u64::MAX] {
            let refused = table.store(b"k", b"v", &at(wrong));
            assert!(matches!(refused, Err(Error::BadOption { .. })));
        }
        assert!(matches!(table.token_of(b"v"), Err(Error::BadOption { .. })));
    });
    let plain = options().versions(false).private().unwrap();
    let how = StoreOptions {
        version: Some(7),
        ..StoreOptions::default()
    };
    let refused = plain.store(b"k", b"v", &how);
    assert!(matches!(refused, Err(Error::BadOption { .. })));
}

#[test]
fn attributes_of_a_key_are_kept_or_replaced() {
    over_every_table(options(), |table| {
        table
            .set_with(b"k", b"v", Attributes::default().with_flags(7))
            .unwrap();
        table.mark(b"k", Condition::Always, 0, 5).unwrap().unwrap();
        let keeping = StoreOptions {
            attributes: None,
            ..StoreOptions::default()
        };
        table.store(b"k", b"w", &keeping).unwrap();
        let entry = table.get_entry(b"k").unwrap().unwrap();
        assert_eq!((entry.attributes.flags, entry.marks), (7, 5));
        table.store(b"k", b"w", &StoreOptions::default()).unwrap();
        let entry = table.get_entry(b"k").unwrap().unwrap();
        assert_eq!((entry.attributes.flags, entry.marks), (0, 0));
    });
}

#[test]
fn marks_are_set_and_cleared_beside_everything_else() {
    over_every_table(options().versions(false), |table| {
        let tags = table.fetch_tags(&["a", "b"]).unwrap();
        for (key, len) in [(&b"small"[..], 30), (b"large", 100_000)] {
            let value = vec![b'v'; len];
            let hour = Attributes::ttl(std::time::Duration::from_secs(3600));
            table
                .set_tagged(key, &value, hour.with_flags(9), &tags)
                .unwrap();
            let hint = table.uid_of(key).unwrap().unwrap();
            let mark = |clear, set| table.mark(key, Condition::Present, clear, set).unwrap();
            assert_eq!(mark(0, 0xFF_FFFF), Some(0));
            assert_eq!(mark(0xFF, 0x10), Some(0xFF_FFFF));
            assert_eq!(mark(0, 0), Some(0xFF_FF10));
            let entry = table.get_entry(key).unwrap().unwrap();
            assert_eq!((entry.marks, entry.attributes.flags), (0xFF_FF10, 9));
            assert!(entry.value == value && table.uid_of(key).unwrap() == Some(hint));
            assert_eq!(table.tags_of(key).unwrap().unwrap(), [b"a", b"b"]);
        }
        table.incr(b"n", 1).unwrap();
        let at = Condition::Is(token(table, b"n"));
        assert_eq!(table.mark(b"n", at, 0, 2).unwrap(), Some(0));
        table.incr(b"n", 1).unwrap();
        assert_eq!(table.mark(b"n", at, 0, 2).unwrap(), None);
        assert_eq!(table.get_entry(b"n").unwrap().unwrap().marks, 2);
        assert_eq!(table.mark(b"none", Condition::Always, 0, 2).unwrap(), None);
        assert!(matches!(
            table.mark(b"n", Condition::Always, 0, 1 << 24),
            Err(Error::BadOption { .. })
        ));
        assert_clean(table);
    });
}

#[test]
fn marks_come_and_go_with_a_value_that_is_stored() {
    for versions in [true, false] {
        over_every_table(options().versions(versions), |table| {
            for value in [b"12345678".to_vec(), vec![b'v'; 100_000]] {
                let key = b"of eight";
                let store = |attributes, clear, set| {
                    let how = StoreOptions {
                        attributes,
                        marks: Some(Marks { clear, set }),
                        ..StoreOptions::default()
                    };
                    let stored = table.store(key, &value, &how).unwrap();
                    let entry = table.get_entry(key).unwrap().unwrap();
                    assert_eq!(stored, Stored::Done(entry.token));
                    assert!(entry.value == value);
                    (entry.marks, entry.attributes.flags)
                };
                let seven = Some(Attributes::default().with_flags(7));
                assert_eq!(store(None, 0, 0b11), (0b11, 0));
                assert_eq!(store(seven, 0b01, 0b100), (0b110, 7));
                assert_eq!(store(None, 0b10, 1 << 23), (1 << 23 | 0b100, 7));
                assert_eq!(store(seven, u32::MAX, 1), (1, 7));
                assert_eq!(store(None, 1, 0), (0, 7));
                assert!(table.remove(key).unwrap());
            }
            assert_clean(table);
        });
    }
    let too_many = StoreOptions {
        marks: Some(Marks::only(1 << 24)),
        ..StoreOptions::default()
    };
    let some = StoreOptions {
        marks: Some(Marks::default()),
        ..StoreOptions::default()
    };
    let fixed = Table::options().max_size(1 << 20).fixed(1, 1);
    for (options, how) in [(options(), too_many), (fixed, some)] {
        let refused = options.private().unwrap().store(b"k", b"v", &how);
        assert!(matches!(refused, Err(Error::BadOption { .. })));
    }
}

#[test]
fn no_two_writers_get_the_same_version_of_a_key() {
    const EACH: usize = 2000;
    let table = options().shards(2).private().unwrap();
    let seen = Mutex::new(HashMap::<Vec<u8>, HashSet<u64>>::new());
    std::thread::scope(|scope| {
        for seed in 1..5 {
            let (table, seen) = (&table, &seen);
            scope.spawn(move || {
                let mut random = Random::new(seed);
                for _ in 0..EACH {
                    let key = random.below(4).to_string().into_bytes();
                    let how = StoreOptions::default();
                    let Stored::Done(token) = table.store(&key, b"same", &how).unwrap() else {
                        panic!("it is always stored");
                    };
                    let mut seen = seen.lock().unwrap();
                    assert!(seen.entry(key).or_default().insert(token.0), "given twice");
                }
            });
        }
    });
    assert_eq!(
        seen.lock()
            .unwrap()
            .values()
            .map(HashSet::len)
            .sum::<usize>(),
        4 * EACH
    );
}

#[test]
fn an_existing_table_keeps_its_own() {
    let dir = Dir::new();
    drop(options().create(dir.table("t")).unwrap());
    let table = Table::open(dir.table("t")).unwrap();
    assert!(table.stats().unwrap().has_versions);
    table.set(b"k", b"v").unwrap();
    assert!(renews(&table, b"k", || table.set(b"k", b"v").unwrap()));
    let refused = options().fixed(8, 8).create(dir.table("fixed"));
    assert!(matches!(refused, Err(Error::BadOption { .. })));
}

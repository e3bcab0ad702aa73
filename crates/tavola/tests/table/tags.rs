//! Tags: keys that are gone together, at once, for all, and whose memory comes back.

use crate::support::{Dir, Random, assert_clean, over_every_table, value_of};
use std::time::Duration;
use tavola::{Attributes, Error, Expiry, LeaseOptions, Leased, Options, Table, Tags};
use tavola_model::{self as model, Model, Op, agree, play};

const HOUR: Duration = Duration::from_secs(3600);
const NONE: &[&str] = &[];

fn options() -> Options {
    Table::options().max_size(8 << 20)
}

fn plain() -> Attributes {
    Attributes::default()
}

/// Sets a key with these tags as they are now.
fn set(table: &Table, key: &[u8], value: &[u8], names: &[&str]) {
    let tags = table.fetch_tags(names).unwrap();
    table.set_tagged(key, value, plain(), &tags).unwrap();
}

fn invalidate(table: &Table, name: &str) -> bool {
    table.invalidate_tag(name.as_bytes()).unwrap()
}

/// Whether a key is there, which all ways to look agree on.
fn is_there(table: &Table, key: &[u8]) -> bool {
    let found = table.get(key).unwrap();
    let (mut into, mut slice) = (Vec::new(), [0; 64]);
    let is_there = found.is_some();
    assert_eq!(table.get_into(key, &mut into).unwrap(), is_there);
    assert_eq!(
        table.get_to_slice(key, &mut slice).unwrap().is_some(),
        is_there
    );
    assert_eq!(table.contains(key).unwrap(), is_there);
    assert_eq!(
        table.get_entry(key).unwrap().map(|entry| entry.value),
        found
    );
    assert_eq!(table.ttl(key).unwrap().is_some(), is_there);
    assert_eq!(table.tags_of(key).unwrap().is_some(), is_there);
    table
        .get_many(&[key], |_, value| assert_eq!(value, found.as_deref()))
        .unwrap();
    let walked = table.iter().any(|entry| entry.unwrap().0 == key);
    assert_eq!(walked, is_there);
    is_there
}

#[test]
fn keys_are_gone_as_soon_as_one_of_their_tags_is_invalidated() {
    over_every_table(options(), |table| {
        set(table, b"a", b"1", &["x"]);
        set(table, b"b", b"2", &["x", "y"]);
        set(table, b"c", b"3", &["y"]);
        set(table, b"d", b"4", NONE);
        let uid = table.uid_of(b"b").unwrap().unwrap();
        let names = table.tags_of(b"b").unwrap().unwrap();
        assert_eq!(names, [b"x", b"y"]);
        assert!(invalidate(table, "x"));
        assert!(!is_there(table, b"a") && !is_there(table, b"b"));
        assert!(is_there(table, b"c") && is_there(table, b"d"));
        assert_eq!(table.get_by_uid(uid).unwrap(), None);
        assert!(!table.set_by_uid(uid, b"12345678").unwrap());
        assert!(!invalidate(table, "x") && !invalidate(table, "never"));
        // Set again, with the tag made again.
        set(table, b"a", b"5", &["x"]);
        assert!(is_there(table, b"a") && !is_there(table, b"b"));
        assert!(invalidate(table, "y") && !is_there(table, b"c") && is_there(table, b"a"));
        assert_clean(table);
    });
}

#[test]
fn what_is_made_of_what_was_before_is_missing_from_the_beginning() {
    over_every_table(options(), |table| {
        let before = table.fetch_tags(&["x"]).unwrap();
        assert_eq!(before, table.fetch_tags(&["x", "x"]).unwrap());
        assert!(invalidate(table, "x"));
        table.set_tagged(b"a", b"old", plain(), &before).unwrap();
        assert!(!is_there(table, b"a"));
        let after = table.fetch_tags(&["x"]).unwrap();
        assert_ne!(before, after);
        table.set_tagged(b"a", b"old", plain(), &before).unwrap();
        assert!(!is_there(table, b"a"));
        table.set_tagged(b"a", b"new", plain(), &after).unwrap();
        assert!(is_there(table, b"a"));
        assert_eq!(table.tag_names(&before).unwrap(), Vec::<Vec<u8>>::new());
        assert_eq!(table.tag_names(&after).unwrap(), [b"x"]);
        assert_clean(table);
    });
}

#[test]
fn tags_are_no_keys() {
    over_every_table(options(), |table| {
        let names: Vec<String> = (0..300).map(|i| format!("name {i}")).collect();
        for name in &names {
            set(table, b"a", b"1", &[name]);
            assert_eq!(table.get(name.as_bytes()).unwrap(), None);
        }
        let stats = table.stats().unwrap();
        assert_eq!((stats.keys, stats.tags, table.len().unwrap()), (1, 300, 1));
        assert_eq!(table.iter().count(), 1);
        // Nor can they be had by their uids.
        for uid in 0..1000 << 4 {
            assert_eq!(table.get_by_uid(uid).unwrap(), None);
            assert_eq!(table.key_of_uid(uid).unwrap(), None);
            assert!(!table.remove_by_uid(uid).unwrap());
            assert!(!table.set_by_uid(uid, b"12345678").unwrap());
        }
        // A key of the same name is another thing.
        for name in &names {
            assert!(!table.remove(name.as_bytes()).unwrap());
            assert!(table.add(name.as_bytes(), b"key").unwrap());
            assert_eq!(table.incr(name.as_bytes(), 1).unwrap_err().to_string(), {
                Error::NotACounter.to_string()
            });
        }
        assert!(invalidate(table, &names[7]) && is_there(table, names[7].as_bytes()));
        assert!(table.remove(names[8].as_bytes()).unwrap());
        set(table, b"a", b"1", &[&names[8]]);
        assert!(invalidate(table, &names[8]) && !is_there(table, b"a"));
        assert_eq!(table.stats().unwrap().tags, 298);
        assert_clean(table);
        table.clear().unwrap();
        assert_eq!((table.len().unwrap(), table.stats().unwrap().tags), (0, 0));
        assert_clean(table);
    });
}

/// Something that is done to a key.
type Act = fn(&Table, &[u8]);

#[test]
fn a_value_that_changes_keeps_its_tags() {
    let changes: [(&str, Act); 9] = [
        ("append", |t, k| assert!(t.append(k, b"0").unwrap())),
        ("prepend", |t, k| assert!(t.prepend(k, b"1").unwrap())),
        ("update", |t, k| {
            drop(t.update(k, |_| Some(vec![b'7'; 30])).unwrap())
        }),
        ("to a large one", |t, k| {
            drop(t.update(k, |_| Some(vec![b'7'; 40_000])).unwrap())
        }),
        ("incr", |t, k| assert_eq!(t.incr(k, 1).unwrap(), 6)),
        ("incr twice", |t, k| {
            t.incr(k, 1).unwrap();
            assert_eq!(t.incr(k, 1).unwrap(), 7);
        }),
        ("touch", |t, k| {
            assert!(t.touch(k, Expiry::After(HOUR)).unwrap())
        }),
        ("uid_of", |t, k| assert!(t.uid_of(k).unwrap().is_some())),
        ("compact", |t, _| assert!(t.compact().is_ok())),
    ];
    over_every_table(options(), |table| {
        for (what, change) in changes {
            for (attributes, uid) in [
                (plain(), false),
                (Attributes::ttl(HOUR).with_flags(7), true),
            ] {
                let tags = table.fetch_tags(&["one", "two", what]).unwrap();
                table.set_tagged(b"key", b"5", attributes, &tags).unwrap();
                if uid {
                    table.uid_of(b"key").unwrap().unwrap();
                }
                let had = table.get_entry(b"key").unwrap().unwrap().attributes;
                change(table, b"key");
                let has = table.get_entry(b"key").unwrap().unwrap().attributes;
                assert_eq!(has.flags, had.flags);
                let names = table.tags_of(b"key").unwrap().unwrap();
                assert_eq!(names, [b"one", b"two", what.as_bytes()]);
                assert_clean(table);
                assert!(
                    invalidate(table, what) && !is_there(table, b"key"),
                    "{what}"
                );
            }
        }
    });
}

#[test]
fn a_key_that_is_set_again_has_no_tags() {
    let sets: [(&str, Act); 6] = [
        ("set", |t, k| t.set(k, b"2").unwrap()),
        ("set a word", |t, k| t.set(k, b"12345678").unwrap()),
        ("replace", |t, k| assert!(t.replace(k, b"2").unwrap())),
        ("swap", |t, k| assert!(t.swap(k, b"2").unwrap().is_some())),
        ("set_uid", |t, k| assert!(t.set_uid(k, b"2").is_ok())),
        ("set_many", |t, k| t.set_many(&[(k, b"2")]).unwrap()),
    ];
    over_every_table(options(), |table| {
        for (what, act) in sets {
            for value in [&b"1"[..], b"abcdefgh"] {
                set(table, b"key  of 16 bytes", value, &["x"]);
                act(table, b"key  of 16 bytes");
                let names = table.tags_of(b"key  of 16 bytes").unwrap().unwrap();
                assert!(names.is_empty(), "{what}");
                assert!(
                    invalidate(table, "x") && is_there(table, b"key  of 16 bytes"),
                    "{what}"
                );
                table.remove(b"key  of 16 bytes").unwrap();
            }
        }
        assert_clean(table);
    });
}

#[test]
fn keys_of_an_invalidated_tag_are_missing_for_writers_too() {
    let writes: [(&str, Act); 8] = [
        ("add", |t, k| assert!(t.add(k, b"2").unwrap())),
        ("replace", |t, k| assert!(!t.replace(k, b"2").unwrap())),
        ("append", |t, k| assert!(!t.append(k, b"2").unwrap())),
        ("remove", |t, k| assert!(!t.remove(k).unwrap())),
        ("take", |t, k| assert_eq!(t.take(k).unwrap(), None)),
        ("swap", |t, k| assert_eq!(t.swap(k, b"2").unwrap(), None)),
        ("incr", |t, k| assert_eq!(t.incr(k, 1).unwrap(), 1)),
        ("touch", |t, k| assert!(!t.touch(k, Expiry::Never).unwrap())),
    ];
    over_every_table(options(), |table| {
        for (what, write) in writes {
            for len in [1, 8, 1000, 40_000] {
                set(table, b"key", &vec![b'5'; len], &["x"]);
                assert!(invalidate(table, "x"));
                write(table, b"key");
                assert_clean(table);
                table.remove(b"key").unwrap();
                assert_eq!(table.len().unwrap(), 0, "{what}");
            }
        }
    });
}

#[test]
fn there_are_limits() {
    over_every_table(options(), |table| {
        let names: Vec<String> = (0..17).map(|i| i.to_string()).collect();
        let tags = table.fetch_tags(&names[..16]).unwrap();
        assert_eq!(tags.len(), 16);
        // With all fields, of the greatest lengths that stand in a block, and beyond.
        for len in (16_100..16_360).chain([70_000]) {
            let attributes = Attributes::ttl(HOUR).with_flags(u32::MAX);
            let value = vec![7; len];
            table.set_uid(b"key", b"").unwrap();
            table.set_tagged(b"key", &value, attributes, &tags).unwrap();
            assert_eq!(table.get(b"key").unwrap().unwrap(), value);
            assert_eq!(table.tags_of(b"key").unwrap().unwrap().len(), 16);
        }
        assert_clean(table);
        assert!(invalidate(table, "15") && !is_there(table, b"key"));
        assert!(matches!(
            table.fetch_tags(&names),
            Err(Error::BadOption { .. })
        ));
        let long = [vec![b'x'; 4096], vec![b'x'; 4097]];
        assert!(matches!(
            table.fetch_tags(&long[1..]),
            Err(Error::BadOption { .. })
        ));
        assert_eq!(table.fetch_tags(&long[..1]).unwrap().len(), 1);
        assert_eq!(table.fetch_tags(&[""]).unwrap().len(), 1);
    });
    let fixed = options().fixed(3, 1).private().unwrap();
    assert!(matches!(
        fixed.fetch_tags(&["x"]),
        Err(Error::BadOption { .. })
    ));
    let tags = options().private().unwrap().fetch_tags(&["x"]).unwrap();
    let refused = fixed.set_tagged(b"key", b"1", plain(), &tags);
    assert!(matches!(refused, Err(Error::BadOption { .. })));
    fixed
        .set_tagged(b"key", b"1", plain(), &Tags::NONE)
        .unwrap();
}

#[test]
fn other_handles_know_at_once_those_for_reading_only_too() {
    let dir = Dir::new();
    let table = options().create(dir.table("t")).unwrap();
    let other = options().open(dir.table("t")).unwrap();
    let reader = Table::open_read_only(dir.table("t")).unwrap();
    set(&table, b"a", b"1", &["x"]);
    assert!(is_there(&other, b"a") && is_there(&reader, b"a"));
    assert_eq!(
        reader.fetch_tags(&["x"]).unwrap(),
        table.fetch_tags(&["x"]).unwrap()
    );
    assert!(matches!(reader.fetch_tags(&["y"]), Err(Error::ReadOnly)));
    assert!(matches!(reader.invalidate_tag(b"x"), Err(Error::ReadOnly)));
    assert!(invalidate(&other, "x"));
    assert!(!is_there(&table, b"a") && !is_there(&reader, b"a"));
}

#[test]
fn memory_comes_back_step_by_step_or_at_once() {
    for at_once in [false, true] {
        over_every_table(options(), |table| {
            for i in 0..4000u32 {
                set(table, &i.to_le_bytes(), &[1; 100], &["x"]);
            }
            set(table, b"stays", b"1", &["y"]);
            assert!(invalidate(table, "x"));
            if at_once {
                table.compact().unwrap();
            } else {
                // Bounded pieces of work, along with writes of other keys.
                let mut writes = 0u64;
                while table.len().unwrap() > 2 && writes < 1 << 20 {
                    table.set(b"other", writes.to_le_bytes()).unwrap();
                    let number = writes.to_le_bytes();
                    table.set(number, b"").unwrap();
                    table.remove(number).unwrap();
                    writes += 1;
                }
                println!("{writes} writes");
            }
            let stats = table.stats().unwrap();
            assert!(
                stats.keys <= 2 && stats.tags == 1,
                "{} {}",
                stats.keys,
                stats.tags
            );
            assert_eq!(stats.expired, 4000);
            assert!(is_there(table, b"stays"));
            assert_clean(table);
        });
    }
}

#[test]
fn a_value_that_was_computed_of_what_was_before_is_computed_again() {
    let table = options().private().unwrap();
    let options = LeaseOptions::new(HOUR).stale(HOUR);
    let compute = |text: &'static [u8]| {
        let made = || Ok(text.to_vec());
        table.get_or_compute_tagged(b"key", options, &["x"], made)
    };
    assert_eq!(compute(b"1").unwrap(), b"1");
    assert_eq!(compute(b"2").unwrap(), b"1");
    // Nothing stale is served of it.
    assert!(invalidate(&table, "x"));
    assert_eq!(compute(b"3").unwrap(), b"3");
    // Invalidated while it is computed.
    assert!(invalidate(&table, "x"));
    let during = || {
        assert!(invalidate(&table, "x"));
        Ok(b"of before".to_vec())
    };
    let got = table.get_or_compute_tagged(b"key", options, &["x"], during);
    assert_eq!(got.unwrap(), b"of before");
    assert_eq!(table.get(b"key").unwrap(), None);
    assert_eq!(compute(b"4").unwrap(), b"4");
    // By hand.
    assert!(invalidate(&table, "x"));
    let Leased::Won(lease) = table.get_or_lease(b"key", options).unwrap() else {
        panic!("nobody has it");
    };
    let tags = table.fetch_tags(&["y"]).unwrap();
    assert!(lease.fill_tagged(b"5", &tags).unwrap());
    assert!(is_there(&table, b"key") && invalidate(&table, "y") && !is_there(&table, b"key"));
    let too_many: Vec<String> = (0..17).map(|i| i.to_string()).collect();
    let got = table.get_or_compute_tagged(b"key", options, &too_many, || Ok(vec![]));
    assert!(matches!(got, Err(Error::BadOption { .. })));
    // And given up by that.
    assert_eq!(compute(b"6").unwrap(), b"6");
}

#[test]
fn random_changes_fit_a_model() {
    let table = options().shards(4).private().unwrap();
    let mut random = Random::new(5);
    let mut model = Model::default();
    for round in 0..30_000 {
        let key = random.below(300).to_le_bytes();
        let op = match random.below(8) {
            0..3 => {
                let tags = (0..random.below(4)).map(|_| 1 << random.below(40));
                let tags = model::Tags(tags.fold(0, |all, tag| all | tag));
                let len = [20, 300, 5000][random.below(3) as usize];
                Op::SetTagged(key.into(), value_of(&key, round, len), tags, None)
            }
            3 => Op::Invalidate(model::Tags(1 << random.below(40))),
            4 => Op::Append(key.into(), b"more".to_vec()),
            5 => Op::Remove(key.into()),
            _ => Op::Get(key.into()),
        };
        play(&table, &mut model, &op).unwrap();
    }
    for op in [Op::Walk, Op::Repair] {
        play(&table, &mut model, &op).unwrap();
        agree(&table, &model).unwrap();
    }
}

#[test]
fn a_key_is_added_with_tags_where_it_is_missing() {
    over_every_table(options(), |table| {
        let one = table.fetch_tags(&["one"]).unwrap();
        let two = table.fetch_tags(&["two"]).unwrap();
        assert!(table.add_tagged(b"a", b"1", plain(), &one).unwrap());
        assert!(!table.add_tagged(b"a", b"2", plain(), &two).unwrap());
        table.invalidate_tag(b"two").unwrap();
        assert_eq!(table.get(b"a").unwrap().unwrap(), b"1");
        table.invalidate_tag(b"one").unwrap();
        assert!(!table.contains(b"a").unwrap());
        // With a tag that is gone it would be missing at once, and so nothing is there to be kept.
        assert!(table.add_tagged(b"a", b"3", plain(), &one).unwrap());
        assert!(
            table
                .add_tagged(b"a", b"4", plain(), &Tags::default())
                .unwrap()
        );
        assert_eq!(table.get(b"a").unwrap().unwrap(), b"4");
        assert_clean(table);
    });
}

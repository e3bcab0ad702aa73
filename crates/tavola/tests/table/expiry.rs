//! Keys that expire, and their flags: missing at once for everybody, kept or lost with the value as
//! is reported. Their memory, and their clock, are another file's (`expiry_system.rs`).

use crate::support::patience::{Moment, in_time, let_pass};
use crate::support::{Dir, Random, assert_clean, over_every_table, value_of};
use std::time::{Duration, SystemTime};
use tavola::{Attributes, CasOutcome, Error, Expiry, Hint, Options, Table};
use tavola_model::{Life, Model, Op, agree, play};

const HOUR: Duration = Duration::from_secs(3600);
/// Long enough to look at a key that lives so long, most of the time.
const SOON: Duration = Duration::from_millis(300);

fn options() -> Options {
    Table::options().max_size(64 << 20)
}

fn gone() -> Attributes {
    Expiry::PAST.into()
}

fn left(expiry: Option<Expiry>) -> Duration {
    match expiry {
        Some(Expiry::After(left)) => left,
        other => panic!("{other:?}"),
    }
}

/// Values of every shape: words, short ones, long ones, chains with and without the key in the
/// block.
fn shapes() -> Vec<Vec<u8>> {
    let lens = [0, 8, 9, 100, 5000, 16_330, 40_000];
    lens.iter().map(|len| vec![7; *len]).collect()
}

fn is_missing(table: &Table, key: &[u8], hint: Hint) {
    assert_eq!(table.get(key).unwrap(), None);
    assert!(!table.contains(key).unwrap());
    assert_eq!(table.get_entry(key).unwrap(), None);
    assert_eq!(table.ttl(key).unwrap(), None);
    assert_eq!(table.get_by_uid(hint).unwrap(), None);
    assert_eq!(table.key_of_uid(hint).unwrap(), None);
    table
        .get_many(&[key], |_, value| assert_eq!(value, None))
        .unwrap();
    assert!(table.iter().all(|entry| entry.unwrap().0 != key));
}

#[test]
fn an_expired_key_is_missing_for_every_reader_at_once() {
    in_time(SOON, live_and_expire);
}

/// Keys that live so long; `None`: they could not be looked at before they expired.
fn live_and_expire(soon: Duration) -> Option<()> {
    let dir = Dir::new();
    let table = options().create(dir.table("t")).unwrap();
    let mut keys = Vec::new();
    let begun = Moment::now();
    for (number, value) in shapes().into_iter().enumerate() {
        let key = format!("key {number}").into_bytes();
        table.set_with(&key, &value, Attributes::ttl(soon)).unwrap();
        keys.push((key, value));
    }
    table
        .incr_with(b"count", 1, Some(5), Attributes::ttl(soon))
        .unwrap();
    keys.push((b"count".to_vec(), b"5".to_vec()));
    let reader = Table::open_read_only(dir.table("t")).unwrap();
    let fresh = Table::open_read_only(dir.table("t")).unwrap();
    let read = |(key, _): &(Vec<u8>, _)| {
        let hint = table.uid_of(key).unwrap();
        let found = (reader.get(key).unwrap(), reader.ttl(key).unwrap());
        (hint, found, begun.elapsed())
    };
    let reads: Vec<_> = keys.iter().map(read).collect();
    if begun.elapsed() >= soon {
        return None;
    }
    let mut hints = Vec::new();
    for ((_, value), (hint, (found, ttl), by)) in keys.iter().zip(reads) {
        hints.push(hint.expect("it lives"));
        assert_eq!(found.as_ref(), Some(value));
        let ttl = left(ttl);
        assert!(ttl <= soon && ttl + by + Duration::from_millis(2) >= soon);
    }
    let_pass(soon);
    for ((key, _), hint) in keys.iter().zip(hints) {
        is_missing(&reader, key, hint);
        is_missing(&table, key, hint);
        // The first reads of a table that was just opened.
        assert_eq!(fresh.get(key).unwrap(), None);
    }
    assert_clean(&table);
    Some(())
}

#[test]
fn writes_take_an_expired_key_for_missing() {
    over_every_table(options(), |table| {
        for value in shapes() {
            let expired = |key: &[u8]| {
                table.set_with(key, &value, gone()).unwrap();
                key.to_vec()
            };
            assert!(!table.replace(expired(b"replace"), b"x").unwrap());
            assert!(!table.append(expired(b"append"), b"x").unwrap());
            assert!(!table.prepend(expired(b"prepend"), b"x").unwrap());
            assert!(!table.remove(expired(b"remove")).unwrap());
            assert!(!table.touch(expired(b"touch"), Expiry::Never).unwrap());
            assert_eq!(table.take(expired(b"take")).unwrap(), None);
            assert_eq!(table.uid_of(expired(b"uid_of")).unwrap(), None);
            assert_eq!(table.incr_from(expired(b"from"), 1, None).unwrap(), None);
            let old = table.get_and_touch(expired(b"get_and_touch"), Expiry::Never);
            assert_eq!(old.unwrap(), None);
            assert!(table.is_empty().unwrap() || table.iter().next().is_none());
            assert!(table.add(expired(b"add"), b"new").unwrap());
            assert_eq!(table.swap(expired(b"swap"), b"new").unwrap(), None);
            assert_eq!(table.incr(expired(b"incr"), 3).unwrap(), 3);
            for key in [&b"add"[..], b"swap", b"incr"] {
                assert_eq!(table.ttl(key).unwrap(), Some(Expiry::Never));
                assert!(table.remove(key).unwrap());
            }
        }
        assert_clean(table);
    });
}

#[test]
fn a_uid_ends_with_its_key() {
    over_every_table(options(), |table| {
        let old = table.set_uid(b"key", b"old").unwrap();
        assert!(table.touch(b"key", Expiry::PAST).unwrap());
        assert_eq!(table.get_by_uid(old).unwrap(), None);
        assert!(!table.set_by_uid(old, b"by uid").unwrap());
        let new = table.set_uid(b"key", b"new").unwrap();
        assert_ne!(old, new);
        assert_eq!(table.get_by_uid(old).unwrap(), None);
        assert_eq!(table.get_by_uid(new).unwrap().unwrap(), b"new");
        assert_clean(table);
    });
}

#[test]
fn a_touch_changes_the_time_and_nothing_else() {
    over_every_table(options(), |table| {
        for (number, value) in shapes().into_iter().enumerate() {
            let key = format!("key {number}").into_bytes();
            table
                .set_with(&key, &value, Attributes::default().with_flags(9))
                .unwrap();
            let hint = if number % 2 == 0 {
                table.uid_of(&key).unwrap()
            } else {
                None
            };
            let is_same = |expiry: Option<Duration>| {
                let entry = table.get_entry(&key).unwrap().unwrap();
                assert!(entry.value == value && entry.attributes.flags == 9);
                match (entry.attributes.expiry, expiry) {
                    (Expiry::Never, None) => {}
                    (Expiry::After(left), Some(ttl)) => {
                        assert!(left <= ttl && left + HOUR / 2 > ttl);
                    }
                    other => panic!("{other:?}"),
                }
                if let Some(hint) = hint {
                    assert_eq!(table.get_by_uid(hint).unwrap().as_ref(), Some(&value));
                }
            };
            is_same(None);
            assert!(table.touch(&key, Expiry::Never).unwrap());
            is_same(None);
            assert!(table.touch(&key, Expiry::After(HOUR)).unwrap());
            is_same(Some(HOUR));
            let before = table.get_and_touch(&key, Expiry::After(2 * HOUR)).unwrap();
            assert!(left(before.map(|entry| entry.attributes.expiry)) <= HOUR);
            is_same(Some(2 * HOUR));
            assert!(
                table
                    .touch(&key, Expiry::At(SystemTime::now() + HOUR))
                    .unwrap()
            );
            is_same(Some(HOUR));
            assert!(table.persist(&key).unwrap());
            is_same(None);
            assert!(
                table
                    .touch(&key, Expiry::At(SystemTime::UNIX_EPOCH))
                    .unwrap()
            );
            assert_eq!(table.get(&key).unwrap(), None);
        }
        assert!(!table.touch(b"no such key", Expiry::Never).unwrap());
        assert_clean(table);
    });
}

#[test]
fn changes_of_a_value_keep_what_the_key_has_and_new_values_do_not() {
    over_every_table(options(), |table| {
        let attributes = Attributes::ttl(HOUR).with_flags(77);
        let kept = |key: &[u8]| {
            let entry = table.get_entry(key).unwrap().unwrap();
            assert_eq!(entry.attributes.flags, 77);
            assert!(left(Some(entry.attributes.expiry)) <= HOUR);
        };
        for value in [&b"5"[..], b"12345678", &[b'1'; 18], &[b'1'; 19]] {
            table.set_with(b"key", value, attributes).unwrap();
            table.append(b"key", b"1").unwrap();
            kept(b"key");
            table.prepend(b"key", b"1").unwrap();
            kept(b"key");
            table.update(b"key", |_| Some(b"41".to_vec())).unwrap();
            kept(b"key");
            table.incr(b"key", 1).unwrap();
            kept(b"key");
            table.decr(b"key", 1).unwrap();
            kept(b"key");
            assert_eq!(table.get(b"key").unwrap().unwrap(), b"41");
            table.append(b"key", [b'x'; 30_000]).unwrap();
            kept(b"key");
            for renew in 0..4 {
                table.set_with(b"key", value, attributes).unwrap();
                match renew {
                    0 => table.set(b"key", value).unwrap(),
                    1 => assert!(table.replace(b"key", value).unwrap()),
                    2 => drop(table.swap(b"key", value).unwrap()),
                    _ => table.set_many(&[(b"key", value)]).unwrap(),
                }
                let entry = table.get_entry(b"key").unwrap().unwrap();
                assert_eq!((entry.attributes.flags, &entry.value[..]), (0, value));
                assert_eq!(entry.attributes.expiry, Expiry::Never);
            }
        }
        let entry = table.get_entry(b"key").unwrap().unwrap();
        let swapped = table.compare_and_swap_with(b"key", entry.token, b"new", attributes);
        assert_eq!(swapped.unwrap(), CasOutcome::Swapped);
        kept(b"key");
        assert!(table.add_with(b"added", b"", attributes).unwrap());
        assert!(table.replace_with(b"added", b"more", attributes).unwrap());
        kept(b"added");
        table.set_many_with(&[("many", "x")], attributes).unwrap();
        kept(b"many");
        for (key, _) in [(&b"key"[..], ()), (b"added", ()), (b"many", ())] {
            let mut walk = table.iter();
            let mut flags = None;
            while let Some((met, _, attributes)) = walk.next_with_attributes().unwrap() {
                flags = flags.or((met == key).then_some(attributes.flags));
            }
            assert_eq!(flags, Some(77));
        }
        assert_clean(table);
    });
}

#[test]
fn a_table_may_have_a_time_to_live_of_its_own() {
    let dir = Dir::new();
    let make = || options().ttl(HOUR).open(dir.table("t")).unwrap();
    drop(make());
    let table = options().open(dir.table("t")).unwrap();
    table.set(b"set", b"12345678").unwrap();
    table.set(b"set", b"87654321").unwrap();
    table.add(b"add", b"").unwrap();
    table.set_many(&[("many", "")]).unwrap();
    table.incr(b"incr", 1).unwrap();
    table.swap(b"swap", b"").unwrap();
    table.update(b"update", |_| Some(Vec::new())).unwrap();
    table.set_uid(b"uid", b"").unwrap();
    table
        .set_with(b"flags", b"", Attributes::default().with_flags(1))
        .unwrap();
    for key in [
        "set", "add", "many", "incr", "swap", "update", "uid", "flags",
    ] {
        let ttl = left(table.ttl(key.as_bytes()).unwrap());
        assert!(ttl <= HOUR && ttl > HOUR / 2, "{key}");
    }
    let never = Attributes {
        expiry: Expiry::Never,
        flags: 0,
    };
    table.set_with(b"never", b"", never).unwrap();
    assert_eq!(table.ttl(b"never").unwrap(), Some(Expiry::Never));
    assert_eq!(table.stats().unwrap().ttl_ms, 3_600_000);
    assert!(matches!(
        options().ttl(Duration::ZERO).create(dir.table("zero")),
        Err(Error::BadOption { option: "ttl", .. })
    ));
}

#[test]
fn tables_of_fixed_lengths_have_no_room_for_attributes() {
    let dir = Dir::new();
    let table = options().fixed(3, 1).create(dir.table("t")).unwrap();
    table.set(b"key", b"1").unwrap();
    let refused = |outcome: Error| assert!(matches!(outcome, Error::BadOption { .. }));
    refused(table.set_with(b"key", b"2", gone()).unwrap_err());
    refused(table.touch(b"key", Expiry::Never).unwrap_err());
    refused(
        options()
            .fixed(3, 1)
            .ttl(HOUR)
            .create(dir.table("u"))
            .unwrap_err(),
    );
    table.set_with(b"key", b"3", Attributes::default()).unwrap();
    assert_eq!(table.get(b"key").unwrap().unwrap(), b"3");
    assert_eq!(table.ttl(b"key").unwrap(), Some(Expiry::Never));
}

/// Against a map, with keys that live forever, for long, or not at all.
#[test]
fn agrees_with_a_map() {
    over_every_table(options(), |table| {
        let mut random = Random::new(11);
        let mut model = Model::default();
        for step in 0..30_000u64 {
            let key = format!("key {}", random.below(400)).into_bytes();
            let len = [3, 8, 60, 700, 17_000][random.below(5) as usize];
            let value = value_of(&key, step, len);
            let flags = random.below(3) as u32;
            let op = match random.below(8) {
                0 | 1 => Op::SetWith(key, value, Life::Hours(1), flags),
                2 => Op::SetWith(key, value, Life::Gone, flags),
                3 => Op::Set(key, value),
                4 => Op::Touch(
                    key,
                    [Life::Forever, Life::Hours(1)][random.below(2) as usize],
                ),
                5 => Op::Touch(key, Life::Gone),
                6 => Op::UidOf(key),
                _ => Op::Remove(key),
            };
            play(table, &mut model, &op).unwrap();
        }
        agree(table, &model).unwrap();
        table.compact().unwrap();
        assert_eq!(table.len().unwrap(), model.len() as u64);
        agree(table, &model).unwrap();
    });
}

#[test]
fn a_repair_keeps_times_and_flags() {
    over_every_table(options(), |table| {
        for (number, value) in shapes().into_iter().enumerate() {
            let key = format!("key {number}").into_bytes();
            let attributes = Attributes::ttl(HOUR).with_flags(number as u32);
            table.set_with(&key, &value, attributes).unwrap();
            table
                .set_with([&key[..], b" gone"].concat(), &value, gone())
                .unwrap();
        }
        assert!(table.repair().unwrap().is_clean());
        for (number, value) in shapes().into_iter().enumerate() {
            let key = format!("key {number}").into_bytes();
            let entry = table.get_entry(&key).unwrap().unwrap();
            assert_eq!(
                (&entry.value, entry.attributes.flags),
                (&value, number as u32)
            );
            assert!(left(Some(entry.attributes.expiry)) <= HOUR);
        }
        // The search for the expired continues after it.
        table.compact().unwrap();
        assert_eq!(table.len().unwrap(), shapes().len() as u64);
    });
}

#[test]
fn a_value_set_by_uid_gets_the_time_of_the_table() {
    let dir = Dir::new();
    let table = options().ttl(HOUR).create(dir.table("t")).unwrap();
    for value in [&b"12345678"[..], b"123456789"] {
        let hint = table.set_uid(b"key", value).unwrap();
        assert!(table.persist(b"key").unwrap());
        assert!(table.set_by_uid(hint, value).unwrap());
        assert!(left(table.ttl(b"key").unwrap()) <= HOUR);
    }
}

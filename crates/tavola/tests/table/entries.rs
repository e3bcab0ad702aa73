//! Values with what is beside them, read and changed into memory of the caller's, alone and
//! many at once.

use crate::support::{Dir, assert_clean, over_every_table, value_of, version_of};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;
use tavola::{Attributes, Details, Entry, Error, Expiry, Options, Table};

const HOUR: Duration = Duration::from_secs(3600);

/// No value, a word, the longest short one, one in a block, and a large one.
const LENGTHS: [usize; 6] = [0, 8, 32, 33, 1000, 100_000];

fn options() -> Options {
    Table::options().max_size(32 << 20)
}

fn is_hour(expiry: Expiry) -> bool {
    matches!(expiry, Expiry::After(left) if left <= HOUR && left > HOUR / 2)
}

/// All ways to read a key come to this value, flags and time.
fn assert_entry(table: &Table, key: &[u8], value: &[u8], flags: u32, lives_an_hour: bool) {
    let hint = table.uid_of(key).unwrap().unwrap();
    let fits = |attributes: Attributes| {
        attributes.flags == flags
            && match lives_an_hour {
                true => is_hour(attributes.expiry),
                false => attributes.expiry == Expiry::Never,
            }
    };
    let entry: Entry = table.get_entry(key).unwrap().unwrap();
    assert!(fits(entry.attributes) && entry.value == value, "{entry:?}");
    assert_eq!(table.token_of(value).unwrap(), entry.token);
    let with_token = table.get_with_token(key).unwrap().unwrap();
    assert_eq!(with_token, (value.to_vec(), entry.token));
    let mut out = b"old".to_vec();
    assert!(
        fits(
            table
                .get_entry_into(key, &mut out)
                .unwrap()
                .unwrap()
                .attributes
        ) && out == value
    );
    out = b"old".to_vec();
    let found = table.get_entry_by_uid_into(hint, &mut out).unwrap();
    assert!(fits(found.unwrap().attributes) && out == value);
    for room in [value.len() + 9, value.len(), value.len() / 2, 0] {
        let mut out = vec![0xee; room];
        let copied = if room < value.len() { 0 } else { value.len() };
        for by_uid in [false, true] {
            out.fill(0xee);
            let found = match by_uid {
                true => table.get_entry_by_uid_to_slice(hint, &mut out),
                false => table.get_entry_to_slice(key, &mut out),
            };
            let (len, details) = found.unwrap().unwrap();
            assert!(
                fits(details.attributes) && len == value.len(),
                "{len} in {room}"
            );
            assert_eq!(out[..copied], value[..copied]);
            assert!(out[copied..].iter().all(|byte| *byte == 0xee));
        }
    }
}

#[test]
fn every_kind_of_read_returns_the_same_entry() {
    over_every_table(options(), |table| {
        for len in LENGTHS {
            let value = vec![b'v'; len];
            for (flags, ttl) in [(0, None), (7, None), (0, Some(HOUR)), (8, Some(HOUR))] {
                let with = match ttl {
                    Some(ttl) => Attributes::ttl(ttl).with_flags(flags),
                    None => Attributes::default().with_flags(flags),
                };
                table.set_with(b"key", &value, with).unwrap();
                assert_entry(table, b"key", &value, flags, ttl.is_some());
            }
        }
        table.remove(b"key").unwrap();
        table.incr(b"key", 1234).unwrap();
        assert_entry(table, b"key", b"1234", 0, false);
        assert_clean(table);
    });
}

#[test]
fn a_missing_key_is_reported_and_leaves_nothing() {
    over_every_table(options(), |table| {
        let hint = table.set_uid(b"gone", b"value").unwrap();
        table
            .set_with(b"gone", b"value", Expiry::PAST.into())
            .unwrap();
        let mut out = b"old".to_vec();
        assert_eq!(table.get_entry_into(b"gone", &mut out).unwrap(), None);
        assert!(out.is_empty());
        out = b"old".to_vec();
        assert_eq!(table.get_entry_by_uid_into(hint, &mut out).unwrap(), None);
        assert!(out.is_empty());
        out = b"old".to_vec();
        let touched = table.get_and_touch_into(b"gone", Expiry::Never, &mut out);
        assert!(touched.unwrap().is_none() && out.is_empty());
        assert!(!table.key_of_uid_into(hint, &mut out).unwrap() && out.is_empty());
        let mut slice = [0xee; 9];
        assert_eq!(table.get_entry_to_slice(b"gone", &mut slice).unwrap(), None);
        let by_uid = table.get_entry_by_uid_to_slice(hint, &mut slice).unwrap();
        assert!(by_uid.is_none() && slice == [0xee; 9]);
    });
}

#[test]
fn keys_and_touched_values_go_into_a_buffer() {
    over_every_table(options(), |table| {
        let hint = table.set_uid(b"key", b"value").unwrap();
        let mut out = b"old".to_vec();
        assert!(table.key_of_uid_into(hint, &mut out).unwrap() && out == b"key");
        let hour = Expiry::After(HOUR);
        let had = table.get_and_touch_into(b"key", hour, &mut out).unwrap();
        let never = Attributes {
            expiry: Expiry::Never,
            flags: 0,
        };
        assert_eq!(had.unwrap().attributes, never);
        assert_eq!(out, b"value");
        assert_entry(table, b"key", b"value", 0, true);
    });
}

#[test]
fn a_value_is_taken_or_swapped_only_if_it_may_be() {
    over_every_table(options(), |table| {
        let mut out = b"old".to_vec();
        let refuse = |_: &[u8]| Err(Error::ReadOnly);
        let allow = |_: &[u8]| Ok::<_, Error>(());
        // Nothing to look at.
        assert!(!table.try_take(b"key", &mut out, refuse).unwrap() && out.is_empty());
        assert!(!table.try_swap(b"key", b"1", &mut out, refuse).unwrap());
        assert_eq!(table.get(b"key").unwrap().unwrap(), b"1");
        for refused in [
            table.try_take(b"key", &mut out, refuse),
            table.try_swap(b"key", b"2", &mut out, refuse),
        ] {
            assert!(matches!(refused, Err(Error::ReadOnly)));
        }
        assert_eq!(table.get(b"key").unwrap().unwrap(), b"1");
        let flags = Attributes::default().with_flags(7);
        table.set_with(b"key", b"first", flags).unwrap();
        assert!(table.try_swap(b"key", b"next", &mut out, allow).unwrap() && out == b"first");
        assert_entry(table, b"key", b"next", 0, false);
        assert!(table.try_take(b"key", &mut out, allow).unwrap() && out == b"next");
        assert!(!table.contains(b"key").unwrap());
    });
}

/// What is looked at is what is taken, whatever becomes of the key meanwhile.
#[test]
fn a_value_that_changes_is_read_again() {
    over_every_table(options(), |table| {
        let (mut seen, mut out) = (Vec::new(), Vec::new());
        table.set(b"key", b"first").unwrap();
        let examine = |value: &[u8]| {
            seen.push(value.to_vec());
            match seen.len() {
                1 => table.set(b"key", b"another"),
                _ => Ok(()),
            }
        };
        assert!(table.try_take(b"key", &mut out, examine).unwrap());
        assert_eq!(seen, [b"first".to_vec(), b"another".to_vec()]);
        assert_eq!(out, b"another");
    });
}

/// Two waves and some: of each four keys one is plain, one has flags, one a time, one is missing.
#[test]
fn many_entries_are_set_and_read() {
    over_every_table(options(), |table| {
        let keys: Vec<[u8; 4]> = (0..75u32).map(u32::to_le_bytes).collect();
        let beside = |i: usize| match i % 4 {
            0 => Attributes::default(),
            1 => Attributes::default().with_flags(i as u32),
            _ => Attributes::ttl(HOUR),
        };
        let all = keys.iter().enumerate().filter(|(i, _)| i % 4 != 3);
        let all: Vec<_> = all.map(|(i, key)| (key, key, beside(i))).collect();
        table.set_many_entries(&all).unwrap();
        table.prefetch(&keys).unwrap();
        let mut next = 0;
        let each = |i: usize, found: Option<(&[u8], Details)>| {
            assert_eq!(i, next);
            next += 1;
            let Some((value, has)) = found else {
                return assert_eq!(i % 4, 3);
            };
            assert!(i % 4 != 3 && value == keys[i]);
            assert_eq!(has.attributes.flags, beside(i).flags);
            assert_eq!(is_hour(has.attributes.expiry), i % 4 == 2, "{i}");
        };
        table.get_many_entries(&keys, each).unwrap();
        assert_eq!(next, keys.len());
        assert_clean(table);
    });
}

/// Value and attributes are of one moment: the flags say which value it is.
#[test]
fn no_entry_is_torn_beside_a_writer() {
    const ROUNDS: u32 = 20_000;
    let key = b"the key";
    let dir = Dir::new();
    let table = options().create(dir.table("t")).unwrap();
    let is_over = AtomicBool::new(false);
    let write = || {
        for round in 0..ROUNDS {
            let value = value_of(key, round.into(), LENGTHS[round as usize % 5]);
            let with = Attributes::default().with_flags(round);
            table.set_with(key, &value, with).unwrap();
        }
        is_over.store(true, Relaxed);
    };
    let fits = |value: &[u8], has: Details| {
        assert_eq!(version_of(key, value), Some(has.attributes.flags.into()));
    };
    let read = || {
        let (mut found, mut is_last) = (0, false);
        while !is_last {
            is_last = is_over.load(Relaxed);
            let mut out = [0; 2000];
            if let Some((len, has)) = table.get_entry_to_slice(key, &mut out).unwrap() {
                fits(&out[..len], has);
                found += 1;
            }
            let each = |_, entry: Option<(&[u8], Details)>| {
                if let Some((value, has)) = entry {
                    fits(value, has);
                }
            };
            table.get_many_entries(&[key], each).unwrap();
        }
        assert!(found > 0);
    };
    std::thread::scope(|threads| {
        threads.spawn(read);
        threads.spawn(write);
    });
}

/// It means never, the default or at once, in one store or another.
#[test]
fn a_ttl_of_zero_is_refused() {
    over_every_table(options(), |table| {
        table.set(b"key", b"old").unwrap();
        let zero = Attributes::ttl(Duration::ZERO);
        let outcomes = [
            table.set_with(b"key", b"new", zero),
            table.add_with(b"other", b"new", zero).map(|_| ()),
            table.touch(b"key", zero.expiry).map(|_| ()),
        ];
        for outcome in outcomes {
            let said = outcome.unwrap_err().to_string();
            assert!(said.contains("Expiry::PAST"), "{said}");
        }
        assert_eq!(table.get(b"key").unwrap().as_deref(), Some(&b"old"[..]));
        assert!(!table.contains(b"other").unwrap());
    });
}

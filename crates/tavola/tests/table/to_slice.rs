//! Reads into bytes of the caller's: the value if it fits there, its length in any case, and
//! nothing else.

use crate::support::{Dir, over_every_table, value_of, version_of};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;
use tavola::{Attributes, Details, Expiry, Hint, Options, Table};

/// What a buffer holds beforehand.
const OLD: u8 = 0xee;

/// No value, words, up to the longest short one, more than a line, the longest in a block, and
/// those of one page more and of several.
const LENGTHS: [usize; 15] = [
    0, 1, 7, 8, 9, 16, 17, 31, 32, 33, 100, 1000, 16_000, 16_400, 100_000,
];

fn options() -> Options {
    Table::options().max_size(32 << 20)
}

/// Reads into buffers that are longer than the value, as long, too short and empty.
fn assert_reads(value: &[u8], read: impl Fn(&mut [u8]) -> Option<usize>) {
    let len = value.len();
    for room in [len + 50, len + 1, len, len.saturating_sub(1), len / 2, 0] {
        let mut out = vec![OLD; room];
        assert_eq!(read(&mut out), Some(len), "{len} bytes into {room}");
        let copied = if room < len { 0 } else { len };
        assert_eq!(out[..copied], value[..copied], "{len} bytes into {room}");
        assert!(
            out[copied..].iter().all(|byte| *byte == OLD),
            "{len} bytes into {room}"
        );
    }
}

fn assert_key(table: &Table, key: &[u8], hint: Hint, value: &[u8]) {
    assert_reads(value, |out| table.get_to_slice(key, out).unwrap());
    assert_reads(value, |out| table.get_by_uid_to_slice(hint, out).unwrap());
    let uid = hint.uid();
    assert_reads(value, |out| table.get_by_uid_to_slice(uid, out).unwrap());
}

fn bytes(len: usize) -> Vec<u8> {
    let mut value = value_of(b"", 7, len);
    value.truncate(len);
    value
}

#[test]
fn values_of_every_length() {
    over_every_table(options(), |table| {
        for len in LENGTHS {
            for key in [&b"the key!"[..], b"another key", b""] {
                table.remove(key).unwrap();
                table.set(key, bytes(len)).unwrap();
                assert_reads(&bytes(len), |out| table.get_to_slice(key, out).unwrap());
                let hint = table.uid_of(key).unwrap().unwrap();
                assert_key(table, key, hint, &bytes(len));
            }
        }
        let key = vec![b'k'; 40_000];
        let hint = table.set_uid(&key, b"of a long key").unwrap();
        assert_key(table, &key, hint, b"of a long key");
    });
}

#[test]
fn counters_are_text() {
    over_every_table(options(), |table| {
        for (key, number) in [(&b"n"[..], 7), (b"m", 1_234_567_890), (b"o", u64::MAX)] {
            table.incr(key, number).unwrap();
            let hint = table.uid_of(key).unwrap().unwrap();
            assert_key(table, key, hint, number.to_string().as_bytes());
        }
    });
}

#[test]
fn what_is_missing_leaves_the_buffer() {
    over_every_table(options(), |table| {
        let gone = table.set_uid(b"gone", bytes(1000)).unwrap();
        table.set(b"there", b"1").unwrap();
        assert!(table.remove(b"gone").unwrap());
        let mut out = [OLD; 2000];
        for key in [&b"gone"[..], b"never there"] {
            assert_eq!(table.get_to_slice(key, &mut out).unwrap(), None);
        }
        assert_eq!(table.get_by_uid_to_slice(gone, &mut out).unwrap(), None);
        assert_eq!(out, [OLD; 2000]);
    });
}

/// Whatever bucket a key is in, and whether its table is mapped yet.
#[test]
fn every_key_of_many() {
    let dir = Dir::new();
    let path = dir.table("t");
    let table = options().create(&path).unwrap();
    let number = |key: u64| {
        (
            key.to_le_bytes(),
            key.to_string().repeat(1 + key as usize % 20),
        )
    };
    for (key, value) in (0..20_000).map(number) {
        table.set(key, value.as_bytes()).unwrap();
    }
    let other = options().open_existing(&path).unwrap();
    for (key, value) in (0..20_000).map(number) {
        let mut out = [OLD; 200];
        let len = other.get_to_slice(key, &mut out).unwrap();
        assert_eq!(len, Some(value.len()));
        assert_eq!(out[..value.len()], *value.as_bytes());
        assert!(out[value.len()..].iter().all(|byte| *byte == OLD));
    }
}

/// The first reads of a table, which is not mapped yet.
#[test]
fn at_once_after_an_open() {
    let dir = Dir::new();
    let path = dir.table("t");
    let table = options().create(&path).unwrap();
    table.set(b"key", bytes(300)).unwrap();
    let fresh = || options().open_existing(&path).unwrap();
    assert_reads(&bytes(300), |out| {
        fresh().get_to_slice(b"key", out).unwrap()
    });
    let mut out = [OLD; 8];
    assert_eq!(fresh().get_to_slice(b"none", &mut out).unwrap(), None);
    assert_eq!(out, [OLD; 8]);
}

/// The first reads return the details that a mapped table returns.
#[test]
fn entries_at_once_after_an_open() {
    for versions in [false, true] {
        let dir = Dir::new();
        let path = dir.table("t");
        let table = options().versions(versions).create(&path).unwrap();
        let flags = |flags| Attributes::default().with_flags(flags);
        for len in [0, 8, 9, 300, 20_000] {
            for key_len in [7, 8, 300] {
                let key = |kind: u8| vec![kind; key_len];
                table.set(key(0), bytes(len)).unwrap();
                table.set_with(key(1), bytes(len), flags(7)).unwrap();
                table.set_with(key(2), bytes(len), flags(u32::MAX)).unwrap();
                let hour = Attributes::from(Expiry::After(Duration::from_secs(3600)));
                table.set_with(key(3), bytes(len), hour).unwrap();
                let tags = table.fetch_tags(&["tag"]).unwrap();
                table
                    .set_tagged(key(4), bytes(len), flags(9), &tags)
                    .unwrap();
                for kind in 0..=5 {
                    let fresh = options().open_existing(&path).unwrap();
                    let (mut mapped, mut value) = (Vec::new(), Vec::new());
                    let is = table.get_entry_into(key(kind), &mut mapped).unwrap();
                    assert_eq!(is.is_some(), kind < 5);
                    let whole = |details: Details| (details.attributes.flags, details.version);
                    let expires = |details: Details| details.attributes.expiry != Expiry::Never;
                    let found = fresh.get_entry_into(key(kind), &mut value).unwrap();
                    assert_eq!(found.map(whole), is.map(whole));
                    assert_eq!(found.map(expires), is.map(expires));
                    assert_eq!(value, mapped);
                    let fresh = options().open_existing(&path).unwrap();
                    let mut out = vec![OLD; len];
                    let found = fresh.get_entry_to_slice(key(kind), &mut out).unwrap();
                    assert_eq!(found.map(|(_, details)| whole(details)), is.map(whole));
                    assert!(found.is_none_or(|(found, _)| found == len && out == mapped));
                }
            }
        }
    }
}

#[test]
fn tables_of_fixed_lengths() {
    for (key, len) in [
        (&b"8 bytes."[..], 8),
        (b"odd", 33),
        (b"k", 0),
        (b"page", 16_000),
    ] {
        let fixed = options().fixed(key.len() as u32, len as u32).uids(true);
        over_every_table(fixed, |table| {
            let hint = table.set_uid(key, bytes(len)).unwrap();
            assert_key(table, key, hint, &bytes(len));
        });
    }
}

/// What is read is one value, whole; behind it is what stood there before, or zeros.
fn assert_whole(key: &[u8], out: &[u8], len: usize) {
    assert!(version_of(key, &out[..len]).is_some(), "torn: {len} bytes");
    let rest = &out[len..];
    assert!(
        rest.iter().all(|byte| [OLD, 0].contains(byte)),
        "{len} bytes"
    );
}

#[test]
fn no_value_is_torn_beside_a_writer() {
    const ROUNDS: u64 = 30_000;
    let key = b"the key!";
    over_every_table(options(), |table| {
        let is_over = AtomicBool::new(false);
        let hint = table.set_uid(key, value_of(key, 0, 16)).unwrap();
        let write = || {
            for round in 0..ROUNDS {
                let len = LENGTHS[5 + round as usize % 9];
                table.set(key, value_of(key, round, len)).unwrap();
                if round % 64 == 63 {
                    table.remove(key).unwrap();
                }
            }
            is_over.store(true, Relaxed);
        };
        let read = || {
            let mut found = 0;
            let mut is_last = false;
            while !is_last {
                is_last = is_over.load(Relaxed);
                let mut out = [OLD; 17_000];
                let by_key = table.get_to_slice(key, &mut out).unwrap();
                assert_whole_or_none(key, &out, by_key);
                out.fill(OLD);
                let by_uid = table.get_by_uid_to_slice(hint.uid(), &mut out).unwrap();
                assert_whole_or_none(key, &out, by_uid);
                found += u64::from(by_key.is_some());
            }
            assert!(found > 0);
        };
        std::thread::scope(|threads| {
            threads.spawn(read);
            threads.spawn(write);
        });
    });
}

fn assert_whole_or_none(key: &[u8], out: &[u8], len: Option<usize>) {
    match len {
        Some(len) => assert_whole(key, out, len),
        None => assert!(out.iter().all(|byte| [OLD, 0].contains(byte))),
    }
}

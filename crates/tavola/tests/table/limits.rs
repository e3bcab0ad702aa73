//! Sizes: nothing, a little more and a little less than every edge, and very much.

use crate::support::process::available_memory;
use crate::support::{Dir, assert_clean, over_every_table, value_of, version_of};
use tavola::{Error, Table};

#[test]
fn empty_keys_and_values_are_keys_and_values() {
    over_every_table(Table::options().max_size(8 << 20), |table| {
        assert_eq!(table.get(b"").unwrap(), None);
        table.set(b"", b"").unwrap();
        assert_eq!(table.get(b"").unwrap().unwrap(), b"");
        assert!(table.contains(b"").unwrap());
        assert!(!table.add(b"", b"x").unwrap());
        assert!(table.append(b"", b"tail").unwrap());
        assert_eq!(table.get(b"").unwrap().unwrap(), b"tail");
        table.set(b"\0", b"").unwrap();
        table.set(b"\0\0", b"zeroes").unwrap();
        assert_eq!(table.get(b"\0").unwrap().unwrap(), b"");
        assert_eq!(table.len().unwrap(), 3);
        assert_eq!(table.iter().map(Result::unwrap).count(), 3);
        assert_eq!(table.take(b"").unwrap().unwrap(), b"tail");
        assert!(!table.remove(b"").unwrap());
        assert!(matches!(table.incr(b"\0", 1), Err(Error::NotACounter)));
        assert_clean(table);
    });
}

/// Every size of the value up to some pages, with a short key: sets, and overwrites by the next.
#[test]
fn every_size_of_value() {
    let dir = Dir::new();
    let table = Table::options()
        .max_size(8 << 20)
        .create(dir.table("t"))
        .unwrap();
    let mut value = Vec::new();
    for len in 16..40_960 {
        let key = [b'k', (len % 3) as u8];
        let new = value_of(&key, len as u64, len);
        table.set(key, &new).unwrap();
        assert!(table.get_into(key, &mut value).unwrap());
        assert!(value == new, "{len} bytes");
        if len % 512 == 0 {
            assert_clean(&table);
        }
    }
    assert_eq!(table.len().unwrap(), 3);
    assert_clean(&table);
}

/// Every size of the key too: it is in the block, in pages, or in both.
#[test]
fn every_size_of_key() {
    let dir = Dir::new();
    let table = Table::options()
        .max_size(8 << 20)
        .create(dir.table("t"))
        .unwrap();
    for len in (0..40_960).step_by(7) {
        let key = vec![b'k'; len];
        let value = value_of(&key, 0, 16 + len % 100);
        table.set(&key, &value).unwrap();
        assert!(
            table.get(&key).unwrap().unwrap() == value,
            "a key of {len} bytes"
        );
        assert!(
            table.take(&key).unwrap().unwrap() == value,
            "a key of {len} bytes"
        );
    }
    assert!(table.is_empty().unwrap());
    assert_clean(&table);
}

/// Around the edges of pages and of what fits in one block, with the edge in the key, between the
/// two, and in the value.
#[test]
fn sizes_around_the_edges_of_pages() {
    over_every_table(Table::options().max_size(8 << 20), |table| {
        let edges = [
            16_328, 16_336, 16_344, 16_352, 16_368, 16_384, 32_752, 32_768, 49_152,
        ];
        for total in edges.into_iter().flat_map(|edge| edge - 12..edge + 12) {
            for key_len in [1, 8, total / 2, total - 16] {
                let key: Vec<u8> = (0..key_len).map(|i| (i * 7) as u8).collect();
                let value = value_of(&key, 1, total - key_len);
                table.set(&key, &value).unwrap();
                assert!(
                    table.get(&key).unwrap().unwrap() == value,
                    "{key_len} of {total}"
                );
                let longer = [&value[..], b"x"].concat();
                assert!(table.append(&key, b"x").unwrap());
                assert!(
                    table.get(&key).unwrap().unwrap() == longer,
                    "{key_len} of {total}"
                );
                assert!(table.remove(&key).unwrap());
            }
        }
        assert_clean(table);
        assert!(table.is_empty().unwrap());
    });
}

/// A key that differs from another in its last byte only, wherever that is.
#[test]
fn long_keys_are_distinguished() {
    over_every_table(Table::options().max_size(8 << 20), |table| {
        for len in [100, 16_000, 16_384, 40_000, 100_000] {
            let mut keys = [vec![1u8; len], vec![1u8; len], vec![1u8; len]];
            keys[1][len - 1] = 2;
            keys[2][0] = 2;
            for (number, key) in keys.iter().enumerate() {
                table.set(key, number.to_string().as_bytes()).unwrap();
            }
            for (number, key) in keys.iter().enumerate() {
                assert_eq!(
                    table.get(key).unwrap().unwrap(),
                    number.to_string().as_bytes()
                );
            }
            assert_eq!(table.incr(&keys[1], 41).unwrap(), 42);
            assert_eq!(table.get(&keys[1]).unwrap().unwrap(), b"42");
            for key in &keys {
                assert!(table.remove(key).unwrap());
            }
        }
        assert_clean(table);
    });
}

/// More than the 24 bits of a key's length in a header.
#[test]
fn a_key_of_more_than_sixteen_mebibytes() {
    let dir = Dir::new();
    let table = Table::options()
        .max_size(128 << 20)
        .create(dir.table("t"))
        .unwrap();
    for len in [(16 << 20) - 1, 16 << 20, (16 << 20) + 1, 20 << 20] {
        let key = value_of(b"key", 1, len);
        table.set(&key, b"value").unwrap();
        assert_eq!(table.get(&key).unwrap().unwrap(), b"value");
        let (walked, value) = table.iter().next().unwrap().unwrap();
        assert!(walked == key && value == b"value");
        // Its low 24 bits alone are another key's.
        assert_eq!(
            table.get(&key[..len & 0xFF_FFFF]).unwrap().is_some(),
            len < 16 << 20
        );
        assert_clean(&table);
        assert!(table.remove(&key).unwrap());
    }
    assert!(table.is_empty().unwrap());
}

#[test]
fn a_value_of_three_hundred_megabytes() {
    const LEN: usize = 300_000_000;
    if available_memory() < 3 << 30 {
        println!("skipped: too little memory");
        return;
    }
    let dir = Dir::new();
    let table = Table::options()
        .max_size(1 << 30)
        .create(dir.table("t"))
        .unwrap();
    let value = value_of(b"large", 1, LEN);
    table.set(b"large", &value).unwrap();
    assert!(table.get(b"large").unwrap().unwrap() == value);
    table.append(b"large", b"more").unwrap();
    let longer = table.get(b"large").unwrap().unwrap();
    assert!(longer.len() == LEN + 4 && longer.starts_with(&value) && longer.ends_with(b"more"));
    assert_clean(&table);
    assert!(table.remove(b"large").unwrap());
    let before = table.stats().unwrap().resident_bytes;
    table.compact().unwrap();
    let after = table.stats().unwrap().resident_bytes;
    assert!(
        before > LEN as u64 && after < 4 << 20,
        "{before}, then {after}"
    );
}

/// As long as key and value can be, and one byte more. Takes 9 GiB of memory, so it is done only
/// when asked for: the command is in docs/internals/testing.md.
#[test]
fn key_and_value_of_four_gibibytes() {
    const MOST: u64 = (1 << 32) - 1;
    const KEY: &[u8] = b"the longest";
    if std::env::var_os("TAVOLA_LARGEST").is_none() {
        println!("skipped: TAVOLA_LARGEST is not set");
        return;
    }
    assert!(available_memory() > 12 << 30, "too little memory");
    // Words that say where they are.
    let word = |at: u64| at.wrapping_mul(0x9E37_79B9_7F4A_7C15).to_le_bytes();
    let len = (MOST - KEY.len() as u64) as usize;
    let mut value = Vec::with_capacity(len + 8);
    let words = (len as u64 + 1).div_ceil(8);
    (0..words).for_each(|at| value.extend_from_slice(&word(at)));
    let dir = Dir::new();
    let options = Table::options().max_size(5 << 30);
    let table = options.create(dir.table("t")).unwrap();
    let error = table.set(KEY, &value[..=len]).unwrap_err();
    assert!(
        matches!(error, Error::TooLarge { bytes } if bytes == MOST + 1),
        "{error}"
    );
    assert!(table.is_empty().unwrap());
    table.set(KEY, &value[..len]).unwrap();
    // Its memory goes to the copy.
    drop(value);
    let back = table.get(KEY).unwrap().unwrap();
    assert_eq!(back.len(), len);
    for (at, bytes) in (0..).zip(back.chunks(8)) {
        assert!(bytes == &word(at)[..bytes.len()], "word {at}");
    }
    assert_clean(&table);
    assert!(table.remove(KEY).unwrap());
    assert!(table.is_empty().unwrap());
}

#[test]
fn counters_go_to_their_ends() {
    over_every_table(Table::options().max_size(8 << 20), |table| {
        table.set(b"n", u64::MAX.to_string().as_bytes()).unwrap();
        assert_eq!(table.incr(b"n", 1).unwrap(), 0);
        assert_eq!(table.decr(b"n", 1).unwrap(), 0);
        assert_eq!(table.incr(b"n", u64::MAX).unwrap(), u64::MAX);
        assert_eq!(table.get(b"n").unwrap().unwrap(), b"18446744073709551615");
        for bad in ["18446744073709551616", "-1", "1.0", "0x10", " 1", "١"] {
            table.set(b"text", bad.as_bytes()).unwrap();
            assert!(
                matches!(table.incr(b"text", 1), Err(Error::NotACounter)),
                "{bad}"
            );
            assert_eq!(table.get(b"text").unwrap().unwrap(), bad.as_bytes());
        }
        let key = vec![b'c'; 20_000];
        assert_eq!(table.incr(&key, 5).unwrap(), 5);
        assert_eq!(table.incr(&key, 5).unwrap(), 10);
        assert_eq!(table.incr_from(b"none", 1, None).unwrap(), None);
        assert_eq!(table.decr_from(b"some", 1, Some(7)).unwrap(), Some(7));
        assert_clean(table);
    });
}

/// As many keys as a small table can hold, all different in one bit or another.
#[test]
fn similar_keys() {
    over_every_table(Table::options().max_size(32 << 20), |table| {
        for number in 0..40_000u64 {
            let key = (1u128 << (number % 128) ^ u128::from(number / 128) << 100).to_le_bytes();
            table.set(key, value_of(&key, number, 16)).unwrap();
        }
        for entry in table.iter() {
            let (key, value) = entry.unwrap();
            version_of(&key, &value).unwrap();
        }
        assert_clean(table);
    });
}

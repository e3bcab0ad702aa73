//! Tags in caches: kept as long as their keys are in use, and evicted like keys.

use crate::support::assert_clean;
use tavola::{Attributes, Table};

/// Sets a key with these tags as they are now.
fn set(table: &Table, key: &[u8], value: &[u8], names: &[&str]) {
    let tags = table.fetch_tags(names).unwrap();
    let none = Attributes::default();
    table.set_tagged(key, value, none, &tags).unwrap();
}

/// Fills a cache with keys that are read soon afterwards and then never again, so that it keeps
/// them for a while and lets go of what it had kept before; reads others meanwhile.
fn crowd(table: &Table, count: u64, mut beside: impl FnMut(u64)) {
    let key = |round: u64| (round | 1 << 63).to_le_bytes();
    for round in 0..count {
        table.set(key(round), [1; 300]).unwrap();
        for back in [0, 100] {
            table.get(key(round.saturating_sub(back))).unwrap();
        }
        beside(round);
    }
}

#[test]
fn a_tag_stays_in_a_cache_as_long_as_its_keys_are_read() {
    let table = Table::options()
        .max_size(8 << 20)
        .capacity(2 << 20)
        .private()
        .unwrap();
    let key = |i: u64| format!("key {i}").into_bytes();
    for i in 0..200 {
        set(
            &table,
            &key(i),
            &[7; 300],
            &["once", if i % 2 == 0 { "even" } else { "odd" }],
        );
        table.get(key(i)).unwrap().unwrap();
        table.get(key(i)).unwrap().unwrap();
    }
    crowd(&table, 100_000, |round| {
        drop(table.get(key(round % 200)).unwrap())
    });
    let there = (0..200)
        .filter(|i| table.contains(key(*i)).unwrap())
        .count();
    assert!(there > 190, "{there} of 200");
    assert!(table.invalidate_tag(b"odd").unwrap());
    let there = (0..200)
        .filter(|i| table.contains(key(*i)).unwrap())
        .count();
    assert!((90..=100).contains(&there), "{there} of 200");
    assert_clean(&table);
}

#[test]
fn tags_that_nobody_uses_do_not_fill_a_cache() {
    let table = Table::options()
        .max_size(8 << 20)
        .capacity(1 << 20)
        .private()
        .unwrap();
    for i in 0..60_000u64 {
        let name = format!("user {i}");
        set(&table, &i.to_le_bytes(), &[7; 100], &[&name]);
    }
    let stats = table.stats().unwrap();
    println!("{} tags, {} keys", stats.tags, stats.keys);
    assert!(stats.tags < 10_000 && stats.keys > 1000);
    assert!(stats.resident_bytes <= 1 << 20);
    assert_clean(&table);
}

/// Tags that a program takes once and keeps live as long as it sets keys with them.
#[test]
fn a_tag_stays_in_a_cache_as_long_as_keys_are_set_with_it() {
    let table = Table::options()
        .max_size(8 << 20)
        .capacity(2 << 20)
        .private()
        .unwrap();
    let tags = table.fetch_tags(&["site", "news"]).unwrap();
    let key = |i: u64| i.to_le_bytes();
    for i in 0..100_000 {
        let none = Attributes::default();
        table.set_tagged(key(i), [1; 100], none, &tags).unwrap();
        assert!(table.contains(key(i)).unwrap(), "key {i}");
        if i > 1_000 && i % 1_000 == 0 {
            let of_late = (i - 1_000)..i;
            let there = of_late.filter(|i| table.contains(key(*i)).unwrap());
            assert!(there.count() > 500, "at key {i}");
        }
    }
    assert!(table.stats().unwrap().evicted_new > 50_000);
    assert_clean(&table);
}

/// All that is evicted is evicted where the tag is, and its key is in a shard where nothing
/// happens, and known there to be read all the time.
#[test]
fn a_tag_stays_in_a_cache_while_its_key_is_read_in_another_shard() {
    let table = Table::options()
        .max_size(64 << 20)
        .shards(4)
        .capacity(8 << 20)
        .private()
        .unwrap();
    let keys = |range: std::ops::Range<u64>| range.map(|i| i.to_le_bytes());
    for (n, key) in keys(0..32).enumerate() {
        set(&table, &key, &[1; 100], &[&format!("tag {n}")]);
    }
    let of_shard = |number: u32| {
        let before = table.shard_stats().unwrap();
        move |after: &[tavola::ShardStats]| {
            after[number as usize].keys > before[number as usize].keys
        }
    };
    // Keys of the first shard alone.
    let mut busy = Vec::new();
    for key in keys(1_000..9_000) {
        let is_one = of_shard(0);
        table.set(key, b"").unwrap();
        if is_one(&table.shard_stats().unwrap()) {
            busy.push(key);
        }
        table.remove(key).unwrap();
    }
    assert!(busy.len() > 1_000);
    for round in 0..20 {
        for (n, key) in busy.iter().enumerate() {
            table.set(key, [round; 6_000]).unwrap();
            if n % 50 == 0 {
                for key in keys(0..32) {
                    assert!(table.get(key).unwrap().is_some(), "{key:?} in {round}");
                }
            }
        }
    }
    assert!(table.stats().unwrap().evicted_new > 10_000);
    assert_clean(&table);
}

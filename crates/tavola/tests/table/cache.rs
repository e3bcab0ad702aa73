//! Caches: within their capacity whatever is written, never full, and without what nobody reads.

use crate::support::{Dir, Random, assert_clean, rounds, value_of, version_of};
use std::time::Duration;
use tavola::{Error, Expiry, Options, Table};

const MIB: u64 = 1 << 20;
/// Longer than freed pages are kept for readers that may still look at them.
const GRACE_PERIOD: Duration = Duration::from_millis(2100);

fn cache(dir: &Dir, bytes: u64) -> Table {
    let options = Table::options().capacity(bytes);
    options.create(dir.table("cache")).unwrap()
}

fn resident(table: &Table) -> u64 {
    table.stats().unwrap().resident_bytes
}

fn assert_within(table: &Table, capacity: u64) {
    let resident = resident(table);
    assert!(resident <= capacity, "{resident} bytes of {capacity}");
}

/// Writes so many bytes of keys that were never there, with values of some lengths. One that was
/// just written may be the next to go, rarely.
fn fill(table: &Table, bytes: u64, random: &mut Random, len: impl Fn(&mut Random) -> usize) {
    let (mut written, mut writes, mut gone) = (0, 0, 0);
    while written < bytes {
        let key = random.next().to_le_bytes();
        let value = value_of(&key, 1, len(random));
        table.set(key, &value).unwrap();
        match table.get(key).unwrap() {
            Some(found) => assert_eq!(found, value),
            None => gone += 1,
        }
        written += (key.len() + value.len()) as u64;
        writes += 1;
    }
    assert!(gone * 100 <= writes, "{gone} of {writes} were gone at once");
}

#[test]
fn it_stays_within_its_capacity() {
    for capacity in [MIB, 2 * MIB, 8 * MIB, 17 * MIB] {
        for len in [16, 100, 1000, 10_000, 100_000] {
            let dir = Dir::new();
            let table = cache(&dir, capacity);
            let mut random = Random::new(capacity + len as u64);
            for _ in 0..4 {
                fill(&table, capacity / 2, &mut random, |_| len);
                assert_within(&table, capacity);
            }
            let stats = table.stats().unwrap();
            let share = stats.payload_bytes as f64 / capacity as f64;
            println!(
                "{capacity} bytes, values of {len}: {} keys, {share:.3} payload, index {:.2}",
                stats.keys, stats.index_load
            );
            assert!(stats.evicted_new + stats.evicted_old > 0);
            assert_eq!(stats.capacity, Some(capacity));
            assert_clean(&table);
            for entry in table.iter() {
                let (key, value) = entry.unwrap();
                assert_eq!(version_of(&key, &value), Some(1));
            }
        }
    }
}

/// Lengths whose logarithms are evenly spread.
fn any_len(random: &mut Random, most: f64) -> usize {
    let part = random.below(1 << 20) as f64 / (1 << 20) as f64;
    (20.0 * (most / 20.0).powf(part)) as usize
}

/// For longer with more rounds: `TAVOLA_CHURN`.
#[test]
fn values_of_all_lengths_do_not_fragment_it() {
    let rounds = std::env::var("TAVOLA_CHURN").map_or(rounds(24), |count| count.parse().unwrap());
    let dir = Dir::new();
    let capacity = 64 * MIB;
    let table = cache(&dir, capacity);
    let mut random = Random::new(1);
    let mut least = 1.0f64;
    for round in 0..rounds {
        // The mean length changes, so that pages have to change their class.
        let most = if round % 2 == 0 { 1e6 } else { 1e3 };
        fill(&table, capacity / 2, &mut random, |r| any_len(r, most));
        assert_within(&table, capacity);
        let share = table.stats().unwrap().payload_bytes as f64 / capacity as f64;
        println!("round {round}: {share:.3} payload");
        if round >= 2 {
            least = least.min(share);
        }
    }
    assert_clean(&table);
    assert!(least >= 0.85, "{least} of the capacity is payload");
}

#[test]
fn a_scan_does_not_push_out_what_is_read() {
    let dir = Dir::new();
    let table = cache(&dir, 8 * MIB);
    let hot = |number: u64| [b"hot".as_slice(), &number.to_le_bytes()].concat();
    for number in 0..10_000 {
        table.set(hot(number), [1; 100]).unwrap();
    }
    let (mut random, mut lost) = (Random::new(2), 0);
    for number in 0..1_000_000u64 {
        table.set(number.to_le_bytes(), [2; 100]).unwrap();
        let key = hot(random.below(10_000));
        if table.get(&key).unwrap().is_none() {
            lost += 1;
            table.set(&key, [1; 100]).unwrap();
        }
    }
    let stats = table.stats().unwrap();
    println!("{lost} of 1,000,000 reads missed; {stats:?}");
    assert!(lost < 20_000, "{lost} misses");
    assert!(stats.evicted_new > 900_000, "{}", stats.evicted_new);
}

/// Each participant counts by itself; what one that is gone has counted stays.
#[test]
fn small_keys_in_use_stay_among_a_few_large_values() {
    let dir = Dir::new();
    let table = cache(&dir, 32 * MIB);
    let large = vec![7; 3_000_000];
    let small: Vec<_> = (0..20).map(|number| format!("small-{number}")).collect();
    for key in &small {
        table.set(key, []).unwrap();
    }
    for round in 1..300_u64 {
        table.set(round.to_le_bytes(), &large).unwrap();
        for key in &small {
            let value = vec![0; 10 * round as usize];
            assert!(table.replace(key, &value).unwrap(), "{key}, {round}");
            assert_eq!(table.get(key).unwrap().unwrap(), value);
        }
    }
}

#[test]
fn reads_and_writes_are_counted() {
    let dir = Dir::new();
    let table = cache(&dir, 8 * MIB);
    for number in 0..1000u32 {
        table.set(number.to_le_bytes(), b"value").unwrap();
    }
    let other = Table::open(dir.table("cache")).unwrap();
    let keys: Vec<_> = (900..1100u32).map(u32::to_le_bytes).collect();
    other.get_many(&keys, |_, _| ()).unwrap();
    other.remove(b"missing").unwrap();
    drop(other);
    assert!(table.get(keys[0]).unwrap().is_some());
    assert!(table.get(b"missing").unwrap().is_none());
    assert!(table.remove(keys[0]).unwrap());
    let stats = table.stats().unwrap();
    let counts = (stats.hits, stats.misses, stats.writes);
    assert_eq!(counts, (101, 101, 1002));
    assert_eq!((stats.sets, stats.removes), (1000, 2));
    let plain = Table::options().create(dir.table("plain")).unwrap();
    plain.set(b"key", b"value").unwrap();
    plain.get(b"key").unwrap();
    plain.remove(b"key").unwrap();
    let stats = plain.stats().unwrap();
    assert_eq!((stats.hits, stats.misses, stats.writes), (0, 0, 0));
    assert_eq!((stats.sets, stats.removes), (0, 0));
}

#[test]
fn a_key_that_comes_back_is_protected() {
    let key = |number: u32| number.to_le_bytes();
    let (mut known, mut gone) = (0, 0);
    // How many ghosts there is room for depends on where a table's seed puts the keys.
    for _ in 0..6 {
        let dir = Dir::new();
        let table = cache(&dir, 2 * MIB);
        for number in 0..40_000 {
            table.set(key(number), [0; 100]).unwrap();
        }
        let evicted: Vec<u32> = (25_000..35_000)
            .filter(|number| !table.contains(key(*number)).unwrap())
            .collect();
        assert!(!evicted.is_empty());
        for number in &evicted {
            table.set(key(*number), [0; 100]).unwrap();
        }
        known += table.stats().unwrap().ghost_hits;
        gone += evicted.len() as u64;
    }
    println!("{known} of {gone} were known");
    assert!(known * 2 > gone);
}

#[test]
fn words_and_counters_that_are_changed_in_place_are_in_use() {
    let dir = Dir::new();
    let table = cache(&dir, 2 * MIB);
    for round in 0..200_000u64 {
        table.incr(b"counter", 1).unwrap();
        table.set(b"a word..", round.to_le_bytes()).unwrap();
        table.set(round.to_be_bytes(), [0; 100]).unwrap();
    }
    assert_eq!(table.get(b"counter").unwrap().unwrap(), b"200000");
    assert!(table.contains(b"a word..").unwrap());
}

/// Keys that nobody reads, only touches.
#[test]
fn keys_that_are_touched_are_in_use() {
    let dir = Dir::new();
    let table = cache(&dir, 2 * MIB);
    let hour = Duration::from_secs(3600);
    let names: [&[u8]; 3] = [b"endless", b"timed", b"touched and read"];
    for name in names {
        table.set(name, [1; 100]).unwrap();
    }
    for round in 0..200_000u64 {
        assert!(table.touch(names[0], Expiry::Never).unwrap(), "{round}");
        assert!(table.touch(names[1], Expiry::After(hour)).unwrap());
        let touched = table.get_and_touch(names[2], Expiry::After(hour)).unwrap();
        assert_eq!(touched.unwrap().value, [1; 100]);
        table.set(round.to_be_bytes(), [0; 100]).unwrap();
    }
    let stats = table.stats().unwrap();
    assert!(stats.evicted_new > 100_000);
    assert_eq!((stats.hits, stats.misses), (200_000, 0));
}

#[test]
fn a_smaller_capacity_is_reached_step_by_step() {
    let dir = Dir::new();
    let table = cache(&dir, 32 * MIB);
    let mut random = Random::new(3);
    fill(&table, 64 * MIB, &mut random, |_| 1000);
    let before = table.len().unwrap();
    table.set_capacity(16 * MIB).unwrap();
    // One large value does not pay for all of it.
    table.set(b"large", vec![7; 2 << 20]).unwrap();
    let after = table.len().unwrap();
    println!("{before} keys, {after} after a large value");
    assert!(after * 4 > before * 3, "{after} of {before} keys are left");
    fill(&table, 128 * MIB, &mut random, |_| 1000);
    std::thread::sleep(GRACE_PERIOD);
    fill(&table, 16 * MIB, &mut random, |_| 1000);
    assert_within(&table, 16 * MIB + MIB / 2);
    // And at once.
    table.set_capacity(4 * MIB).unwrap();
    table.maintain(0).unwrap();
    std::thread::sleep(GRACE_PERIOD);
    table.maintain(0).unwrap();
    assert_within(&table, 4 * MIB);
    assert!(table.len().unwrap() > 1000);
    assert_clean(&table);
    table.set_capacity(32 * MIB).unwrap();
    fill(&table, 64 * MIB, &mut random, |_| 1000);
    assert!(table.len().unwrap() * 10 > before * 9);
    assert_within(&table, 32 * MIB);
    assert_clean(&table);
}

#[test]
fn what_it_cannot_be_is_refused() {
    let dir = Dir::new();
    let is_refused = |error: Option<Error>| {
        println!("{error:?}");
        assert!(matches!(
            error,
            Some(Error::BadOption {
                option: "capacity",
                ..
            })
        ));
    };
    let create = |options: Options| options.create(dir.table("t")).err();
    is_refused(create(Table::options().capacity(0)));
    is_refused(create(Table::options().capacity(100_000)));
    is_refused(create(Table::options().capacity(9 << 40)));
    is_refused(create(Table::options().capacity(8 * MIB).max_size(4 * MIB)));
    let table = Table::options().create(dir.table("table")).unwrap();
    assert_eq!(table.capacity().unwrap(), None);
    is_refused(table.set_capacity(8 * MIB).err());
    let table = cache(&dir, 8 * MIB);
    is_refused(table.set_capacity(1000).err());
    is_refused(table.set_capacity(1 << 40).err());
    assert_eq!(table.capacity().unwrap(), Some(8 * MIB));
    let only_read = Table::open_read_only(dir.table("cache")).unwrap();
    assert!(matches!(
        only_read.set_capacity(16 * MIB),
        Err(Error::ReadOnly)
    ));
}

/// What is too large for the cache is refused, and not all else thrown away for it first.
#[test]
fn a_value_larger_than_the_cache_is_refused() {
    let dir = Dir::new();
    let table = cache(&dir, 4 * MIB);
    fill(&table, 8 * MIB, &mut Random::new(4), |_| 1000);
    let before = table.len().unwrap();
    assert!(matches!(
        table.set(b"large", vec![1; 8 << 20]),
        Err(Error::Full { .. })
    ));
    let after = table.len().unwrap();
    println!("{before} keys before, {after} after");
    assert!(after * 10 > before * 9);
    assert_clean(&table);
}

/// Its end is reached before its capacity.
#[test]
fn a_capacity_that_the_table_cannot_grow_to() {
    let dir = Dir::new();
    let options = Table::options().capacity(4 * MIB).max_size(4 * MIB);
    let table = options.create(dir.table("small")).unwrap();
    for len in [100, 16, 20_000, 100] {
        fill(&table, 8 * MIB, &mut Random::new(len), |_| len as usize);
    }
    assert_within(&table, 4 * MIB);
    assert_clean(&table);
}

/// Where a key of zeros was, a ghost must not lead a reader to bytes that are all zeros.
#[test]
fn an_evicted_key_of_zeros_is_missing() {
    for is_fixed in [false, true] {
        let options = Table::options().capacity(MIB).max_size(64 * MIB);
        let options = if is_fixed {
            options.fixed(8, 8)
        } else {
            options
        };
        let table = options.private().unwrap();
        let zeros: &[u8] = if is_fixed { &[0; 8] } else { b"" };
        let (mut evicted, mut number) = (0, 1u64);
        for _ in 0..12 {
            table.set(zeros, [1; 8]).unwrap();
            for _ in 0..25_000 {
                table.set(number.to_le_bytes(), [2; 8]).unwrap();
                number += 1;
            }
            let found = table.get(zeros).unwrap().is_some();
            let mut in_batch = None;
            let each = |_, value: Option<&[u8]>| in_batch = Some(value.is_some());
            table.get_many(&[zeros], each).unwrap();
            assert_eq!(in_batch, Some(found));
            assert_eq!(table.contains(zeros).unwrap(), found);
            assert_ne!(table.add(zeros, [1; 8]).unwrap(), found);
            evicted += u32::from(!found);
            table.remove(zeros).unwrap();
        }
        assert!(evicted > 0);
    }
}

#[test]
fn many_threads_at_the_limit() {
    let dir = Dir::new();
    let table = cache(&dir, 8 * MIB);
    std::thread::scope(|scope| {
        for thread in 0..4u64 {
            let table = &table;
            scope.spawn(move || {
                let mut random = Random::new(thread);
                for _ in 0..100_000 {
                    let key = random.below(200_000).to_le_bytes();
                    match random.below(10) {
                        0 => drop(table.remove(key).unwrap()),
                        1..4 => {
                            let len = 20 + random.below(200) as usize;
                            table.set(key, value_of(&key, 1, len)).unwrap();
                        }
                        _ => {
                            if let Some(value) = table.get(key).unwrap() {
                                assert!(version_of(&key, &value).is_some());
                            }
                        }
                    }
                }
            });
        }
    });
    assert_within(&table, 8 * MIB);
    assert_clean(&table);
}

#[test]
fn fixed_lengths_are_evicted_too() {
    let dir = Dir::new();
    let options = Table::options().fixed(8, 32).capacity(2 * MIB);
    let table = options.create(dir.table("fixed")).unwrap();
    for number in 0..200_000u64 {
        table.set(number.to_le_bytes(), [1; 32]).unwrap();
    }
    assert_within(&table, 2 * MIB);
    let keys = table.len().unwrap();
    println!("{keys} keys");
    assert!(keys > 20_000, "{keys}");
    assert_clean(&table);
}

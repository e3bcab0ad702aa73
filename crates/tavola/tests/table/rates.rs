//! What is reported of a table while it is used: rates of the last seconds, how long calls take,
//! and what each shard does.

use crate::support::{Dir, over_every_table};
use std::time::{Duration, Instant};
use tavola::{Attributes, Expiry, Latencies, ShardStats, Stats, Table};

const MIB: u64 = 1 << 20;

/// What was counted and is not reported twice.
fn counts(stats: &Stats) -> [u64; 3] {
    [stats.hits, stats.misses, stats.writes]
}

fn recent_counts(stats: &Stats) -> [u64; 3] {
    let last = stats.recent[0];
    [last.hits, last.misses, last.writes]
}

#[test]
fn recent_rates_are_reported_to_all() {
    let in_time = (0..100).any(|_| check_recent_rates());
    assert!(in_time, "the machine is never fast enough");
}

/// False: it took so long that a sample in between may be of the last second.
fn check_recent_rates() -> bool {
    let begun = Instant::now();
    let dir = Dir::new();
    let path = dir.table("cache");
    let table = Table::options().capacity(4 * MIB).create(&path).unwrap();
    let young = table.stats().unwrap();
    // Whatever it is of, it is not of more than there ever was.
    for one in young.recent {
        assert_eq!((one.hits, one.misses, one.writes), (0, 0, 0));
        assert_eq!(one.hit_ratio(), None);
    }
    // Fewer of each than are followed by a look at the clock.
    for number in 0..30u32 {
        table.set(number.to_le_bytes(), b"value").unwrap();
    }
    for number in 0..40u32 {
        table.get(number.to_le_bytes()).unwrap();
    }
    std::thread::sleep(Duration::from_millis(700));
    let only_reads = Table::open_read_only(&path).unwrap();
    let other = Table::open(&path).unwrap();
    let readers = [&only_reads, &other, &table];
    let stats_of_readers = readers.map(|reader| reader.stats().unwrap());
    if begun.elapsed() > Duration::from_millis(1400) {
        return false;
    }
    for stats in stats_of_readers {
        assert_eq!(counts(&stats), [30, 10, 30]);
        assert_eq!(recent_counts(&stats), [30, 10, 30]);
        let last = stats.recent[0];
        assert_eq!(
            (last.wanted, last.hit_ratio()),
            (Duration::from_secs(1), Some(0.75))
        );
        assert!(last.spanned >= Duration::from_millis(690), "{last:?}");
    }
    let of_all = table.participants().unwrap();
    let sums = of_all.iter().fold([0; 3], |sums, one| {
        [
            sums[0] + one.hits,
            sums[1] + one.misses,
            sums[2] + one.writes,
        ]
    });
    assert_eq!(sums, [30, 10, 30]);
    true
}

#[test]
fn samples_of_many_threads_never_count_more_than_was_done() {
    let dir = Dir::new();
    let options = Table::options().capacity(4 * MIB);
    let table = options.create(dir.table("cache")).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..3u32 {
            let table = &table;
            scope.spawn(move || {
                for number in 0..200_000u32 {
                    let key = (number % 5000 + thread).to_le_bytes();
                    if table.get(key).unwrap().is_none() {
                        table.set(key, [1; 100]).unwrap();
                    }
                }
            });
        }
        for _ in 0..50 {
            let stats = table.stats().unwrap();
            for one in stats.recent {
                assert!(
                    one.hits <= stats.hits && one.misses <= stats.misses,
                    "{stats:?}"
                );
                assert!(one.writes <= stats.writes, "{stats:?}");
                assert!(one.evicted <= stats.evicted_new + stats.evicted_old);
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    });
    let stats = table.stats().unwrap();
    assert_eq!(stats.hits + stats.misses, 600_000);
    let latencies = table.latencies().unwrap();
    let timed: u64 = latencies.reads.iter().map(|(_, count)| count).sum();
    // One after each so many hits, and misses; more where threads came at the same moment.
    let least = 600_000 / u64::from(Latencies::EVERY) - 4;
    assert!((least..20 * least).contains(&timed), "{timed} of {least}");
    let quantiles = [0.5, 0.99].map(|part| Latencies::quantile_ns(&latencies.reads, part));
    assert!(
        quantiles[0] > Some(0) && quantiles[0] <= quantiles[1],
        "{quantiles:?}"
    );
}

fn sum(table: &Table, of: impl Fn(&ShardStats) -> u64) -> u64 {
    table.shard_stats().unwrap().iter().map(of).sum()
}

#[test]
fn shards_report_contents_and_changes() {
    over_every_table(Table::options().max_size(64 * MIB), |table| {
        let stats = table.stats().unwrap();
        let shards = table.shard_stats().unwrap();
        let numbers: Vec<u32> = shards.iter().map(|one| one.number).collect();
        assert_eq!(numbers, (0..stats.shards).collect::<Vec<_>>());
        let mut writes = 0;
        let mut expect = |more, what: &str| {
            writes += more;
            assert_eq!(sum(table, |one| one.writes), writes, "{what}");
        };
        expect(0, "a new table");
        for number in 0..100u64 {
            table.set(number.to_le_bytes(), b"some value").unwrap();
        }
        expect(100, "keys are set");
        table.set(1u64.to_le_bytes(), b"another one").unwrap();
        table.set(b"a word..", [1; 8]).unwrap();
        table.set(b"a word..", [2; 8]).unwrap();
        expect(3, "keys are changed");
        table.incr(b"counter", 1).unwrap();
        table.incr(b"counter", 1).unwrap();
        expect(2, "a counter is");
        table
            .touch(b"counter", Expiry::After(Duration::from_secs(60)))
            .unwrap();
        table.set(b"large", [3; 50_000]).unwrap();
        expect(2, "a time, a large value");
        assert!(table.remove(b"large").unwrap());
        expect(1, "a key is removed");
        table.remove(b"large").unwrap();
        table.get(b"counter").unwrap();
        assert!(!table.add(b"counter", b"1").unwrap());
        expect(0, "nothing is changed");
        let attributes = Attributes::default();
        table.set_with(b"large", [4; 50_000], attributes).unwrap();
        expect(1, "it comes back");
        assert_eq!(sum(table, |one| one.keys), table.len().unwrap());
        let payload = table.stats().unwrap().payload_bytes;
        assert_eq!(sum(table, |one| one.payload_bytes), payload);
        assert_eq!(sum(table, |one| one.evicted + u64::from(one.recoveries)), 0);
    });
}

#[test]
fn shards_report_evictions() {
    let options = Table::options().capacity(MIB).max_size(16 * MIB).shards(4);
    let table = options.private().unwrap();
    for number in 0..50_000u32 {
        table.set(number.to_le_bytes(), [1; 100]).unwrap();
    }
    let stats = table.stats().unwrap();
    let evicted = stats.evicted_new + stats.evicted_old;
    assert!(evicted > 10_000);
    assert_eq!(sum(&table, |one| one.evicted), evicted);
    assert_eq!(sum(&table, |one| one.writes), 50_000);
}

//! How much memory a full cache takes: its capacity, less a page, and never more.

use crate::support::{Dir, Random, assert_clean};
use tavola::Table;

const MIB: u64 = 1 << 20;
/// What memory is given out by.
const PAGE: u64 = 16 << 10;

/// Gives the length of the next value.
type Length = fn(&mut Random) -> usize;

/// Writes a quarter of the capacity, in keys that were never there.
fn fill(table: &Table, capacity: u64, random: &mut Random, len: Length) {
    let value = [7; 100_000];
    let mut written = 0;
    while written < capacity / 4 {
        let (key, len) = (random.next().to_le_bytes(), len(random));
        table.set(key, &value[..len]).unwrap();
        written += (key.len() + len) as u64;
    }
}

#[test]
fn a_full_cache_takes_what_it_may_and_no_more() {
    let lengths: [(&str, Length); 5] = [
        ("8", |_| 8),
        ("100", |_| 100),
        ("1,000", |_| 1000),
        ("20 to 20,480", |random| 20 << random.below(11)),
        ("100,000", |_| 100_000),
    ];
    for mib in [1, 2, 3, 8, 33] {
        for (name, len) in lengths {
            let (dir, capacity) = (Dir::new(), mib * MIB);
            let options = Table::options().capacity(capacity);
            let table = options.create(dir.table("cache")).unwrap();
            let mut random = Random::new(mib);
            // Until it has evicted half of what it holds it may still be growing.
            (0..8).for_each(|_| fill(&table, capacity, &mut random, len));
            let (mut least, mut most) = (u64::MAX, 0);
            for _ in 0..8 {
                fill(&table, capacity, &mut random, len);
                let stats = table.stats().unwrap();
                assert!(stats.evicted_new + stats.evicted_old > 0);
                least = least.min(stats.resident_bytes);
                most = most.max(stats.resident_bytes);
            }
            let share = |bytes| 100.0 * bytes as f64 / capacity as f64;
            let (from, to) = (share(least), share(most));
            println!("{mib} MiB, values of {name}: {from:.2} to {to:.2} %");
            assert!(most <= capacity, "{most} of {capacity}");
            assert!(least + PAGE > capacity, "{least} of {capacity}");
            // The smallest has 64 pages, of which one is more than a hundredth.
            assert!(from >= 99.0 || mib == 1, "{from} %");
            assert_clean(&table);
        }
    }
}

//! Memory comes back: after many keys came and went, a table takes about as much as a fresh one,
//! by what later operations do on the side, or at once by compacting.

use crate::support::{Dir, Random, assert_clean};
use std::time::Duration;
use tavola::{Options, Table};

const KEYS: u64 = 2_000_000;
/// Later operations that memory may take to come back.
const LATER: u64 = 400_000;
/// Longer than freed pages are kept for readers that may still look at them.
const GRACE_PERIOD: Duration = Duration::from_millis(2100);

fn resident(table: &Table) -> u64 {
    table.stats().unwrap().resident_bytes
}

/// A fresh table with a handful of keys, and what it takes. Another would not do to compare with:
/// its seed sends the handful to more shards or to fewer.
fn fresh(dir: &Dir, options: &Options) -> (Table, u64) {
    let table = options.create(dir.table("t")).unwrap();
    touch_a_handful(&table, 100);
    let takes = resident(&table);
    (table, takes)
}

fn touch_a_handful(table: &Table, writes: u64) {
    for write in 0..writes {
        table
            .set((write % 5).to_be_bytes(), write.to_le_bytes())
            .unwrap();
    }
}

fn come_and_go(table: &Table) -> u64 {
    for number in 0..KEYS {
        table
            .set(number.to_le_bytes(), number.to_le_bytes())
            .unwrap();
    }
    let most = resident(table);
    assert!(most > KEYS * 20, "{most} bytes");
    for number in 0..KEYS {
        assert!(table.remove(number.to_le_bytes()).unwrap());
    }
    most
}

fn assert_is_back(table: &Table, fresh: u64, what: &str) {
    let now = resident(table);
    println!("{what}: {now} bytes, fresh {fresh}");
    assert!(now * 10 <= fresh * 11, "{what}: {now} bytes, fresh {fresh}");
    assert_clean(table);
}

/// The README says so.
#[test]
fn a_fresh_table_takes_less_than_a_mebibyte_whatever_its_size() {
    let dir = Dir::new();
    for max_size in [1 << 20, 64 << 20, 64 << 30, 4 << 40] {
        let options = Table::options().max_size(max_size);
        let table = options.create(dir.table(&max_size.to_string())).unwrap();
        let takes = resident(&table);
        println!("{max_size} bytes at most: {takes}");
        assert!((1..1 << 20).contains(&takes), "{max_size}: {takes}");
    }
}

#[test]
fn later_operations_bring_it_back() {
    let dir = Dir::new();
    let (table, fresh) = fresh(&dir, &Table::options());
    let most = come_and_go(&table);
    println!("at most {most} bytes");
    std::thread::sleep(GRACE_PERIOD);
    for step in 1..=4 {
        touch_a_handful(&table, LATER / 8);
        println!(
            "after {} operations {} bytes",
            step * LATER / 8,
            resident(&table)
        );
    }
    // What those operations freed has its grace too.
    std::thread::sleep(GRACE_PERIOD);
    touch_a_handful(&table, LATER / 2);
    assert_is_back(&table, fresh, "after later operations");
}

#[test]
fn compacting_brings_it_back_at_once() {
    let dir = Dir::new();
    let (table, fresh) = fresh(&dir, &Table::options());
    come_and_go(&table);
    table.compact().unwrap();
    assert_is_back(&table, fresh, "compacted");
}

/// Many keys gone, some left all over the pages: those are moved together.
#[test]
fn compacting_moves_the_rest_together() {
    let dir = Dir::new();
    let options = Table::options().max_size(1 << 30);
    let table = options.create(dir.table("t")).unwrap();
    let mut random = Random::new(5);
    for number in 0..400_000u64 {
        table
            .set(number.to_le_bytes(), number.to_le_bytes())
            .unwrap();
    }
    let mut kept = Vec::new();
    for number in 0..400_000u64 {
        if random.below(20) == 0 {
            kept.push(number);
        } else {
            table.remove(number.to_le_bytes()).unwrap();
        }
    }
    table.compact().unwrap();
    let with_few = options.create(dir.table("few")).unwrap();
    for number in &kept {
        with_few
            .set(number.to_le_bytes(), number.to_le_bytes())
            .unwrap();
    }
    let (now, few) = (resident(&table), resident(&with_few));
    println!(
        "{} keys of 400000 left: {now} bytes, those alone {few}",
        kept.len()
    );
    assert!(
        now * 10 <= few * 15,
        "{now} bytes, the same keys alone {few}"
    );
    for number in kept {
        assert_eq!(
            table.get(number.to_le_bytes()).unwrap().unwrap(),
            number.to_le_bytes()
        );
    }
    assert_clean(&table);
}

/// Of fewer pages than the page table has words for from the start: those are never given back.
#[test]
fn large_values_come_back() {
    let dir = Dir::new();
    let (table, fresh) = fresh(&dir, &Table::options().max_size(1 << 30));
    let value = vec![7; 1 << 20];
    for number in 0..100u64 {
        table.set(number.to_le_bytes(), &value).unwrap();
    }
    assert!(resident(&table) > 100 << 20);
    for number in 0..100u64 {
        assert!(table.remove(number.to_le_bytes()).unwrap());
    }
    std::thread::sleep(GRACE_PERIOD);
    touch_a_handful(&table, LATER);
    std::thread::sleep(GRACE_PERIOD);
    touch_a_handful(&table, LATER / 4);
    assert_is_back(&table, fresh, "after 1 MiB values");
}

/// Overwriting does not grow a table.
#[test]
fn overwriting_takes_no_more_and_more() {
    let dir = Dir::new();
    let options = Table::options().max_size(256 << 20);
    let table = options.create(dir.table("t")).unwrap();
    let mut random = Random::new(6);
    let mut after = Vec::new();
    for _ in 0..6 {
        for _ in 0..30_000 {
            let len = random.below(3_000) as usize;
            table
                .set(random.below(2_000).to_le_bytes(), vec![1; len])
                .unwrap();
        }
        after.push(resident(&table));
    }
    println!("{after:?}");
    assert!(after[5] * 10 <= after[1] * 13, "{after:?}");
    assert_clean(&table);
}

/// An update has the old and the new bytes at once, and no more than that.
#[test]
fn one_key_written_over_and_over_needs_one_page() {
    let dir = Dir::new();
    let table = Table::options()
        .max_size(1 << 20)
        .create(dir.table("t"))
        .unwrap();
    touch_a_handful(&table, 10);
    let before = resident(&table);
    for round in 0..200_000u64 {
        table.set(b"key", round.to_le_bytes()).unwrap();
    }
    assert!(
        resident(&table) <= before + (64 << 10),
        "{before}, then {}",
        resident(&table)
    );
}

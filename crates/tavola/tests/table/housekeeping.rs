//! Housekeeping beside writes: every table gets its share, whichever tables a thread writes to.

use crate::support::Dir;
use crate::support::patience::let_pass;
use std::time::Duration;
use tavola::{Attributes, Table};

const KEYS: u64 = 2000;
/// Many times what it takes to search one shard through.
const WRITES: u64 = 200_000;

fn with_expired_keys(dir: &Dir, name: &str) -> Table {
    let options = Table::options().max_size(16 << 20).shards(1);
    let table = options.create(dir.table(name)).unwrap();
    for number in 0..KEYS {
        let key = number.to_le_bytes();
        let soon = Attributes::ttl(Duration::from_millis(1));
        table.set_with(key, b"short-lived", soon).unwrap();
    }
    table
}

/// Writes to the tables in turn until the expired keys of each are reclaimed.
fn writes_reclaim(tables: &[Table], runs: &[u64]) {
    let keys = |table: &Table| table.shard_stats().unwrap()[0].keys;
    let is_done = |table: &Table| keys(table) <= 1;
    for round in 0..WRITES {
        for (table, run) in tables.iter().zip(runs) {
            (0..*run).for_each(|_| table.set(b"key", b"value").unwrap());
        }
        if round % 1000 == 999 && tables.iter().all(is_done) {
            return;
        }
    }
    let left: Vec<u64> = tables.iter().map(keys).collect();
    panic!("expired keys are left: {left:?}");
}

#[test]
fn each_of_two_tables_that_a_thread_writes_to_in_turn_reclaims_its_expired_keys() {
    for runs in [[1, 1], [1, 63], [32, 32], [3, 61]] {
        let dir = Dir::new();
        let tables = ["a", "b"].map(|name| with_expired_keys(&dir, name));
        let_pass(Duration::from_millis(10));
        writes_reclaim(&tables, &runs);
    }
}

#[test]
fn so_does_each_of_four() {
    let dir = Dir::new();
    let tables = ["a", "b", "c", "d"].map(|name| with_expired_keys(&dir, name));
    let_pass(Duration::from_millis(10));
    writes_reclaim(&tables, &[1, 1, 1, 1]);
}

#[test]
fn threads_that_write_a_few_times_each_count_together() {
    let dir = Dir::new();
    let table = with_expired_keys(&dir, "t");
    let_pass(Duration::from_millis(10));
    for _ in 0..20_000 {
        let write = || (0..3).for_each(|_| table.set(b"key", b"value").unwrap());
        std::thread::scope(|scope| {
            scope.spawn(write);
        });
        if table.shard_stats().unwrap()[0].keys <= 1 {
            return;
        }
    }
    panic!("expired keys are left");
}

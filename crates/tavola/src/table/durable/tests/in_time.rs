//! Syncs within a time, whatever else the threads of a handle do.

use super::super::keeper::start_keeper;
use super::{Home, SimulatedHome, Table, create_of, home_of};
use crate::journal::{head, tail};
use crate::sync::Ordering;
use crate::values::Durability;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

const WITHIN: Durability = Durability::Within(Duration::from_millis(10));
/// Only a hang takes longer.
const MINUTE: Duration = Duration::from_secs(60);

/// Returns whether all records are synced in the end.
fn is_synced(table: &Table) -> bool {
    let region = table.core().unwrap().region();
    let (since, end) = (Instant::now(), tail(region));
    while head(region).synced.load(Ordering::Acquire) < end {
        if since.elapsed() > MINUTE {
            return false;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    true
}

#[test]
fn a_snapshot_that_takes_long_delays_no_sync() {
    let home = SimulatedHome::new();
    let segment = 16 << 20;
    let created = Home {
        max_size: 64 << 20,
        segment,
        durability: WITHIN,
        ..home_of()
    };
    let table = Arc::new(create_of(&home, &created, WITHIN).unwrap());
    // The journal is long enough for a snapshot, and there is room for the next records.
    let value = vec![1; 1 << 20];
    for _ in 0..70 {
        table.set("large", &value).unwrap();
    }
    table.sync().unwrap();
    let (sender, receiver) = channel();
    let other = Arc::clone(&table);
    // In the thread that makes files and snapshots: nothing else has anything to sync.
    home.while_syncing(move || {
        other.set("small", "1").unwrap();
        sender.send(is_synced(&other)).unwrap();
    });
    let threads = start_keeper(table.lazy.get().unwrap(), WITHIN).unwrap();
    assert!(receiver.recv_timeout(2 * MINUTE).unwrap());
    drop(threads);
}

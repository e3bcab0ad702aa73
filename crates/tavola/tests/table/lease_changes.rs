//! Values that are changed while their leases are held: what is computed from before is not stored.

use crate::support::{assert_clean, over_every_table};
use std::time::{Duration, SystemTime};
use tavola::{Attributes, Expiry, Lease, LeaseOptions, Leased, Table};

const HOUR: Duration = Duration::from_secs(3600);
const KEY: &[u8] = b"the key";

/// Something that changes the value of a key.
type Change<'a> = &'a dyn Fn(&[u8]);

fn won(table: &Table, key: &[u8]) -> Lease {
    match table.get_or_lease(key, LeaseOptions::new(HOUR)).unwrap() {
        Leased::Won(lease) => lease,
        other => panic!("{other:?}"),
    }
}

/// What was stored for an hour is stale to these.
fn staler() -> LeaseOptions {
    LeaseOptions::new(HOUR).stale(2 * HOUR)
}

fn stale(table: &Table, key: &[u8]) -> (Vec<u8>, Option<Lease>) {
    match table.get_or_lease(key, staler()).unwrap() {
        Leased::Stale { value, lease } => (value, lease),
        other => panic!("{other:?}"),
    }
}

/// A change that leaves the time of the key as it is, as all of these do.
#[test]
fn what_was_changed_meanwhile_is_not_overwritten() {
    over_every_table(Table::options().max_size(4 << 20), |table| {
        let changes: [(Change<'_>, &[u8]); 6] = [
            (&|key| assert!(table.append(key, b"2").unwrap()), b"72"),
            (&|key| assert!(table.prepend(key, b"2").unwrap()), b"27"),
            (&|key| assert_eq!(table.incr(key, 1).unwrap(), 8), b"8"),
            (&|key| _ = table.decr(key, 1).unwrap(), b"6"),
            (
                &|key| _ = table.update(key, |_| Some(b"3".to_vec())).unwrap(),
                b"3",
            ),
            (
                &|key| _ = table.update(key, |_| Some(vec![3; 40_000])).unwrap(),
                &[3; 40_000],
            ),
        ];
        for (number, (change, after)) in changes.into_iter().enumerate() {
            let key = format!("changed {number}").into_bytes();
            assert!(won(table, &key).fill(b"7").unwrap());
            let lease = stale(table, &key).1.unwrap();
            change(&key);
            assert!(!lease.fill(b"of before").unwrap(), "{number}");
            assert_eq!(table.get(&key).unwrap().unwrap(), after);
            // The next caller computes from what there is now.
            assert!(stale(table, &key).1.unwrap().fill(b"new").unwrap());
            let again = table.get_or_lease(&key, staler()).unwrap();
            assert!(matches!(again, Leased::Hit(value) if value == b"new"));
        }
        // One that is a counter already is changed in place.
        let attributes = Attributes::ttl(HOUR);
        table.incr_with(b"counter", 7, Some(7), attributes).unwrap();
        let lease = stale(table, b"counter").1.unwrap();
        assert_eq!(table.incr(b"counter", 1).unwrap(), 8);
        assert!(!lease.fill(b"of before").unwrap());
        // The failure stays stored.
        assert!(won(table, KEY).fill(b"old").unwrap());
        let lease = stale(table, KEY).1.unwrap();
        assert!(lease.fail(HOUR, b"").unwrap());
        assert!(table.append(KEY, b"er").unwrap());
        let (value, lease) = stale(table, KEY);
        assert!(value == b"older" && lease.is_none());
        assert_clean(table);
    });
}

/// Nor what is set meanwhile, though its time is the same as that of before.
#[test]
fn what_was_set_to_the_same_time_meanwhile_is_not_overwritten() {
    over_every_table(Table::options().max_size(4 << 20), |table| {
        let midnight = Attributes {
            expiry: Expiry::At(SystemTime::now() + HOUR),
            ..Attributes::default()
        };
        let large = vec![3; 40_000];
        for newer in [&b"newer"[..], &large] {
            table.set_with(KEY, b"old", midnight).unwrap();
            let lease = stale(table, KEY).1.unwrap();
            table.set_with(KEY, newer, midnight).unwrap();
            assert!(!lease.fill(b"of before").unwrap());
            assert_eq!(table.get(KEY).unwrap().unwrap(), newer);
            // A tag makes no difference.
            let lease = stale(table, KEY).1.unwrap();
            let tags = table.fetch_tags(&["tag"]).unwrap();
            table.set_tagged(KEY, newer, midnight, &tags).unwrap();
            assert!(!lease.fill(b"of before").unwrap());
            // What its owner stores is stored, whatever time it has.
            assert!(stale(table, KEY).1.unwrap().fill(b"new").unwrap());
            assert_eq!(table.get(KEY).unwrap().unwrap(), b"new");
        }
        assert_clean(table);
    });
}

fn numbered(number: u32) -> Vec<u8> {
    format!("key {number}").into_bytes()
}

/// Something that makes what is computed of a key stale.
type Ending<'a> = &'a dyn Fn(&Table, &[u8]);

/// A shard has records for a few leases only. One without a record must not store what was
/// computed before its key was removed, either: nothing else shows it, as the key was missing
/// before and after.
#[test]
fn of_a_hundred_leases_of_a_shard_none_stores_what_was_removed_meanwhile() {
    let endings: [Ending<'_>; 3] = [
        &|table, key| assert!(!table.remove(key).unwrap()),
        &|table, key| {
            table.set(key, b"newer").unwrap();
            assert!(table.remove(key).unwrap());
        },
        &|table, _| table.clear().unwrap(),
    ];
    for ending in endings {
        let table = Table::options().max_size(4 << 20).shards(1);
        let table = table.private().unwrap();
        let leases: Vec<Lease> = (0..100).map(|n| won(&table, &numbered(n))).collect();
        assert!(leases.iter().any(|lease| !lease.is_recorded()));
        for number in (0..100).step_by(7) {
            ending(&table, &numbered(number));
        }
        for (number, lease) in (0..).zip(leases) {
            let filled = lease.fill(b"of before").unwrap();
            assert!(!(filled && number % 7 == 0), "{number} is stale");
            let found = table.get(numbered(number)).unwrap();
            assert_eq!(found.is_some(), filled);
        }
        assert_clean(&table);
    }
}

/// Nor over a value that was changed and kept its time.
#[test]
fn of_a_hundred_leases_of_a_shard_none_overwrites_what_was_changed_meanwhile() {
    let table = Table::options().max_size(4 << 20).shards(1);
    let table = table.private().unwrap();
    for number in 0..100 {
        let attributes = Attributes::ttl(HOUR);
        table.set_with(numbered(number), b"7", attributes).unwrap();
    }
    let leases: Vec<Lease> = (0..100)
        .map(|number| stale(&table, &numbered(number)).1.unwrap())
        .collect();
    for number in (0..100).step_by(7) {
        table.append(numbered(number), b"7").unwrap();
    }
    for (number, lease) in (0..).zip(leases) {
        let filled = lease.fill(b"of before").unwrap();
        let found = table.get(numbered(number)).unwrap().unwrap();
        let is_changed = number % 7 == 0;
        assert!(!(filled && is_changed), "{number} is overwritten");
        assert!(filled || found == if is_changed { &b"77"[..] } else { b"7" });
    }
    assert_clean(&table);
}

/// If nothing is removed or changed, a lease without a record stores its value.
#[test]
fn leases_without_a_record_store_what_nobody_has_touched() {
    let table = Table::options().max_size(4 << 20).shards(1);
    let table = table.private().unwrap();
    let leases: Vec<Lease> = (0..100).map(|n| won(&table, &numbered(n))).collect();
    for (number, lease) in (0..).zip(leases) {
        assert!(lease.fill(b"computed").unwrap(), "{number}");
    }
    assert_eq!(table.len().unwrap(), 100);
}

//! Leases within a process: which answer comes when, which lease may store, and which waiter wakes.

use crate::support::mount::Mount;
use crate::support::patience::{MINUTE, Moment, in_time, let_pass};
use crate::support::{Dir, assert_clean, over_every_table};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use tavola::{
    Attributes, BoxError, Error, Expiry, Lease, LeaseOptions, Leased, Options, Pending, Table,
};

const HOUR: Duration = Duration::from_secs(3600);
const KEY: &[u8] = b"the key";
/// Long enough to look at what lasts so long, most of the time.
const SOON: Duration = Duration::from_millis(200);

fn options() -> Options {
    Table::options().max_size(4 << 20)
}

/// Something that removes a key.
type Forget<'a> = &'a dyn Fn(&[u8]);
/// Something that ends its lease.
type End<'a> = &'a dyn Fn(Lease, &[u8]);

fn lasting() -> LeaseOptions {
    LeaseOptions::new(HOUR).lease(HOUR)
}

/// What was stored by [`lasting`] is stale to these.
fn staler() -> LeaseOptions {
    lasting().stale(2 * HOUR)
}

fn won(table: &Table, key: &[u8], options: LeaseOptions) -> Lease {
    match table.get_or_lease(key, options).unwrap() {
        Leased::Won(lease) => lease,
        other => panic!("{other:?}"),
    }
}

fn waits(table: &Table, key: &[u8]) -> Pending {
    match table.get_or_lease(key, lasting()).unwrap() {
        Leased::Wait(pending) => pending,
        other => panic!("{other:?}"),
    }
}

fn hits(table: &Table, key: &[u8], options: LeaseOptions) -> Vec<u8> {
    match table.get_or_lease(key, options).unwrap() {
        Leased::Hit(value) => value,
        other => panic!("{other:?}"),
    }
}

fn stale(table: &Table, key: &[u8]) -> (Vec<u8>, Option<Lease>) {
    match table.get_or_lease(key, staler()).unwrap() {
        Leased::Stale { value, lease } => (value, lease),
        other => panic!("{other:?}"),
    }
}

#[test]
fn one_wins_and_fills_and_all_hit() {
    over_every_table(options(), |table| {
        let lease = won(table, KEY, lasting());
        assert_eq!(lease.key(), KEY);
        assert!(lease.is_recorded());
        let pending = waits(table, KEY);
        assert!(!pending.wait(Duration::from_millis(5)).unwrap());
        let left = pending.left();
        assert!(left > HOUR / 2 && left <= HOUR, "{left:?}");
        assert!(lease.fill(b"value").unwrap());
        assert!(pending.wait(Duration::ZERO).unwrap());
        assert_eq!(hits(table, KEY, lasting()), b"value");
        let left = table.ttl(KEY).unwrap();
        assert!(matches!(left, Some(Expiry::After(left)) if left <= HOUR && left > HOUR / 2));
        assert_clean(table);
    });
}

#[test]
fn a_stale_value_is_served_while_one_computes_it_again() {
    over_every_table(options(), |table| {
        assert!(won(table, KEY, lasting()).fill(b"old").unwrap());
        let (value, lease) = stale(table, KEY);
        assert_eq!(value, b"old");
        for _ in 0..3 {
            let (value, none) = stale(table, KEY);
            assert!(value == b"old" && none.is_none());
        }
        assert!(lease.unwrap().fill(b"new").unwrap());
        assert_eq!(hits(table, KEY, staler()), b"new");
        // A value that does not expire is never stale.
        table.set(KEY, b"for ever").unwrap();
        assert_eq!(hits(table, KEY, staler()), b"for ever");
    });
}

#[test]
fn a_lease_that_is_dropped_is_anothers_at_once() {
    over_every_table(options(), |table| {
        let lease = won(table, KEY, lasting());
        let pending = waits(table, KEY);
        drop(lease);
        assert!(pending.wait(Duration::ZERO).unwrap());
        assert!(won(table, KEY, lasting()).fill(b"value").unwrap());
    });
}

#[test]
fn a_failure_is_returned_until_its_time_is_over() {
    over_every_table(options(), |table| {
        in_time(SOON, |pause| {
            let begun = Moment::now();
            assert!(won(table, KEY, lasting()).fail(pause, b"no route").unwrap());
            match table.get_or_lease(KEY, lasting()).unwrap() {
                Leased::Failed { error, retry } => {
                    assert_eq!(error, b"no route");
                    assert!(retry <= pause);
                }
                _ if begun.elapsed() >= pause => return None,
                other => panic!("{other:?}"),
            }
            let_pass(pause);
            Some(())
        });
        // Without a pause it is as if it were dropped; what is too long is cut.
        assert!(
            won(table, KEY, lasting())
                .fail(Duration::ZERO, b"x")
                .unwrap()
        );
        assert!(won(table, KEY, lasting()).fail(HOUR, [7; 200]).unwrap());
        match table.get_or_lease(KEY, lasting()).unwrap() {
            Leased::Failed { error, retry } => {
                assert_eq!(error, [7; 88]);
                assert!(retry > HOUR / 2);
            }
            other => panic!("{other:?}"),
        }
        // Removing the key ends that, too.
        assert!(!table.remove(KEY).unwrap());
        assert!(won(table, KEY, lasting()).fill(b"value").unwrap());
    });
}

#[test]
fn a_failed_computation_leaves_the_stale_value_to_be_served() {
    over_every_table(options(), |table| {
        assert!(won(table, KEY, lasting()).fill(b"old").unwrap());
        let lease = stale(table, KEY).1.unwrap();
        assert!(lease.fail(HOUR, b"").unwrap());
        let (value, lease) = stale(table, KEY);
        assert!(value == b"old" && lease.is_none());
    });
}

#[test]
fn a_lease_that_lasts_too_long_passes_on_and_its_value_is_refused() {
    over_every_table(options(), |table| {
        let (late, pending) = in_time(SOON, |short| {
            let begun = Moment::now();
            let late = won(table, KEY, lasting().lease(short));
            match table.get_or_lease(KEY, lasting()).unwrap() {
                Leased::Wait(pending) => Some((late, pending)),
                _ if begun.elapsed() >= short => None,
                other => panic!("{other:?}"),
            }
        });
        assert!(pending.wait(MINUTE).unwrap());
        let short = lasting().lease(SOON);
        let next = won(table, KEY, lasting());
        assert!(!late.fill(b"late").unwrap());
        assert!(table.get(KEY).unwrap().is_none());
        assert!(next.fill(b"value").unwrap());
        // As long as nobody has taken it, late is not too late.
        let late = won(table, b"another", short);
        let_pass(SOON);
        assert!(late.fill(b"late").unwrap());
        // One that failed after it had passed on is reported to nobody.
        let late = won(table, b"third", short);
        let_pass(SOON);
        let next = won(table, b"third", lasting());
        assert!(!late.fail(HOUR, b"late").unwrap());
        assert!(next.fill(b"value").unwrap());
    });
}

#[test]
fn what_was_set_or_removed_meanwhile_is_not_overwritten() {
    over_every_table(options(), |table| {
        let lease = won(table, KEY, lasting());
        table.set(KEY, b"set").unwrap();
        assert!(!lease.fill(b"computed").unwrap());
        assert_eq!(table.get(KEY).unwrap().unwrap(), b"set");
        let forget: [Forget<'_>; 3] = [
            &|key| _ = table.remove(key).unwrap(),
            &|_| table.clear().unwrap(),
            &|_| assert!(table.repair().unwrap().is_clean()),
        ];
        for (number, forget) in forget.into_iter().enumerate() {
            let key = format!("removed {number}").into_bytes();
            let lease = won(table, &key, lasting());
            let pending = waits(table, &key);
            forget(&key);
            assert!(pending.wait(Duration::ZERO).unwrap());
            assert!(!lease.fill(b"of before").unwrap());
            assert!(won(table, &key, lasting()).fill(b"old").unwrap());
            let lease = stale(table, &key).1.unwrap();
            forget(&key);
            assert!(!lease.fill(b"of before").unwrap());
        }
        // A stale value that was set again, and one that is there no more because its time came.
        assert!(won(table, b"stale", lasting()).fill(b"old").unwrap());
        let lease = stale(table, b"stale").1.unwrap();
        table.set(b"stale", b"set").unwrap();
        assert!(!lease.fill(b"computed").unwrap());
        let lease = in_time(SOON, |soon| {
            let begun = Moment::now();
            let ttl = Attributes::ttl(soon);
            table.set_with(b"gone", b"old", ttl).unwrap();
            let answer = table.get_or_lease(b"gone", staler()).unwrap();
            if begun.elapsed() >= soon {
                return None;
            }
            let Leased::Stale { lease, .. } = answer else {
                panic!("{answer:?}");
            };
            assert!(lease.is_some());
            let_pass(soon);
            lease
        });
        assert_eq!(table.get(b"gone").unwrap(), None);
        assert!(lease.fill(b"new").unwrap());
    });
}

/// Lets a thread sleep until something is done: how long it slept, and whether it was for that.
fn sleeps(table: &Table, key: &[u8], work: impl FnOnce()) -> (Duration, bool) {
    let pending = waits(table, key);
    std::thread::scope(|scope| {
        let sleeper = scope.spawn(|| {
            let begun = Instant::now();
            let ended = pending.wait(10 * MINUTE).unwrap();
            (begun.elapsed(), ended)
        });
        std::thread::sleep(Duration::from_millis(25));
        work();
        sleeper.join().unwrap()
    })
}

#[test]
fn sleepers_wake_for_every_end() {
    over_every_table(options(), |table| {
        let ends: [End<'_>; 5] = [
            &|lease, _| assert!(lease.fill(b"value").unwrap()),
            &|lease, _| drop(lease),
            &|lease, _| assert!(lease.fail(HOUR, b"").unwrap()),
            &|lease, key| {
                table.set(key, b"value").unwrap();
                std::thread::sleep(Duration::from_millis(50));
                drop(lease);
            },
            &|lease, key| {
                table.remove(key).unwrap();
                drop(lease);
            },
        ];
        for (number, end) in ends.into_iter().enumerate() {
            let key = format!("key {number}").into_bytes();
            let lease = won(table, &key, lasting());
            let (slept, ended) = sleeps(table, &key, || end(lease, &key));
            assert!(ended && slept < 5 * MINUTE, "{number}: {slept:?}");
        }
    });
}

fn numbered(number: usize) -> Vec<u8> {
    format!("key {number}").into_bytes()
}

#[test]
fn when_all_records_are_taken_a_lease_is_not_recorded() {
    let table = options().shards(1).private().unwrap();
    let leases: Vec<Lease> = (0..16)
        .map(|number| won(&table, &numbered(number), lasting()))
        .collect();
    assert!(leases.iter().all(Lease::is_recorded));
    let over = won(&table, b"over", lasting());
    assert!(!over.is_recorded() && !won(&table, b"over", lasting()).is_recorded());
    assert_eq!(table.stats().unwrap().leases_unrecorded, 2);
    assert!(over.fill(b"value").unwrap());
    assert_eq!(hits(&table, b"over", lasting()), b"value");
    // The holders of the others still wait for them.
    waits(&table, &numbered(3));
    drop(leases);
    assert!(won(&table, b"another", lasting()).is_recorded());
}

#[test]
fn failures_make_room_for_leases_the_first_to_end_first() {
    let table = options().shards(1).private().unwrap();
    for number in 0..16 {
        // Of these, number 5 is over first.
        let pause = HOUR / 2 + MINUTE * ((number as u32 + 11) % 16);
        let lease = won(&table, &numbered(number), lasting());
        assert!(lease.fail(pause, b"").unwrap());
    }
    let lease = won(&table, b"another", lasting());
    assert!(lease.is_recorded());
    let is_failed = |number| {
        let answer = table.get_or_lease(numbered(number), lasting()).unwrap();
        matches!(answer, Leased::Failed { .. })
    };
    let failed = (0..16).filter(|number| *number != 5).all(is_failed);
    assert!(failed);
    assert!(won(&table, &numbered(5), lasting()).is_recorded());
}

#[test]
fn of_many_threads_one_computes() {
    over_every_table(options(), |table| {
        let computed = AtomicU32::new(0);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let value = table.get_or_compute(KEY, lasting(), || {
                        computed.fetch_add(1, Ordering::Relaxed);
                        std::thread::sleep(Duration::from_millis(50));
                        Ok(b"value".to_vec())
                    });
                    assert_eq!(value.unwrap(), b"value");
                });
            }
        });
        assert_eq!(computed.load(Ordering::Relaxed), 1);
    });
}

#[test]
fn an_error_is_returned_to_the_caller_and_to_others() {
    over_every_table(options(), |table| {
        let refused = |key: &[u8], pause| {
            let options = lasting().back_off(pause);
            table.get_or_compute(key, options, || {
                Err::<Vec<u8>, _>("the disk is on fire".into())
            })
        };
        let is_ours = |error: &Error| match error {
            Error::Compute { source } => source.to_string() == "the disk is on fire",
            _ => false,
        };
        let error = refused(KEY, HOUR).unwrap_err();
        assert!(is_ours(&error), "{error}");
        match refused(KEY, HOUR).unwrap_err() {
            Error::NotComputed { why, retry } => {
                assert_eq!(why, "the disk is on fire");
                assert!(retry <= HOUR && retry > HOUR / 2);
            }
            other => panic!("{other}"),
        }
        for _ in 0..2 {
            let error = refused(b"at once", Duration::ZERO).unwrap_err();
            assert!(is_ours(&error), "{error}");
        }
    });
}

#[test]
fn a_panic_in_a_computation_gives_the_lease_up() {
    over_every_table(options(), |table| {
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let panics = || -> Result<Vec<u8>, BoxError> { std::panic::resume_unwind(Box::new(5)) };
            table.get_or_compute(KEY, lasting(), panics)
        }));
        assert!(panicked.is_err());
        assert!(won(table, KEY, lasting()).fill(b"value").unwrap());
        assert_clean(table);
    });
}

#[test]
fn a_value_without_room_is_returned_all_the_same() {
    let table = Table::options()
        .max_size(1 << 20)
        .shards(1)
        .private()
        .unwrap();
    let value = vec![1; 2 << 20];
    let computed = table.get_or_compute(KEY, lasting(), || Ok(value.clone()));
    assert!(computed.unwrap() == value && table.get(KEY).unwrap().is_none());
    let large = vec![2; 100_000];
    let computed = table.get_or_compute(KEY, lasting(), || Ok(large.clone()));
    assert!(computed.unwrap() == large && table.get(KEY).unwrap().unwrap() == large);
    assert_clean(&table);
}

#[test]
fn a_value_is_computed_early_by_one() {
    over_every_table(options(), |table| {
        // As if it had taken 71 minutes; the more of them it is, the surer.
        let attributes = Attributes::ttl(HOUR).with_flags(u32::MAX);
        table.set_with(KEY, b"old", attributes).unwrap();
        assert_eq!(hits(table, KEY, lasting()), b"old");
        assert_eq!(hits(table, KEY, lasting().early(0.0)), b"old");
        let early = lasting().early(1e12);
        let Leased::Stale { value, lease } = table.get_or_lease(KEY, early).unwrap() else {
            panic!("not early");
        };
        assert_eq!(value, b"old");
        // For all others it is as fresh as before.
        assert_eq!(hits(table, KEY, early), b"old");
        let takes = Duration::from_millis(2);
        std::thread::sleep(takes);
        assert!(lease.unwrap().fill(b"new").unwrap());
        let entry = table.get_entry(KEY).unwrap().unwrap();
        let took = Duration::from_micros(entry.attributes.flags.into());
        assert!(entry.value == b"new" && took >= takes && took < HOUR);
    });
}

#[test]
fn a_read_only_handle_hits_and_waits_and_wins_nothing() {
    let dir = Dir::new();
    let table = options().create(dir.table("t")).unwrap();
    let reader = Table::open_read_only(dir.table("t")).unwrap();
    let refused = |key: &[u8]| {
        let answer = reader.get_or_lease(key, lasting()).unwrap_err();
        assert!(matches!(answer, Error::ReadOnly), "{answer}");
    };
    refused(KEY);
    let lease = won(&table, KEY, lasting());
    let (_, ended) = sleeps(&reader, KEY, || assert!(lease.fill(b"value").unwrap()));
    assert!(ended);
    assert_eq!(hits(&reader, KEY, lasting()), b"value");
    let (value, lease) = stale(&reader, KEY);
    assert!(value == b"value" && lease.is_none());
    assert!(
        won(&table, b"failed", lasting())
            .fail(HOUR, b"why")
            .unwrap()
    );
    let answer = reader.get_or_lease(b"failed", lasting()).unwrap();
    assert!(matches!(answer, Leased::Failed { error, .. } if error == b"why"));
    refused(b"another");
}

/// On a file system without room for the records: an error, and values anyway.
#[test]
fn without_room_for_leases_each_computes() {
    let Some(mount) = Mount::tmpfs(16 << 20) else {
        return;
    };
    let table = options().shards(16).create(mount.table("t")).unwrap();
    table.set(KEY, b"value").unwrap();
    let filler = mount.fill("filler", 0);
    assert_eq!(hits(&table, KEY, lasting()), b"value");
    let answer = table.get_or_lease(b"another", lasting()).unwrap_err();
    assert!(matches!(answer, Error::Full { .. }), "{answer}");
    let value = table.get_or_compute(b"another", lasting(), || Ok(b"value".to_vec()));
    assert_eq!(value.unwrap(), b"value");
    std::fs::remove_file(filler).unwrap();
    assert!(won(&table, b"another", lasting()).fill(b"value").unwrap());
    assert_clean(&table);
}

/// A table costs no more before its first lease, and 2 KiB a shard after.
#[test]
fn memory_comes_with_the_first_lease() {
    let dir = Dir::new();
    let table = options().shards(16).create(dir.table("t")).unwrap();
    table.set(KEY, b"value").unwrap();
    let resident = || table.stats().unwrap().resident_bytes;
    let before = resident();
    assert_eq!(hits(&table, KEY, lasting()), b"value");
    table.remove(b"nothing").unwrap();
    assert_eq!(resident(), before);
    drop(won(&table, b"another", lasting()));
    assert_eq!(resident(), before + 16 * 2048);
}

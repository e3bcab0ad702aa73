//! Leases: of threads that miss a value at once one computes it, nobody sleeps forever, and what
//! was removed meanwhile is not stored.

use super::{Key, Table, Write, beside, explore, quietly, table};
use crate::error::Error;
use crate::sync::{Ordering, W32};
use crate::{Lease, LeaseOptions, Leased};
use std::sync::{Arc, Mutex};
use std::time::Duration;

pub(super) const KEY: Key = *b"the key!";
/// No model waits for a time to pass.
pub(super) const HOUR: Duration = Duration::from_secs(3600);

pub(super) fn options() -> LeaseOptions {
    LeaseOptions::new(HOUR).lease(HOUR)
}

/// One that wants the value, and computes it if it is to.
pub(super) fn asks(computed: &Arc<W32>) -> Write {
    let computed = Arc::clone(computed);
    Box::new(move |t| {
        let value = t.get_or_compute(KEY, options(), || {
            quietly(|| computed.fetch_add(1, Ordering::Relaxed));
            Ok(b"value".to_vec())
        });
        let value = value.expect("room, and no failure");
        assert!([&b"value"[..], b"the dead one's"].contains(&&value[..]));
    })
}

#[test]
fn of_three_one_computes() {
    explore(400, || {
        let table = table(|_| ());
        let computed = Arc::new(W32::new(0));
        let all = (0..3).map(|_| asks(&computed)).collect();
        beside(&table, all, Vec::new());
        assert_eq!(computed.load(Ordering::Relaxed), 1);
    });
}

/// One that ends the lease without a value, if it wins it.
fn gives_up(failed: bool) -> Write {
    Box::new(move |t| {
        if let Leased::Won(lease) = t.get_or_lease(KEY, options()).unwrap() {
            match failed {
                true => assert!(lease.fail(HOUR, b"why").unwrap()),
                false => drop(lease),
            }
        }
    })
}

#[test]
fn when_one_gives_up_another_computes() {
    explore(400, || {
        let table = table(|_| ());
        let computed = Arc::new(W32::new(0));
        let all = vec![gives_up(false), asks(&computed), asks(&computed)];
        beside(&table, all, Vec::new());
        assert_eq!(computed.load(Ordering::Relaxed), 1);
    });
}

#[test]
fn a_failure_is_returned_to_the_others() {
    explore(400, || {
        let table = table(|_| ());
        let asks = || -> Write {
            Box::new(
                |t| match t.get_or_compute(KEY, options(), || Ok(b"value".to_vec())) {
                    Ok(value) => assert_eq!(value, b"value"),
                    Err(Error::NotComputed { why, .. }) => assert_eq!(why, "why"),
                    Err(error) => panic!("{error}"),
                },
            )
        };
        beside(&table, vec![gives_up(true), asks(), asks()], Vec::new());
        quietly(|| {
            let leased = table.get_or_lease(KEY, options()).unwrap();
            assert!(matches!(leased, Leased::Hit(_) | Leased::Failed { .. }));
        });
    });
}

#[test]
fn a_stale_value_is_computed_again_by_one() {
    explore(400, || {
        let table = table(|t| {
            let old = crate::Attributes::ttl(HOUR);
            t.set_with(KEY, b"old", old).unwrap();
        });
        let computed = Arc::new(W32::new(0));
        let asks = || -> Write {
            let computed = Arc::clone(&computed);
            Box::new(move |t| {
                let options = options().stale(2 * HOUR);
                match t.get_or_lease(KEY, options).unwrap() {
                    Leased::Hit(value) => assert_eq!(value, b"new"),
                    Leased::Stale { value, lease } => {
                        assert_eq!(value, b"old");
                        if let Some(lease) = lease {
                            quietly(|| computed.fetch_add(1, Ordering::Relaxed));
                            assert!(lease.fill(b"new").unwrap());
                        }
                    }
                    other => panic!("{other:?}"),
                }
            })
        };
        beside(&table, vec![asks(), asks(), asks()], Vec::new());
        assert_eq!(computed.load(Ordering::Relaxed), 1);
        assert_eq!(quietly(|| table.get(KEY)).unwrap().unwrap(), b"new");
    });
}

/// Takes all records of the key's shard, so that its leases are given without one.
fn crowd(t: &Table, held: &Mutex<Vec<Lease>>) {
    let won = |key: &Key| match t.get_or_lease(key, options()).unwrap() {
        Leased::Won(lease) => lease,
        other => panic!("{other:?}"),
    };
    let mut numbers = 0u64..;
    while won(&KEY).is_recorded() {
        let key = numbers.next().unwrap().to_le_bytes();
        held.lock().unwrap().push(won(&key));
    }
}

/// What is computed from is changed, then the key removed: no value of before stays.
#[test]
fn what_was_computed_before_a_removal_does_not_stay() {
    for is_crowded in [false, true] {
        explore(400, move || {
            let held = Arc::new(Mutex::new(Vec::new()));
            let table = table(|t| {
                if is_crowded {
                    crowd(t, &held);
                }
            });
            let source = Arc::new(W32::new(1));
            let asks = || -> Write {
                let source = Arc::clone(&source);
                Box::new(move |t| {
                    let now = || source.load(Ordering::Acquire).to_le_bytes().to_vec();
                    let read = || Ok(now());
                    t.get_or_compute(KEY, options(), read).unwrap();
                })
            };
            let changed = Arc::clone(&source);
            let changes: Write = Box::new(move |t: &Table| {
                changed.store(2, Ordering::Release);
                t.remove(KEY).unwrap();
            });
            beside(&table, vec![asks(), changes, asks()], Vec::new());
            let found = quietly(|| table.get(KEY)).unwrap();
            assert!(found.is_none_or(|value| value == 2u32.to_le_bytes()));
            quietly(|| drop(held));
        });
    }
}

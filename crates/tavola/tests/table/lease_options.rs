//! Options of leases: what holds if nothing is said, and what is refused.

use crate::support::patience::Moment;
use std::time::Duration;
use tavola::{Error, Lease, LeaseOptions, Leased, Options, Table};

const HOUR: Duration = Duration::from_secs(3600);
const KEY: &[u8] = b"the key";

fn options() -> Options {
    Table::options().max_size(4 << 20)
}

fn lasting() -> LeaseOptions {
    LeaseOptions::new(HOUR)
}

fn won(table: &Table, options: LeaseOptions) -> Lease {
    match table.get_or_lease(KEY, options).unwrap() {
        Leased::Won(lease) => lease,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_lease_lasts_ten_seconds_if_nothing_is_said() {
    const TEN: Duration = Duration::from_secs(10);
    let table = options().private().unwrap();
    let begun = Moment::now();
    let _lease = won(&table, lasting());
    match table.get_or_lease(KEY, lasting()).unwrap() {
        Leased::Wait(pending) => {
            let left = pending.left();
            assert!(left <= TEN, "{left:?}");
            assert!(left + begun.elapsed() + Duration::from_millis(2) >= TEN);
        }
        other => assert!(begun.elapsed() >= TEN, "{other:?}"),
    }
}

#[test]
fn impossible_options_are_refused() {
    let table = options().private().unwrap();
    let lease = |lease| lasting().lease(lease);
    for options in [
        lease(Duration::ZERO),
        lease(2 * HOUR),
        lasting().early(-1.0),
        lasting().early(f64::NAN),
    ] {
        let error = table.get_or_lease(KEY, options).unwrap_err();
        assert!(matches!(error, Error::BadOption { .. }), "{error}");
    }
    let fixed = options().fixed(8, 8).private().unwrap();
    let error = fixed.get_or_lease(b"12345678", lasting()).unwrap_err();
    assert!(matches!(error, Error::BadOption { .. }), "{error}");
    let ages = Duration::MAX;
    let options = LeaseOptions::new(ages).stale(ages);
    assert!(won(&table, options).fill(b"value").unwrap());
    assert!(table.contains(KEY).unwrap());
}

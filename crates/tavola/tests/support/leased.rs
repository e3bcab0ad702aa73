//! Leases in a table that is damaged: some are of a participant that is no more, some have failed.

use std::time::Duration;
use tavola::{Error, LeaseOptions, Leased, Table};

/// Longer than any test takes.
const HOUR: Duration = Duration::from_secs(3600);
const WHY: &[u8] = b"no such thing";
const KEYS: u64 = 12;

fn key_of(number: u64) -> Vec<u8> {
    format!("leased {number}").into_bytes()
}

fn options() -> LeaseOptions {
    LeaseOptions::new(HOUR).lease(HOUR)
}

/// Four are held, by a handle that is never closed; four have failed; four are nobody's.
pub fn build(owner: &Table) {
    for number in 0..KEYS {
        let Leased::Won(lease) = owner.get_or_lease(key_of(number), options()).unwrap() else {
            panic!("{number} is not to be had");
        };
        match number % 3 {
            0 => std::mem::forget(lease),
            1 => assert!(lease.fail(HOUR, WHY).unwrap()),
            _ => {}
        }
    }
}

/// Wins them all but those that have failed, as nobody who has one lives; then the keys are gone
/// again. `is_expected`: whether an error may be.
pub fn use_all(table: &Table, is_expected: impl Fn(&Error) -> bool) {
    for number in 0..KEYS {
        let key = key_of(number);
        let value = key.repeat(3);
        let filled = match table.get_or_lease(&key, options()) {
            Ok(Leased::Won(lease)) => lease.fill(&value).map(|filled| assert!(filled)),
            Ok(Leased::Failed { error, .. }) => {
                assert!(number % 3 == 1 && error == WHY, "{number} {error:?}");
                continue;
            }
            Ok(other) => panic!("{number}: {other:?}"),
            Err(error) => Err(error),
        };
        match filled.and_then(|()| table.get_or_lease(&key, options())) {
            Ok(Leased::Hit(found)) => assert_eq!(found, value),
            Ok(other) => panic!("{number}: {other:?}"),
            Err(Error::Full { .. }) => {}
            Err(error) => assert!(is_expected(&error), "{error}"),
        }
        if let Err(error) = table.remove(&key) {
            assert!(is_expected(&error), "{error}");
        }
    }
}

//! Check and repair.

use super::set::sets;
use crate::alloc::lock_pool;
use crate::error::Result;
use crate::layout::{LockName, MOST_SHARING};
use crate::lock::Me;
use crate::recover::CheckReport;
use crate::region::Region;
use crate::sync::Ordering;

/// Checks all locks and semaphores.
pub(crate) fn check(region: &Region, report: &mut CheckReport) {
    for set in sets(region) {
        let Ok(set) = set else {
            report.problem(|| "the head of a set of locks is damaged".to_owned());
            continue;
        };
        let Some(named) = set.named(region) else {
            report.problem(|| "how many locks have names is damaged".to_owned());
            continue;
        };
        for number in 0..named {
            let record = set.record(region, number);
            let name = record.name.get();
            if name.is_empty() {
                report.problem(|| format!("lock {number} has no name"));
            }
            let is_right =
                record.permits().is_some() && record.reach.load(Ordering::Relaxed) <= MOST_SHARING;
            if !is_right {
                report.problem(|| {
                    let name = String::from_utf8_lossy(&name);
                    format!("the numbers of lock {name:?} are damaged")
                });
            }
        }
    }
}

/// Repairs what [`check`] reports. Returns how many locks had damaged numbers: they are free
/// afterwards, and a semaphore with a damaged number of permits has one.
pub(crate) fn repair(region: &Region, me: Me) -> Result<u64> {
    let mut repaired = 0;
    for set in sets(region).filter_map(Result::ok) {
        let _lock = lock_pool(region, me)?;
        let nameless = LockName::words_of(b"").expect("a short name");
        let named = set.named(region).unwrap_or_else(|| {
            let mut all = 0..set.records;
            let first = all.find(|number| set.record(region, *number).name.has(&nameless));
            first.unwrap_or(set.records)
        });
        region.locks_head(set.base).set_named(named);
        for number in 0..named {
            let record = set.record(region, number);
            if record.permits().is_none() {
                record.permits.store(1, Ordering::Relaxed);
                repaired += 1;
            }
            if record.reach.load(Ordering::Relaxed) > MOST_SHARING {
                record.reach.store(MOST_SHARING, Ordering::Relaxed);
                repaired += 1;
            }
        }
    }
    Ok(repaired)
}

//! The holder of a lease dies after any of its stores: one of the others computes, and nobody
//! sleeps for ever.
//!
//! The one that dies is a participant of its own. When it has died its slot is freed, as by the
//! kernel, and time runs out for those who sleep: models have no clock.

use super::deaths::{Deaths, Work};
use super::leases::{HOUR, KEY, asks, options};
use super::{Table, Write, beside, core, quietly, region, table, writer};
use crate::alloc::{Stamp, release_claims};
use crate::engine::{FailedCompute, HashedKey};
use crate::engine::{Metadata, WriteCondition};
use crate::error::Error;
use crate::layout::LEASES;
use crate::lock::Me;
use crate::lock::{Membership, members, wake};
use crate::sync::{Ordering, W32};
use std::sync::Arc;

/// A table with a second participant; the records are there.
fn begin() -> Arc<Table> {
    table(|t| {
        Membership::new().attach(region(t), t.path()).unwrap();
        drop(t.get_or_lease(b"another", options()).unwrap());
    })
}

fn victim(table: &Table) -> u32 {
    let me = writer(table);
    members(region(table)).find(|m| m.id != me.id()).unwrap().id
}

/// The holder is dead, and a thread that has slept long enough checks.
fn bury(table: &Table, dead: u32) {
    quietly(|| {
        region(table)
            .participant(dead & 0xFFF)
            .state
            .store(0, Ordering::Relaxed);
        for number in 0..LEASES {
            region(table)
                .lease(0, number)
                .ends
                .fetch_add(1, Ordering::Relaxed);
        }
    });
    (0..LEASES).for_each(|number| wake(&region(table).lease(0, number).ends, u32::MAX));
    // It may have died in housekeeping, with pages in hand.
    assert!(release_claims(region(table), writer(table), dead).unwrap());
}

/// Wins the lease, if nobody has, and stores the value or a failure.
fn compute(table: &Table, failed: bool) {
    let (core, me) = (core(table), victim(table));
    let named = HashedKey::of(region(table), &KEY);
    let Ok(Some(claim)) = core.win(Me::played(me), named, None, HOUR.as_millis() as u64) else {
        return;
    };
    if failed {
        let failure = Some(FailedCompute {
            pause_ms: HOUR.as_millis() as u64,
            error: b"why",
        });
        assert!(
            core.end_lease(Me::played(me), named, &claim, failure)
                .unwrap()
        );
        return;
    }
    let metadata = Metadata::new(
        Stamp {
            expiry_ms: region(table).now_ms() + HOUR.as_millis() as u64,
            ..Stamp::NONE
        },
        false,
    );
    let when = WriteCondition::Leased(&claim);
    assert!(
        core.store(&KEY, b"the dead one's", when, Some(&metadata))
            .unwrap()
    );
    assert!(core.end_lease(Me::played(me), named, &claim, None).unwrap());
}

/// Lets the one that computes die beside these.
fn dying(
    failed: bool,
    others: impl Fn() -> Vec<Write> + Send + Sync + 'static,
    then: impl Fn(&Table) + Send + Sync + 'static,
) {
    let work: Work = Arc::new(move |t| compute(t, failed));
    let deaths = Deaths::of(begin, &work);
    let seen = Arc::clone(&deaths);
    deaths.explore(400, move || {
        let table = begin();
        let dead = quietly(|| victim(&table));
        let die = seen.meet(&work);
        let dies: Write = Box::new(move |t| {
            die(t);
            bury(t, dead);
        });
        let mut all = others();
        all.push(dies);
        beside(&table, all, Vec::new());
        quietly(|| then(&table));
    });
}

#[test]
fn of_a_thread_that_fills() {
    let computed = Arc::new(W32::new(0));
    let counted = Arc::clone(&computed);
    let others = move || {
        counted.store(0, Ordering::Relaxed);
        vec![asks(&counted), asks(&counted)]
    };
    dying(false, others, move |t| {
        let value = t.get(KEY).unwrap().expect("one has computed it");
        let by_the_dead = u32::from(value == b"the dead one's");
        assert_eq!(by_the_dead + computed.load(Ordering::Relaxed), 1);
    });
}

#[test]
fn of_a_thread_that_fails() {
    let asks = || -> Write {
        Box::new(
            |t| match t.get_or_compute(KEY, options(), || Ok(b"value".to_vec())) {
                Ok(value) => assert_eq!(value, b"value"),
                Err(Error::NotComputed { why, .. }) => assert_eq!(why, "why"),
                Err(error) => panic!("{error}"),
            },
        )
    };
    dying(true, move || vec![asks(), asks()], |_| ());
}

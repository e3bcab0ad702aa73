//! Pools of queues that are made while the table takes pages, by makers that die: a pool is there
//! whole or not at all, and its pages are nobody else's.
//!
//! The one that dies is another participant than the survivors. It is attached until it is dead.

use super::deaths::{Deaths, Work};
use super::queue_deaths::{attach, id, leave, played};
use super::{Table, Write, beside, explore_fully, is_whole, quietly, region, table, writer};
use crate::alloc::{build_extent, release_claims};
use crate::layout::{Extent, ExtentKind, ExtentState, PAGE, QueueGeometry};
use crate::lock::Me;
use crate::queue::create;
use crate::{Error, QueueOptions};
use std::sync::Arc;

/// Of a pool, which has two pages.
const ELEMENTS: u32 = 3;
const BYTES: u32 = 6000;
/// The slots of those who die.
const FIRST: u32 = 7;
const SECOND: u32 = 8;
const LONG_GONE: u32 = 9;

/// Makes the pool, unless another is at it: that one is not waited for, as no time passes here.
fn make_as(table: &Table, participant: Me) {
    let geometry = QueueGeometry::new(ELEMENTS, BYTES, 1).expect("a small pool");
    match create(region(table), participant, b"pool", &geometry, &["free"]) {
        Ok(()) | Err(Error::AlreadyThere { .. }) => {}
        Err(error) => panic!("{error}"),
    }
}

fn makes() -> Write {
    Box::new(|t| make_as(t, writer(t)))
}

fn large(version: u8) -> Vec<u8> {
    vec![version; 40_000]
}

/// Takes pages for values that are not small, and gives some back.
fn writes() -> Write {
    Box::new(|t| {
        for (key, version) in [(b"one", 1), (b"two", 1), (b"two", 2)] {
            t.set(key, large(version)).expect("room");
        }
    })
}

fn reclaim_dead(table: &Table, dead: u32) {
    leave(table, dead);
    let all = release_claims(region(table), writer(table), id(dead));
    assert!(all.expect("no error"), "more than one go");
}

/// In the end the pool is there, or can be made, and the values are whole.
fn all_is_there(table: &Table) {
    let pool = match table.pool("pool") {
        Err(Error::NotThere { .. }) => QueueOptions::new(ELEMENTS, BYTES).create_in(table, "pool"),
        there => there,
    };
    let pool = pool.expect("a whole pool");
    let free = pool.queue("free").expect("its queue");
    let all: Vec<u32> = std::iter::from_fn(|| free.pop().expect("no damage")).collect();
    assert_eq!(all, [0, 1, 2]);
    for element in all {
        pool.write(element, 0, &[9; BYTES as usize])
            .expect("it is held");
    }
    for (key, version) in [(b"one", 1), (b"two", 2)] {
        assert_eq!(table.get(key).expect("no damage"), Some(large(version)));
    }
    is_whole(table);
    let is_used = |extent: &&Extent| extent.state() != ExtentState::Free;
    assert_eq!(region(table).extents().iter().filter(is_used).count(), 1);
}

/// Takes the pages of a pool, and is no more.
fn leave_half(table: &Table, slot: u32, name: &[u8]) {
    let building = build_extent(
        region(table),
        played(slot),
        ExtentKind::QueuePool,
        name,
        2 * PAGE,
    );
    std::mem::forget(building.expect("room"));
}

/// A table whose first place for a pool was used before.
fn begin() -> Arc<Table> {
    table(|t| {
        leave_half(t, LONG_GONE, b"old");
        reclaim_dead(t, LONG_GONE);
        attach(t, FIRST);
        attach(t, SECOND);
    })
}

/// Lets a maker die while the table is written to, and perhaps another is at it.
fn dying(others: fn() -> Vec<Write>) {
    let work: Work = Arc::new(|t| make_as(t, played(FIRST)));
    let deaths = Deaths::of(begin, &work);
    let seen = Arc::clone(&deaths);
    deaths.explore(400, move || {
        let table = begin();
        let die = seen.meet(&work);
        let all = others().into_iter().chain([Box::new(move |t: &Table| {
            die(t);
            reclaim_dead(t, FIRST);
        }) as Write]);
        beside(&table, all.collect(), Vec::new());
        quietly(|| all_is_there(&table));
    });
}

#[test]
fn a_maker_dies() {
    dying(|| vec![writes()]);
}

#[test]
fn a_maker_dies_beside_another() {
    dying(|| vec![makes(), writes()]);
}

/// Of two that die, the second may be just undoing what the first had not finished.
#[test]
fn two_makers_die() {
    let first: Work = Arc::new(|t| leave_half(t, FIRST, b"pool"));
    let second: Work = Arc::new(|t| make_as(t, played(SECOND)));
    let in_first = Deaths::of(begin, &first);
    // The last store raises the high-water mark.
    let in_second = Deaths::of(in_first.before_the_last_store(begin, &first), &second);
    let seen = Arc::clone(&in_second);
    in_second.explore(600, move || {
        let table = begin();
        in_first.meet(&first)(&table);
        leave(&table, FIRST);
        let die = seen.meet(&second);
        let die: Write = Box::new(move |t| {
            die(t);
            reclaim_dead(t, FIRST);
            reclaim_dead(t, SECOND);
        });
        beside(&table, vec![die, writes()], Vec::new());
        quietly(|| all_is_there(&table));
    });
}

/// Two threads may reclaim what a dead participant had at once, and then a pool is made in its
/// place.
#[test]
fn what_a_dead_maker_left_goes_back_once() {
    for reclaimers in 1..3 {
        explore_fully(700, move || {
            let table = table(|t| leave_half(t, FIRST, b"pool"));
            let reclaims =
                (0..reclaimers).map(|_| Box::new(|t: &Table| reclaim_dead(t, FIRST)) as Write);
            let others: [Write; 2] = [makes(), writes()];
            beside(&table, reclaims.chain(others).collect(), Vec::new());
            quietly(|| all_is_there(&table));
        });
    }
}

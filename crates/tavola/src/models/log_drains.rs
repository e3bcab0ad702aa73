//! Drains that begin, end and die while writers wait for them, and repair.

use super::deaths::{Deaths, Work};
use super::log_deaths::{
    FIRST, all_sheets_serve, becomes_drain, begin, drain_and_readers, drains_by_turns, dying,
};
use super::log_story::{LONG, SHORT, SharedStory, damage, excess, on_log, pass, reads, writes};
use super::queue_deaths::{leave, played};
use super::{Observer, Table, Write, beside, explore_fully, quietly, thread, writer};
use crate::layout::{BLOCK, DROP_NEWEST, DROP_OLDEST};
use crate::lock::Me;
use crate::log::{DrainState, LogRing, end_drain, repair};
use crate::sync::Ordering;
use crate::sync::model::with_exchanges;
use std::sync::{Arc, Mutex};

fn drains_a_while(ring: &LogRing<'_>, shared: &SharedStory) {
    let mut state = DrainState::default();
    if becomes_drain(ring, played(FIRST), shared) {
        for until in [None, Some(u64::MAX)] {
            pass(ring, &mut state, until, shared);
        }
        end_drain(ring, played(FIRST).id());
    }
}

/// As [`begin`], without a drain.
fn undrained(policy: u32, drained: u32, full: u32, shared: &SharedStory) -> Arc<Table> {
    let table = begin(policy, drained, full, shared);
    on_log(&table, |ring| {
        quietly(|| end_drain(ring, writer(&table).id()))
    });
    table
}

/// Lets a drain die at each step of beginning, of its passes and of ending.
#[test]
fn in_draining() {
    for policy in [DROP_OLDEST, DROP_NEWEST] {
        let log = move |shared: &SharedStory| undrained(policy, 0, 3, shared);
        dying(100, log, drains_a_while, drain_and_readers, 0);
    }
}

/// The next drain wakes the threads that waited for the dead one: no nap has to end.
#[test]
fn in_draining_for_a_waiting_writer() {
    let observers = |shared: &SharedStory| vec![drains_by_turns(shared), reads()];
    let log = |shared: &SharedStory| undrained(BLOCK, 0, 4, shared);
    dying(200, log, drains_a_while, observers, 0);
}

/// A waiting writer is woken by the drain's end, whether it has written lines out or not.
#[test]
fn a_waiting_writer_learns_of_the_end() {
    for passes in 0..2 {
        explore_fully(100, move || {
            let shared = SharedStory::default();
            let table = begin(BLOCK, 0, 4, &shared);
            let heard = Arc::clone(&shared);
            let ends: Write = Box::new(move |t| {
                let mut state = DrainState::default();
                on_log(t, |ring| {
                    (0..passes).for_each(|_| pass(ring, &mut state, None, &heard));
                    end_drain(ring, writer(t).id());
                });
            });
            let [one, other] = [2, 3].map(|number| writes(number, &[LONG, SHORT, LONG], &shared));
            beside(&table, vec![one, other, ends], vec![]);
            assert_eq!(excess(&table, &shared), 0);
            all_sheets_serve(&table, &shared);
        });
    }
}

/// Is the drain now and then, and never beside another.
fn takes_turns(me: fn(&Table) -> Me, is_drained: &Arc<Mutex<bool>>, shared: &SharedStory) -> Write {
    let (is_drained, shared) = (Arc::clone(is_drained), Arc::clone(shared));
    Box::new(move |t| {
        on_log(t, |ring| {
            for _ in 0..3 {
                if becomes_drain(ring, me(t), &shared) {
                    let was = std::mem::replace(&mut *is_drained.lock().unwrap(), true);
                    assert!(!was, "two drains");
                    pass(ring, &mut DrainState::default(), None, &shared);
                    *is_drained.lock().unwrap() = false;
                    end_drain(ring, me(t).id());
                }
                thread::yield_now();
            }
        });
    })
}

#[test]
fn two_want_to_drain() {
    for policy in [DROP_OLDEST, DROP_NEWEST, BLOCK] {
        explore_fully(60, move || {
            let shared = SharedStory::default();
            let table = undrained(policy, 0, 3, &shared);
            let is_drained = Arc::default();
            let one = takes_turns(writer, &is_drained, &shared);
            let other = takes_turns(|_| played(FIRST), &is_drained, &shared);
            let writes = writes(2, &[LONG, SHORT, LONG, LONG], &shared);
            beside(&table, vec![one, other, writes], vec![]);
            assert_eq!(excess(&table, &shared), 0);
            let story = shared.lock().unwrap();
            assert!(story.left.is_empty(), "{:?} was left", story.left);
            assert!(story.drained.values().all(|times| *times == 1));
        });
    }
}

/// A log without a drain, with a damaged sheet that was drained, and one that was not.
fn damaged(policy: u32, shared: &SharedStory) -> Arc<Table> {
    let table = undrained(policy, 1, 2, shared);
    // It was drained; the other was not, and counts as dropped from now on.
    damage(&table, 101, shared);
    damage(&table, 151, shared);
    table
}

fn repairs() -> Observer {
    Box::new(|t| {
        on_log(t, |ring| repair(ring, writer(t)));
    })
}

/// In the end nothing is damaged, `again` may have been drained twice, and no more than `most`
/// lines were written out or counted once too often.
fn is_repaired(table: &Table, shared: &SharedStory, again: &[u32], most: u64) {
    let more = excess(table, shared);
    assert!(more <= most, "{more} too many");
    for (number, times) in &shared.lock().unwrap().drained {
        let most = 1 + u32::from(again.contains(number));
        assert!(*times <= most, "{number} was drained {times} times");
    }
    all_sheets_serve(table, shared);
}

/// If the repairer dies before `drained` is of the sheet as it is now, its lines are drained once
/// more; if it dies before the sheet is begun again, the two lines of the other sheet, 150 and the
/// damaged 151, are counted twice.
#[test]
fn in_repair() {
    with_exchanges(|| {
        let work: Work = Arc::new(|t| {
            on_log(t, |ring| repair(ring, played(FIRST)));
        });
        let deaths = Deaths::of(|| damaged(DROP_NEWEST, &SharedStory::default()), &work);
        let seen = Arc::clone(&deaths);
        deaths.explore(150, move || {
            let shared = SharedStory::default();
            let table = damaged(DROP_NEWEST, &shared);
            let dies = seen.meet(&work);
            let dies: Write = Box::new(move |t| {
                dies(t);
                leave(t, FIRST);
            });
            let survivor = writes(2, &[LONG, SHORT, LONG], &shared);
            beside(&table, vec![dies, survivor], vec![repairs(), reads()]);
            is_repaired(&table, &shared, &[100], 2);
        });
    });
}

/// What a drain has in hand while its sheet is repaired is not taken for dropped.
#[test]
fn a_drain_beside_repair() {
    for policy in [DROP_NEWEST, BLOCK] {
        explore_fully(100, move || {
            let shared = SharedStory::default();
            let table = damaged(policy, &shared);
            on_log(&table, |ring| {
                assert!(quietly(|| becomes_drain(ring, writer(&table), &shared)));
            });
            let survivor = writes(2, &[LONG, SHORT, LONG], &shared);
            let repairs_once: Write = Box::new(|t| {
                on_log(t, |ring| repair(ring, played(FIRST)));
            });
            // Damaged lines that await the drain may be left to it: repair comes behind it, too.
            let (mut drain, mut repair) = (drains_by_turns(&shared), repairs());
            let drains: Observer = Box::new(move |t| {
                drain(t);
                repair(t);
            });
            beside(&table, vec![survivor, repairs_once], vec![drains, reads()]);
            let dropped = on_log(&table, |ring| ring.head.dropped.load(Ordering::Relaxed));
            // Those of the writer, and what was on the damaged sheets.
            assert!(dropped <= 7, "{dropped} of 7 lines were dropped");
            is_repaired(&table, &shared, &[100, 150], 2);
        });
    }
}

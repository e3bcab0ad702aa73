//! Drains that begin, end and die while writers wait for them, and repair.

use super::deaths::{Deaths, Work};
use super::log_deaths::{
    FIRST, all_sheets_serve, becomes_drain, begin, drains_by_turns, dying, others,
};
use super::log_story::{LONG, SHORT, Told, damage, excess, on_log, pass, reads, writes};
use super::queue_deaths::{leave, played};
use super::{Look, Table, Write, beside, explore_fully, quietly, thread, writer};
use crate::layout::{BLOCK, DROP_NEWEST, DROP_OLDEST};
use crate::lock::Me;
use crate::log::{DrainState, LogRing, end_drain, repair};
use crate::sync::Ordering;
use crate::sync::model::with_exchanges;
use std::sync::{Arc, Mutex};

fn drains_a_while(ring: &LogRing<'_>, told: &Told) {
    let mut state = DrainState::default();
    if becomes_drain(ring, played(FIRST), told) {
        for until in [None, Some(u64::MAX)] {
            pass(ring, &mut state, until, told);
        }
        end_drain(ring, played(FIRST).id());
    }
}

/// As [`begin`], without a drain.
fn undrained(log: (u32, u32, u32), told: &Told) -> Arc<Table> {
    let table = begin(log, told);
    on_log(&table, |ring| {
        quietly(|| end_drain(ring, writer(&table).id()))
    });
    table
}

/// Lets a drain die at each step of beginning, of its passes and of ending.
#[test]
fn in_draining() {
    for policy in [DROP_OLDEST, DROP_NEWEST] {
        let log = move |told: &Told| undrained((policy, 0, 3), told);
        dying(100, log, drains_a_while, others, 0);
    }
}

/// Whoever is the drain next wakes those who waited for the dead one: no nap has to end.
#[test]
fn in_draining_for_who_waits() {
    let looks = |told: &Told| vec![drains_by_turns(told), reads()];
    let log = |told: &Told| undrained((BLOCK, 0, 4), told);
    dying(200, log, drains_a_while, looks, 0);
}

/// Who waits is woken by the drain's end, whether it has written lines out or not.
#[test]
fn who_waits_learns_of_the_end() {
    for passes in 0..2 {
        explore_fully(100, move || {
            let told = Told::default();
            let table = begin((BLOCK, 0, 4), &told);
            let heard = Arc::clone(&told);
            let ends: Write = Box::new(move |t| {
                let mut state = DrainState::default();
                on_log(t, |ring| {
                    (0..passes).for_each(|_| pass(ring, &mut state, None, &heard));
                    end_drain(ring, writer(t).id());
                });
            });
            let [one, other] = [2, 3].map(|number| writes(number, &[LONG, SHORT, LONG], &told));
            beside(&table, vec![one, other, ends], vec![]);
            assert_eq!(excess(&table, &told), 0);
            all_sheets_serve(&table, &told);
        });
    }
}

/// Is the drain now and then, and never beside another.
fn takes_turns(me: fn(&Table) -> Me, is_drained: &Arc<Mutex<bool>>, told: &Told) -> Write {
    let (is_drained, told) = (Arc::clone(is_drained), Arc::clone(told));
    Box::new(move |t| {
        on_log(t, |ring| {
            for _ in 0..3 {
                if becomes_drain(ring, me(t), &told) {
                    let was = std::mem::replace(&mut *is_drained.lock().unwrap(), true);
                    assert!(!was, "two drains");
                    pass(ring, &mut DrainState::default(), None, &told);
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
            let told = Told::default();
            let table = undrained((policy, 0, 3), &told);
            let is_drained = Arc::default();
            let one = takes_turns(writer, &is_drained, &told);
            let other = takes_turns(|_| played(FIRST), &is_drained, &told);
            let writes = writes(2, &[LONG, SHORT, LONG, LONG], &told);
            beside(&table, vec![one, other, writes], vec![]);
            assert_eq!(excess(&table, &told), 0);
            let story = told.lock().unwrap();
            assert!(story.left.is_empty(), "{:?} was left", story.left);
            assert!(story.drained.values().all(|times| *times == 1));
        });
    }
}

/// A log without a drain, with a damaged sheet that was drained, and one that was not.
fn damaged(policy: u32, told: &Told) -> Arc<Table> {
    let table = undrained((policy, 1, 2), told);
    // It was drained; the other was not, and counts as dropped from now on.
    damage(&table, 101, told);
    damage(&table, 151, told);
    table
}

fn repairs() -> Look {
    Box::new(|t| {
        on_log(t, |ring| repair(ring, writer(t)));
    })
}

/// In the end nothing is damaged, `again` may have been drained twice, and no more than `most`
/// lines were written out or counted once too often.
fn is_repaired(table: &Table, told: &Told, again: &[u32], most: u64) {
    let more = excess(table, told);
    assert!(more <= most, "{more} too many");
    for (number, times) in &told.lock().unwrap().drained {
        let most = 1 + u32::from(again.contains(number));
        assert!(*times <= most, "{number} was drained {times} times");
    }
    all_sheets_serve(table, told);
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
        let deaths = Deaths::of(|| damaged(DROP_NEWEST, &Told::default()), &work);
        let seen = Arc::clone(&deaths);
        deaths.explore(150, move || {
            let told = Told::default();
            let table = damaged(DROP_NEWEST, &told);
            let dies = seen.meet(&work);
            let dies: Write = Box::new(move |t| {
                dies(t);
                leave(t, FIRST);
            });
            let goes_on = writes(2, &[LONG, SHORT, LONG], &told);
            beside(&table, vec![dies, goes_on], vec![repairs(), reads()]);
            is_repaired(&table, &told, &[100], 2);
        });
    });
}

/// What a drain has in hand while its sheet is repaired is not taken for dropped.
#[test]
fn a_drain_beside_repair() {
    for policy in [DROP_NEWEST, BLOCK] {
        explore_fully(100, move || {
            let told = Told::default();
            let table = damaged(policy, &told);
            on_log(&table, |ring| {
                assert!(quietly(|| becomes_drain(ring, writer(&table), &told)));
            });
            let goes_on = writes(2, &[LONG, SHORT, LONG], &told);
            let repairs_once: Write = Box::new(|t| {
                on_log(t, |ring| repair(ring, played(FIRST)));
            });
            // Damaged lines that await the drain may be left to it: repair comes behind it, too.
            let (mut drain, mut repair) = (drains_by_turns(&told), repairs());
            let drains: Look = Box::new(move |t| {
                drain(t);
                repair(t);
            });
            beside(&table, vec![goes_on, repairs_once], vec![drains, reads()]);
            let dropped = on_log(&table, |ring| ring.head.dropped.load(Ordering::Relaxed));
            // Those of the writer, and what was on the damaged sheets.
            assert!(dropped <= 7, "{dropped} of 7 lines were dropped");
            is_repaired(&table, &told, &[100, 150], 2);
        });
    }
}

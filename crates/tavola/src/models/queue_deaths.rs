//! Participants that die pushing and popping, and making a pool: what they moved is in one place,
//! the threads that they left in the middle continue.
//!
//! The one that dies is another participant than the survivors. It attaches to a slot and leaves
//! it, so that its elements are lost property once it is dead; its locks are left abandoned, as by
//! a panic, so what a push had not done becomes the property of [`ABANDONED`], which is dead as
//! well.

use super::deaths::{Deaths, Work};
use super::queues::{Queues, drain, pool_of};
use super::{Table, Write, beside, is_whole, quietly, region, run_once, writer};
use crate::Error;
use crate::lock::ABANDONED;
use crate::lock::Me;
use crate::queue::{Ends, open};
use crate::sync::Ordering;
use crate::sync::model::outlives;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

/// The slots of those who die.
const FIRST: u32 = 7;
const SECOND: u32 = 8;

/// The participant of a slot in its first generation.
pub(super) fn id(slot: u32) -> u32 {
    slot | 1 << 12
}

/// The participant of a slot, played by a thread.
pub(super) fn played(slot: u32) -> Me {
    Me::played(id(slot))
}

pub(super) fn attach(table: &Table, slot: u32) {
    let p = region(table).participant(slot);
    p.generation.store(1, Ordering::Relaxed);
    p.state.store(1, Ordering::Relaxed);
}

/// It is dead from now on.
pub(super) fn leave(table: &Table, slot: u32) {
    region(table)
        .participant(slot)
        .state
        .store(0, Ordering::Relaxed);
}

fn ends(table: &Table, queue: u32) -> Ends<'_> {
    let there = open(region(table), b"pool").expect("no damage");
    let (base, pool) = there.expect("it was made");
    Ends::of(region(table), base, &pool, queue)
}

fn push(table: &Table, slot: u32, queue: u32, elements: &[u32]) -> Result<bool, Error> {
    ends(table, queue).push(played(slot), elements)
}

fn pop(table: &Table, slot: u32, queue: u32, most: usize) -> Vec<u32> {
    let mut out = vec![0; most];
    let popped = ends(table, queue).pop(played(slot), &mut out);
    out.truncate(popped.expect("no damage"));
    out
}

/// The elements whose words name one of these.
fn held_by(table: &Table, holders: &[u32]) -> BTreeSet<u32> {
    let owners = (0..).zip(ends(table, 0).owners);
    let held = owners.filter(|(_, word)| holders.contains(&word.load(Ordering::Relaxed)));
    held.map(|(element, _)| element).collect()
}

const ELEMENTS: u32 = 8;

/// The first of those who will die holds 0, 1 and 2, the second 3, a survivor 4.
fn begin() -> Arc<Table> {
    let table = pool_of(ELEMENTS);
    quietly(|| {
        attach(&table, FIRST);
        attach(&table, SECOND);
        assert_eq!(pop(&table, FIRST, 0, 3), [0, 1, 2]);
        assert_eq!(pop(&table, SECOND, 0, 1), [3]);
    });
    table
}

/// What all survivors hold.
type Held = Arc<Mutex<BTreeSet<u32>>>;

fn keep(held: &Held, mine: Vec<u32>) {
    for element in mine {
        assert!(held.lock().unwrap().insert(element), "{element} twice");
    }
}

/// Pushes and pops at all ends, after a push that is refused because of the last of its elements.
fn uses_all_ends(held: &Held) -> Write {
    let held = Arc::clone(held);
    Box::new(move |t| {
        let (queues, mut mine) = (Queues::of(t), vec![0; 2]);
        let count = queues.a.pop_many(&mut mine).expect("no damage");
        mine.truncate(count);
        let refused = queues.b.push_many(&[&mine[..], &[ELEMENTS]].concat());
        assert!(matches!(refused, Err(Error::NotHeld { element: ELEMENTS })));
        queues.a.push_many(&mine).expect("they are held still");
        mine.clear();
        for _ in 0..2 {
            mine.extend(queues.a.pop().expect("no damage"));
            if let Some(element) = mine.pop() {
                queues.b.push(element).expect("it was popped");
            }
            if let Some(element) = queues.b.pop().expect("no damage") {
                queues.a.push(element).expect("it was popped");
            }
        }
        mine.extend(queues.b.pop().expect("no damage"));
        keep(&held, mine);
    })
}

/// Takes what the dead held, again and again, and pushes some of it.
fn reclaims(held: &Held) -> Write {
    let held = Arc::clone(held);
    Box::new(move |t| {
        let (queues, mut mine) = (Queues::of(t), Vec::new());
        for _ in 0..2 {
            mine.extend(queues.pool.reclaim().expect("no error"));
            if let Some(element) = mine.pop() {
                queues.a.push(element).expect("it was reclaimed");
            }
        }
        keep(&held, mine);
    })
}

/// In the end the survivors hold what they think they do, the dead the rest, and all of it can be
/// had and used.
fn all_is_there(table: &Table, held: &Held) {
    let queues = Queues::of(table);
    let dead = [id(FIRST), id(SECOND), ABANDONED];
    quietly(|| {
        is_whole(table);
        let held = held.lock().unwrap();
        assert_eq!(held_by(table, &[writer(table).id()]), *held);
        let lost = held_by(table, &dead);
        let reclaimed = queues.pool.reclaim().expect("no error");
        assert_eq!(lost, reclaimed.iter().copied().collect());
        for element in held.iter().chain(&reclaimed) {
            queues.b.push(*element).expect("it is held");
        }
    });
    let mut all = [drain(&queues.a), drain(&queues.b)].concat();
    all.sort_unstable();
    assert_eq!(all, (0..ELEMENTS).collect::<Vec<_>>());
    quietly(|| is_whole(table));
}

/// Lets the participant of a slot do that, and die of it or after it.
fn dies(slot: u32, deaths: &Arc<Deaths>, work: &Work) -> Write {
    let die = deaths.meet(work);
    Box::new(move |t| {
        die(t);
        leave(t, slot);
    })
}

/// Lets one die in `work`, while others use the same ends and take what it leaves.
fn dying(schedules: usize, work: impl Fn(&Table) + Send + Sync + 'static) {
    let work: Work = Arc::new(work);
    let deaths = Deaths::of(begin, &work);
    let seen = Arc::clone(&deaths);
    deaths.explore(schedules, move || {
        let (table, held) = (begin(), Held::default());
        quietly(|| leave(&table, SECOND));
        let die = dies(FIRST, &seen, &work);
        let others = [uses_all_ends(&held), reclaims(&held), reclaims(&held)];
        beside(
            &table,
            [die].into_iter().chain(others).collect(),
            Vec::new(),
        );
        all_is_there(&table, &held);
    });
}

#[test]
fn in_pushes() {
    dying(400, |t| {
        push(t, FIRST, 1, &[0]).expect("it is held");
        push(t, FIRST, 1, &[1]).expect("it is held");
    });
}

#[test]
fn in_a_push_of_many() {
    dying(400, |t| {
        push(t, FIRST, 1, &[2, 0, 1]).expect("they are held");
    });
}

/// One element in the middle is not its own, and one is there twice: nothing is pushed.
#[test]
fn in_pushes_that_are_refused() {
    dying(400, |t| {
        for run in [[0, 2, 3, 1], [1, 0, 2, 1]] {
            let outcome = push(t, FIRST, 1, &run);
            assert!(matches!(outcome, Err(Error::NotHeld { element: 1 | 3 })));
        }
        push(t, FIRST, 1, &[0, 1]).expect("they are held");
    });
}

#[test]
fn in_pops() {
    dying(400, |t| {
        pop(t, FIRST, 0, 1);
        pop(t, FIRST, 0, 1);
    });
}

#[test]
fn in_a_pop_of_many() {
    dying(400, |t| {
        pop(t, FIRST, 0, 3);
    });
}

#[test]
fn in_passing() {
    dying(400, |t| {
        for (from, to) in [(0, 1), (1, 0)] {
            let run = pop(t, FIRST, from, 2);
            if !run.is_empty() {
                push(t, FIRST, to, &run).expect("they were popped");
            }
        }
    });
}

/// Lets one die in `first`, and another one where it settles that or in what it does then.
fn dying_twice(
    first: impl Fn(&Table) + Send + Sync + 'static,
    second: impl Fn(&Table) + Send + Sync + 'static,
) {
    let (first, second): (Work, Work) = (Arc::new(first), Arc::new(second));
    let in_first = Deaths::of(begin, &first);
    let in_second = Deaths::of(in_first.before_the_last_store(begin, &first), &second);
    let seen = Arc::clone(&in_second);
    in_second.explore(400, move || {
        let (table, held) = (begin(), Held::default());
        dies(FIRST, &in_first, &first)(&table);
        let die = dies(SECOND, &seen, &second);
        let all = vec![die, uses_all_ends(&held), reclaims(&held)];
        beside(&table, all, Vec::new());
        all_is_there(&table, &held);
    });
}

#[test]
fn in_reclaiming_a_push() {
    dying_twice(
        |t| assert!(push(t, FIRST, 1, &[0, 1, 2]).is_ok()),
        |t| assert!(push(t, SECOND, 1, &[3]).is_ok()),
    );
}

#[test]
fn in_reclaiming_a_pop() {
    dying_twice(
        |t| drop(pop(t, FIRST, 0, 3)),
        |t| drop(pop(t, SECOND, 0, 2)),
    );
}

/// One call after a death returns all of what was lost by it.
#[test]
fn one_reclaim_gives_it_all() {
    let work: Work = Arc::new(|t| assert!(push(t, FIRST, 1, &[0, 1, 2]).is_ok()));
    for k in 1..=Deaths::of(begin, &work).stores {
        let work = Arc::clone(&work);
        run_once(move || {
            let (table, held) = (begin(), Held::default());
            assert_eq!(outlives(k, || work(&table)), None);
            leave(&table, FIRST);
            leave(&table, SECOND);
            let queues = Queues::of(&table);
            keep(&held, quietly(|| queues.pool.reclaim()).expect("no error"));
            let dead = [id(FIRST), id(SECOND), ABANDONED];
            assert_eq!(quietly(|| held_by(&table, &dead)), BTreeSet::new());
            all_is_there(&table, &held);
        });
    }
}

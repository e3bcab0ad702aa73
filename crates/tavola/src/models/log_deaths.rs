//! Logs whose writers and drains die: the survivors continue, on all sheets, and no line that was
//! written is lost.
//!
//! The one that dies is another participant than the survivors. It is attached until it is dead.

use super::deaths::{Deaths, Work};
use super::log_story::{LONG, SHORT, SharedStory, excess, filled, log_line, on_log, pass};
use super::log_story::{reads, write_out, writes};
use super::queue_deaths::{attach, leave, played};
use super::{Observer, Table, Write, beside, explore_fully, quietly, writer};
use crate::layout::{BLOCK, DROP_NEWEST, DROP_OLDEST, FEWEST_SHEETS};
use crate::lock::{Me, wake};
use crate::log::{DrainState, Hand, LogRing, Put, begin_drain, end_drain};
use crate::sync::Ordering;
use crate::sync::model::with_exchanges;
use std::sync::Arc;

/// The slot of who dies.
pub(super) const FIRST: u32 = 7;
/// The most lines that a sheet has here.
const LINES: u64 = 4;

/// What the one does who dies.
pub(super) type Act = fn(&LogRing<'_>, &SharedStory);

/// A drain begins again with what the one before it wrote last.
pub(super) fn becomes_drain(ring: &LogRing<'_>, me: Me, shared: &SharedStory) -> bool {
    let is_drain = begin_drain(ring, me).is_ok();
    if is_drain {
        let mut story = shared.lock().unwrap();
        let left = std::mem::take(&mut story.unfinished);
        story.left.extend(left);
        story.last = 0;
    }
    is_drain
}

/// Is the drain for a pass, if nobody else is who lives.
pub(super) fn drains_by_turns(shared: &SharedStory) -> Observer {
    let shared = Arc::clone(shared);
    let mut state = DrainState::default();
    Box::new(move |t| {
        on_log(t, |ring| {
            let is_it = ring.head.drain.load(Ordering::Relaxed) == writer(t).id();
            if is_it || becomes_drain(ring, writer(t), &shared) {
                pass(ring, &mut state, None, &shared);
            }
        });
    })
}

/// Writes a line; what is not written is not counted.
fn put(ring: &LogRing<'_>, hand: &mut Hand, number: u32, len: usize, shared: &SharedStory) {
    shared.lock().unwrap().being_written.insert(number);
    let put = log_line(number, len, |line| ring.put(played(FIRST), hand, line));
    let mut story = shared.lock().unwrap();
    story.being_written.remove(&number);
    if let Put::Written { .. } = put {
        story.sure.insert(number);
    }
}

fn puts_what_fits(ring: &LogRing<'_>, shared: &SharedStory) {
    let mut hand = Hand::EMPTY;
    for number in 700..703 {
        put(ring, &mut hand, number, SHORT, shared);
    }
    ring.give_up(played(FIRST), &mut hand);
}

/// The first line does not fit on the sheet in hand.
fn puts_on_the_next(ring: &LogRing<'_>, shared: &SharedStory) {
    let mut hand = Hand::EMPTY;
    quietly(|| {
        for number in 700..702 {
            put(ring, &mut hand, number, LONG, shared);
        }
    });
    for number in 702..704 {
        put(ring, &mut hand, number, SHORT, shared);
    }
    ring.give_up(played(FIRST), &mut hand);
}

/// A log with so many full sheets that were drained, and such that were not.
pub(super) fn begin(policy: u32, drained: u32, full: u32, shared: &SharedStory) -> Arc<Table> {
    let table = filled(policy, drained, shared);
    quietly(|| attach(&table, FIRST));
    on_log(&table, |ring| {
        let mut hand = Hand::EMPTY;
        quietly(|| pass(ring, &mut DrainState::default(), Some(u64::MAX), shared));
        for number in 150..150 + full * 2 {
            quietly(|| put(ring, &mut hand, number, LONG, shared));
        }
        quietly(|| ring.give_up(played(FIRST), &mut hand));
        quietly(|| end_drain(ring, writer(&table).id()));
        assert!(quietly(|| becomes_drain(ring, writer(&table), shared)));
    });
    table
}

fn work_of(act: Act, shared: &SharedStory) -> Work {
    let shared = Arc::clone(shared);
    Arc::new(move |t| on_log(t, |ring| act(ring, &shared)))
}

/// In the end every sheet can be had, those of the dead, too.
pub(super) fn all_sheets_serve(table: &Table, shared: &SharedStory) {
    on_log(table, |ring| {
        let mut hands = [Hand::EMPTY; FEWEST_SHEETS as usize];
        quietly(|| pass(ring, &mut DrainState::default(), Some(u64::MAX), shared));
        for (number, hand) in (1000..).zip(&mut hands) {
            let me = writer(table);
            let put = quietly(|| log_line(number, LONG, |line| ring.put(me, hand, line)));
            assert!(matches!(put, Put::Written { .. }), "{put:?}");
        }
    });
}

/// The observers beside one that dies.
pub(super) fn drain_and_readers(shared: &SharedStory) -> Vec<Observer> {
    vec![drains_by_turns(shared), reads(), naps_end()]
}

/// What the others do beside one who dies, and what holds in the end.
pub(super) fn check_survivors(
    table: &Arc<Table>,
    shared: &SharedStory,
    dies: Write,
    observers: Vec<Observer>,
    bound: u64,
) {
    let dies: Write = Box::new(move |t| {
        dies(t);
        leave(t, FIRST);
    });
    let survivor = writes(2, &[LONG, LONG, LONG], shared);
    beside(table, vec![dies, survivor], observers);
    let more = excess(table, shared);
    let left = shared.lock().unwrap().left.clone();
    assert!(more <= bound + left.len() as u64, "{more} too many");
    for (number, times) in &shared.lock().unwrap().drained {
        let most = 1 + u32::from(left.contains(number));
        assert!(*times <= most, "{number} was drained {times} times");
    }
    all_sheets_serve(table, shared);
}

/// Lets one die in `act`; the death may count so many lines that are written out.
pub(super) fn dying(
    schedules: usize,
    begin: impl Fn(&SharedStory) -> Arc<Table> + Copy + Send + Sync + 'static,
    act: Act,
    observers: fn(&SharedStory) -> Vec<Observer>,
    bound: u64,
) {
    with_exchanges(|| {
        let unheard = SharedStory::default();
        let deaths = Deaths::of(
            move || begin(&SharedStory::default()),
            &work_of(act, &unheard),
        );
        let seen = Arc::clone(&deaths);
        deaths.explore(schedules, move || {
            let shared = SharedStory::default();
            let table = begin(&shared);
            let dies = seen.meet(&work_of(act, &shared));
            check_survivors(&table, &shared, dies, observers(&shared), bound);
        });
    });
}

/// Time passes for who waits for a drain that has died.
fn naps_end() -> Observer {
    Box::new(|t| on_log(t, |ring| wake(&ring.head.passes, u32::MAX)))
}

#[test]
fn in_lines_that_fit() {
    let log = |shared: &SharedStory| begin(DROP_OLDEST, 0, 2, shared);
    dying(200, log, puts_what_fits, drain_and_readers, LINES);
}

#[test]
fn in_dropping_the_oldest() {
    let log = |shared: &SharedStory| begin(DROP_OLDEST, 0, 3, shared);
    dying(200, log, puts_on_the_next, drain_and_readers, LINES);
}

#[test]
fn in_searching_for_a_drained_sheet() {
    for policy in [DROP_NEWEST, BLOCK] {
        let log = move |shared: &SharedStory| begin(policy, 1, 2, shared);
        dying(100, log, puts_on_the_next, drain_and_readers, 0);
    }
}

/// A drain dies when it has become one, when it has written lines out, and after a pass.
#[test]
fn a_drain_dies_and_another_continues() {
    for policy in [DROP_OLDEST, DROP_NEWEST, BLOCK] {
        for stage in 0..3 {
            explore_fully(30, move || {
                let shared = SharedStory::default();
                let table = begin(policy, 0, 3, &shared);
                on_log(&table, |ring| {
                    quietly(|| end_drain(ring, writer(&table).id()))
                });
                let heard = Arc::clone(&shared);
                let dies: Write = Box::new(move |t| {
                    let mut state = DrainState::default();
                    on_log(t, |ring| {
                        if becomes_drain(ring, played(FIRST), &heard) {
                            match stage {
                                0 => {}
                                1 => write_out(ring, &mut state, None, &heard),
                                _ => pass(ring, &mut state, None, &heard),
                            }
                        }
                    });
                });
                check_survivors(&table, &shared, dies, drain_and_readers(&shared), 0);
            });
        }
    }
}

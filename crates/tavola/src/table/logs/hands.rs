//! The sheets that a thread has in hand, of the logs it writes to.
//!
//! A signal handler may write a line while its thread is writing one. It finds the hands busy then
//! and writes on a sheet that it takes for this line alone.

use super::ring::Place;
use crate::engine::Core;
use crate::lock::Me;
use crate::log::{Hand, Ring};
use crate::sync::handler_fence;
use crate::sys::process::{identity, thread_id};
use std::cell::{Cell, RefCell};
use std::sync::{Arc, Weak};

/// Logs that a thread has a sheet of at once.
const HANDS: usize = 4;

thread_local! {
    static MINE: Hands = const { Hands::new() };
}

/// The writer of a line.
#[derive(Clone, Copy, Default)]
pub(super) struct Writer {
    pub(super) me: Me,
    pub(super) pid: u32,
    pub(super) tid: u32,
}

impl Writer {
    pub(super) fn of(me: Me) -> Self {
        Self {
            me,
            pid: identity().pid,
            tid: thread_id(),
        }
    }
}

struct Hands {
    is_busy: Cell<bool>,
    all: [Held; HANDS],
    /// The one that is given up next.
    next: Cell<usize>,
}

/// A hand, and whose it is: another log's, or a forked child's, is nothing to us. It is the same
/// for all handles of a log that a table's handle has given, so it outlives them.
struct Held {
    /// Of the core; 0: of none.
    number: Cell<u64>,
    place: Cell<Place>,
    writer: Cell<Writer>,
    hand: Cell<Hand>,
    core: RefCell<Weak<Core>>,
}

impl Hands {
    const fn new() -> Self {
        Self {
            is_busy: Cell::new(false),
            all: [const { Held::new() }; HANDS],
            next: Cell::new(0),
        }
    }

    #[inline]
    fn of(&self, core: &Arc<Core>, place: Place, me: Me) -> &Held {
        let is_it = |held: &&Held| held.is_of(core, place) && held.writer.get().me == me;
        match self.all.iter().find(is_it) {
            Some(held) => held,
            None => self.take(core, place, me),
        }
    }

    #[cold]
    fn take(&self, core: &Arc<Core>, place: Place, me: Me) -> &Held {
        let same = self.all.iter().find(|held| held.is_of(core, place));
        let held = same.unwrap_or_else(|| {
            let next = self.next.get();
            self.next.set((next + 1) % HANDS);
            &self.all[next]
        });
        held.give_up();
        held.core.replace(Arc::downgrade(core));
        held.place.set(place);
        held.writer.set(Writer::of(me));
        held.number.set(core.number);
        held
    }
}

impl Held {
    const fn new() -> Self {
        Self {
            number: Cell::new(0),
            place: Cell::new(Place::NOWHERE),
            writer: Cell::new(Writer {
                me: Me::NOBODY,
                pid: 0,
                tid: 0,
            }),
            hand: Cell::new(Hand::EMPTY),
            core: RefCell::new(Weak::new()),
        }
    }

    #[inline]
    fn is_of(&self, core: &Core, place: Place) -> bool {
        self.number.get() == core.number && self.place.get().base == place.base
    }

    /// Lets others have the sheet, unless it is the parent's of a forked child.
    fn give_up(&self) {
        self.number.set(0);
        let mut hand = self.hand.replace(Hand::EMPTY);
        if let Some(core) = self.core.replace(Weak::new()).upgrade() {
            let me = self.writer.get().me;
            if core.is_participant(me) {
                self.place.get().ring(&core).give_up(me, &mut hand);
            }
        }
    }
}

impl Drop for Hands {
    fn drop(&mut self) {
        self.all.iter().for_each(Held::give_up);
    }
}

/// Calls with what this thread has of a log.
#[inline]
pub(super) fn with<T>(
    core: &Arc<Core>,
    place: Place,
    me: Me,
    mut act: impl FnMut(&mut Hand, Writer) -> T,
) -> T {
    let done = MINE.try_with(|mine| {
        if mine.is_busy.replace(true) {
            return None;
        }
        handler_fence();
        let held = mine.of(core, place, me);
        // Empty, should this not come back.
        let mut hand = held.hand.replace(Hand::EMPTY);
        let outcome = act(&mut hand, held.writer.get());
        held.hand.set(hand);
        handler_fence();
        mine.is_busy.set(false);
        Some(outcome)
    });
    match done {
        Ok(Some(outcome)) => outcome,
        _ => alone(&place.ring(core), me, act),
    }
}

/// In a signal handler that interrupted its own thread, and when the thread is about to end.
#[cold]
fn alone<T>(ring: &Ring<'_>, me: Me, mut act: impl FnMut(&mut Hand, Writer) -> T) -> T {
    let mut hand = Hand::EMPTY;
    let outcome = act(&mut hand, Writer::of(me));
    ring.give_up(me, &mut hand);
    outcome
}

//! The sheets that a thread owns, at most one for each of four logs.
//!
//! A signal handler may write a line while its thread is writing one. It finds the hands busy, and
//! writes on a sheet that it takes for this line only.

use super::place::LogPlace;
use crate::engine::Core;
use crate::lock::Me;
use crate::log::{Hand, LogRing};
use crate::sync::handler_fence;
use crate::sys::process::{identity, thread_id};
use std::cell::{Cell, RefCell};
use std::sync::{Arc, Weak};

/// The most logs of which a thread owns a sheet at the same time.
const HANDS: usize = 4;

thread_local! {
    static MINE: Hands = const { Hands::new() };
}

/// The writer of a line.
#[derive(Clone, Copy, Default)]
pub(super) struct LineWriter {
    pub(super) me: Me,
    pub(super) pid: u32,
    pub(super) tid: u32,
}

impl LineWriter {
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
    all: [HeldSheet; HANDS],
    /// The hand that is released next.
    next: Cell<usize>,
}

/// A hand, with the log and the participant it belongs to; a hand of another log, or of a forked
/// child's parent, must not be used. All handles of a log that came from one handle of a table
/// share it, so it outlives them.
struct HeldSheet {
    /// The number of the core; 0: none.
    number: Cell<u64>,
    place: Cell<LogPlace>,
    writer: Cell<LineWriter>,
    hand: Cell<Hand>,
    core: RefCell<Weak<Core>>,
}

impl Hands {
    const fn new() -> Self {
        Self {
            is_busy: Cell::new(false),
            all: [const { HeldSheet::new() }; HANDS],
            next: Cell::new(0),
        }
    }

    #[inline]
    fn of(&self, core: &Arc<Core>, place: LogPlace, me: Me) -> &HeldSheet {
        let is_it = |held: &&HeldSheet| held.is_of(core, place) && held.writer.get().me == me;
        match self.all.iter().find(is_it) {
            Some(held) => held,
            None => self.take(core, place, me),
        }
    }

    #[cold]
    fn take(&self, core: &Arc<Core>, place: LogPlace, me: Me) -> &HeldSheet {
        let same = self.all.iter().find(|held| held.is_of(core, place));
        let held = same.unwrap_or_else(|| {
            let next = self.next.get();
            self.next.set((next + 1) % HANDS);
            &self.all[next]
        });
        held.give_up();
        held.core.replace(Arc::downgrade(core));
        held.place.set(place);
        held.writer.set(LineWriter::of(me));
        held.number.set(core.number);
        held
    }
}

impl HeldSheet {
    const fn new() -> Self {
        Self {
            number: Cell::new(0),
            place: Cell::new(LogPlace::NOWHERE),
            writer: Cell::new(LineWriter {
                me: Me::NOBODY,
                pid: 0,
                tid: 0,
            }),
            hand: Cell::new(Hand::EMPTY),
            core: RefCell::new(Weak::new()),
        }
    }

    #[inline]
    fn is_of(&self, core: &Core, place: LogPlace) -> bool {
        self.number.get() == core.number && self.place.get().base == place.base
    }

    /// Releases the sheet, unless this is a forked child and the sheet is its parent's.
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
        self.all.iter().for_each(HeldSheet::give_up);
    }
}

/// Calls `act` with this thread's hand for a log.
#[inline]
pub(super) fn with<T>(
    core: &Arc<Core>,
    place: LogPlace,
    me: Me,
    mut act: impl FnMut(&mut Hand, LineWriter) -> T,
) -> T {
    let done = MINE.try_with(|mine| {
        if mine.is_busy.replace(true) {
            return None;
        }
        handler_fence();
        let held = mine.of(core, place, me);
        // The hand is empty in the meantime, in case `act` does not return.
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

/// Calls `act` with a hand for one line: in a signal handler that interrupted its own thread, and
/// when the thread is ending.
#[cold]
fn alone<T>(ring: &LogRing<'_>, me: Me, mut act: impl FnMut(&mut Hand, LineWriter) -> T) -> T {
    let mut hand = Hand::EMPTY;
    let outcome = act(&mut hand, LineWriter::of(me));
    ring.give_up(me, &mut hand);
    outcome
}

//! Stores that other threads see late, for models (feature `shuttle`). Each thread has a queue of
//! stores that are done for itself and not yet for the others.
//!
//! The checker runs all accesses in one order. A processor does not: the others see a thread's
//! store later, and a load that follows the store may be done before that. While [`late`] runs, a
//! store or an exchange is undone right after it was done, and put in its thread's queue. The
//! thread itself loads what it stored. Others see the stores of a queue in order, each at a later
//! scheduling point.
//!
//! - A sequentially consistent fence empties the queue of its thread; so does a copy of bytes into
//!   a region.
//! - A store or an exchange empties each queue that has its word, as it works on the newest value.
//!
//! So a model finds a missing fence between a store and a load. It does not find a missing release
//! or acquire: stores stay in order, and all loads see one memory.

use shuttle::current::{TaskId, try_get_current_task};
use shuttle::rand::{Rng, thread_rng};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};

/// Items do not cross pages of this size.
const PAGE: usize = 16 << 10;

type Task = Option<TaskId>;

/// A word of shared memory, by its width.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WordAt {
    Half(*mut u32),
    Whole(*mut u64),
}

impl WordAt {
    /// Returns `None` for bytes: stores of bytes are not delayed.
    fn of<T>(at: *const T) -> Option<Self> {
        match size_of::<T>() {
            4 => Some(Self::Half(at.cast_mut().cast())),
            8 => Some(Self::Whole(at.cast_mut().cast())),
            _ => None,
        }
    }

    fn addr(self) -> usize {
        match self {
            Self::Half(at) => at.addr(),
            Self::Whole(at) => at.addr(),
        }
    }

    fn read(self) -> u64 {
        // SAFETY: a word of a region that a running model has mapped; the checker's threads are one
        // system thread.
        unsafe {
            match self {
                Self::Half(at) => u64::from(at.read()),
                Self::Whole(at) => at.read(),
            }
        }
    }

    fn write(self, value: u64) {
        // SAFETY: as in `read`.
        unsafe {
            match self {
                Self::Half(at) => at.write(value as u32),
                Self::Whole(at) => at.write(value),
            }
        }
    }
}

type StoreQueue = VecDeque<(WordAt, u64)>;

// One set per test, as in `model`.
thread_local! {
    static IS_ON: Cell<bool> = const { Cell::new(false) };
    /// The oldest store of some thread becomes visible at one of this many scheduling points.
    static ODDS: Cell<u32> = const { Cell::new(1) };
    /// What the word held before the store that is under way.
    static BEFORE: Cell<u64> = const { Cell::new(0) };
    static QUEUES: RefCell<BTreeMap<usize, (Task, StoreQueue)>> = const {
        RefCell::new(BTreeMap::new())
    };
}

fn is_on() -> bool {
    IS_ON.get() && super::checker::is_on()
}

/// Calls `work` with the queue of this thread.
fn with_own<T>(work: impl FnOnce(&mut StoreQueue) -> T) -> T {
    let me = try_get_current_task();
    let number = me.map_or(0, usize::from);
    QUEUES.with_borrow_mut(|all| work(&mut all.entry(number).or_insert((me, StoreQueue::new())).1))
}

fn empty(queue: &mut StoreQueue) {
    queue.drain(..).for_each(|(at, value)| at.write(value));
}

/// Makes all stores visible.
pub(super) fn show_all() {
    QUEUES.with_borrow_mut(|all| all.values_mut().for_each(|(_, queue)| empty(queue)));
}

/// Makes some thread's oldest store visible, with the probability of `ODDS`.
pub(super) fn pass() {
    if !is_on() || !thread_rng().gen_ratio(1, ODDS.get()) {
        return;
    }
    QUEUES.with_borrow_mut(|all| {
        let waiting = || all.values().filter(|(_, queue)| !queue.is_empty());
        let count = waiting().count();
        if count == 0 {
            return;
        }
        let chosen = thread_rng().gen_range(0..count);
        let queues = all.values_mut().map(|(_, queue)| queue);
        let queue = queues.filter(|queue| !queue.is_empty()).nth(chosen);
        if let Some((at, value)) = queue.and_then(VecDeque::pop_front) {
            at.write(value);
        }
    });
}

/// Returns what this thread loads from a word if memory holds `found`.
pub(super) fn newest<T: Copy>(at: *const T, found: T) -> T {
    let Some(word) = WordAt::of(at).filter(|_| is_on()) else {
        return found;
    };
    let own = with_own(|queue| queue.iter().rev().find(|(of, _)| *of == word).copied());
    match own {
        // SAFETY: `WordAt::of` took a type of this width.
        Some((WordAt::Half(_), value)) => unsafe { core::mem::transmute_copy(&(value as u32)) },
        // SAFETY: the same.
        Some((WordAt::Whole(_), value)) => unsafe { core::mem::transmute_copy(&value) },
        None => found,
    }
}

/// Makes this thread's stores visible, at a sequentially consistent fence.
pub(super) fn show_own() {
    if is_on() {
        with_own(empty);
    }
}

/// Makes this thread's stores visible before it copies bytes out of a page it has stored to: the
/// copy has to have them.
pub(super) fn show_page(bytes: *const u8) {
    let page = |addr: usize| addr / PAGE;
    if is_on() {
        with_own(|queue| {
            if queue
                .iter()
                .any(|(at, _)| page(at.addr()) == page(bytes.addr()))
            {
                empty(queue);
            }
        });
    }
}

/// Prepares a store or an exchange, so that it works on the newest value.
pub(super) fn before<T>(at: *const T) {
    if !is_on() {
        return;
    }
    let Some(word) = WordAt::of(at) else {
        return with_own(empty);
    };
    QUEUES.with_borrow_mut(|all| {
        for (_, queue) in all.values_mut() {
            if queue.iter().any(|(of, _)| *of == word) {
                empty(queue);
            }
        }
    });
    BEFORE.set(word.read());
}

/// Hides a store or an exchange from the other threads, after it was done.
pub(super) fn after<T>(at: *const T) {
    if !is_on() {
        return;
    }
    let Some(word) = WordAt::of(at) else { return };
    let (before, now) = (BEFORE.get(), word.read());
    if before != now {
        word.write(before);
        with_own(|queue| queue.push_back((word, now)));
    }
}

/// Does `work`, whose threads see each other's stores late.
#[cfg(test)]
pub(crate) fn late(work: impl FnOnce()) {
    QUEUES.with_borrow_mut(BTreeMap::clear);
    // The last is for reads of hundreds of words.
    let odds = [16, 256, 4096];
    ODDS.set(odds[thread_rng().gen_range(0..odds.len())]);
    IS_ON.set(true);
    work();
    show_all();
    IS_ON.set(false);
}

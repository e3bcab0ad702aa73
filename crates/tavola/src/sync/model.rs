//! The model checker's side of `sync` (feature `shuttle`). Every access is a scheduling point, the
//! scheduler knows which threads wait on a lock word, and a model can let a thread die after a
//! store.
//!
//! None of this happens outside an execution of the checker, or inside [`quietly`].

use super::W32;
pub(crate) use super::checker::is_on;
#[cfg(test)]
use super::checker::set_quiet;
use core::sync::atomic::Ordering;
use shuttle::current::{TaskId, try_get_current_task};
use shuttle::thread::{self, Thread};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::time::Duration;

/// A thread that waits on a word.
struct Sleeper {
    word: *const W32,
    thread: Thread,
    is_woken: Rc<Cell<bool>>,
}

// The checker runs all its threads on the system thread of their test, so there is one set of these
// per test.
thread_local! {
    /// Whether a thread may also die after an exchange.
    static EXCHANGES: Cell<bool> = const { Cell::new(false) };
    /// Bytes whose accesses are not scheduling points: from, to.
    static IGNORED: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
    static SLEEPERS: RefCell<Vec<Sleeper>> = const { RefCell::new(Vec::new()) };
    /// Threads that an unwinding thread has woken: it may not change threads before it has unwound.
    static WOKEN: RefCell<Vec<Thread>> = const { RefCell::new(Vec::new()) };
    static HELD: RefCell<HashMap<Option<TaskId>, u8>> = RefCell::new(HashMap::new());
    static NUMBERS: RefCell<HashMap<Option<TaskId>, u64>> = RefCell::new(HashMap::new());
    /// Which threads die, and after how many more stores.
    static DEATHS: RefCell<HashMap<Option<TaskId>, u64>> = RefCell::new(HashMap::new());
}

/// Lets any thread run next, before an access.
pub(super) fn step(at: *const u8) {
    let (from, to) = IGNORED.get();
    super::late::pass();
    if !(from..to).contains(&at.addr()) && is_on() {
        // A plain change of threads; `yield_now` would mean that this thread is waiting.
        thread::sleep(Duration::ZERO);
    }
}

/// Lets another thread run, as this one waits for it.
pub(super) fn spin() {
    if is_on() {
        super::late::show_all();
        thread::yield_now();
    }
}

/// Counts a store, and ends its thread if that was to die after it.
pub(super) fn stored() {
    if !is_on() {
        return;
    }
    let was_last = DEATHS.with_borrow_mut(|deaths| {
        let left = deaths.get_mut(&try_get_current_task())?;
        *left -= 1;
        Some(*left == 0)
    });
    if was_last == Some(true) {
        std::panic::resume_unwind(Box::new(Death));
    }
}

/// Counts an exchange as a store, if the model asks for that ([`with_exchanges`]).
pub(super) fn exchanged() {
    if EXCHANGES.get() {
        stored();
    }
}

/// Sleeps until woken, if the word is `expected`. There is no time here: a lost wake-up shows as a
/// deadlock.
pub(crate) fn sleep(word: &W32, expected: u32) {
    step(word.0.as_ptr().cast());
    super::late::show_all();
    if word.0.load(Ordering::Relaxed) != expected {
        return;
    }
    let is_woken = Rc::new(Cell::new(false));
    let sleeper = Sleeper {
        word,
        thread: thread::current(),
        is_woken: Rc::clone(&is_woken),
    };
    SLEEPERS.with_borrow_mut(|all| all.push(sleeper));
    while !is_woken.get() {
        thread::park();
    }
}

/// Wakes up to `count` threads that sleep on the word.
pub(crate) fn wake(word: &W32, count: u32) {
    step(word.0.as_ptr().cast());
    for _ in 0..count {
        let woken = SLEEPERS.with_borrow_mut(|all| {
            let first = all.iter().position(|s| core::ptr::eq(s.word, word))?;
            Some(all.remove(first))
        });
        let Some(woken) = woken else { return };
        woken.is_woken.set(true);
        if std::thread::panicking() {
            WOKEN.with_borrow_mut(|all| all.push(woken.thread));
        } else {
            woken.thread.unpark();
        }
    }
}

/// Stands in for `HELD` of the room `lock`, as one system thread runs all of the checker's threads.
pub(crate) struct PerThread;

impl PerThread {
    pub(crate) fn get(&self) -> u8 {
        HELD.with_borrow(|held| held.get(&try_get_current_task()).copied().unwrap_or(0))
    }

    pub(crate) fn set(&self, value: u8) {
        HELD.with_borrow_mut(|held| match value {
            0 => drop(held.remove(&try_get_current_task())),
            value => drop(held.insert(try_get_current_task(), value)),
        });
    }
}

/// A number of each of the checker's threads, which a thread-local one cannot be.
pub(crate) struct NumberPerThread;

impl NumberPerThread {
    pub(crate) fn set(&self, number: u64) {
        NUMBERS.with_borrow_mut(|all| all.insert(try_get_current_task(), number));
    }

    /// Returns the number of this thread, which becomes 0.
    pub(crate) fn take(&self) -> u64 {
        NUMBERS.with_borrow_mut(|all| all.remove(&try_get_current_task()).unwrap_or(0))
    }
}

/// Forgets what threads of the execution before have left.
#[cfg(test)]
pub(crate) fn forget_numbers() {
    NUMBERS.take();
}

/// The payload with which a thread unwinds that a model lets die.
pub(crate) struct Death;

/// Does `work` without scheduling points, such as what the threads of a test find when they begin.
#[cfg(test)]
pub(crate) fn quietly<T>(work: impl FnOnce() -> T) -> T {
    super::late::show_all();
    set_quiet(true);
    let outcome = work();
    set_quiet(false);
    outcome
}

/// Lets threads die after exchanges, too, while `work` runs. Only models without locks may use it:
/// a lock that an exchange has just taken has no guard yet that could abandon it, and would be held
/// forever.
#[cfg(test)]
pub(crate) fn with_exchanges(work: impl FnOnce()) {
    EXCHANGES.set(true);
    work();
    EXCHANGES.set(false);
}

/// Removes the scheduling points from accesses to `len` bytes: so the checker tries more orders of
/// all other accesses.
#[cfg(test)]
pub(crate) fn ignore(from: *const u8, len: usize) {
    IGNORED.set((from.addr(), from.addr() + len));
}

/// Lets all sleeps end, as in time they do, for what the dead one will not do any more.
#[cfg(test)]
fn end_sleeps() {
    for sleeper in SLEEPERS.take() {
        sleeper.is_woken.set(true);
        sleeper.thread.unpark();
    }
}

/// Does `work` in this thread, which dies right after its `k`-th store, counted from 1. The locks
/// that it held are left as a panic leaves them. Returns how many stores it made, if it survived.
#[cfg(test)]
pub(crate) fn outlives(k: u64, work: impl FnOnce()) -> Option<u64> {
    let me = try_get_current_task();
    DEATHS.with_borrow_mut(|deaths| deaths.insert(me, k));
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
    let left = DEATHS.with_borrow_mut(|deaths| deaths.remove(&me));
    WOKEN.take().iter().for_each(Thread::unpark);
    match outcome {
        Ok(()) => left.map(|left| k - left),
        Err(payload) if payload.is::<Death>() => {
            end_sleeps();
            None
        }
        Err(payload) => std::panic::resume_unwind(payload),
    }
}

//! Whether the model checker runs this thread (feature `shuttle`). Only then are accesses
//! scheduling points.

use shuttle::current::try_get_current_task;
use std::cell::Cell;

// The checker runs all its threads on the system thread of their test, so there is one word per
// test.
thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Returns whether a thread of the checker is running and not unwinding. (The checker does not say
/// which of its threads unwinds.)
pub(crate) fn is_on() -> bool {
    !QUIET.get() && !std::thread::panicking() && try_get_current_task().is_some()
}

/// Hides accesses from the checker, or shows them again.
#[cfg(test)]
pub(super) fn set_quiet(on: bool) {
    QUIET.set(on);
}

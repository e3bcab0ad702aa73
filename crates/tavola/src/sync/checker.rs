//! Whether the model checker runs this thread (feature `shuttle`).

use shuttle::current::try_get_current_task;
use std::cell::Cell;

// The checker's threads all run on the system thread of their test, so this is one word a test.
thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Whether a thread of the checker is running, and not unwinding: the checker cannot tell which of
/// its threads unwinds.
pub(crate) fn is_on() -> bool {
    !QUIET.get() && !std::thread::panicking() && try_get_current_task().is_some()
}

/// Leaves accesses out of the checker's sight, or no more.
#[cfg(test)]
pub(super) fn set_quiet(on: bool) {
    QUIET.set(on);
}

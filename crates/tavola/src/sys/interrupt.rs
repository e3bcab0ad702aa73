//! Interruptions of system calls, for tests: signals that come first, and transfers that are short.

use std::cell::Cell;

/// How often calls of a thread were interrupted.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct InterruptCount {
    /// Calls that failed with `EINTR`.
    pub(crate) signals: u64,
    /// Reads and writes that were asked for fewer bytes.
    pub(crate) short: u64,
    calls: u64,
}

thread_local! {
    static COUNT: Cell<Option<InterruptCount>> = const { Cell::new(None) };
}

/// Interrupts all system calls that this thread makes in `body`: each fails twice with `EINTR`
/// before it is made, and reads and writes transfer at most some hundred bytes.
pub(crate) fn interrupt_all<T>(body: impl FnOnce() -> T) -> (T, InterruptCount) {
    COUNT.set(Some(InterruptCount::default()));
    let done = body();
    (done, COUNT.take().unwrap_or_default())
}

/// Returns whether a signal comes now; then `errno` says so.
pub(super) fn is_interrupted() -> bool {
    let Some(mut count) = COUNT.get() else {
        return false;
    };
    count.calls += 1;
    let is_signal = !count.calls.is_multiple_of(3);
    count.signals += u64::from(is_signal);
    COUNT.set(Some(count));
    if is_signal {
        // SAFETY: the address of this thread's own `errno`.
        unsafe { *libc::__errno_location() = libc::EINTR };
    }
    is_signal
}

/// Returns how many of some bytes the next call transfers.
pub(super) fn shorten(len: usize) -> usize {
    let Some(mut count) = COUNT.get() else {
        return len;
    };
    let most = 1 + count.calls as usize * 37 % 700;
    count.short += u64::from(most < len);
    COUNT.set(Some(count));
    len.min(most)
}

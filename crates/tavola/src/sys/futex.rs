//! Sleeping on a 32-bit word that several processes have mapped.
//!
//! The private flag is never set: the kernel then finds the word by file and offset, and
//! processes that map the file at different addresses meet. A word in a read-only mapping can be
//! waited on too.

use std::time::Duration;

/// Why a wait came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WaitEnd {
    /// Another thread woke this one, or the kernel did so for no reason: look at the word again.
    Woken,
    /// The word did not hold the expected value, so there was nothing to wait for.
    Changed,
    /// The time was up.
    TimedOut,
    /// A signal handler ran, or the kernel refused to wait.
    Interrupted,
}

/// Sleeps while the word at `word` holds `expected`, at most for `timeout`.
///
/// The kernel reads the word, this process does not: a bad address ends the wait at once.
pub(crate) fn wait(word: *const u32, expected: u32, timeout: Duration) -> WaitEnd {
    let limit = libc::timespec {
        tv_sec: i64::try_from(timeout.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(timeout.subsec_nanos()),
    };
    // SAFETY: on 64-bit targets `libc::timespec` is the kernel's layout (two 64-bit integers) and
    // `limit` outlives the call. `word` is only read, by the kernel, which checks the address.
    let returned = unsafe {
        libc::syscall(
            libc::SYS_futex,
            word,
            libc::FUTEX_WAIT,
            expected,
            &raw const limit,
        )
    };
    if returned == 0 {
        return WaitEnd::Woken;
    }
    match std::io::Error::last_os_error().raw_os_error() {
        Some(libc::EAGAIN) => WaitEnd::Changed,
        Some(libc::ETIMEDOUT) => WaitEnd::TimedOut,
        Some(libc::EINTR) => WaitEnd::Interrupted,
        _ => {
            // A sandbox that forbids futexes must not turn the caller's loop into a busy one.
            std::thread::yield_now();
            WaitEnd::Interrupted
        }
    }
}

/// Wakes up to `count` threads that wait on `word`, in any process; returns how many there were.
pub(crate) fn wake(word: *const u32, count: u32) -> u32 {
    let count = i32::try_from(count).unwrap_or(i32::MAX);
    // SAFETY: the word is not dereferenced, it only names the queue to wake.
    let woken = unsafe { libc::syscall(libc::SYS_futex, word, libc::FUTEX_WAKE, count) };
    u32::try_from(woken).unwrap_or(0)
}

#[cfg(all(test, not(miri)))]
mod tests {
    use super::super::testing::{Child, SharedWords};
    use super::*;
    use std::time::Instant;

    #[test]
    fn a_wait_ends_when_the_value_differs_or_the_time_is_up() {
        let word = 7u32;
        assert_eq!(wait(&raw const word, 8, Duration::MAX), WaitEnd::Changed);
        let start = Instant::now();
        assert_eq!(
            wait(&raw const word, 7, Duration::from_millis(20)),
            WaitEnd::TimedOut
        );
        assert!(start.elapsed() >= Duration::from_millis(20));
        assert_eq!(
            wait(std::ptr::null(), 7, Duration::MAX),
            WaitEnd::Interrupted
        );
        assert_eq!(wake(&raw const word, u32::MAX), 0);
    }

    #[test]
    fn wakes_a_waiter_in_another_process() {
        let words = SharedWords::new();
        let word = words.word(0);
        let child = Child::fork(|| {
            let end = wait(word.as_ptr(), 0, Duration::from_secs(20));
            i32::from(end != WaitEnd::Woken)
        });
        let start = Instant::now();
        while wake(word.as_ptr(), 1) == 0 {
            assert!(
                start.elapsed() < Duration::from_secs(20),
                "the child never waited"
            );
            std::thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(child.exit_code(), 0);
    }
}

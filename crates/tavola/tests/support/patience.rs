//! Times on a machine that does much else: it may stop any thread for a while at any place.

use super::process::{coarse_ns, monotonic_ns};
use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{current, sleep, spawn};
use std::time::{Duration, Instant};

/// What ends at all has ended by then, however busy the machine is.
pub const MINUTE: Duration = Duration::from_secs(60);
/// Of an actor: what hangs is ended by then, in seconds.
pub const HANG_S: u32 = 300;

/// Of a test that shares its process with others: while this lives, whatever hangs is ended as an
/// actor's `alarm` would end it, with all tests beside it, and is named.
pub struct Watch(Sender<()>);

impl Watch {
    pub fn begin() -> Self {
        let (watch, over) = channel();
        let test = current().name().unwrap_or("a test").to_string();
        spawn(move || {
            let within = Duration::from_secs(HANG_S.into());
            if over.recv_timeout(within) == Err(RecvTimeoutError::Timeout) {
                // Not by a macro: what those print is kept for a test's end.
                let _ = writeln!(std::io::stderr(), "{test} hangs");
                std::process::abort();
            }
        });
        Self(watch)
    }
}

/// Of something that nobody may hold up: how often it took longer than it should. Code that waits
/// is late again and again; a machine that is busy, now and then.
pub struct Prompt {
    within: Duration,
    late: AtomicU64,
}

impl Prompt {
    pub fn new(within: Duration) -> Self {
        Self {
            within,
            late: AtomicU64::new(0),
        }
    }

    /// It has been done once more.
    pub fn done(&self, begun: Instant) {
        let took = begun.elapsed();
        assert!(took < MINUTE, "{took:?}");
        self.late.fetch_add(u64::from(took >= self.within), Relaxed);
    }

    pub fn assert_late_at_most(&self, most: u64) {
        let late = self.late.load(Relaxed);
        assert!(late <= most, "{late} times over {:?}", self.within);
    }
}

/// Tries something that must be done within a time: where the machine was too slow for that, which
/// `attempt` shows by `None`, with twice the time.
pub fn in_time<T>(first: Duration, mut attempt: impl FnMut(Duration) -> Option<T>) -> T {
    let times = (0..9).map(|doubled| first * (1 << doubled));
    times
        .filter_map(&mut attempt)
        .next()
        .expect("the machine is never fast enough")
}

/// A moment as tables see it, by the clock that keys expire by: that goes in steps, and after the
/// exact one.
#[derive(Clone, Copy)]
pub struct Moment(u64);

impl Moment {
    pub fn now() -> Self {
        Self(coarse_ns())
    }

    /// For a table no more has passed since then.
    pub fn elapsed(self) -> Duration {
        Duration::from_nanos(monotonic_ns() - self.0)
    }
}

/// Waits until so much time has passed for tables, too.
pub fn let_pass(time: Duration) {
    let until = coarse_ns() + time.as_nanos() as u64 + 1_000_000;
    while coarse_ns() < until {
        let left = Duration::from_nanos(until.saturating_sub(monotonic_ns()));
        sleep(left.max(Duration::from_millis(1)));
    }
}

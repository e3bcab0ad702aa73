//! Whether to ask a socket again and again before sleeping: only while that succeeds.
//!
//! A server on the same machine often answers sooner than a thread falls asleep and wakes up, if
//! both have a CPU. Where they share one, every attempt only keeps the server from running.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

/// How often a socket is asked.
pub(crate) const TRIES: u32 = 60;
/// The failures in a row that end the spinning.
const MISSES: u32 = 3;
/// Waits without spinning after that: the first time, and at most.
const RESTS: [u32; 2] = [64, 4096];

/// The experience with one server. Races between threads cost a spin or save one, no more.
#[derive(Debug)]
pub(crate) struct Spin {
    misses: AtomicU32,
    /// Waits left without spinning.
    rest: AtomicU32,
    /// The next rest.
    next_rest: AtomicU32,
}

impl Spin {
    pub(crate) fn new() -> Self {
        Self {
            misses: AtomicU32::new(0),
            rest: AtomicU32::new(RESTS[0]),
            next_rest: AtomicU32::new(RESTS[0]),
        }
    }

    /// Whether this wait spins.
    pub(crate) fn begin(&self) -> bool {
        if !has_cpus() {
            return false;
        }
        let rest = self.rest.load(Ordering::Relaxed);
        if rest > 0 {
            self.rest.store(rest - 1, Ordering::Relaxed);
        }
        rest == 0
    }

    /// Notes whether something came during a spin.
    pub(crate) fn note(&self, has_come: bool) {
        if has_come {
            self.misses.store(0, Ordering::Relaxed);
            self.next_rest.store(RESTS[0], Ordering::Relaxed);
            return;
        }
        let misses = self.misses.load(Ordering::Relaxed) + 1;
        if misses < MISSES {
            self.misses.store(misses, Ordering::Relaxed);
            return;
        }
        let rest = self.next_rest.load(Ordering::Relaxed);
        self.misses.store(MISSES - 1, Ordering::Relaxed);
        self.rest.store(rest, Ordering::Relaxed);
        self.next_rest
            .store((rest * 2).min(RESTS[1]), Ordering::Relaxed);
    }
}

/// Whether this process may use more than one CPU.
fn has_cpus() -> bool {
    static HAS_CPUS: OnceLock<bool> = OnceLock::new();
    *HAS_CPUS.get_or_init(|| thread::available_parallelism().is_ok_and(|count| count.get() > 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spins_that_fail_become_rarer_until_one_succeeds() {
        let spin = Spin::new();
        let rests = || (0..10_000).take_while(|_| !spin.begin()).count();
        if !has_cpus() {
            assert_eq!(rests(), 10_000);
            return;
        }
        assert_eq!(rests(), 64);
        for _ in 0..MISSES - 1 {
            spin.note(false);
            assert_eq!(rests(), 0);
        }
        for rest in [64, 128, 256, 512, 1024, 2048, 4096, 4096] {
            spin.note(false);
            assert_eq!(rests(), rest);
        }
        spin.note(true);
        assert_eq!(rests(), 0);
        spin.note(false);
        assert_eq!(rests(), 0);
    }
}

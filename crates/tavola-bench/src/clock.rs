//! One time for all processes, and what it costs to read it.

use std::hint::{black_box, spin_loop};
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// How long before the agreed instant a worker stops sleeping and spins.
const SPIN_NS: u64 = 200_000;

/// Nanoseconds of `CLOCK_MONOTONIC`: the same for every process of the machine.
pub fn monotonic_ns() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Returns at the instant `at_ns`, or at once when it has passed.
///
/// Sleeps first and spins only at the end, so that workers that share a CPU do not hold each other
/// up before they begin.
pub fn wait_until(at_ns: u64) {
    let ahead = at_ns.saturating_sub(monotonic_ns());
    if ahead > SPIN_NS {
        std::thread::sleep(Duration::from_nanos(ahead - SPIN_NS));
    }
    while monotonic_ns() < at_ns {
        spin_loop();
    }
}

/// Nanoseconds one reading of the clock takes: every single latency contains about this much.
pub fn reading_ns() -> f64 {
    const READINGS: u32 = 20_000;
    let begin = Instant::now();
    for _ in 0..READINGS {
        black_box(Instant::now());
    }
    begin.elapsed().as_nanos() as f64 / f64::from(READINGS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_until_the_instant_and_not_for_the_past() {
        let at = monotonic_ns() + 3_000_000;
        wait_until(at);
        let now = monotonic_ns();
        assert!(now >= at);
        wait_until(at);
        assert!(
            monotonic_ns() - now < 1_000_000_000,
            "the past is not waited for"
        );
    }

    #[test]
    fn reading_the_clock_costs_something() {
        let cost = reading_ns();
        assert!(cost > 0.5 && cost < 1e6, "{cost}");
    }
}

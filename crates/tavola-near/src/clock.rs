//! The clock of trust: milliseconds since the machine was started, time asleep not included. All
//! processes of a boot and a time namespace read the same clock, and nobody can set it.

use crate::shared::fold;
use rustix::time::{ClockId, Timespec, clock_gettime};
use std::fs;

fn milliseconds(time: Timespec) -> u64 {
    time.tv_sec as u64 * 1000 + time.tv_nsec as u64 / 1_000_000
}

/// Returns the time as of the last tick of the kernel, 1 to 10 ms ago, without a system call.
#[inline]
pub(crate) fn coarse_ms() -> u64 {
    milliseconds(clock_gettime(ClockId::MonotonicCoarse))
}

/// Returns the exact time.
pub(crate) fn exact_ms() -> u64 {
    milliseconds(clock_gettime(ClockId::Monotonic))
}

/// Returns a fingerprint of the clock: another one after a restart of the machine, or in another
/// time namespace. Never 0.
pub(crate) fn fingerprint() -> u64 {
    let boot = fs::read("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    // A kernel without time namespaces has no such file.
    let namespace = fs::read_link("/proc/self/ns/time").unwrap_or_default();
    fold(&[&boot, namespace.as_os_str().as_encoded_bytes()]).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_coarse_clock_is_the_exact_one_a_little_later() {
        let (coarse, exact) = (coarse_ms(), exact_ms());
        assert!(coarse <= exact);
        while coarse_ms() < exact {
            std::thread::yield_now();
        }
    }

    #[test]
    fn the_fingerprint_stays() {
        assert_eq!(fingerprint(), fingerprint());
    }
}

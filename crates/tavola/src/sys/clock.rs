//! The two clocks stored in tables, neither of which enters the kernel (vDSO); and which start of
//! the machine this is.

/// Seconds since the machine started, time asleep included.
///
/// The same for all processes of the machine, and never set back. Only a time namespace with an
/// offset of its own (`unshare --time`) sees another value.
pub(crate) fn monotonic_s() -> u64 {
    seconds(libc::CLOCK_BOOTTIME)
}

/// Seconds since 1970-01-01 UTC. An administrator or NTP may set it back.
pub(crate) fn unix_s() -> u64 {
    seconds(libc::CLOCK_REALTIME)
}

/// Nanoseconds since 1970-01-01 UTC, of the same clock.
pub(crate) fn unix_ns() -> u64 {
    nanoseconds(libc::CLOCK_REALTIME)
}

/// Milliseconds of the same clock.
pub(crate) fn unix_ms() -> u64 {
    unix_ns() / 1_000_000
}

/// Milliseconds since the machine started, time asleep not included, as of the last tick of the
/// kernel: 1 to 10 ms ago. A fifth of the price of the exact time, and loads that follow need not
/// wait for it.
pub(crate) fn coarse_ms() -> u64 {
    nanoseconds(libc::CLOCK_MONOTONIC_COARSE) / 1_000_000
}

/// The kernel's name for the time from this start of the machine to the next; `None`: not told.
pub(crate) fn boot_id() -> Option<String> {
    if cfg!(miri) {
        return Some("under an interpreter".into());
    }
    std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()
}

fn nanoseconds(clock: libc::clockid_t) -> u64 {
    let now = read(clock);
    let seconds = u64::try_from(now.tv_sec).unwrap_or(0);
    seconds * 1_000_000_000 + u64::try_from(now.tv_nsec).unwrap_or(0)
}

fn seconds(clock: libc::clockid_t) -> u64 {
    u64::try_from(read(clock).tv_sec).unwrap_or(0)
}

fn read(clock: libc::clockid_t) -> libc::timespec {
    let mut now = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `now` is a valid place for one timespec. Both clocks exist on every supported
    // kernel, so the call cannot fail; were it to, `now` would stay at zero.
    unsafe { libc::clock_gettime(clock, &raw mut now) };
    now
}

#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_kernel_and_with_std() {
        let uptime = std::fs::read_to_string("/proc/uptime").unwrap();
        let whole: u64 = uptime.split('.').next().unwrap().parse().unwrap();
        assert!((whole..whole + 5).contains(&monotonic_s()));
        let std_now = std::time::SystemTime::UNIX_EPOCH
            .elapsed()
            .unwrap()
            .as_secs();
        assert!((std_now..std_now + 5).contains(&unix_s()));
        assert!((std_now..std_now + 5).contains(&(unix_ns() / 1_000_000_000)));
        assert!((std_now..std_now + 5).contains(&(unix_ms() / 1000)));
        // A machine that slept has fewer.
        let before = coarse_ms();
        assert!(before / 1000 <= monotonic_s());
        std::thread::sleep(std::time::Duration::from_millis(30));
        let passed = coarse_ms() - before;
        assert!((20..10_000).contains(&passed), "{passed} ms");
        assert_eq!(boot_id().unwrap().trim().len(), 36);
    }
}

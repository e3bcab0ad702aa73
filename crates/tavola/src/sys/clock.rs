//! The two clocks stored in tables, neither of which enters the kernel (vDSO); and which start of
//! the machine this is.

use super::process;

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

/// Nanoseconds since the machine started, time asleep not included.
pub(crate) fn exact_ns() -> u64 {
    nanoseconds(libc::CLOCK_MONOTONIC)
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

/// Seconds of that clock, for what is read at each request of a client.
pub fn coarse_s() -> u64 {
    seconds(libc::CLOCK_MONOTONIC_COARSE)
}

/// Seconds since 1970-01-01 UTC, as of the last tick of the kernel.
pub fn coarse_unix_s() -> u64 {
    seconds(libc::CLOCK_REALTIME_COARSE)
}

/// Returns the kernel's name of this start of the machine, in `buffer`, if the kernel reports it.
pub(crate) fn boot_id(buffer: &mut [u8; 64]) -> Option<&[u8]> {
    if cfg!(miri) {
        return Some(b"under an interpreter");
    }
    let id = process::read_whole(c"/proc/sys/kernel/random/boot_id", buffer)?;
    Some(id.trim_ascii())
}

/// The inode of the time namespace that every kernel starts with; 1 where there is only one.
const FIRST_NAMESPACE: [u64; 2] = [0xEFFF_FFFA, 1];

/// By how much [`coarse_ms`] is ahead here of what it is in the machine's first time namespace;
/// `None` if the kernel does not report it.
pub(crate) fn namespace_ahead_ms() -> Option<i64> {
    let namespace = process::identity().time_ns;
    if cfg!(miri) || FIRST_NAMESPACE.contains(&namespace) {
        return Some(0);
    }
    // The file describes the namespace that children will be in.
    if namespace == 0 || process::inode(c"/proc/self/ns/time_for_children") != namespace {
        return None;
    }
    let mut buffer = [0; 256];
    ahead_in(process::read_whole(
        c"/proc/self/timens_offsets",
        &mut buffer,
    )?)
}

/// Of lines with the name of a clock, seconds and nanoseconds.
fn ahead_in(offsets: &[u8]) -> Option<i64> {
    let mut words = process::words(offsets).skip_while(|word| *word != b"monotonic");
    let mut number = || str::from_utf8(words.next()?).ok()?.parse::<i64>().ok();
    let _ = number();
    let (seconds, nanoseconds) = (number()?, number()?);
    seconds
        .checked_mul(1000)?
        .checked_add(nanoseconds / 1_000_000)
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
        // The coarse clocks are a tick late at most.
        for (exact, coarse) in [
            (unix_s as fn() -> u64, coarse_unix_s as fn() -> u64),
            (|| exact_ns() / 1_000_000_000, coarse_s),
        ] {
            let (before, between, after) = (exact(), coarse(), exact());
            assert!((before - 1..=after).contains(&between));
        }
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
        assert_eq!(boot_id(&mut [0; 64]).unwrap().len(), 36);
    }

    #[test]
    fn offsets_of_a_namespace_are_read() {
        let text = b"monotonic           -7         500000000\nboottime            3         0\n";
        assert_eq!(ahead_in(text), Some(-6500));
        assert_eq!(ahead_in(b"boottime 3 0\n"), None);
        assert_eq!(ahead_in(b"monotonic 9223372036854775807 0\n"), None);
    }
}

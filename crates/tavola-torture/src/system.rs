//! Processes and the memory they share: the only unsafe code of the harness.
//!
//! **SYS-1** The harness has one thread whenever it forks, so a child may do whatever its parent
//! could.
//! **SYS-2** Shared memory is mapped once and never unmapped, and consists of atomics only.

use rustix::process::{Pid, Signal, WaitOptions, WaitStatus};
use rustix::time::{ClockId, clock_gettime};
use std::io;
use std::os::fd::AsRawFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicU64;
use std::time::Duration;

/// The exit code of a child that panicked.
pub(crate) const PANICKED: i32 = 101;

/// How a child came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    Exited(i32),
    Signalled(i32),
}

impl Ended {
    pub(crate) fn was_killed(self) -> bool {
        self == Ended::Signalled(libc::SIGKILL)
    }

    pub(crate) fn was_too_slow(self) -> bool {
        self == Ended::Signalled(libc::SIGALRM)
    }
}

/// Runs `work` in a child, which ends with what it returns and never outlives its parent.
pub(crate) fn fork(work: impl FnOnce() -> i32) -> io::Result<Pid> {
    // SAFETY: SYS-1; the child ends by `_exit` below and never returns into its parent's frames.
    let pid = unsafe { libc::fork() };
    match pid {
        -1 => Err(io::Error::last_os_error()),
        0 => {
            let _ = rustix::process::set_parent_process_death_signal(Some(Signal::KILL));
            let code = catch_unwind(AssertUnwindSafe(work)).unwrap_or(PANICKED);
            // SAFETY: ends this process; nothing of the parent's is flushed or dropped twice.
            unsafe { libc::_exit(code) }
        }
        pid => Ok(Pid::from_raw(pid).expect("fork gives a positive pid")),
    }
}

/// Says in which directory tables are whose names are not paths: of this process, and of all that
/// it forks.
pub(crate) fn set_directory_of_tables(path: &std::path::Path) {
    // SAFETY: SYS-1; no other thread reads the environment meanwhile.
    unsafe { std::env::set_var("TAVOLA_DIR", path) };
}

/// Has this process killed by SIGALRM after so many seconds; 0: never.
pub(crate) fn alarm(seconds: u32) {
    // SAFETY: passes no memory.
    unsafe { libc::alarm(seconds) };
}

/// Runs `work` in a child that outlives its parent, at most for so many seconds.
pub(crate) fn fork_free(seconds: u32, work: impl FnOnce() -> i32) -> io::Result<Pid> {
    fork(|| {
        let _ = rustix::process::set_parent_process_death_signal(None);
        alarm(seconds);
        work()
    })
}

/// Gives the children that this process will have a pid namespace of their own. Returns false if
/// the system does not permit it.
pub(crate) fn unshare_pids() -> bool {
    // SAFETY: SYS-1; passes no memory.
    let unshare = |flags| unsafe { libc::unshare(flags) == 0 };
    unshare(libc::CLONE_NEWPID) || unshare(libc::CLONE_NEWUSER | libc::CLONE_NEWPID)
}

/// Gives this process mounts of its own. Returns false if the system does not permit it.
pub(crate) fn becomes_private() -> bool {
    let flags = libc::MS_REC | libc::MS_PRIVATE;
    let (none, root) = (std::ptr::null(), c"/".as_ptr());
    // SAFETY: SYS-1; the paths are C strings.
    unsafe {
        libc::unshare(libc::CLONE_NEWNS) == 0
            && libc::mount(none, root, std::ptr::null(), flags, std::ptr::null()) == 0
    }
}

/// Shuts a file system down: nothing that is not on its device yet is written any more.
pub(crate) fn shut_down(dir: &std::fs::File) -> io::Result<()> {
    /// `_IOR('X', 125, __u32)`.
    const SHUTDOWN: libc::c_ulong = 0x8004_587D;
    let without_log: u32 = 2;
    // SAFETY: the kernel reads one word.
    let done = unsafe { libc::ioctl(dir.as_raw_fd(), SHUTDOWN as _, &raw const without_log) };
    match done {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Closes all descriptors of this process below `until`, except the standard ones and `file`, and
/// lets each of their numbers lead to `file`, as it may happen to a daemon.
pub(crate) fn lead_all_to(file: &std::fs::File, until: i32) {
    let own = file.as_raw_fd();
    for number in (3..until).filter(|number| *number != own) {
        // SAFETY: passes no memory. The harness has no other descriptor in this process, and the
        // library says that it is this: that is what is tested.
        unsafe { libc::dup2(own, number) };
    }
}

/// Waits for a child's end.
pub(crate) fn wait(pid: Pid) -> io::Result<Ended> {
    loop {
        match rustix::process::waitpid(Some(pid), WaitOptions::empty()) {
            Ok(Some((_, status))) => {
                if let Some(ended) = ended(status) {
                    return Ok(ended);
                }
            }
            Ok(None) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Whether a child has ended, without waiting.
pub(crate) fn poll(pid: Pid) -> io::Result<Option<Ended>> {
    let status = rustix::process::waitpid(Some(pid), WaitOptions::NOHANG)?;
    Ok(status.and_then(|(_, status)| ended(status)))
}

fn ended(status: WaitStatus) -> Option<Ended> {
    let exited = status.exit_status().map(Ended::Exited);
    exited.or(status.terminating_signal().map(Ended::Signalled))
}

pub(crate) fn kill(pid: Pid, signal: Signal) -> io::Result<()> {
    Ok(rustix::process::kill_process(pid, signal)?)
}

/// Nanoseconds of a clock that all processes share.
pub(crate) fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// How long something takes, without the time in which its thread could have run and waited for a
/// processor: who is held up by others' work does not hang.
pub(crate) struct Stopwatch {
    began_ns: u64,
    queued_ns: u64,
}

impl Stopwatch {
    pub(crate) fn start() -> Self {
        Self {
            began_ns: now_ns(),
            queued_ns: queued_ns(),
        }
    }

    pub(crate) fn took_ns(&self) -> u64 {
        let queued = queued_ns().saturating_sub(self.queued_ns);
        (now_ns() - self.began_ns).saturating_sub(queued)
    }
}

/// What this thread has waited for a processor so far; 0 where the kernel does not count it.
fn queued_ns() -> u64 {
    let counts = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let queued = counts.split_whitespace().nth(1);
    queued.and_then(|ns| ns.parse().ok()).unwrap_or(0)
}

/// Sleeps until the clock by which pages are free for so long comes to a whole second.
pub(crate) fn until_next_second() {
    let now = clock_gettime(ClockId::Boottime);
    std::thread::sleep(Duration::from_nanos(1_000_000_000 - now.tv_nsec as u64));
}

pub(crate) fn sleep_ms(ms: u64) {
    std::thread::sleep(Duration::from_millis(ms));
}

/// Zeroed words that this process and all children it forks from now on share.
pub(crate) fn shared_words(count: usize) -> io::Result<&'static [AtomicU64]> {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_SHARED | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    let len = (count * size_of::<AtomicU64>()).max(1);
    // SAFETY: a new mapping at an address of the kernel's choice replaces nothing.
    let base = unsafe { libc::mmap(std::ptr::null_mut(), len, protection, flags, -1, 0) };
    if base == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: SYS-2; zeroes are valid atomics, and the mapping is aligned to a page.
    Ok(unsafe { std::slice::from_raw_parts(base.cast::<AtomicU64>(), count) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering::Relaxed;

    #[test]
    fn children_share_words_and_report_how_they_ended() {
        let words = shared_words(2).unwrap();
        let pid = fork(|| {
            words[1].store(7, Relaxed);
            3
        })
        .unwrap();
        assert_eq!(wait(pid).unwrap(), Ended::Exited(3));
        assert_eq!(words[1].load(Relaxed), 7);
        let pid = fork(|| {
            loop {
                sleep_ms(1000)
            }
        })
        .unwrap();
        assert_eq!(poll(pid).unwrap(), None);
        kill(pid, Signal::KILL).unwrap();
        assert!(wait(pid).unwrap().was_killed());
    }
}

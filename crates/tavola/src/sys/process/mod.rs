//! The identity of this process, across forks, and whether another process still lives.
//!
//! Everything but `command_line` keeps off the heap and takes no lock, so that it can be used by
//! a waiter, by a freshly forked child, and (after the first call) in a signal handler.

mod activity;
mod generation;
mod liveness;
mod stat;

pub(crate) use activity::{Activity, activity, is_local};
pub(crate) use generation::generation;
pub(crate) use liveness::{Liveness, liveness};

use generation::{EMPTY, FILLING, READY, page_or_map};
use stat::{STAT_BYTES, parse_stat};
pub(super) use stat::{read_whole, words};
use std::ffi::CStr;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// Returns the bytes of addresses that this process may map (`ulimit -v`), if they are limited.
pub(crate) fn address_limit() -> Option<u64> {
    let mut limit = libc::rlimit {
        rlim_cur: libc::RLIM_INFINITY,
        rlim_max: libc::RLIM_INFINITY,
    };
    // SAFETY: a valid place for the answer.
    unsafe { libc::getrlimit(libc::RLIMIT_AS, &raw mut limit) };
    (limit.rlim_cur != libc::RLIM_INFINITY).then_some(limit.rlim_cur)
}

/// What names a process; within one boot, equal fields mean the same process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(crate) pid: u32,
    /// Clock ticks from the start of the machine to that of the process; 0 when not known.
    pub(crate) start_time: u64,
    /// Inode of the namespace that `pid` is a number of; 0 when not known.
    pub(crate) pid_ns: u64,
    /// Inode of the namespace that `start_time` is a time of; 0 when not known, 1 on kernels that
    /// have only the one (before 5.6).
    pub(crate) time_ns: u64,
}

/// Returns the identity of another process of this pid namespace, or `None` if there is none of
/// that number, or /proc does not say when it started.
pub(crate) fn identity_of(pid: u32) -> Option<Identity> {
    let me = identity();
    if pid == me.pid {
        return Some(me);
    }
    let mut buffer = [0; stat::STAT_BYTES];
    let number = i32::try_from(pid).ok().filter(|pid| *pid > 0)?;
    let start_time = stat::read_stat(number, &mut buffer)?.start_time;
    let them = Identity {
        pid,
        start_time,
        ..me
    };
    // Also says whether the numbers of /proc are ours.
    (liveness(&them, &me) == Liveness::Alive).then_some(them)
}

/// Returns the identity of this process. Read from /proc once a process, from its memory after
/// that.
pub(crate) fn identity() -> Identity {
    let Some(page) = page_or_map() else {
        return read_identity();
    };
    // Pairs with the store of READY below.
    if page.state.load(Acquire) == READY {
        return Identity {
            pid: u32::try_from(page.pid.load(Relaxed)).unwrap_or(0),
            start_time: page.start_time.load(Relaxed),
            pid_ns: page.pid_ns.load(Relaxed),
            time_ns: page.time_ns.load(Relaxed),
        };
    }
    let me = read_identity();
    if page
        .state
        .compare_exchange(EMPTY, FILLING, Relaxed, Relaxed)
        .is_ok()
    {
        page.pid.store(u64::from(me.pid), Relaxed);
        page.start_time.store(me.start_time, Relaxed);
        page.pid_ns.store(me.pid_ns, Relaxed);
        page.time_ns.store(me.time_ns, Relaxed);
        // Pairs with the load above.
        page.state.store(READY, Release);
    }
    me
}

#[cold]
fn read_identity() -> Identity {
    let pid = std::process::id();
    let mut buffer = [0; STAT_BYTES];
    let start_time = read_whole(c"/proc/self/stat", &mut buffer)
        .and_then(parse_stat)
        .map_or(0, |stat| stat.start_time);
    let pid_ns = inode(c"/proc/self/ns/pid");
    let time_ns = match inode(c"/proc/self/ns/time") {
        0 if pid_ns != 0 && last_error_is(libc::ENOENT) => 1,
        inode => inode,
    };
    Identity {
        pid,
        start_time,
        pid_ns,
        time_ns,
    }
}

/// The inode number behind a path, or 0.
pub(super) fn inode(path: &CStr) -> u64 {
    // SAFETY: all zeros is a valid `stat`, a struct of integers.
    let mut stat: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: `path` is a C string and `stat` a valid place for the answer.
    if unsafe { libc::stat(path.as_ptr(), &raw mut stat) } == 0 {
        stat.st_ino
    } else {
        0
    }
}

fn last_error_is(code: libc::c_int) -> bool {
    std::io::Error::last_os_error().raw_os_error() == Some(code)
}

/// The command line of a process as one line fit to be shown, for as long as it can be read.
pub(crate) fn command_line(pid: u32) -> Option<String> {
    let read = |file: &str| std::fs::read(format!("/proc/{pid}/{file}")).ok();
    let mut line = read("cmdline")?;
    if line.is_empty() {
        line = read("comm")?;
    }
    let text = String::from_utf8_lossy(&line);
    let shown: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    Some(shown.trim().to_owned())
}

/// The number of this thread.
pub(crate) fn thread_id() -> u32 {
    // SAFETY: always succeeds and passes no memory.
    let tid = unsafe { libc::syscall(libc::SYS_gettid) };
    u32::try_from(tid).unwrap_or(0)
}

/// The user that files made by this process belong to.
pub(crate) fn effective_uid() -> u32 {
    // SAFETY: always succeeds and passes no memory.
    unsafe { libc::geteuid() }
}

/// Returns whether this process has the rights of a group.
pub(crate) fn is_in_group(gid: u32) -> bool {
    // SAFETY: always succeeds and passes no memory.
    if unsafe { libc::getegid() } == gid {
        return true;
    }
    // SAFETY: with a length of 0 it returns the count and writes nothing.
    let count = unsafe { libc::getgroups(0, std::ptr::null_mut()) };
    let mut groups = vec![0; usize::try_from(count).unwrap_or(0)];
    // SAFETY: the buffer has room for the given number of groups.
    let count = unsafe { libc::getgroups(count.max(0), groups.as_mut_ptr()) };
    groups.truncate(usize::try_from(count).unwrap_or(0));
    groups.contains(&gid)
}

/// Has a function called when the process ends by `exit`, or by returning from `main`. A process
/// that cannot note it any more does without.
pub(crate) fn at_exit(call: extern "C" fn()) {
    // SAFETY: a function without arguments, which does not unwind.
    unsafe { libc::atexit(call) };
}

#[cfg(all(test, not(miri)))]
mod tests {
    use super::super::testing::Child;
    use super::*;

    #[test]
    fn identity_is_this_process_and_cached_until_a_fork() {
        let me = identity();
        assert_eq!(me, read_identity());
        assert_eq!(me, std::thread::spawn(identity).join().unwrap());
        assert_eq!(me.pid, std::process::id());
        assert!(me.start_time > 0 && me.pid_ns > 0 && me.time_ns > 0);
        let child = Child::fork(|| {
            let childs = identity();
            let right = childs.pid == std::process::id()
                && childs.pid != me.pid
                && childs.pid_ns == me.pid_ns
                && childs.start_time >= me.start_time;
            i32::from(!(right && liveness(&me, &childs) == Liveness::Alive))
        });
        assert_eq!(child.exit_code(), 0);
    }

    #[test]
    fn the_command_line_is_shown_on_one_line() {
        let mine = command_line(std::process::id()).unwrap();
        assert!(mine.contains(std::env::args().next().unwrap().as_str()));
        assert!(!mine.contains(char::is_control));
        assert_eq!(command_line(u32::MAX), None);
    }
}

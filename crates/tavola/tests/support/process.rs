//! What tests ask of the system that std does not offer: signals, forks, namespaces, users.

use super::part::assert_is_actor;
use std::ffi::CString;
use std::io;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

pub fn signal(pid: i32, signal: i32) {
    // SAFETY: a signal to a process of this test that nobody has collected yet; no memory passed.
    assert_eq!(unsafe { libc::kill(pid, signal) }, 0, "signal {signal}");
}

/// Whether this process may become any other user: as root of a container of its own users it may
/// be one of those only.
pub fn is_root() -> bool {
    let users = std::fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    let has_all = users.split_whitespace().eq(["0", "0", "4294967295"]);
    // SAFETY: passes no memory.
    has_all && unsafe { libc::geteuid() == 0 }
}

/// Of an actor: ends it by SIGALRM if it still runs in so many seconds; 0: no more.
pub fn alarm(seconds: u32) {
    assert_is_actor();
    // SAFETY: passes no memory; the signal's action is the default, death.
    unsafe { libc::alarm(seconds) };
}

/// Of an actor: ends it by SIGPROF once it has run on a processor for so many seconds more; 0: not
/// at all. What waits for a processor on a busy machine does not count.
pub fn alarm_of_work(seconds: i64) {
    assert_is_actor();
    let zero = libc::timeval {
        tv_sec: 0,
        tv_usec: 0,
    };
    let limit = libc::itimerval {
        it_interval: zero,
        it_value: libc::timeval {
            tv_sec: seconds as libc::time_t,
            ..zero
        },
    };
    // SAFETY: reads a structure that lives through the call and writes nothing.
    let set = unsafe { libc::setitimer(libc::ITIMER_PROF, &raw const limit, std::ptr::null_mut()) };
    assert_eq!(set, 0, "{}", io::Error::last_os_error());
}

/// Of an actor: gives up all rights for good.
pub fn become_user(uid: u32) {
    assert_is_actor();
    // SAFETY: no groups, so no memory is read; then numbers only.
    let done = unsafe {
        libc::setgroups(0, std::ptr::null()) == 0
            && libc::setgid(uid) == 0
            && libc::setuid(uid) == 0
    };
    assert!(done, "{}", io::Error::last_os_error());
}

/// Of an actor: limits what it may use of something, for good.
pub fn limit(resource: libc::c_uint, most: u64) {
    assert_is_actor();
    let limit = libc::rlimit {
        rlim_cur: most,
        rlim_max: most,
    };
    // SAFETY: `limit` is valid for the call. The type of the number differs between C libraries.
    let done = unsafe { libc::setrlimit(resource as _, &raw const limit) };
    assert_eq!(done, 0, "{}", io::Error::last_os_error());
}

/// Of an actor: sets the mask of modes of new files; returns the one before.
pub fn umask(mask: u32) -> u32 {
    assert_is_actor();
    // SAFETY: passes no memory.
    unsafe { libc::umask(mask) }
}

/// Moves this thread, and children it will have, into new namespaces; false: not permitted.
pub fn unshare(flags: i32) -> bool {
    // SAFETY: changes namespaces of this thread only; no memory passed.
    unsafe { libc::unshare(flags) == 0 }
}

/// A forked child; one that still runs at the drop is killed and collected.
pub struct Forked(i32);

impl Forked {
    pub fn pid(&self) -> i32 {
        self.0
    }

    pub fn signal(&self, number: i32) {
        signal(self.0, number);
    }

    /// Waits for its end: exit code, or minus the signal.
    pub fn end(mut self) -> i32 {
        let mut status = 0;
        // SAFETY: `status` is a valid place for the answer, the child is ours and not collected.
        let collected = unsafe { libc::waitpid(self.0, &raw mut status, 0) };
        assert_eq!(collected, self.0);
        self.0 = 0;
        if libc::WIFEXITED(status) {
            libc::WEXITSTATUS(status)
        } else {
            -libc::WTERMSIG(status)
        }
    }

    /// Waits for its end, which must be a good one.
    pub fn finish(self) {
        assert_eq!(self.end(), 0);
    }
}

impl Drop for Forked {
    fn drop(&mut self) {
        if self.0 != 0 {
            // SAFETY: kills and collects a child of our own that was not collected before.
            unsafe {
                libc::kill(self.0, libc::SIGKILL);
                libc::waitpid(self.0, std::ptr::null_mut(), 0);
            }
        }
    }
}

/// Forks. Only for actors: their other thread, the runner's, waits idle, so the child may do all
/// that its parent may. A child whose body panics ends with code 101.
pub fn fork(body: impl FnOnce()) -> Forked {
    assert_is_actor();
    // SAFETY: the child runs `body` and `_exit`, and no lock of the process is held by the one
    // thread that is not copied (see above).
    match unsafe { libc::fork() } {
        -1 => panic!("fork: {}", io::Error::last_os_error()),
        0 => {
            let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(body));
            let code = if outcome.is_ok() { 0 } else { 101 };
            // SAFETY: ends the child without running anything of its parent's.
            unsafe { libc::_exit(code) }
        }
        pid => Forked(pid),
    }
}

/// A FIFO.
pub fn make_fifo(path: &Path) {
    let path = c_string(path);
    // SAFETY: `path` is a C string.
    assert_eq!(unsafe { libc::mkfifo(path.as_ptr(), 0o600) }, 0);
}

pub fn c_string(path: &Path) -> CString {
    CString::new(path.as_os_str().as_bytes()).unwrap()
}

/// Threads of this process.
pub fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").unwrap().count()
}

/// Bytes of memory the process has room for without harm to others: what the system says is free.
pub fn available_memory() -> u64 {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap();
    let line = text.lines().find(|line| line.starts_with("MemAvailable:"));
    let kib: u64 = line
        .and_then(|line| line.split_whitespace().nth(1))
        .and_then(|kib| kib.parse().ok())
        .unwrap();
    kib * 1024
}

/// A clock that all processes share.
pub fn monotonic_ns() -> u64 {
    clock_ns(libc::CLOCK_MONOTONIC)
}

/// The same as of the kernel's last tick, by which keys expire.
pub fn coarse_ns() -> u64 {
    clock_ns(libc::CLOCK_MONOTONIC_COARSE)
}

fn clock_ns(clock: libc::clockid_t) -> u64 {
    let mut now = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `now` is a valid place for the answer.
    let answer = unsafe { libc::clock_gettime(clock, &raw mut now) };
    assert_eq!(answer, 0);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// Returns whether a line of /proc/self/maps is about this file: of its device and inode, as there
/// are others of the same number in other file systems.
pub fn is_mapping_of(line: &str, path: &Path) -> bool {
    let file = std::fs::metadata(path).unwrap();
    let (major, minor) = (libc::major(file.dev()), libc::minor(file.dev()));
    let mut words = line.split_whitespace().skip(3);
    words.next() == Some(&format!("{major:02x}:{minor:02x}"))
        && words.next() == Some(&file.ino().to_string())
}

/// Where this process has mapped a whole file.
pub struct Mapped(Range<usize>);

impl Mapped {
    /// The one mapping there is of its bytes, by the numbers of its file system and inode: it may
    /// have had no name yet. A page that may not be read holds record locks only.
    pub fn of(path: &Path) -> Self {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let is_of = |line: &&str| {
            let access = line.split_whitespace().nth(1);
            access.is_some_and(|access| access.starts_with('r')) && is_mapping_of(line, path)
        };
        let lines: Vec<&str> = maps.lines().filter(is_of).collect();
        let [line] = lines[..] else {
            panic!("mapped in several parts, or not at all: {lines:?}");
        };
        let addresses = line.split_whitespace().next().unwrap();
        let (from, to) = addresses.split_once('-').unwrap();
        let number = |text| usize::from_str_radix(text, 16).unwrap();
        Self(number(from)..number(to))
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Lets bytes of it, whole pages of 4 KiB, only be read; or written to again. Until then, who
    /// writes there is ended by SIGSEGV.
    pub fn protect(&self, part: &Range<usize>, is_protected: bool) {
        assert!(part.start <= part.end && part.end <= self.len());
        let write = if is_protected { 0 } else { libc::PROT_WRITE };
        let from = (self.0.start + part.start) as *mut libc::c_void;
        // SAFETY: changes how bytes within one mapping of this process may be used, and who goes
        // against that is ended; nobody unmaps it meanwhile.
        let done = unsafe { libc::mprotect(from, part.len(), libc::PROT_READ | write) };
        assert_eq!(done, 0, "{}", io::Error::last_os_error());
    }
}

/// Zeros by the number, also where the system has not so much memory: all of them are one page.
pub struct Zeros(*mut libc::c_void, usize);

impl Zeros {
    pub fn new(len: usize) -> Self {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        let at = std::ptr::null_mut();
        // SAFETY: a new mapping, where the system likes.
        let at = unsafe { libc::mmap(at, len, libc::PROT_READ, flags, -1, 0) };
        assert_ne!(at, libc::MAP_FAILED, "{}", io::Error::last_os_error());
        Self(at, len)
    }

    pub fn bytes(&self) -> &[u8] {
        // SAFETY: so many bytes are mapped as long as it lives, and nobody may write to them.
        unsafe { std::slice::from_raw_parts(self.0.cast(), self.1) }
    }
}

impl Drop for Zeros {
    fn drop(&mut self) {
        // SAFETY: its own mapping, which nobody can use any more.
        unsafe { libc::munmap(self.0, self.1) };
    }
}

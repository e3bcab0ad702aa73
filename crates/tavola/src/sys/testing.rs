//! What the unit tests of this room share: a directory, shared words, a forked child.
//!
//! A child is forked out of a process with several threads, so its body may make system calls and
//! touch what exists, but not allocate, lock or panic.

use super::file::{FileRights, Links, OpenDir, create_named_in};
use std::ffi::CString;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU32;

/// A directory in shared memory (or, without one, where temporary files go), removed at the end.
pub(super) struct TempDir(PathBuf);

impl TempDir {
    pub(super) fn new() -> TempDir {
        let shm = Path::new("/dev/shm");
        let parent = if shm.is_dir() {
            shm.to_path_buf()
        } else {
            std::env::temp_dir()
        };
        let template = parent.join("tavola-sys-XXXXXX").into_os_string().into_vec();
        let made = CString::new(template).unwrap().into_raw();
        // SAFETY: `made` is a writable C string that ends in the six letters asked for.
        assert!(!unsafe { libc::mkdtemp(made) }.is_null());
        // SAFETY: comes from `into_raw`, and its length is what it was.
        let made = unsafe { CString::from_raw(made) };
        TempDir(PathBuf::from(made.into_string().unwrap()))
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for TempDir {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).unwrap();
    }
}

/// A new file.
pub(super) fn create_named(path: &Path, mode: u32) -> io::Result<OwnedFd> {
    let (dir, name) = (path.parent().unwrap(), path.file_name().unwrap());
    let dir = OpenDir::open(dir, Links::Followed)?;
    let name = CString::new(name.as_bytes()).unwrap();
    create_named_in(dir.as_fd(), &name, FileRights::of_mode(mode))
}

/// A page of words that a test and its children share.
pub(super) struct SharedWords(*mut AtomicU32);

impl SharedWords {
    pub(super) fn new() -> SharedWords {
        let flags = libc::MAP_SHARED | libc::MAP_ANONYMOUS;
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new anonymous mapping replaces nothing.
        let page = unsafe { libc::mmap(std::ptr::null_mut(), 4096, protection, flags, -1, 0) };
        assert_ne!(page, libc::MAP_FAILED);
        SharedWords(page.cast())
    }

    pub(super) fn word(&self, index: usize) -> &AtomicU32 {
        assert!(index < 1024);
        // SAFETY: inside the page, which lives as long as `self` and holds atomics only.
        unsafe { &*self.0.add(index) }
    }
}

impl Drop for SharedWords {
    fn drop(&mut self) {
        // SAFETY: mapped by `new`, and no borrow of a word outlives `self`.
        unsafe { libc::munmap(self.0.cast(), 4096) };
    }
}

/// What a child returns when it may not make the namespace that its test needs.
pub(super) const NOT_ALLOWED: i32 = 77;

/// Moves a child (of one thread, as all are) into a new namespace, as root or as any user may.
pub(super) fn unshare(flags: libc::c_int) -> bool {
    // SAFETY: changes this child's namespaces only; nothing of the parent's is touched.
    unsafe { libc::unshare(flags) == 0 || libc::unshare(flags | libc::CLONE_NEWUSER) == 0 }
}

/// A forked child; one that is still there at the drop is killed and collected.
pub(super) struct Child(pub(super) libc::pid_t);

struct AbortOnUnwind;

impl Drop for AbortOnUnwind {
    fn drop(&mut self) {
        std::process::abort();
    }
}

impl Child {
    pub(super) fn fork(body: impl FnOnce() -> i32) -> Child {
        // SAFETY: the child runs `body`, which obeys the rules of this file's head, and `_exit`.
        match unsafe { libc::fork() } {
            -1 => panic!("fork: {}", std::io::Error::last_os_error()),
            0 => {
                // A panic must not carry the child into the parent's test runner.
                let guard = AbortOnUnwind;
                let code = body();
                std::mem::forget(guard);
                // SAFETY: ends the child at once, without running anything of the parent's.
                unsafe { libc::_exit(code) }
            }
            pid => Child(pid),
        }
    }

    pub(super) fn send(&self, signal: libc::c_int) {
        // SAFETY: the child has not been collected, so the number is still its own.
        assert_eq!(unsafe { libc::kill(self.0, signal) }, 0);
    }

    /// Waits until the child has ended (or, with `WUNTRACED`, stopped); returns the raw status.
    pub(super) fn wait(&self, options: libc::c_int) -> libc::c_int {
        let mut status = 0;
        // SAFETY: `status` is a valid place for the answer.
        let collected = unsafe { libc::waitpid(self.0, &raw mut status, options) };
        assert_eq!(collected, self.0);
        status
    }

    /// The end of a test whose child needs a namespace.
    pub(super) fn expect_success_where_allowed(self) {
        match self.exit_code() {
            NOT_ALLOWED => eprintln!("not tested: this user may not make namespaces"),
            code => assert_eq!(code, 0),
        }
    }

    /// Collects the child; −1 when it was killed.
    pub(super) fn exit_code(mut self) -> i32 {
        let status = self.wait(0);
        self.0 = 0;
        if libc::WIFEXITED(status) {
            libc::WEXITSTATUS(status)
        } else {
            -1
        }
    }
}

impl Drop for Child {
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

pub(super) type ThreadBody = extern "C" fn(*mut libc::c_void) -> *mut libc::c_void;

/// Starts a thread in a forked child. POSIX promises nothing for a child of a process with
/// threads; both C libraries put their own state in order there. std's would allocate more.
pub(super) fn start_thread(body: ThreadBody, at: *mut u8) -> bool {
    let mut thread = std::mem::MaybeUninit::uninit();
    // SAFETY: `thread` is a valid place for the handle, and `body` takes what `at` points to.
    unsafe { libc::pthread_create(thread.as_mut_ptr(), std::ptr::null(), body, at.cast()) == 0 }
}

//! Record locks on single bytes: who holds one lives, has the file open, and has not exec'd.

use super::{check, offset, retry};
use crate::sync::{Ordering, W64};
use crate::sys::map::page_bytes;
use crate::sys::process::generation;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

/// Takes the write lock on one byte, without waiting; `false` when someone else has it.
///
/// The lock belongs to the open file description: it goes when the last descriptor of that is
/// closed (by exec too, or by a kill), which a forked child that inherited one delays. Needs a
/// descriptor open for writing. The byte need not exist.
pub(crate) fn try_lock_byte(fd: BorrowedFd<'_>, at: u64) -> io::Result<bool> {
    match record_lock(fd, libc::F_OFD_SETLK, libc::F_WRLCK, at) {
        Ok(_) => Ok(true),
        Err(error) => match error.raw_os_error() {
            Some(libc::EAGAIN | libc::EACCES) => Ok(false),
            _ => Err(error),
        },
    }
}

/// Whether some other open file description has locked the byte, in any process.
///
/// A lock held through the same description as `fd` is never reported: ask about one's own
/// through a `reopen`ed descriptor.
pub(crate) fn byte_is_locked(fd: BorrowedFd<'_>, at: u64) -> io::Result<bool> {
    let lock = record_lock(fd, libc::F_OFD_GETLK, libc::F_WRLCK, at)?;
    Ok(i32::from(lock.l_type) != libc::F_UNLCK)
}

/// Lets the byte go; no error if it was not locked.
pub(crate) fn unlock_byte(fd: BorrowedFd<'_>, at: u64) -> io::Result<()> {
    record_lock(fd, libc::F_OFD_SETLK, libc::F_UNLCK, at).map(drop)
}

/// Locks the file as a whole (`flock`), without waiting; `false` if it is locked already. Record
/// locks on its bytes have nothing to do with it. It ends with the open file description.
pub(crate) fn try_lock_whole(fd: BorrowedFd<'_>) -> io::Result<bool> {
    // SAFETY: passes no memory.
    match check(unsafe { libc::flock(fd.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) }) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
        Err(error) => Err(error),
    }
}

/// Keeps an open file description, and with it the record locks taken through it, for as long as
/// this process has its memory: until exit, exec, a kill, or the release.
///
/// What keeps the description is a mapping and no descriptor: so no program can close it by
/// mistake, and a forked child does not inherit it (`MADV_DONTFORK`), so that it does not keep its
/// dead parent's locks. The caller closes its descriptor when the locks are taken. A child that
/// another thread forks before that inherits the descriptor, and keeps the locks until it ends.
#[derive(Debug)]
pub(crate) struct LockHolder {
    /// Address of the mapping; 0: there is none.
    page: W64,
    /// In a forked child other memory may be there.
    generation: W64,
}

impl LockHolder {
    /// Holds nothing yet.
    pub(crate) const fn new() -> Self {
        Self {
            page: W64::new(0),
            generation: W64::new(0),
        }
    }

    /// Holds the description behind `fd`, and releases the one before. One thread at a time.
    pub(crate) fn hold(&self, fd: BorrowedFd<'_>) -> io::Result<()> {
        self.release();
        let (len, flags) = (page_bytes(), libc::MAP_SHARED);
        let at = std::ptr::null_mut();
        // SAFETY: a new mapping at an address of the kernel's choice replaces nothing.
        let page = unsafe { libc::mmap(at, len, libc::PROT_NONE, flags, fd.as_raw_fd(), 0) };
        if page == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        self.page.store(page.addr() as u64, Ordering::Relaxed);
        self.generation.store(generation(), Ordering::Relaxed);
        // SAFETY: the page was mapped just now; nothing of it changes for this process. It is
        // nothing for a core dump.
        check(unsafe {
            libc::madvise(page, len, libc::MADV_DONTDUMP);
            libc::madvise(page, len, libc::MADV_DONTFORK)
        })
        .map(drop)
    }

    /// Lets the locks go, unless they are another process's.
    pub(crate) fn release(&self) {
        let page = self.page.swap(0, Ordering::Relaxed) as usize;
        if page != 0 && self.generation.load(Ordering::Relaxed) == generation() {
            let page = std::ptr::without_provenance_mut(page);
            // SAFETY: this object's own page, which nobody reads or writes.
            unsafe { libc::munmap(page, page_bytes()) };
        }
    }
}

#[allow(clippy::cast_possible_truncation)] // Lock types and SEEK_SET are 0, 1 and 2.
fn record_lock(
    fd: BorrowedFd<'_>,
    command: libc::c_int,
    lock_type: libc::c_int,
    at: u64,
) -> io::Result<libc::flock> {
    // SAFETY: all zeros is a valid `flock`, a struct of integers; `l_pid` must be 0.
    let mut lock: libc::flock = unsafe { std::mem::zeroed() };
    lock.l_type = lock_type as libc::c_short;
    lock.l_whence = libc::SEEK_SET as libc::c_short;
    lock.l_start = offset(at)?;
    lock.l_len = 1;
    // SAFETY: `lock` is valid for reading and writing during the call.
    retry(|| unsafe { libc::fcntl(fd.as_raw_fd(), command, &raw mut lock) })?;
    Ok(lock)
}

#[cfg(all(test, not(miri)))]
mod tests {
    use super::super::super::testing::{Child, SharedWords, TempDir, create_named};
    use super::super::{c_path, open, open_c, reopen};
    use super::*;
    use std::os::fd::AsFd;
    use std::sync::atomic::Ordering::SeqCst;

    #[test]
    fn byte_locks_distinguish_descriptions_and_processes() {
        let dir = TempDir::new();
        let path = dir.path("table");
        let file = create_named(&path, 0o600).unwrap();
        let other = reopen(file.as_fd()).unwrap();
        assert!(try_lock_byte(file.as_fd(), 100).unwrap());
        assert!(
            !byte_is_locked(file.as_fd(), 100).unwrap(),
            "one's own is not reported"
        );
        assert!(byte_is_locked(other.as_fd(), 100).unwrap());
        assert!(!byte_is_locked(other.as_fd(), 101).unwrap());
        assert!(!try_lock_byte(other.as_fd(), 100).unwrap());
        assert!(try_lock_byte(other.as_fd(), 101).unwrap());
        unlock_byte(file.as_fd(), 100).unwrap();
        assert!(!byte_is_locked(other.as_fd(), 100).unwrap());
        let reader = open(&path, false).unwrap();
        assert!(byte_is_locked(reader.as_fd(), 101).unwrap());
        assert!(
            try_lock_byte(reader.as_fd(), 5).is_err(),
            "a lock needs write access"
        );
    }

    #[test]
    fn a_killed_process_lets_its_byte_go() {
        let dir = TempDir::new();
        let file = create_named(&dir.path("table"), 0o600).unwrap();
        let words = SharedWords::new();
        let word = words.word(0);
        let path = c_path(&dir.path("table")).unwrap();
        let child = Child::fork(|| {
            let locked = open_c(&path, libc::O_RDWR, 0)
                .and_then(|own| Ok((try_lock_byte(own.as_fd(), 3)?, own)));
            word.store(1 + u32::from(matches!(locked, Ok((true, _)))), SeqCst);
            // SAFETY: sleeps until a signal; `locked` stays open meanwhile.
            unsafe { libc::pause() }
        });
        while word.load(SeqCst) == 0 {
            std::thread::yield_now();
        }
        assert_eq!(word.load(SeqCst), 2);
        assert!(byte_is_locked(file.as_fd(), 3).unwrap());
        child.send(libc::SIGKILL);
        assert_eq!(child.exit_code(), -1);
        assert!(!byte_is_locked(file.as_fd(), 3).unwrap());
    }

    #[test]
    fn a_holder_keeps_locks_without_a_descriptor_and_not_in_children() {
        let dir = TempDir::new();
        let path = dir.path("table");
        let file = create_named(&path, 0o600).unwrap();
        crate::sys::file::set_len(file.as_fd(), 1 << 20).unwrap();
        let own = open(&path, true).unwrap();
        let holder = LockHolder::new();
        holder.hold(own.as_fd()).unwrap();
        assert!(try_lock_byte(own.as_fd(), 1).unwrap());
        drop(own);
        let is_locked = || byte_is_locked(file.as_fd(), 1).unwrap();
        assert!(is_locked(), "kept by the mapping");
        let words = SharedWords::new();
        let child = Child::fork(|| {
            while words.word(0).load(SeqCst) == 0 {
                std::thread::yield_now();
            }
            0
        });
        holder.release();
        assert!(!is_locked(), "an idle child does not keep it");
        words.word(0).store(1, SeqCst);
        assert_eq!(child.exit_code(), 0);
    }
}

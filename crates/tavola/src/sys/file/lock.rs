//! Record locks on single bytes: who holds one lives, has the file open, and has not exec'd.

use super::{offset, retry};
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
    use super::super::super::testing::{Child, SharedWords, TempDir};
    use super::super::{c_path, create_named, open, open_c, renew, reopen};
    use super::*;
    use std::os::fd::AsFd;
    use std::sync::atomic::Ordering::SeqCst;

    #[test]
    fn byte_locks_tell_descriptions_and_processes_apart() {
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
    fn a_child_that_renews_its_descriptor_lets_its_parents_lock_be() {
        let dir = TempDir::new();
        let file = create_named(&dir.path("table"), 0o600).unwrap();
        let fd = file.as_fd();
        assert!(try_lock_byte(fd, 1).unwrap());
        let child = Child::fork(|| {
            let shared = !byte_is_locked(fd, 1).unwrap_or(true);
            let renewed =
                renew(fd, &dir.path("table")).is_ok() && byte_is_locked(fd, 1).unwrap_or(false);
            // SAFETY: asks for the flags of an open descriptor.
            let flags = unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_GETFD) };
            let own = flags == libc::FD_CLOEXEC && try_lock_byte(fd, 2).unwrap_or(false);
            i32::from(!(shared && renewed && own))
        });
        assert_eq!(child.exit_code(), 0);
        let other = reopen(fd).unwrap();
        assert!(
            byte_is_locked(other.as_fd(), 1).unwrap(),
            "the child's end did not unlock it"
        );
        assert!(!byte_is_locked(other.as_fd(), 2).unwrap());
    }
}

//! How large a file is, what memory backs it, and what room there is for more.

use super::{check, interruptible, offset, retry};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

/// Makes the file `len` bytes long; what it grows by is a hole.
pub(crate) fn set_len(fd: BorrowedFd<'_>, len: u64) -> io::Result<()> {
    // Growing a file past RLIMIT_FSIZE would kill the process (SIGXFSZ).
    let mut limit = libc::rlimit {
        rlim_cur: libc::RLIM_INFINITY,
        rlim_max: libc::RLIM_INFINITY,
    };
    // SAFETY: `limit` is a valid place for the answer; it stays unlimited if there is none.
    unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &raw mut limit) };
    if limit.rlim_cur != libc::RLIM_INFINITY && len > limit.rlim_cur {
        return Err(io::Error::from_raw_os_error(libc::EFBIG));
    }
    let len = offset(len)?;
    // SAFETY: no memory is passed. The caller answers for mappings of what is cut off.
    retry(|| unsafe { libc::ftruncate(fd.as_raw_fd(), len) }).map(drop)
}

/// Backs a range of the file with memory, so that writing to it cannot fail. `ENOSPC` when full
/// (part of the range may then be backed), `EOPNOTSUPP` where the file system cannot promise it.
/// The range should lie within the file's length, which it would otherwise extend.
pub(crate) fn allocate(fd: BorrowedFd<'_>, at: u64, len: u64) -> io::Result<()> {
    // Refused here, so that no sum below can overflow.
    offset(at.saturating_add(len))?;
    in_pieces(at, len, |from, count| {
        let (from, count) = (offset(from)?, offset(count)?);
        // SAFETY: no memory is passed.
        check(interruptible(|| unsafe {
            libc::fallocate(fd.as_raw_fd(), 0, from, count)
        }))
    })
}

/// Calls `allocate` for a range piece by piece, the whole first. The tmpfs of older kernels
/// undoes a call when a signal comes: a process with a fast timer would never get a large range
/// in one go, so each interruption halves the pieces.
fn in_pieces(
    at: u64,
    len: u64,
    mut allocate: impl FnMut(u64, u64) -> io::Result<libc::c_int>,
) -> io::Result<()> {
    const SMALLEST_PIECE: u64 = 64 << 10;
    let (mut done, mut piece) = (0, len);
    while done < len {
        let now = piece.min(len - done);
        match allocate(at + done, now) {
            Ok(_) => done += now,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                piece = (piece / 2).max(SMALLEST_PIECE);
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Gives the memory of a range back to the system; it reads as zeros from then on. Only whole
/// pages are given back, parts of pages are zeroed. The file keeps its length.
pub(crate) fn punch_hole(fd: BorrowedFd<'_>, at: u64, len: u64) -> io::Result<()> {
    let (at, len) = (offset(at)?, offset(len)?);
    let mode = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
    // SAFETY: no memory is passed; the caller answers for who may still read the range.
    retry(|| unsafe { libc::fallocate(fd.as_raw_fd(), mode, at, len) }).map(drop)
}

#[cfg(all(test, not(miri)))]
mod tests {
    use super::super::super::testing::{Child, NOT_ALLOWED, TempDir, create_named, unshare};
    use super::super::{c_path, len_and_blocks, open_c, read_at, write_at};
    use super::*;
    use std::ffi::CStr;
    use std::os::fd::{AsFd, OwnedFd};

    #[test]
    fn memory_is_taken_and_given_back() {
        let dir = TempDir::new();
        let file = create_named(&dir.path("table"), 0o600).unwrap();
        let fd = file.as_fd();
        set_len(fd, 64 << 20).unwrap();
        let in_use = || len_and_blocks(fd).unwrap().allocated_bytes;
        assert_eq!(in_use(), 0);
        allocate(fd, 1 << 20, 3 << 20).unwrap();
        assert_eq!(in_use(), 3 << 20);
        write_at(fd, b"abc", (2 << 20) - 1).unwrap();
        punch_hole(fd, 2 << 20, 1 << 20).unwrap();
        assert_eq!(in_use(), 2 << 20);
        let mut back = [9; 3];
        assert_eq!(read_at(fd, &mut back, (2 << 20) - 1).unwrap(), 3);
        assert_eq!(&back, b"a\0\0");
        assert_eq!(read_at(fd, &mut back, (64 << 20) - 2).unwrap(), 2);
        assert_eq!(len_and_blocks(fd).unwrap().len, 64 << 20);
        assert!(allocate(fd, u64::MAX, 1).is_err() && set_len(fd, u64::MAX).is_err());
    }

    #[test]
    fn a_file_size_limit_is_an_error_not_a_signal() {
        let dir = TempDir::new();
        let file = create_named(&dir.path("table"), 0o600).unwrap();
        let child = Child::fork(|| {
            let limit = libc::rlimit {
                rlim_cur: 4096,
                rlim_max: 4096,
            };
            // SAFETY: `limit` is valid; only this child is limited.
            unsafe { libc::setrlimit(libc::RLIMIT_FSIZE, &raw const limit) };
            let past = set_len(file.as_fd(), 4097);
            let refused = past.is_err_and(|e| e.raw_os_error() == Some(libc::EFBIG));
            i32::from(!(refused && set_len(file.as_fd(), 4096).is_ok()))
        });
        assert_eq!(child.exit_code(), 0);
    }

    /// Mounts a tmpfs of 1 MiB on `at` for this child alone, and makes a file of 4 MiB there.
    fn file_on_small_tmpfs(at: &CStr, path: &CStr) -> io::Result<OwnedFd> {
        // What a remount does not look at is named as well: valgrind looks at it.
        let (fs, none) = (c"tmpfs".as_ptr(), c"none".as_ptr());
        let private = libc::MS_REC | libc::MS_PRIVATE;
        // SAFETY: all names are C strings that outlive the calls.
        check(unsafe { libc::mount(none, c"/".as_ptr(), none, private, std::ptr::null()) })?;
        let size = c"size=1m,mode=0777".as_ptr();
        // SAFETY: as above; `size` is the text that tmpfs takes for options.
        check(unsafe { libc::mount(fs, at.as_ptr(), fs, 0, size.cast()) })?;
        let file = open_c(path, libc::O_CREAT | libc::O_RDWR, 0o600)?;
        set_len(file.as_fd(), 4 << 20)?;
        Ok(file)
    }

    #[test]
    fn a_full_file_system_is_an_error_not_a_signal() {
        let dir = TempDir::new();
        let (at, path) = (
            c_path(&dir.path(".")).unwrap(),
            c_path(&dir.path("table")).unwrap(),
        );
        let child = Child::fork(|| {
            if !unshare(libc::CLONE_NEWNS) {
                return NOT_ALLOWED;
            }
            let Ok(file) = file_on_small_tmpfs(&at, &path) else {
                return NOT_ALLOWED;
            };
            let code = |result: io::Result<()>| result.err().and_then(|e| e.raw_os_error());
            let full = code(allocate(file.as_fd(), 0, 2 << 20));
            i32::from(full != Some(libc::ENOSPC))
        });
        child.expect_success_where_allowed();
    }

    #[test]
    fn allocating_gets_done_however_often_it_is_interrupted() {
        let (mut covered, mut calls) = (5, 0);
        in_pieces(5, 64 << 20, |from, count| {
            calls += 1;
            assert_eq!(from, covered);
            if count > 1 << 20 || calls % 2 == 0 {
                return Err(io::ErrorKind::Interrupted.into());
            }
            covered = from + count;
            Ok(0)
        })
        .unwrap();
        assert_eq!(covered, 5 + (64 << 20));
        let full = in_pieces(0, 9, |_, _| Err(io::ErrorKind::StorageFull.into()));
        assert_eq!(full.unwrap_err().kind(), io::ErrorKind::StorageFull);
    }
}

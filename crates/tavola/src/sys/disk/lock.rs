//! Locks of a directory: many processes use a durable table, or one rebuilds it.

use crate::sys::file::{self, KeptFile};
use crate::sys::retry;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::Path;

/// A directory that is open to be locked. The lock ends with it, and with all forked children that
/// have inherited it.
#[derive(Debug)]
pub(crate) struct DirLock {
    dir: KeptFile,
    identity: [u64; 2],
}

impl DirLock {
    /// Keeps a directory that was just opened.
    pub(crate) fn of(dir: OwnedFd, path: &Path) -> io::Result<Self> {
        let info = file::len_and_blocks(dir.as_fd())?;
        Ok(Self {
            dir: KeptFile::new(dir, &info, path, false)?,
            identity: [info.dev, info.ino],
        })
    }

    /// Returns its device and inode.
    pub(crate) fn identity(&self) -> [u64; 2] {
        self.identity
    }

    /// Locks it for one, without waiting. Returns false if others have locked it.
    pub(crate) fn try_alone(&self) -> io::Result<bool> {
        self.lock(libc::LOCK_EX | libc::LOCK_NB)
    }

    /// Locks it for many, without waiting. Returns false if one has locked it alone.
    pub(crate) fn try_shared(&self) -> io::Result<bool> {
        self.lock(libc::LOCK_SH | libc::LOCK_NB)
    }

    pub(crate) fn unlock(&self) -> io::Result<()> {
        self.lock(libc::LOCK_UN).map(drop)
    }

    fn lock(&self, how: libc::c_int) -> io::Result<bool> {
        self.dir.with(|fd| flock(fd, how))
    }
}

/// Locks an open file. Returns false if others have locked it, and it is not to be waited for.
pub(super) fn flock(fd: BorrowedFd<'_>, how: libc::c_int) -> io::Result<bool> {
    // SAFETY: passes no memory.
    match retry(|| unsafe { libc::flock(fd.as_raw_fd(), how) }) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
        Err(error) => Err(error),
    }
}

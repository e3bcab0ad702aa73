//! Locks of a directory: many processes use a durable table, or one rebuilds it.

use crate::sys::retry;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

/// A directory that is open to be locked. The lock ends with it, and with all forked children that
/// have inherited it.
#[derive(Debug)]
pub(crate) struct DirLock(File);

impl DirLock {
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let dir = std::fs::OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_DIRECTORY | libc::O_CLOEXEC)
            .open(path)?;
        Ok(Self(dir))
    }

    /// Returns its device and inode.
    pub(crate) fn identity(&self) -> io::Result<[u64; 2]> {
        let info = self.0.metadata()?;
        Ok([info.dev(), info.ino()])
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
        flock(&self.0, how)
    }
}

/// Locks an open file. Returns false if others have locked it, and it is not to be waited for.
pub(super) fn flock(file: &File, how: libc::c_int) -> io::Result<bool> {
    // SAFETY: passes no memory.
    match retry(|| unsafe { libc::flock(file.as_raw_fd(), how) }) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
        Err(error) => Err(error),
    }
}

//! A file that stays open for long in a process that may close any descriptor at any time.
//!
//! Programs that become daemons close every descriptor there is, and the kernel gives the numbers
//! out again: what was the file's may be the application's own log a moment later. So a number is
//! never used before the kernel has said which file it leads to, it is not closed when it leads
//! elsewhere, and a file that was lost so is opened again by its path. Numbers are high ones, which
//! are given out again last.

use super::{FileInfo, device_and_inode, len_and_blocks, open, reopen};
use crate::sync::{Ordering, W32};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, IntoRawFd, OwnedFd, RawFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The lowest number that a descriptor is moved to. The table of descriptors of a process grows
/// to 8 KiB for it.
const HIGH: libc::c_int = 512;

/// An open file, whose descriptor is checked before each use.
#[derive(Debug)]
pub(crate) struct KeptFile {
    number: W32,
    dev: u64,
    ino: u64,
    /// Absolute: the process may change its directory.
    path: PathBuf,
    writable: bool,
}

/// What the path of a file that was opened leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NameState {
    /// To the same file, as far as can be seen.
    Same,
    /// To nothing.
    Gone,
    /// To another file.
    Other,
}

impl KeptFile {
    /// Keeps a file that was just opened at `path`, or will get that name. Its descriptor moves out
    /// of the way of the numbers that are given out next: here, and not when the table is mapped,
    /// as threads that read meanwhile may then use the old number.
    pub(crate) fn new(
        fd: OwnedFd,
        info: &FileInfo,
        path: &Path,
        writable: bool,
    ) -> io::Result<Self> {
        Ok(Self {
            path: std::path::absolute(path)?,
            number: W32::new(moved_up(fd).into_raw_fd() as u32),
            dev: info.dev,
            ino: info.ino,
            writable,
        })
    }

    /// Calls `action` with a descriptor of the file, which is opened again if the process has
    /// closed the last one.
    ///
    /// # Errors
    /// Those of `action`, and of opening the file: `NotFound` when its path leads to it no more.
    pub(crate) fn with<T>(
        &self,
        action: impl FnOnce(BorrowedFd<'_>) -> io::Result<T>,
    ) -> io::Result<T> {
        let number = self.number();
        if self.is_this(number) {
            // SAFETY: the number leads to the file, as just seen. If another thread closes it just
            // now, the number is at worst one that leads nowhere, or that was given out again in
            // between: nothing that a process can do about its own threads.
            return action(unsafe { BorrowedFd::borrow_raw(number) });
        }
        let fresh = self.open_by_path()?;
        let outcome = action(fresh.as_fd());
        self.replace(number, moved_up(fresh));
        outcome
    }

    /// The file opened once more, with a description of its own: record locks taken through it
    /// belong to nobody else. Needs permission to open the file now.
    pub(crate) fn reopened(&self) -> io::Result<OwnedFd> {
        match self.with(reopen) {
            // There is no /proc.
            Err(error) if error.kind() == io::ErrorKind::NotFound => self.open_by_path(),
            outcome => outcome,
        }
    }

    /// Puts a description of our own in the place of one that is shared with our parent.
    pub(crate) fn renew(&self) -> io::Result<()> {
        let fresh = moved_up(self.reopened()?);
        self.replace(self.number(), fresh);
        Ok(())
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// What its path leads to now.
    pub(crate) fn name_state(&self) -> NameState {
        match std::fs::metadata(&self.path) {
            Ok(info) if (info.dev(), info.ino()) == (self.dev, self.ino) => NameState::Same,
            Ok(_) => NameState::Other,
            Err(error) if error.kind() == io::ErrorKind::NotFound => NameState::Gone,
            // A directory that may not be searched any more, for example.
            Err(_) => NameState::Same,
        }
    }

    fn number(&self) -> RawFd {
        self.number.load(Ordering::Relaxed) as RawFd
    }

    /// Whether the number leads to this file now.
    fn is_this(&self, number: RawFd) -> bool {
        // SAFETY: any number may be asked about; it is not kept.
        let fd = unsafe { BorrowedFd::borrow_raw(number) };
        device_and_inode(fd).is_ok_and(|found| found == [self.dev, self.ino])
    }

    fn is_file(&self, info: &FileInfo) -> bool {
        (info.dev, info.ino) == (self.dev, self.ino)
    }

    fn open_by_path(&self) -> io::Result<OwnedFd> {
        let fd = open(&self.path, self.writable)?;
        if self.is_file(&len_and_blocks(fd.as_fd())?) {
            return Ok(fd);
        }
        Err(io::Error::new(
            io::ErrorKind::NotFound,
            "the program closed its file descriptor, and another file now has its name; open the \
            table again",
        ))
    }

    /// Of threads that come here at once, one puts its descriptor in the place of the old one.
    fn replace(&self, old: RawFd, fresh: OwnedFd) {
        let new = fresh.as_raw_fd() as u32;
        if self.number.cas(old as u32, new, Ordering::Relaxed).is_ok() {
            let _ = fresh.into_raw_fd();
            self.close(old);
        }
    }

    fn close(&self, number: RawFd) {
        if self.is_this(number) {
            // SAFETY: the file's, as just seen, and this object's.
            drop(unsafe { OwnedFd::from_raw_fd(number) });
        }
    }
}

impl Drop for KeptFile {
    fn drop(&mut self) {
        self.close(self.number());
    }
}

/// The same description under a high number, where the limit of the process allows it.
fn moved_up(fd: OwnedFd) -> OwnedFd {
    // SAFETY: passes no memory.
    let high = unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_DUPFD_CLOEXEC, HIGH) };
    if high == -1 {
        return fd;
    }
    // SAFETY: the kernel has just given it to us.
    unsafe { OwnedFd::from_raw_fd(high) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Table;

    /// A number that is given up while threads use it leads to the next file that is opened.
    #[test]
    fn the_number_is_a_high_one_from_the_beginning_and_stays() {
        let dir = tempfile::tempdir_in("/dev/shm").unwrap();
        let path = dir.path().join("t");
        drop(Table::options().max_size(1 << 20).create(&path).unwrap());
        let table = Table::open(&path).unwrap();
        let numbers = || {
            let all = std::fs::read_dir("/proc/self/fd").unwrap().flatten();
            let ours = all.filter(|fd| std::fs::read_link(fd.path()).is_ok_and(|to| to == path));
            let name = |fd: std::fs::DirEntry| fd.file_name().to_string_lossy().parse().unwrap();
            ours.map(name).collect::<Vec<RawFd>>()
        };
        let before = numbers();
        assert_eq!(before.len(), 1);
        assert!(before[0] >= HIGH, "{before:?}");
        table.set("key", "value").unwrap();
        assert!(numbers().contains(&before[0]), "{before:?} {:?}", numbers());
    }
}

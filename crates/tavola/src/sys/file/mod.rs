//! Files: opened, read, made whole or not at all, sized and allocated, locked by the byte.

mod create;
mod identity;
mod kept;
mod kind;
mod lock;
mod open_dir;
mod space;

pub(crate) use create::{
    FileRights, NameInDir, create_directory, create_named_in, create_unnamed, link, publish_named,
    publish_unnamed, rename, rename_named,
};
pub(crate) use identity::{device_and_inode, identity};
pub(crate) use kept::{KeptFile, NameState};
pub(crate) use kind::{Kind, is_memory, kind_of};
pub(crate) use lock::{LockHolder, byte_is_locked, try_lock_byte, try_lock_whole, unlock_byte};
pub(crate) use open_dir::{Links, OpenDir, is_trusted, split};
pub(crate) use space::{allocate, punch_hole, set_len};

use super::{check, interruptible, portion, retry};
use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// What `fstat` reports about an open file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileInfo {
    pub(crate) len: u64,
    pub(crate) allocated_bytes: u64,
    /// Permission bits only.
    pub(crate) mode: u32,
    pub(crate) uid: u32,
    pub(crate) gid: u32,
    pub(crate) is_regular: bool,
    /// What it is: `S_IFREG`, `S_IFDIR`, ...
    pub(crate) kind: u32,
    /// The names that the file has.
    pub(crate) names: u64,
    pub(crate) dev: u64,
    pub(crate) ino: u64,
}

/// Opens what `path` names.
///
/// Symbolic links are followed: a user may well keep a table elsewhere and link to it. (In a
/// directory where others may plant one, see [`OpenDir`].) The path may also name something that
/// is not a file: `O_NONBLOCK` keeps a FIFO without a writer from hanging the process (regular
/// files ignore it), `O_NOCTTY` a terminal from becoming its own. The caller checks
/// `FileInfo::is_regular`.
pub(crate) fn open(path: &Path, writable: bool) -> io::Result<OwnedFd> {
    open_with(path, flags_to_open(writable), 0)
}

fn flags_to_open(writable: bool) -> libc::c_int {
    let access = match writable {
        true => libc::O_RDWR,
        false => libc::O_RDONLY,
    };
    access | libc::O_NONBLOCK | libc::O_NOCTTY
}

/// A new open file description of the same file, with the same access: record locks taken
/// through it are its own. Needs /proc, and permission to open the file now.
fn reopen(fd: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    // SAFETY: asks for the flags of an open descriptor.
    let flags = check(unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_GETFL) })?;
    open_c(
        &proc_fd(fd),
        (flags & libc::O_ACCMODE) | libc::O_NONBLOCK | libc::O_NOCTTY,
        0,
    )
}

/// Writes to standard error by one call, without a lock or a buffer that others may hold; what it
/// does not take is lost.
pub(crate) fn to_standard_error(bytes: &[u8]) {
    // SAFETY: the bytes are valid for the call.
    unsafe { libc::write(libc::STDERR_FILENO, bytes.as_ptr().cast(), bytes.len()) };
}

/// Size, memory in use and identity of an open file.
pub(crate) fn len_and_blocks(fd: BorrowedFd<'_>) -> io::Result<FileInfo> {
    // SAFETY: all zeros is a valid `stat`, a struct of integers.
    let mut stat: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: `stat` is a valid place for the answer.
    check(unsafe { libc::fstat(fd.as_raw_fd(), &raw mut stat) })?;
    Ok(info_from(&stat))
}

#[allow(clippy::unnecessary_cast)] // The fields' types differ between targets.
fn info_from(stat: &libc::stat) -> FileInfo {
    FileInfo {
        len: stat.st_size as u64,
        allocated_bytes: stat.st_blocks as u64 * 512,
        mode: stat.st_mode & 0o7777,
        uid: stat.st_uid,
        gid: stat.st_gid,
        is_regular: stat.st_mode & libc::S_IFMT == libc::S_IFREG,
        kind: stat.st_mode & libc::S_IFMT,
        names: stat.st_nlink as u64,
        dev: stat.st_dev as u64,
        ino: stat.st_ino as u64,
    }
}

/// Gives the file to a user and a group.
pub(crate) fn set_owner(fd: BorrowedFd<'_>, uid: u32, gid: u32) -> io::Result<()> {
    // SAFETY: passes no memory.
    retry(|| unsafe { libc::fchown(fd.as_raw_fd(), uid, gid) }).map(drop)
}

/// Waits until the bytes of a file are on its disk; the pages of its mappings count.
pub(crate) fn sync(fd: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: passes no memory.
    retry(|| unsafe { libc::fsync(fd.as_raw_fd()) }).map(drop)
}

/// As [`sync`], without what is not needed to read the bytes back.
pub(crate) fn sync_data(fd: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: passes no memory.
    retry(|| unsafe { libc::fdatasync(fd.as_raw_fd()) }).map(drop)
}

/// Waits until the name of a file is on its disk. Not every file system can do this for a
/// directory; the file itself is complete in any case.
pub(crate) fn sync_directory(of: &Path) {
    let dir = match of.parent() {
        Some(dir) if !dir.as_os_str().is_empty() => dir,
        _ => Path::new("."),
    };
    if let Ok(fd) = open_with(dir, libc::O_RDONLY | libc::O_DIRECTORY, 0) {
        let _ = sync(fd.as_fd());
    }
}

/// Fills `buffer` from `at` on; returns how many bytes there were before the end of the file.
pub(crate) fn read_at(fd: BorrowedFd<'_>, buffer: &mut [u8], at: u64) -> io::Result<usize> {
    let mut done = 0;
    while done < buffer.len() {
        let rest = &mut buffer[done..];
        let (from, len) = (offset(at.saturating_add(done as u64))?, portion(rest.len()));
        // SAFETY: `rest` is a writable buffer of at least the length given.
        let got = interruptible(|| unsafe {
            libc::pread(fd.as_raw_fd(), rest.as_mut_ptr().cast(), len, from)
        });
        match transferred(got)? {
            Some(0) => break,
            Some(count) => done += count,
            None => {}
        }
    }
    Ok(done)
}

/// Writes all of `bytes` at `at`.
pub(crate) fn write_at(fd: BorrowedFd<'_>, bytes: &[u8], at: u64) -> io::Result<()> {
    let mut done = 0;
    while done < bytes.len() {
        let rest = &bytes[done..];
        let (to, len) = (offset(at.saturating_add(done as u64))?, portion(rest.len()));
        // SAFETY: `rest` is a readable buffer of at least the length given.
        let put = interruptible(|| unsafe {
            libc::pwrite(fd.as_raw_fd(), rest.as_ptr().cast(), len, to)
        });
        match transferred(put)? {
            Some(0) => return Err(io::ErrorKind::WriteZero.into()),
            Some(count) => done += count,
            None => {}
        }
    }
    Ok(())
}

fn open_with(path: &Path, flags: libc::c_int, mode: u32) -> io::Result<OwnedFd> {
    open_c(&c_path(path)?, flags, mode)
}

fn open_c(path: &CStr, flags: libc::c_int, mode: u32) -> io::Result<OwnedFd> {
    open_at(working_directory(), path, flags, mode)
}

fn open_at(dir: BorrowedFd<'_>, path: &CStr, flags: libc::c_int, mode: u32) -> io::Result<OwnedFd> {
    let (dir, flags) = (dir.as_raw_fd(), flags | libc::O_CLOEXEC);
    // SAFETY: `path` is a C string that outlives the call.
    let fd = retry(|| unsafe { libc::openat(dir, path.as_ptr(), flags, mode) })?;
    // SAFETY: a descriptor that was just opened and that nobody else knows of.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Where relative paths begin.
fn working_directory() -> BorrowedFd<'static> {
    // SAFETY: no descriptor, but a number that always stands for the directory.
    unsafe { BorrowedFd::borrow_raw(libc::AT_FDCWD) }
}

fn c_path(path: &Path) -> io::Result<CString> {
    Ok(CString::new(path.as_os_str().as_bytes())?)
}

fn proc_fd(fd: BorrowedFd<'_>) -> CString {
    let name = format!("/proc/self/fd/{}", fd.as_raw_fd());
    CString::new(name).unwrap_or_default()
}

fn offset(bytes: u64) -> io::Result<libc::off_t> {
    libc::off_t::try_from(bytes).map_err(|_| io::Error::from_raw_os_error(libc::EFBIG))
}

/// The result of a read or write: bytes done, or `None` when a signal came first.
fn transferred(returned: isize) -> io::Result<Option<usize>> {
    if let Ok(count) = usize::try_from(returned) {
        return Ok(Some(count));
    }
    let error = io::Error::last_os_error();
    if error.kind() == io::ErrorKind::Interrupted {
        Ok(None)
    } else {
        Err(error)
    }
}

#[cfg(all(test, not(miri)))]
mod tests {
    use super::super::testing::{TempDir, create_named};
    use super::*;
    use std::os::fd::AsFd;

    #[test]
    fn opening_follows_links_and_does_not_hang_on_what_is_no_file() {
        let dir = TempDir::new();
        let file = create_named(&dir.path("table"), 0o600).unwrap();
        std::os::unix::fs::symlink(dir.path("table"), dir.path("link")).unwrap();
        let linked = open(&dir.path("link"), true).unwrap();
        assert_eq!(
            len_and_blocks(linked.as_fd()).unwrap(),
            len_and_blocks(file.as_fd()).unwrap()
        );
        // SAFETY: asks for the flags of an open descriptor.
        let flags = unsafe { libc::fcntl(linked.as_raw_fd(), libc::F_GETFD) };
        assert_eq!(flags, libc::FD_CLOEXEC);
        let fifo = c_path(&dir.path("fifo")).unwrap();
        // SAFETY: `fifo` is a C string.
        assert_eq!(unsafe { libc::mkfifo(fifo.as_ptr(), 0o600) }, 0);
        let fifo = open(&dir.path("fifo"), false).unwrap();
        assert!(!len_and_blocks(fifo.as_fd()).unwrap().is_regular);
        assert_eq!(
            open(Path::new("a\0b"), true).unwrap_err().kind(),
            io::ErrorKind::InvalidInput
        );
    }
}

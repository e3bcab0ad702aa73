//! An open directory: its files are found in it, whatever its path leads to by now.
//!
//! A directory that is checked by its path and then used by its path again may be another one the
//! second time. So it is opened once, checked through the descriptor, and all that is done with
//! its files goes through that descriptor.

use super::{FileInfo, check, info_from, len_and_blocks, open_at};
use crate::sys::process::effective_uid;
use std::ffi::{CStr, CString};
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, IntoRawFd, OwnedFd};
use std::path::Path;

/// Symbolic links that are followed one after the other, as many as the kernel follows.
const MOST_LINKS: u32 = 40;

/// Which symbolic links are followed at the end of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Links {
    /// None.
    Refused,
    /// Those of root and of this process's user. Others could lead to what they may not touch.
    Trusted,
    /// All.
    Followed,
}

/// Whether files of this user are taken without being asked for: root could do anything anyway.
pub(crate) fn is_trusted(uid: u32) -> bool {
    uid == 0 || uid == effective_uid()
}

/// A directory that is open to look names up in; reading the list of its names takes more rights.
#[derive(Debug)]
pub(crate) struct OpenDir(OwnedFd);

impl OpenDir {
    pub(crate) fn open(path: &Path, links: Links) -> io::Result<Self> {
        let flags = libc::O_PATH | libc::O_DIRECTORY;
        // A slash or a dot at the end would make the kernel follow a link before it.
        let path = super::c_path(path.components().as_path())?;
        Ok(Self(open_following(
            super::working_directory(),
            &path,
            flags,
            links,
        )?))
    }

    pub(crate) fn info(&self) -> io::Result<FileInfo> {
        len_and_blocks(self.0.as_fd())
    }

    /// Opens what has this name, see [`super::open`].
    pub(crate) fn open_file(
        &self,
        name: &CStr,
        writable: bool,
        links: Links,
    ) -> io::Result<OwnedFd> {
        open_following(self.0.as_fd(), name, super::flags_to_open(writable), links)
    }

    /// What has this name; a symbolic link is followed on demand.
    pub(crate) fn info_of(&self, name: &CStr, follow: bool) -> io::Result<FileInfo> {
        // SAFETY: all zeros is a valid `stat`, a struct of integers.
        let mut stat: libc::stat = unsafe { std::mem::zeroed() };
        let flags = match follow {
            true => 0,
            false => libc::AT_SYMLINK_NOFOLLOW,
        };
        let dir = self.0.as_raw_fd();
        // SAFETY: `name` is a C string, `stat` a valid place for the answer.
        check(unsafe { libc::fstatat(dir, name.as_ptr(), &raw mut stat, flags) })?;
        Ok(info_from(&stat))
    }

    /// Takes the name away from its file.
    pub(crate) fn unlink(&self, name: &CStr) -> io::Result<()> {
        // SAFETY: `name` is a C string.
        check(unsafe { libc::unlinkat(self.0.as_raw_fd(), name.as_ptr(), 0) }).map(drop)
    }

    /// All names in it, except `.` and `..`, in no order.
    pub(crate) fn names(&self) -> io::Result<Vec<CString>> {
        let flags = libc::O_RDONLY | libc::O_DIRECTORY;
        let list = open_at(self.0.as_fd(), c".", flags, 0)?.into_raw_fd();
        // SAFETY: an open descriptor of a directory, which belongs to the stream from now on.
        let stream = unsafe { libc::fdopendir(list) };
        if stream.is_null() {
            let error = io::Error::last_os_error();
            // SAFETY: nobody else has the descriptor.
            drop(unsafe { OwnedFd::from_raw_fd(list) });
            return Err(error);
        }
        let mut names = Vec::new();
        let outcome = loop {
            // SAFETY: the place of this thread's errno; it distinguishes the end from an error.
            unsafe { *libc::__errno_location() = 0 };
            // SAFETY: the stream is open.
            let entry = unsafe { libc::readdir(stream) };
            if entry.is_null() {
                let error = io::Error::last_os_error();
                break match error.raw_os_error() {
                    Some(0) => Ok(()),
                    _ => Err(error),
                };
            }
            // SAFETY: the entry is valid until the next call, and its name is a C string.
            let name = unsafe { CStr::from_ptr((*entry).d_name.as_ptr()) };
            if name != c"." && name != c".." {
                names.push(name.to_owned());
            }
        };
        // SAFETY: opened above, closed once.
        unsafe { libc::closedir(stream) };
        outcome.map(|()| names)
    }
}

impl From<OwnedFd> for OpenDir {
    fn from(fd: OwnedFd) -> Self {
        Self(fd)
    }
}

impl AsFd for OpenDir {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Opens `name` in `dir`. Links at its end are followed here, one by one, and each is looked at
/// before: nobody can put another one in its place in between.
fn open_following(
    dir: BorrowedFd<'_>,
    name: &CStr,
    flags: libc::c_int,
    links: Links,
) -> io::Result<OwnedFd> {
    if links == Links::Followed {
        return open_at(dir, name, flags, 0);
    }
    let (mut moved, mut path): (Option<OwnedFd>, _) = (None, name.to_owned());
    for _ in 0..MOST_LINKS {
        let (folder, last) = split(path.as_bytes());
        if let Some(folder) = folder {
            let base = moved.as_ref().map_or(dir, AsFd::as_fd);
            let flags = libc::O_PATH | libc::O_DIRECTORY;
            moved = Some(open_at(base, &CString::new(folder)?, flags, 0)?);
        }
        let (base, last) = (moved.as_ref().map_or(dir, AsFd::as_fd), CString::new(last)?);
        let refused = match open_at(base, &last, flags | libc::O_NOFOLLOW, 0) {
            Err(error) if is_link_refused(&error) => error,
            outcome => return outcome,
        };
        match target_of(base, &last, links)? {
            Some(target) => path = target,
            None => return Err(refused),
        }
    }
    Err(io::Error::from_raw_os_error(libc::ELOOP))
}

/// A link is ELOOP to `O_NOFOLLOW`, and ENOTDIR if `O_DIRECTORY` is there as well.
fn is_link_refused(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ELOOP | libc::ENOTDIR))
}

/// Where a symbolic link leads; `None` if the name is no link.
fn target_of(dir: BorrowedFd<'_>, name: &CStr, links: Links) -> io::Result<Option<CString>> {
    let link = open_at(dir, name, libc::O_PATH | libc::O_NOFOLLOW, 0)?;
    let info = len_and_blocks(link.as_fd())?;
    if info.kind != libc::S_IFLNK {
        return Ok(None);
    }
    if links == Links::Refused || !is_trusted(info.uid) {
        let whose = info.uid;
        let why = format!("it is a symbolic link of user {whose}; name its target instead");
        return Err(io::Error::new(ErrorKind::PermissionDenied, why));
    }
    let mut target = vec![0; libc::PATH_MAX as usize];
    let place = target.as_mut_ptr().cast();
    // SAFETY: an empty name stands for the link itself; the buffer has the length given.
    let len = unsafe { libc::readlinkat(link.as_raw_fd(), c"".as_ptr(), place, target.len()) };
    let Ok(len) = usize::try_from(len) else {
        return Err(io::Error::last_os_error());
    };
    target.truncate(len);
    Ok(Some(CString::new(target)?))
}

/// A path as the folder of its last part, unless that is the folder already open, and that part.
/// Slashes at the end are cut off, as they would make the kernel follow a link before them.
pub(crate) fn split(path: &[u8]) -> (Option<&[u8]>, &[u8]) {
    let last = path.iter().rposition(|byte| *byte != b'/');
    let Some(last) = last else {
        return (path.first().map(|_| &b"/"[..]), b".");
    };
    let path = &path[..=last];
    match path.iter().rposition(|byte| *byte == b'/') {
        Some(slash) => (Some(&path[..=slash]), &path[slash + 1..]),
        None => (None, path),
    }
}

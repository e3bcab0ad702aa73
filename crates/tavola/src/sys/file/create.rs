//! New files, which appear under their name whole or not at all.

use super::{c_path, check, open, open_at, proc_fd};
use crate::sync::before_disk_call;
use crate::sys::process::effective_uid;
use std::ffi::CStr;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::path::Path;

/// The rights of a new file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileRights {
    /// The permission bits, whatever the umask.
    pub(crate) mode: u32,
    /// The group; the system chooses it if not set.
    pub(crate) group: Option<u32>,
    /// Whether a group that is refused is no error. The group of the file has no rights then: they
    /// were meant for another one.
    pub(crate) is_lenient: bool,
}

impl FileRights {
    /// Returns the rights of a file whose group the system chooses.
    pub(crate) fn of_mode(mode: u32) -> Self {
        Self {
            mode,
            group: None,
            is_lenient: false,
        }
    }
}

/// The mode of a file that does not have its group yet: its owner alone may open it.
const PRIVATE: u32 = 0o600;

/// A new file in `dir` that has no name yet, with exactly these rights; `None` when the file system
/// has no such files. Killed before it is published, it leaves nothing behind.
pub(crate) fn create_unnamed(
    dir: BorrowedFd<'_>,
    rights: FileRights,
) -> io::Result<Option<OwnedFd>> {
    // A kernel that does not know O_TMPFILE sees an attempt to open a directory for writing
    // (EISDIR). ENOENT stays an error: it means what it says, the directory is not there.
    match open_at(dir, c".", libc::O_TMPFILE | libc::O_RDWR, PRIVATE) {
        Ok(fd) => exact_rights(fd, rights).map(Some),
        Err(error) => match error.raw_os_error() {
            Some(libc::EOPNOTSUPP | libc::EISDIR) => Ok(None),
            _ => Err(error),
        },
    }
}

/// A new file of this name, with exactly these rights; `AlreadyExists` if there is one of any kind.
/// If the rights are refused, no file is left.
pub(crate) fn create_named_in(
    dir: BorrowedFd<'_>,
    name: &CStr,
    rights: FileRights,
) -> io::Result<OwnedFd> {
    let flags = libc::O_CREAT | libc::O_EXCL | libc::O_RDWR;
    exact_rights(open_at(dir, name, flags, PRIVATE)?, rights).inspect_err(|_| {
        // SAFETY: `name` is a C string that outlives the call.
        unsafe { libc::unlinkat(dir.as_raw_fd(), name.as_ptr(), 0) };
    })
}

/// Creates a directory whose entries who may read or write files of these rights may read or make;
/// `AlreadyExists` if there is something of this name. If the rights are refused, there is none.
pub(crate) fn create_directory(path: &Path, rights: FileRights) -> io::Result<()> {
    let made = c_path(path)?;
    // SAFETY: the path is a C string.
    check(unsafe { libc::mkdir(made.as_ptr(), 0o700) })?;
    let rights = FileRights {
        mode: rights.mode & 0o666 | (rights.mode & 0o444) >> 2,
        ..rights
    };
    let given = open(path, false).and_then(|dir| exact_rights(dir, rights));
    given.map(drop).inspect_err(|_| {
        // SAFETY: the path is a C string.
        unsafe { libc::rmdir(made.as_ptr()) };
    })
}

/// Gives a file from `create_unnamed` its name, unless the name is taken (`AlreadyExists`).
pub(crate) fn publish_unnamed(
    fd: BorrowedFd<'_>,
    dir: BorrowedFd<'_>,
    name: &CStr,
) -> io::Result<()> {
    let (dir, name) = (dir.as_raw_fd(), name.as_ptr());
    let link = |from: &CStr, from_dir, flags| {
        before_disk_call();
        // SAFETY: both names are C strings that outlive the call.
        check(unsafe { libc::linkat(from_dir, from.as_ptr(), dir, name, flags) }).map(drop)
    };
    match link(&proc_fd(fd), libc::AT_FDCWD, libc::AT_SYMLINK_FOLLOW) {
        // Without /proc the direct way, which kernels before 6.10 keep for root. If it is the
        // directory that is gone, ENOENT comes back from here as well.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            link(c"", fd.as_raw_fd(), libc::AT_EMPTY_PATH)
        }
        result => result,
    }
}

/// Renames `temporary` to `name`, unless that name is taken (`AlreadyExists`).
pub(crate) fn publish_named(dir: BorrowedFd<'_>, temporary: &CStr, name: &CStr) -> io::Result<()> {
    let name_in = |name| NameInDir { dir, name };
    rename_named(name_in(temporary), name_in(name))
}

/// A name in an open directory.
#[derive(Clone, Copy)]
pub(crate) struct NameInDir<'a> {
    pub(crate) dir: BorrowedFd<'a>,
    pub(crate) name: &'a CStr,
}

/// Renames a file, to another directory too, unless the new name is taken (`AlreadyExists`).
pub(crate) fn rename_named(from: NameInDir<'_>, to: NameInDir<'_>) -> io::Result<()> {
    // SAFETY: both names are C strings that outlive the call. Called by number because not every
    // musl in use has the wrapper.
    let renamed = unsafe {
        libc::syscall(
            libc::SYS_renameat2,
            libc::c_long::from(from.dir.as_raw_fd()),
            from.name.as_ptr(),
            libc::c_long::from(to.dir.as_raw_fd()),
            to.name.as_ptr(),
            libc::c_long::from(libc::RENAME_NOREPLACE),
        )
    };
    if renamed == 0 {
        return Ok(());
    }
    let error = io::Error::last_os_error();
    if !matches!(error.raw_os_error(), Some(libc::ENOSYS | libc::EINVAL)) {
        return Err(error);
    }
    link_and_unlink(from, to)
}

/// Gives a file a second name; `AlreadyExists` if something has that name.
pub(crate) fn link(dir: BorrowedFd<'_>, from: &CStr, to: &CStr) -> io::Result<()> {
    let dir = dir.as_raw_fd();
    // SAFETY: both names are C strings that outlive the call.
    check(unsafe { libc::linkat(dir, from.as_ptr(), dir, to.as_ptr(), 0) }).map(drop)
}

/// Renames `from` to `to`, in the place of what has that name.
pub(crate) fn rename(dir: BorrowedFd<'_>, from: &CStr, to: &CStr) -> io::Result<()> {
    let dir = dir.as_raw_fd();
    // SAFETY: both names are C strings that outlive the call.
    check(unsafe { libc::renameat(dir, from.as_ptr(), dir, to.as_ptr()) }).map(drop)
}

/// The same promise as a rename that replaces nothing; a kill in between leaves both names.
fn link_and_unlink(from: NameInDir<'_>, to: NameInDir<'_>) -> io::Result<()> {
    let (from_dir, to_dir) = (from.dir.as_raw_fd(), to.dir.as_raw_fd());
    // SAFETY: both names are C strings that outlive the call.
    check(unsafe { libc::linkat(from_dir, from.name.as_ptr(), to_dir, to.name.as_ptr(), 0) })?;
    // SAFETY: as above. The file has its name already, so a failure here is not the caller's.
    unsafe { libc::unlinkat(from_dir, from.name.as_ptr(), 0) };
    Ok(())
}

/// Gives a new file its group, and only then its mode: members of another group never have rights.
fn exact_rights(fd: OwnedFd, rights: FileRights) -> io::Result<OwnedFd> {
    let mut mode = rights.mode;
    if let Some(group) = rights.group {
        // SAFETY: no memory is passed. The owner, the largest number, is left alone.
        match check(unsafe { libc::fchown(fd.as_raw_fd(), libc::uid_t::MAX, group) }) {
            Err(_) if rights.is_lenient => mode &= !0o070,
            outcome => drop(outcome.map_err(|error| refused_group(error, group))?),
        }
    }
    // SAFETY: no memory is passed.
    check(unsafe { libc::fchmod(fd.as_raw_fd(), mode) })?;
    Ok(fd)
}

/// Says why a file did not get a group.
fn refused_group(error: io::Error, group: u32) -> io::Error {
    let me = effective_uid();
    let why = match error.raw_os_error() {
        Some(libc::EPERM) => format!(
            "it cannot have group {group}, because user {me} is not in that group; \
             add the user to the group (usermod -aG {group} USER) and log in again, \
             or name a group that the user is in"
        ),
        Some(libc::EINVAL) => format!(
            "it cannot have group {group}, because the user namespace of this process has no such \
             group; map that group into the container, or leave the group out in a directory with \
             the setgid bit"
        ),
        _ => return error,
    };
    io::Error::new(io::ErrorKind::PermissionDenied, why)
}

#[cfg(all(test, not(miri)))]
mod tests {
    use super::super::super::{process::effective_uid, testing::TempDir};
    use super::super::{Links, OpenDir, len_and_blocks};
    use super::*;
    use std::os::fd::AsFd;

    #[test]
    fn files_are_published_whole_and_only_once() {
        let dir = TempDir::new();
        let path = |name| dir.path(name);
        let open = OpenDir::open(&path("."), Links::Followed).unwrap();
        let at = open.as_fd();
        let unnamed = create_unnamed(at, FileRights::of_mode(0o664)).unwrap();
        let unnamed = unnamed.expect("tmpfs has O_TMPFILE");
        assert!(!path("table").exists());
        publish_unnamed(unnamed.as_fd(), at, c"table").unwrap();
        let info = len_and_blocks(unnamed.as_fd()).unwrap();
        assert_eq!((info.mode, info.uid), (0o664, effective_uid()));
        assert!(info.is_regular);

        let taken = |result: io::Result<()>| {
            assert_eq!(result.unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        };
        let second = create_unnamed(at, FileRights::of_mode(0o600))
            .unwrap()
            .unwrap();
        taken(publish_unnamed(second.as_fd(), at, c"table"));
        taken(create_named_in(at, c"table", FileRights::of_mode(0o600)).map(drop));
        let named = create_named_in(at, c"temporary", FileRights::of_mode(0o622)).unwrap();
        assert_eq!(len_and_blocks(named.as_fd()).unwrap().mode, 0o622);
        taken(publish_named(at, c"temporary", c"table"));
        publish_named(at, c"temporary", c"other").unwrap();
        assert!(!path("temporary").exists() && path("other").exists());
        let name_in = |name| NameInDir { dir: at, name };
        taken(link_and_unlink(name_in(c"other"), name_in(c"table")));
        link_and_unlink(name_in(c"other"), name_in(c"third")).unwrap();
        assert!(!path("other").exists() && path("third").exists());
        let missing = publish_unnamed(second.as_fd(), at, c"missing/x").unwrap_err();
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn a_directory_that_is_gone_or_takes_no_files_is_an_error() {
        let dir = TempDir::new();
        let path = dir.path("gone");
        std::fs::create_dir(&path).unwrap();
        let gone = OpenDir::open(&path, Links::Refused).unwrap();
        std::fs::remove_dir(&path).unwrap();
        // Some file systems make the file, which can get no name then.
        let made = create_unnamed(gone.as_fd(), FileRights::of_mode(0o600));
        let named =
            made.and_then(|made| publish_unnamed(made.unwrap().as_fd(), gone.as_fd(), c"x"));
        assert_eq!(named.unwrap_err().kind(), io::ErrorKind::NotFound);
        let proc = OpenDir::open("/proc".as_ref(), Links::Refused).unwrap();
        match create_unnamed(proc.as_fd(), FileRights::of_mode(0o600)) {
            Err(error) => assert_eq!(error.kind(), io::ErrorKind::PermissionDenied),
            Ok(made) => assert!(made.is_none()),
        }
    }
}

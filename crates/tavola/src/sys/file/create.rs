//! New files, which appear under their name whole or not at all.

use super::{c_path, check, open_with, proc_fd};
use std::ffi::CStr;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::path::Path;

/// A new file in `dir` that has no name yet, with exactly `mode` whatever the umask; `None` when
/// the file system has no such files. Killed before it is published, it leaves nothing behind.
pub(crate) fn create_unnamed(dir: &Path, mode: u32) -> io::Result<Option<OwnedFd>> {
    // A kernel that does not know O_TMPFILE sees an attempt to open a directory for writing
    // (EISDIR). ENOENT stays an error: it means what it says, the directory is not there.
    match open_with(dir, libc::O_TMPFILE | libc::O_RDWR, mode) {
        Ok(fd) => exact_mode(fd, mode).map(Some),
        Err(error) => match error.raw_os_error() {
            Some(libc::EOPNOTSUPP | libc::EISDIR) => Ok(None),
            _ => Err(error),
        },
    }
}

/// A new file of this name, with exactly `mode` whatever the umask; `AlreadyExists` if there is
/// one of any kind.
pub(crate) fn create_named(path: &Path, mode: u32) -> io::Result<OwnedFd> {
    exact_mode(
        open_with(path, libc::O_CREAT | libc::O_EXCL | libc::O_RDWR, mode)?,
        mode,
    )
}

/// Gives a file from `create_unnamed` its name, unless the name is taken (`AlreadyExists`).
pub(crate) fn publish_unnamed(fd: BorrowedFd<'_>, path: &Path) -> io::Result<()> {
    let path = c_path(path)?;
    let link = |from: &CStr, dir, flags| {
        // SAFETY: both names are C strings that outlive the call.
        let made =
            unsafe { libc::linkat(dir, from.as_ptr(), libc::AT_FDCWD, path.as_ptr(), flags) };
        check(made).map(drop)
    };
    match link(&proc_fd(fd), libc::AT_FDCWD, libc::AT_SYMLINK_FOLLOW) {
        // Without /proc the direct way, which kernels before 6.10 keep for root. Where it is the
        // target's directory that is missing, ENOENT comes back from here as well.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            link(c"", fd.as_raw_fd(), libc::AT_EMPTY_PATH)
        }
        result => result,
    }
}

/// Renames `temporary` to `path`, unless that name is taken (`AlreadyExists`).
pub(crate) fn publish_named(temporary: &Path, path: &Path) -> io::Result<()> {
    let (from, to) = (c_path(temporary)?, c_path(path)?);
    // SAFETY: both names are C strings that outlive the call. Called by number because not every
    // musl in use has the wrapper.
    let renamed = unsafe {
        libc::syscall(
            libc::SYS_renameat2,
            libc::c_long::from(libc::AT_FDCWD),
            from.as_ptr(),
            libc::c_long::from(libc::AT_FDCWD),
            to.as_ptr(),
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
    link_and_unlink(&from, &to)
}

/// The same promise as a rename that replaces nothing; a kill in between leaves both names.
fn link_and_unlink(from: &CStr, to: &CStr) -> io::Result<()> {
    // SAFETY: both names are C strings that outlive the call.
    check(unsafe { libc::link(from.as_ptr(), to.as_ptr()) })?;
    // SAFETY: as above. The file has its name already, so a failure here is not the caller's.
    unsafe { libc::unlink(from.as_ptr()) };
    Ok(())
}

fn exact_mode(fd: OwnedFd, mode: u32) -> io::Result<OwnedFd> {
    // SAFETY: no memory is passed.
    check(unsafe { libc::fchmod(fd.as_raw_fd(), mode) })?;
    Ok(fd)
}

#[cfg(all(test, not(miri)))]
mod tests {
    use super::super::super::{process::effective_uid, testing::TempDir};
    use super::super::len_and_blocks;
    use super::*;
    use std::os::fd::AsFd;

    #[test]
    fn files_are_published_whole_and_only_once() {
        let dir = TempDir::new();
        let path = dir.path("table");
        let unnamed = create_unnamed(&dir.path("."), 0o664)
            .unwrap()
            .expect("tmpfs has O_TMPFILE");
        assert!(!path.exists());
        publish_unnamed(unnamed.as_fd(), &path).unwrap();
        let info = len_and_blocks(unnamed.as_fd()).unwrap();
        assert_eq!((info.mode, info.uid), (0o664, effective_uid()));
        assert!(info.is_regular);

        let taken = |result: io::Result<()>| {
            assert_eq!(result.unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        };
        let second = create_unnamed(&dir.path("."), 0o600).unwrap().unwrap();
        taken(publish_unnamed(second.as_fd(), &path));
        taken(create_named(&path, 0o600).map(drop));
        let temporary = dir.path("temporary");
        let named = create_named(&temporary, 0o622).unwrap();
        assert_eq!(len_and_blocks(named.as_fd()).unwrap().mode, 0o622);
        taken(publish_named(&temporary, &path));
        publish_named(&temporary, &dir.path("other")).unwrap();
        assert!(!temporary.exists() && dir.path("other").exists());
        let (other, third) = (dir.path("other"), dir.path("third"));
        taken(link_and_unlink(
            &c_path(&other).unwrap(),
            &c_path(&path).unwrap(),
        ));
        link_and_unlink(&c_path(&other).unwrap(), &c_path(&third).unwrap()).unwrap();
        assert!(!other.exists() && third.exists());
        assert_eq!(
            publish_unnamed(second.as_fd(), &dir.path("missing/x"))
                .unwrap_err()
                .kind(),
            io::ErrorKind::NotFound
        );
        assert_eq!(
            create_unnamed(&dir.path("missing"), 0o600)
                .unwrap_err()
                .kind(),
            io::ErrorKind::NotFound
        );
        match create_unnamed(Path::new("/proc"), 0o600) {
            Err(error) => assert_eq!(error.kind(), io::ErrorKind::PermissionDenied),
            Ok(made) => assert!(made.is_none()),
        }
    }
}

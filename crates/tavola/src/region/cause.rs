//! Turns an error of the system into the table's error that fits: what failed, on which object,
//! why, and what helps.

use crate::error::{Advised, Error};
use std::io::{self, ErrorKind};
use std::path::Path;

const NO_RESERVING: &str =
    "its file system cannot reserve space; keep tables on tmpfs, ext4, XFS or Btrfs";

/// Returns the error for what the system reported when `op` was done to `path`.
pub(crate) fn explained(op: &'static str, path: &Path, source: io::Error) -> Error {
    let path = path.to_path_buf();
    let not_a_table = |why: &str| Error::NotATable {
        path: path.clone(),
        why: why.to_string(),
    };
    match source.kind() {
        ErrorKind::NotFound => Error::NotFound { path },
        ErrorKind::AlreadyExists => Error::AlreadyExists { path },
        ErrorKind::PermissionDenied => Error::Permission { path, source },
        ErrorKind::ReadOnlyFilesystem => Error::ReadOnly,
        ErrorKind::IsADirectory => not_a_table("it is a directory"),
        ErrorKind::ExecutableFileBusy => not_a_table("it is a program that is running"),
        _ if source.raw_os_error() == Some(libc::ENXIO) => {
            not_a_table("it is a socket or a device")
        }
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => no_room(source),
        kind => {
            let number = source.raw_os_error().unwrap_or(0);
            let source = match advice(number) {
                Some(advice) => {
                    let advice = advice.into();
                    io::Error::new(kind, Advised { number, advice })
                }
                None => source,
            };
            Error::Io { op, path, source }
        }
    }
}

/// Returns the error for a part of a table that could not be backed by memory.
#[cold]
pub(crate) fn no_room(source: io::Error) -> Error {
    let reason = match (source.kind(), source.raw_os_error()) {
        (ErrorKind::QuotaExceeded, _) => {
            "the disk quota of the file's owner is used up; that user can remove files, or ask \
            for a larger quota"
        }
        (ErrorKind::FileTooLarge, _) => {
            "this process may not create files that large (ulimit -f); raise that limit"
        }
        (ErrorKind::OutOfMemory, _) => {
            "the system is out of memory; end processes, or raise the memory limit"
        }
        (ErrorKind::NotFound, _) => {
            "the program closed the table's file descriptor, and its file was removed or \
            renamed; open the table again"
        }
        (_, Some(libc::EOPNOTSUPP)) => NO_RESERVING,
        (_, Some(libc::EIO)) => {
            "the file system reports an I/O error; check the kernel log \
            (dmesg)"
        }
        _ => "the file system is full; free space, or enlarge it",
    };
    Error::Full { reason }
}

/// Returns what an error of the system means for a table, and what to do.
fn advice(number: i32) -> Option<&'static str> {
    Some(match number {
        libc::ENOTDIR => "a part of its path is not a directory; check the path, or TAVOLA_DIR",
        libc::ELOOP => "its symbolic links form a loop; correct them",
        libc::ENAMETOOLONG => "its name or path is too long for the system; use a shorter one",
        libc::EFBIG => {
            "this process may not create files as large as max_size (ulimit -f); raise that \
            limit, or set a smaller max_size"
        }
        libc::ENOMEM => {
            "this process has not enough address space left for max_size (ulimit -v); raise that \
            limit, or create the table with a smaller max_size"
        }
        libc::EMFILE => {
            "this process has reached its limit of open files (ulimit -n); close some, or raise \
            that limit"
        }
        libc::ENFILE => {
            "the system has reached its limit of open files (fs.file-max); raise \
            that limit, or end processes"
        }
        libc::ENODEV => {
            "its file system cannot map files into memory; keep tables on tmpfs, such as /dev/shm"
        }
        libc::EOPNOTSUPP => NO_RESERVING,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sentence(number: i32) -> String {
        let source = io::Error::from_raw_os_error(number);
        explained("sizing the table", Path::new("/t"), source).to_string()
    }

    #[test]
    fn each_limit_is_named_as_itself() {
        for (number, words) in [
            (libc::EFBIG, "ulimit -f"),
            (libc::EDQUOT, "quota"),
            (libc::ENOSPC, "the file system is full"),
            (libc::ENOMEM, "ulimit -v"),
            (libc::EMFILE, "ulimit -n"),
            (libc::ENODEV, "tmpfs"),
            (libc::ETXTBSY, "running"),
            (libc::EIO, "/t"),
        ] {
            let text = sentence(number);
            assert!(text.contains(words), "{number}: {text}");
        }
        for number in [libc::EFBIG, libc::EDQUOT, libc::ENOMEM] {
            let why = no_room(io::Error::from_raw_os_error(number)).to_string();
            assert!(!why.contains("file system"), "{why}");
        }
        assert!(!sentence(libc::EFBIG).contains("file system"));
        assert!(!sentence(libc::EDQUOT).contains("the file system"));
    }
}

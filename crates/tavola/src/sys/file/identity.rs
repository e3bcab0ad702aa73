//! The identity of a file, which its copies do not have.

use super::super::check;
use super::len_and_blocks;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

/// Words of the kernel's `struct statx`, which is the same on all processors.
const STATX_WORDS: usize = 32;
const INODE: usize = 4;
const BIRTH_S: usize = 10;
const BIRTH_NS: usize = 11;
/// The numbers of the device, major and minor, of 32 bits each.
const DEVICE: usize = 17;
/// `STATX_INO`, `STATX_BTIME`.
const NUMBER: u64 = 0x100;
const BIRTH: u64 = 0x800;

/// The inode number of a file, and when it was made, in nanoseconds since 1970; 0: the file system
/// or the kernel does not say.
pub(crate) fn identity(fd: BorrowedFd<'_>) -> io::Result<[u64; 2]> {
    Ok([len_and_blocks(fd)?.ino, birth(fd).unwrap_or(0)])
}

/// Returns the device and the inode number of an open file.
///
/// It does not ask for the times of the file, as `fstat` does. Since Linux 6.13 a file whose times
/// were read gets a new time at the next write, which is another change of its inode. Before a
/// write and a sync, this may cost as much as the sync: on ext4 without a journal, `fdatasync`
/// writes a changed inode, too.
pub(crate) fn device_and_inode(fd: BorrowedFd<'_>) -> io::Result<[u64; 2]> {
    // Miri has no `statx` by number.
    let asked = if cfg!(miri) {
        None
    } else {
        statx(fd, NUMBER).ok()
    };
    let Some(words) = asked else {
        // A sandbox may know `fstat` only.
        let info = len_and_blocks(fd)?;
        return Ok([info.dev, info.ino]);
    };
    let [a, b, c, d, e, f, g, h] = words[DEVICE].to_ne_bytes();
    let major = u32::from_ne_bytes([a, b, c, d]);
    let minor = u32::from_ne_bytes([e, f, g, h]);
    Ok([libc::makedev(major, minor), words[INODE]])
}

fn birth(fd: BorrowedFd<'_>) -> io::Result<u64> {
    let words = statx(fd, BIRTH)?;
    let ns = words[BIRTH_NS] & u64::from(u32::MAX);
    match words[0] & BIRTH {
        0 => Ok(0),
        _ => Ok(words[BIRTH_S].wrapping_mul(1_000_000_000).wrapping_add(ns)),
    }
}

fn statx(fd: BorrowedFd<'_>, fields: u64) -> io::Result<[u64; STATX_WORDS]> {
    let mut words = [0u64; STATX_WORDS];
    // SAFETY: the buffer is as large as the structure that the kernel fills. Called by number
    // because not every musl in use has the wrapper.
    let asked = unsafe {
        libc::syscall(
            libc::SYS_statx,
            fd.as_raw_fd(),
            c"".as_ptr(),
            libc::AT_EMPTY_PATH,
            fields as libc::c_uint,
            words.as_mut_ptr(),
        )
    };
    check(asked as libc::c_int)?;
    Ok(words)
}

#[cfg(all(test, not(miri)))]
mod tests {
    use super::super::super::testing::TempDir;
    use super::*;
    use crate::sys::testing::create_named;
    use std::os::fd::AsFd;
    use std::os::unix::fs::MetadataExt;
    use std::time::UNIX_EPOCH;

    #[test]
    fn device_and_inode_are_those_of_fstat() {
        let dir = TempDir::new();
        let file = create_named(&dir.path("one"), 0o600).unwrap();
        let meta = std::fs::metadata(dir.path("one")).unwrap();
        let found = device_and_inode(file.as_fd()).unwrap();
        assert_eq!(found, [meta.dev(), meta.ino()]);
        // SAFETY: a number that leads nowhere is only asked about.
        let closed = unsafe { BorrowedFd::borrow_raw(1 << 30) };
        assert!(device_and_inode(closed).is_err());
    }

    #[test]
    fn a_copy_differs_from_its_original_and_a_new_name_does_not() {
        let dir = TempDir::new();
        let file = create_named(&dir.path("one"), 0o600).unwrap();
        let one = identity(file.as_fd()).unwrap();
        let meta = std::fs::metadata(dir.path("one")).unwrap();
        let born = meta.created().map_or(0, |time| {
            time.duration_since(UNIX_EPOCH).unwrap().as_nanos() as u64
        });
        assert_eq!(one, [meta.ino(), born]);
        std::fs::copy(dir.path("one"), dir.path("two")).unwrap();
        std::fs::rename(dir.path("one"), dir.path("three")).unwrap();
        assert_eq!(identity(file.as_fd()).unwrap(), one);
        let copy = std::fs::File::open(dir.path("two")).unwrap();
        assert_ne!(identity(copy.as_fd()).unwrap(), one);
    }
}

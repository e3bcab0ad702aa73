//! What kind of file system a file is on, as far as this decides whether its memory is shared.

use super::{c_path, check};
use std::io;
use std::path::Path;

/// How the mappings of a file behave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// One memory for all processes of the machine.
    Shared,
    /// overlayfs: the first opening for writing copies a file of a lower layer. A process that had
    /// it open for reading keeps the old one.
    Overlay,
    /// A file system of this name, of several machines, each with a memory of its own.
    Network(&'static str),
    /// A program decides whether mappings are shared, and with whom.
    Fuse,
}

/// Numbers of `linux/magic.h` and of file systems outside the kernel. The type of the field differs
/// between targets; its low 32 bits are the number.
const KINDS: [(u32, Kind); 16] = [
    (0x794C_7630, Kind::Overlay),
    (0x6573_5546, Kind::Fuse),
    (0x6969, Kind::Network("NFS")),
    (0xFF53_4D42, Kind::Network("CIFS")),
    (0xFE53_4D42, Kind::Network("SMB")),
    (0x517B, Kind::Network("SMB")),
    (0x0102_1997, Kind::Network("9p")),
    (0x00C3_6400, Kind::Network("Ceph")),
    (0x5346_414F, Kind::Network("AFS")),
    (0x6B41_4653, Kind::Network("AFS")),
    (0x7375_7245, Kind::Network("Coda")),
    (0x0BD0_0BD0, Kind::Network("Lustre")),
    (0x4750_4653, Kind::Network("GPFS")),
    (0x0116_1970, Kind::Network("GFS2")),
    (0x7461_636F, Kind::Network("OCFS2")),
    (0x786F_4256, Kind::Network("a shared folder of VirtualBox")),
];

/// tmpfs, ramfs, hugetlbfs.
const IN_MEMORY: [u32; 3] = [0x0102_1994, 0x8584_58F6, 0x9584_58F6];

/// The kind of the file system that `path` is on.
pub(crate) fn kind_of(path: &Path) -> io::Result<Kind> {
    Ok(by_number(number_of(path)?))
}

/// Whether the file system that `path` is on keeps its files in memory: tmpfs, ramfs, hugetlbfs.
pub(crate) fn is_memory(path: &Path) -> io::Result<bool> {
    Ok(IN_MEMORY.contains(&number_of(path)?))
}

fn number_of(path: &Path) -> io::Result<u32> {
    let path = c_path(path)?;
    // SAFETY: all zeros is a valid `statfs`, a struct of integers.
    let mut stat: libc::statfs = unsafe { std::mem::zeroed() };
    // SAFETY: `path` is a C string and `stat` a valid place for the answer.
    check(unsafe { libc::statfs(path.as_ptr(), &raw mut stat) })?;
    Ok(stat.f_type as u32)
}

fn by_number(number: u32) -> Kind {
    let known = KINDS.iter().find(|(of, _)| *of == number);
    known.map_or(Kind::Shared, |(_, kind)| *kind)
}

#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;

    #[test]
    fn memory_is_shared_and_networks_are_known() {
        assert_eq!(kind_of(Path::new("/dev/shm")).unwrap(), Kind::Shared);
        assert!(is_memory(Path::new("/dev/shm")).unwrap());
        assert!(!is_memory(Path::new("/proc")).unwrap());
        assert_eq!(by_number(libc::OVERLAYFS_SUPER_MAGIC as u32), Kind::Overlay);
        assert_eq!(
            by_number(libc::NFS_SUPER_MAGIC as u32),
            Kind::Network("NFS")
        );
        assert_eq!(by_number(libc::FUSE_SUPER_MAGIC as u32), Kind::Fuse);
        assert_eq!(by_number(libc::EXT4_SUPER_MAGIC as u32), Kind::Shared);
        assert!(kind_of(Path::new("/not/there")).is_err());
    }
}

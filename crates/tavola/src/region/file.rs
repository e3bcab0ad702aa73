//! What is asked of the table's file as a whole.

use super::Region;
use crate::sys;
use std::io;

impl Region {
    /// What tells the table's file from all others: its inode number, and when it was made. A part
    /// that is unknown is 0.
    pub(crate) fn file_identity(&self) -> [u64; 2] {
        self.file().map_or([0, 0], |file| {
            file.with(sys::file::identity).unwrap_or([0, 0])
        })
    }

    /// The permission bits of the table's file; those of a new table where there is no file.
    pub(crate) fn mode(&self) -> io::Result<u32> {
        self.file().map_or(Ok(0o600), |file| {
            file.with(|fd| Ok(sys::file::len_and_blocks(fd)?.mode & 0o777))
        })
    }

    /// Waits until all bytes of the file are on its disk, if it has one.
    pub(crate) fn sync(&self) -> io::Result<()> {
        self.file()
            .map_or(Ok(()), |file| file.with(sys::file::sync))
    }
}

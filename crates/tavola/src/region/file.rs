//! Operations on the table's file as a whole.

use super::Region;
use crate::sys;
use std::io;

impl Region {
    /// Returns what distinguishes the table's file from nearly all others: 32 bits of its inode
    /// number, and of its time of creation. A part that is unknown is 0.
    pub(crate) fn file_identity(&self) -> [u32; 2] {
        let known = self
            .file()
            .and_then(|file| file.with(sys::file::identity).ok());
        known.unwrap_or([0, 0]).map(folded)
    }

    /// Returns the group of the table's file, if it has one.
    pub(crate) fn group(&self) -> io::Result<Option<u32>> {
        self.file().map_or(Ok(None), |file| {
            file.with(|fd| Ok(Some(sys::file::len_and_blocks(fd)?.gid)))
        })
    }

    /// Returns the permission bits of the table's file, or those of a new table if there is no
    /// file.
    pub(crate) fn mode(&self) -> io::Result<u32> {
        self.file().map_or(Ok(0o600), |file| {
            file.with(|fd| Ok(sys::file::len_and_blocks(fd)?.mode & 0o777))
        })
    }

    /// Gives this region's file to the owner and group of another's, if they differ.
    pub(crate) fn take_owner_of(&self, other: &Region) -> io::Result<()> {
        let (Some(own), Some(other)) = (self.file(), other.file()) else {
            return Ok(());
        };
        let is = own.with(sys::file::len_and_blocks)?;
        let wanted = other.with(sys::file::len_and_blocks)?;
        match (is.uid, is.gid) == (wanted.uid, wanted.gid) {
            true => Ok(()),
            false => own.with(|fd| sys::file::set_owner(fd, wanted.uid, wanted.gid)),
        }
    }

    /// Waits until all bytes of the file are on its disk, if it has one.
    pub(crate) fn sync(&self) -> io::Result<()> {
        self.file()
            .map_or(Ok(()), |file| file.with(sys::file::sync))
    }
}

/// Returns the exclusive or of both halves; 0 only for 0.
fn folded(word: u64) -> u32 {
    let folded = (word ^ (word >> 32)) as u32;
    folded.max(u32::from(word != 0))
}

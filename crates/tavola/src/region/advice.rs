//! What the kernel is asked to do with the mapping's pages.

use super::{Backing, Region};
use crate::sys;
use std::io::{self, ErrorKind};

impl Region {
    /// Makes sure that the bytes are backed by memory, or says why they are not. Through the
    /// mapping where the kernel can, so that no descriptor takes part.
    pub(crate) fn allocate(&self, offset: u64, len: u64) -> io::Result<()> {
        let Backing::File { file, .. } = &self.backing else {
            return Ok(());
        };
        let by_descriptor = || file.with(|fd| sys::file::allocate(fd, offset, len));
        match sys::map::populate(self.bytes(offset, len), len as usize) {
            Ok(true) => Ok(()),
            Ok(false) => by_descriptor(),
            // The mapping does not say what there was no room in: a file system or a quota.
            Err(full) if full.kind() == ErrorKind::StorageFull => match by_descriptor() {
                Err(lost) if lost.kind() == ErrorKind::NotFound => Err(full),
                outcome => outcome,
            },
            Err(error) => Err(error),
        }
    }

    /// Gives the bytes back to the system; they read as zero from now on.
    pub(crate) fn punch(&self, offset: u64, len: u64) -> io::Result<()> {
        let Backing::File { file, .. } = &self.backing else {
            return Ok(());
        };
        match sys::map::remove(self.bytes(offset, len), len as usize) {
            // Locked in memory, or larger pages of memory than ours.
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) => {
                file.with(|fd| sys::file::punch_hole(fd, offset, len))
            }
            outcome => outcome,
        }
    }

    /// Lays the bytes on huge pages, where the kernel can.
    pub(crate) fn collapse(&self, offset: u64, len: u64) -> io::Result<()> {
        match &self.backing {
            Backing::File { .. } => sys::map::collapse(self.bytes(offset, len), len as usize),
            Backing::Heap { .. } => Ok(()),
        }
    }
}

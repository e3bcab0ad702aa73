//! What the region asks the kernel to do with the mapping's pages: back them, free them, use huge
//! pages.

use super::{Backing, Region};
use crate::sys;
use std::io::{self, ErrorKind};

impl Region {
    /// Backs the bytes by memory, or returns why that failed. It uses the mapping if the kernel
    /// can, so that it needs no descriptor.
    pub(crate) fn allocate(&self, offset: u64, len: u64) -> io::Result<()> {
        let Backing::File { file, .. } = &self.backing else {
            return Ok(());
        };
        let by_descriptor = || file.with(|fd| sys::file::allocate(fd, offset, len));
        match sys::map::populate(self.bytes(offset, len), len as usize) {
            Ok(true) => Ok(()),
            Ok(false) => by_descriptor(),
            // The kernel's answer for a mapping does not say what is full: a file system or a
            // quota.
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
            // They are locked in memory, or the kernel's pages are larger than ours.
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) => {
                file.with(|fd| sys::file::punch_hole(fd, offset, len))
            }
            outcome => outcome,
        }
    }

    /// Moves the bytes to huge pages, if the kernel can.
    pub(crate) fn collapse(&self, offset: u64, len: u64) -> io::Result<()> {
        match &self.backing {
            Backing::File { .. } => sys::map::collapse(self.bytes(offset, len), len as usize),
            Backing::Heap { .. } => Ok(()),
        }
    }
}

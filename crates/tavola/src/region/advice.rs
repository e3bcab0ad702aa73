//! What the kernel is asked to do with the mapping's pages.

use super::{Backing, Region};
use crate::sys;
use std::io;

impl Region {
    /// Maps the pages of bytes that are backed and about to be written, all by one call, where the
    /// kernel can: each would be mapped by its first write otherwise, which takes longer.
    pub(crate) fn populate(&self, offset: u64, len: u64) {
        if let Backing::File { .. } = &self.backing {
            sys::map::populate(self.bytes(offset, len), len as usize);
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

//! Huge pages.

use super::{Backing, Region};
use crate::sys;
use std::io;

impl Region {
    /// Lays the bytes on huge pages, where the kernel can.
    pub(crate) fn collapse(&self, offset: u64, len: u64) -> io::Result<()> {
        match &self.backing {
            Backing::File { .. } => sys::map::collapse(self.bytes(offset, len), len as usize),
            Backing::Heap { .. } => Ok(()),
        }
    }
}

//! The current limit of a table, and the length of its file. Every process maps the room, so
//! raising the limit needs nothing from the other processes.
//!
//! A process that raises the limit first makes the file longer and then stores the limit. So the
//! file is never shorter than the limit, and pages are only used below the limit.

use super::Region;
use crate::layout::{PAGE, PagesWord};
use crate::sync::Ordering;
use crate::sys;
use std::io;

impl Region {
    /// Returns the end of the pages that may be used. It only rises.
    #[inline]
    pub(crate) fn limit(&self) -> u32 {
        self.stored_limit().unwrap_or_else(|| self.file_limit())
    }

    /// Returns the stored limit, or `None` if its word is damaged.
    #[inline]
    pub(crate) fn stored_limit(&self) -> Option<u32> {
        let pages = PagesWord::decode(self.pool().limit.load(Ordering::Relaxed))?;
        self.geometry.is_limit(pages).then_some(pages)
    }

    /// Returns the limit that the file's length allows. It is at least the one that was stored
    /// last, as the file is made longer first.
    #[cold]
    pub(crate) fn file_limit(&self) -> u32 {
        let (first, most) = (self.geometry.first_page, self.geometry.max_pages);
        let len = self.file().map(|file| file.with(sys::file::len_and_blocks));
        match len {
            None => most,
            Some(Ok(info)) => (info.len / PAGE).clamp(u64::from(first), u64::from(most)) as u32,
            // Without the length, no page is known to be in the file.
            Some(Err(_)) => first,
        }
    }

    /// Returns the `max_size` in force, as users set it; if its word is damaged, the bytes below
    /// the limit.
    pub(crate) fn max_size(&self) -> u64 {
        let pages = self.stored_max_size().unwrap_or_else(|| self.limit());
        u64::from(pages) * PAGE
    }

    /// Returns the stored `max_size` in pages, or `None` if its word is damaged.
    pub(crate) fn stored_max_size(&self) -> Option<u32> {
        let pages = PagesWord::decode(self.pool().max_size.load(Ordering::Relaxed))?;
        (pages > 0 && pages <= self.geometry.max_pages).then_some(pages)
    }

    /// Makes the file as long as that limit, if it is shorter. Call under the pool's lock.
    pub(crate) fn lengthen(&self, limit: u32) -> io::Result<()> {
        let Some(file) = self.file() else {
            return Ok(());
        };
        let wanted = u64::from(limit) * PAGE;
        file.with(|fd| match sys::file::len_and_blocks(fd)?.len < wanted {
            true => sys::file::set_len(fd, wanted),
            false => Ok(()),
        })
    }
}

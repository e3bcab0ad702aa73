//! References and copies for what is beside the table: extents, with queue pools and logs in them.

use super::Region;
use crate::layout::{
    AreaHead, Extent, JournalHead, LockRecord, LocksHead, LogHead, PAGE, PageRun, QueueHead,
    QueuePoolHead, SheetHead,
};
use crate::sync::{UserWord, W32, copy_in_words, copy_out_words};

impl Region {
    /// Returns the entries of all extents, used or not.
    pub(crate) fn extents(&self) -> &[Extent] {
        &self.superblock().extents
    }

    /// Returns whether a run read from shared memory may be an extent's.
    pub(crate) fn is_run(&self, run: PageRun) -> bool {
        run.pages > 0 && run.first >= self.geometry.first_page && run.end() <= self.high_water()
    }

    /// Returns offset and length of a run of pages, in bytes.
    pub(crate) fn span_of(&self, run: PageRun) -> (u64, u64) {
        (u64::from(run.first) * PAGE, u64::from(run.pages) * PAGE)
    }

    pub(crate) fn queue_pool_head(&self, offset: u64) -> &QueuePoolHead {
        self.at(offset)
    }

    #[inline(always)]
    pub(crate) fn queue_head(&self, offset: u64) -> &QueueHead {
        self.at(offset)
    }

    #[inline(always)]
    pub(crate) fn log_head(&self, offset: u64) -> &LogHead {
        self.at(offset)
    }

    #[inline(always)]
    pub(crate) fn sheet_head(&self, offset: u64) -> &SheetHead {
        self.at(offset)
    }

    pub(crate) fn area_head(&self, offset: u64) -> &AreaHead {
        self.at(offset)
    }

    pub(crate) fn locks_head(&self, offset: u64) -> &LocksHead {
        self.at(offset)
    }

    #[inline(always)]
    pub(crate) fn lock_record(&self, offset: u64) -> &LockRecord {
        self.at(offset)
    }

    pub(crate) fn journal_head(&self, offset: u64) -> &JournalHead {
        self.at(offset)
    }

    /// Returns adjacent words.
    #[inline(always)]
    pub(crate) fn words(&self, offset: u64, count: u32) -> &[W32] {
        let start = self.bytes(offset, u64::from(count) * 4);
        assert!(offset.is_multiple_of(4), "words at an odd place");
        // SAFETY: inside the region, as `bytes` has checked, and aligned (REG-2; its base is
        // aligned to a page); REG-1 and REG-3 as in `at`.
        unsafe { core::slice::from_raw_parts(start.cast::<W32>(), count as usize) }
    }

    /// Returns adjacent words, for users.
    #[inline]
    pub(crate) fn user_words(&self, offset: u64, count: u64) -> &[UserWord] {
        let start = self.bytes(offset, count * 8);
        assert!(offset.is_multiple_of(8), "words at an odd place");
        // SAFETY: as in `words`.
        unsafe { core::slice::from_raw_parts(start.cast::<UserWord>(), count as usize) }
    }

    /// Copies bytes out. If they may change meanwhile, the caller rechecks.
    pub(crate) fn copy_out(&self, offset: u64, out: &mut [u8]) {
        let from = self.bytes(offset, out.len() as u64);
        // SAFETY: inside the region, as `bytes` has checked; process memory does not overlap it.
        unsafe { crate::sync::copy_out(from, out.as_mut_ptr(), out.len()) };
    }

    /// Copies into bytes that only this thread writes.
    #[inline]
    pub(crate) fn copy_in(&self, offset: u64, bytes: &[u8]) {
        let to = self.bytes(offset, bytes.len() as u64);
        // SAFETY: inside the region, as `bytes` has checked.
        unsafe { crate::sync::copy_in(to, bytes) };
    }

    /// Copies out of an element, which its holder may be writing.
    pub(crate) fn copy_from(&self, offset: u64, out: &mut [u8]) {
        let from = self.bytes(offset, out.len() as u64);
        // SAFETY: inside the region, as `bytes` has checked, whose ends are ends of words; process
        // memory does not overlap it.
        unsafe { copy_out_words(from, out.as_mut_ptr(), out.len()) };
    }

    /// Copies into an element that this process holds.
    pub(crate) fn copy_to(&self, offset: u64, bytes: &[u8]) {
        let to = self.bytes(offset, bytes.len() as u64);
        // SAFETY: inside the region, as `bytes` has checked, whose ends are ends of words.
        unsafe { copy_in_words(to, bytes) };
    }
}

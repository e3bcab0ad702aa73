//! The region: the bytes of one table, mapped once and never moved; for tests also a piece of heap.
//! All references into shared memory are made here, so this module alone keeps them valid.
//!
//! A reference is made from an offset that was checked against the region's size. **REG-1** A
//! reference covers only words ([`W32`], [`W64`]), which other processes may write at any time.
//! **REG-2** It lies in the region and is aligned. **REG-3** The region stays mapped as long as the
//! [`Region`] lives.
//!
//! The file is sparse and always as long as its limit; the mapping is as long as the room. What is
//! written was allocated first ([`Region::allocate`]), so that a full file system is an error and
//! not a signal.

#![allow(unsafe_code)]

mod advice;
mod ahead;
mod block;
mod cause;
mod clock;
mod create;
mod dirs;
mod extents;
mod file;
mod heap;
mod leases;
mod limit;
mod location;
mod name;
mod name_lock;
mod paths;
mod pins;
mod reach;
mod refused;
mod samples;
mod size;
mod warning;
mod watches;

pub(crate) use crate::sys::file::{FileRights, sync_directory};
pub(crate) use block::Block;
pub(crate) use cause::{explained, no_room};
pub(crate) use create::{Unmapped, create, open, open_old};
pub(crate) use location::Location;
pub(crate) use name::{make_directory, remove_of, rename_of};
pub(crate) use name_lock::NameLock;
pub(crate) use pins::{Pin, Pinned};
pub use warning::home_warning;
pub(crate) use warning::is_in_memory;
pub mod names {
    //! The file of a name, and the list of such files.
    pub(crate) use super::name::list;
    pub use super::paths::{directory, path_of};
    pub use super::warning::warning;
}

use crate::layout::{
    AreaHead, Fixed, Geometry, JournalHead, LockRecord, LocksHead, LogHead, PAGE, PAGE_SHIFT,
    PARTICIPANTS, Participant, Pool, QueueHead, QueuePoolHead, Segment, ShardHead, SheetHead,
    SlabPage, Superblock, UNIT, UidPage,
};
use crate::sync::{Ordering, RecordRing, W32, W64};
use crate::sys;
use crate::sys::file::KeptFile;
pub(crate) use crate::sys::file::NameState;
use rapidhash::v3::RapidSecrets;
use std::ptr::NonNull;
use std::sync::Arc;

/// The bytes of one table.
pub(crate) struct Region {
    base: NonNull<u8>,
    /// Bytes that are mapped: the room, unless the process may not map that much.
    len: W64,
    geometry: Geometry,
    near: Near,
    secrets: RapidSecrets,
    writable: bool,
    backing: Backing,
    /// The process generation that opened the file: a forked child must open it again to attach.
    opened: u64,
    clock: clock::Clock,
    evictions: RecordRing,
    pin_slot: pins::PinSlot,
    lock_limit: limit::LockLimit,
    /// The offset of the journal; 0: changes are not recorded.
    journal: W64,
    /// The dead participant whose resources this process is reclaiming, or 0.
    pub(crate) adopted: W32,
}

/// What a read needs of the geometry, computed once.
struct Near {
    heads: *const ShardHead,
    shard_mask: u32,
    dir_mask: u32,
    /// For each depth, the low bits of a tag that index the directory, within `dir_mask`.
    depth_masks: [u32; 32],
    dir_log2: u32,
    uid_dir_mask: u32,
    dirs: *const W32,
    /// The high-water mark as this process last loaded it; it only rises.
    high_water: W32,
}

impl Near {
    fn new(base: *const u8, geometry: &Geometry) -> Self {
        // Addresses only, inside the region (Geometry::new).
        Self {
            heads: base.wrapping_add(geometry.shards_off as usize).cast(),
            shard_mask: geometry.shards() - 1,
            dir_mask: (1 << geometry.dir_log2) - 1,
            depth_masks: std::array::from_fn(|depth| {
                ((1u64 << depth) - 1) as u32 & ((1 << geometry.dir_log2) - 1)
            }),
            dir_log2: geometry.dir_log2,
            uid_dir_mask: (1 << geometry.uid_dir_log2) - 1,
            dirs: base.wrapping_add(geometry.dirs_off as usize).cast(),
            high_water: W32::new(0),
        }
    }
}

enum Backing {
    /// Unmapped when dropped. The participants' record locks are on the file as well.
    File {
        mapping: sys::map::Mapping,
        file: Arc<KeptFile>,
    },
    Heap {
        layout: std::alloc::Layout,
        start: *mut u8,
    },
}

// SAFETY: the region is plain memory that outlives every reference (REG-3); all access goes through
// atomic words or copies that are rechecked (REG-1).
unsafe impl Send for Region {}
// SAFETY: as above.
unsafe impl Sync for Region {}

impl Region {
    /// Creates the region of a mapping that is as long as the geometry, or covers all that is in
    /// use.
    fn mapped(
        mapping: sys::map::Mapping,
        file: Arc<KeptFile>,
        geometry: Geometry,
        seed: u64,
        writable: bool,
    ) -> Self {
        assert!(
            mapping.len() as u64 >= u64::from(geometry.first_page) * PAGE,
            "a mapping shorter than the fixed part of its region"
        );
        Self {
            base: NonNull::new(mapping.base()).expect("a mapping is not at address 0"),
            len: W64::new((mapping.len() as u64).min(geometry.room)),
            near: Near::new(mapping.base(), &geometry),
            geometry,
            secrets: RapidSecrets::seed(seed),
            writable,
            backing: Backing::File { mapping, file },
            opened: sys::process::generation(),
            clock: clock::Clock::new(),
            evictions: RecordRing::new(),
            pin_slot: pins::PinSlot::new(),
            lock_limit: limit::LockLimit::new(),
            journal: W64::new(0),
            adopted: W32::new(0),
        }
    }

    /// Notes that an earlier process generation opened its file.
    fn opened_by(mut self, opened: u64) -> Self {
        self.opened = opened;
        self
    }

    #[inline(always)]
    fn base(&self) -> *mut u8 {
        self.base.as_ptr()
    }

    pub(crate) fn opened(&self) -> u64 {
        self.opened
    }

    #[inline(always)]
    pub(crate) fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// Returns the lengths of keys and values, if all are equal.
    #[inline(always)]
    pub(crate) fn fixed(&self) -> Option<Fixed> {
        self.geometry.fixed
    }

    /// Returns the ring of the keys that this process evicts; it takes them if a server listens.
    #[inline(always)]
    pub(crate) fn evictions(&self) -> &RecordRing {
        &self.evictions
    }

    /// Returns whether keys are evicted if there is no room.
    #[inline(always)]
    pub(crate) fn is_cache(&self) -> bool {
        self.geometry.is_cache
    }

    #[inline(always)]
    pub(crate) fn is_writable(&self) -> bool {
        self.writable
    }

    /// Returns whether changes are recorded in a journal.
    #[inline(always)]
    pub(crate) fn is_journaled(&self) -> bool {
        self.journal.load(Ordering::Relaxed) != 0
    }

    /// Returns the offset of the journal, or 0.
    pub(crate) fn journal(&self) -> u64 {
        self.journal.load(Ordering::Relaxed)
    }

    /// Begins to record changes in the journal at this offset.
    pub(crate) fn begin_journal(&self, offset: u64) {
        self.journal.store(offset, Ordering::Relaxed);
    }

    /// Returns the table's seed, expanded for hashing keys.
    #[inline(always)]
    pub(crate) fn secrets(&self) -> &RapidSecrets {
        &self.secrets
    }

    /// Returns the table's file; a heap region has none.
    pub(crate) fn file(&self) -> Option<&KeptFile> {
        match &self.backing {
            Backing::File { file, .. } => Some(file),
            Backing::Heap { .. } => None,
        }
    }

    /// Returns what the name of the table's file leads to now.
    pub(crate) fn name_state(&self) -> NameState {
        self.file().map_or(NameState::Same, KeptFile::name_state)
    }

    /// Returns a pointer to `len` bytes at `offset`, for the copies of `sync`.
    #[inline(always)]
    pub(crate) fn bytes(&self, offset: u64, len: u64) -> *mut u8 {
        let mapped = self.len.load(Ordering::Relaxed);
        assert!(
            offset <= mapped && len <= mapped - offset,
            "an offset outside the region"
        );
        // SAFETY: inside the region, as just checked.
        unsafe { self.base().add(offset as usize) }
    }

    #[inline(always)]
    fn at<T: Words>(&self, offset: u64) -> &T {
        let end = self.len.load(Ordering::Relaxed) - size_of::<T>() as u64;
        let aligned = offset & (align_of::<T>() as u64 - 1) == 0;
        assert!(offset <= end && aligned, "an offset outside the region");
        // SAFETY: inside the region and aligned (REG-2; its base is aligned to a page), made of
        // words only (REG-1: `Words`), alive as long as `self` (REG-3).
        unsafe { &*self.base().add(offset as usize).cast::<T>() }
    }

    #[inline(always)]
    pub(crate) fn superblock(&self) -> &Superblock {
        // SAFETY: every region begins with one; REG-1 and REG-3 as in `at`.
        unsafe { &*self.base().cast::<Superblock>() }
    }

    #[inline(always)]
    pub(crate) fn pool(&self) -> &Pool {
        &self.superblock().pool
    }

    /// Returns the head of a shard. Numbers wrap, so that every head lies in the region.
    #[inline(always)]
    pub(crate) fn shard(&self, shard: u32) -> &ShardHead {
        let number = shard & self.near.shard_mask;
        // SAFETY: a shard's head lies before the participants for every number below the count
        // (Geometry::new), and the region is as long as its geometry says; REG-1 and REG-3 as in
        // `at`.
        unsafe { &*self.near.heads.add(number as usize) }
    }

    pub(crate) fn participant(&self, slot: u32) -> &Participant {
        assert!(
            slot < PARTICIPANTS,
            "a participant slot that does not exist"
        );
        let size = size_of::<Participant>() as u64;
        self.at(self.geometry.participants_off + u64::from(slot) * size)
    }

    #[inline(always)]
    pub(crate) fn page_word(&self, page: u32) -> &W64 {
        assert!(page < self.geometry.max_pages, "a page outside the region");
        let offset = self.geometry.page_table_off + u64::from(page) * 8;
        // SAFETY: a page's word lies in the page table, as just checked; REG-1 and REG-3 as in
        // `at`.
        unsafe { &*self.base().add(offset as usize).cast::<W64>() }
    }

    /// Returns the segment on a page whose number was read from shared memory.
    #[inline(always)]
    pub(crate) fn segment(&self, page: u32) -> &Segment {
        self.at(u64::from(page) * PAGE)
    }

    #[inline(always)]
    pub(crate) fn slab(&self, page: u32) -> &SlabPage {
        self.at(u64::from(page) * PAGE)
    }

    /// Returns a word of an item.
    #[inline(always)]
    pub(crate) fn word(&self, offset: u64) -> &W64 {
        self.at(offset)
    }

    /// Returns a word at an offset that was read from shared memory, or `None` if there is none.
    pub(crate) fn word_if(&self, offset: u64) -> Option<&W64> {
        let end = self.len.load(Ordering::Relaxed) - 8;
        (offset <= end && offset.is_multiple_of(8)).then(|| self.word(offset))
    }

    /// Returns the offset of a word of the region.
    pub(crate) fn offset_of(&self, word: &W64) -> u64 {
        (word.as_ptr() as u64).wrapping_sub(self.base() as u64)
    }

    /// Returns the high-water mark: pages from here on were never used. A damaged mark is limited
    /// to the mapping.
    #[inline(always)]
    pub(crate) fn high_water(&self) -> u32 {
        self.used_end().min(self.mapped_pages())
    }

    /// Returns the high-water mark, mapped or not: for numbers of pages that are not followed.
    #[inline(always)]
    pub(crate) fn used_end(&self) -> u32 {
        let high_water = self.pool().high_water.load(Ordering::Relaxed);
        high_water.min(self.limit())
    }

    /// Returns whether a number read from shared memory may be that of a page.
    #[inline(always)]
    pub(crate) fn is_page(&self, page: u32) -> bool {
        page >= self.geometry.first_page && self.is_below_high_water(page)
    }

    #[inline(always)]
    fn is_below_high_water(&self, page: u32) -> bool {
        self.is_seen(page) || self.has_come_below(page)
    }

    /// Returns whether the page is below the high-water mark as this process last loaded it. If
    /// false, the mark itself decides.
    #[inline(always)]
    fn is_seen(&self, page: u32) -> bool {
        page < self.near.high_water.load(Ordering::Relaxed)
    }

    #[inline(always)]
    fn is_seen_page(&self, page: u32) -> bool {
        page >= self.geometry.first_page && self.is_seen(page)
    }

    /// Loads the high-water mark, and returns whether the page is below it.
    #[cold]
    fn has_come_below(&self, page: u32) -> bool {
        self.reaches_high_water();
        let high_water = self.high_water();
        self.near.high_water.store(high_water, Ordering::Relaxed);
        page < high_water
    }

    /// Returns the segment on a page, if that number may be a page's.
    #[inline(always)]
    pub(crate) fn segment_at(&self, page: u32) -> Option<&Segment> {
        // SAFETY: a page below the high-water mark.
        self.is_page(page).then(|| unsafe { self.segment_on(page) })
    }

    /// Returns the segment as [`Self::segment_at`] does, or `None` if that would load the mark.
    #[inline(always)]
    pub(crate) fn segment_seen(&self, page: u32) -> Option<&Segment> {
        // SAFETY: a page below the high-water mark.
        self.is_seen_page(page)
            .then(|| unsafe { self.segment_on(page) })
    }

    /// Returns the segment on a page.
    ///
    /// # Safety
    /// The page is below the high-water mark.
    #[inline(always)]
    unsafe fn segment_on(&self, page: u32) -> &Segment {
        // SAFETY: a page below the high-water mark lies in the region; REG-1 and REG-3 as in `at`.
        unsafe {
            let start = self.base().add((u64::from(page) * PAGE) as usize);
            &*start.cast::<Segment>()
        }
    }

    /// Returns the bytes from a ref to the end of its page, if the ref may be an item's.
    #[inline(always)]
    pub(crate) fn block(&self, item_ref: u64) -> Option<Block<'_>> {
        let page = u32::try_from((item_ref * UNIT) >> PAGE_SHIFT).ok()?;
        // SAFETY: a page below the high-water mark.
        self.is_below_high_water(page)
            .then(|| unsafe { self.block_on(item_ref) })
    }

    /// Returns the bytes as [`Self::block`] does, or `None` if that would load the high-water mark.
    #[inline(always)]
    pub(crate) fn block_seen(&self, item_ref: u64) -> Option<Block<'_>> {
        let page = u32::try_from((item_ref * UNIT) >> PAGE_SHIFT).ok()?;
        // SAFETY: a page below the high-water mark.
        self.is_seen(page)
            .then(|| unsafe { self.block_on(item_ref) })
    }

    /// Returns the bytes from a ref to the end of its page.
    ///
    /// # Safety
    /// The ref's page is below the high-water mark.
    #[inline(always)]
    unsafe fn block_on(&self, item_ref: u64) -> Block<'_> {
        let offset = item_ref * UNIT;
        // SAFETY: a page below the high-water mark lies in the region (REG-3), to its end.
        unsafe { Block::new(self.base().add(offset as usize), PAGE - offset % PAGE) }
    }

    /// Copies the bytes at `offset` out of the file instead of the mapping. Pages that were given
    /// back meanwhile read as zeroes, even if the file system has no page left to map there.
    /// Returns false if the file could not be read.
    pub(crate) fn read(&self, offset: u64, out: &mut [u8]) -> bool {
        match &self.backing {
            Backing::File { file, .. } => {
                let read = file.with(|fd| sys::file::read_at(fd, out, offset));
                read.is_ok_and(|count| count == out.len())
            }
            Backing::Heap { .. } => {
                self.copy_out(offset, out);
                true
            }
        }
    }
}

/// Marks structures that consist of words only.
///
/// # Safety
/// No padding, no other types: any bytes are a valid value, and all access is atomic.
unsafe trait Words {}
// SAFETY: words, held to their layout by assert_layout!.
unsafe impl Words for Superblock {}
// SAFETY: as above.
unsafe impl Words for ShardHead {}
// SAFETY: as above.
unsafe impl Words for Participant {}
// SAFETY: as above.
unsafe impl Words for Segment {}
// SAFETY: as above.
unsafe impl Words for SlabPage {}
// SAFETY: as above.
unsafe impl Words for UidPage {}
// SAFETY: as above.
unsafe impl Words for QueuePoolHead {}
// SAFETY: as above.
unsafe impl Words for QueueHead {}
// SAFETY: as above.
unsafe impl Words for LogHead {}
// SAFETY: as above.
unsafe impl Words for JournalHead {}
// SAFETY: as above.
unsafe impl Words for AreaHead {}
// SAFETY: as above.
unsafe impl Words for LocksHead {}
// SAFETY: as above.
unsafe impl Words for LockRecord {}
// SAFETY: as above.
unsafe impl Words for SheetHead {}
// SAFETY: a word.
unsafe impl Words for W32 {}
// SAFETY: a word.
unsafe impl Words for W64 {}

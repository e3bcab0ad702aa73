//! The directories: one leads from the low bits of a tag to a segment, the other from a uid to a
//! chunk.
//!
//! Both areas are reserved at their largest size, and backed by memory as they are needed. Readers
//! and writers use only as much of them as the shard's head says is backed.

use super::{Near, Region};
use crate::layout::{DIR_INLINE, PAGE, ShardHead, UID_ENTRIES, UidPage, UidPlace};
use crate::sync::{W32, W64};

impl Region {
    /// Returns the offset of a directory entry after the inline ones.
    #[inline(always)]
    pub(crate) fn dir_offset(&self, shard: u32, index: u32) -> u64 {
        let dir = (u64::from(shard) << self.geometry.dir_log2) + u64::from(index);
        self.geometry.dirs_off + dir * 4
    }

    /// Returns a shard's directory.
    #[inline(always)]
    pub(crate) fn directory(&self, shard: u32) -> Directory<'_> {
        self.directory_of(self.shard(shard), shard)
    }

    /// Returns a shard's directory, for a caller that already has the shard's head.
    #[inline(always)]
    pub(crate) fn directory_of<'a>(&'a self, head: &'a ShardHead, shard: u32) -> Directory<'a> {
        Directory {
            near: &self.near,
            shard,
            inline: &head.dir_inline,
        }
    }

    /// Returns an entry of a shard's directory.
    pub(crate) fn dir_entry(&self, shard: u32, index: u32) -> &W32 {
        self.directory(shard).entry(index)
    }

    /// Returns the offset of an entry of a shard's uid directory. Numbers wrap, so that every entry
    /// lies in the region.
    #[inline(always)]
    pub(crate) fn uid_dir_offset(&self, shard: u32, chunk: u32) -> u64 {
        let shard = u64::from(shard & self.near.shard_mask);
        let chunk = u64::from(chunk & self.near.uid_dir_mask);
        self.geometry.uids_off + ((shard << self.geometry.uid_dir_log2) + chunk) * 4
    }

    /// Returns an entry of a shard's uid directory: the page of a chunk.
    #[inline(always)]
    pub(crate) fn uid_dir(&self, shard: u32, chunk: u32) -> &W32 {
        let offset = self.uid_dir_offset(shard, chunk);
        // SAFETY: every entry below the size of a shard's uid directory, for every shard below the
        // count, lies in the region (Geometry::new); REG-1 and REG-3 as in `at`.
        unsafe { &*self.base().add(offset as usize).cast::<W32>() }
    }

    /// Returns the head of a chunk of the uid table.
    pub(crate) fn uid_page(&self, page: u32) -> &UidPage {
        self.at(u64::from(page) * PAGE)
    }

    /// Returns shard, chunk and entry of a uid.
    #[inline(always)]
    pub(crate) fn uid_place(&self, uid: u32) -> UidPlace {
        UidPlace::masked(uid, self.geometry.shards_log2, self.near.shard_mask)
    }

    /// Returns an entry of the chunk on a page, if that number may be a page's. Entries wrap.
    #[inline(always)]
    pub(crate) fn uid_entry(&self, page: u32, entry: u32) -> Option<&W64> {
        let entry = u64::from(entry & (UID_ENTRIES - 1));
        self.is_page(page)
            .then(|| self.word(u64::from(page) * PAGE + entry * 8))
    }

    /// Returns an entry as [`Self::uid_entry`] does, if that does not take a load of the high-water
    /// mark.
    #[inline(always)]
    pub(crate) fn uid_entry_seen(&self, page: u32, entry: u32) -> Option<&W64> {
        let entry = u64::from(entry & (UID_ENTRIES - 1));
        self.is_seen_page(page).then(|| {
            let offset = u64::from(page) * PAGE + entry * 8;
            // SAFETY: a word of a page below the high-water mark lies in the region; REG-1 and
            // REG-3 as in `at`.
            unsafe { &*self.base().add(offset as usize).cast::<W64>() }
        })
    }
}

/// The directory of a shard: its first entries are in the head, the others outside.
#[derive(Clone, Copy)]
pub(crate) struct Directory<'a> {
    near: &'a Near,
    shard: u32,
    inline: &'a [W32; DIR_INLINE as usize],
}

impl<'a> Directory<'a> {
    /// Returns the bits of an index.
    #[inline(always)]
    pub(crate) fn mask(self) -> u32 {
        self.near.dir_mask
    }

    /// Returns the bits of an index that count at a depth.
    #[inline(always)]
    pub(crate) fn depth_mask(self, depth: u32) -> u32 {
        self.near.depth_masks[depth as usize % 32]
    }

    /// Returns an entry in the head; indices wrap.
    #[inline(always)]
    pub(crate) fn inline_entry(self, index: u32) -> &'a W32 {
        &self.inline[(index % DIR_INLINE) as usize]
    }

    /// Returns an entry. Indices wrap, so that every entry lies in the directory.
    #[inline(always)]
    pub(crate) fn entry(self, index: u32) -> &'a W32 {
        let index = index & self.near.dir_mask;
        if index < DIR_INLINE {
            return self.inline_entry(index);
        }
        let shard = u64::from(self.shard & self.near.shard_mask);
        let at = (shard << self.near.dir_log2) + u64::from(index);
        // SAFETY: every entry below the size of a shard's directory, for every shard below the
        // count, lies in the region (Geometry::new); REG-1 and REG-3 as in `Region::at`.
        unsafe { &*self.near.dirs.add(at as usize) }
    }
}

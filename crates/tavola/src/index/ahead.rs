//! Prefetching: cache lines are fetched before they are needed, so that several cache misses
//! overlap.

use super::dir::{layout_word, lookup_near};
use super::group::matches;
use super::hash::Hash;
use super::keys::{OfKey, read_as};
use super::read::{Examined, ShardView};
use super::reading_process::ReadingProcess;
use super::want::Want;
use crate::error::Result;
use crate::layout::{LayoutWord, Segment, is_key, slot_ref};
use crate::region::Region;
use crate::sync::{Ordering, prefetch};

/// Where a key's segment was, before the shard was locked. A writer uses it only if the layout word
/// is still the same.
#[derive(Clone, Copy)]
pub(crate) struct Warmed {
    pub(super) layout: LayoutWord,
    pub(super) page: u32,
}

impl Warmed {
    /// Fetches both buckets of a key, for a writer: many keys are away from home, and many homes
    /// are full. The lines arrive while the lock is being taken; what they held before counts for
    /// nothing.
    #[inline(always)]
    pub(crate) fn fetch(region: &Region, hash: Hash) -> Self {
        let head = region.shard(hash.shard());
        let layout = layout_word(head);
        let (_, page) = lookup_near(region, head, hash.shard(), layout.depth(), hash.tag());
        if let Some(segment) = region.segment_seen(page) {
            prefetch(&segment.buckets[hash.home() as usize]);
            prefetch(&segment.buckets[hash.away() as usize]);
        }
        Self { layout, page }
    }
}

/// A read that is done in steps, so that a batch of reads waits for memory once per step. It loads
/// what [`read_as`] loads, in the same order. If it does not end with the item of the first
/// slot that matches, [`read_as`] itself starts from the beginning.
#[derive(Clone, Copy)]
pub(crate) struct Ahead<'a> {
    pub(crate) hash: Hash,
    layout: LayoutWord,
    segment: Option<&'a Segment>,
    /// The bucket with a slot that matches, its version before that slot was loaded, and the ref in
    /// the slot; 0 if there is no such slot.
    bucket: u32,
    version: u32,
    slot: u32,
    item_ref: u64,
}

impl<'a> Ahead<'a> {
    /// A read for which no step was done.
    pub(crate) const NONE: Self = Self {
        hash: Hash::NONE,
        layout: LayoutWord(0),
        segment: None,
        bucket: 0,
        version: 0,
        slot: 0,
        item_ref: 0,
    };

    /// Does the first step: fetches the home bucket.
    #[inline(always)]
    pub(crate) fn begin(region: &'a Region, key: &[u8]) -> Self {
        let hash = Hash::of(region, key);
        let head = region.shard(hash.shard());
        let layout = layout_word(head);
        let (_, page) = lookup_near(region, head, hash.shard(), layout.depth(), hash.tag());
        let segment = region.segment_seen(page);
        if let Some(segment) = segment {
            prefetch(&segment.buckets[hash.home() as usize]);
        }
        Self {
            hash,
            layout,
            segment,
            ..Self::NONE
        }
    }

    /// Does the second step: fetches the item, or else the other bucket. Returns whether there has
    /// to be a third step.
    #[inline(always)]
    pub(crate) fn fetch_home(&mut self, region: &Region) -> bool {
        let Some(segment) = self.segment else {
            return false;
        };
        if self.fetch_in(region, self.hash.home())
            || segment.buckets[self.bucket as usize].hint() == 0
        {
            return false;
        }
        prefetch(&segment.buckets[self.hash.away() as usize]);
        true
    }

    /// Does the third step: fetches the item that the other bucket leads to.
    #[inline(always)]
    pub(crate) fn fetch_away(&mut self, region: &Region) {
        self.fetch_in(region, self.hash.away());
    }

    #[inline(always)]
    fn fetch_in(&mut self, region: &Region, number: u32) -> bool {
        let Some(segment) = self.segment else {
            return false;
        };
        let bucket = &segment.buckets[number as usize];
        self.bucket = number;
        // Pairs with the release in `Bucket::increment_version`.
        self.version = bucket.version.load(Ordering::Acquire);
        let Some(slot) = matches(bucket, self.hash.tag()).next() else {
            return false;
        };
        // Pairs with the release that published the item: we see its bytes.
        let word = bucket.slots[slot].load(Ordering::Acquire);
        if !is_key(word) {
            return false;
        }
        self.slot = slot as u32;
        self.item_ref = slot_ref(word);
        region.prefetch_item(self.item_ref);
        true
    }

    /// Does the last step, with the result of [`read_as`].
    #[inline(always)]
    pub(crate) fn finish(
        &self,
        region: &Region,
        key: &[u8],
        want: &mut impl Want,
        process: &dyn ReadingProcess,
    ) -> Result<bool> {
        if let (Some(segment), 1..) = (self.segment, self.item_ref) {
            let head = region.shard(self.hash.shard());
            let view = ShardView::<OfKey>::new(region, head, self.layout, self.hash);
            let bucket = &segment.buckets[self.bucket as usize];
            let is_taken = view.take_short(self.item_ref, key, want)
                || matches!(view.examine(self.item_ref, key, want), Examined::Found);
            if is_taken && view.recheck(bucket, self.version) {
                want.seen(bucket, self.slot as usize);
                return Ok(true);
            }
        }
        read_as(region, key, self.hash, want, process)
    }
}

//! The directory: it leads from the low bits of a tag to a segment. It is a trie in an array, in
//! which 0 means "the same index without its highest bit" (see `index`).

use crate::layout::{DIR_INLINE, LayoutWord, ShardHead};
use crate::lock::ShardLock;
use crate::region::Region;
use crate::sync::Ordering;
use std::io;

/// Returns the layout word of a shard, with which every read begins.
#[inline(always)]
pub(super) fn layout_word(head: &ShardHead) -> LayoutWord {
    // Pairs with the release in `publish_layout`: a reader that sees a count sees the directory of
    // that time.
    LayoutWord(head.layout.load(Ordering::Acquire))
}

/// Counts a change of the directory. It is called under the shard's lock, after the change (IDX-4).
pub(crate) fn publish_layout(head: &ShardHead, depth: u32) {
    let word = LayoutWord(head.layout.load(Ordering::Relaxed)).changed(depth);
    head.layout.store(word.0, Ordering::Release);
}

/// Returns index and page of the segment of a tag; page 0 if the shard has no segment.
#[inline(always)]
pub(crate) fn lookup(region: &Region, shard: u32, depth: u32, tag: u32) -> (u32, u32) {
    let near = lookup_near(region, region.shard(shard), shard, depth, tag);
    if near.1 != 0 {
        return near;
    }
    lookup_higher(region, shard, depth, tag)
}

/// Does what [`lookup`] does if the segment is as deep as the directory or one bit less, as nearly
/// all are. Returns page 0 if it is not.
#[inline(always)]
pub(super) fn lookup_near(
    region: &Region,
    head: &ShardHead,
    shard: u32,
    depth: u32,
    tag: u32,
) -> (u32, u32) {
    let directory = region.directory_of(head, shard);
    let mask = directory.depth_mask(depth);
    let (deep, next) = (tag & mask, tag & mask >> 1);
    // The processor cannot predict which of the two it is. So both entries are loaded, and the
    // choice is not a branch.
    let (deep_page, next_page) = if deep < DIR_INLINE {
        (directory.inline_entry(deep), directory.inline_entry(next))
    } else {
        (directory.entry(deep), directory.entry(next))
    };
    // Pairs with the release that published the segment: we see its slots.
    let deep_page = deep_page.load(Ordering::Acquire);
    let next_page = next_page.load(Ordering::Acquire);
    if deep_page != 0 {
        (deep, deep_page)
    } else {
        (next, next_page)
    }
}

/// Continues [`lookup`] with fewer bits.
#[cold]
#[inline(never)]
fn lookup_higher(region: &Region, shard: u32, depth: u32, tag: u32) -> (u32, u32) {
    let directory = region.directory(shard);
    let tag = tag & directory.mask();
    let mut mask = !(u32::MAX << depth) >> 1;
    loop {
        mask >>= 1;
        // Pairs with the release that published the segment: we see its slots.
        let page = directory.entry(tag & mask).load(Ordering::Acquire);
        if page != 0 || mask == 0 {
            return (tag & mask, page);
        }
    }
}

/// Returns how many low bits of their tags the keys of the segment at `index` share.
pub(crate) fn depth_of(region: &Region, shard: u32, depth: u32, index: u32) -> u32 {
    let mut local = if index == 0 { 0 } else { index.ilog2() + 1 };
    while local < depth
        && region
            .dir_entry(shard, index | 1 << local)
            .load(Ordering::Relaxed)
            != 0
    {
        local += 1;
    }
    local
}

/// Returns index and page of every segment of a shard.
pub(crate) fn entries(region: &Region, shard: u32) -> impl Iterator<Item = (u32, u32)> + '_ {
    let depth = layout_word(region.shard(shard))
        .depth()
        .min(region.geometry().dir_log2);
    (0..1u32 << depth).filter_map(move |index| {
        let page = region.dir_entry(shard, index).load(Ordering::Acquire);
        (page != 0).then_some((index, page))
    })
}

/// Backs the directory of a shard with memory for so many entries.
pub(crate) fn allocate_directory(region: &Region, shard: u32, entries: u32) -> io::Result<()> {
    let offset = region.dir_offset(shard, DIR_INLINE);
    region.allocate(offset, u64::from(entries - DIR_INLINE) * 4)
}

/// Notes that the directory is backed for so many entries.
pub(crate) fn note_directory(lock: &ShardLock<'_>, entries: u32) {
    let backed = &lock.head.dir_backed;
    if backed.load(Ordering::Relaxed) < entries {
        backed.store(entries, Ordering::Relaxed);
    }
}

/// Returns the prefix that follows one of `bits` bits, in the order of all scans: prefixes count up
/// as if their lowest bit were the highest. Returns `None` after the last one.
pub(crate) fn next_prefix(prefix: u32, bits: u32) -> Option<u32> {
    let mut prefix = prefix & ((1 << bits) - 1);
    for bit in (0..bits).rev() {
        if prefix & 1 << bit == 0 {
            return Some(prefix | 1 << bit);
        }
        prefix &= !(1 << bit);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::next_prefix;

    #[test]
    fn prefixes_follow_in_reversed_order() {
        let mut seen = vec![0];
        while let Some(next) = next_prefix(*seen.last().unwrap(), 3) {
            seen.push(next);
        }
        assert_eq!(seen, [0, 4, 2, 6, 1, 5, 3, 7]);
        assert_eq!(next_prefix(0, 0), None);
    }

    #[test]
    fn a_split_or_merge_ahead_or_behind_loses_nothing() {
        // Split while reading 0 (1 bit): goes on at 2 (2 bits), then 1.
        assert_eq!(next_prefix(0, 2), Some(2));
        assert_eq!(next_prefix(2, 2), Some(1));
        // Merged while at 2 (2 bits): the segment is 0 (1 bit), next is 1.
        assert_eq!(next_prefix(2, 1), Some(1));
    }
}

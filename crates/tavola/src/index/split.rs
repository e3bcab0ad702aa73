//! Growth: a full segment is split in two. One store in the directory publishes the new segment,
//! which by then has copies of half of the keys.
//!
//! | step | a reader finds | a survivor finds, if we die after it |
//! |---|---|---|
//! | the new segment is filled | the old one, whole | an unreferenced segment page: freed |
//! | the directory leads to it | either; each has the key | keys twice: old copies are cleared |
//! | the layout word rises | the new one | the same |
//! | the old copies are cleared | no valid miss: the layout word rose | fewer copies |
//! | keys that stay go home one by one | as in `place`: there before they leave | a key twice |
//!
//! The halves have room again: keys that are away from home go back there, so that most keys are
//! found in one bucket until the segments fill up again.

use super::dir::{depth_of, layout_word, lookup, publish_layout};
use super::group::with_bit;
use super::hash::other_bucket;
use super::slots::{SlotPlace, free_slot, move_key};
use crate::alloc::{Need, Step, Stop, corrupt, take};
use crate::error::Error;
use crate::layout::{BUCKETS, DIR_INLINE, HINT_MAX, PageWord, Segment, slot_tag};
use crate::lock::ShardLock;
use crate::sync::Ordering;

/// Creates the first segment of a shard.
pub(super) fn new_root(lock: &ShardLock<'_>) -> Step<()> {
    let page = new_segment(lock)?;
    let depth = layout_word(lock.head)
        .depth()
        .min(lock.region.geometry().dir_log2);
    lock.region
        .dir_entry(lock.number, 0)
        .store(page, Ordering::Release);
    publish_layout(lock.head, depth);
    lock.head.segments.add_owned(1);
    Ok(())
}

/// Takes a page from the pool and makes it a segment of empty buckets.
fn new_segment(lock: &ShardLock<'_>) -> Step<u32> {
    let state = PageWord::Segment {
        shard: lock.number,
        mark: false,
    };
    // The item may need a page as well.
    let (page, _) = take(lock.region, lock.me, state).map_err(|stop| match stop {
        Stop::Need(Need::Pages(_)) => Stop::Need(Need::Pages(2)),
        other => other,
    })?;
    for bucket in &lock.region.segment(page).buckets {
        // A scan may have paused in an earlier segment on this very page.
        bucket.increment_version();
        bucket.meta.store(0, Ordering::Relaxed);
        for slot in &bucket.slots {
            slot.store(0, Ordering::Relaxed);
        }
    }
    Ok(page)
}

/// Splits the segment of a tag in two.
pub(super) fn split(lock: &ShardLock<'_>, tag: u32) -> Step<()> {
    let (region, shard) = (lock.region, lock.number);
    let depth = layout_word(lock.head)
        .depth()
        .min(region.geometry().dir_log2);
    let (index, page) = lookup(region, shard, depth, tag);
    let Some(old) = lock.segment(page) else {
        return corrupt("a directory");
    };
    let local = depth_of(region, shard, depth, index);
    let new_depth = depth.max(local + 1);
    if new_depth > region.geometry().dir_log2 {
        let reason = "the index of a shard has its maximum size; load the keys into a table with \
            more shards";
        return Err(Stop::Fail(Error::Full { reason }));
    }
    let entries = 1 << new_depth;
    if entries > DIR_INLINE && lock.head.dir_backed.load(Ordering::Relaxed) < entries {
        return Err(Stop::Need(Need::Directory { shard, entries }));
    }
    let new_page = new_segment(lock)?;
    let new = region.segment(new_page);
    copy_half(old, new, local);
    bring_home_unseen(new);
    // Pairs with the acquire load in `lookup`: a reader that is led to the new segment sees its
    // slots.
    region
        .dir_entry(shard, index | 1 << local)
        .store(new_page, Ordering::Release);
    publish_layout(lock.head, new_depth);
    lock.head.segments.add_owned(1);
    lock.head.levels[local as usize].add_owned(1);
    clear_half(old, local);
    bring_home(lock, old);
    Ok(())
}

/// Copies the slots whose tag has the bit to the same places in the new segment.
fn copy_half(old: &Segment, new: &Segment, bit: u32) {
    for (from, to) in old.buckets.iter().zip(&new.buckets) {
        let meta = from.meta.load(Ordering::Relaxed);
        let mut moved = 0;
        for slot in with_bit(from, bit) {
            let word = from.slots[slot].load(Ordering::Relaxed);
            to.slots[slot].store(word, Ordering::Relaxed);
            moved |= 0xF << (4 * slot);
        }
        to.meta.store(meta & moved, Ordering::Relaxed);
    }
}

/// Moves keys that are away into their home buckets if those have room again, and sets the hints.
/// No other process sees the segment yet.
fn bring_home_unseen(segment: &Segment) {
    for_each_away(segment, |b, slot, home| {
        let (from, to) = (&segment.buckets[b], &segment.buckets[home as usize]);
        let Some(free) = free_slot(to) else {
            to.hint_up();
            return;
        };
        to.slots[free].store(from.slots[slot].load(Ordering::Relaxed), Ordering::Relaxed);
        to.set_slot_meta(free, from.state(slot), false);
        from.slots[slot].store(0, Ordering::Relaxed);
        from.set_slot_meta(slot, 0, false);
    });
}

/// Moves keys home as [`bring_home_unseen`] does, in a segment that readers see.
fn bring_home(lock: &ShardLock<'_>, segment: &Segment) {
    for_each_away(segment, |b, slot, home| {
        if let Some(free) = free_slot(&segment.buckets[home as usize]) {
            let from = SlotPlace {
                bucket: b as u32,
                slot,
            };
            let to = SlotPlace {
                bucket: home,
                slot: free,
            };
            move_key(lock, segment, from, to);
        }
    });
}

/// Calls `f` with bucket, slot and home bucket of each key that is away from home.
fn for_each_away(segment: &Segment, mut f: impl FnMut(usize, usize, u32)) {
    for (b, bucket) in segment.buckets.iter().enumerate() {
        for slot in bucket.away() {
            let word = bucket.slots[slot].load(Ordering::Relaxed);
            // An empty slot may be marked as away after damage: no hint counts it.
            if word != 0 {
                f(b, slot, other_bucket(b as u32, slot_tag(word)));
            }
        }
    }
}

/// Clears the copied slots in the old segment, and lowers the hints to the count of keys that stay.
fn clear_half(old: &Segment, bit: u32) {
    let mut hints = [0u8; BUCKETS];
    for_each_away(old, |b, slot, home| {
        let word = old.buckets[b].slots[slot].load(Ordering::Relaxed);
        if slot_tag(word) >> bit & 1 == 0 {
            let hint = &mut hints[home as usize];
            *hint = (*hint + 1).min(HINT_MAX as u8);
        }
    });
    for (bucket, hint) in old.buckets.iter().zip(hints) {
        let mut kept = bucket.meta.load(Ordering::Relaxed) & !(0xF << 28);
        let mut cleared = false;
        for slot in with_bit(bucket, bit) {
            bucket.slots[slot].store(0, Ordering::Release);
            kept &= !(0xF << (4 * slot));
            cleared = true;
        }
        if cleared {
            bucket.increment_version();
        }
        // Release: a reader that sees the lower hint sees the layout word that rose before it.
        bucket
            .meta
            .store(kept | u32::from(hint) << 28, Ordering::Release);
    }
}

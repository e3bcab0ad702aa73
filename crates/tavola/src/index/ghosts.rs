//! Ghosts: the tags of evicted probationary keys, in slots that no key needs. A key that comes back
//! while its ghost is there is protected at once.
//!
//! There are slots for nearly as many ghosts as there are keys, as the segments of a cache are
//! split long before they are full. A ghost counts as long as a queue of ghosts with as many
//! entries as there are keys would keep it.

use super::group::matches;
use super::hash::Hash;
use super::slots::segment_of;
use crate::layout::{Bucket, SLOTS, Segment, ghost_age, ghost_word, slot_tag};
use crate::lock::ShardLock;
use crate::sync::Ordering;

/// Epochs for which a ghost counts. In one epoch, one in this many of the keys is evicted.
const LIFE: u32 = 16;

/// Returns bucket and slot of a key's ghost.
pub(super) fn find_ghost<'a>(
    lock: &ShardLock<'_>,
    segment: &'a Segment,
    hash: Hash,
) -> Option<(&'a Bucket, usize)> {
    let epoch = lock.head.epoch.load(Ordering::Relaxed);
    [hash.home(), hash.away()].into_iter().find_map(|number| {
        let bucket = &segment.buckets[number as usize];
        let counts = |slot: &usize| {
            let word = bucket.slots[*slot].load(Ordering::Relaxed);
            let age = ghost_age(word, epoch).filter(|_| slot_tag(word) == hash.tag());
            age.is_some_and(|age| age <= LIFE)
        };
        matches(bucket, hash.tag())
            .find(counts)
            .map(|slot| (bucket, slot))
    })
}

/// Removes the ghost of a key that is back, unless the key was stored in its place.
pub(super) fn lay_ghost(lock: &ShardLock<'_>, hash: Hash) {
    if let Ok(Some(segment)) = segment_of(lock, hash)
        && let Some((bucket, slot)) = find_ghost(lock, segment, hash)
    {
        bucket.slots[slot].store(0, Ordering::Relaxed);
    }
    lock.head.ghost_hits.add_owned(1);
}

/// Returns the slot of a bucket's oldest ghost.
pub(super) fn oldest_ghost(lock: &ShardLock<'_>, bucket: &Bucket) -> Option<usize> {
    let epoch = lock.head.epoch.load(Ordering::Relaxed);
    let age = |slot: usize| ghost_age(bucket.slots[slot].load(Ordering::Relaxed), epoch);
    (0..SLOTS)
        .filter_map(|slot| Some((age(slot)?, slot)))
        .max()
        .map(|(_, slot)| slot)
}

/// Leaves a ghost in a slot whose key was just evicted.
pub(super) fn leave_ghost(lock: &ShardLock<'_>, bucket: &Bucket, slot: usize, tag: u32) {
    let head = lock.head;
    let mut epoch = head.epoch.load(Ordering::Relaxed);
    match head.epoch_left.load(Ordering::Relaxed) {
        0 => {
            epoch = epoch.wrapping_add(1);
            head.epoch.store(epoch, Ordering::Relaxed);
            let items = head.items.load(Ordering::Relaxed) / u64::from(LIFE);
            let items = u32::try_from(items).unwrap_or(u32::MAX);
            head.epoch_left.store(items, Ordering::Relaxed);
        }
        left => head.epoch_left.store(left - 1, Ordering::Relaxed),
    }
    bucket.slots[slot].store(ghost_word(tag, epoch), Ordering::Relaxed);
}

/// Removes all ghosts from a segment.
pub(super) fn forget_ghosts(segment: &Segment) {
    for slot in segment.buckets.iter().flat_map(|bucket| &bucket.slots) {
        if ghost_age(slot.load(Ordering::Relaxed), 0).is_some() {
            slot.store(0, Ordering::Relaxed);
        }
    }
}

//! Displacement: a key moves to its other bucket, to make room in a full one. A new key thereby
//! finds a place long after both its buckets were full for the first time.

use super::ghosts::oldest_ghost;
use super::hash::other_bucket;
use super::slots::{SlotPlace, free_slot, move_key};
use crate::layout::{SLOTS, Segment, slot_tag};
use crate::lock::ShardLock;
use crate::sync::{Ordering, prefetch};

/// Frees a slot of a full bucket by moving residents to their other buckets, `moves` at most.
/// Returns the slot.
pub(super) fn make_room(
    lock: &ShardLock<'_>,
    segment: &Segment,
    bucket: u32,
    moves: u32,
) -> Option<usize> {
    let b = &segment.buckets[bucket as usize];
    let others: [u32; SLOTS] = std::array::from_fn(|slot| {
        other_bucket(bucket, slot_tag(b.slots[slot].load(Ordering::Relaxed)))
    });
    let there = |bucket, slot| SlotPlace { bucket, slot };
    // Their cache misses overlap.
    for other in others {
        prefetch(&segment.buckets[other as usize]);
    }
    for (slot, other) in others.iter().enumerate() {
        let other_bucket = &segment.buckets[*other as usize];
        let ghost = || {
            lock.region
                .is_cache()
                .then(|| oldest_ghost(lock, other_bucket))
                .flatten()
        };
        if let Some(free) = free_slot(other_bucket).or_else(ghost) {
            move_key(
                lock,
                segment,
                SlotPlace { bucket, slot },
                there(*other, free),
            );
            return Some(slot);
        }
    }
    if moves < 2 {
        return None;
    }
    for (slot, other) in others.iter().enumerate() {
        if let Some(free) = make_room(lock, segment, *other, moves - 1) {
            move_key(
                lock,
                segment,
                SlotPlace { bucket, slot },
                there(*other, free),
            );
            return Some(slot);
        }
    }
    None
}

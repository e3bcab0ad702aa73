//! Publishing a written item: in the slot of its key, or in one that is found for it. If there is
//! no free slot, keys move, a cache evicts one, or the segment is split.

use super::commit::{New, Why, insert, replace};
use super::dir::{depth_of, layout_word, lookup};
use super::displace::make_room;
use super::evict::evict_beside;
use super::ghosts::{find_ghost, oldest_ghost};
use super::hash::Hash;
use super::slots::{NewSlot, Spot, segment_of, slots_used, take_away, take_free};
use super::split::{new_root, split};
use crate::alloc::{Step, corrupt, discard_block, free_uid, is_full};
use crate::layout::{BUCKETS, PROTECTED, Segment};
use crate::lock::ShardLock;
use crate::sync::{Ordering, W64};

/// The average number of keys per segment above which a cache splits segments: four of seven slots.
const MOST_KEYS: u64 = 4 * BUCKETS as u64;
/// Splits in a row before an insert gives up: each halves the keys of the segment.
const MOST_SPLITS: u32 = 8;

/// Lets a key, or tag, and its uid lead to a written item. Calls `before_free`, then frees the item
/// that the key led to. If there is no slot for the item, it is freed, except for its chain: that
/// still belongs to the chain's builder.
#[inline(always)]
pub(crate) fn publish(
    lock: &ShardLock<'_>,
    hash: Hash,
    spot: Spot<'_>,
    new: New,
    why: Why,
    before_free: impl FnOnce(),
) -> Step<()> {
    match spot {
        Spot::Taken(found) => replace(lock, hash, &found, new, why, before_free),
        Spot::Free(segment) => {
            let new_slot = match slot_for(lock, hash, segment) {
                Ok(new_slot) => new_slot,
                Err(stop) => {
                    free_uid(lock, new.hint);
                    discard_block(lock, new.item_ref)?;
                    return Err(stop);
                }
            };
            insert(lock, hash, &new_slot, new, why)?;
            before_free();
            Ok(())
        }
    }
}

/// Finds a slot for a key. The segment is that of its [`Spot`], found under the same hold of the
/// lock.
#[inline(always)]
pub(super) fn slot_for<'a>(
    lock: &ShardLock<'a>,
    hash: Hash,
    segment: Option<&'a Segment>,
) -> Step<NewSlot<'a>> {
    if lock.region.is_cache() {
        return slot_in_cache(lock, hash, segment);
    }
    let slot = match segment.and_then(|segment| take_free(segment, hash, 0)) {
        Some(slot) => slot,
        None => make_free(lock, hash, 0)?,
    };
    Ok(NewSlot {
        slot,
        state: 0,
        had_ghost: false,
    })
}

/// Finds a slot as [`slot_for`] does, for a cache: it looks for the key's ghost, and keeps enough
/// slots for ghosts.
#[inline(never)]
fn slot_in_cache<'a>(
    lock: &ShardLock<'a>,
    hash: Hash,
    segment: Option<&'a Segment>,
) -> Step<NewSlot<'a>> {
    let segment = match spread(lock, hash)? {
        true => segment_of(lock, hash)?,
        false => segment,
    };
    let ghost = segment.and_then(|segment| find_ghost(lock, segment, hash));
    let had_ghost = ghost.is_some();
    let state = if had_ghost { PROTECTED } else { 0 };
    Ok(NewSlot {
        slot: make_free(lock, hash, state)?,
        state,
        had_ghost,
    })
}

/// Splits the key's segment if the shard has too few segments for its keys. Returns whether it did.
pub(super) fn spread(lock: &ShardLock<'_>, hash: Hash) -> Step<bool> {
    let segments = lock.head.segments.load(Ordering::Relaxed);
    let items = lock.head.items.load(Ordering::Relaxed);
    if segments == 0 || items <= u64::from(segments) * MOST_KEYS {
        return Ok(false);
    }
    let depth = layout_word(lock.head)
        .depth()
        .min(lock.region.geometry().dir_log2);
    let index = lookup(lock.region, lock.number, depth, hash.tag()).0;
    // A segment that was split more often than most is left: others are next.
    if depth_of(lock.region, lock.number, depth, index) > segments.ilog2() {
        return Ok(false);
    }
    // So is a segment with few keys, as the count of keys may be damaged.
    let Some(segment) = segment_of(lock, hash)? else {
        return Ok(false);
    };
    if slots_used(segment) as u64 * 2 < MOST_KEYS {
        return Ok(false);
    }
    split(lock, hash.tag())?;
    Ok(true)
}

/// Makes a slot free in the home bucket or in the other one, if both are full or have no segment
/// yet.
#[inline(never)]
fn make_free<'a>(lock: &ShardLock<'a>, hash: Hash, state: u32) -> Step<&'a W64> {
    for _ in 0..MOST_SPLITS {
        let Some(segment) = segment_of(lock, hash)? else {
            new_root(lock)?;
            continue;
        };
        let free = take_free(segment, hash, state).or_else(|| {
            let is_cache = lock.region.is_cache();
            is_cache
                .then(|| take_ghost(lock, segment, hash, state))
                .flatten()
        });
        if let Some(slot) = free {
            return Ok(slot);
        }
        // A full cache has enough slots elsewhere: it evicts one of these keys, rather than a
        // page's worth of keys for another segment.
        let is_full = lock.region.is_cache() && is_full(lock.region);
        if is_full && evict_beside(lock, segment, hash, true)? {
            continue;
        }
        let moves = if is_full { 1 } else { 2 };
        let room = make_room(lock, segment, hash.home(), moves)
            .or_else(|| make_room(lock, segment, hash.away(), moves));
        if room.is_some()
            && let Some(slot) = take_free(segment, hash, state)
        {
            return Ok(slot);
        }
        if !(is_full && evict_beside(lock, segment, hash, false)?) {
            split(lock, hash.tag())?;
        }
    }
    corrupt("an index that splits without end")
}

/// Takes the slot of the oldest ghost, if no slot is free; otherwise as [`take_free`].
fn take_ghost<'a>(
    lock: &ShardLock<'_>,
    segment: &'a Segment,
    hash: Hash,
    state: u32,
) -> Option<&'a W64> {
    let home = &segment.buckets[hash.home() as usize];
    if let Some(slot) = oldest_ghost(lock, home) {
        home.set_slot_meta(slot, state, false);
        return Some(&home.slots[slot]);
    }
    let away = &segment.buckets[hash.away() as usize];
    let slot = oldest_ghost(lock, away)?;
    Some(take_away(home, away, slot, state))
}

//! Slots under the shard's lock: where a key is, and where it may be. Splitting, evicting, moving
//! and finding are built on this file, which uses none of them.

use super::dir::{depth_of, layout_word, lookup};
use super::group::matches;
use super::hash::Hash;
use crate::alloc::{Item, Step, corrupt, leads_to};
use crate::layout::{
    BUCKETS, Bucket, FLAG_CLIENT, FLAG_EXPIRY, FLAG_UID, FLAG_VERSION, Hint, PROTECTED, SLOTS,
    Segment, UNIT, is_key, is_word, slot_ref, slot_word,
};
use crate::lock::ShardLock;
use crate::sync::{Ordering, W64};

/// The slot of a key that exists.
#[derive(Clone, Copy)]
pub(crate) struct FoundKey<'a> {
    pub(super) bucket: &'a Bucket,
    pub(super) slot: usize,
    pub(super) home: &'a Bucket,
    /// The item its slot leads to.
    pub(crate) item_ref: u64,
    /// Bytes of its key and value.
    pub(crate) payload: u64,
    pub(super) flags: u8,
}

impl FoundKey<'_> {
    /// Returns whether a cache has the key on probation.
    #[inline(always)]
    pub(crate) fn is_probationary(&self) -> bool {
        self.bucket.state(self.slot) & PROTECTED == 0
    }

    /// Notes for a cache that the key is used. Under the shard's lock.
    #[inline(always)]
    pub(crate) fn mark_accessed(&self, lock: &ShardLock<'_>) {
        if lock.region.is_cache()
            && let Some(state) = self.bucket.accessed(self.slot)
        {
            self.bucket.set_state(self.slot, state);
        }
    }

    /// Returns the decoded item.
    pub(crate) fn item<'a>(&self, lock: &ShardLock<'a>) -> Step<Item<'a>> {
        match Item::at(lock.region, self.item_ref) {
            Some(item) => Ok(item),
            None => corrupt("an item"),
        }
    }

    /// Returns its uid, or [`Hint::NONE`].
    #[inline(always)]
    pub(crate) fn hint(&self, lock: &ShardLock<'_>) -> Step<Hint> {
        if self.flags & FLAG_UID == 0 {
            return Ok(Hint::NONE);
        }
        own_hint(lock, &self.item(lock)?)
    }

    /// Returns its value if that is one aligned word: under the lock it may be changed in place.
    #[inline(always)]
    pub(crate) fn word<'a>(&self, lock: &ShardLock<'a>, key: &[u8]) -> Option<&'a W64> {
        let before_key = match self.flags {
            0 | FLAG_UID if lock.region.fixed().is_some() => 0,
            0 => 8,
            FLAG_UID => 16,
            _ => return None,
        };
        let key_len = key.len() as u64;
        let at = self.item_ref * UNIT + before_key + key_len;
        is_word(key_len, self.payload - key_len).then(|| lock.region.word(at))
    }
}

/// Where a key is, or would be.
#[derive(Clone, Copy)]
pub(crate) enum Spot<'a> {
    /// It is there.
    Taken(FoundKey<'a>),
    /// The key is missing and belongs into this segment; `None` if the shard has no segment yet.
    Free(Option<&'a Segment>),
}

impl<'a> Spot<'a> {
    pub(crate) fn found(self) -> Option<FoundKey<'a>> {
        match self {
            Self::Taken(found) => Some(found),
            Self::Free(_) => None,
        }
    }

    /// Returns whether the key has a uid, expiry, flags or a version: a cheap test for the plain
    /// case.
    #[inline(always)]
    pub(crate) fn has_fields(&self) -> bool {
        const FIELDS: u8 = FLAG_UID | FLAG_EXPIRY | FLAG_CLIENT | FLAG_VERSION;
        matches!(self, Self::Taken(found) if found.flags & FIELDS != 0)
    }

    /// Returns the key's uid, or [`Hint::NONE`].
    pub(crate) fn hint(&self, lock: &ShardLock<'_>) -> Step<Hint> {
        match self {
            Self::Taken(found) => found.hint(lock),
            Self::Free(_) => Ok(Hint::NONE),
        }
    }
}

/// A free slot for a new key. Its meta bits are set already.
pub(super) struct NewSlot<'a> {
    pub(super) slot: &'a W64,
    /// The state of the key in a cache, and whether its ghost was there.
    pub(super) state: u32,
    pub(super) had_ghost: bool,
}

/// What distinguishes a segment from a later one of its prefix: directory index, depth and moves.
pub(super) type SegmentId = (u32, u32, u32);

#[inline]
pub(super) fn segment_of<'a>(lock: &ShardLock<'a>, hash: Hash) -> Step<Option<&'a Segment>> {
    let depth = layout_word(lock.head).depth();
    match lookup(lock.region, lock.number, depth, hash.tag()).1 {
        0 => Ok(None),
        page => match lock.segment(page) {
            Some(segment) => Ok(Some(segment)),
            None => corrupt("a directory"),
        },
    }
}

/// Returns the segment of a prefix, or `None` if the shard is empty, or if a repair has removed a
/// damaged root and kept other segments.
pub(super) fn segment_at<'a>(
    lock: &ShardLock<'a>,
    prefix: u32,
) -> Step<(Option<&'a Segment>, SegmentId)> {
    let (region, shard) = (lock.region, lock.number);
    let depth = layout_word(lock.head)
        .depth()
        .min(region.geometry().dir_log2);
    let (index, page) = lookup(region, shard, depth, prefix);
    let segment = lock.segment(page);
    if page != 0 && segment.is_none() {
        return corrupt("a directory");
    }
    let local = depth_of(region, shard, depth, index);
    let moves = lock.head.moves.load(Ordering::Relaxed);
    Ok((segment, (index, local, moves)))
}

/// Returns how many slots so many segments have.
pub(crate) fn slots_in(segments: u64) -> u64 {
    segments.wrapping_mul((BUCKETS * SLOTS) as u64)
}

/// Returns how many keys a segment has.
pub(super) fn slots_used(segment: &Segment) -> usize {
    let used = |word: &&crate::sync::W64| is_key(word.load(Ordering::Relaxed));
    segment
        .buckets
        .iter()
        .map(|bucket| bucket.slots.iter().filter(used).count())
        .sum()
}

/// Stores the word, and the state of its key, in a free slot of the home bucket or of the other
/// one. Returns whether there was one.
#[inline(always)]
pub(super) fn put(segment: &Segment, hash: Hash, word: u64, state: u32) -> bool {
    let slot = take_free(segment, hash, state);
    // Pairs with the acquire load of the slot in `read`: a reader sees the item's bytes.
    slot.inspect(|slot| slot.store(word, Ordering::Release))
        .is_some()
}

/// Takes a free slot of the home bucket or of the other one, and sets the state of its future key.
#[inline(always)]
pub(super) fn take_free(segment: &Segment, hash: Hash, state: u32) -> Option<&W64> {
    let home = &segment.buckets[hash.home() as usize];
    if let Some(slot) = free_slot(home) {
        home.set_slot_meta(slot, state, false);
        return Some(&home.slots[slot]);
    }
    let away = &segment.buckets[hash.away() as usize];
    let slot = free_slot(away)?;
    Some(take_away(home, away, slot, state))
}

/// Takes a slot of the other bucket. The hint rises before the slot is stored: so a reader that
/// misses the key at home looks in the other bucket.
#[inline(always)]
pub(super) fn take_away<'a>(home: &Bucket, away: &'a Bucket, slot: usize, state: u32) -> &'a W64 {
    home.hint_up();
    away.set_slot_meta(slot, state, true);
    &away.slots[slot]
}

#[inline(always)]
pub(super) fn free_slot(bucket: &Bucket) -> Option<usize> {
    matches(bucket, 0).find(|slot| bucket.slots[*slot].load(Ordering::Relaxed) == 0)
}

/// A slot of a segment, by the number of its bucket.
#[derive(Clone, Copy)]
pub(super) struct SlotPlace {
    pub(super) bucket: u32,
    pub(super) slot: usize,
}

/// Moves a key to its other bucket: first it is stored there, then cleared here (IDX-3).
pub(super) fn move_key(lock: &ShardLock<'_>, segment: &Segment, from: SlotPlace, to: SlotPlace) {
    let (source, target) = (
        &segment.buckets[from.bucket as usize],
        &segment.buckets[to.bucket as usize],
    );
    let was_away = source.is_away(from.slot);
    if !was_away {
        source.hint_up();
    }
    target.set_slot_meta(to.slot, source.state(from.slot), !was_away);
    target.slots[to.slot].store(
        source.slots[from.slot].load(Ordering::Relaxed),
        Ordering::Release,
    );
    target.increment_version();
    // A scan that misses the key in both buckets sees that this count has changed.
    lock.head.moves.add_owned(1);
    source.slots[from.slot].store(0, Ordering::Release);
    source.increment_version();
    source.set_slot_meta(from.slot, 0, false);
    if was_away {
        target.hint_down();
    }
}

/// Lets the slot that leads to `old` lead to `new`. Returns false if no slot of that key leads to
/// `old`.
pub(crate) fn repoint(lock: &ShardLock<'_>, hash: Hash, old: u64, new: u64) -> Step<bool> {
    let Some(segment) = segment_of(lock, hash)? else {
        return Ok(false);
    };
    for bucket in [hash.home(), hash.away()] {
        let bucket = &segment.buckets[bucket as usize];
        for slot in matches(bucket, hash.tag()) {
            if slot_ref(bucket.slots[slot].load(Ordering::Relaxed)) == old {
                bucket.slots[slot].store(slot_word(hash.tag(), new), Ordering::Release);
                bucket.increment_version();
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// Returns the uid of an item, or [`Hint::NONE`]. An entry that leads elsewhere is damage: if the
/// item were freed, the uid might lead to a later item in the same block.
pub(super) fn own_hint(lock: &ShardLock<'_>, item: &Item<'_>) -> Step<Hint> {
    let hint = item.hint();
    if hint.is_some() && !leads_to(lock, hint, item.item_ref) {
        return corrupt("the uid of an item");
    }
    Ok(hint)
}

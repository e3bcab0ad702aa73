//! Slots for new keys, and keys that move to others, under the shard's lock.

use super::evict::evict_beside;
use super::find::segment_of;
use super::ghosts::{find_ghost, lay_ghost, oldest_ghost, spread};
use super::group::matches;
use super::hash::{Hash, other_bucket};
use super::split::{new_root, split};
use crate::alloc::{Step, corrupt, is_full};
use crate::layout::{Bucket, PROTECTED, SLOTS, Segment, slot_ref, slot_tag, slot_word};
use crate::lock::ShardLock;
use crate::sync::{Ordering, W64, prefetch};

/// Splits in a row before an insert gives up: each halves the keys of the segment.
const MOST_SPLITS: u32 = 8;

/// A free slot that a new key is to get: its meta bits are set already.
pub(super) struct Seat<'a> {
    pub(super) slot: &'a W64,
    /// Of a cache: the state of the key, and whether its ghost was there.
    state: u32,
    had_ghost: bool,
}

impl<'a> Seat<'a> {
    /// Finds a slot for a key. The segment is that of its [`Spot`](super::Spot), found under this
    /// hold of the lock.
    #[inline(always)]
    pub(super) fn of(lock: &ShardLock<'a>, hash: Hash, segment: Option<&'a Segment>) -> Step<Self> {
        if lock.region.is_cache() {
            return Self::in_cache(lock, hash, segment);
        }
        let slot = match segment.and_then(|segment| take_free(segment, hash, 0)) {
            Some(slot) => slot,
            None => make_free(lock, hash, 0)?,
        };
        Ok(Self {
            slot,
            state: 0,
            had_ghost: false,
        })
    }

    /// As [`Self::of`]: ghosts are looked for, and enough slots kept for them.
    #[inline(never)]
    fn in_cache(lock: &ShardLock<'a>, hash: Hash, segment: Option<&'a Segment>) -> Step<Self> {
        let segment = match spread(lock, hash)? {
            true => segment_of(lock, hash)?,
            false => segment,
        };
        let ghost = segment.and_then(|segment| find_ghost(lock, segment, hash));
        let had_ghost = ghost.is_some();
        let state = if had_ghost { PROTECTED } else { 0 };
        Ok(Self {
            slot: make_free(lock, hash, state)?,
            state,
            had_ghost,
        })
    }

    /// Of a cache, when the key is in its slot, with so many bytes of key and value.
    #[cold]
    pub(super) fn settle(&self, lock: &ShardLock<'_>, hash: Hash, payload: u64) {
        if self.had_ghost {
            lay_ghost(lock, hash);
        }
        if self.state & PROTECTED == 0 {
            lock.head.newcomers.add_owned(payload);
        }
    }
}

/// A slot of the home bucket or of the other one, which may both be full, or have no segment yet.
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
        // A full cache has slots enough elsewhere: one of these keys goes rather than a page's.
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

/// Puts the word, and the state of its key, into a free slot of the home bucket or of the other
/// one.
#[inline(always)]
pub(super) fn put(segment: &Segment, hash: Hash, word: u64, state: u32) -> bool {
    let slot = take_free(segment, hash, state);
    // Pairs with the acquire load of the slot in `read`: the item's bytes are seen.
    slot.inspect(|slot| slot.store(word, Ordering::Release))
        .is_some()
}

/// A free slot of the home bucket or of the other one, with the state of the key that it is to get.
#[inline(always)]
fn take_free(segment: &Segment, hash: Hash, state: u32) -> Option<&W64> {
    let home = &segment.buckets[hash.home() as usize];
    if let Some(slot) = free_slot(home) {
        home.set_slot_meta(slot, state, false);
        return Some(&home.slots[slot]);
    }
    let away = &segment.buckets[hash.away() as usize];
    let slot = free_slot(away)?;
    Some(take_away((home, away), slot, state))
}

/// The hint is seen by who sees the slot's absence elsewhere: it rises before the slot is stored.
#[inline(always)]
fn take_away<'a>((home, away): (&Bucket, &'a Bucket), slot: usize, state: u32) -> &'a W64 {
    home.hint_up();
    away.set_slot_meta(slot, state, true);
    &away.slots[slot]
}

/// As [`take_free`], where no slot is free, the place of the oldest ghost.
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
    Some(take_away((home, away), slot, state))
}

#[inline(always)]
pub(super) fn free_slot(bucket: &Bucket) -> Option<usize> {
    matches(bucket, 0).find(|slot| bucket.slots[*slot].load(Ordering::Relaxed) == 0)
}

/// Frees a slot of a full bucket by moving residents to their other buckets, `moves` at most.
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
    // One wait for all of them.
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
            move_key(lock, segment, (bucket, slot), (*other, free));
            return Some(slot);
        }
    }
    if moves < 2 {
        return None;
    }
    for (slot, other) in others.iter().enumerate() {
        if let Some(free) = make_room(lock, segment, *other, moves - 1) {
            move_key(lock, segment, (bucket, slot), (*other, free));
            return Some(slot);
        }
    }
    None
}

/// Moves a key to its other bucket: there first, then away from here (IDX-3).
pub(super) fn move_key(
    lock: &ShardLock<'_>,
    segment: &Segment,
    from: (u32, usize),
    to: (u32, usize),
) {
    let (source, target) = (
        &segment.buckets[from.0 as usize],
        &segment.buckets[to.0 as usize],
    );
    let was_away = source.is_away(from.1);
    if !was_away {
        source.hint_up();
    }
    target.set_slot_meta(to.1, source.state(from.1), !was_away);
    target.slots[to.1].store(
        source.slots[from.1].load(Ordering::Relaxed),
        Ordering::Release,
    );
    target.bump();
    // Iterators that miss the key on both sides see this count changed.
    lock.head.moves.add_owned(1);
    source.slots[from.1].store(0, Ordering::Release);
    source.bump();
    source.set_slot_meta(from.1, 0, false);
    if was_away {
        target.hint_down();
    }
}

/// Lets the slot that leads to `old` lead to `new`; false: no slot of that key does.
pub(crate) fn repoint(lock: &ShardLock<'_>, hash: Hash, old: u64, new: u64) -> Step<bool> {
    let Some(segment) = segment_of(lock, hash)? else {
        return Ok(false);
    };
    for bucket in [hash.home(), hash.away()] {
        let bucket = &segment.buckets[bucket as usize];
        for slot in matches(bucket, hash.tag()) {
            if slot_ref(bucket.slots[slot].load(Ordering::Relaxed)) == old {
                bucket.slots[slot].store(slot_word(hash.tag(), new), Ordering::Release);
                bucket.bump();
                return Ok(true);
            }
        }
    }
    Ok(false)
}

//! Placing, moving and removing keys under the shard's lock.

use super::evict::evict_beside;
use super::find::{Found, segment_of};
use super::ghosts::{find_ghost, lay_ghost, oldest_ghost, spread};
use super::group::matches;
use super::hash::{Hash, other_bucket};
use super::split::{new_root, split};
use super::watched::{dropped, is_watched, key_of};
use crate::alloc::{Step, announce, corrupt, discard, free_uid, is_full, settle_uid};
use crate::layout::{
    Bucket, FLAG_TAG, Hint, PROTECTED, SLOTS, Segment, slot_ref, slot_tag, slot_word,
};
use crate::lock::ShardLock;
use crate::sync::{Ordering, prefetch};

/// Splits in a row before an insert gives up: each halves the keys of the segment.
const MOST_SPLITS: u32 = 8;

/// Lets a key lead to another item, by one store; and its uid, which is that of the new item. The
/// old item may be freed after this.
#[inline(always)]
pub(crate) fn replace(
    lock: &ShardLock<'_>,
    found: &Found<'_>,
    hash: Hash,
    item_ref: u64,
    hint: Hint,
) {
    announce(lock, hint, item_ref);
    // Pairs with the acquire load of the slot in `read`: the item's bytes are seen.
    found.bucket.slots[found.slot].store(slot_word(hash.tag(), item_ref), Ordering::Release);
    found.bucket.bump();
    settle_uid(lock, hint, item_ref);
}

/// Takes a key out, and its uid. Its item may be freed after this.
#[inline(always)]
pub(crate) fn remove(lock: &ShardLock<'_>, found: &Found<'_>) -> Step<()> {
    let hint = found.hint(lock)?;
    announce(lock, hint, found.item_ref);
    found.bucket.slots[found.slot].store(0, Ordering::Release);
    found.bucket.bump();
    free_uid(lock, hint);
    if found.bucket.is_away(found.slot) {
        found.bucket.set_slot_meta(found.slot, 0, false);
        found.home.hint_down();
    }
    Ok(())
}

/// Takes a key out and frees its item.
#[inline(always)]
pub(crate) fn drop_key(lock: &ShardLock<'_>, found: &Found<'_>) -> Step<()> {
    let is_watched = is_watched(lock);
    let key = is_watched.then(|| key_of(lock, found.item_ref));
    if lock.region.is_cache() && found.is_newcomer() {
        lock.head.newcomers.sub_owned(found.payload);
    }
    remove(lock, found)?;
    if found.flags & FLAG_TAG != 0 {
        lock.head.tags.sub_owned(1);
    }
    if is_watched || found.flags & FLAG_TAG != 0 {
        dropped(lock, key.flatten(), found.flags);
    }
    lock.head.items.sub_owned(1);
    lock.head.payload.sub_owned(found.payload);
    discard(lock, found.item_ref)
}

/// Puts a key that is not there yet into the index, by one store, and its uid. The segment is that
/// of its [`Spot`](super::Spot), found under this hold of the lock. Says its state, of a cache.
#[inline(always)]
pub(crate) fn insert(
    lock: &ShardLock<'_>,
    hash: Hash,
    segment: Option<&Segment>,
    item_ref: u64,
    hint: Hint,
) -> Step<u32> {
    if lock.region.is_cache() {
        return insert_in_cache(lock, hash, segment, item_ref, hint);
    }
    announce(lock, hint, item_ref);
    let word = slot_word(hash.tag(), item_ref);
    let is_put = segment.is_some_and(|segment| put(segment, hash, word, 0));
    if !is_put {
        insert_crowded(lock, hash, word, 0)?;
    }
    settle_uid(lock, hint, item_ref);
    Ok(0)
}

/// As [`insert`]: ghosts are looked for, and enough slots kept for them.
#[inline(never)]
fn insert_in_cache(
    lock: &ShardLock<'_>,
    hash: Hash,
    segment: Option<&Segment>,
    item_ref: u64,
    hint: Hint,
) -> Step<u32> {
    let segment = match spread(lock, hash)? {
        true => segment_of(lock, hash)?,
        false => segment,
    };
    let ghost = segment.and_then(|segment| find_ghost(lock, segment, hash));
    let state = if ghost.is_some() { PROTECTED } else { 0 };
    announce(lock, hint, item_ref);
    let word = slot_word(hash.tag(), item_ref);
    insert_crowded(lock, hash, word, state)?;
    settle_uid(lock, hint, item_ref);
    if ghost.is_some() {
        lay_ghost(lock, hash);
    }
    Ok(state)
}

/// Both buckets may be full, or there is no segment yet.
#[inline(never)]
fn insert_crowded(lock: &ShardLock<'_>, hash: Hash, word: u64, state: u32) -> Step<()> {
    for _ in 0..MOST_SPLITS {
        let Some(segment) = segment_of(lock, hash)? else {
            new_root(lock)?;
            continue;
        };
        let is_put = put(segment, hash, word, state)
            || lock.region.is_cache() && put_over_ghost(lock, segment, hash, word, state);
        if is_put {
            return Ok(());
        }
        // A full cache has slots enough elsewhere: one of these keys goes rather than a page's.
        let is_full = lock.region.is_cache() && is_full(lock.region);
        if is_full && evict_beside(lock, segment, hash, true)? {
            continue;
        }
        let moves = if is_full { 1 } else { 2 };
        let room = make_room(lock, segment, hash.home(), moves)
            .or_else(|| make_room(lock, segment, hash.away(), moves));
        if room.is_some() && put(segment, hash, word, state) {
            return Ok(());
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
    let home = &segment.buckets[hash.home() as usize];
    if let Some(slot) = free_slot(home) {
        home.set_slot_meta(slot, state, false);
        // Pairs with the acquire load of the slot in `read`: the item's bytes are seen.
        home.slots[slot].store(word, Ordering::Release);
        return true;
    }
    let away = &segment.buckets[hash.away() as usize];
    if let Some(slot) = free_slot(away) {
        put_away((home, away), slot, word, state);
        return true;
    }
    false
}

#[inline(always)]
fn put_away((home, away): (&Bucket, &Bucket), slot: usize, word: u64, state: u32) {
    home.hint_up();
    away.set_slot_meta(slot, state, true);
    // Pairs with the acquire load of the slot in `read`, as in `put`; and the hint is seen by who
    // sees the slot's absence elsewhere.
    away.slots[slot].store(word, Ordering::Release);
}

/// As [`put`], where no slot is free, in the place of the oldest ghost.
fn put_over_ghost(
    lock: &ShardLock<'_>,
    segment: &Segment,
    hash: Hash,
    word: u64,
    state: u32,
) -> bool {
    let home = &segment.buckets[hash.home() as usize];
    if let Some(slot) = oldest_ghost(lock, home) {
        home.set_slot_meta(slot, state, false);
        // As in `put`.
        home.slots[slot].store(word, Ordering::Release);
        return true;
    }
    let away = &segment.buckets[hash.away() as usize];
    let Some(slot) = oldest_ghost(lock, away) else {
        return false;
    };
    put_away((home, away), slot, word, state);
    true
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

/// Moves a key to its other bucket: there first, then away from here (I3).
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

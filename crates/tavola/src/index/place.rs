//! Finding, placing and removing keys under the shard's lock.

use super::dir::{depth_of, lookup, next_prefix};
use super::group::matches;
use super::hash::{Hash, other_bucket};
use super::split::{new_root, split};
use crate::alloc::{Item, Step, announce, corrupt, discard, free_uid, leads_to, settle_uid};
use crate::layout::{
    BUCKETS, Bucket, FLAG_UID, Header, Hint, SLOTS, Segment, UNIT, is_word, slot_ref, slot_tag,
    slot_word,
};
use crate::lock::ShardLock;
use crate::sync::{Ordering, W64, prefetch};

/// Splits in a row before an insert gives up: each halves the keys of the segment.
const MOST_SPLITS: u32 = 8;

/// Where a key stands.
pub(crate) struct Found<'a> {
    bucket: &'a Bucket,
    slot: usize,
    home: &'a Bucket,
    /// The item its slot leads to.
    pub(crate) item_ref: u64,
    /// Bytes of its key and value.
    pub(crate) payload: u64,
    flags: u8,
}

impl Found<'_> {
    /// The item, taken apart.
    pub(crate) fn item<'a>(&self, lock: &ShardLock<'a>) -> Step<Item<'a>> {
        match Item::at(lock.region, self.item_ref) {
            Some(item) => Ok(item),
            None => corrupt("an item"),
        }
    }

    /// Its uid, or none.
    #[inline(always)]
    pub(crate) fn hint(&self, lock: &ShardLock<'_>) -> Step<Hint> {
        if self.flags & FLAG_UID == 0 {
            return Ok(Hint::NONE);
        }
        own_hint(lock, &self.item(lock)?)
    }

    /// Its value, when that is one aligned word: it may be changed in place then.
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
pub(crate) enum Spot<'a> {
    /// It is there.
    Taken(Found<'a>),
    /// It belongs into this segment; `None`: the shard has none yet.
    Free(Option<&'a Segment>),
}

impl<'a> Spot<'a> {
    pub(crate) fn found(self) -> Option<Found<'a>> {
        match self {
            Self::Taken(found) => Some(found),
            Self::Free(_) => None,
        }
    }

    /// Whether the key has a uid; for a quick choice of ways.
    #[inline(always)]
    pub(crate) fn has_uid(&self) -> bool {
        matches!(self, Self::Taken(found) if found.flags & FLAG_UID != 0)
    }

    /// The key's uid, or none.
    pub(crate) fn hint(&self, lock: &ShardLock<'_>) -> Step<Hint> {
        match self {
            Self::Taken(found) => found.hint(lock),
            Self::Free(_) => Ok(Hint::NONE),
        }
    }
}

/// Looks a key up under the lock.
#[inline(always)]
pub(crate) fn find<'a>(lock: &ShardLock<'a>, hash: Hash, key: &[u8]) -> Step<Spot<'a>> {
    let Some(segment) = segment_of(lock, hash)? else {
        return Ok(Spot::Free(None));
    };
    let home = &segment.buckets[hash.home as usize];
    if let Some(found) = find_in(lock, home, home, hash, key)? {
        return Ok(Spot::Taken(found));
    }
    if home.hint() != 0 {
        let away = &segment.buckets[hash.away() as usize];
        if let Some(found) = find_in(lock, away, home, hash, key)? {
            return Ok(Spot::Taken(found));
        }
    }
    Ok(Spot::Free(Some(segment)))
}

#[inline(always)]
fn segment_of<'a>(lock: &ShardLock<'a>, hash: Hash) -> Step<Option<&'a Segment>> {
    let depth = super::dir::layout_word(lock.head).depth();
    match lookup(lock.region, lock.number, depth, hash.tag).1 {
        0 => Ok(None),
        page => match lock.segment(page) {
            Some(segment) => Ok(Some(segment)),
            None => corrupt("a directory"),
        },
    }
}

#[inline(always)]
fn find_in<'a>(
    lock: &ShardLock<'a>,
    bucket: &'a Bucket,
    home: &'a Bucket,
    hash: Hash,
    key: &[u8],
) -> Step<Option<Found<'a>>> {
    for slot in matches(bucket, hash.tag) {
        let item_ref = slot_ref(bucket.slots[slot].load(Ordering::Relaxed));
        if item_ref == 0 {
            continue;
        }
        let Some(block) = lock.region.block(item_ref) else {
            return corrupt("an item");
        };
        // Most finds of a writer end with freeing the item: these misses overlap with the item's.
        lock.region.prefetch_slab(item_ref);
        let fits = |item: Item<'_>| Some(item.key_equals(key)?.then(|| item.payload()));
        let header = Header::decode(block.first_word().load(Ordering::Relaxed));
        let (flags, payload) = match (lock.region.fixed(), header.flags) {
            (Some(fixed), _) => {
                let item = Item::fixed(lock.region, block, item_ref, fixed);
                (fixed.flags(), item.and_then(fits))
            }
            (None, 0) => {
                let item = Item::plain(lock.region, block, item_ref, header);
                (0, item.and_then(fits))
            }
            (None, flags) => (flags, special_payload(lock, item_ref, key)),
        };
        match payload {
            Some(Some(payload)) => {
                return Ok(Some(Found {
                    bucket,
                    slot,
                    home,
                    item_ref,
                    payload,
                    flags,
                }));
            }
            Some(None) => {}
            None => return corrupt("an item"),
        }
    }
    Ok(None)
}

/// `None`: no item; `Some(None)`: another key's.
#[cold]
#[inline(never)]
fn special_payload(lock: &ShardLock<'_>, item_ref: u64, key: &[u8]) -> Option<Option<u64>> {
    let item = Item::at(lock.region, item_ref)?;
    Some(item.key_equals(key)?.then(|| item.payload()))
}

/// The uid of an item, or none. One that leads elsewhere is damage: were the item freed, the uid
/// might lead to what comes in its place.
pub(super) fn own_hint(lock: &ShardLock<'_>, item: &Item<'_>) -> Step<Hint> {
    let hint = item.hint();
    if hint.is_some() && !leads_to(lock, hint, item.item_ref) {
        return corrupt("the uid of an item");
    }
    Ok(hint)
}

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
    found.bucket.slots[found.slot].store(slot_word(hash.tag, item_ref), Ordering::Release);
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
        found.bucket.set_slot_meta(found.slot, false);
        found.home.hint_down();
    }
    Ok(())
}

/// Puts a key that is not there yet into the index, by one store, and its uid. The segment is that
/// of its [`Spot`], found under this hold of the lock.
#[inline(always)]
pub(crate) fn insert(
    lock: &ShardLock<'_>,
    hash: Hash,
    segment: Option<&Segment>,
    item_ref: u64,
    hint: Hint,
) -> Step<()> {
    announce(lock, hint, item_ref);
    let word = slot_word(hash.tag, item_ref);
    let is_put = segment.is_some_and(|segment| put(segment, hash, word));
    if !is_put {
        insert_crowded(lock, hash, word)?;
    }
    settle_uid(lock, hint, item_ref);
    Ok(())
}

/// Both buckets are full, or there is no segment yet.
#[cold]
fn insert_crowded(lock: &ShardLock<'_>, hash: Hash, word: u64) -> Step<()> {
    for _ in 0..MOST_SPLITS {
        let Some(segment) = segment_of(lock, hash)? else {
            new_root(lock)?;
            continue;
        };
        if put(segment, hash, word) {
            return Ok(());
        }
        let room = make_room(lock, segment, hash.home, 2)
            .or_else(|| make_room(lock, segment, hash.away(), 2));
        if room.is_some() && put(segment, hash, word) {
            return Ok(());
        }
        split(lock, hash.tag)?;
    }
    corrupt("an index that splits without end")
}

/// Puts the word into a free slot of the home bucket or of the other one.
#[inline(always)]
pub(super) fn put(segment: &Segment, hash: Hash, word: u64) -> bool {
    let home = &segment.buckets[hash.home as usize];
    if let Some(slot) = free_slot(home) {
        home.set_slot_meta(slot, false);
        // Pairs with the acquire load of the slot in `read`: the item's bytes are seen.
        home.slots[slot].store(word, Ordering::Release);
        return true;
    }
    let away = &segment.buckets[hash.away() as usize];
    if let Some(slot) = free_slot(away) {
        home.hint_up();
        away.set_slot_meta(slot, true);
        // As above; and the hint is seen by who sees the slot's absence elsewhere.
        away.slots[slot].store(word, Ordering::Release);
        return true;
    }
    false
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
        if let Some(free) = free_slot(&segment.buckets[*other as usize]) {
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
    target.set_slot_meta(to.1, !was_away);
    target.slots[to.1].store(
        source.slots[from.1].load(Ordering::Relaxed),
        Ordering::Release,
    );
    target.bump();
    // Iterators that miss the key on both sides see this count changed.
    lock.head.moves.add_owned(1);
    source.slots[from.1].store(0, Ordering::Release);
    source.bump();
    source.set_slot_meta(from.1, false);
    if was_away {
        target.hint_down();
    }
}

/// Lets the slot that leads to `old` lead to `new`; false: no slot of that key does.
pub(crate) fn repoint(lock: &ShardLock<'_>, hash: Hash, old: u64, new: u64) -> Step<bool> {
    let Some(segment) = segment_of(lock, hash)? else {
        return Ok(false);
    };
    for bucket in [hash.home, hash.away()] {
        let bucket = &segment.buckets[bucket as usize];
        for slot in matches(bucket, hash.tag) {
            if slot_ref(bucket.slots[slot].load(Ordering::Relaxed)) == old {
                bucket.slots[slot].store(slot_word(hash.tag, new), Ordering::Release);
                bucket.bump();
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// Where the clearing of a shard stands.
#[derive(Clone, Copy, Default)]
pub(crate) struct ClearCursor {
    prefix: u32,
    bucket: usize,
    /// Directory index, depth and moves with which the segment was begun.
    seen: Option<(u32, u32, u32)>,
    restarts: u32,
}

/// How often a segment is begun again, because keys moved, before it is cleared in one go.
const RESTARTS: u32 = 2;

/// Removes the keys of some buckets and says where to go on; `None`: the shard was walked through.
/// It is the walk of an iterator: what is ahead of the cursor stays ahead of it.
pub(crate) fn clear_buckets(
    lock: &ShardLock<'_>,
    mut cursor: ClearCursor,
    count: usize,
) -> Step<Option<ClearCursor>> {
    let (region, shard) = (lock.region, lock.number);
    let depth = super::dir::layout_word(lock.head)
        .depth()
        .min(region.geometry().dir_log2);
    let (index, page) = lookup(region, shard, depth, cursor.prefix);
    if page == 0 {
        return Ok(None);
    }
    let Some(segment) = lock.segment(page) else {
        return corrupt("a directory");
    };
    let local = depth_of(region, shard, depth, index);
    let now = (index, local, lock.head.moves.load(Ordering::Relaxed));
    if cursor.seen != Some(now) {
        cursor.restarts += u32::from(cursor.seen.is_some());
        (cursor.bucket, cursor.seen) = (0, Some(now));
    }
    let count = if cursor.restarts > RESTARTS {
        BUCKETS
    } else {
        count
    };
    let until = (cursor.bucket + count).min(BUCKETS);
    for b in cursor.bucket..until {
        clear_bucket(lock, segment, b)?;
    }
    if until < BUCKETS {
        return Ok(Some(ClearCursor {
            bucket: until,
            ..cursor
        }));
    }
    let next = |prefix| ClearCursor {
        prefix,
        ..ClearCursor::default()
    };
    Ok(next_prefix(cursor.prefix, local).map(next))
}

fn clear_bucket(lock: &ShardLock<'_>, segment: &Segment, b: usize) -> Step<()> {
    let bucket = &segment.buckets[b];
    for slot in 0..SLOTS {
        let word = bucket.slots[slot].load(Ordering::Relaxed);
        if word == 0 {
            continue;
        }
        let Some(item) = Item::at(lock.region, slot_ref(word)) else {
            return corrupt("an item");
        };
        let payload = item.payload();
        let other = other_bucket(b as u32, slot_tag(word));
        let home = if bucket.is_away(slot) {
            &segment.buckets[other as usize]
        } else {
            bucket
        };
        let found = Found {
            bucket,
            slot,
            home,
            item_ref: slot_ref(word),
            payload,
            flags: item.flags(),
        };
        remove(lock, &found)?;
        lock.head.items.sub_owned(1);
        lock.head.payload.sub_owned(payload);
        discard(lock, found.item_ref)?;
    }
    Ok(())
}

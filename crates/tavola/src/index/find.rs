//! Finding a key under the shard's lock.

use super::ahead::Way;
use super::commit::{Why, drop_key};
use super::dir::{layout_word, lookup};
use super::group::matches;
use super::hash::Hash;
use super::tags::is_over;
use crate::alloc::{Item, Step, corrupt, leads_to};
use crate::layout::{
    Bucket, FLAG_CLIENT, FLAG_EXPIRY, FLAG_UID, FLAG_VERSION, Hint, PROTECTED, Segment, UNIT,
    is_key, is_word, slot_ref,
};
use crate::lock::ShardLock;
use crate::sync::{Ordering, W64};

/// Where a key stands.
#[derive(Clone, Copy)]
pub(crate) struct Found<'a> {
    pub(super) bucket: &'a Bucket,
    pub(super) slot: usize,
    pub(super) home: &'a Bucket,
    /// The item its slot leads to.
    pub(crate) item_ref: u64,
    /// Bytes of its key and value.
    pub(crate) payload: u64,
    pub(super) flags: u8,
}

impl Found<'_> {
    /// Whether a cache has it on probation.
    #[inline(always)]
    pub(crate) fn is_newcomer(&self) -> bool {
        self.bucket.state(self.slot) & PROTECTED == 0
    }

    /// Tells a cache that the key is used. Under the shard's lock.
    #[inline(always)]
    pub(crate) fn visit(&self, lock: &ShardLock<'_>) {
        if lock.region.is_cache()
            && let Some(state) = self.bucket.visited(self.slot)
        {
            self.bucket.set_state(self.slot, state);
        }
    }

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
#[derive(Clone, Copy)]
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

    /// Whether the key has a uid, expiry, flags or a version; for a quick choice of ways.
    #[inline(always)]
    pub(crate) fn has_fields(&self) -> bool {
        const FIELDS: u8 = FLAG_UID | FLAG_EXPIRY | FLAG_CLIENT | FLAG_VERSION;
        matches!(self, Self::Taken(found) if found.flags & FIELDS != 0)
    }

    /// The key's uid, or none.
    pub(crate) fn hint(&self, lock: &ShardLock<'_>) -> Step<Hint> {
        match self {
            Self::Taken(found) => found.hint(lock),
            Self::Free(_) => Ok(Hint::NONE),
        }
    }
}

/// Looks a key up under the lock. One that is over is removed here: it is not there then.
#[inline(always)]
pub(crate) fn find<'a>(lock: &ShardLock<'a>, hash: Hash, key: &[u8]) -> Step<Spot<'a>> {
    find_in_segment(lock, segment_of(lock, hash)?, hash, key, false)
}

/// As [`find`], along the way that was found before. What freeing the item will need is fetched, if
/// it is to be freed: those misses overlap with the item's.
#[inline(always)]
pub(crate) fn find_along<'a>(
    lock: &ShardLock<'a>,
    way: Way,
    hash: Hash,
    key: &[u8],
    is_to_be_freed: bool,
) -> Step<Spot<'a>> {
    // IDX-4: had the segment of the key become another, the layout word would be another.
    let is_same = layout_word(lock.head) == way.layout;
    let segment = lock.region.segment_seen(way.page);
    let segment = match segment.filter(|_| is_same && lock.owns(way.page)) {
        Some(segment) => Some(segment),
        None => segment_of(lock, hash)?,
    };
    find_in_segment(lock, segment, hash, key, is_to_be_freed)
}

#[inline(always)]
fn find_in_segment<'a>(
    lock: &ShardLock<'a>,
    segment: Option<&'a Segment>,
    hash: Hash,
    key: &[u8],
    is_to_be_freed: bool,
) -> Step<Spot<'a>> {
    let Some(segment) = segment else {
        return Ok(Spot::Free(None));
    };
    let home = &segment.buckets[hash.home() as usize];
    let mut bucket = home;
    loop {
        if let Some(found) = find_in(lock, (bucket, home), hash, key, is_to_be_freed)? {
            return Ok(Spot::Taken(found));
        }
        if !core::ptr::eq(bucket, home) || home.hint() == 0 {
            return Ok(Spot::Free(Some(segment)));
        }
        bucket = &segment.buckets[hash.away() as usize];
    }
}

/// Removes a key that is over: expired, or without one of its tags.
#[cold]
#[inline(never)]
pub(super) fn expire(lock: &ShardLock<'_>, found: &Found<'_>) -> Step<()> {
    drop_key(lock, found, Why::Expire)?;
    lock.head.expired.add_owned(1);
    Ok(())
}

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

#[inline(always)]
fn find_in<'a>(
    lock: &ShardLock<'a>,
    (bucket, home): (&'a Bucket, &'a Bucket),
    hash: Hash,
    key: &[u8],
    is_to_be_freed: bool,
) -> Step<Option<Found<'a>>> {
    const UID: u64 = (FLAG_UID as u64) << 24;
    let region = lock.region;
    for slot in matches(bucket, hash.tag()) {
        let word = bucket.slots[slot].load(Ordering::Relaxed);
        if !is_key(word) {
            continue;
        }
        let item_ref = slot_ref(word);
        let Some(block) = region.block(item_ref) else {
            return corrupt("an item");
        };
        if is_to_be_freed {
            region.prefetch_slab(item_ref);
        }
        let (flags, item) = if let Some(fixed) = region.fixed() {
            let item = Item::fixed(region, block, item_ref, fixed);
            (fixed.flags(), item)
        } else {
            let header = block.first_word().load(Ordering::Relaxed);
            let key_len = key.len() as u64;
            // Length of the key, and flags.
            let kind = hash.kind(header);
            let with = |has_uid| Item::with_key(region, block, item_ref, header, key_len, has_uid);
            if kind == key_len {
                (0, with(false))
            } else if kind == key_len | UID {
                (FLAG_UID, with(true))
            } else {
                (0, None)
            }
        };
        let (flags, payload) = match item {
            Some(item) => (flags, payload_of(&item, key)),
            None => other_payload(lock, (bucket, slot, home), item_ref, (key, hash)),
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

/// The payload of an item that is the key's; `Some(None)`: it is another key's; `None`: it is
/// broken.
#[inline(always)]
fn payload_of(item: &Item<'_>, key: &[u8]) -> Option<Option<u64>> {
    Some(item.key_equals(key)?.then(|| item.payload()))
}

/// As [`payload_of`], and the flags, of an item with other fields or a key of another length, to
/// which a slot of a bucket leads. If it is the key's, and is over, it is removed: it is nobody's
/// then.
#[cold]
#[inline(never)]
fn other_payload(
    lock: &ShardLock<'_>,
    (bucket, slot, home): (&Bucket, usize, &Bucket),
    item_ref: u64,
    (key, hash): (&[u8], Hash),
) -> (u8, Option<Option<u64>>) {
    let Some(item) = Item::at(lock.region, item_ref) else {
        return (0, None);
    };
    if item.is_tag() != hash.is_of_tag() {
        return (0, Some(None));
    }
    let payload = match payload_of(&item, key) {
        Some(Some(payload)) => payload,
        other => return (0, other),
    };
    let flags = item.flags();
    match is_over(&item) {
        None => (0, None),
        Some(false) => (flags, Some(Some(payload))),
        Some(true) => {
            let found = Found {
                bucket,
                slot,
                home,
                item_ref,
                payload,
                flags,
            };
            (0, expire(lock, &found).is_ok().then_some(None))
        }
    }
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

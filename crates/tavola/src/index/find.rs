//! Finding a key under the shard's lock. It compares as a reader does, but nothing can change
//! meanwhile; and it removes a key that is over.

use super::ahead::Warmed;
use super::commit::expire;
use super::dir::layout_word;
use super::group::matches;
use super::hash::Hash;
use super::slots::{FoundKey, Spot, segment_of};
use super::tags::is_over;
use crate::alloc::{Item, Step, corrupt};
use crate::layout::{Bucket, FLAG_UID, Segment, is_key, pending_ref, slot_ref};
use crate::lock::ShardLock;
use crate::sync::Ordering;

/// Looks a key up under the lock. A key that is over is removed, and then counts as missing.
#[inline(always)]
pub(crate) fn find<'a>(lock: &ShardLock<'a>, hash: Hash, key: &[u8]) -> Step<Spot<'a>> {
    find_in_segment(lock, segment_of(lock, hash)?, hash, key, false)
}

/// Looks a key up as [`find`] does, in the segment that was found before the lock was taken. If the
/// item is to be freed, it also fetches what that will need: those cache misses overlap with the
/// item's.
#[inline(always)]
pub(crate) fn find_along<'a>(
    lock: &ShardLock<'a>,
    way: Warmed,
    hash: Hash,
    key: &[u8],
    is_to_be_freed: bool,
) -> Step<Spot<'a>> {
    // IDX-4: if another segment were the key's now, the layout word would have changed.
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
        if let Some(found) = find_in(lock, bucket, home, hash, key, is_to_be_freed)? {
            return Ok(Spot::Taken(found));
        }
        if !core::ptr::eq(bucket, home) || home.hint() == 0 {
            return Ok(Spot::Free(Some(segment)));
        }
        bucket = &segment.buckets[hash.away() as usize];
    }
}

#[inline(always)]
fn find_in<'a>(
    lock: &ShardLock<'a>,
    bucket: &'a Bucket,
    home: &'a Bucket,
    hash: Hash,
    key: &[u8],
    is_to_be_freed: bool,
) -> Step<Option<FoundKey<'a>>> {
    const UID: u64 = (FLAG_UID as u64) << 24;
    let region = lock.region;
    for slot in matches(bucket, hash.tag()) {
        let word = bucket.slots[slot].load(Ordering::Relaxed);
        if !is_key(word) {
            continue;
        }
        let item_ref = slot_ref(word);
        let Some(block) = region.block(item_ref) else {
            // Another key of the same transaction (IDX-6).
            if pending_ref(word).is_some() {
                continue;
            }
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
            // The length of the key, and flags.
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
        let candidate = Candidate {
            bucket,
            slot,
            home,
            item_ref,
        };
        let (flags, payload) = match item {
            Some(item) => (flags, payload_of(&item, key)),
            None => other_payload(lock, candidate, key, hash),
        };
        match payload {
            Some(Some(payload)) => return Ok(Some(candidate.into_found(payload, flags))),
            Some(None) => {}
            None => return corrupt("an item"),
        }
    }
    Ok(None)
}

/// Returns the payload of an item if it is the key's, `Some(None)` if it is another key's, and
/// `None` if it is damaged.
#[inline(always)]
fn payload_of(item: &Item<'_>, key: &[u8]) -> Option<Option<u64>> {
    Some(item.key_equals(key)?.then(|| item.payload()))
}

/// A slot whose item may be the key's.
#[derive(Clone, Copy)]
struct Candidate<'a> {
    bucket: &'a Bucket,
    slot: usize,
    /// The key's home bucket.
    home: &'a Bucket,
    /// The item that the slot leads to.
    item_ref: u64,
}

impl<'a> Candidate<'a> {
    /// Returns the key's slot, as the item is the key's.
    #[inline(always)]
    fn into_found(self, payload: u64, flags: u8) -> FoundKey<'a> {
        FoundKey {
            bucket: self.bucket,
            slot: self.slot,
            home: self.home,
            item_ref: self.item_ref,
            payload,
            flags,
        }
    }
}

/// Returns flags and payload, as [`payload_of`] does, of an item with other fields or a key of
/// another length. If it is the key's and is over, it is removed, and counts as another key's.
#[cold]
#[inline(never)]
fn other_payload(
    lock: &ShardLock<'_>,
    candidate: Candidate<'_>,
    key: &[u8],
    hash: Hash,
) -> (u8, Option<Option<u64>>) {
    let Some(item) = Item::at(lock.region, candidate.item_ref) else {
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
            let found = candidate.into_found(payload, flags);
            (0, expire(lock, &found).is_ok().then_some(None))
        }
    }
}

//! Removal of all keys of a shard, or of those that are over (expired, or without one of their
//! tags). A call clears some buckets under the shard's lock and returns where to continue.
//!
//! The order is that of an iterator: what is ahead of the cursor stays ahead of it.

use super::commit::{Why, drop_key, expire};
use super::dir::next_prefix;
use super::hash::other_bucket;
use super::slots::{FoundKey, SegmentId, segment_at};
use super::tags::{is_over, may_be_over};
use crate::alloc::{Item, Step, corrupt};
use crate::layout::{BUCKETS, SLOTS, Segment, ShardHead, SweepWord, is_key, slot_ref, slot_tag};
use crate::lock::ShardLock;
use crate::sync::Ordering;

/// Buckets that [`clear_some`] clears: about 200 keys.
const CLEARED: usize = 32;
/// How often a segment is started again because keys moved, before it is cleared in one go.
const RESTARTS: u32 = 2;

/// The least and the most buckets of one step of a sweep, as powers of two.
const SLOWEST: u8 = 2;
const FASTEST: u8 = 6;
/// A sweep gets faster if at least one in this many of the keys that may expire has expired.
const HURRY_PART: u32 = 4;
/// A step of a sweep ends when it has freed this many bytes of keys and values.
const MOST_FREED: u64 = 1 << 20;

/// Which keys are removed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ClearScope {
    All,
    Expired,
}

/// How many keys a step of a sweep examines.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum SweepSize {
    /// The more it found last time, the more it examines.
    Paced,
    /// Some thousand.
    Large,
}

/// How far the clearing of a shard has come.
#[derive(Clone, Copy, Default)]
pub(crate) struct ClearCursor {
    prefix: u32,
    bucket: usize,
    /// The segment that is being cleared.
    seen: Option<SegmentId>,
    restarts: u32,
}

/// What a step has met.
#[derive(Default)]
struct Met {
    /// Keys that expire some day, or have tags.
    mortal: u32,
    expired: u32,
    /// Bytes of keys and values that were freed.
    freed: u64,
}

/// Removes some keys and returns where to continue, or `None` at the end of the shard.
pub(crate) fn clear_some(
    lock: &ShardLock<'_>,
    cursor: ClearCursor,
    which: ClearScope,
) -> Step<Option<ClearCursor>> {
    let (segment, now) = segment_at(lock, cursor.prefix)?;
    let next = |prefix| ClearCursor {
        prefix,
        ..ClearCursor::default()
    };
    let Some(segment) = segment else {
        return Ok(next_prefix(cursor.prefix, now.1).map(next));
    };
    let mut cursor = cursor;
    if cursor.seen != Some(now) {
        cursor.restarts += u32::from(cursor.seen.is_some());
        (cursor.bucket, cursor.seen) = (0, Some(now));
    }
    let count = if cursor.restarts > RESTARTS {
        BUCKETS
    } else {
        CLEARED
    };
    let until = (cursor.bucket + count).min(BUCKETS);
    for b in cursor.bucket..until {
        clear_bucket(lock, segment, b, which, &mut Met::default())?;
    }
    if until < BUCKETS {
        return Ok(Some(ClearCursor {
            bucket: until,
            ..cursor
        }));
    }
    Ok(next_prefix(cursor.prefix, now.1).map(next))
}

/// Does one step of the search for expired keys, which runs in rounds as long as there are keys
/// that expire.
pub(crate) fn sweep_step(lock: &ShardLock<'_>, size: SweepSize) -> Step<()> {
    let word = &lock.head.sweep;
    let mut sweep = SweepWord::decode(word.load(Ordering::Relaxed));
    let (segment, now) = segment_at(lock, sweep.prefix)?;
    let Some(segment) = segment else {
        match next_prefix(sweep.prefix, now.1) {
            Some(prefix) => (sweep.prefix, sweep.bucket) = (prefix, 0),
            None if now.1 == 0 => sweep = SweepWord::default(),
            None => end_round(lock, &mut sweep),
        }
        word.store(sweep.encode(), Ordering::Relaxed);
        return Ok(());
    };
    let mut met = Met::default();
    let from = usize::from(sweep.bucket);
    sweep.pace = sweep.pace.clamp(SLOWEST, FASTEST);
    let buckets = match size {
        SweepSize::Paced => 1 << sweep.pace,
        SweepSize::Large => BUCKETS,
    };
    let mut until = (from + buckets).min(BUCKETS);
    for b in from..until {
        clear_bucket(lock, segment, b, ClearScope::Expired, &mut met)?;
        if met.freed >= MOST_FREED {
            until = b + 1;
            break;
        }
    }
    sweep.met |= met.mortal > 0;
    sweep.pace = match met.expired > 0 && met.expired * HURRY_PART >= met.mortal {
        true => sweep.pace + 1,
        false => sweep.pace - 1,
    };
    sweep.bucket = until as u8;
    if until == BUCKETS {
        match next_prefix(sweep.prefix, now.1) {
            Some(prefix) => sweep.prefix = prefix,
            None => end_round(lock, &mut sweep),
        }
    }
    word.store(sweep.encode(), Ordering::Relaxed);
    Ok(())
}

/// Returns whether keys of the shard may expire; needs no lock.
pub(crate) fn may_expire(head: &ShardHead) -> bool {
    SweepWord::decode(head.sweep.load(Ordering::Relaxed)).active
}

/// Ends a round. If no key that may expire was met or stored in the whole round, and none was moved
/// past the sweep, the shard has no such key.
fn end_round(lock: &ShardLock<'_>, sweep: &mut SweepWord) {
    let moves = lock.head.moves.load(Ordering::Relaxed);
    let is_sure = lock.head.sweep_moves.load(Ordering::Relaxed) == moves;
    sweep.active = sweep.met || !is_sure;
    (sweep.prefix, sweep.met) = (0, false);
    lock.head.sweep_moves.store(moves, Ordering::Relaxed);
}

fn clear_bucket(
    lock: &ShardLock<'_>,
    segment: &Segment,
    b: usize,
    which: ClearScope,
    met: &mut Met,
) -> Step<()> {
    let bucket = &segment.buckets[b];
    let words: [u64; SLOTS] = std::array::from_fn(|i| bucket.slots[i].load(Ordering::Relaxed));
    // Their cache misses overlap.
    for word in words {
        lock.region.prefetch_ref(slot_ref(word));
    }
    for (slot, word) in words
        .into_iter()
        .enumerate()
        .filter(|(_, word)| is_key(*word))
    {
        let item = match Item::at(lock.region, slot_ref(word)) {
            Some(item) => item,
            None if which == ClearScope::Expired => continue,
            None => return corrupt("an item"),
        };
        if which == ClearScope::Expired {
            met.mortal += u32::from(may_be_over(&item));
            // Damage does not keep the other keys from being found.
            if !is_over(&item).unwrap_or(false) {
                continue;
            }
            met.expired += 1;
            met.freed += item.payload();
        }
        let other = other_bucket(b as u32, slot_tag(word));
        let home = if bucket.is_away(slot) {
            &segment.buckets[other as usize]
        } else {
            bucket
        };
        let found = FoundKey {
            bucket,
            slot,
            home,
            item_ref: slot_ref(word),
            payload: item.payload(),
            flags: item.flags(),
        };
        match which {
            ClearScope::All => drop_key(lock, &found, Why::Clear)?,
            ClearScope::Expired => drop(expire(lock, &found)),
        }
    }
    Ok(())
}

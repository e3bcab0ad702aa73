//! Eviction: which key of a shard goes when a cache has no room.
//!
//! S3-FIFO's idea without queues: probationary are on probation and have a tenth of the bytes, and
//! what was read meanwhile is protected. A shard has two hands that scan its buckets, each looking
//! only at keys of its kind (the table is in layout/bucket.rs). A probationary key that goes leaves
//! its tag behind as a ghost. A tag (see table/tags.rs) goes only if no key that has it was set or
//! read for a while, counted in evictions: it would take them all along.
//!
//! | step | a reader finds | a survivor finds, if we die after it |
//! |---|---|---|
//! | a state is changed | the key | the key; hands and states are advice, any value is safe |
//! | the slot is cleared, the bucket bumped | no key | as after a removal |
//! | the block is freed | no key | the same |
//! | the ghost is stored | no key: a ghost leads nowhere | the same |

use super::clear::may_expire;
use super::commit::{Why, drop_key, expire};
use super::dir::{layout_word, next_prefix};
use super::evicted::note;
use super::ghosts::leave_ghost;
use super::group::matches;
use super::hash::{Hash, other_bucket};
use super::slots::{Found, segment_at, segment_of};
use super::tags::is_over;
use crate::alloc::{Item, Step, unused_for};
use crate::layout::{
    ACCESSED, AGAIN, BUCKETS, Bucket, HandWord, PROTECTED, SLOTS, Segment, is_key, slot_ref,
    slot_tag,
};
use crate::lock::ShardLock;
use crate::sync::Ordering;

/// Probationary have this part of the bytes.
const PROBATION: u64 = 10;
/// Buckets a hand scans in vain before the other one is tried, and then what else may go.
const MOST_IN_VAIN: u32 = 320;
/// Epochs that a tag stays for without being used: as many keys are evicted meanwhile as a fourth
/// to a half of those that are there.
const TAG_LIFE: u64 = 4;

/// Which keys a hand looks at.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Probationary,
    Protected,
    /// Probationary that were not read, young ones too.
    Unread,
    /// In the end any but tags: all are read all the time.
    Any,
    /// Tags, too: there is nothing else.
    All,
}

/// Evicts one key, and says how many bytes of key and value it had; `None`: there is none.
pub(crate) fn evict(lock: &ShardLock<'_>) -> Step<Option<u64>> {
    let probationary = lock.head.probationary.load(Ordering::Relaxed);
    let payload = lock.head.payload.load(Ordering::Relaxed);
    // One of the two may be damaged.
    if lock.head.items.load(Ordering::Relaxed) == 0 && payload == 0 {
        return Ok(None);
    }
    let order = match probationary.saturating_mul(PROBATION) > payload {
        true => [Kind::Probationary, Kind::Unread, Kind::Protected],
        false => [Kind::Protected, Kind::Probationary, Kind::Unread],
    };
    for kind in order {
        if let Some(bytes) = scan(lock, kind, MOST_IN_VAIN)? {
            return Ok(Some(bytes));
        }
    }
    // A count that was damaged must not keep the hand going: there are no more segments than pages.
    let segments = lock.head.segments.load(Ordering::Relaxed);
    let segments = segments.min(lock.region.high_water());
    let all = segments.saturating_add(1).saturating_mul(BUCKETS as u32);
    match scan(lock, Kind::Any, all)? {
        None => scan(lock, Kind::All, all),
        some => Ok(some),
    }
}

/// Tells that a key was read, to which that slot word leads, if it still does.
pub(crate) fn mark_accessed(lock: &ShardLock<'_>, hash: Hash, word: u64) {
    let Ok(Some(segment)) = segment_of(lock, hash) else {
        return;
    };
    for number in [hash.home(), hash.away()] {
        let bucket = &segment.buckets[number as usize];
        for slot in matches(bucket, hash.tag()) {
            if bucket.slots[slot].load(Ordering::Relaxed) == word
                && let Some(state) = bucket.accessed(slot)
            {
                bucket.set_state(slot, state);
                return;
            }
        }
    }
}

/// Whether an item is a tag in use.
fn is_used_tag(item: &Item<'_>) -> bool {
    item.is_tag() && unused_for(item.region(), item.hint()) < TAG_LIFE
}

/// Lets a hand scan over `most` buckets, until it has evicted a key.
fn scan(lock: &ShardLock<'_>, kind: Kind, most: u32) -> Step<Option<u64>> {
    let word = match kind {
        Kind::Probationary | Kind::Unread => &lock.head.new_hand,
        Kind::Protected | Kind::Any | Kind::All => &lock.head.old_hand,
    };
    let mut hand = HandWord::decode(word.load(Ordering::Relaxed));
    let mut scanned = 0;
    while scanned < most {
        // A segment that is damaged shows in the operations it concerns: the hand goes on.
        let (segment, depth) = match segment_at(lock, hand.prefix) {
            Ok((segment, (_, depth, _))) => (segment, depth),
            Err(_) => (None, layout_word(lock.head).depth()),
        };
        let evicted = match segment {
            Some(segment) => scan_segment(lock, segment, &mut hand, kind, (&mut scanned, most))?,
            None => {
                scanned += BUCKETS as u32;
                (hand.bucket, hand.slot) = (0, 0);
                None
            }
        };
        if evicted.is_some() {
            word.store(hand.encode(), Ordering::Relaxed);
            return Ok(evicted);
        }
        if hand.bucket == 0 {
            let depth = depth.min(lock.region.geometry().dir_log2);
            hand.prefix = next_prefix(hand.prefix, depth).unwrap_or(0);
        }
    }
    word.store(hand.encode(), Ordering::Relaxed);
    Ok(None)
}

/// Scans on in a segment, to its end, or until so many buckets are scanned, or a key is evicted.
fn scan_segment(
    lock: &ShardLock<'_>,
    segment: &Segment,
    hand: &mut HandWord,
    kind: Kind,
    (scanned, most): (&mut u32, u32),
) -> Step<Option<u64>> {
    while *scanned < most {
        let evicted = examine(lock, segment, hand, kind)?;
        if evicted.is_some() {
            return Ok(evicted);
        }
        *scanned += 1;
        if hand.bucket == 0 {
            break;
        }
    }
    Ok(None)
}

/// Looks at the rest of a bucket, and goes on to the next one unless a key of it was evicted.
fn examine(
    lock: &ShardLock<'_>,
    segment: &Segment,
    hand: &mut HandWord,
    kind: Kind,
) -> Step<Option<u64>> {
    let b = usize::from(hand.bucket);
    if hand.slot == 0 {
        fetch_unread(lock, &segment.buckets[b]);
    }
    for slot in usize::from(hand.slot)..SLOTS {
        if let Some(bytes) = judge(lock, segment, (b, slot), kind)? {
            hand.slot = slot as u8 + 1;
            return Ok(Some(bytes));
        }
    }
    (hand.bucket, hand.slot) = (hand.bucket.wrapping_add(1), 0);
    Ok(None)
}

/// Has the items fetched that will be evicted soon if nobody reads them: their misses overlap.
fn fetch_unread(lock: &ShardLock<'_>, bucket: &Bucket) {
    for slot in 0..SLOTS {
        if bucket.state(slot) == AGAIN {
            let word = bucket.slots[slot].load(Ordering::Relaxed);
            lock.region.prefetch_ref(slot_ref(word));
        }
    }
}

/// Evicts the key of a slot, or changes its state, if it is one of that kind.
fn judge(
    lock: &ShardLock<'_>,
    segment: &Segment,
    (b, slot): (usize, usize),
    kind: Kind,
) -> Step<Option<u64>> {
    let bucket = &segment.buckets[b];
    let word = bucket.slots[slot].load(Ordering::Relaxed);
    let state = bucket.state(slot);
    let is_protected = state & PROTECTED != 0;
    let is_concerned = match kind {
        Kind::Probationary => !is_protected,
        Kind::Protected => is_protected,
        Kind::Unread => !is_protected && state & ACCESSED == 0,
        Kind::Any | Kind::All => true,
    };
    if !is_concerned || !is_key(word) {
        return Ok(None);
    }
    let changed = match (is_protected, state & ACCESSED != 0, state & AGAIN != 0) {
        _ if matches!(kind, Kind::Unread | Kind::Any | Kind::All) => None,
        (false, true, _) => Some(PROTECTED),
        (false, false, false) => Some(AGAIN),
        (true, visited, true) => Some(if visited {
            PROTECTED | ACCESSED
        } else {
            PROTECTED
        }),
        (true, true, false) => Some(PROTECTED),
        (_, false, _) => None,
    };
    // Mostly the item need not be looked at, which would be one more wait for memory.
    let becomes_protected = |state: u32| !is_protected && state & PROTECTED != 0;
    if let Some(state) = changed.filter(|state| !becomes_protected(*state))
        && !may_expire(lock.head)
    {
        bucket.set_state(slot, state);
        return Ok(None);
    }
    // What is damaged shows in the operations it concerns.
    let Some(item) = Item::at(lock.region, slot_ref(word)) else {
        return Ok(None);
    };
    let spared = match kind {
        Kind::Any if item.is_tag() => Some(state),
        Kind::Probationary | Kind::Protected | Kind::Unread if is_used_tag(&item) => {
            changed.or(Some(PROTECTED))
        }
        _ => changed.filter(|_| !item.is_tag() && !is_over(&item).unwrap_or(false)),
    };
    if let Some(state) = spared {
        if becomes_protected(state) {
            lock.head.probationary.sub_owned(item.payload());
        }
        bucket.set_state(slot, state);
        return Ok(None);
    }
    let_go(lock, segment, (b, slot), &item).map(Some)
}

/// Evicts the one of the keys beside which a key has no place that is the least worth, maybe only
/// if that is a probationary key nobody read; false: there is none.
pub(super) fn evict_beside(
    lock: &ShardLock<'_>,
    segment: &Segment,
    hash: Hash,
    only_unread: bool,
) -> Step<bool> {
    let places = [hash.home(), hash.away()].map(|b| (0..SLOTS).map(move |slot| (b as usize, slot)));
    let is_used = |item_ref| Item::at(lock.region, item_ref).is_some_and(|item| is_used_tag(&item));
    let least = places
        .into_iter()
        .flatten()
        .filter_map(|(b, slot)| {
            let bucket = &segment.buckets[b];
            let word = bucket.slots[slot].load(Ordering::Relaxed);
            is_key(word).then(|| (bucket.state(slot), (b, slot), slot_ref(word)))
        })
        .filter(|(state, ..)| !only_unread || state & (PROTECTED | ACCESSED) == 0)
        .filter(|(.., item_ref)| !only_unread || !is_used(*item_ref))
        // Tags in use last; probationary before protected keys, in each kind those that were not
        // read.
        .min_by_key(|(state, _, item_ref)| {
            let is_used = is_used(*item_ref);
            (is_used, state & PROTECTED, state & ACCESSED, state & AGAIN)
        });
    let Some((_, place, item_ref)) = least else {
        return Ok(false);
    };
    match Item::at(lock.region, item_ref) {
        Some(item) => let_go(lock, segment, place, &item).map(|_| true),
        None => Ok(false),
    }
}

/// Evicts the key of a slot, which leads to that item; says how many bytes of key and value it had.
fn let_go(
    lock: &ShardLock<'_>,
    segment: &Segment,
    (b, slot): (usize, usize),
    item: &Item<'_>,
) -> Step<u64> {
    let bucket = &segment.buckets[b];
    let word = bucket.slots[slot].load(Ordering::Relaxed);
    let is_protected = bucket.state(slot) & PROTECTED != 0;
    let payload = item.payload();
    let other = other_bucket(b as u32, slot_tag(word));
    let home = match bucket.is_away(slot) {
        true => &segment.buckets[other as usize],
        false => bucket,
    };
    let found = Found {
        bucket,
        slot,
        home,
        item_ref: slot_ref(word),
        payload,
        flags: item.flags(),
    };
    if is_over(item).unwrap_or(false) {
        expire(lock, &found)?;
        return Ok(payload);
    }
    if lock.region.evictions().listens() {
        note(lock, item);
    }
    drop_key(lock, &found, Why::Evict)?;
    count_to_epoch(lock);
    match is_protected {
        true => lock.head.evicted_old.add_owned(1),
        false => {
            leave_ghost(lock, bucket, slot, slot_tag(word));
            lock.head.evicted_new.add_owned(1);
        }
    }
    Ok(payload)
}

/// Counts a key that is evicted towards the next epoch of tags. (Of keys alone, so that tags do not
/// stay longer the more of them there are.)
fn count_to_epoch(lock: &ShardLock<'_>) {
    let head = lock.head;
    let counts = [&head.evicted_new, &head.evicted_old].map(|count| count.load(Ordering::Relaxed));
    let tags = u64::from(head.tags.load(Ordering::Relaxed));
    let keys = head.items.load(Ordering::Relaxed).saturating_sub(tags);
    let length = 1 << (keys.max(64).ilog2() - 3);
    if counts[0].wrapping_add(counts[1]) % length == 0 {
        head.tag_epoch.add_owned(1);
    }
}

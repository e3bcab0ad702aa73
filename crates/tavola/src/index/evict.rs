//! Eviction: which key of a shard is removed when a cache needs room. It is S3-FIFO without queues,
//! with a CLOCK hand for each of its two queues.
//!
//! New keys are on probation and may use a tenth of the bytes; a key that is read meanwhile becomes
//! protected. A shard has two hands that scan its buckets, each for keys of its kind (the states
//! are in layout/bucket.rs). A probationary key that is evicted leaves its tag behind as a ghost. A
//! tag of keys (see table/tags.rs) is evicted only if none of its keys was set or read for some
//! time, counted in evictions: all its keys would go with it.
//!
//! | step | a reader finds | a survivor finds, if we die after it |
//! |---|---|---|
//! | a state is changed | the key | the key; hands and states are advice, any value is safe |
//! | the slot is cleared, the version rises | no key | as after a removal |
//! | the block is freed | no key | the same |
//! | the ghost is stored | no key: a ghost leads nowhere | the same |

use super::clear::may_expire;
use super::commit::{Why, drop_key, expire};
use super::dir::{layout_word, next_prefix};
use super::ghosts::leave_ghost;
use super::group::matches;
use super::hash::{Hash, other_bucket};
use super::slots::{FoundKey, segment_at, segment_of};
use super::tags::is_over;
use crate::alloc::{Item, Step, unused_for};
use crate::layout::{
    ACCESSED, AGAIN, BUCKETS, Bucket, HandWord, PROTECTED, SLOTS, Segment, is_key, slot_ref,
    slot_tag,
};
use crate::lock::ShardLock;
use crate::sync::Ordering;

/// Probationary keys may use one part in this many of the bytes.
const PROBATION: u64 = 10;
/// Buckets that a hand scans without success before the other hand is tried, and then other kinds.
const MOST_IN_VAIN: u32 = 320;
/// Epochs for which a tag stays without being used. In that time a fourth to a half as many keys
/// are evicted as there are keys.
const TAG_LIFE: u64 = 4;

/// Which keys a scan may evict.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Evictable {
    Probationary,
    Protected,
    /// Probationary keys that were not read, those too that no hand has passed yet.
    Unread,
    /// Any key except tags, for the case that all keys are read all the time.
    Any,
    /// Tags, too, if there is nothing else.
    All,
}

/// Evicts one key, and returns how many bytes its key and value had. Returns `None` if there is no
/// key to evict.
pub(crate) fn evict(lock: &ShardLock<'_>) -> Step<Option<u64>> {
    let probationary = lock.head.probationary.load(Ordering::Relaxed);
    let payload = lock.head.payload.load(Ordering::Relaxed);
    // One of the two may be damaged.
    if lock.head.items.load(Ordering::Relaxed) == 0 && payload == 0 {
        return Ok(None);
    }
    let order = match probationary.saturating_mul(PROBATION) > payload {
        true => [
            Evictable::Probationary,
            Evictable::Unread,
            Evictable::Protected,
        ],
        false => [
            Evictable::Protected,
            Evictable::Probationary,
            Evictable::Unread,
        ],
    };
    for kind in order {
        if let Some(bytes) = scan(lock, kind, MOST_IN_VAIN)? {
            return Ok(Some(bytes));
        }
    }
    // A damaged count must not keep the hand moving: there are no more segments than pages.
    let segments = lock.head.segments.load(Ordering::Relaxed);
    let segments = segments.min(lock.region.high_water());
    let all = segments.saturating_add(1).saturating_mul(BUCKETS as u32);
    match scan(lock, Evictable::Any, all)? {
        None => scan(lock, Evictable::All, all),
        some => Ok(some),
    }
}

/// Notes that a key was read, if the slot word still leads to it.
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

/// Gives a key that was just stored the state that it had in another cache, unless that is worth
/// less than the one it has. Any state is safe.
pub(crate) fn restore_state(lock: &ShardLock<'_>, found: &FoundKey<'_>, state: u32) {
    let had = found.bucket.state(found.slot);
    if state & PROTECTED < had & PROTECTED {
        return;
    }
    if state & PROTECTED > had & PROTECTED {
        lock.head.probationary.sub_owned(found.payload);
    }
    found.bucket.set_state(found.slot, state);
}

/// Returns whether an item is a tag in use.
fn is_used_tag(item: &Item<'_>) -> bool {
    item.is_tag() && unused_for(item.region(), item.hint()) < TAG_LIFE
}

/// Moves a hand over at most `most` buckets, until it has evicted a key.
fn scan(lock: &ShardLock<'_>, kind: Evictable, most: u32) -> Step<Option<u64>> {
    let word = match kind {
        Evictable::Probationary | Evictable::Unread => &lock.head.new_hand,
        Evictable::Protected | Evictable::Any | Evictable::All => &lock.head.old_hand,
    };
    let mut hand = HandWord::decode(word.load(Ordering::Relaxed));
    let mut scanned = 0;
    while scanned < most {
        // Operations on a damaged segment report it: the hand moves past.
        let (segment, depth) = match segment_at(lock, hand.prefix) {
            Ok((segment, (_, depth, _))) => (segment, depth),
            Err(_) => (None, layout_word(lock.head).depth()),
        };
        let evicted = match segment {
            Some(segment) => scan_segment(lock, segment, &mut hand, kind, &mut scanned, most)?,
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

/// Continues a scan in a segment, to its end, or until `most` buckets are scanned or a key is
/// evicted.
fn scan_segment(
    lock: &ShardLock<'_>,
    segment: &Segment,
    hand: &mut HandWord,
    kind: Evictable,
    scanned: &mut u32,
    most: u32,
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

/// Judges the rest of a bucket, and moves the hand to the next one unless a key was evicted.
fn examine(
    lock: &ShardLock<'_>,
    segment: &Segment,
    hand: &mut HandWord,
    kind: Evictable,
) -> Step<Option<u64>> {
    let b = usize::from(hand.bucket);
    if hand.slot == 0 {
        fetch_unread(lock, &segment.buckets[b]);
    }
    for slot in usize::from(hand.slot)..SLOTS {
        if let Some(bytes) = judge(lock, segment, b, slot, kind)? {
            hand.slot = slot as u8 + 1;
            return Ok(Some(bytes));
        }
    }
    (hand.bucket, hand.slot) = (hand.bucket.wrapping_add(1), 0);
    Ok(None)
}

/// Fetches the items that will soon be evicted if they are not read, so that their cache misses
/// overlap.
fn fetch_unread(lock: &ShardLock<'_>, bucket: &Bucket) {
    for slot in 0..SLOTS {
        if bucket.state(slot) == AGAIN {
            let word = bucket.slots[slot].load(Ordering::Relaxed);
            lock.region.prefetch_ref(slot_ref(word));
        }
    }
}

/// Evicts the key of a slot, or changes its state, if it is of that kind.
fn judge(
    lock: &ShardLock<'_>,
    segment: &Segment,
    b: usize,
    slot: usize,
    kind: Evictable,
) -> Step<Option<u64>> {
    let bucket = &segment.buckets[b];
    let word = bucket.slots[slot].load(Ordering::Relaxed);
    let state = bucket.state(slot);
    let is_protected = state & PROTECTED != 0;
    let is_concerned = match kind {
        Evictable::Probationary => !is_protected,
        Evictable::Protected => is_protected,
        Evictable::Unread => !is_protected && state & ACCESSED == 0,
        Evictable::Any | Evictable::All => true,
    };
    if !is_concerned || !is_key(word) {
        return Ok(None);
    }
    let changed = match (is_protected, state & ACCESSED != 0, state & AGAIN != 0) {
        _ if matches!(kind, Evictable::Unread | Evictable::Any | Evictable::All) => None,
        (false, true, _) => Some(PROTECTED),
        (false, false, false) => Some(AGAIN),
        (true, accessed, true) => Some(if accessed {
            PROTECTED | ACCESSED
        } else {
            PROTECTED
        }),
        (true, true, false) => Some(PROTECTED),
        (_, false, _) => None,
    };
    // Usually the item need not be read, which would be one more cache miss.
    let becomes_protected = |state: u32| !is_protected && state & PROTECTED != 0;
    if let Some(state) = changed.filter(|state| !becomes_protected(*state))
        && !may_expire(lock.head)
    {
        bucket.set_state(slot, state);
        return Ok(None);
    }
    // Operations on a damaged item report it.
    let Some(item) = Item::at(lock.region, slot_ref(word)) else {
        return Ok(None);
    };
    let spared = match kind {
        Evictable::Any if item.is_tag() => Some(state),
        Evictable::Probationary | Evictable::Protected | Evictable::Unread
            if is_used_tag(&item) =>
        {
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
    evict_slot(lock, segment, b, slot, &item).map(Some)
}

/// Evicts one key of a new key's two buckets, both of which are full: the one of least worth. With
/// `only_unread` it evicts only a probationary key that was not read. Returns false if there is
/// none.
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
        // Order: tags in use last, protected keys after probationary ones, and in each kind those
        // that were read after those that were not.
        .min_by_key(|(state, _, item_ref)| {
            let is_used = is_used(*item_ref);
            (is_used, state & PROTECTED, state & ACCESSED, state & AGAIN)
        });
    let Some((_, (b, slot), item_ref)) = least else {
        return Ok(false);
    };
    match Item::at(lock.region, item_ref) {
        Some(item) => evict_slot(lock, segment, b, slot, &item).map(|_| true),
        None => Ok(false),
    }
}

/// Evicts the key of a slot, which leads to that item. Returns how many bytes its key and value
/// had.
fn evict_slot(
    lock: &ShardLock<'_>,
    segment: &Segment,
    b: usize,
    slot: usize,
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
    let found = FoundKey {
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

/// Counts an evicted key towards the next epoch of tags. (An epoch's length depends on the keys
/// alone, so that tags do not stay longer if there are more of them.)
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

//! The one place where a key changes.
//!
//! A change of a key is one store of a word, under the lock of the key's shard. [`make`] is that
//! store, and [`made`] tells all who follow changes: the counts of the shard, and watchers. Nobody
//! else stores such a word, except who moves a key or an item, which changes no key.
//!
//! | change | word | leads to, or is |
//! |---|---|---|
//! | a new key | a free slot of the index | its item |
//! | another value | the key's slot | the new item |
//! | another value of 8 bytes, a count | the value in the item | the value |
//! | expiry, marks | their field of the item | the new content |
//! | the same, of an item without the field | the key's slot | a copy of the item that has it |
//! | removed, expired, evicted, cleared | the key's slot | 0 |
//!
//! What precedes the store is not seen by anybody, and what follows it is made up for by recovery:
//! `table/write.rs` has the steps one by one.

use super::find::{Found, Spot};
use super::hash::Hash;
use super::place::Seat;
use super::watched::{is_watched, key_of, tell, tell_of_tag};
use crate::alloc::{Step, announce, discard, discard_block, free_uid, settle_uid};
use crate::layout::{FLAG_TAG, Hint, Segment, slot_word};
use crate::lock::ShardLock;
use crate::sync::{Ordering, W64};

/// Why a key changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Why {
    /// It is set.
    Set,
    /// Its value, a word, is set or counted in place.
    Word,
    /// Its expiry or its marks change.
    Field,
    /// It gets a uid, which nobody has asked for yet.
    Uid,
    /// It is removed.
    Remove,
    /// It has expired, or one of its tags was invalidated.
    Expire,
    /// A cache needs its room.
    Evict,
    /// The table is cleared.
    Clear,
    /// It is no key but a tag.
    Tag,
}

/// An item that was written and is to be published.
#[derive(Clone, Copy)]
pub(crate) struct New {
    pub(crate) item_ref: u64,
    /// Bytes of key and value.
    pub(crate) payload: usize,
    pub(crate) hint: Hint,
}

/// Changes a key, by one store. Pairs with the acquire loads of the word: its reader sees the bytes
/// of the item that it leads to.
#[inline(always)]
fn make(_: &ShardLock<'_>, place: &W64, word: u64) {
    place.store(word, Ordering::Release);
}

/// Tells that a key has changed; which one, if that is known.
#[inline(always)]
fn made(lock: &ShardLock<'_>, hash: Option<Hash>, why: Why) {
    match why {
        // For readers that use other means than loads (`index::peek`). It releases as the word
        // does: who sees it sees all that came before, the bumps among it.
        Why::Word => {
            let counted = &lock.head.in_place;
            let count = counted.load(Ordering::Relaxed).wrapping_add(1);
            counted.store(count, Ordering::Release);
        }
        Why::Uid => return,
        Why::Tag => {}
        _ => lock.head.changes.add_owned(1),
    }
    if is_watched(lock) {
        tell(lock, hash);
    }
}

/// Lets a key, or tag, lead to a written item, and its uid. Returns the item it led to, which is
/// the caller's to free.
#[inline(always)]
pub(crate) fn publish(
    lock: &ShardLock<'_>,
    hash: Hash,
    spot: Spot<'_>,
    new: New,
    why: Why,
) -> Step<Option<u64>> {
    let old = match spot {
        Spot::Taken(found) => {
            replace(lock, &found, hash, new.item_ref, new.hint);
            if lock.region.is_cache() {
                renewed(lock, &found, new.payload as u64);
            }
            let counted = &lock.head.payload;
            let sum = counted.load(Ordering::Relaxed);
            let sum = sum
                .wrapping_add(new.payload as u64)
                .wrapping_sub(found.payload);
            counted.store(sum, Ordering::Relaxed);
            Some(found.item_ref)
        }
        Spot::Free(segment) => {
            insert(lock, hash, segment, new)?;
            None
        }
    };
    made(lock, Some(hash), why);
    Ok(old)
}

/// As [`publish`], of an item that is not large; frees the old one.
#[inline(always)]
pub(crate) fn publish_small(
    lock: &ShardLock<'_>,
    hash: Hash,
    spot: Spot<'_>,
    new: New,
) -> Step<()> {
    let old = publish(lock, hash, spot, new, Why::Set)?;
    old.map_or(Ok(()), |old| discard(lock, old))
}

/// Changes the value of a key in place, where it is one word.
#[inline(always)]
pub(crate) fn change_word(lock: &ShardLock<'_>, hash: Option<Hash>, place: &W64, word: u64) {
    make(lock, place, word);
    made(lock, hash, Why::Word);
}

/// Changes a field of a key's item in place.
#[inline(always)]
pub(crate) fn change_field(lock: &ShardLock<'_>, hash: Hash, place: &W64, content: u64) {
    make(lock, place, content);
    made(lock, Some(hash), Why::Field);
}

/// Lets a key lead to a copy of its item that has one field more, or another one, and frees the
/// block of the item. The pages of a large item are the copy's now.
pub(crate) fn publish_copy(
    lock: &ShardLock<'_>,
    hash: Hash,
    found: &Found<'_>,
    (copy, hint): (u64, Hint),
    why: Why,
) -> Step<()> {
    replace(lock, found, hash, copy, hint);
    discard_block(lock, found.item_ref)?;
    made(lock, Some(hash), why);
    Ok(())
}

/// Takes a key out, and its uid, and frees its item.
#[inline(always)]
pub(crate) fn drop_key(lock: &ShardLock<'_>, found: &Found<'_>, why: Why) -> Step<()> {
    // Its bytes are its own until it is freed, but the key is known by its slot only until then.
    let key = is_watched(lock).then(|| key_of(lock, found.item_ref));
    if lock.region.is_cache() && found.is_newcomer() {
        lock.head.newcomers.sub_owned(found.payload);
    }
    remove(lock, found)?;
    let is_tag = found.flags & FLAG_TAG != 0;
    if is_tag {
        lock.head.tags.sub_owned(1);
    }
    made(lock, key.flatten(), if is_tag { Why::Tag } else { why });
    if is_tag {
        tell_of_tag(lock.region);
    }
    lock.head.items.sub_owned(1);
    lock.head.payload.sub_owned(found.payload);
    discard(lock, found.item_ref)
}

/// Lets a key lead to another item, by one store; and its uid, which is that of the new item. The
/// old item may be freed after this.
#[inline(always)]
fn replace(lock: &ShardLock<'_>, found: &Found<'_>, hash: Hash, item_ref: u64, hint: Hint) {
    announce(lock, hint, item_ref);
    let place = &found.bucket.slots[found.slot];
    make(lock, place, slot_word(hash.tag(), item_ref));
    found.bucket.bump();
    settle_uid(lock, hint, item_ref);
}

/// Takes a key out, and its uid. Its item may be freed after this.
#[inline(always)]
fn remove(lock: &ShardLock<'_>, found: &Found<'_>) -> Step<()> {
    let hint = found.hint(lock)?;
    announce(lock, hint, found.item_ref);
    make(lock, &found.bucket.slots[found.slot], 0);
    found.bucket.bump();
    free_uid(lock, hint);
    if found.bucket.is_away(found.slot) {
        found.bucket.set_slot_meta(found.slot, 0, false);
        found.home.hint_down();
    }
    Ok(())
}

/// Puts a key that is not there yet into the index, by one store, and its uid. The segment is that
/// of its [`Spot`], found under this hold of the lock. An item that finds no place is freed, but
/// for its chain, which is its builder's still.
#[inline(always)]
fn insert(lock: &ShardLock<'_>, hash: Hash, segment: Option<&Segment>, new: New) -> Step<()> {
    announce(lock, new.hint, new.item_ref);
    let seat = match Seat::of(lock, hash, segment) {
        Ok(seat) => seat,
        Err(stop) => {
            free_uid(lock, new.hint);
            discard_block(lock, new.item_ref)?;
            return Err(stop);
        }
    };
    make(lock, seat.slot, slot_word(hash.tag(), new.item_ref));
    settle_uid(lock, new.hint, new.item_ref);
    if lock.region.is_cache() {
        seat.settle(lock, hash, new.payload as u64);
    }
    lock.head.items.add_owned(1);
    lock.head.payload.add_owned(new.payload as u64);
    Ok(())
}

/// A cache's key has got another value, of so many bytes with its key.
#[cold]
fn renewed(lock: &ShardLock<'_>, found: &Found<'_>, payload: u64) {
    if found.is_newcomer() {
        let counted = &lock.head.newcomers;
        let sum = counted.load(Ordering::Relaxed);
        let sum = sum.wrapping_add(payload).wrapping_sub(found.payload);
        counted.store(sum, Ordering::Relaxed);
    }
    found.visit(lock);
}

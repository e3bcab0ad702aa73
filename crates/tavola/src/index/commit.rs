//! The one place where a key changes. A change is one store of a word, under the lock of the key's
//! shard.
//!
//! [`make`] is that store, and [`made`] reports it to all that follow changes: the counts of the
//! shard, and watchers. [`drop_key`] notes a key that is evicted, for a server that reports it. No
//! other code stores such a word, except the code that moves a key or an item, which changes no
//! key, and the code of transactions (`pending`), where the store of one other word changes several
//! keys: `cargo xtask tidy` checks that. In a durable table, the same call records the change in
//! the journal (`record`).
//!
//! Only leases are ended by the operations themselves (`engine/claims.rs`), for three reasons.
//! Removing a missing key ends its lease, too, but stores no word. A lease is found by all bits of
//! its key's hash, which no change needs otherwise: here, each change would have to compute it. And
//! a new value ends the lease *before* the store, where the operation knows whether the expiry
//! stays the same: if this process dies in between, a value is computed in vain, but no older value
//! is stored over the new one.
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
//! No process sees what precedes the store, and recovery makes up for what follows it:
//! `engine/write.rs` lists the steps.

use super::evicted::note;
use super::ghosts::lay_ghost;
use super::hash::Hash;
use super::record::{Recorded, make_recorded};
use super::slots::{FoundKey, NewSlot};
use super::watched::{is_watched, key_of, wake_tag, wake_watchers};
use crate::alloc::{Item, Step, announce, discard, discard_block, free_uid, resolve_uid};
use crate::layout::{FLAG_TAG, Hint, PROTECTED, slot_word};
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
    /// It gets a uid, which no caller has seen yet.
    Uid,
    /// It is removed.
    Remove,
    /// It has expired, or one of its tags was invalidated.
    Expire,
    /// A cache needs the room.
    Evict,
    /// The table is cleared.
    Clear,
    /// It is not a key but a tag.
    Tag,
}

/// An item that was written and is to be published.
#[derive(Clone, Copy)]
pub(crate) struct New {
    pub(crate) item_ref: u64,
    /// Bytes of key and value.
    pub(crate) payload: usize,
    pub(crate) hint: Hint,
    /// Of a large item in a durable table: the position of the first piece of its value in the
    /// journal; else 0.
    pub(crate) pieces: u64,
}

impl New {
    /// Returns an item that is not large.
    #[inline(always)]
    pub(crate) fn small(item_ref: u64, payload: usize, hint: Hint) -> Self {
        Self {
            item_ref,
            payload,
            hint,
            pieces: 0,
        }
    }
}

/// Changes a key, by one store. Pairs with the acquire loads of the word: a reader sees the bytes
/// of the item that the word leads to.
#[inline(always)]
fn make(lock: &ShardLock<'_>, place: &W64, word: u64, recorded: Recorded) -> Step<()> {
    if lock.region.is_journaled() {
        return make_recorded(lock, place, word, recorded);
    }
    place.store(word, Ordering::Release);
    Ok(())
}

/// Stores a word of the index that changes no key.
#[inline(always)]
pub(super) fn lead(_: &ShardLock<'_>, place: &W64, word: u64) {
    place.store(word, Ordering::Release);
}

/// Returns what is recorded if a key gets a new item.
fn recorded(new: &New, why: Why) -> Recorded {
    match why {
        Why::Set => Recorded::Set {
            item_ref: new.item_ref,
            pieces: new.pieces,
        },
        Why::Field => Recorded::Attributes {
            item_ref: new.item_ref,
            shown: None,
        },
        _ => Recorded::Nothing,
    }
}

/// Reports that a key has changed, and which one, if that is known.
#[inline(always)]
pub(super) fn made(lock: &ShardLock<'_>, hash: Option<Hash>, why: Why) {
    match why {
        // For readers that use other means than loads (`index::read_unmapped`). It is a release as
        // the word's store is: a reader that sees it sees all that came before, new versions
        // included.
        Why::Word => {
            let counted = &lock.head.in_place;
            let count = counted.load(Ordering::Relaxed).wrapping_add(1);
            counted.store(count, Ordering::Release);
        }
        Why::Set | Why::Field | Why::Remove => lock.head.changes.add_owned(1),
        Why::Uid => return,
        // These have counts of their own, or none.
        Why::Expire | Why::Evict | Why::Clear | Why::Tag => {}
    }
    if is_watched(lock) {
        wake_watchers(lock, hash);
    }
}

/// Lets an existing key, and its uid, lead to a written item. Calls `before_free`, then frees the
/// item that the key led to.
#[inline(always)]
pub(super) fn replace(
    lock: &ShardLock<'_>,
    hash: Hash,
    found: &FoundKey<'_>,
    new: New,
    why: Why,
    before_free: impl FnOnce(),
) -> Step<()> {
    announce(lock, new.hint, new.item_ref);
    let slot = &found.bucket.slots[found.slot];
    let word = slot_word(hash.tag(), new.item_ref);
    make(lock, slot, word, recorded(&new, why))
        .inspect_err(|_| give_up(lock, &new, Some(found.item_ref), why))?;
    found.bucket.increment_version();
    resolve_uid(lock, new.hint, new.item_ref);
    count_replaced(lock, found, new.payload as u64);
    made(lock, Some(hash), why);
    before_free();
    match why {
        // Only the block: the copy has the pages of a large item.
        Why::Field | Why::Uid => discard_block(lock, found.item_ref),
        _ => discard(lock, found.item_ref),
    }
}

/// Stores a new key in its slot, and its uid.
#[inline(always)]
pub(super) fn insert(
    lock: &ShardLock<'_>,
    hash: Hash,
    new_slot: &NewSlot<'_>,
    new: New,
    why: Why,
) -> Step<()> {
    announce(lock, new.hint, new.item_ref);
    let word = slot_word(hash.tag(), new.item_ref);
    make(lock, new_slot.slot, word, recorded(&new, why))
        .inspect_err(|_| give_up(lock, &new, None, why))?;
    resolve_uid(lock, new.hint, new.item_ref);
    count_new(lock, hash, new_slot, new.payload as u64);
    made(lock, Some(hash), why);
    Ok(())
}

/// Frees a written item that could not be published, except for its chain. The key keeps the item
/// `old`, if it has one.
#[cold]
#[inline(never)]
fn give_up(lock: &ShardLock<'_>, new: &New, old: Option<u64>, why: Why) {
    match old {
        // A key that just gets a uid had none before.
        Some(old) if why != Why::Uid => resolve_uid(lock, new.hint, old),
        _ => free_uid(lock, new.hint),
    }
    // Damage is found again by the next who takes a block.
    let _ = discard_block(lock, new.item_ref);
}

/// Does the same as [`change_word`], in a table without a journal.
#[inline(always)]
pub(crate) fn change_word_unrecorded(
    lock: &ShardLock<'_>,
    hash: Option<Hash>,
    place: &W64,
    word: u64,
) {
    lead(lock, place, word);
    made(lock, hash, Why::Word);
}

/// Changes the value of a key in place, if it is one word (ALLOC-4).
#[inline(always)]
pub(crate) fn change_word(
    lock: &ShardLock<'_>,
    hash: Option<Hash>,
    item_ref: u64,
    place: &W64,
    word: u64,
) -> Step<()> {
    make(lock, place, word, Recorded::Word { item_ref, word })?;
    made(lock, hash, Why::Word);
    Ok(())
}

/// Changes a field of a key's item in place.
#[inline(always)]
pub(crate) fn change_field(
    lock: &ShardLock<'_>,
    hash: Hash,
    item: &Item<'_>,
    place: &W64,
    field: Field,
) -> Step<()> {
    let mut shown = item.shown();
    let content = match field {
        Field::Expiry(expiry_ms) => {
            shown.expiry_ms = expiry_ms;
            expiry_ms
        }
        Field::Client(word) => {
            (shown.client, shown.marks) = (word as u32, (word >> 40) as u32);
            word
        }
    };
    let recorded = Recorded::Attributes {
        item_ref: item.item_ref,
        shown: Some(shown),
    };
    make(lock, place, content, recorded)?;
    made(lock, Some(hash), Why::Field);
    Ok(())
}

/// A field of an item that changes in place, and its new content.
#[derive(Clone, Copy)]
pub(crate) enum Field {
    Expiry(u64),
    /// Flags, the number of tags, and marks.
    Client(u64),
}

/// Counts a tag that was published.
pub(crate) fn count_tag(lock: &ShardLock<'_>) {
    lock.head.tags.add_owned(1);
}

/// Lets a key lead to a copy of its item with one more field, or with other content of a field.
pub(crate) fn publish_copy(
    lock: &ShardLock<'_>,
    hash: Hash,
    found: &FoundKey<'_>,
    item_ref: u64,
    hint: Hint,
    why: Why,
) -> Step<()> {
    let copy = New::small(item_ref, found.payload as usize, hint);
    replace(lock, hash, found, copy, why, || ())
}

/// Removes a key and its uid, and frees its item.
#[inline(always)]
pub(crate) fn drop_key(lock: &ShardLock<'_>, found: &FoundKey<'_>, why: Why) -> Step<()> {
    if why == Why::Evict && lock.region.evictions().listens() {
        note(lock, found.item_ref);
    }
    // Read here: `remove` clears the slot, and afterwards the item is freed.
    let key = is_watched(lock).then(|| key_of(lock, found.item_ref));
    if lock.region.is_cache() && found.is_probationary() {
        lock.head.probationary.sub_owned(found.payload);
    }
    remove(lock, found, why)?;
    let is_tag = found.flags & FLAG_TAG != 0;
    if is_tag {
        lock.head.tags.sub_owned(1);
    }
    made(lock, key.flatten(), if is_tag { Why::Tag } else { why });
    if is_tag {
        wake_tag(lock.region);
    }
    lock.head.items.sub_owned(1);
    lock.head.payload.sub_owned(found.payload);
    discard(lock, found.item_ref)
}

/// Removes a key that is over: expired, or without one of its tags.
#[cold]
#[inline(never)]
pub(super) fn expire(lock: &ShardLock<'_>, found: &FoundKey<'_>) -> Step<()> {
    drop_key(lock, found, Why::Expire)?;
    lock.head.expired.add_owned(1);
    Ok(())
}

/// Removes a key and its uid. Its item may be freed after this.
#[inline(always)]
fn remove(lock: &ShardLock<'_>, found: &FoundKey<'_>, why: Why) -> Step<()> {
    let hint = found.hint(lock)?;
    announce(lock, hint, found.item_ref);
    let item_ref = found.item_ref;
    let recorded = match why {
        Why::Expire | Why::Evict => Recorded::Nothing,
        _ => Recorded::Remove { item_ref },
    };
    make(lock, &found.bucket.slots[found.slot], 0, recorded)
        .inspect_err(|_| resolve_uid(lock, hint, item_ref))?;
    found.bucket.increment_version();
    free_uid(lock, hint);
    if found.bucket.is_away(found.slot) {
        found.bucket.set_slot_meta(found.slot, 0, false);
        found.home.hint_down();
    }
    Ok(())
}

#[inline(always)]
fn count_new(lock: &ShardLock<'_>, hash: Hash, new_slot: &NewSlot<'_>, payload: u64) {
    if lock.region.is_cache() {
        count_probationary(lock, hash, new_slot, payload);
    }
    lock.head.items.add_owned(1);
    lock.head.payload.add_owned(payload);
}

/// Counts the change of a transaction: what the key has now, and had before.
pub(super) fn count_finished(lock: &ShardLock<'_>, new: Option<&New>, old: Option<&New>) {
    match (new, old) {
        (Some(_), None) => lock.head.items.add_owned(1),
        (None, Some(_)) => lock.head.items.sub_owned(1),
        _ => {}
    }
    let bytes_of = |item: Option<&New>| item.map_or(0, |item| item.payload as u64);
    lock.head.payload.add_owned(bytes_of(new));
    lock.head.payload.sub_owned(bytes_of(old));
}

#[inline(always)]
fn count_replaced(lock: &ShardLock<'_>, found: &FoundKey<'_>, payload: u64) {
    let count = |counted: &W64| {
        let sum = counted.load(Ordering::Relaxed);
        let sum = sum.wrapping_add(payload).wrapping_sub(found.payload);
        counted.store(sum, Ordering::Relaxed);
    };
    count(&lock.head.payload);
    if lock.region.is_cache() {
        if found.is_probationary() {
            count(&lock.head.probationary);
        }
        found.mark_accessed(lock);
    }
}

/// Counts a new key of a cache: its ghost is removed if it had one; otherwise the key is
/// probationary.
#[cold]
fn count_probationary(lock: &ShardLock<'_>, hash: Hash, new_slot: &NewSlot<'_>, payload: u64) {
    if new_slot.had_ghost {
        lay_ghost(lock, hash);
    }
    if new_slot.state & PROTECTED == 0 {
        lock.head.probationary.add_owned(payload);
    }
}

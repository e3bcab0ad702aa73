//! Keys that a transaction changes.
//!
//! The slots of all keys are led to pending changes first ([`pend`]). Then one store of the commit
//! word changes all keys at once (`engine::transact`). At last each slot is led to what its key has
//! now ([`finish`]), or, if the transaction does not commit, to what it had ([`undo`]). The locks
//! of all shards concerned are held meanwhile.
//!
//! | the slot leads to | commit word | a reader finds | a survivor finds, if we die here |
//! |---|---|---|---|
//! | the old item | open | the old item | the old item; blocks that no slot leads to: freed |
//! | the change | open | the old item | the change: it stores the old item |
//! | the change | **committed** | the new item | the change: it stores the new item |
//! | the new item | committed | the new item | the new item |
//! | the new item | free | the new item | the new item |
//!
//! **IDX-6** A slot leads to a change only while its transaction has the lock of the shard, or had
//! it when it died and nobody has recovered the shard. So a writer never meets a change of another
//! transaction, and the old item is not freed before the bucket version has risen.

use super::commit::{New, Why, count_finished, lead, made};
use super::hash::Hash;
use super::place::slot_for;
use super::slots::{FoundKey, Spot, segment_of};
use crate::alloc::{
    PendingChange, Step, announce, corrupt, discard, discard_block, free_uid, resolve_uid,
};
use crate::layout::{Bucket, Hint, SLOTS, pending_word, slot_word};
use crate::lock::ShardLock;
use crate::sync::Ordering;

/// A key whose slot leads to a change.
pub(crate) struct Pending {
    hash: Hash,
    change_ref: u64,
    /// The item that the key had, if any.
    pub(crate) old: Option<New>,
    /// The item that it gets, or `None` if it is removed.
    pub(crate) new: Option<New>,
}

/// Leads the slot of a key to a change: from one item to another, to none, or from none to one. If
/// that fails, the new item is freed, except for its chain.
pub(crate) fn pend(
    lock: &ShardLock<'_>,
    hash: Hash,
    spot: Spot<'_>,
    new: Option<New>,
    commit: u32,
) -> Step<Pending> {
    let old = match &spot {
        Spot::Taken(found) => Some(item_of(lock, found)?),
        Spot::Free(_) => None,
    };
    let mut pending = Pending {
        hash,
        change_ref: 0,
        old,
        new,
    };
    pending
        .place(lock, spot, commit)
        .inspect_err(|_| pending.free_new(lock))?;
    Ok(pending)
}

fn item_of(lock: &ShardLock<'_>, found: &FoundKey<'_>) -> Step<New> {
    let hint = found.hint(lock)?;
    Ok(New::small(found.item_ref, found.payload as usize, hint))
}

/// Leads the slot to the new item, which the key has since the commit, and frees the old one. Calls
/// `before_free` in between.
pub(crate) fn finish(
    lock: &ShardLock<'_>,
    pending: &Pending,
    before_free: impl FnOnce(),
) -> Step<()> {
    let slot = pending.slot(lock)?;
    match &pending.new {
        Some(new) => {
            slot.lead_to(lock, pending.hash, new.item_ref);
            resolve_uid(lock, new.hint, new.item_ref);
            count_finished(lock, pending.new.as_ref(), pending.old.as_ref());
            made(lock, Some(pending.hash), Why::Set);
        }
        None => {
            slot.empty(lock);
            free_uid(lock, pending.old.map_or(Hint::NONE, |old| old.hint));
            count_finished(lock, None, pending.old.as_ref());
            made(lock, Some(pending.hash), Why::Remove);
        }
    }
    before_free();
    if let Some(old) = &pending.old {
        discard(lock, old.item_ref)?;
    }
    discard_block(lock, pending.change_ref)
}

/// Leads the slot to what the key had, and frees the new item, except for its chain.
pub(crate) fn undo(lock: &ShardLock<'_>, pending: &Pending) -> Step<()> {
    let slot = pending.slot(lock)?;
    match &pending.old {
        Some(old) => {
            slot.lead_to(lock, pending.hash, old.item_ref);
            resolve_uid(lock, old.hint, old.item_ref);
        }
        None => slot.empty(lock),
    }
    pending.free_new(lock);
    discard_block(lock, pending.change_ref)
}

/// The slot that leads to a change.
struct SlotOfChange<'a> {
    bucket: &'a Bucket,
    home: &'a Bucket,
    slot: usize,
}

impl SlotOfChange<'_> {
    fn lead_to(&self, lock: &ShardLock<'_>, hash: Hash, item_ref: u64) {
        let place = &self.bucket.slots[self.slot];
        lead(lock, place, slot_word(hash.tag(), item_ref));
        self.bucket.increment_version();
    }

    fn empty(&self, lock: &ShardLock<'_>) {
        lead(lock, &self.bucket.slots[self.slot], 0);
        self.bucket.increment_version();
        if self.bucket.is_away(self.slot) {
            self.bucket.set_slot_meta(self.slot, 0, false);
            self.home.hint_down();
        }
    }
}

impl Pending {
    fn place(&mut self, lock: &ShardLock<'_>, spot: Spot<'_>, commit: u32) -> Step<()> {
        let ref_of = |item: &Option<New>| item.as_ref().map_or(0, |item| item.item_ref);
        let change = PendingChange {
            commit,
            old: ref_of(&self.old),
            new: ref_of(&self.new),
        };
        self.change_ref = change.write(lock)?;
        let slot = match spot {
            Spot::Taken(found) => &found.bucket.slots[found.slot],
            Spot::Free(segment) => match slot_for(lock, self.hash, segment) {
                Ok(new_slot) => new_slot.slot,
                Err(stop) => {
                    discard_block(lock, self.change_ref)?;
                    return Err(stop);
                }
            },
        };
        if let Some(item) = self.new.as_ref().or(self.old.as_ref()) {
            announce(lock, item.hint, item.item_ref);
        }
        lead(lock, slot, pending_word(self.hash.tag(), self.change_ref));
        Ok(())
    }

    /// Finds the slot again: keys move when others get room.
    fn slot<'a>(&self, lock: &ShardLock<'a>) -> Step<SlotOfChange<'a>> {
        let word = pending_word(self.hash.tag(), self.change_ref);
        let Some(segment) = segment_of(lock, self.hash)? else {
            return corrupt("a directory");
        };
        let home = &segment.buckets[self.hash.home() as usize];
        let away = &segment.buckets[self.hash.away() as usize];
        for bucket in [home, away] {
            let is_it = |slot: &usize| bucket.slots[*slot].load(Ordering::Relaxed) == word;
            if let Some(slot) = (0..SLOTS).find(is_it) {
                return Ok(SlotOfChange { bucket, home, slot });
            }
        }
        corrupt("a bucket")
    }

    /// Frees the new item and its uid, if the old item has another or none.
    fn free_new(&self, lock: &ShardLock<'_>) {
        if let Some(new) = &self.new {
            if self.old.is_none_or(|old| old.hint != new.hint) {
                free_uid(lock, new.hint);
            }
            // Damage is found again by the next who takes a block.
            let _ = discard_block(lock, new.item_ref);
        }
    }
}

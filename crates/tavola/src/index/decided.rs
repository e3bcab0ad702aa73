//! What a key has while a transaction changes it: the old item or the new one, as the commit word
//! says (`layout::pending`).

use crate::alloc::PendingChange;
use crate::layout::{CommitWord, REF_MASK, pending_ref, slot_tag, slot_word};
use crate::region::Region;
use crate::sync::Ordering;

/// Returns the slot word that counts: the given one, or, if a transaction changes the key, that of
/// the item which the key has now. Returns `None` if the change is damaged. A reader without the
/// lock rechecks the bucket version afterwards.
#[inline(always)]
pub(crate) fn current(region: &Region, word: u64) -> Option<u64> {
    match pending_ref(word) {
        None => Some(word),
        Some(change_ref) => decided(region, slot_tag(word), change_ref),
    }
}

#[cold]
#[inline(never)]
fn decided(region: &Region, tag: u32, change_ref: u64) -> Option<u64> {
    let change = PendingChange::read(region, change_ref)?;
    // Pairs with the release in `Commit::decide`: who sees that it is committed sees all changes.
    let word = region
        .superblock()
        .commit_word(change.commit)?
        .load(Ordering::Acquire);
    let item_ref = match CommitWord::decode(word) {
        CommitWord::Committed { .. } => change.new,
        CommitWord::Open { .. } | CommitWord::Free => change.old,
    };
    let word = slot_word(tag, item_ref & REF_MASK);
    pending_ref(word).is_none().then_some(word)
}

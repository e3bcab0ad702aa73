//! Copying what a bucket leads to.

use super::{End, Iter};
use crate::alloc::Item;
use crate::index::is_over;
use crate::layout::{Bucket, class_of, is_key, slot_ref};
use crate::region::Pinned;
use crate::sync::{Ordering, W64};

/// A large item whose chain is pinned, and a copy of its block.
pub(super) struct Held<'a> {
    item: Item<'a>,
    block: Vec<W64>,
    _pin: Pinned<'a>,
}

impl Held<'_> {
    /// The item as it was when it was pinned.
    pub(super) fn pinned(&self) -> Item<'_> {
        self.item.pinned(&self.block)
    }
}

impl<'a> Iter<'a> {
    /// Copies the items that a bucket leads to, and pins the large ones, to be copied when the
    /// bucket has not changed meanwhile. Returns false if some could not be read.
    pub(super) fn copy(&mut self, bucket: &Bucket, large: &mut Vec<Held<'a>>) -> bool {
        let mut whole = true;
        for slot in &bucket.slots {
            // Pairs with the release that published the item.
            let word = slot.load(Ordering::Acquire);
            if is_key(word) && self.copy_item(slot_ref(word), large).is_none() {
                whole = false;
            }
        }
        whole
    }

    /// Copies the item at a ref, or pins it. Returns `None` if it cannot be read.
    #[inline(always)]
    fn copy_item(&mut self, item_ref: u64, large: &mut Vec<Held<'a>>) -> Option<()> {
        let core = self.core();
        let item = Item::at(core.region(), item_ref)?;
        if item.is_large()
            && let Some(pin) = core.pin(item.first_page)
        {
            large.push(Held {
                item,
                block: item.copied_block(),
                _pin: pin,
            });
            return Some(());
        }
        self.append(&item)
    }

    /// Appends an item to what is lent, unless it is a tag or over. Returns `None`, and appends
    /// nothing, if it cannot be read.
    pub(super) fn append(&mut self, item: &Item<'_>) -> Option<()> {
        let begin = self.at.bytes.len();
        let appended = self.try_append(item);
        if appended.is_none() {
            self.at.bytes.truncate(begin);
        }
        appended
    }

    #[inline(always)]
    fn try_append(&mut self, item: &Item<'_>) -> Option<()> {
        if item.is_tag() || is_over(item)? {
            return Some(());
        }
        item.copy_key(&mut self.at.bytes).then_some(())?;
        let key_end = self.at.bytes.len();
        item.copy_value(&mut self.at.bytes).then_some(())?;
        let value_end = self.at.bytes.len();
        let mut tags = 0;
        for word in item.tag_words() {
            self.at.bytes.extend_from_slice(&word.to_ne_bytes());
            tags += 1;
        }
        self.at.ends.push(End {
            key: key_end,
            value: value_end,
            told: item.told(),
            tags,
            class: class_of(item.block_bytes()).unwrap_or(0),
            has_uid: item.hint().is_some(),
        });
        Some(())
    }
}

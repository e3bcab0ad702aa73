//! Copying the items that a bucket leads to.
//!
//! Small items are copied at once. A large one is pinned, so that its pages can be copied after the
//! bucket was rechecked.

use super::{EntryEnd, Iter};
use crate::alloc::Item;
use crate::index::{current, is_over};
use crate::layout::{Bucket, class_of, is_key, slot_ref};
use crate::region::{Pinned, Region};
use crate::sync::{Ordering, W64, prefetch};

/// How many buckets ahead of the scan items are prefetched.
const AHEAD: usize = 6;

/// A large item whose chain is pinned, and a copy of its block.
pub(super) struct PinnedItem<'a> {
    item: Item<'a>,
    block: Vec<W64>,
    _pin: Pinned<'a>,
}

impl PinnedItem<'_> {
    /// Returns the item as it was when it was pinned.
    pub(super) fn pinned(&self) -> Item<'_> {
        self.item.pinned(&self.block)
    }
}

impl<'a> Iter<'a> {
    /// Copies the small items that a bucket leads to, and pins the large ones, which are copied
    /// after the bucket was rechecked. Returns false if some could not be read.
    pub(super) fn copy(&mut self, bucket: &Bucket, large: &mut Vec<PinnedItem<'a>>) -> bool {
        let mut whole = true;
        for slot in &bucket.slots {
            // Pairs with the release that published the item.
            let word = slot.load(Ordering::Acquire);
            if !is_key(word) {
                continue;
            }
            whole &= match current(self.core().region(), word) {
                Some(word) if is_key(word) => self.copy_item(slot_ref(word), large).is_some(),
                now => now.is_some(),
            };
        }
        whole
    }

    /// Copies the item at a ref, or pins it. Returns `None` if it cannot be read.
    #[inline(always)]
    fn copy_item(&mut self, item_ref: u64, large: &mut Vec<PinnedItem<'a>>) -> Option<()> {
        let core = self.core();
        let item = Item::at(core.region(), item_ref)?;
        if item.is_large()
            && let Some(pin) = core.pin(item.first_page)
        {
            large.push(PinnedItem {
                item,
                block: item.copied_block(),
                _pin: pin,
            });
            return Some(());
        }
        self.append(&item)
    }

    /// Appends an item to the chunk, unless it is a tag, or over. Returns `None`, and appends
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
        self.at.ends.push(EntryEnd {
            key: key_end,
            value: value_end,
            shown: item.shown(),
            tags,
            class: class_of(item.block_bytes()).unwrap_or(0),
            has_uid: item.hint().is_some(),
        });
        Some(())
    }
}

/// Prefetches the items that a bucket some way ahead leads to, and the bucket as far again ahead.
#[inline(always)]
pub(super) fn warm(region: &Region, buckets: &[Bucket], at: usize) {
    if let Some(ahead) = buckets.get(at + AHEAD) {
        for slot in &ahead.slots {
            region.prefetch_ref(slot_ref(slot.load(Ordering::Relaxed)));
        }
        prefetch(core::ptr::from_ref(ahead).wrapping_add(AHEAD));
    }
}

#[cfg(test)]
type Meanwhile = std::cell::RefCell<Option<Box<dyn FnMut()>>>;

#[cfg(test)]
std::thread_local! {
    /// What other writers do between the copy of a bucket, or of a whole segment, and the recheck.
    static MEANWHILE: Meanwhile = const { Meanwhile::new(None) };
}

#[cfg(test)]
pub(super) fn meanwhile() {
    // The function may scan as well.
    let act = MEANWHILE.take();
    if let Some(mut act) = act {
        act();
        MEANWHILE.set(Some(act));
    }
}

#[cfg(test)]
mod tests {
    use super::MEANWHILE;
    use crate::sync::Ordering;
    use crate::{Error, Table};
    use std::rc::Rc;

    /// After so many copies in vain the scan has no end.
    const MOST: u64 = 100_000;

    /// Scans while a writer writes between every copy and its recheck, and returns how many entries
    /// were met. The writer is refused when the scan has the lock.
    fn scanned_beside(table: &Rc<Table>, write: impl Fn(&Table, u64) + 'static) -> usize {
        let writer = Rc::clone(table);
        let mut number = 0;
        MEANWHILE.set(Some(Box::new(move || {
            number += 1;
            assert!(number < MOST, "a scan without an end");
            write(&writer, number);
        })));
        let entries = table.iter().collect::<Result<Vec<_>, Error>>();
        MEANWHILE.set(None);
        assert!(table.check().unwrap().is_clean());
        entries.unwrap().len()
    }

    fn table() -> Rc<Table> {
        let table = Table::options().max_size(16 << 20).private().unwrap();
        for number in 0_u64..1000 {
            table
                .set(number.to_le_bytes(), number.to_le_bytes())
                .unwrap();
        }
        Rc::new(table)
    }

    #[test]
    fn buckets_that_are_rewritten_without_pause_are_scanned() {
        let met = scanned_beside(&table(), |table, number| {
            for key in 0_u64..1000 {
                let value = vec![0; number as usize % 50];
                let written = table.set(key.to_le_bytes(), value);
                assert!(
                    matches!(written, Ok(()) | Err(Error::Reentrant)),
                    "{written:?}"
                );
            }
        });
        assert!(met >= 1000, "{met}");
    }

    #[test]
    fn segments_in_which_keys_move_without_pause_are_scanned() {
        let met = scanned_beside(&table(), |table, _| {
            let core = table.core().unwrap();
            for shard in 0..core.region().geometry().shards() {
                let Ok(_lock) = core.lock(shard, core.participant()) else {
                    continue;
                };
                let moves = &core.region().shard(shard).moves;
                let moved = moves.load(Ordering::Relaxed).wrapping_add(1);
                moves.store(moved, Ordering::Release);
            }
        });
        assert!(met >= 1000, "{met}");
    }
}

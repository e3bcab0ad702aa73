//! Counts the keys of a segment, and those of them that are over, without a lock. The counts are
//! for statistics, so a key that changes meanwhile may be missed.

use super::decided::current;
use super::tags::is_over;
use crate::alloc::Item;
use crate::layout::{PageWord, is_key, slot_ref};
use crate::region::Region;
use crate::sync::Ordering;

/// Counts of the keys of a segment.
#[derive(Default)]
pub(crate) struct Keys {
    pub(crate) keys: u64,
    /// Of these, keys that have expired or lost a tag.
    pub(crate) over: u64,
}

/// Counts the keys on a page, if it is a segment of that shard. A key that is written meanwhile may
/// be counted or not.
pub(crate) fn keys_on(region: &Region, shard: u32, page: u32) -> Keys {
    let mut found = Keys::default();
    if !region.is_page(page) {
        return found;
    }
    let word = region.page_word(page).load(Ordering::Relaxed);
    if !PageWord::is_segment_of(word, shard) {
        return found;
    }
    for bucket in &region.segment(page).buckets {
        // Pairs with the release that published the item.
        let words = bucket
            .slots
            .each_ref()
            .map(|slot| slot.load(Ordering::Acquire));
        let keys = words.into_iter().filter(|word| is_key(*word));
        let now = keys.filter_map(|word| current(region, word).filter(|word| is_key(*word)));
        let items = now.filter_map(|word| Item::at(region, slot_ref(word)));
        for item in items.filter(|item| !item.is_tag()) {
            found.keys += 1;
            found.over += u64::from(is_over(&item).unwrap_or(false));
        }
    }
    found
}

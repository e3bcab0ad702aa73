//! Counts the keys of a sample of segments, and those of them that are over, without a lock. The
//! counts are for statistics, so a key that changes meanwhile may be missed.

use super::decided::current;
use super::dir::entries;
use super::tags::is_over;
use crate::alloc::Item;
use crate::layout::{PageWord, is_key, slot_ref};
use crate::region::Region;
use crate::sync::Ordering;

/// The most segments to examine, which takes some milliseconds. If there are more, a sample of
/// them, evenly spaced.
const SEGMENTS: usize = 64;

/// Counts of the keys that were examined.
#[derive(Default)]
pub(crate) struct SampledKeys {
    pub(crate) keys: u64,
    /// Of these, keys that have expired or lost a tag.
    pub(crate) over: u64,
    /// Whether all keys were examined.
    pub(crate) is_all: bool,
}

/// Counts the keys of some shards, or of a sample of them.
pub(crate) fn sample_keys(region: &Region, shards: &[u32]) -> SampledKeys {
    let mut pages = Vec::new();
    for shard in shards {
        pages.extend(entries(region, *shard).map(|(_, page)| (*shard, page)));
    }
    let step = pages.len().div_ceil(SEGMENTS).max(1);
    let mut sampled = SampledKeys {
        is_all: step == 1,
        ..SampledKeys::default()
    };
    for (shard, page) in pages.into_iter().step_by(step) {
        count_on(region, shard, page, &mut sampled);
    }
    sampled
}

/// Counts the keys on a page, if it is a segment of that shard. A key that is written meanwhile may
/// be counted or not.
fn count_on(region: &Region, shard: u32, page: u32, found: &mut SampledKeys) {
    if !region.is_page(page) {
        return;
    }
    let word = region.page_word(page).load(Ordering::Relaxed);
    if !PageWord::is_segment_of(word, shard) {
        return;
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
}

//! One slot after the other, each by an atomic load.

use crate::layout::{Bucket, SLOTS, slot_tag};
use crate::sync::Ordering;

/// Returns a bit for each slot; bit i is set if slot i has the tag.
pub(super) fn matches(bucket: &Bucket, tag: u32) -> u32 {
    (0..SLOTS).fold(0, |bits, i| {
        // Pairs with the release that published the slot.
        let word = bucket.slots[i].load(Ordering::Acquire);
        bits | u32::from(slot_tag(word) == tag) << i
    })
}

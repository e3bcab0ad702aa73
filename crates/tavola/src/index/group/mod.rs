//! Matching a tag against the seven slots of a bucket at once. The result is a set of candidates:
//! the caller loads each candidate's slot again as an atomic word, and rechecks misses.
//!
//! The tag fills the high 24 bits of a slot, so the high halves of the slots are compared as 32-bit
//! lanes. SSE2 and NEON are part of their targets, so nothing is chosen at run time. The portable
//! loop is used on other targets, and under Miri, the model checker and ThreadSanitizer, where
//! every access must be atomic.

#[cfg(all(
    target_arch = "aarch64",
    not(any(miri, tavola_checked, feature = "shuttle"))
))]
mod neon;
#[allow(
    dead_code,
    reason = "the oracle of the others' test, where it is not the one in use"
)]
mod portable;
#[cfg(all(
    target_arch = "x86_64",
    not(any(miri, tavola_checked, feature = "shuttle"))
))]
mod sse2;

use crate::layout::{Bucket, SLOTS, slot_tag};
use crate::sync::Ordering;
#[cfg(all(
    target_arch = "aarch64",
    not(any(miri, tavola_checked, feature = "shuttle"))
))]
use neon as imp;
#[cfg(any(
    miri,
    tavola_checked,
    feature = "shuttle",
    not(any(target_arch = "x86_64", target_arch = "aarch64"))
))]
use portable as imp;
#[cfg(all(
    target_arch = "x86_64",
    not(any(miri, tavola_checked, feature = "shuttle"))
))]
use sse2 as imp;

/// Some slots of a bucket, as bits.
#[derive(Clone, Copy)]
pub(super) struct Matches(u32);

impl Iterator for Matches {
    type Item = usize;

    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        if self.0 == 0 {
            return None;
        }
        let slot = self.0.trailing_zeros();
        self.0 &= self.0 - 1;
        Some(slot as usize)
    }
}

/// Returns the slots whose tag has this bit. There is no branch, as half of the slots would take
/// it.
#[inline(always)]
pub(super) fn with_bit(bucket: &Bucket, bit: u32) -> Matches {
    let has = |slot: usize| slot_tag(bucket.slots[slot].load(Ordering::Relaxed)) >> bit & 1;
    Matches((0..SLOTS).fold(0, |slots, slot| slots | has(slot) << slot))
}

/// Returns the slots whose tag is `tag`; an empty slot counts as tag 0.
#[inline(always)]
pub(super) fn matches(bucket: &Bucket, tag: u32) -> Matches {
    Matches(imp::matches(bucket, tag) & ((1 << SLOTS) - 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::slot_word;
    use crate::sync::{Ordering, W32, W64};

    #[test]
    fn both_implementations_find_the_same_slots() {
        let bucket = Bucket {
            version: W32::new(u32::MAX),
            meta: W32::new(u32::MAX),
            slots: [const { W64::new(0) }; SLOTS],
        };
        let mut seed = 1u64;
        for round in 0..2000 {
            for slot in &bucket.slots {
                seed = seed
                    .wrapping_mul(6364136223846793005)
                    .wrapping_add(1442695040888963407);
                let tag = (seed >> 60) as u32 % 3 + if round % 2 == 0 { 0 } else { 0xFF_FFFD };
                slot.store(
                    slot_word(tag, seed >> 30 & 0xFF_FFFF_FFFF),
                    Ordering::Relaxed,
                );
            }
            for tag in [0, 1, 2, 0xFF_FFFD, 0xFF_FFFE, 0xFF_FFFF] {
                let fast: Vec<usize> = matches(&bucket, tag).collect();
                let slow: Vec<usize> = Matches(portable::matches(&bucket, tag)).collect();
                assert_eq!(fast, slow);
            }
        }
    }
}

//! Buckets: one cache line each, 256 to a segment, a segment to a page.
//!
//! ```text
//! bucket   version u32 | meta u32 | 7 slots u64
//! slot     tag 24 | ref 40                       0 = empty (ref 0 is the superblock)
//! meta     bits 0..28: 4 bits a slot             bit 3 of them: the key's home is elsewhere
//!          bits 28..32: hint                     keys at home here that live elsewhere, 15 = many
//! ```
//!
//! The other three bits a slot are kept for a cache's eviction state.

use super::{PAGE, assert_layout};
use crate::sync::{Ordering, W32, W64};

/// Slots of a bucket.
pub(crate) const SLOTS: usize = 7;
/// Buckets of a segment.
pub(crate) const BUCKETS: usize = 256;
/// The hint at which counting stops: it stays there until the segment is split or recovered.
pub(crate) const HINT_MAX: u32 = 15;

const REF_BITS: u32 = 40;
/// The ref of a slot.
pub(crate) const REF_MASK: u64 = (1 << REF_BITS) - 1;
const AWAY: u32 = 8;
/// That bit of all slots.
const AWAY_BITS: u32 = AWAY * 0x0111_1111;
const HINT_SHIFT: u32 = 28;

/// One cache line of the index.
#[repr(C, align(64))]
pub(crate) struct Bucket {
    /// Changes before a block that a slot here pointed to may change.
    pub(crate) version: W32,
    /// Four bits a slot, and the hint.
    pub(crate) meta: W32,
    /// Tags and refs.
    pub(crate) slots: [W64; SLOTS],
}
assert_layout!(Bucket, size 64, { version: 0, meta: 4, slots: 8 });

/// A page of buckets.
#[repr(C)]
pub(crate) struct Segment {
    /// The buckets.
    pub(crate) buckets: [Bucket; BUCKETS],
}
assert_layout!(Segment, size PAGE as usize, { buckets: 0 });

/// The slot word of a tag and a ref.
#[inline(always)]
pub(crate) fn slot_word(tag: u32, item_ref: u64) -> u64 {
    debug_assert!(item_ref <= REF_MASK && tag < 1 << 24);
    u64::from(tag) << REF_BITS | item_ref
}

/// The tag of a slot word.
#[inline(always)]
pub(crate) fn slot_tag(word: u64) -> u32 {
    (word >> REF_BITS) as u32
}

/// The ref of a slot word.
#[inline(always)]
pub(crate) fn slot_ref(word: u64) -> u64 {
    word & REF_MASK
}

impl Bucket {
    /// Tells readers that what they copied through this bucket may be stale. Under the shard's
    /// lock.
    #[inline(always)]
    pub(crate) fn bump(&self) {
        let version = self.version.load(Ordering::Relaxed);
        // Pairs with the acquire loads of `version` in index/read.rs: who sees the new version sees
        // the slots stored before it.
        self.version
            .store(version.wrapping_add(1), Ordering::Release);
    }

    /// Whether the key of slot `i` has its home in another bucket.
    #[inline(always)]
    pub(crate) fn is_away(&self, i: usize) -> bool {
        self.meta.load(Ordering::Relaxed) & (AWAY << (4 * i)) != 0
    }

    /// The slots of which [`Self::is_away`] says so.
    #[inline(always)]
    pub(crate) fn away(&self) -> impl Iterator<Item = usize> + use<> {
        let mut bits = self.meta.load(Ordering::Relaxed) & AWAY_BITS;
        std::iter::from_fn(move || {
            let slot = (bits != 0).then(|| bits.trailing_zeros() as usize / 4);
            bits &= bits.wrapping_sub(1);
            slot
        })
    }

    /// Sets the four bits of slot `i` for a key newly put there. Under the shard's lock.
    #[inline(always)]
    pub(crate) fn set_slot_meta(&self, i: usize, away: bool) {
        let old = self.meta.load(Ordering::Relaxed);
        let bits = if away { AWAY } else { 0 };
        let new = old & !(0xF << (4 * i)) | bits << (4 * i);
        if new != old {
            // Release, as the hint goes with it: see `hint_down`.
            self.meta.store(new, Ordering::Release);
        }
    }

    /// How many keys at home here live elsewhere; [`HINT_MAX`] or more reads as that.
    #[inline(always)]
    pub(crate) fn hint(&self) -> u32 {
        self.meta.load(Ordering::Relaxed) >> HINT_SHIFT
    }

    /// One more key at home here lives elsewhere. Under the shard's lock.
    pub(crate) fn hint_up(&self) {
        let old = self.meta.load(Ordering::Relaxed);
        if old >> HINT_SHIFT < HINT_MAX {
            // Pairs with the acquire fence before a reader looks at the hint: the hint is seen
            // before the key is missing here.
            self.meta.store(old + (1 << HINT_SHIFT), Ordering::Release);
        }
    }

    /// One key less. Under the shard's lock.
    pub(crate) fn hint_down(&self) {
        let old = self.meta.load(Ordering::Relaxed);
        let hint = old >> HINT_SHIFT;
        if hint > 0 && hint < HINT_MAX {
            // Pairs with the fences of `read`: who sees the lower hint sees the version that rose
            // before it, when the key came home.
            self.meta.store(old - (1 << HINT_SHIFT), Ordering::Release);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bucket() -> Bucket {
        Bucket {
            version: W32::new(u32::MAX),
            meta: W32::new(0),
            slots: [const { W64::new(0) }; 7],
        }
    }

    #[test]
    fn a_slot_holds_tag_and_ref() {
        let word = slot_word(0xAB_CDEF, REF_MASK);
        assert_eq!(slot_tag(word), 0xAB_CDEF);
        assert_eq!(slot_ref(word), REF_MASK);
    }

    #[test]
    fn hints_saturate_and_stay() {
        let b = bucket();
        for _ in 0..20 {
            b.hint_up();
        }
        assert_eq!(b.hint(), HINT_MAX);
        b.hint_down();
        assert_eq!(b.hint(), HINT_MAX);
    }

    #[test]
    fn slot_bits_and_hint_do_not_touch() {
        let b = bucket();
        b.hint_up();
        b.set_slot_meta(6, true);
        assert!(b.is_away(6) && !b.is_away(5));
        b.hint_down();
        assert_eq!(b.hint(), 0);
        assert!(b.is_away(6));
        b.bump();
        assert_eq!(b.version.load(Ordering::Relaxed), 0);
    }
}

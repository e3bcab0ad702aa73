//! Buckets: one cache line each, 256 to a segment, a segment to a page.
//!
//! ```text
//! bucket   version u32 | meta u32 | 7 slots u64
//! slot     tag 24 | ref 40                       0 = empty (ref 0 is the superblock)
//!          tag 24 | 1 + epoch 7                  a ghost: a key of that tag was evicted
//!          tag 24 | 1 | ref 39                   a transaction changes the key: see `pending`
//! meta     bits 0..28: 4 bits a slot             bit 3 of them: the key's home is the other bucket
//!          bits 28..32: hint                     keys of this home that are away, 15 = 15 or more
//! ```
//!
//! The low three bits of each slot are used by caches. Bit 2, `protected`, distinguishes a key that
//! was found worth keeping from a probationary key. The columns say what a read changes the state
//! to, and what the CLOCK hand of the key's kind does when it comes by:
//!
//! | state | bits 2, 1, 0 | a read makes it | its kind's hand makes it |
//! |---|---|---|---|
//! | probationary key | 000 | accessed | spared |
//! | probationary key, spared | 010 | accessed | a ghost |
//! | probationary key, accessed | 0x1 | | protected |
//! | protected | 100 | accessed | nothing: it is evicted |
//! | protected, accessed | 101 | accessed twice | protected |
//! | protected, accessed twice | 111 | | accessed |

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
/// Bit of a slot's state: the key was read since a hand last came by.
pub(crate) const ACCESSED: u32 = 1;
/// Bit of a slot's state. Of a probationary key: a hand came by. Of a protected key: it was read
/// twice.
pub(crate) const AGAIN: u32 = 2;
/// Bit of a slot's state: the key is protected.
pub(crate) const PROTECTED: u32 = 4;
const AWAY: u32 = 8;
/// Bit of a slot word: the ref leads to a pending change and not to an item. Refs of items are
/// below it, as a table has at most [`MAX_SIZE`](super::MAX_SIZE) bytes.
const PENDING: u64 = 1 << (REF_BITS - 1);
const _: () = assert!(super::MAX_SIZE / super::UNIT <= PENDING);
/// The away bits of all slots.
const AWAY_BITS: u32 = AWAY * 0x0111_1111;
const HINT_SHIFT: u32 = 28;

/// One cache line of the index.
#[repr(C, align(64))]
pub(crate) struct Bucket {
    /// Rises before a block that a slot here led to may change.
    pub(crate) version: W32,
    /// Four bits for each slot, and the hint.
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

/// Ghosts note their epoch modulo this number.
const EPOCHS: u32 = 128;

/// Returns the slot word of a ghost: of a key that was evicted in that epoch.
pub(crate) fn ghost_word(tag: u32, epoch: u32) -> u64 {
    slot_word(tag, u64::from(1 + epoch % EPOCHS))
}

/// Returns whether a slot word leads to an item: it is neither empty nor a ghost.
#[inline(always)]
pub(crate) fn is_key(word: u64) -> bool {
    slot_ref(word) > u64::from(EPOCHS)
}

/// Returns how many epochs ago a ghost was made, or `None` if the word is not a ghost.
#[inline(always)]
pub(crate) fn ghost_age(word: u64, epoch: u32) -> Option<u32> {
    let made = slot_ref(word);
    let is_ghost = made != 0 && !is_key(word);
    is_ghost.then(|| epoch.wrapping_sub(made as u32 - 1) % EPOCHS)
}

/// Returns the slot word of a tag and a ref.
#[inline(always)]
pub(crate) fn slot_word(tag: u32, item_ref: u64) -> u64 {
    debug_assert!(item_ref <= REF_MASK && tag < 1 << 24);
    u64::from(tag) << REF_BITS | item_ref
}

/// Returns the slot word of a key that a transaction changes; the change is at that ref.
pub(crate) fn pending_word(tag: u32, change_ref: u64) -> u64 {
    slot_word(tag, change_ref | PENDING)
}

/// Returns the ref of the pending change that a slot word leads to, or `None` if it leads to an
/// item, or to nothing.
#[inline(always)]
pub(crate) fn pending_ref(word: u64) -> Option<u64> {
    (word & PENDING != 0).then_some(slot_ref(word) & !PENDING)
}

/// Returns the tag of a slot word.
#[inline(always)]
pub(crate) fn slot_tag(word: u64) -> u32 {
    (word >> REF_BITS) as u32
}

/// Returns the ref of a slot word.
#[inline(always)]
pub(crate) fn slot_ref(word: u64) -> u64 {
    word & REF_MASK
}

impl Bucket {
    /// Raises the version: what readers copied through this bucket may be stale. Call under the
    /// shard's lock.
    #[inline(always)]
    pub(crate) fn increment_version(&self) {
        let version = self.version.load(Ordering::Relaxed);
        // Pairs with the acquire loads of `version` in index/read.rs: a reader that sees the new
        // version also sees the slots stored before it.
        self.version
            .store(version.wrapping_add(1), Ordering::Release);
    }

    /// Returns whether the key of slot `i` has its home in another bucket.
    #[inline(always)]
    pub(crate) fn is_away(&self, i: usize) -> bool {
        self.meta.load(Ordering::Relaxed) & (AWAY << (4 * i)) != 0
    }

    /// Returns the slots whose keys are away from their home.
    #[inline(always)]
    pub(crate) fn away(&self) -> impl Iterator<Item = usize> + use<> {
        let mut bits = self.meta.load(Ordering::Relaxed) & AWAY_BITS;
        std::iter::from_fn(move || {
            let slot = (bits != 0).then(|| bits.trailing_zeros() as usize / 4);
            bits &= bits.wrapping_sub(1);
            slot
        })
    }

    /// Returns what a cache knows of the key in slot `i`: [`ACCESSED`], [`AGAIN`], [`PROTECTED`].
    #[inline(always)]
    pub(crate) fn state(&self, i: usize) -> u32 {
        self.meta.load(Ordering::Relaxed) >> (4 * i) & (ACCESSED | AGAIN | PROTECTED)
    }

    /// Sets what a cache knows of that key. Call under the shard's lock.
    pub(crate) fn set_state(&self, i: usize, state: u32) {
        self.set_slot_meta(i, state, self.is_away(i));
    }

    /// Returns the state of slot `i` after a read, or `None` if a read does not change it.
    #[inline(always)]
    pub(crate) fn accessed(&self, i: usize) -> Option<u32> {
        match self.state(i) {
            state if state & ACCESSED == 0 => Some(state | ACCESSED),
            state if state & (PROTECTED | AGAIN) == PROTECTED => Some(state | AGAIN),
            _ => None,
        }
    }

    /// Sets the four bits of slot `i`: for a key that was just stored there, or for a new state.
    /// Call under the shard's lock.
    #[inline(always)]
    pub(crate) fn set_slot_meta(&self, i: usize, state: u32, away: bool) {
        let old = self.meta.load(Ordering::Relaxed);
        let bits = if away { AWAY | state } else { state };
        let new = old & !(0xF << (4 * i)) | bits << (4 * i);
        if new != old {
            // Release, because the hint is in the same word: see `hint_down`.
            self.meta.store(new, Ordering::Release);
        }
    }

    /// Returns how many keys of this home are away; [`HINT_MAX`] means that many or more.
    #[inline(always)]
    pub(crate) fn hint(&self) -> u32 {
        self.meta.load(Ordering::Relaxed) >> HINT_SHIFT
    }

    /// Counts one more key of this home that is away, before the key leaves it (IDX-5). Call under
    /// the shard's lock.
    pub(crate) fn hint_up(&self) {
        let old = self.meta.load(Ordering::Relaxed);
        if old >> HINT_SHIFT < HINT_MAX {
            // Pairs with the acquire fence before a reader reads the hint: the reader sees the hint
            // before the key is missing here.
            self.meta.store(old + (1 << HINT_SHIFT), Ordering::Release);
        }
    }

    /// Counts one key less, after it is back or gone (IDX-5). Call under the shard's lock.
    pub(crate) fn hint_down(&self) {
        let old = self.meta.load(Ordering::Relaxed);
        let hint = old >> HINT_SHIFT;
        if hint > 0 && hint < HINT_MAX {
            // Pairs with the fences of `read`: a reader that sees the lower hint also sees the
            // version that rose before it, when the key came home.
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
    fn pending_changes_are_keys_and_no_items() {
        let word = pending_word(0xAB_CDEF, 4096);
        assert_eq!(slot_tag(word), 0xAB_CDEF);
        assert!(is_key(word) && ghost_age(word, 0).is_none());
        assert_eq!(pending_ref(word), Some(4096));
        let last_item = crate::layout::MAX_SIZE / crate::layout::UNIT - 1;
        for word in [0, ghost_word(1, 2), slot_word(0xFF_FFFF, last_item)] {
            assert_eq!(pending_ref(word), None);
        }
    }

    #[test]
    fn ghosts_are_no_keys_and_have_an_age() {
        for word in [0, slot_word(7, 0)] {
            assert!(!is_key(word) && ghost_age(word, 5).is_none());
        }
        let ghost = ghost_word(0xAB_CDEF, 130);
        assert_eq!(slot_tag(ghost), 0xAB_CDEF);
        assert!(!is_key(ghost));
        assert_eq!(ghost_age(ghost, 133), Some(3));
        assert_eq!(ghost_age(ghost_word(1, u32::MAX), 0), Some(1));
        let first_item = slot_word(1, size_of::<crate::layout::Superblock>() as u64 / 8);
        assert!(is_key(first_item) && ghost_age(first_item, 0).is_none());
    }

    #[test]
    fn visits_change_one_bit_until_there_is_nothing_to_change() {
        let b = bucket();
        for (before, after) in [
            (0, Some(ACCESSED)),
            (ACCESSED, None),
            (AGAIN, Some(AGAIN | ACCESSED)),
            (AGAIN | ACCESSED, None),
            (PROTECTED, Some(PROTECTED | ACCESSED)),
            (PROTECTED | ACCESSED, Some(PROTECTED | ACCESSED | AGAIN)),
            (PROTECTED | ACCESSED | AGAIN, None),
        ] {
            b.set_slot_meta(3, before, true);
            assert_eq!(b.accessed(3), after);
            assert!(b.is_away(3));
        }
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
        b.set_slot_meta(6, 0, true);
        assert!(b.is_away(6) && !b.is_away(5));
        b.hint_down();
        assert_eq!(b.hint(), 0);
        assert!(b.is_away(6));
        b.increment_version();
        assert_eq!(b.version.load(Ordering::Relaxed), 0);
    }
}

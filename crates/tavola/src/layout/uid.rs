//! Uids: 32-bit numbers that stand for keys, and the table that leads from a uid to an item.
//!
//! A reader by uid follows its entry to the item without a lock, and then checks that the entry has
//! not changed. While the slot of the key may be changing, the entry says so, and the reader reads
//! by key instead; so reads by uid and by key never contradict each other.
//!
//! ```text
//! uid       number in the shard (32 - shards_log2 bits) | shard (shards_log2)
//! number    chunk | entry 11
//! chunk     a page: head 16 B | entries 2 .. 2047, one word each
//! entry     state 2 | used 4 | version 18 | ref 40; if free, the chunk's next free entry
//! ```
//!
//! | entry | a reader by uid | next |
//! |---|---|---|
//! | `Free` | misses | `InTransition` |
//! | `InTransition(ref)`: its slot may change | takes the key, reads by it | `Live`, `Free` |
//! | `Live(ref)` | takes the item | `InTransition`; `Live`, when the item is moved |
//!
//! In a cache, *used* says of a tag when a key with it was last set or read, by `tag_epoch` of the
//! shard. It is advice.
//!
//! Entries are written under the shard's lock. The version rises with every change, so that a
//! reader notices; before it starts over, `uid_layout` of the shard rises. Recovery rebuilds all
//! entries from the items: each `Live` entry becomes `InTransition` until its item is found.

use super::assert_layout;
use crate::sync::W32;

/// Entries of a chunk, including the two words of the head.
pub(crate) const UID_ENTRIES: u32 = 2048;
/// The first entry: the head takes the place of those before it.
pub(crate) const UID_FIRST: u32 = 2;
const ENTRY_BITS: u32 = UID_ENTRIES.ilog2();

/// Set in a directory entry whose chunk was given back. The other bits are the number, plus 1, of
/// the chunk that was given back before it; 0: none.
pub(crate) const UID_UNBACKED: u32 = 1 << 31;

/// The head of a chunk. All of it is derived.
#[repr(C)]
pub(crate) struct UidPage {
    /// The number, plus 1, of the next chunk with a free entry; 0: none.
    pub(crate) next: W32,
    /// The number, plus 1, of the one before it in that list; 0: none.
    pub(crate) prev: W32,
    /// Entries given out.
    pub(crate) used: W32,
    /// The first free entry; 0: none.
    pub(crate) free: W32,
}
assert_layout!(UidPage, size 16, { next: 0, prev: 4, used: 8, free: 12 });

/// An entry, decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UidEntry {
    Free {
        next: u32,
    },
    InTransition {
        item_ref: u64,
    },
    Live {
        item_ref: u64,
    },
    /// Not a state that is ever written.
    Damaged,
}

const REF: u64 = (1 << 40) - 1;
const VERSION: u64 = ((1 << 18) - 1) << 40;
const VERSION_STEP: u64 = 1 << 40;
const USED_SHIFT: u32 = 58;
const USED: u64 = 15 << USED_SHIFT;
const STATE_SHIFT: u32 = 62;

impl UidEntry {
    #[inline(always)]
    pub(crate) fn decode(word: u64) -> Self {
        let item_ref = word & REF;
        match word >> STATE_SHIFT {
            0 => Self::Free {
                next: (word & REF) as u32,
            },
            1 => Self::InTransition { item_ref },
            2 => Self::Live { item_ref },
            _ => Self::Damaged,
        }
    }

    /// Returns the word for this state that follows another word, with a version one higher, and
    /// whether that version has wrapped to 0.
    pub(crate) fn after(self, word: u64) -> (u64, bool) {
        let version = (word & VERSION).wrapping_add(VERSION_STEP) & VERSION;
        let (state, low) = match self {
            Self::Free { next } => (0, u64::from(next)),
            Self::InTransition { item_ref } => (1, item_ref & REF),
            Self::Live { item_ref } => (2, item_ref & REF),
            Self::Damaged => unreachable!("a damaged entry is only ever read"),
        };
        let used = if state == 0 { 0 } else { word & USED };
        (state << STATE_SHIFT | used | version | low, version == 0)
    }

    /// Returns how many epochs of tags ago the entry's tag was used, modulo 16.
    #[inline(always)]
    pub(crate) fn unused_for(word: u64, epoch: u64) -> u64 {
        epoch.wrapping_sub((word & USED) >> USED_SHIFT) & 15
    }

    /// Returns the same word, marked as used in that epoch.
    pub(crate) fn used_in(word: u64, epoch: u64) -> u64 {
        word & !USED | epoch << USED_SHIFT & USED
    }
}

/// Where the entry of a uid is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UidPlace {
    pub(crate) shard: u32,
    pub(crate) chunk: u32,
    pub(crate) entry: u32,
}

impl UidPlace {
    #[inline(always)]
    pub(crate) fn of(uid: u32, shards_log2: u32) -> Self {
        Self::masked(uid, shards_log2, (1 << shards_log2) - 1)
    }

    /// Returns what [`Self::of`] does, for a caller that has the mask of shards already.
    #[inline(always)]
    pub(crate) fn masked(uid: u32, shards_log2: u32, shard_mask: u32) -> Self {
        let number = uid >> shards_log2;
        Self {
            shard: uid & shard_mask,
            chunk: number >> ENTRY_BITS,
            entry: number & (UID_ENTRIES - 1),
        }
    }

    pub(crate) fn uid(self, shards_log2: u32) -> u32 {
        (self.chunk << ENTRY_BITS | self.entry) << shards_log2 | self.shard
    }
}

/// A uid of a key, with a generation that identifies the key among those that had this uid.
///
/// The uid is a 32-bit number, not 0, which a key keeps as long as it exists, even if its value
/// changes or its item moves. When the key is removed, another key may get the uid; the generation
/// distinguishes them. A plain uid, `Hint::from(uid)`, means whichever key has it now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Hint(u64);

impl Hint {
    /// No uid.
    pub(crate) const NONE: Self = Self(0);

    pub(crate) fn new(uid: u32, generation: u32) -> Self {
        Self(u64::from(uid) | u64::from(generation) << 32)
    }

    /// Returns the uid.
    #[inline(always)]
    pub fn uid(self) -> u32 {
        self.0 as u32
    }

    /// Returns the generation: a number in no particular order, or 0 for any key.
    #[inline(always)]
    pub fn generation(self) -> u32 {
        (self.0 >> 32) as u32
    }

    /// Returns both in one number: the uid in the low half, the generation in the high one.
    #[inline(always)]
    pub fn to_bits(self) -> u64 {
        self.0
    }

    /// Returns the hint of a number from [`Hint::to_bits`].
    #[inline(always)]
    pub fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    #[inline(always)]
    pub(crate) fn is_some(self) -> bool {
        self.0 != 0
    }

    /// Returns whether this hint, given by a caller, means the key with the hint `other`.
    /// Generation 0 means any key that has the uid.
    #[inline(always)]
    pub(crate) fn means(self, other: Self) -> bool {
        self.uid() == other.uid()
            && (self.generation() == 0 || self.generation() == other.generation())
    }
}

impl From<u32> for Hint {
    fn from(uid: u32) -> Self {
        Self(u64::from(uid))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_survives_its_word() {
        let item_ref = REF;
        let mut word = u64::MAX;
        for state in [
            UidEntry::Free { next: 2047 },
            UidEntry::InTransition { item_ref },
            UidEntry::Live { item_ref },
        ] {
            let (next, wraps) = state.after(word);
            assert_eq!(UidEntry::decode(next), state);
            assert_ne!(next & VERSION, word & VERSION);
            assert_eq!(wraps, word == u64::MAX);
            word = next;
        }
        let used = UidEntry::used_in(word, 21);
        assert_eq!(UidEntry::decode(used), UidEntry::Live { item_ref });
        assert_eq!(UidEntry::unused_for(used, 23), 2);
        // A tag that is moved was used as it was.
        let moved = UidEntry::InTransition { item_ref }.after(used).0;
        assert_eq!(UidEntry::unused_for(moved, 21), 0);
        assert_eq!(UidEntry::decode(u64::MAX), UidEntry::Damaged);
    }

    #[test]
    fn a_place_is_found_from_its_uid() {
        for shards_log2 in [0, 5, 10] {
            for uid in [1, 77, 0x1234_5678, u32::MAX] {
                let place = UidPlace::of(uid, shards_log2);
                assert!(place.shard < 1 << shards_log2 && place.entry < UID_ENTRIES);
                assert_eq!(place.uid(shards_log2), uid);
            }
        }
    }

    #[test]
    fn a_plain_uid_means_any_key_that_has_it() {
        let hint = Hint::new(7, 3);
        assert!(hint.means(hint) && Hint::from(7).means(hint));
        assert!(!Hint::new(7, 4).means(hint) && !Hint::from(8).means(hint));
        assert_eq!(Hint::from_bits(hint.to_bits()), hint);
    }
}

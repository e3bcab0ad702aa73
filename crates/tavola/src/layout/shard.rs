//! The head of a shard: what readers read in one line, what the lock holder writes in others.

use super::{CLASSES, assert_layout};
use crate::sync::{W32, W64};

/// Directory entries that stand in the head itself: what a shard of some 150,000 keys needs.
pub(crate) const DIR_INLINE: u32 = 128;

/// Parts of a shard, by the lowest bits of all of a key's hash, that each have a count of ends for
/// leases without a record.
pub(crate) const LEASE_ENDS: u32 = 8;

/// One shard.
#[repr(C, align(64))]
pub(crate) struct ShardHead {
    /// [`LayoutWord`]: depth of the directory, and a count of its changes.
    pub(crate) layout: W64,
    /// The directory's first entries: page of a segment, 0 = no such prefix.
    pub(crate) dir_inline: [W32; DIR_INLINE as usize],
    /// [`UidLayout`]: chunks of the uid table, and a count of its changes.
    pub(crate) uid_layout: W64,
    /// Of a cache: rises each time that a sixteenth to an eighth of the keys were evicted.
    pub(crate) tag_epoch: W64,
    reserved_read: [W64; 5],
    /// The lock word (`lock`).
    pub(crate) lock: W32,
    /// How often the shard was recovered after a death.
    pub(crate) recoveries: W32,
    /// Keys and tags.
    pub(crate) items: W64,
    /// Key and value bytes.
    pub(crate) payload: W64,
    /// Keys moved between buckets: an iterator must look again.
    pub(crate) moves: W32,
    /// Segments of the index.
    pub(crate) segments: W32,
    /// Keys that were set, changed or removed by who asked for it, since the table was made; those
    /// of `in_place` not counted.
    pub(crate) changes: W64,
    /// The slab page that is being emptied; 0: none.
    pub(crate) source: W32,
    /// The block of the source page at which emptying goes on.
    pub(crate) source_block: W32,
    /// Values changed in place, since the table was made.
    pub(crate) in_place: W64,
    /// The slabs of each class.
    pub(crate) classes: [ClassHead; CLASSES],
    /// Segments by the highest bit of their directory index, the root's not counted.
    pub(crate) levels: [W32; 24],
    /// Uids given out.
    pub(crate) uids: W64,
    /// Uids given out since the table was made: the generation of the last.
    pub(crate) uid_births: W32,
    /// One more than the first chunk with a free entry; 0: none.
    pub(crate) uid_partial: W32,
    /// One more than the first chunk that was given back; 0: none.
    pub(crate) uid_hole: W32,
    /// Entries of the uid directory that are backed by memory.
    pub(crate) uid_backed: W32,
    /// [`SweepWord`]: where the search for expired keys goes on.
    pub(crate) sweep: W64,
    /// `moves` when its round began.
    pub(crate) sweep_moves: W32,
    /// Tags; each is counted in `items`, too.
    pub(crate) tags: W32,
    /// Keys that were removed because they had expired, since the table was made.
    pub(crate) expired: W64,
    /// Of a cache: key and value bytes of probationary.
    pub(crate) probationary: W64,
    /// [`HandWord`]: where probationary are looked at next.
    pub(crate) new_hand: W64,
    /// [`HandWord`]: where protected keys are.
    pub(crate) old_hand: W64,
    /// The epoch of ghosts.
    pub(crate) epoch: W32,
    /// Ghosts until the next.
    pub(crate) epoch_left: W32,
    /// Probationary evicted, since the table was made.
    pub(crate) evicted_new: W64,
    /// Protected keys evicted, since the table was made.
    pub(crate) evicted_old: W64,
    /// Keys that came back while their ghost was there, since the table was made.
    pub(crate) ghost_hits: W64,
    /// Directory entries that are backed by memory.
    pub(crate) dir_backed: W32,
    /// Where shrinking goes on: a directory index.
    pub(crate) shrink_cursor: W32,
    /// Of a table with versions: the last that was given to a key without being asked for.
    pub(crate) versions: W64,
    /// For leases without a record: each rises when what was computed of a key of that part of the
    /// shard would be stale, see [`LEASE_ENDS`].
    pub(crate) lease_ends: [W32; LEASE_ENDS as usize],
    /// Not 0: keys of the shard may be watched, see [`WatchRecord`](super::WatchRecord).
    pub(crate) watched: W32,
    reserved_tail: W32,
}
assert_layout!(ShardHead, size 1536, {
    layout: 0, dir_inline: 8, uid_layout: 520, tag_epoch: 528, reserved_read: 536, lock: 576,
    recoveries: 580,
    items: 584, payload: 592, moves: 600, segments: 604, changes: 608,
    source: 616, source_block: 620, in_place: 624, classes: 632, levels: 1280, uids: 1376,
    uid_births: 1384, uid_partial: 1388, uid_hole: 1392, uid_backed: 1396, sweep: 1400,
    sweep_moves: 1408, tags: 1412, expired: 1416, probationary: 1424, new_hand: 1432,
    old_hand: 1440, epoch: 1448, epoch_left: 1452, evicted_new: 1456, evicted_old: 1464,
    ghost_hits: 1472, dir_backed: 1480, shrink_cursor: 1484, versions: 1488, lease_ends: 1496,
    watched: 1528, reserved_tail: 1532,
});

/// The slabs of one class in one shard. Derived: recovery rebuilds it.
#[repr(C)]
pub(crate) struct ClassHead {
    /// The first page with a free block; 0: none.
    pub(crate) partial: W32,
    /// Pages.
    pub(crate) pages: W32,
    /// Blocks in use.
    pub(crate) used: W32,
}
assert_layout!(ClassHead, size 12, { partial: 0, pages: 4, used: 8 });

/// The word readers begin and end with: `changes 56 | depth 8`.
///
/// The count rises after every change that can make a reader follow the directory wrongly: a split,
/// a merge, a recovery.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct LayoutWord(pub(crate) u64);

impl LayoutWord {
    /// Bits of the tag that index the directory; below 32 whatever the word holds.
    #[inline(always)]
    pub(crate) fn depth(self) -> u32 {
        (self.0 & 0x1F) as u32
    }

    /// The word after a change.
    pub(crate) fn changed(self, depth: u32) -> Self {
        Self((self.0 & !0xFF).wrapping_add(0x100) | u64::from(depth))
    }
}

/// What readers by uid begin and end with: `changes 40 | chunks 24`.
///
/// The count rises whenever a chunk's page may mean something else, or may have: a chunk is given
/// back, a recovery.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct UidLayout(pub(crate) u64);

impl UidLayout {
    /// Chunks that were ever there; entries of the uid directory from here on are not looked at.
    #[inline(always)]
    pub(crate) fn chunks(self) -> u32 {
        (self.0 & 0xFF_FFFF) as u32
    }

    /// The word after a change.
    pub(crate) fn changed(self, chunks: u32) -> Self {
        Self((self.0 & !0xFF_FFFF).wrapping_add(0x100_0000) | u64::from(chunks))
    }
}

/// Where a hand of a cache stands: `prefix 24 | bucket 8 | slot 3`. Advice, as [`SweepWord`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct HandWord {
    /// The segment: low bits of its tags.
    pub(crate) prefix: u32,
    /// The bucket, and the first slot of it, that are looked at next.
    pub(crate) bucket: u8,
    pub(crate) slot: u8,
}

impl HandWord {
    pub(crate) fn decode(word: u64) -> Self {
        Self {
            prefix: (word & 0xFF_FFFF) as u32,
            bucket: (word >> 24) as u8,
            slot: (word >> 32) as u8 & 7,
        }
    }

    pub(crate) fn encode(self) -> u64 {
        u64::from(self.prefix & 0xFF_FFFF)
            | u64::from(self.bucket) << 24
            | u64::from(self.slot & 7) << 32
    }
}

/// Where the search for expired keys stands: `prefix 24 | bucket 8 | pace 8 | met 1 | active 1`.
///
/// All of it is advice: whatever it says, what is searched is searched well.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct SweepWord {
    /// The segment: low bits of its tags.
    pub(crate) prefix: u32,
    /// The first bucket that was not searched.
    pub(crate) bucket: u8,
    /// `log2` of the buckets that are searched in one step.
    pub(crate) pace: u8,
    /// Whether a key that may expire was met or stored in this round.
    pub(crate) met: bool,
    /// Whether there may be keys that expire.
    pub(crate) active: bool,
}

impl SweepWord {
    const MET: u64 = 1 << 40;
    const ACTIVE: u64 = 1 << 41;

    pub(crate) fn decode(word: u64) -> Self {
        Self {
            prefix: (word & 0xFF_FFFF) as u32,
            bucket: (word >> 24) as u8,
            pace: (word >> 32) as u8,
            met: word & Self::MET != 0,
            active: word & Self::ACTIVE != 0,
        }
    }

    pub(crate) fn encode(self) -> u64 {
        u64::from(self.prefix & 0xFF_FFFF)
            | u64::from(self.bucket) << 24
            | u64::from(self.pace) << 32
            | if self.met { Self::MET } else { 0 }
            | if self.active { Self::ACTIVE } else { 0 }
    }

    /// The word of a shard that may have keys that expire. The round that is under way does not
    /// say that there are none: the key may stand where it has been already.
    pub(crate) fn activated(word: u64) -> u64 {
        word | Self::ACTIVE | Self::MET
    }
}

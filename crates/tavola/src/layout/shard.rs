//! The head of a shard. What readers need is on lines that rarely change; what lock holders write
//! is on others.

use super::{CLASSES, assert_layout};
use crate::sync::{W32, W64};

/// Directory entries in the head itself, enough for a shard of some 150,000 keys.
pub(crate) const DIR_INLINE: u32 = 128;

/// Parts of a shard, selected by the lowest bits of the whole hash. Each has a count of ends, for
/// leases without a record.
pub(crate) const LEASE_ENDS: u32 = 8;

/// One shard.
#[repr(C, align(64))]
pub(crate) struct ShardHead {
    /// [`LayoutWord`]: depth of the directory, and a count of its changes.
    pub(crate) layout: W64,
    /// The directory's first entries: the page of a segment; 0: there is no segment with that
    /// prefix.
    pub(crate) dir_inline: [W32; DIR_INLINE as usize],
    /// [`UidLayout`]: chunks of the uid table, and a count of its changes.
    pub(crate) uid_layout: W64,
    /// Of a cache: rises each time that a sixteenth to an eighth of the keys have been evicted.
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
    /// Keys moved between buckets: a scan that sees it rise must read again.
    pub(crate) moves: W32,
    /// Segments of the index.
    pub(crate) segments: W32,
    /// Keys that were set, changed or removed by a call, since the table was created; changes
    /// counted in `in_place` are not included.
    pub(crate) changes: W64,
    /// The slab page that compaction empties; 0: none.
    pub(crate) source: W32,
    /// The block of the source page at which compaction continues.
    pub(crate) source_block: W32,
    /// Values changed in place, since the table was created.
    pub(crate) in_place: W64,
    /// The slabs of each class.
    pub(crate) classes: [ClassHead; CLASSES],
    /// Segments by the highest bit of their directory index, without the root.
    pub(crate) levels: [W32; 24],
    /// Uids given out.
    pub(crate) uids: W64,
    /// The generation of the last uid given out: the first is one more than a random number of the
    /// region. 0: none was.
    pub(crate) uid_births: W32,
    /// The number, plus 1, of the first chunk with a free entry; 0: none.
    pub(crate) uid_partial: W32,
    /// The number, plus 1, of the first chunk that was given back; 0: none.
    pub(crate) uid_unbacked: W32,
    /// Entries of the uid directory that are backed by memory.
    pub(crate) uid_backed: W32,
    /// [`SweepWord`]: where the search for expired keys continues.
    pub(crate) sweep: W64,
    /// The value of `moves` when the round of that search began.
    pub(crate) sweep_moves: W32,
    /// Tags; each is counted in `items` as well.
    pub(crate) tags: W32,
    /// Keys that were removed because they had expired, since the table was created.
    pub(crate) expired: W64,
    /// Of a cache: key and value bytes of probationary keys.
    pub(crate) probationary: W64,
    /// [`HandWord`]: the CLOCK hand of probationary keys.
    pub(crate) new_hand: W64,
    /// [`HandWord`]: the CLOCK hand of protected keys.
    pub(crate) old_hand: W64,
    /// The epoch of ghosts.
    pub(crate) epoch: W32,
    /// How many ghosts to make until the next epoch.
    pub(crate) epoch_left: W32,
    /// Probationary keys evicted, since the table was created.
    pub(crate) evicted_new: W64,
    /// Protected keys evicted, since the table was created.
    pub(crate) evicted_old: W64,
    /// Keys that were stored again while their ghost was there, since the table was created.
    pub(crate) ghost_hits: W64,
    /// Directory entries that are backed by memory.
    pub(crate) dir_backed: W32,
    /// The directory index at which shrinking continues.
    pub(crate) shrink_cursor: W32,
    /// Of a table with versions: the last version given to a key for which the caller set none.
    pub(crate) versions: W64,
    /// For leases without a record, one count for each part of the shard (see [`LEASE_ENDS`]): it
    /// rises when a value computed for a key of that part would be stale.
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
    uid_births: 1384, uid_partial: 1388, uid_unbacked: 1392, uid_backed: 1396, sweep: 1400,
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

/// The word that readers load first and check last: `changes 56 | depth 8`.
///
/// The count rises after every change after which a reader may have followed the directory wrongly:
/// a split, a merge, a recovery.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct LayoutWord(pub(crate) u64);

impl LayoutWord {
    /// Returns how many bits of the tag index the directory; below 32 whatever the word holds.
    #[inline(always)]
    pub(crate) fn depth(self) -> u32 {
        (self.0 & 0x1F) as u32
    }

    /// Returns the word after a change.
    pub(crate) fn changed(self, depth: u32) -> Self {
        Self((self.0 & !0xFF).wrapping_add(0x100) | u64::from(depth))
    }
}

/// The word that readers by uid load first and check last: `changes 40 | chunks 24`.
///
/// The count rises whenever a chunk's page may get another meaning: a chunk is given back, a
/// recovery. It also rises before the versions of an entry start over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct UidLayout(pub(crate) u64);

impl UidLayout {
    /// Returns how many chunks there ever were; readers ignore later entries of the uid directory.
    #[inline(always)]
    pub(crate) fn chunks(self) -> u32 {
        (self.0 & 0xFF_FFFF) as u32
    }

    /// Returns the word after a change.
    pub(crate) fn changed(self, chunks: u32) -> Self {
        Self((self.0 & !0xFF_FFFF).wrapping_add(0x100_0000) | u64::from(chunks))
    }
}

/// The position of a CLOCK hand: `prefix 24 | bucket 8 | slot 3`. Advice, like [`SweepWord`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct HandWord {
    /// The segment: the low bits of its tags.
    pub(crate) prefix: u32,
    /// The bucket, and its first slot, that the hand examines next.
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

/// The position of the search for expired keys: `prefix 24 | bucket 8 | pace 8 | met 1 | active 1`.
///
/// Prefix, bucket and pace are advice: whatever they say, no key is removed that has not expired.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct SweepWord {
    /// The segment: the low bits of its tags.
    pub(crate) prefix: u32,
    /// The first bucket that was not searched yet.
    pub(crate) bucket: u8,
    /// `log2` of the number of buckets searched in one step.
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

    /// Returns the word of a shard that now has a key that may expire. It also sets `met`, so that
    /// the current round, which may have passed the key's place, does not conclude that there are
    /// none.
    pub(crate) fn activated(word: u64) -> u64 {
        word | Self::ACTIVE | Self::MET
    }
}

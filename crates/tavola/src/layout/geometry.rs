//! Where each area of the region is, computed from the two numbers that a table keeps for good: its
//! room, and how many shards it has.

use super::{
    CacheSample, DIR_INLINE, Fixed, LEASES, LeaseRecord, Owner, PAGE, PARTICIPANTS, Participant,
    SAMPLES, ShardHead, TIMINGS, Timing, UID_ENTRIES, WATCHES, WatchRecord,
};

/// Bytes of the superblock: the shards follow it.
pub(super) const SUPERBLOCK_BYTES: u64 = 4096;

/// The least `max_size`.
pub(crate) const MIN_SIZE: u64 = 1 << 20;
/// The largest `max_size`: refs have 40 bits in units of 8 bytes.
pub(crate) const MAX_SIZE: u64 = 1 << 42;
/// The room of a new table is this many times its `max_size`, up to [`MOST_ROOM`].
const ROOM_FACTOR: u64 = 16;
/// The limit of the room that a new table gets beyond its `max_size`: all room costs address space
/// in every process.
const MOST_ROOM: u64 = 64 << 30;
/// Page words are backed by memory in steps of this many.
pub(crate) const WORDS_STEP: u32 = 2048;

/// Bytes of a shard's lease records.
const SHARD_LEASES: u64 = LEASES as u64 * size_of::<LeaseRecord>() as u64;

/// Bytes of a shard's watch records, including the one for all keys.
const SHARD_WATCHES: u64 = (WATCHES as u64 + 1) * size_of::<WatchRecord>() as u64;

/// Offsets of the areas, the same in every process. Part of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Geometry {
    /// Bytes of every mapping: the most that `max_size` may ever be raised to.
    pub(crate) room: u64,
    pub(crate) shards_log2: u32,
    pub(crate) dir_log2: u32,
    pub(crate) shards_off: u64,
    pub(crate) participants_off: u64,
    pub(crate) samples_off: u64,
    pub(crate) timings_off: u64,
    pub(crate) page_table_off: u64,
    pub(crate) dirs_off: u64,
    pub(crate) uid_dir_log2: u32,
    pub(crate) uids_off: u64,
    pub(crate) leases_off: u64,
    pub(crate) watches_off: u64,
    /// The first page that may be allocated.
    pub(crate) first_page: u32,
    /// One past the last page of the room.
    pub(crate) max_pages: u32,
    /// The lengths of keys and values, in a table of fixed lengths.
    pub(crate) fixed: Option<Fixed>,
    /// The default TTL of keys in milliseconds; 0: they do not expire.
    pub(crate) ttl_ms: u64,
    /// Whether the table is a cache: it evicts keys when there is no room.
    pub(crate) is_cache: bool,
    /// Whether keys have versions.
    pub(crate) has_versions: bool,
    /// Whether changes are recorded in a journal on disk.
    pub(crate) is_durable: bool,
    /// With whom the table goes, if it has an owner.
    pub(crate) owner: Option<Owner>,
}

impl Geometry {
    /// Returns the geometry, or `None` if no such table can be created.
    pub(crate) fn new(room: u64, shards_log2: u32) -> Option<Self> {
        Self::with_watches(room, shards_log2, SHARD_WATCHES)
    }

    /// Returns the geometry of a table of the current format, or of format 1, which has no watch
    /// records.
    pub(crate) fn of_format(is_first: bool, room: u64, shards_log2: u32) -> Option<Self> {
        let shard_watches = if is_first { 0 } else { SHARD_WATCHES };
        Self::with_watches(room, shards_log2, shard_watches)
    }

    fn with_watches(room: u64, shards_log2: u32, shard_watches: u64) -> Option<Self> {
        let whole = room.is_multiple_of(PAGE) && (MIN_SIZE..=MAX_SIZE).contains(&room);
        if !whole || shards_log2 > 10 {
            return None;
        }
        let max_pages = (room / PAGE) as u32;
        // Four times the segments that a shard would have if every page were a segment. Hashes are
        // spread evenly, so pages run out long before any shard's directory is full.
        let per_shard = (max_pages >> shards_log2).max(1);
        let dir_log2 = (per_shard.ilog2() + 2).clamp(DIR_INLINE.ilog2(), 24);
        let shards_off = SUPERBLOCK_BYTES;
        let participants_off = shards_off + ((size_of::<ShardHead>() as u64) << shards_log2);
        let participants_end =
            participants_off + u64::from(PARTICIPANTS) * size_of::<Participant>() as u64;
        let samples_off = participants_end.next_multiple_of(4096);
        let timings_off = samples_off + u64::from(SAMPLES) * size_of::<CacheSample>() as u64;
        let page_table_off = timings_off + u64::from(TIMINGS) * size_of::<Timing>() as u64;
        let dirs_off = (page_table_off + u64::from(max_pages) * 8).next_multiple_of(4096);
        let dirs_end = dirs_off + ((4u64 << dir_log2) << shards_log2);
        // As many chunks as the shard has uids for, but not more than there are pages.
        let uid_dir_log2 =
            (32 - UID_ENTRIES.ilog2() - shards_log2).min(max_pages.next_power_of_two().ilog2());
        let uids_off = dirs_end.next_multiple_of(4096);
        let uids_end = uids_off + ((4u64 << uid_dir_log2) << shards_log2);
        let leases_off = uids_end.next_multiple_of(4096);
        let watches_off = leases_off + (SHARD_LEASES << shards_log2);
        let watches_end = watches_off + (shard_watches << shards_log2);
        let first_page = watches_end.div_ceil(PAGE) as u32;
        (first_page < max_pages).then_some(Self {
            room,
            shards_log2,
            dir_log2,
            shards_off,
            participants_off,
            samples_off,
            timings_off,
            page_table_off,
            dirs_off,
            uid_dir_log2,
            uids_off,
            leases_off,
            watches_off,
            first_page,
            max_pages,
            fixed: None,
            ttl_ms: 0,
            is_cache: false,
            has_versions: false,
            is_durable: false,
            owner: None,
        })
    }

    /// Returns the geometry of a new file, which has room to raise `max_size`.
    pub(crate) fn with_room(max_size: u64, shards_log2: u32) -> Option<Self> {
        let room = max_size.saturating_mul(ROOM_FACTOR).min(MOST_ROOM);
        Self::new(max_size, shards_log2)?;
        Self::new(room.max(max_size), shards_log2)
    }

    /// Returns one past the last page of a table with this `max_size`: as many pages as if it had
    /// no room beyond. Returns `None` if `max_size` exceeds the room, or if no such table can be
    /// created.
    pub(crate) fn limit_of(&self, max_size: u64) -> Option<u32> {
        let own = Self::new(max_size, self.shards_log2).filter(|own| own.room <= self.room)?;
        let usable = own.max_pages - own.first_page;
        Some((self.first_page + usable).min(self.max_pages))
    }

    /// Returns whether a table may end before this page number.
    pub(crate) fn is_limit(&self, pages: u32) -> bool {
        pages > self.first_page && pages <= self.max_pages
    }

    /// Returns whether keys get a TTL or a version that the caller did not ask for.
    #[inline(always)]
    pub(crate) fn stamps(&self) -> bool {
        self.ttl_ms != 0 || self.has_versions
    }

    /// Returns how many shards there are.
    pub(crate) fn shards(&self) -> u32 {
        1 << self.shards_log2
    }

    /// Returns the offset of a shard's lease records.
    pub(crate) fn leases_of(&self, shard: u32) -> u64 {
        self.leases_off + u64::from(shard) * SHARD_LEASES
    }

    /// Returns offset and length of all lease records.
    pub(crate) fn leases(&self) -> (u64, u64) {
        (self.leases_off, SHARD_LEASES << self.shards_log2)
    }

    /// Returns the offset of a shard's watch records.
    pub(crate) fn watches_of(&self, shard: u32) -> u64 {
        self.watches_off + u64::from(shard) * SHARD_WATCHES
    }

    /// Returns offset and length of all watch records.
    pub(crate) fn watches(&self) -> (u64, u64) {
        (self.watches_off, SHARD_WATCHES << self.shards_log2)
    }

    /// Returns offset and length of the page words that are backed when the table is created.
    pub(crate) fn first_words(&self, limit: u32) -> (u64, u64) {
        let from = self.words_from();
        let until = self.page_table_off + u64::from(self.first_backed_words(limit)) * 8;
        (from, until - from)
    }

    /// Returns where these begin: at the first usable page's word, rounded down to 4 KiB.
    pub(crate) fn words_from(&self) -> u64 {
        self.page_table_off + u64::from(self.first_page) * 8 / 4096 * 4096
    }

    /// Returns the number of page words that are backed when the table is created: those of the
    /// first 128 MiB.
    pub(crate) fn first_backed_words(&self, limit: u32) -> u32 {
        (self.first_page + 4 * WORDS_STEP).min(limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn areas_follow_one_another() {
        for (size, shards) in [(1 << 20, 0), (1 << 30, 4), (64 << 30, 6), (MAX_SIZE, 10)] {
            let g = Geometry::new(size, shards).unwrap();
            assert!(g.shards_off < g.participants_off && g.participants_off < g.samples_off);
            assert!(g.samples_off < g.timings_off && g.timings_off < g.page_table_off);
            assert!(g.page_table_off.is_multiple_of(4096));
            assert!(g.page_table_off < g.dirs_off);
            assert!(g.dirs_off < g.uids_off && g.uids_off < g.leases_off);
            assert_eq!(g.leases_of(g.shards()), g.watches_of(0));
            assert!(g.watches_of(g.shards()) <= u64::from(g.first_page) * PAGE);
            assert!(g.first_page < g.max_pages);
        }
    }

    #[test]
    fn users_have_as_many_pages_as_without_room() {
        for (size, shards) in [(1 << 20, 0), (64 << 20, 4), (64 << 30, 5), (MAX_SIZE, 10)] {
            let own = Geometry::new(size, shards).unwrap();
            let roomy = Geometry::with_room(size, shards).unwrap();
            let limit = roomy.limit_of(size).unwrap();
            assert_eq!(limit - roomy.first_page, own.max_pages - own.first_page);
            assert!(roomy.is_limit(limit));
            assert_eq!(roomy.limit_of(roomy.room), Some(roomy.max_pages));
            assert!(
                roomy
                    .room
                    .checked_add(PAGE)
                    .and_then(|s| roomy.limit_of(s))
                    .is_none()
            );
        }
        assert_eq!(Geometry::with_room(1 << 20, 0).unwrap().room, 16 << 20);
        assert_eq!(Geometry::with_room(16 << 30, 5).unwrap().room, 64 << 30);
        assert_eq!(Geometry::with_room(1 << 40, 5).unwrap().room, 1 << 40);
        assert!(Geometry::with_room(MIN_SIZE, 10).is_none());
    }

    #[test]
    fn impossible_sizes_are_refused() {
        assert!(Geometry::new(MIN_SIZE - PAGE, 0).is_none());
        assert!(Geometry::new(MIN_SIZE + 1, 0).is_none());
        assert!(Geometry::new(MAX_SIZE + PAGE, 0).is_none());
        assert!(Geometry::new(MIN_SIZE, 10).is_none());
        assert!(Geometry::new(1 << 30, 11).is_none());
    }

    #[test]
    fn four_billion_keys_fit_their_directories() {
        // 2^32 keys at the worst load of a segment after a split, half of its best.
        let segments = (1u64 << 32) * 2 / 1750;
        let g = Geometry::new(512 << 30, 6).unwrap();
        assert!(segments >> g.shards_log2 < 1 << (g.dir_log2 - 1));
    }
}

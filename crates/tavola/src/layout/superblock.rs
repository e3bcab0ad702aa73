//! The superblock: identity and geometry, which are written once; then the heads of the page pool
//! and the entries of the extents.

use super::extent::{EXTENTS, Extent};
use super::fold::fold;
use super::geometry::SUPERBLOCK_BYTES;
use super::participant::PARTICIPANTS;
use super::{COMMITS, Fixed, Geometry, Owner, PAGE, assert_layout};
use crate::error::{Error, Result};
use crate::sync::{Ordering, W32, W64};
use std::path::Path;

/// `TavolaKV`, read as a little-endian word.
pub(crate) const MAGIC: u64 = u64::from_le_bytes(*b"TavolaKV");
/// Reads differently on a machine of the other byte order.
pub(crate) const ENDIAN: u32 = 0x0A0B_0C0D;
/// The version of the format.
pub(crate) const FORMAT: u32 = 2;
/// The previous version, and the fingerprint of its structures. Items, buckets and areas are the
/// same, except that there are no watch records. The room of such a table is its `max_size`, and
/// its file is that long.
pub(crate) const FORMAT_1: u32 = 1;
const FINGERPRINT_1: u64 = 0x4EAF_C602_60BE_2E6C;

/// The longest time that is kept, in milliseconds: a thousand years.
pub(crate) const MOST_MS: u64 = 1000 * 366 * 86_400_000;

/// Value of `copied`: the file was copied by a tool that does not know tables, while a participant
/// was attached to the original. A value may consist of parts of two writes.
pub(crate) const COPIED_IN_USE: u64 = u64::from_le_bytes(*b"CopyUsed");

/// Option: all keys have one length, and all values; see `lengths`.
const FIXED: u32 = 1;
/// Option, only together with `FIXED`: all items have room for a uid.
const FIXED_UIDS: u32 = 2;
/// Option: the table is a cache.
const CACHE: u32 = 4;
/// Option: keys have versions.
const VERSIONS: u32 = 8;
/// Option: changes are recorded in a journal on disk.
const DURABLE: u32 = 16;
/// Option: the table lives as long as its owner; see `owner`.
const OWNED: u32 = 32;

/// The first 4 KiB.
#[repr(C, align(4096))]
pub(crate) struct Superblock {
    /// [`MAGIC`].
    pub(crate) magic: W64,
    /// [`ENDIAN`].
    pub(crate) endian: W32,
    /// [`FORMAT`].
    pub(crate) format: W32,
    /// [`fingerprint`] of the structures.
    pub(crate) fingerprint: W64,
    /// Bytes of every mapping: the most that `max_size` may be raised to.
    pub(crate) room: W64,
    /// `log2` of the shards.
    pub(crate) shards_log2: W32,
    /// `log2` of the entries that a directory may have.
    pub(crate) dir_log2: W32,
    /// [`PARTICIPANTS`].
    pub(crate) participants: W32,
    /// What the table was created with: [`FIXED`], [`FIXED_UIDS`], [`CACHE`], [`VERSIONS`],
    /// [`DURABLE`], [`OWNED`].
    pub(crate) options: W32,
    /// Seeds the hash of keys.
    pub(crate) hash_seed: W64,
    /// Identifies this table.
    pub(crate) uuid: [W64; 2],
    /// When the table was created, in seconds since 1970.
    pub(crate) created: W64,
    /// Of a table of fixed lengths: the length of keys in bits 0..32, that of values in the others;
    /// else 0.
    pub(crate) lengths: W64,
    /// The default TTL of keys in milliseconds; 0: they do not expire.
    pub(crate) ttl_ms: W64,
    /// Of a table with an owner: [`Owner`]; else 0.
    owner: [W64; 3],
    /// Checksum of all bytes before it.
    pub(crate) checksum: W64,
    /// [`ClockWord`](super::ClockWord): the clock by which keys expire.
    pub(crate) clock: W64,
    /// [`LEASES_BACKED`](super::LEASES_BACKED): the lease records are backed by memory.
    pub(crate) leases: W32,
    /// The highest slot that a participant ever had, so the last one with counters to read. Only
    /// rises.
    pub(crate) last_slot: W32,
    /// Leases that were given without a record, because all records of the shard were taken.
    pub(crate) leases_unrecorded: W64,
    /// Not 0: a pin may be `Left`, and its chain must be freed.
    pub(crate) orphans: W64,
    /// [`WATCHES_BACKED`](super::WATCHES_BACKED): the watch records are backed by memory.
    pub(crate) watches: W32,
    unused_half: W32,
    unused: [W64; 2],
    /// [`COPIED_IN_USE`]: the file is a copy that was made while a participant was attached.
    pub(crate) copied: W64,
    /// [`SampledWord`](super::SampledWord): the last sample of the counters.
    pub(crate) sampled: W64,
    unused_line: [W64; 7],
    /// [`CommitWord`](super::CommitWord): each decides about the changes of one transaction.
    pub(crate) commits: [W64; COMMITS],
    /// The lock word of the turn, which a transaction holds that must not conflict.
    pub(crate) turn: W32,
    unused_word: W32,
    unused_lines: [W64; 31],
    /// The heads of the page pool.
    pub(crate) pool: Pool,
    tail: [W64; 104],
    /// The extents: queue pools and logs.
    pub(crate) extents: [Extent; EXTENTS],
}
const _: () = assert!(size_of::<Superblock>() as u64 == SUPERBLOCK_BYTES);
assert_layout!(Superblock, size 4096, {
    magic: 0, endian: 8, format: 12, fingerprint: 16, room: 24, shards_log2: 32, dir_log2: 36,
    participants: 40, options: 44, hash_seed: 48, uuid: 56, created: 72, lengths: 80,
    ttl_ms: 88, owner: 96, checksum: 120, clock: 128, leases: 136, last_slot: 140,
    leases_unrecorded: 144, orphans: 152, watches: 160, unused_half: 164, unused: 168,
    copied: 184, sampled: 192, unused_line: 200, commits: 256, turn: 768, unused_word: 772,
    unused_lines: 776, pool: 1024, tail: 1216, extents: 2048,
});

/// The page pool: the pages that no shard owns. The lists and their counters are derived from the
/// page words.
#[repr(C, align(64))]
pub(crate) struct Pool {
    /// The lock word (`lock`).
    pub(crate) lock: W32,
    /// The first free page that is backed by memory; 0: none.
    pub(crate) free_head: W32,
    /// How many of these there are, including those set apart (`old_head`, `surplus_head`).
    pub(crate) free_count: W32,
    /// The first free page that is not backed; 0: none.
    pub(crate) unbacked_head: W32,
    /// How many of these there are.
    pub(crate) unbacked_count: W32,
    /// How many page words are backed by memory.
    pub(crate) backed_words: W32,
    /// The first of the free pages that were set apart to be given back to the system; 0: none.
    pub(crate) old_head: W32,
    /// Pages of extents.
    pub(crate) extent_pages: W32,
    /// [`PagesWord`]: the capacity of a cache.
    pub(crate) capacity: W64,
    /// Bytes of memory outside the pages: heads, page words, directories.
    pub(crate) overhead: W64,
    /// The first of the free pages that are not used again, because a cache is too large; 0: none.
    pub(crate) surplus_head: W32,
    /// How many of these there are.
    pub(crate) surplus_count: W32,
    reserved: [W64; 9],
    /// The high-water mark: pages from here on were never used. Only rises.
    pub(crate) high_water: W32,
    reserved_word: W32,
    /// [`PagesWord`]: one past the last page that may be used; the file is that long. Only rises.
    pub(crate) limit: W64,
    /// [`PagesWord`]: `max_size` as the user set it. The pages in use are bounded by `limit`, not
    /// by this.
    pub(crate) max_size: W64,
    reserved_line: [W64; 5],
}
assert_layout!(Pool, size 192, {
    lock: 0, free_head: 4, free_count: 8, unbacked_head: 12, unbacked_count: 16, backed_words: 20,
    old_head: 24, extent_pages: 28, capacity: 32, overhead: 40, surplus_head: 48, surplus_count: 52,
    reserved: 56, high_water: 128, reserved_word: 132,
    limit: 136, max_size: 144, reserved_line: 152,
});

/// A number of pages: `pages 32 | the complement of pages 32`.
///
/// Any other word is damaged.
pub(crate) struct PagesWord;

impl PagesWord {
    pub(crate) fn encode(pages: u32) -> u64 {
        u64::from(pages) | u64::from(!pages) << 32
    }

    pub(crate) fn decode(word: u64) -> Option<u32> {
        let pages = word as u32;
        (word == Self::encode(pages)).then_some(pages)
    }
}

impl Superblock {
    /// Writes everything that never changes. No other process can see the region yet.
    pub(crate) fn init(
        &self,
        geometry: &Geometry,
        max_size: u64,
        seed: u64,
        uuid: [u64; 2],
        created: u64,
    ) {
        let limit = geometry.limit_of(max_size).unwrap_or(geometry.max_pages);
        let order = Ordering::Relaxed;
        self.magic.store(MAGIC, order);
        self.endian.store(ENDIAN, order);
        self.format.store(FORMAT, order);
        self.fingerprint.store(fingerprint(), order);
        self.room.store(geometry.room, order);
        self.shards_log2.store(geometry.shards_log2, order);
        self.dir_log2.store(geometry.dir_log2, order);
        self.participants.store(PARTICIPANTS, order);
        let mut options = if geometry.is_cache { CACHE } else { 0 };
        options |= if geometry.has_versions { VERSIONS } else { 0 };
        options |= if geometry.is_durable { DURABLE } else { 0 };
        if let Some(owner) = geometry.owner {
            options |= OWNED;
            let words = owner.encode();
            self.owner
                .iter()
                .zip(words)
                .for_each(|(to, word)| to.store(word, order));
        }
        if let Some(fixed) = geometry.fixed {
            options |= if fixed.uids {
                FIXED | FIXED_UIDS
            } else {
                FIXED
            };
            let lengths = u64::from(fixed.key_len) | u64::from(fixed.value_len) << 32;
            self.lengths.store(lengths, order);
        }
        self.options.store(options, order);
        self.ttl_ms.store(geometry.ttl_ms, order);
        self.hash_seed.store(seed, order);
        self.uuid[0].store(uuid[0], order);
        self.uuid[1].store(uuid[1], order);
        self.created.store(created, order);
        self.pool.high_water.store(geometry.first_page, order);
        self.pool
            .backed_words
            .store(geometry.first_backed_words(limit), order);
        self.pool.limit.store(PagesWord::encode(limit), order);
        let max_pages = PagesWord::encode((max_size / PAGE) as u32);
        self.pool.max_size.store(max_pages, order);
        self.checksum.store(self.sum(), Ordering::Release);
    }

    /// Compares the words with what this library expects of that format version, and returns the
    /// geometry that they describe.
    pub(crate) fn verify(&self, path: &Path, expected: u32) -> Result<Geometry> {
        let order = Ordering::Relaxed;
        let foreign = |why: &str| Error::NotATable {
            path: path.to_path_buf(),
            why: why.to_string(),
        };
        let magic = self.magic.load(order);
        if magic == MAGIC.swap_bytes() || self.endian.load(order) == ENDIAN.swap_bytes() {
            return Err(Error::Endianness {
                path: path.to_path_buf(),
            });
        }
        if magic != MAGIC {
            return Err(foreign("it does not begin with the bytes of a table"));
        }
        if self.endian.load(order) != ENDIAN {
            return Err(foreign("its byte order mark is damaged"));
        }
        let format = self.format.load(order);
        if format != expected {
            return Err(Error::Version {
                path: path.to_path_buf(),
                found: format,
                expected: FORMAT,
            });
        }
        if self.checksum.load(order) != self.sum() {
            return Err(foreign("the checksum of its superblock is wrong"));
        }
        let fingerprint = match format {
            FORMAT_1 => FINGERPRINT_1,
            _ => fingerprint(),
        };
        if self.fingerprint.load(order) != fingerprint {
            return Err(foreign(
                "its structures have a layout unknown to this library",
            ));
        }
        let options = self.options.load(order);
        if options & !(FIXED | FIXED_UIDS | CACHE | VERSIONS | DURABLE | OWNED) != 0 {
            return Err(foreign("it uses options that this library does not know"));
        }
        let fixed = self.fixed(options);
        if fixed.is_none() && (options & (FIXED | FIXED_UIDS), self.lengths.load(order)) != (0, 0) {
            return Err(foreign("its lengths of keys and values are impossible"));
        }
        let ttl_ms = self.ttl_ms.load(order);
        if ttl_ms > MOST_MS || ttl_ms != 0 && fixed.is_some() {
            return Err(foreign("its default TTL is impossible"));
        }
        let has_versions = options & VERSIONS != 0;
        if has_versions && fixed.is_some() {
            return Err(foreign("its keys have no room for versions"));
        }
        let owner = self.owner(options).map_err(foreign)?;
        let (room, shards) = (self.room.load(order), self.shards_log2.load(order));
        let geometry = Geometry::of_format(format == FORMAT_1, room, shards)
            .filter(|g| g.dir_log2 == self.dir_log2.load(order))
            .filter(|_| self.participants.load(order) == PARTICIPANTS)
            .ok_or_else(|| foreign("its geometry is impossible"))?;
        Ok(Geometry {
            fixed,
            ttl_ms,
            is_cache: options & CACHE != 0,
            has_versions,
            is_durable: options & DURABLE != 0,
            owner,
            ..geometry
        })
    }

    /// Returns a commit word, or `None` if there is none of that number.
    pub(crate) fn commit_word(&self, number: u32) -> Option<&W64> {
        self.commits.get(number as usize)
    }

    /// Returns the least length that the file may have. If `limit` is damaged, that is one page
    /// more than the areas need.
    pub(crate) fn least_len(&self, geometry: &Geometry) -> u64 {
        if self.format.load(Ordering::Relaxed) == FORMAT_1 {
            return geometry.room;
        }
        let limit = PagesWord::decode(self.pool.limit.load(Ordering::Relaxed))
            .filter(|pages| geometry.is_limit(*pages));
        u64::from(limit.unwrap_or(geometry.first_page + 1)) * PAGE
    }

    /// Returns the lengths of a table of fixed lengths.
    fn fixed(&self, options: u32) -> Option<Fixed> {
        if options & FIXED == 0 {
            return None;
        }
        let lengths = self.lengths.load(Ordering::Relaxed);
        let uids = options & FIXED_UIDS != 0;
        Fixed::new(lengths as u32, (lengths >> 32) as u32, uids)
    }

    /// Returns the owner of a table that has one, or why it cannot have one.
    fn owner(&self, options: u32) -> core::result::Result<Option<Owner>, &'static str> {
        let words = [0, 1, 2].map(|word| self.owner[word].load(Ordering::Relaxed));
        match options & OWNED {
            0 => Ok(None),
            _ => Owner::decode(words)
                .map(Some)
                .ok_or("its owner is impossible"),
        }
    }

    fn sum(&self) -> u64 {
        let order = Ordering::Relaxed;
        let mut words = vec![
            self.magic.load(order),
            u64::from(self.endian.load(order)),
            u64::from(self.format.load(order)),
            self.fingerprint.load(order),
            self.room.load(order),
            u64::from(self.shards_log2.load(order)),
            u64::from(self.dir_log2.load(order)),
            u64::from(self.participants.load(order)),
            u64::from(self.options.load(order)),
            self.hash_seed.load(order),
            self.uuid[0].load(order),
            self.uuid[1].load(order),
            self.created.load(order),
            self.lengths.load(order),
            self.ttl_ms.load(order),
        ];
        words.extend(self.owner.iter().map(|word| word.load(order)));
        fold(&words)
    }
}

/// Returns a number that changes if any shared structure changes its size, or a field its offset.
pub(crate) const fn fingerprint() -> u64 {
    fold(super::describe::ALL_OFFSETS)
}

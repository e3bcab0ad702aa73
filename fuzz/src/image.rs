//! The bytes of a table's file, as docs/internals/format.md says them: where its parts stand, and
//! the superblock's checksum.

use crate::change::Aim;
use std::ops::Range;
use tavola_model::Fixed;

pub(crate) const PAGE: usize = 16 * 1024;
const SHARDS: usize = 4096;
const SHARD: usize = 1536;
const PARTICIPANT: usize = 128;
const PARTICIPANTS: usize = 1024;
/// Bytes of samples and of times, behind the participants.
const SAMPLES: usize = 64 * 64 + 8 * 512;
const POOL: usize = 1024;
const HIGH_WATER: usize = POOL + 128;
/// In a shard head.
const LOCK: usize = 576;
/// What a page word says in its low four bits, of a page of the uid table.
const UIDS: u64 = 8;
/// Bytes of a shard's lease records.
const LEASES: usize = 16 * 128;
/// Words of a page of the uid table.
const UID_ENTRIES: usize = 2048;
const OPTIONS: usize = 44;
/// Among the options: fixed lengths; and beside that, uids.
const IS_FIXED: u32 = 1;
const HAS_UIDS: u32 = 2;
const HASH_SEED: usize = 48;
const LENGTHS: usize = 80;
const CHECKSUM: usize = 120;
/// The clock by which keys expire is behind the checksum.
const CLOCK_END: usize = CHECKSUM + 16;
/// The entries of what is beside the table, to the end of the superblock.
const EXTENTS: usize = 2048;
/// The widths in bytes of the words the checksum is over.
const SUMMED: [usize; 18] = [8, 4, 4, 8, 8, 4, 4, 4, 4, 8, 8, 8, 8, 8, 8, 8, 8, 8];

/// A part of the file that damage can be aimed at.
#[derive(arbitrary::Arbitrary, Clone, Copy, Debug)]
pub(crate) enum Area {
    /// What the file is, the clock, and entries of extents.
    Superblock,
    Pool,
    ShardHead,
    Participants,
    PageWords,
    Directory,
    UidDirectory,
    UidPages,
    /// The first bytes of a page: heads and bitmaps of slabs.
    PageHeads,
    Pages,
    /// Everything in use.
    All,
}

/// A table's file from its beginning to the end of what was ever used; what follows is zeros.
#[derive(Clone)]
pub(crate) struct Image {
    pub(crate) bytes: Vec<u8>,
    /// The length of the file.
    pub(crate) len: u64,
    pub(crate) first_page: usize,
}

impl Aim for Area {
    fn place(self, whole: &Image, number: usize) -> usize {
        whole.place(self, number)
    }
}

/// The checksum of words, as superblocks and heads of pools have it.
pub(crate) fn sum_of(words: impl IntoIterator<Item = u64>) -> u64 {
    let step = |sum: u64, word: u64| {
        let sum = (sum ^ word).wrapping_mul(0x0000_0100_0000_01B3);
        sum ^ sum >> 29
    };
    words.into_iter().fold(0xCBF2_9CE4_8422_2325, step)
}

impl Image {
    /// Of a whole table.
    pub(crate) fn new(mut bytes: Vec<u8>) -> Self {
        let mut image = Self {
            first_page: 0,
            len: bytes.len() as u64,
            bytes: Vec::new(),
        };
        std::mem::swap(&mut image.bytes, &mut bytes);
        image.first_page = image.uid_directories().end.div_ceil(PAGE);
        let high_water = image.word32(HIGH_WATER) as usize;
        image.bytes.truncate(high_water * PAGE);
        image
    }

    pub(crate) fn word32(&self, at: usize) -> u32 {
        let bytes = self.bytes.get(at..at + 4);
        bytes.map_or(0, |bytes| u32::from_le_bytes(bytes.try_into().unwrap()))
    }

    pub(crate) fn word64(&self, at: usize) -> u64 {
        u64::from(self.word32(at)) | u64::from(self.word32(at + 4)) << 32
    }

    /// Writes as much of `new` as has room.
    pub(crate) fn put(&mut self, at: usize, new: &[u8]) {
        for (old, new) in self.bytes.iter_mut().skip(at).zip(new) {
            *old = *new;
        }
    }

    /// The lengths that the superblock says.
    pub(crate) fn fixed(&self) -> Option<Fixed> {
        let options = self.word32(OPTIONS);
        (options & IS_FIXED != 0).then(|| Fixed {
            key: self.word32(LENGTHS) as usize,
            value: self.word32(LENGTHS + 4) as usize,
            uids: options & HAS_UIDS != 0,
        })
    }

    /// Shards as the superblock says; at most as many as there can be.
    fn shards(&self) -> usize {
        1 << self.word32(32).min(10)
    }

    fn participants(&self) -> usize {
        SHARDS + self.shards() * SHARD
    }

    pub(crate) fn page_words(&self) -> usize {
        (self.participants() + PARTICIPANTS * PARTICIPANT).next_multiple_of(4096) + SAMPLES
    }

    /// Of a whole table.
    fn directories(&self) -> Range<usize> {
        let pages = self.word64(24) as usize / PAGE;
        let from = (self.page_words() + pages * 8).next_multiple_of(4096);
        from..from + self.shards() * (4 << self.word32(36))
    }

    /// Of a whole table.
    fn uid_directories(&self) -> Range<usize> {
        let pages = (self.word64(24) as usize / PAGE).next_power_of_two();
        let chunks = pages.min((1 << 32) / UID_ENTRIES / self.shards());
        let from = self.directories().end.next_multiple_of(4096);
        from..from + self.shards() * 4 * chunks
    }

    /// The records of leases; of a whole table.
    pub(crate) fn lease_records(&self) -> Range<usize> {
        let from = self.uid_directories().end.next_multiple_of(4096);
        from..from + self.shards() * LEASES
    }

    /// The pages whose words say so in their low four bits.
    fn pages_that_are(&self, state: u64) -> Vec<usize> {
        let is_one = |page: &usize| self.word64(self.page_words() + page * 8) & 0xF == state;
        let used = self.bytes.len() / PAGE;
        (self.first_page..used).filter(is_one).collect()
    }

    /// Where these begin.
    pub(crate) fn pages_of(&self, state: u64) -> Vec<usize> {
        let pages = self.pages_that_are(state).into_iter();
        pages.map(|page| page * PAGE).collect()
    }

    /// Where the byte of that number is in an area; of an image that is whole.
    pub(crate) fn place(&self, area: Area, number: usize) -> usize {
        let used = self.bytes.len() / PAGE;
        let first = self.first_page;
        let range = match area {
            Area::Superblock => match number % 256 {
                at @ ..CLOCK_END => return at,
                _ => {
                    let extents = EXTENTS..SHARDS;
                    return extents.start + number / 256 % extents.len();
                }
            },
            Area::Pool => POOL..POOL + 192,
            Area::ShardHead => SHARDS..SHARDS + SHARD * self.shards(),
            Area::Participants => self.participants()..self.participants() + 8 * PARTICIPANT,
            Area::PageWords => self.page_words() + first * 8..self.page_words() + (used + 2) * 8,
            Area::Directory => self.directories(),
            Area::UidDirectory => {
                // The rest is hardly looked at.
                let from = self.uid_directories().start;
                from..from + 16
            }
            Area::UidPages => {
                let pages = self.pages_that_are(UIDS);
                if pages.is_empty() {
                    return self.place(Area::Pages, number);
                }
                return pages[number / PAGE % pages.len()] * PAGE + number % PAGE;
            }
            Area::PageHeads => {
                let page = first + number / 64 % (used - first);
                return page * PAGE + number % 64;
            }
            Area::Pages => first * PAGE..used * PAGE,
            Area::All => 0..used * PAGE,
        };
        range.start + number % range.len()
    }

    /// Another seed for the hash of keys; of a table without keys.
    pub(crate) fn set_seed(&mut self, seed: u64) {
        self.put(HASH_SEED, &seed.to_le_bytes());
        self.seal();
    }

    /// Makes the superblock's checksum right.
    pub(crate) fn seal(&mut self) {
        let mut at = 0;
        let mut word_of = |width| {
            let word = match width {
                8 => self.word64(at),
                _ => u64::from(self.word32(at)),
            };
            at += width;
            word
        };
        let sum = sum_of(SUMMED.map(&mut word_of));
        assert_eq!(at, CHECKSUM);
        self.put(CHECKSUM, &sum.to_le_bytes());
    }

    /// Frees locks that name the participant this process would become. Such a word says that we
    /// hold the lock and live, so a wait for it rightly has no end.
    pub(crate) fn free_own_locks(&mut self) {
        let locks: Vec<usize> = (0..self.shards())
            .map(|shard| SHARDS + shard * SHARD + LOCK)
            .chain([POOL])
            .collect();
        for at in locks {
            if self.is_ours(self.word32(at)) {
                self.put(at, &[0; 4]);
            }
        }
    }

    /// The participant that this process becomes if it takes that slot.
    pub(crate) fn next_participant(&self, slot: usize) -> u32 {
        let last = self.word32(self.participants() + slot * PARTICIPANT);
        let generation = match last.wrapping_add(1) {
            g if (1..(1 << 19) - 1).contains(&g) => g,
            _ => 1,
        };
        slot as u32 | generation << 12
    }

    /// Whether a lock word names the participant this process would become.
    pub(crate) fn is_ours(&self, lock: u32) -> bool {
        let owner = lock & !(1 << 31);
        let slot = owner as usize & 0xFFF;
        (1..PARTICIPANTS).contains(&slot) && owner == self.next_participant(slot)
    }
}

//! The bytes of a table's file as docs/internals/format.md describes them, written down a second
//! time: what the tests of damage change, they find without the library's help.

#![allow(
    clippy::single_range_in_vec_init,
    reason = "lists of ranges, some with one"
)]

use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;

pub const PAGE: u64 = 16 * 1024;
pub const SUPERBLOCK: u64 = 4096;
pub const POOL: u64 = 1024;
pub const HIGH_WATER: u64 = POOL + 128;
/// Of a cache, in the pool: its capacity, what is backed beside the pages, the list of pages it
/// gives up and their number.
pub const CAPACITY: u64 = POOL + 32;
pub const OVERHEAD: u64 = POOL + 40;
pub const SURPLUS: u64 = POOL + 48;
/// In the superblock: the clock by which keys expire, entries of what is beside the table.
pub const CLOCK: u64 = 128;
/// Whether there are records of leases; the last slot of a participant; how often there was no
/// record left.
pub const LEASES: u64 = 136;
pub const LEASES_LEN: u64 = 16;
/// The last sample of what was done; the areas of samples and of times, behind the participants.
pub const SAMPLED: u64 = 192;
pub const SAMPLES_LEN: u64 = 64 * 64;
pub const TIMES_LEN: u64 = 8 * 512;
pub const EXTENTS: u64 = 2048;
pub const EXTENT: u64 = 128;
pub const EXTENT_COUNT: u64 = 16;
/// In an entry, behind state, owner, place and kind.
pub const EXTENT_NAME: u64 = 24;
pub const SHARD: u64 = 1536;
/// In a shard head, behind the layout word.
pub const DIRECTORY: u64 = 8;
pub const UID_LAYOUT: u64 = 520;
pub const LOCK: u64 = 576;
/// From the recoveries to the count of changes in place.
pub const COUNTERS: u64 = 580;
/// How much of the directory is backed, and where shrinking continues.
pub const DIRECTORY_COUNTS: u64 = 1480;
pub const CLASSES: u64 = 632;
pub const LEVELS: u64 = 1280;
/// Of the uid table: how many are given out, births; partial, hole, backed.
pub const UIDS_USED: u64 = 1376;
pub const UID_BIRTHS: u64 = 1384;
pub const UID_LISTS: u64 = 1388;
/// Of the search for expired keys: where it is, moves when it began, how many it found.
pub const SWEEP: u64 = 1400;
pub const SWEEP_LEN: u64 = 24;
/// Of a cache: bytes of probationary keys; two hands; epoch and ghosts until the next.
pub const PROBATIONARY: u64 = 1424;
pub const HANDS: u64 = 1432;
pub const EPOCH: u64 = 1448;
/// Slot words below this one, without their tag, are ghosts.
pub const GHOSTS: u64 = 129;
pub const PARTICIPANT: u64 = 128;
pub const PARTICIPANTS: u64 = 1024;
/// Key and value of an item that is in its block whole have at most so many bytes.
pub const MOST_SMALL: u64 = 16_169;
/// Words of a chunk of uids; the head is where the first two would.
pub const UID_ENTRIES: u64 = 2048;
pub const UID_FIRST: u64 = 2;

/// Bytes of a shard's lease records.
pub const LEASE_RECORDS: u64 = 16 * 128;
/// And of its watch records.
const WATCH_RECORDS: u64 = 9 * 64;

/// What a page word says, in its low four bits.
pub const FREE: u64 = 2;
pub const UNBACKED: u64 = 3;
pub const LARGE: u64 = 5;
pub const SLAB: u64 = 6;
pub const SEGMENT: u64 = 7;
pub const UIDS: u64 = 8;

/// Flags of items.
const IS_LARGE: u64 = 1;
const IS_COUNTER: u64 = 2;
const HAS_EXPIRY: u64 = 4;
const HAS_CLIENT: u64 = 8;
const HAS_UID: u64 = 32;
const HAS_TAGS: u64 = 64;
const IS_TAG: u64 = 128;
const FIELDS: u64 = IS_LARGE | IS_COUNTER | HAS_EXPIRY | HAS_CLIENT | HAS_UID;

/// An item, a freed one maybe.
pub struct Item {
    pub key: Vec<u8>,
    /// Where its bytes stand: header, fields, key and value of a small one; head, pages and their
    /// words of a large one.
    pub ranges: Vec<Range<u64>>,
    pub is_large: bool,
    /// Where its uid is, its time of expiry, its flags.
    pub uid_at: Option<u64>,
    pub expiry_at: Option<u64>,
    pub client_at: Option<u64>,
    /// Where its key begins.
    pub key_at: u64,
}

/// A chunk of the uid table.
pub struct Chunk {
    pub shard: u64,
    pub number: u64,
    pub page: u64,
}

/// A table's file in memory.
pub struct Image {
    pub bytes: Vec<u8>,
}

impl Image {
    pub fn read(path: &Path) -> Self {
        Self {
            bytes: std::fs::read(path).unwrap(),
        }
    }

    /// Writes it over a file, which keeps its inode; pages never used stay without memory.
    pub fn write(&self, path: &Path) {
        let file = File::options()
            .write(true)
            .create(true)
            .truncate(true)
            .open(path)
            .unwrap();
        let used = (self.high_water() * PAGE).min(self.bytes.len() as u64);
        let tail = &self.bytes[used as usize..];
        let used = if tail.iter().all(|byte| *byte == 0) {
            used
        } else {
            self.bytes.len() as u64
        };
        file.set_len(self.bytes.len() as u64).unwrap();
        file.write_all_at(&self.bytes[..used as usize], 0).unwrap();
    }

    pub fn word32(&self, at: u64) -> u32 {
        u32::from_le_bytes(self.bytes[at as usize..][..4].try_into().unwrap())
    }

    pub fn word64(&self, at: u64) -> u64 {
        u64::from_le_bytes(self.bytes[at as usize..][..8].try_into().unwrap())
    }

    pub fn flip(&mut self, at: u64, bit: u32) {
        self.bytes[at as usize] ^= 1 << bit;
    }

    pub fn shards(&self) -> u64 {
        1 << self.word32(32)
    }

    pub fn shard(&self, shard: u64) -> u64 {
        SUPERBLOCK + shard * SHARD
    }

    pub fn participants(&self) -> u64 {
        self.shard(self.shards())
    }

    pub fn samples(&self) -> u64 {
        (self.participants() + PARTICIPANTS * PARTICIPANT).next_multiple_of(4096)
    }

    pub fn page_table(&self) -> u64 {
        self.samples() + SAMPLES_LEN + TIMES_LEN
    }

    pub fn directories(&self) -> u64 {
        (self.page_table() + self.word64(24) / PAGE * 8).next_multiple_of(4096)
    }

    pub fn uid_directories(&self) -> u64 {
        let entries = 1u64 << self.word32(36);
        (self.directories() + entries * 4 * self.shards()).next_multiple_of(4096)
    }

    /// How many chunks a shard's uid directory has room for.
    fn most_chunks(&self) -> u64 {
        let pages = (self.word64(24) / PAGE).next_power_of_two();
        pages.min((1 << 32) / UID_ENTRIES / self.shards())
    }

    pub fn leases(&self) -> u64 {
        let entries = self.most_chunks() * self.shards();
        (self.uid_directories() + entries * 4).next_multiple_of(4096)
    }

    pub fn watches_end(&self) -> u64 {
        self.leases() + (LEASE_RECORDS + WATCH_RECORDS) * self.shards()
    }

    pub fn first_page(&self) -> u64 {
        self.watches_end().div_ceil(PAGE)
    }

    pub fn high_water(&self) -> u64 {
        u64::from(self.word32(HIGH_WATER))
    }

    pub fn page_word_at(&self, page: u64) -> u64 {
        self.page_table() + page * 8
    }

    /// Pages whose word says `state`.
    pub fn pages(&self, state: u64) -> Vec<u64> {
        (self.first_page()..self.high_water())
            .filter(|page| self.word64(self.page_word_at(*page)) & 0xF == state)
            .collect()
    }

    /// The entries of the uid directories that were ever used.
    pub fn uid_directory_entries(&self) -> Vec<u64> {
        let entries = |shard| {
            let chunks = self.word64(self.shard(shard) + UID_LAYOUT) & 0xFF_FFFF;
            let first = self.uid_directories() + shard * self.most_chunks() * 4;
            (0..chunks).map(move |chunk| first + 4 * chunk)
        };
        (0..self.shards()).flat_map(entries).collect()
    }

    /// The chunks that have a page.
    pub fn chunks(&self) -> Vec<Chunk> {
        let place_of = |entry: &u64| {
            let number = (entry - self.uid_directories()) / 4;
            Chunk {
                shard: number / self.most_chunks(),
                number: number % self.most_chunks(),
                page: u64::from(self.word32(*entry)),
            }
        };
        let entries = self.uid_directory_entries();
        let chunks = entries.iter().map(place_of);
        chunks.filter(|chunk| chunk.page >> 31 == 0).collect()
    }

    /// The words of all uids: where each is, the uid, and the item if it has one.
    pub fn uid_entries(&self) -> Vec<(u64, u64, Option<Item>)> {
        let mut found = Vec::new();
        for chunk in self.chunks() {
            for entry in UID_FIRST..UID_ENTRIES {
                let at = chunk.page * PAGE + entry * 8;
                let number = chunk.number * UID_ENTRIES + entry;
                let uid = number * self.shards() + chunk.shard;
                let word = self.word64(at);
                let item = (word >> 62 == 2).then(|| self.item_at((word & ((1 << 40) - 1)) * 8));
                found.push((at, uid, item.map(Option::unwrap)));
            }
        }
        found
    }

    /// Every item in a slab whose key begins so and is so long, freed ones too.
    pub fn items(&self, prefix: &[u8], key_len: usize) -> Vec<Item> {
        let mut found = Vec::new();
        for page in self.pages(SLAB) {
            let bytes = &self.bytes[(page * PAGE) as usize..][..PAGE as usize];
            for at in (24..=bytes.len() - key_len).filter(|at| bytes[*at..].starts_with(prefix)) {
                let at = page * PAGE + at as u64;
                // The longest head first: a field may look like a header, hardly vice versa.
                found.extend([40, 32, 24, 16, 8].iter().find_map(|before| {
                    let item = self.item_at(at - before)?;
                    (item.key_at == at && item.key.len() == key_len).then_some(item)
                }));
            }
            // Those whose keys stand in the first page of their chain.
            let items = (page * PAGE + 16..(page + 1) * PAGE - 8).step_by(8);
            let items = items.filter_map(|at| self.item_at(at));
            found.extend(items.filter(|item| {
                item.is_large
                    && item.key_at % PAGE == 0
                    && item.key.len() == key_len
                    && item.key.starts_with(prefix)
            }));
        }
        found
    }

    /// The item that begins there, as its header says.
    fn item_at(&self, at: u64) -> Option<Item> {
        let header = self.word64(at);
        let (value_len, key_len) = (header & 0xFFFF_FFFF, header >> 32 & 0xFF_FFFF);
        let flags = header >> 56;
        let has = |flag: u64| flags & flag != 0;
        if flags & !(FIELDS | HAS_TAGS | IS_TAG) != 0 || has(IS_LARGE) && has(IS_COUNTER) {
            return None;
        }
        let mut data = at + 8;
        let mut field = |flag: u64| {
            let place = data;
            data += 8 * u64::from(has(flag));
            has(flag).then_some(place)
        };
        field(IS_LARGE | IS_COUNTER);
        let [uid_at, expiry_at, client_at] = [HAS_UID, HAS_EXPIRY, HAS_CLIENT].map(&mut field);
        let (ranges, key_at) = if has(IS_LARGE) {
            self.chain(at, data, key_len + value_len)
        } else {
            let in_place = if has(IS_COUNTER) { 0 } else { value_len };
            (vec![at..data + key_len + in_place], data)
        };
        let mut ranges = ranges;
        if has(HAS_TAGS) {
            let tags = self.word64(client_at?) >> 32;
            let from = ranges[0].end.next_multiple_of(8);
            ranges.push(from..from + 8 * tags);
        }
        let key = key_at as usize..(key_at + key_len) as usize;
        Some(Item {
            key: self.bytes.get(key)?.to_vec(),
            ranges,
            is_large: has(IS_LARGE),
            uid_at,
            expiry_at,
            client_at,
            key_at,
        })
    }

    /// The bytes of a large item, and where its key begins.
    fn chain(&self, at: u64, data: u64, len: u64) -> (Vec<Range<u64>>, u64) {
        let rest = len % PAGE;
        let inline = if rest > MOST_SMALL { 0 } else { rest };
        let mut found = vec![at..data + inline];
        let mut page = u64::from(self.word32(at + 8));
        let key_at = if inline == 0 { page * PAGE } else { data };
        for _ in 0..(len - inline).div_ceil(PAGE) {
            let word = self.page_word_at(page);
            // An item that was freed may name pages that are something else by now.
            let is_page = (self.first_page()..self.high_water()).contains(&page);
            if !is_page || self.word64(word) & 0xF != LARGE {
                break;
            }
            found.extend([word..word + 8, page * PAGE..(page + 1) * PAGE]);
            page = self.word64(word) >> 4 & ((1 << 29) - 1);
        }
        (found, key_at)
    }
}

//! The bytes of a table's file as docs/format.md tells them, written down a second time: what the
//! tests of damage change, they find without the library's help.

#![allow(
    clippy::single_range_in_vec_init,
    reason = "lists of ranges, some with one"
)]

use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;

pub const PAGE: u64 = 16 * 1024;
pub const LARGEST_BLOCK: u64 = 16_352;
pub const SUPERBLOCK: u64 = 4096;
pub const POOL: u64 = 1024;
pub const FRONTIER: u64 = POOL + 128;
pub const SHARD: u64 = 1536;
/// In a shard head.
pub const LOCK: u64 = 576;
pub const CLASSES: u64 = 632;
pub const LEVELS: u64 = 1280;
pub const PARTICIPANT: u64 = 64;
pub const PARTICIPANTS: u64 = 1024;

/// What a page word says, in its low four bits.
pub const FREE: u64 = 2;
pub const HOLE: u64 = 3;
pub const LARGE: u64 = 5;
pub const SLAB: u64 = 6;
pub const SEGMENT: u64 = 7;

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
        let used = (self.frontier() * PAGE).min(self.bytes.len() as u64);
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

    pub fn page_table(&self) -> u64 {
        (self.participants() + PARTICIPANTS * PARTICIPANT).next_multiple_of(4096)
    }

    pub fn directories(&self) -> u64 {
        (self.page_table() + self.word64(24) / PAGE * 8).next_multiple_of(4096)
    }

    pub fn first_page(&self) -> u64 {
        let entries = 1u64 << self.word32(36);
        (self.directories() + entries * 4 * self.shards()).div_ceil(PAGE)
    }

    pub fn frontier(&self) -> u64 {
        u64::from(self.word32(FRONTIER))
    }

    pub fn page_word_at(&self, page: u64) -> u64 {
        self.page_table() + page * 8
    }

    /// Pages whose word says `state`.
    pub fn pages(&self, state: u64) -> Vec<u64> {
        (self.first_page()..self.frontier())
            .filter(|page| self.word64(self.page_word_at(*page)) & 0xF == state)
            .collect()
    }

    /// Every item whose key begins so and is so long, freed ones too: the key, and where its bytes
    /// stand (header, key and value of a small one; head, pages and their words of a large one).
    pub fn items(&self, prefix: &[u8], key_len: usize) -> Vec<(Vec<u8>, Vec<Range<u64>>)> {
        let mut found = Vec::new();
        for page in self.pages(SLAB) {
            let bytes = &self.bytes[(page * PAGE) as usize..][..PAGE as usize];
            for at in (16..=bytes.len() - key_len).filter(|at| bytes[*at..].starts_with(prefix)) {
                let ranges = self.around(page * PAGE + at as u64, key_len as u64);
                if !ranges.is_empty() {
                    found.push((bytes[at..at + key_len].to_vec(), ranges));
                }
            }
        }
        found
    }

    /// The item whose key stands at `at`, as its header tells.
    fn around(&self, at: u64, key_len: u64) -> Vec<Range<u64>> {
        let header = |before: u64| {
            let word = self.word64(at - before);
            let fits = word >> 32 & 0xFF_FFFF == key_len;
            fits.then_some((word & 0xFFFF_FFFF, word >> 56))
        };
        if let Some((value_len, 0)) = header(8) {
            return vec![at - 8..at + key_len + value_len];
        }
        match header(16) {
            Some((_, 2)) => vec![at - 16..at + key_len],
            Some((value_len, 1)) => self.chain(at - 16, key_len + value_len),
            _ => Vec::new(),
        }
    }

    fn chain(&self, at: u64, data: u64) -> Vec<Range<u64>> {
        let rest = data % PAGE;
        let inline = if 16 + rest > LARGEST_BLOCK { 0 } else { rest };
        let mut found = vec![at..at + 16 + inline];
        let mut page = u64::from(self.word32(at + 8));
        for _ in 0..(data - inline).div_ceil(PAGE) {
            let word = self.page_word_at(page);
            // An item that was freed may name pages that are something else by now.
            let is_page = (self.first_page()..self.frontier()).contains(&page);
            if !is_page || self.word64(word) & 0xF != LARGE {
                break;
            }
            found.extend([word..word + 8, page * PAGE..(page + 1) * PAGE]);
            page = self.word64(word) >> 4 & ((1 << 29) - 1);
        }
        found
    }
}

//! The entries that a scan has copied and not returned yet.

use crate::alloc::{Item, Shown};
use crate::engine::Core;
use crate::index::locate::{ScanTarget, is_over};
use crate::layout::class_of;
use crate::lock::ShardLock;
use crate::region::Pinned;

/// The scan returns a chunk of entries when it has read this many bytes.
const CHUNK: usize = 64 * 1024;

/// Keys, values and tags of rechecked buckets, and where each ends.
#[derive(Default)]
pub(super) struct Chunk {
    pub(super) bytes: Vec<u8>,
    pub(super) ends: Vec<EntryEnd>,
    pub(super) next: usize,
    pub(super) start: usize,
    /// The damage that was met, until it is reported.
    pub(super) damaged: Option<&'static str>,
}

/// Where a key and its value end in the bytes of a scan, and the key's attributes.
#[derive(Clone, Copy)]
pub(super) struct EntryEnd {
    pub(super) key: usize,
    pub(super) value: usize,
    pub(super) shown: Shown,
    /// The number of words after the value.
    pub(super) tags: u32,
    /// The size class, from 0.
    pub(super) class: u32,
    pub(super) has_uid: bool,
    /// The state of its slot in a cache.
    pub(super) state: u8,
}

impl Chunk {
    /// Drops all entries.
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
        (self.next, self.start) = (0, 0);
    }

    #[inline(always)]
    fn try_append(&mut self, item: &Item<'_>, state: u32) -> Option<()> {
        if item.is_tag() || is_over(item)? {
            return Some(());
        }
        item.copy_key(&mut self.bytes).then_some(())?;
        let key_end = self.bytes.len();
        item.copy_value(&mut self.bytes).then_some(())?;
        let value_end = self.bytes.len();
        let mut tags = 0;
        for word in item.tag_words() {
            self.bytes.extend_from_slice(&word.to_ne_bytes());
            tags += 1;
        }
        self.ends.push(EntryEnd {
            key: key_end,
            value: value_end,
            shown: item.shown(),
            tags,
            class: class_of(item.block_bytes()).unwrap_or(0),
            has_uid: item.hint().is_some(),
            state: state as u8,
        });
        Some(())
    }
}

/// A chunk that is being filled for a table.
pub(super) struct Filling<'a, 'c> {
    pub(super) core: &'a Core,
    pub(super) chunk: &'c mut Chunk,
}

/// The bytes and the entries of a chunk.
#[derive(Clone, Copy)]
pub(super) struct ChunkMark {
    bytes: usize,
    entries: usize,
}

impl<'a> ScanTarget<'a> for Filling<'a, '_> {
    type Mark = ChunkMark;

    fn lock(&self, shard: u32) -> Option<ShardLock<'a>> {
        self.core.writer().ok()?;
        self.core.lock_to_read(shard)
    }

    fn pin(&self, first_page: u32) -> Option<Pinned<'a>> {
        self.core.pin(first_page)
    }

    /// Appends an item to the chunk, unless it is a tag, or over.
    fn copy(&mut self, item: &Item<'_>, state: u32) -> Option<()> {
        let begin = self.chunk.bytes.len();
        let appended = self.chunk.try_append(item, state);
        if appended.is_none() {
            self.chunk.bytes.truncate(begin);
        }
        appended
    }

    fn mark(&self) -> ChunkMark {
        ChunkMark {
            bytes: self.chunk.bytes.len(),
            entries: self.chunk.ends.len(),
        }
    }

    fn cut_back(&mut self, mark: ChunkMark) {
        self.chunk.bytes.truncate(mark.bytes);
        self.chunk.ends.truncate(mark.entries);
    }

    fn is_empty(&self) -> bool {
        self.chunk.ends.is_empty()
    }

    fn is_full(&self) -> bool {
        self.chunk.bytes.len() >= CHUNK
    }

    fn note_damage(&mut self, what: &'static str) {
        self.chunk.damaged = Some(what);
    }
}

//! Scanning all keys without a lock, while other processes write.
//!
//! **Order.** A scan takes a shard's segments in the order of their reversed prefixes. A segment
//! that splits becomes two neighbours in this order, and a merge joins two neighbours. So what is
//! ahead of the cursor stays ahead, however the table grows or shrinks.
//!
//! **No key is missed.** Each bucket is copied whole and rechecked like a read. A key that moves
//! from a bucket ahead to one behind has raised the latter's version and the count `moves`: then
//! the buckets whose version has changed are read again. So a key that exists throughout is met at
//! least once; one that is moved or rewritten may be met again.
//!
//! **Damage.** A slot whose item cannot be read is skipped, as is a prefix that leads to no page.
//! The scan reports damage once, after all other entries.
//!
//! **Writers.** If they spoil the copies of a bucket again and again, it is copied under the
//! shard's lock; so are, in one go, the changed buckets of a segment in which keys keep moving.
//! Only a handle that cannot write has no such bound.

use super::Table;
use crate::alloc::{Shown, Tags};
use crate::engine::Core;
use crate::error::{Error, Result};
use crate::index::{depth_of, lookup, next_prefix};
use crate::layout::{BUCKETS, Hint, LayoutWord};
use crate::lock::ShardLock;
use crate::region::Region;
use crate::sync::{Ordering, fence};
use crate::values::Attributes;
use bucket::{PinnedItem, warm};

mod bucket;

mod part;

/// The scan returns a chunk of entries when it has read this many bytes.
const CHUNK: usize = 64 * 1024;
/// How many copies of a bucket writers may spoil before one is made under the shard's lock.
const MOST_SPOILED: u32 = 8;
/// How often keys may have moved in a segment at its end before it is read under the shard's lock.
const MOST_RESTARTS: u32 = 4;

/// A key, its value, and what it has beside that.
type FullEntry<'a> = (&'a [u8], &'a [u8], Attributes);

/// An iterator over a table; from [`Table::iter`].
pub struct Iter<'a> {
    table: &'a Table,
    /// Set at the first entry.
    core: Option<&'a Core>,
    at: ScanPosition,
}

/// A paused iteration; from [`Iter::pause`], for [`Table::resume`]. It does not keep the table
/// open. It holds a few entries that were read but not returned yet.
#[derive(Default)]
pub struct Cursor(ScanPosition);

impl std::fmt::Debug for Cursor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cursor")
            .field("shard", &self.0.shard)
            .finish_non_exhaustive()
    }
}

/// How far a scan has come.
#[derive(Default)]
struct ScanPosition {
    shard: u32,
    /// Low bits of the tags of the segment that is being read, or is next.
    prefix: u32,
    pass: Option<SegmentScan>,
    /// Keys, values and tags of rechecked buckets, and where each ends.
    bytes: Vec<u8>,
    ends: Vec<EntryEnd>,
    next: usize,
    start: usize,
    /// What could not be read, until that is reported.
    damaged: Option<&'static str>,
}

/// Where a key and its value end in the bytes of a scan, and the key's attributes.
#[derive(Clone, Copy)]
struct EntryEnd {
    key: usize,
    value: usize,
    shown: Shown,
    /// The number of words after the value.
    tags: u32,
    /// The size class, from 0.
    class: u32,
    has_uid: bool,
}

/// A key with everything that belongs to it, except its uid.
pub(super) struct WholeEntry<'a> {
    pub(super) key: &'a [u8],
    pub(super) value: &'a [u8],
    pub(super) shown: Shown,
    pub(super) tags: Tags,
    pub(super) has_uid: bool,
}

/// The position of reading within one segment.
struct SegmentScan {
    page: u32,
    layout: u64,
    moves: u32,
    /// How often keys had moved when its end was reached.
    restarts: u32,
    bucket: usize,
    /// The version at which each bucket was read.
    versions: Box<[Option<u32>; BUCKETS]>,
}

impl<'a> Iter<'a> {
    /// Ends the scan, and returns the error that ends it.
    fn end_with(&mut self, error: Error) -> Error {
        self.at.shard = u32::MAX;
        self.at.pass = None;
        error
    }

    fn new(table: &'a Table, at: ScanPosition) -> Self {
        Self {
            table,
            core: None,
            at,
        }
    }

    /// Pauses the iteration; [`Table::resume`] continues it after the last returned entry.
    pub fn pause(mut self) -> Cursor {
        if let Some(pass) = &mut self.at.pass {
            // No shard has this layout word, so the directory is read first, to see whether the
            // page is still that of the segment.
            pass.layout = u64::MAX;
        }
        Cursor(std::mem::take(&mut self.at))
    }

    /// Returns the next key and value, borrowed until the next call, or `None` at the end.
    ///
    /// # Errors
    /// [`Error::Corrupt`](crate::Error::Corrupt) if an item could not be read: once, after all
    /// readable entries. The next call returns `None`.
    pub fn next_entry(&mut self) -> Result<Option<(&[u8], &[u8])>> {
        let next = self.advance()?;
        Ok(next.map(|[start, key_end, end]| {
            (&self.at.bytes[start..key_end], &self.at.bytes[key_end..end])
        }))
    }

    /// Returns the next entry with its flags and TTL, as [`Iter::next_entry`].
    ///
    /// # Errors
    /// As [`Iter::next_entry`].
    pub fn next_with_attributes(&mut self) -> Result<Option<FullEntry<'_>>> {
        Ok(self.next_with_tags()?.map(|(entry, _)| entry))
    }

    /// Returns the next entry with its attributes and tags, see [`Table::tag_names`].
    ///
    /// # Errors
    /// As [`Iter::next_entry`].
    pub fn next_with_tags(&mut self) -> Result<Option<(FullEntry<'_>, Tags)>> {
        let core = self.table.core()?;
        let whole = self.next_whole()?;
        Ok(whole.map(|entry| {
            let attributes = core.attributes(entry.shown);
            ((entry.key, entry.value, attributes), entry.tags)
        }))
    }

    /// Returns the next key with everything that belongs to it.
    pub(super) fn next_whole(&mut self) -> Result<Option<WholeEntry<'_>>> {
        let Some([start, key_end, end]) = self.advance()? else {
            return Ok(None);
        };
        let last = self.at.ends[self.at.next - 1];
        let mut tags = Tags::NONE;
        for word in self.at.bytes[end..self.at.start].chunks_exact(8) {
            let word = word.try_into().expect("chunks of exactly 8 bytes");
            tags.push(Hint::from_bits(u64::from_ne_bytes(word)));
        }
        Ok(Some(WholeEntry {
            key: &self.at.bytes[start..key_end],
            value: &self.at.bytes[key_end..end],
            shown: last.shown,
            tags,
            has_uid: last.has_uid,
        }))
    }

    /// Returns the next entry with its attributes and size class, see
    /// [`ClassStats::number`](crate::ClassStats::number).
    ///
    /// # Errors
    /// As [`Iter::next_entry`].
    pub fn next_with_class(&mut self) -> Result<Option<(FullEntry<'_>, u32)>> {
        let Some([start, key_end, end]) = self.advance()? else {
            return Ok(None);
        };
        let last = self.at.ends[self.at.next - 1];
        let attributes = self.core().attributes(last.shown);
        let bytes = &self.at.bytes;
        let entry = (&bytes[start..key_end], &bytes[key_end..end], attributes);
        Ok(Some((entry, last.class + 1)))
    }

    /// Returns the position of the next entry in `bytes`: its beginning, the end of its key, its
    /// end.
    #[inline(always)]
    fn advance(&mut self) -> Result<Option<[usize; 3]>> {
        if self.core.is_none() {
            self.core = Some(self.table.core()?);
        }
        while self.at.next == self.at.ends.len() {
            self.at.bytes.clear();
            self.at.ends.clear();
            (self.at.next, self.at.start) = (0, 0);
            if !self.fill() {
                let damaged = self.at.damaged.take();
                return damaged.map_or(Ok(None), |what| self.region().damaged(what));
            }
        }
        let end = self.at.ends[self.at.next];
        let next = end.value + 8 * end.tags as usize;
        let start = std::mem::replace(&mut self.at.start, next);
        self.at.next += 1;
        Ok(Some([start, end.key, end.value]))
    }

    fn core(&self) -> &'a Core {
        self.core
            .expect("an iterator knows its table from the first entry on")
    }

    fn region(&self) -> &'a Region {
        self.core().region()
    }

    /// Reads until there is a chunk. Returns false at the end of the table.
    fn fill(&mut self) -> bool {
        while self.at.shard < self.region().geometry().shards() {
            // A cursor may come from another table, with page numbers that this one does not have.
            let rested = self.at.pass.take();
            let begun = match rested.filter(|pass| self.region().is_page(pass.page)) {
                Some(pass) => Some(pass),
                None => self.begin(),
            };
            let Some(mut pass) = begun else {
                let depth = self.depth();
                let index = lookup(self.region(), self.at.shard, depth, self.at.prefix).0;
                (self.at.shard, self.at.prefix) = self.next_after(depth, index);
                continue;
            };
            let lock = self.lock_after(pass.restarts, MOST_RESTARTS);
            if lock.is_some() {
                // The changed buckets are read once more, so earlier moves do not matter.
                pass.moves = self.moves();
            }
            while pass.bucket < BUCKETS {
                if !self.bucket(&mut pass) {
                    // The segment is gone; its keys are in the one that took its place.
                    self.at.pass = None;
                    return true;
                }
                if self.at.bytes.len() >= CHUNK && lock.is_none() {
                    self.at.pass = Some(pass);
                    return true;
                }
            }
            // First the next prefix, then `moves`: a merge in between is noticed.
            let next = self.after(&pass);
            if self.must_rescan(&mut pass) {
                self.at.pass = Some(pass);
            } else {
                (self.at.shard, self.at.prefix) = next;
            }
            if !self.at.ends.is_empty() {
                return true;
            }
        }
        false
    }

    /// Begins with the segment of the prefix. Returns `None` if there is none: the shard is empty;
    /// or a repair has removed its damaged root and kept other segments; or the directory is
    /// damaged.
    fn begin(&mut self) -> Option<SegmentScan> {
        let head = self.region().shard(self.at.shard);
        // Pairs with the releases of moves and layout changes.
        let layout = head.layout.load(Ordering::Acquire);
        let moves = self.moves();
        let page = self.page(layout);
        if page == 0 {
            return None;
        }
        if !self.region().is_page(page) {
            self.at.damaged = Some("a directory");
            return None;
        }
        let versions = Box::new([None; BUCKETS]);
        Some(SegmentScan {
            page,
            layout,
            moves,
            restarts: 0,
            bucket: 0,
            versions,
        })
    }

    /// Returns how often keys have moved in the shard.
    fn moves(&self) -> u32 {
        // Pairs with the release of the move.
        let head = self.region().shard(self.at.shard);
        head.moves.load(Ordering::Acquire)
    }

    /// Returns the lock of the shard after `most` tries, if this process can have it.
    fn lock_after(&self, tries: u32, most: u32) -> Option<ShardLock<'a>> {
        if tries < most {
            return None;
        }
        let core = self.core();
        core.writer().ok()?;
        core.lock_to_read(self.at.shard)
    }

    fn page(&self, layout: u64) -> u32 {
        lookup(
            self.region(),
            self.at.shard,
            LayoutWord(layout).depth(),
            self.at.prefix,
        )
        .1
    }

    /// Copies one bucket. Returns false if the directory has changed meanwhile.
    fn bucket(&mut self, pass: &mut SegmentScan) -> bool {
        let region = self.region();
        let segment = region.segment(pass.page);
        let bucket = &segment.buckets[pass.bucket];
        let mut spoiled = 0;
        loop {
            let lock = self.lock_after(spoiled, MOST_SPOILED);
            let layout = region.shard(self.at.shard).layout.load(Ordering::Acquire);
            if layout != pass.layout {
                // This comes before the bucket is touched: a scan may rest so long that the page of
                // a segment that is gone was given back to the system.
                if self.page(layout) != pass.page {
                    return false;
                }
                pass.layout = layout;
            }
            warm(region, &segment.buckets, pass.bucket);
            // Pairs with the release in `Bucket::increment_version`.
            let version = bucket.version.load(Ordering::Acquire);
            if pass.versions[pass.bucket] == Some(version) {
                pass.bucket += 1;
                return true;
            }
            let (bytes, ends) = (self.at.bytes.len(), self.at.ends.len());
            let mut large = Vec::new();
            let whole = self.copy(bucket, &mut large);
            #[cfg(test)]
            bucket::meanwhile();
            // Pairs with the release fences before the bytes of a block change.
            fence(Ordering::Acquire);
            let layout = region.shard(self.at.shard).layout.load(Ordering::Relaxed);
            if layout == pass.layout && bucket.version.load(Ordering::Relaxed) == version {
                drop(lock);
                let is_kept = |held: &PinnedItem<'_>| self.append(&held.pinned()).is_some();
                if !whole || !large.iter().all(is_kept) {
                    self.at.damaged = Some("an item");
                }
                pass.versions[pass.bucket] = Some(version);
                pass.bucket += 1;
                return true;
            }
            drop(lock);
            self.at.bytes.truncate(bytes);
            self.at.ends.truncate(ends);
            spoiled += 1;
        }
    }

    /// Returns whether keys may have moved behind the cursor: then the changed buckets are read
    /// again.
    fn must_rescan(&self, pass: &mut SegmentScan) -> bool {
        #[cfg(test)]
        bucket::meanwhile();
        fence(Ordering::Acquire);
        let moves = self.moves();
        let moved = moves != pass.moves;
        pass.moves = moves;
        pass.restarts += u32::from(moved);
        pass.bucket = if moved { 0 } else { BUCKETS };
        moved
    }

    /// Returns the shard and prefix that follow in the order of reversed prefixes.
    fn after(&self, pass: &SegmentScan) -> (u32, u32) {
        let depth = self.depth();
        let (index, page) = lookup(self.region(), self.at.shard, depth, self.at.prefix);
        if page != pass.page {
            // It was merged away meanwhile: its keys are in that other segment now.
            return (self.at.shard, self.at.prefix);
        }
        self.next_after(depth, index)
    }

    /// Returns the shard and prefix that follow the directory entry at `index`.
    fn next_after(&self, depth: u32, index: u32) -> (u32, u32) {
        let local = depth_of(self.region(), self.at.shard, depth, index);
        match next_prefix(self.at.prefix, local) {
            Some(prefix) => (self.at.shard, prefix),
            None => (self.at.shard + 1, 0),
        }
    }

    fn depth(&self) -> u32 {
        let region = self.region();
        let layout = region.shard(self.at.shard).layout.load(Ordering::Acquire);
        LayoutWord(layout).depth().min(region.geometry().dir_log2)
    }
}

impl Iterator for Iter<'_> {
    type Item = Result<(Vec<u8>, Vec<u8>)>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.next_entry() {
            Ok(Some((key, value))) => Some(Ok((key.to_vec(), value.to_vec()))),
            Ok(None) => None,
            Err(error) => Some(Err(self.end_with(error))),
        }
    }
}

impl Table {
    /// Returns an iterator over all entries, in no particular order. [`Iter::next_entry`] borrows
    /// each entry; the [`Iterator`] returns copies.
    ///
    /// # Examples
    /// ```
    /// # let dir = std::env::temp_dir().join(format!("tavola-iter-{}", std::process::id()));
    /// # std::fs::create_dir_all(&dir)?;
    /// # let table = tavola::Table::open(dir.join("t"))?;
    /// table.set(b"a", b"1")?;
    /// let mut entries = table.iter();
    /// while let Some((key, value)) = entries.next_entry()? {
    ///     assert_eq!((key, value), (&b"a"[..], &b"1"[..]));
    /// }
    /// # std::fs::remove_dir_all(&dir)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Concurrency
    /// Takes no lock. A key that exists during the whole iteration is returned at least once, even
    /// if the table grows, shrinks or moves items. A key that is written meanwhile may be returned
    /// twice.
    ///
    /// # Errors
    /// Damaged items are skipped and reported once, at the end, see [`Iter::next_entry`].
    pub fn iter(&self) -> Iter<'_> {
        Iter::new(self, ScanPosition::default())
    }

    /// Continues a paused iteration of this table. A new [`Cursor`] starts at the beginning. A
    /// cursor of another table may skip keys.
    ///
    /// # Examples
    /// ```
    /// # let table = tavola::Table::options().max_size(1 << 20).private()?;
    /// table.set(b"a", b"1")?;
    /// table.set(b"b", b"2")?;
    /// let (mut count, mut cursor) = (0, tavola::Cursor::default());
    /// loop {
    ///     let mut entries = table.resume(cursor);
    ///     if entries.next_entry()?.is_none() {
    ///         break;
    ///     }
    ///     count += 1;
    ///     cursor = entries.pause();
    /// }
    /// assert_eq!(count, 2);
    /// # Ok::<(), tavola::Error>(())
    /// ```
    ///
    /// # Concurrency
    /// As [`Table::iter`], for the iteration as a whole, however often it is paused.
    pub fn resume(&self, cursor: Cursor) -> Iter<'_> {
        Iter::new(self, cursor.0)
    }
}

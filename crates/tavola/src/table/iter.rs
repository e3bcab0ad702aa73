//! Iterators over all keys. The scan itself is the index's (`index::scan`); an iterator copies a
//! chunk of entries at a time, and returns them one by one. It reports damage once, after all other
//! entries.

use super::Table;
use crate::alloc::{Shown, Tags};
use crate::engine::Core;
use crate::error::{Error, Result};
use crate::index::locate::ScanPosition;
use crate::layout::Hint;
use crate::values::Attributes;
use chunk::{Chunk, Filling};

mod chunk;
mod part;
mod segment;

pub(super) use segment::scan_segment;

/// A key, its value, and what it has beside that.
type FullEntry<'a> = (&'a [u8], &'a [u8], Attributes);

/// An iterator over a table; from [`Table::iter`].
pub struct Iter<'a> {
    table: &'a Table,
    /// Set at the first entry.
    core: Option<&'a Core>,
    at: Cursor,
}

/// A paused iteration; from [`Iter::pause`], for [`Table::resume`]. It does not keep the table
/// open. It holds a few entries that were read but not returned yet.
#[derive(Default)]
pub struct Cursor {
    position: ScanPosition,
    chunk: Chunk,
}

impl std::fmt::Debug for Cursor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cursor")
            .field("shard", &self.position.shard())
            .finish_non_exhaustive()
    }
}

/// A key with everything that belongs to it, except its uid.
pub(super) struct WholeEntry<'a> {
    pub(super) key: &'a [u8],
    pub(super) value: &'a [u8],
    pub(super) shown: Shown,
    pub(super) tags: Tags,
    pub(super) has_uid: bool,
    /// The state of its slot in a cache.
    pub(super) state: u8,
}

impl<'a> Iter<'a> {
    /// Ends the scan, and returns the error that ends it.
    fn end_with(&mut self, error: Error) -> Error {
        self.at.position.end();
        error
    }

    fn new(table: &'a Table, at: Cursor) -> Self {
        Self {
            table,
            core: None,
            at,
        }
    }

    /// Pauses the iteration; [`Table::resume`] continues it after the last returned entry.
    pub fn pause(mut self) -> Cursor {
        self.at.position.rest();
        std::mem::take(&mut self.at)
    }

    /// Returns the next key and value, borrowed until the next call, or `None` at the end.
    ///
    /// # Errors
    /// [`Error::Corrupt`](crate::Error::Corrupt) if an item could not be read: once, after all
    /// readable entries. The next call returns `None`.
    pub fn next_entry(&mut self) -> Result<Option<(&[u8], &[u8])>> {
        let next = self.advance()?;
        Ok(next.map(|[start, key_end, end]| {
            (
                &self.at.chunk.bytes[start..key_end],
                &self.at.chunk.bytes[key_end..end],
            )
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
        let last = self.at.chunk.ends[self.at.chunk.next - 1];
        let mut tags = Tags::NONE;
        for word in self.at.chunk.bytes[end..self.at.chunk.start].chunks_exact(8) {
            let word = word.try_into().expect("chunks of exactly 8 bytes");
            tags.push(Hint::from_bits(u64::from_ne_bytes(word)));
        }
        Ok(Some(WholeEntry {
            key: &self.at.chunk.bytes[start..key_end],
            value: &self.at.chunk.bytes[key_end..end],
            shown: last.shown,
            tags,
            has_uid: last.has_uid,
            state: last.state,
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
        let last = self.at.chunk.ends[self.at.chunk.next - 1];
        let attributes = self.core().attributes(last.shown);
        let bytes = &self.at.chunk.bytes;
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
        while self.at.chunk.next == self.at.chunk.ends.len() {
            self.at.chunk.clear();
            if !self.fill() {
                let damaged = self.at.chunk.damaged.take();
                return damaged.map_or(Ok(None), |what| self.core().region().damaged(what));
            }
        }
        let end = self.at.chunk.ends[self.at.chunk.next];
        let next = end.value + 8 * end.tags as usize;
        let start = std::mem::replace(&mut self.at.chunk.start, next);
        self.at.chunk.next += 1;
        Ok(Some([start, end.key, end.value]))
    }

    fn core(&self) -> &'a Core {
        self.core
            .expect("an iterator knows its table from the first entry on")
    }

    /// Reads until there is a chunk. Returns false at the end of the table.
    fn fill(&mut self) -> bool {
        let core = self.core();
        let mut filling = Filling {
            core,
            chunk: &mut self.at.chunk,
        };
        self.at.position.fill(core.region(), &mut filling)
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
        Iter::new(self, Cursor::default())
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
        Iter::new(self, cursor)
    }
}

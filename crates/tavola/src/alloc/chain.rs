//! Large items: pages chained through the page table.
//!
//! The pages of a new item are taken and written before the shard is locked: nobody sees them. Each
//! is in the state `Build` of its writer, which says where the next one is, so that a writer who
//! dies leaves pages that tell whose they were. Publishing is the slot's one store, as for any
//! item; then, still under the lock, the pages become `Large` of the shard.

use super::bytes;
use super::{Item, Need, Stop, pool};
use crate::error::{Error, Result};
use crate::layout::{FIRST_MASK, MAX_DATA, MOST_HEAD, MOST_SMALL, PAGE, PageWord, large_split};
use crate::lock::ShardLock;
use crate::region::Region;
use crate::sync::Ordering;
use crate::sys::clock;

/// Pages given back to the pool under one hold of its lock.
const BATCH: usize = 64;
/// Bytes of a chain compared at once.
const BUFFER: usize = 4096;

/// The pages of an item that is not published yet; dropped, they go back.
pub(crate) struct Chain<'a> {
    region: &'a Region,
    me: u32,
    first: u32,
    pages: u32,
    /// When the last of its pages to be freed was: their grace goes on if they go back.
    since: u32,
    published: bool,
}

impl<'a> Chain<'a> {
    /// Whether key and value need a chain.
    #[inline(always)]
    pub(crate) fn is_needed(key: &[u8], value: &[u8]) -> Result<bool> {
        let data = key.len() as u64 + value.len() as u64;
        if data > MAX_DATA {
            return Err(Error::TooLarge { bytes: data });
        }
        Ok(data > MOST_SMALL)
    }

    /// Takes pages and writes into them what does not stand in the item's block. Call without
    /// locks.
    pub(crate) fn build(region: &'a Region, me: u32, key: &[u8], value: &[u8]) -> Result<Self> {
        let (inline, pages) = large_split(key.len() as u64 + value.len() as u64);
        let mut chain = Self {
            region,
            me,
            first: 0,
            pages: 0,
            since: 0,
            published: false,
        };
        // From the last page to the first: each word tells a chain that is whole behind it.
        for number in (0..u64::from(pages)).rev() {
            let page = chain.take_page()?;
            let from = inline + number * PAGE;
            write_stream(region, u64::from(page) * PAGE, key, value, from);
        }
        Ok(chain)
    }

    fn take_page(&mut self) -> Result<u32> {
        let state = PageWord::Build {
            next: self.first,
            owner: self.me,
        };
        loop {
            match pool::take(self.region, self.me, state) {
                Ok((page, since)) => {
                    self.since = self.since.max(since);
                    self.first = page;
                    self.pages += 1;
                    return Ok(page);
                }
                Err(Stop::Need(Need::Pages(count))) => {
                    pool::provision(self.region, self.me, count)?;
                }
                Err(Stop::Need(_)) => unreachable!("pages need no directory"),
                Err(Stop::Fail(error)) => return Err(error),
            }
        }
    }

    /// How many there are.
    pub(crate) fn pages(&self) -> u32 {
        self.pages
    }

    pub(crate) fn first(&self) -> u32 {
        self.first
    }

    /// The item is published: its pages are the shard's.
    pub(crate) fn settle(mut self, lock: &ShardLock<'_>) {
        self.published = true;
        settle_pages(lock, self.first, self.pages, false);
    }
}

impl Drop for Chain<'_> {
    fn drop(&mut self) {
        // A panic may have come after the slot was stored: then recovery knows whose the pages are.
        if !self.published && !std::thread::panicking() {
            give_chain(self.region, self.me, (self.first, self.pages), self.since);
        }
    }
}

/// Marks the pages of a chain as the shard's; false: the chain is broken.
pub(crate) fn settle_pages(lock: &ShardLock<'_>, first: u32, pages: u32, mark: bool) -> bool {
    let mut page = first;
    for _ in 0..pages {
        let Some(next) = next_of(lock.region, first, page) else {
            return false;
        };
        let state = PageWord::Large {
            next,
            shard: lock.number,
            mark,
            first: first & FIRST_MASK,
        };
        lock.region
            .page_word(page)
            .store(state.encode(), Ordering::Relaxed);
        page = next;
    }
    true
}

/// The page after this one, 0 at the end; `None` when it is no page of the chain that begins with
/// `first`.
fn next_of(region: &Region, first: u32, page: u32) -> Option<u32> {
    if !region.is_page(page) {
        return None;
    }
    match PageWord::decode(region.page_word(page).load(Ordering::Relaxed)) {
        PageWord::Build { next, .. } => Some(next),
        PageWord::Large {
            next, first: of, ..
        } if of == first & FIRST_MASK => Some(next),
        _ => None,
    }
}

/// Frees the pages of an item.
pub(super) fn free(lock: &ShardLock<'_>, item: &Item<'_>) {
    let now = clock::monotonic_s() as u32;
    give_chain(lock.region, lock.me, (item.first_page, item.pages()), now);
}

fn give_chain(region: &Region, me: u32, (first, pages): (u32, u32), since: u32) {
    let mut batch = [0; BATCH];
    let mut count = 0;
    let mut page = first;
    for _ in 0..pages {
        let Some(next) = next_of(region, first, page) else {
            break;
        };
        batch[count] = page;
        count += 1;
        if count == BATCH {
            pool::give_since(region, me, &batch, since);
            count = 0;
        }
        page = next;
    }
    if count > 0 {
        pool::give_since(region, me, &batch[..count], since);
    }
}

/// Writes the part of the stream key ++ value that begins at `from` into a page.
fn write_stream(region: &Region, mut offset: u64, key: &[u8], value: &[u8], from: u64) {
    let mut from = from as usize;
    let mut room = PAGE as usize;
    for part in [key, value] {
        let skipped = from.min(part.len());
        let len = (part.len() - skipped).min(room);
        bytes::write(region, offset, &part[skipped..skipped + len]);
        from -= skipped;
        offset += len as u64;
        room -= len;
    }
}

/// The stream of a large item: a part in its block, the rest in pages.
pub(super) struct Pieces<'a> {
    region: &'a Region,
    inline_offset: u64,
    inline: u64,
    first_page: u32,
    pages: u32,
}

impl<'a> Pieces<'a> {
    pub(super) fn new(
        region: &'a Region,
        inline_offset: u64,
        (inline, pages): (u64, u32),
        first_page: u32,
    ) -> Self {
        debug_assert!(MOST_HEAD + inline <= PAGE);
        Self {
            region,
            inline_offset,
            inline,
            first_page,
            pages,
        }
    }

    /// The pages in order; `None` and the end where the chain is broken: a page in another state,
    /// or a last page that is followed by one more (so no page comes twice).
    pub(super) fn pages(&self) -> impl Iterator<Item = Option<u32>> + use<'a> {
        let (region, first) = (self.region, self.first_page);
        let last = self.pages.saturating_sub(1);
        let mut page = self.first_page;
        let mut broken = false;
        (0..self.pages).map_while(move |number| {
            if broken {
                return None;
            }
            let this = page;
            match next_of(region, first, this) {
                Some(next) if (next == 0) == (number == last) => page = next,
                _ => broken = true,
            }
            Some((!broken).then_some(this))
        })
    }

    /// Whether the stream goes on with these bytes after `skip` others; `None`: the chain is
    /// broken.
    pub(super) fn equals_from(&self, skip: u64, other: &[u8]) -> Option<bool> {
        let mut rest = other;
        self.visit(skip, other.len() as u64, |offset, len| {
            let (these, others) = rest.split_at(len);
            rest = others;
            let mut buffer = [0; BUFFER];
            for (number, chunk) in these.chunks(BUFFER).enumerate() {
                let copy = &mut buffer[..chunk.len()];
                if !self.copy(offset + (number * BUFFER) as u64, copy) {
                    return None;
                }
                if copy != chunk {
                    return Some(false);
                }
            }
            Some(true)
        })
    }

    /// Appends `len` bytes of the stream from `skip` on; false: the chain is broken.
    pub(super) fn append(&self, skip: u64, len: u64, out: &mut Vec<u8>) -> bool {
        let appended = self.visit(skip, len, |offset, len| {
            let end = out.len();
            out.resize(end + len, 0);
            self.copy(offset, &mut out[end..]).then_some(true)
        });
        appended.is_some()
    }

    /// Copies the stream from `skip` on until `out` is full; false: the chain is broken.
    pub(super) fn read(&self, skip: u64, out: &mut [u8]) -> bool {
        let mut end = 0;
        let all = out.len() as u64;
        let copied = self.visit(skip, all, |offset, len| {
            let begin = end;
            end += len;
            self.copy(offset, &mut out[begin..end]).then_some(true)
        });
        copied.is_some()
    }

    /// Shows where the `len` bytes of the stream from `skip` on stand, piece by piece, as long as
    /// `see` says to go on, and says what it said last; `None`: it could not see, or the chain is
    /// broken.
    fn visit(
        &self,
        skip: u64,
        len: u64,
        mut see: impl FnMut(u64, usize) -> Option<bool>,
    ) -> Option<bool> {
        let (mut skip, mut left) = (skip, len);
        let head = core::iter::once(Some((self.inline_offset, self.inline)));
        let pages = self
            .pages()
            .map(|page| page.map(|p| (u64::from(p) * PAGE, PAGE)));
        for piece in head.chain(pages) {
            if left == 0 {
                break;
            }
            let (offset, room) = piece?;
            let skipped = skip.min(room);
            let here = (room - skipped).min(left);
            skip -= skipped;
            left -= here;
            if here > 0 && !see(offset + skipped, here as usize)? {
                return Some(false);
            }
        }
        (left == 0).then_some(true)
    }

    /// Copies a part of a piece; false: it could not be read.
    ///
    /// Pages are read from the file, not through the mapping: a reader that is stopped for longer
    /// than the grace of freed pages may come back to pages that were given to the system, and must
    /// not need memory to find that out. The block is done with before the first of them.
    fn copy(&self, offset: u64, out: &mut [u8]) -> bool {
        if offset.wrapping_sub(self.inline_offset) < self.inline {
            self.region.copy_out(offset, out);
            return true;
        }
        self.region.read(offset, out)
    }
}

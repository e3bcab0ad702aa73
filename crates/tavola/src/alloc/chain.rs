//! Large items: pages that are linked through the page table. A writer fills the pages before it
//! locks the shard, so the lock is held no longer than for a small item.
//!
//! Until the item is published, no other process reads the pages. Each is in the state `Build`,
//! which names its writer and the next page: so the pages of a dead writer can be found. The one
//! store of the slot publishes the item, as it does for any item. After it, still under the lock,
//! the pages become `Large` of the shard.

use super::bytes;
use super::{Item, Need, Stop, pool};
use crate::error::{Error, Result};
use crate::layout::{FIRST_MASK, MAX_DATA, MOST_SMALL, PAGE, PageWord, large_split};
use crate::lock::{Me, ShardLock};
use crate::region::Region;
use crate::sync::Ordering;
use crate::sys::clock;

/// Pages that are given back under one hold of the pool's lock.
const BATCH: usize = 64;

/// The pages of an item that is not published yet. Dropping it gives them back.
pub(crate) struct Chain<'a> {
    region: &'a Region,
    me: Me,
    first: u32,
    pages: u32,
    /// When the one that was freed last was freed. If the pages go back, the grace period counts
    /// from then.
    since: u32,
    published: bool,
}

impl<'a> Chain<'a> {
    /// Returns whether key and value need a chain.
    #[inline(always)]
    pub(crate) fn is_needed(key: &[u8], value: &[u8]) -> Result<bool> {
        let data = key.len() as u64 + value.len() as u64;
        if data > MAX_DATA {
            return Err(Error::TooLarge { bytes: data });
        }
        Ok(data > MOST_SMALL)
    }

    /// Takes pages and writes into them what does not fit in the item's block. Call without locks.
    pub(crate) fn build(region: &'a Region, me: Me, key: &[u8], value: &[u8]) -> Result<Self> {
        let (inline, pages) = large_split(key.len() as u64 + value.len() as u64);
        let mut chain = Self {
            region,
            me,
            first: 0,
            pages: 0,
            since: 0,
            published: false,
        };
        // From the last page to the first, so that each word leads to a complete rest of the chain.
        for number in (0..u64::from(pages)).rev() {
            let page = chain.take_page(number as u32 + 1)?;
            let from = inline + number * PAGE;
            write_stream(region, u64::from(page) * PAGE, key, value, from);
        }
        Ok(chain)
    }

    /// Takes a page, of `missing` that are still missing.
    fn take_page(&mut self, missing: u32) -> Result<u32> {
        let state = PageWord::Build {
            next: self.first,
            owner: self.me.id(),
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
                    pool::provision(self.region, self.me, count.max(missing))?;
                }
                Err(Stop::Need(_)) => unreachable!("pages need no directory"),
                Err(Stop::Fail(error)) => return Err(error),
            }
        }
    }

    /// Returns how many pages there are.
    pub(crate) fn pages(&self) -> u32 {
        self.pages
    }

    pub(crate) fn first(&self) -> u32 {
        self.first
    }

    /// Makes the pages the shard's, after the item was published.
    pub(crate) fn publish_pages(mut self, lock: &ShardLock<'_>) {
        self.published = true;
        reclaim_pages(lock, self.first, self.pages, false);
    }
}

impl Drop for Chain<'_> {
    fn drop(&mut self) {
        // A panic may have come after the slot was stored: then recovery finds out whose the pages
        // are.
        if !self.published && !std::thread::panicking() {
            give_chain(self.region, self.me, self.first, self.pages, self.since);
        }
    }
}

/// Makes the pages of a chain the shard's. Returns false if the chain is broken.
pub(crate) fn reclaim_pages(lock: &ShardLock<'_>, first: u32, pages: u32, mark: bool) -> bool {
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

/// Returns the page after this one, 0 at the end, or `None` if this is not a page of the chain that
/// begins with `first`.
pub(super) fn next_of(region: &Region, first: u32, page: u32) -> Option<u32> {
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

/// Returns how many pages a chain has, or `None` if it does not end as a chain does.
pub(super) fn len_of(region: &Region, first: u32) -> Option<u32> {
    let most = region.high_water() - region.geometry().first_page;
    let mut page = first;
    for pages in 1..=most {
        page = next_of(region, first, page)?;
        if page == 0 {
            return Some(pages);
        }
    }
    None
}

/// Frees the pages of an item that no slot leads to any more, or leaves them to a reader that has
/// pinned them.
pub(super) fn free(lock: &ShardLock<'_>, item: &Item<'_>) {
    if lock.region.leave_to_reader(item.first_page) {
        return;
    }
    let now = clock::monotonic_s() as u32;
    give_chain(lock.region, lock.me, item.first_page, item.pages(), now);
}

pub(super) fn give_chain(region: &Region, me: Me, first: u32, pages: u32, since: u32) {
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

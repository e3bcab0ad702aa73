//! The capacity of a cache: how many pages it may have, backed or about to be, including what is
//! backed beside its pages.
//!
//! Everything counts, free pages and the directories included: so what the system has allocated for
//! the file stays within the capacity. The counts are the pool's, and change under its lock: the
//! room is checked and a page counted under one hold of it (CACHE-1).

use crate::error::{Error, Result};
use crate::layout::{DIR_INLINE, PAGE, PageWord, PagesWord};
use crate::lock::{Me, is_alive};
use crate::region::Region;
use crate::sync::Ordering;

/// Pages that a shard needs at least: its first segment, and some blocks.
const LEAST_PAGES: u64 = 6;

/// Returns how many pages a cache may have, apart from what is backed beside them. Returns `None`
/// if the table is not a cache, or if the word was damaged: then only memory limits it until a
/// capacity is set again.
fn pages(region: &Region) -> Option<u32> {
    if !region.is_cache() {
        return None;
    }
    let pool = region.pool();
    let pages = PagesWord::decode(pool.capacity.load(Ordering::Relaxed))?;
    let overhead = pool.overhead.load(Ordering::Relaxed).div_ceil(PAGE);
    Some(pages.saturating_sub(u32::try_from(overhead).unwrap_or(u32::MAX)))
}

/// Returns how many pages are backed, or about to be.
fn backed(region: &Region) -> u32 {
    let unbacked = region.pool().unbacked_count.load(Ordering::Relaxed);
    let given_out = region
        .high_water()
        .saturating_sub(region.geometry().first_page);
    given_out.saturating_sub(unbacked)
}

/// Returns how many more pages may be backed.
pub(super) fn room(region: &Region) -> u32 {
    let geometry = region.geometry();
    let most = region.limit().saturating_sub(geometry.first_page);
    let left = |pages: u32| pages.min(most).saturating_sub(backed(region));
    pages(region).map_or(u32::MAX, left)
}

/// Returns whether a cache has more pages than it may, not counting those that will be given back.
pub(crate) fn is_over(region: &Region) -> bool {
    let surplus = region.pool().surplus_count.load(Ordering::Relaxed);
    pages(region).is_some_and(|pages| backed(region).saturating_sub(surplus) > pages)
}

/// Returns how many pages of the pool may be used.
pub(crate) fn free(region: &Region) -> u32 {
    let surplus = region.pool().surplus_count.load(Ordering::Relaxed);
    let free = region.pool().free_count.load(Ordering::Relaxed);
    free.saturating_sub(surplus)
}

/// Returns how many pages may be taken from the pool. A cache that is too large gives up one page
/// for each.
pub(crate) fn available(region: &Region) -> u32 {
    match is_over(region) {
        true => free(region) / 2,
        false => free(region),
    }
}

/// Returns how many pages may be taken from the pool, or backed for it.
pub(crate) fn within_reach(region: &Region) -> u32 {
    available(region).saturating_add(room(region))
}

/// Returns how many pages living participants own, all threads of each: chains that are not
/// published yet, and pages that are being backed or given back.
pub(crate) fn in_hand(region: &Region, me: Me) -> u32 {
    let mut known = (0, false);
    let mut lives = |owner: u32| {
        if known.0 != owner {
            known = (owner, is_alive(region, owner, me));
        }
        known.1
    };
    let pages = region.geometry().first_page..region.high_water();
    let is_in_hand = |page: &u32| {
        let word = region.page_word(*page).load(Ordering::Relaxed);
        match PageWord::decode(word) {
            PageWord::Build { owner, .. } | PageWord::Claimed { owner } => lives(owner),
            _ => false,
        }
    };
    pages.filter(is_in_hand).count() as u32
}

/// Returns whether pages are unavailable without evicting keys, as far as the counts show.
pub(crate) fn is_full(region: &Region) -> bool {
    available(region) == 0 && room(region) == 0
}

/// Returns whether a cache can have room for a value of this many pages, beside little else.
pub(crate) fn may_hold(region: &Region, wanted: u32) -> bool {
    let shards = u64::from(region.geometry().shards());
    let beside = u64::from(region.pool().extent_pages.load(Ordering::Relaxed));
    let least = u64::from(wanted) + beside + shards * LEAST_PAGES;
    pages(region).is_none_or(|pages| least <= u64::from(pages))
}

/// Returns how many bytes are backed beside the pages.
fn overhead(region: &Region) -> u64 {
    let geometry = region.geometry();
    let words = region.pool().backed_words.load(Ordering::Relaxed);
    let words_from = geometry.words_from();
    let words_to = geometry.page_table_off + u64::from(words.min(geometry.max_pages)) * 8;
    let directories = (0..geometry.shards()).map(|shard| {
        let head = region.shard(shard);
        let dir = head.dir_backed.load(Ordering::Relaxed).max(DIR_INLINE) - DIR_INLINE;
        let uids = head.uid_backed.load(Ordering::Relaxed);
        let dir = u64::from(dir.min(1 << geometry.dir_log2)) * 4;
        let uids = u64::from(uids.min(1 << geometry.uid_dir_log2)) * 4;
        [dir, uids]
            .map(|bytes| bytes.next_multiple_of(4096))
            .iter()
            .sum::<u64>()
    });
    let (_, leases) = geometry.leases();
    let leases = if region.has_leases() { leases } else { 0 };
    let (_, watches) = geometry.watches();
    let watches = if region.has_watches() { watches } else { 0 };
    let words = words_to.saturating_sub(words_from);
    geometry.page_table_off + words + leases + watches + directories.sum::<u64>()
}

/// Sums up what is backed beside the pages. Call under the pool's lock, or while no other process
/// knows the region.
pub(crate) fn reckon(region: &Region) {
    if region.is_cache() {
        let pool = region.pool();
        pool.overhead.store(overhead(region), Ordering::Relaxed);
    }
}

/// Returns the capacity in bytes, or `None` if the table is not a cache or its word was damaged.
pub(crate) fn capacity(region: &Region) -> Option<u64> {
    let word = region.pool().capacity.load(Ordering::Relaxed);
    let pages = region.is_cache().then(|| PagesWord::decode(word))??;
    Some(u64::from(pages) * PAGE)
}

/// Returns the smallest capacity that this cache can have.
fn least(region: &Region) -> u64 {
    let shards = u64::from(region.geometry().shards());
    let beside = u64::from(region.pool().extent_pages.load(Ordering::Relaxed)) * PAGE;
    (overhead(region) + beside + shards * LEAST_PAGES * PAGE).next_multiple_of(PAGE)
}

/// Repairs a damaged word: the capacity is then what the cache has now. Returns how many words it
/// repaired. Call under the pool's lock.
pub(super) fn mend(region: &Region) -> u64 {
    if !region.is_cache() || capacity(region).is_some() {
        return 0;
    }
    reckon(region);
    let overhead = overhead(region).div_ceil(PAGE);
    let pages = backed(region).saturating_add(u32::try_from(overhead).unwrap_or(u32::MAX));
    let word = PagesWord::encode(pages);
    region.pool().capacity.store(word, Ordering::Relaxed);
    1
}

/// Changes the capacity, by one store.
pub(crate) fn set(region: &Region, bytes: u64) -> Result<()> {
    let bad = |why| {
        Err(Error::BadOption {
            option: "capacity",
            why,
        })
    };
    if !region.is_cache() {
        return bad("the table is not a cache: it was created without a capacity".to_string());
    }
    let (least, most) = (least(region), region.max_size());
    if !(least..=most).contains(&bytes) {
        return bad(format!(
            "{bytes} is not between {least} and {most} bytes (the table's max_size)"
        ));
    }
    let word = PagesWord::encode((bytes / PAGE) as u32);
    region.pool().capacity.store(word, Ordering::Relaxed);
    Ok(())
}

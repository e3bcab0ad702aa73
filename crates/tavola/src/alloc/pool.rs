//! The page pool: pages that no shard owns. Free pages are backed by memory; unbacked ones are not,
//! and unused pages never were.

use super::capacity;
use super::unraised::undo_unraised;
use super::{Need, Stop};
use crate::error::{Error, Result};
use crate::layout::{PAGE, PageWord};
use crate::lock::{Me, PoolLock, Taken};
use crate::region::{Region, no_room};
use crate::sync::{Ordering, W32, fence};
use crate::sys::clock;

/// Pages that one call backs: few enough that a write never waits long for the kernel to clear them
/// (64 KiB: ~25 µs), and enough that the call itself costs little.
const STEP: u32 = 4;
/// The most pages that one call backs, for a value that needs that many: 1 MiB.
const RUN: u32 = 64;
/// How long a page stays backed after it was freed. A reader that loaded a ref before the page was
/// freed has by then read the page, or the bucket's version.
pub(crate) const GRACE_PERIOD_S: u32 = 1;
/// The pool keeps one free page for this many pages in use, and gives the others back.
const KEEP_PART: u32 = 8;

pub(super) const FULL_SIZE: &str =
    "max_size is reached; remove keys, or raise max_size (tavola resize)";
pub(super) const FULL_CAPACITY: &str = "the capacity of the cache is reached, and nothing can be \
    evicted; try again, or raise the capacity";

/// Locks the pool, and rebuilds its lists if its last owner died.
pub(crate) fn lock(region: &Region, me: Me) -> Result<PoolLock<'_>> {
    let (lock, taken) = PoolLock::acquire(region, me)?;
    if let Taken::FromDead { owner } = taken {
        undo_unraised(&lock, Some(owner));
        rebuild(&lock);
    }
    Ok(lock)
}

/// Does what [`capacity::reckon`] does, and takes the lock for it.
pub(crate) fn recompute_overhead(region: &Region, me: Me) -> Result<()> {
    if region.is_cache() {
        let _lock = lock(region, me)?;
        capacity::reckon(region);
    }
    Ok(())
}

/// Rebuilds the lists from the page words. A page that is neither free nor unbacked stays with its
/// owner.
pub(crate) fn rebuild(lock: &PoolLock<'_>) {
    undo_unraised(lock, None);
    let pool = lock.region.pool();
    let words = [
        &pool.free_head,
        &pool.free_count,
        &pool.old_head,
        &pool.unbacked_head,
        &pool.unbacked_count,
        &pool.surplus_head,
        &pool.surplus_count,
    ];
    for head in words {
        head.store(0, Ordering::Relaxed);
    }
    for page in lock.region.geometry().first_page..lock.region.high_water() {
        let word = lock.region.page_word(page);
        match PageWord::decode(word.load(Ordering::Relaxed)) {
            PageWord::Free { since, .. } => push_free(lock, page, since),
            PageWord::Unbacked { .. } => push_unbacked(lock, page),
            _ => {}
        }
    }
    unclaim_unused(lock);
    capacity::reckon(lock.region);
}

/// Frees pages that a dead owner claimed above the high-water mark before it raised that: only the
/// holder of this lock makes such claims.
fn unclaim_unused(lock: &PoolLock<'_>) {
    let high_water = lock.region.high_water();
    let backed = lock.region.pool().backed_words.load(Ordering::Relaxed);
    let until = (high_water + RUN)
        .min(backed)
        .min(lock.region.geometry().max_pages);
    for page in high_water..until {
        let word = lock.region.page_word(page);
        if let PageWord::Claimed { .. } = PageWord::decode(word.load(Ordering::Relaxed)) {
            word.store(PageWord::Unused.encode(), Ordering::Relaxed);
        }
    }
}

/// Returns the first page of a list, or 0, which ends it, if that number cannot be a page's.
fn list_head(lock: &PoolLock<'_>, head: &W32) -> u32 {
    let page = head.load(Ordering::Relaxed);
    if lock.region.is_page(page) { page } else { 0 }
}

pub(super) fn push_free(lock: &PoolLock<'_>, page: u32, since: u32) {
    let pool = lock.region.pool();
    let next = list_head(lock, &pool.free_head);
    let word = PageWord::Free { next, since }.encode();
    lock.region.page_word(page).store(word, Ordering::Relaxed);
    pool.free_head.store(page, Ordering::Relaxed);
    pool.free_count.add_owned(1);
}

pub(super) fn push_unbacked(lock: &PoolLock<'_>, page: u32) {
    let pool = lock.region.pool();
    let next = list_head(lock, &pool.unbacked_head);
    lock.region
        .page_word(page)
        .store(PageWord::Unbacked { next }.encode(), Ordering::Relaxed);
    pool.unbacked_head.store(page, Ordering::Relaxed);
    pool.unbacked_count.add_owned(1);
}

/// Returns the first page of a list of free pages, its successor, and since when it is free.
/// Rebuilds the lists if they are damaged.
fn first_of(lock: &PoolLock<'_>, head: &W32) -> Option<(u32, u32, u32)> {
    for _ in 0..2 {
        let page = head.load(Ordering::Relaxed);
        if page == 0 {
            return None;
        }
        if lock.region.is_page(page) {
            let word = lock.region.page_word(page).load(Ordering::Relaxed);
            if let PageWord::Free { next, since } = PageWord::decode(word) {
                return Some((page, next, since));
            }
        }
        rebuild(lock);
    }
    None
}

/// Takes a backed page and gives it `state`. Also returns since when it was free, or 0 if it was
/// never used. Call with the shard's lock, or without locks.
pub(crate) fn take(
    region: &Region,
    me: Me,
    state: PageWord,
) -> std::result::Result<(u32, u32), Stop> {
    let lock = lock(region, me)?;
    let pool = region.pool();
    // A cache that is too large gives up one page for each that it uses again.
    if capacity::is_over(region) && !(capacity::free(region) > 1 && give_up(&lock)) {
        return Err(Stop::Need(Need::Pages(1)));
    }
    let Some((head, (page, next, since))) = first_free(&lock) else {
        return Err(Stop::Need(Need::Pages(1)));
    };
    // The state first: if we die, the next owner finds the page in its old list with its new state,
    // and rebuilds the lists.
    region
        .page_word(page)
        .store(state.encode(), Ordering::Relaxed);
    head.store(next, Ordering::Relaxed);
    pool.free_count.sub_owned(1);
    // ALLOC-2: before the bytes of the page change. Pairs with the fence of `recheck` in
    // `index::read`.
    fence(Ordering::Release);
    Ok((page, since))
}

/// Returns the first free page; a recently freed one first, as its bytes may still be in the CPU's
/// cache.
fn first_free<'a>(lock: &PoolLock<'a>) -> Option<(&'a W32, (u32, u32, u32))> {
    let pool = lock.region.pool();
    [&pool.free_head, &pool.old_head]
        .into_iter()
        .find_map(|head| first_of(lock, head).map(|first| (head, first)))
}

/// Moves a free page to the surplus: it waits to be given back, and is not used again. Returns
/// false if there is no free page.
fn give_up(lock: &PoolLock<'_>) -> bool {
    let pool = lock.region.pool();
    let Some((head, (page, next, since))) = first_free(lock) else {
        return false;
    };
    let given_up = PageWord::Free {
        next: list_head(lock, &pool.surplus_head),
        since,
    };
    // If we die between these stores, the next owner of the lock rebuilds the lists.
    head.store(next, Ordering::Relaxed);
    lock.region
        .page_word(page)
        .store(given_up.encode(), Ordering::Relaxed);
    pool.surplus_head.store(page, Ordering::Relaxed);
    pool.surplus_count.add_owned(1);
    true
}

/// Moves at most `most` free pages to the surplus, as long as a cache is too large. Call without
/// locks.
pub(crate) fn give_up_some(region: &Region, me: Me, most: u32) -> Result<()> {
    let lock = lock(region, me)?;
    for _ in 0..most {
        if !capacity::is_over(region) || !give_up(&lock) {
            break;
        }
    }
    Ok(())
}

/// Moves at most `wanted` free pages to the surplus, however large the cache is, and returns how
/// many. Call without locks.
pub(crate) fn give_up_free(region: &Region, me: Me, wanted: u32) -> Result<u32> {
    let lock = lock(region, me)?;
    Ok((0..wanted).take_while(|_| give_up(&lock)).count() as u32)
}

/// Puts backed pages into the pool.
pub(crate) fn give(region: &Region, me: Me, pages: &[u32]) {
    give_since(region, me, pages, clock::monotonic_s() as u32);
}

/// Puts pages into the pool as [`give`] does, if no reader has known them since they were last
/// free: the time for which they stay backed does not start again.
pub(super) fn give_since(region: &Region, me: Me, pages: &[u32], since: u32) {
    // If the lock is refused (to a signal handler's write), the pages wait for recovery.
    let Ok(lock) = lock(region, me) else { return };
    for page in pages {
        push_free(&lock, *page, since);
    }
}

/// Backs more pages by memory and puts them into the pool. Call without locks.
///
/// Adjacent pages are taken from the last to the first, in the order in which chains are built: so
/// the value of a large item is in few runs of pages.
///
/// # Errors
/// [`Error::Full`] if `max_size` is reached or the file system has no room.
pub(crate) fn provision(region: &Region, me: Me, want: u32) -> Result<()> {
    let mut missing = want;
    while missing > 0 {
        let (first, count) = claim(region, me, missing.clamp(STEP, RUN))?;
        let offset = u64::from(first) * PAGE;
        if let Err(why) = region.allocate(offset, u64::from(count) * PAGE) {
            // What was backed already is given back: unbacked pages do not count as memory.
            let _ = region.punch(offset, u64::from(count) * PAGE);
            let lock = lock(region, me)?;
            (first..first + count).for_each(|page| push_unbacked(&lock, page));
            return Err(no_room(why));
        }
        let lock = lock(region, me)?;
        (first..first + count).for_each(|page| push_free(&lock, page, 0));
        missing = missing.saturating_sub(count);
    }
    Ok(())
}

/// Claims a run of at most `most` pages that are not backed yet.
fn claim(region: &Region, me: Me, most: u32) -> Result<(u32, u32)> {
    let claimed = PageWord::Claimed { owner: me.id() }.encode();
    loop {
        let lock = lock(region, me)?;
        let pool = region.pool();
        let room = capacity::room(region);
        if room == 0 {
            return Err(Error::Full {
                reason: FULL_CAPACITY,
            });
        }
        let unbacked = pool.unbacked_head.load(Ordering::Relaxed);
        if unbacked != 0 {
            let word = region.is_page(unbacked).then(|| region.page_word(unbacked));
            let state = word.map(|w| PageWord::decode(w.load(Ordering::Relaxed)));
            let Some(PageWord::Unbacked { next }) = state else {
                rebuild(&lock);
                continue;
            };
            region.page_word(unbacked).store(claimed, Ordering::Relaxed);
            pool.unbacked_head.store(next, Ordering::Relaxed);
            pool.unbacked_count.sub_owned(1);
            return Ok((unbacked, 1));
        }
        let first = unused_from(region);
        let count = most.min(room).min(region.limit().saturating_sub(first));
        if count == 0 {
            return Err(Error::Full { reason: FULL_SIZE });
        }
        let backed = pool.backed_words.load(Ordering::Relaxed);
        if first + count > backed {
            drop(lock);
            back_words(region, me, backed)?;
            continue;
        }
        if !region.maps(first + count) {
            return Err(region.out_of_reach());
        }
        // The words above the high-water mark are 0, unless it was damaged.
        let is_unused = |page: &u32| {
            region.page_word(*page).load(Ordering::Relaxed) == PageWord::Unused.encode()
        };
        let count = (first..first + count).take_while(is_unused).count().max(1) as u32;
        for page in first..first + count {
            region.page_word(page).store(claimed, Ordering::Relaxed);
        }
        // Pairs with nothing: readers only learn that refs may lie a little higher.
        pool.high_water.store(first + count, Ordering::Release);
        return Ok((first, count));
    }
}

/// Returns the first page that was never used. It is at the high-water mark, unless that was
/// damaged.
pub(super) fn unused_from(region: &Region) -> u32 {
    let backed = region.pool().backed_words.load(Ordering::Relaxed);
    let until = backed.min(region.geometry().max_pages);
    let mut page = region.high_water().max(region.geometry().first_page);
    while page < until && region.page_word(page).load(Ordering::Relaxed) != 0 {
        page += 1;
    }
    page
}

/// Repairs a damaged high-water mark: raises it above all pages in use, and with it the count of
/// backed page words.
pub(crate) fn raise_high_water(region: &Region, me: Me) -> Result<()> {
    let geometry = region.geometry();
    let end = used_until(region);
    while region.pool().backed_words.load(Ordering::Relaxed) < end.min(geometry.max_pages) {
        back_words(
            region,
            me,
            region.pool().backed_words.load(Ordering::Relaxed),
        )?;
    }
    let lock = lock(region, me)?;
    let end = end.min(region.limit());
    if region.high_water() < end {
        region.pool().high_water.store(end, Ordering::Release);
    }
    drop(lock);
    Ok(())
}

/// Returns the end of the pages in use. Pages are used from the first one on, so the search ends at
/// a block of words that are 0. The words are read without the mapping, as they may not be backed.
fn used_until(region: &Region) -> u32 {
    let geometry = region.geometry();
    let mut words = vec![0; crate::layout::WORDS_STEP as usize * 8];
    let mut end = region.high_water().max(geometry.first_page);
    for from in (geometry.first_page..geometry.max_pages).step_by(words.len() / 8) {
        let count = (geometry.max_pages - from).min(crate::layout::WORDS_STEP);
        let words = &mut words[..count as usize * 8];
        let is_read = region.read(geometry.page_table_off + u64::from(from) * 8, words);
        let last = words
            .as_chunks::<8>()
            .0
            .iter()
            .rposition(|word| *word != [0; 8]);
        match last {
            Some(last) if is_read => end = end.max(from + last as u32 + 1),
            _ => break,
        }
    }
    end
}

/// Backs the next part of the page table itself.
pub(super) fn back_words(region: &Region, me: Me, backed: u32) -> Result<()> {
    let geometry = region.geometry();
    let backed = backed.clamp(geometry.first_page, geometry.max_pages);
    let until = backed
        .saturating_add(crate::layout::WORDS_STEP)
        .min(geometry.max_pages);
    let offset = geometry.page_table_off + u64::from(backed) * 8;
    region
        .allocate(offset, u64::from(until - backed) * 8)
        .map_err(no_room)?;
    let lock = lock(region, me)?;
    let word = &region.pool().backed_words;
    if word.load(Ordering::Relaxed) < until {
        word.store(until, Ordering::Relaxed);
    }
    capacity::reckon(region);
    drop(lock);
    Ok(())
}

/// Returns whether the pool holds more than it should keep; needs no lock.
#[inline]
pub(crate) fn is_worth_giving_back(region: &Region) -> bool {
    let pool = region.pool();
    if pool.surplus_count.load(Ordering::Relaxed) > 0 {
        return true;
    }
    let free = pool.free_count.load(Ordering::Relaxed);
    let unbacked = pool.unbacked_count.load(Ordering::Relaxed);
    let given_out = region
        .high_water()
        .saturating_sub(region.geometry().first_page);
    let beside = pool.extent_pages.load(Ordering::Relaxed);
    let in_use = [free, unbacked, beside]
        .into_iter()
        .fold(given_out, u32::saturating_sub);
    free > in_use / KEEP_PART
}

/// Gives at most `most` free pages back to the system; with `all`, also those that the pool would
/// keep. Returns how many bytes, and whether pages are left that were freed too recently. Call
/// without locks.
pub(crate) fn give_back(region: &Region, me: Me, most: u32, all: bool) -> Result<(u64, bool)> {
    let mut given = 0;
    for _ in 0..most {
        if !all && !is_worth_giving_back(region) {
            break;
        }
        let Some(page) = claim_old(region, me)? else {
            return Ok((given, region.pool().free_count.load(Ordering::Relaxed) > 0));
        };
        let punched = region.punch(u64::from(page) * PAGE, PAGE).is_ok();
        let lock = lock(region, me)?;
        if punched {
            push_unbacked(&lock, page);
            given += PAGE;
        } else {
            // The file system cannot punch holes: the page stays backed, and counts as just freed.
            push_free(&lock, page, clock::monotonic_s() as u32);
            return Ok((given, false));
        }
    }
    Ok((given, false))
}

/// Claims a free page whose grace period is over. Allocation prefers the newest pages, and in one
/// list they would hide the old ones. So all free pages are moved to a list of their own from time
/// to time; there they get old, and are given back unless they are needed before.
fn claim_old(region: &Region, me: Me) -> Result<Option<u32>> {
    let lock = lock(region, me)?;
    let pool = region.pool();
    let claimed = |head: &W32, count: &W32| {
        let old_before = (clock::monotonic_s() as u32).saturating_sub(GRACE_PERIOD_S);
        let (page, next, since) = first_of(&lock, head)?;
        if since >= old_before {
            return None;
        }
        let claimed = PageWord::Claimed { owner: me.id() }.encode();
        region.page_word(page).store(claimed, Ordering::Relaxed);
        head.store(next, Ordering::Relaxed);
        count.sub_owned(1);
        pool.free_count
            .sub_owned(u32::from(!core::ptr::eq(count, &pool.free_count)));
        Some(page)
    };
    if let Some(page) = claimed(&pool.surplus_head, &pool.surplus_count) {
        return Ok(Some(page));
    }
    if pool.old_head.load(Ordering::Relaxed) == 0 {
        let young = pool.free_head.load(Ordering::Relaxed);
        // If we die between the two stores, the list is unreachable, and the next owner of the lock
        // rebuilds it.
        pool.free_head.store(0, Ordering::Relaxed);
        pool.old_head.store(young, Ordering::Relaxed);
    }
    Ok(claimed(&pool.old_head, &pool.free_count))
}

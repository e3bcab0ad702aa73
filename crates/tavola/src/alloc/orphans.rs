//! Orphans: chains that readers had pinned when their items were freed (`region::pins`). The last
//! reader leaves such a chain, and the next writer frees it.
//!
//! The pages of an orphan stay `Large` of their shard, and one of its pins is `Orphan`, or `Left`
//! if the reader has gone. Only the holder of the shard's lock frees it (ALLOC-6).
//!
//! | step, under the lock of the chain's shard | a survivor finds, if we die after it |
//! |---|---|
//! | its pin, `Left`, becomes `Free` | pages that nothing leads to, for recovery |
//! | another pin of it, if there is one, becomes `Orphan` | an orphan |
//! | otherwise its pages go to the pool | the rest: as after the first step |
//!
//! Recovery frees such pages, or leaves them to a pin of the chain. A reader with another pin of
//! the chain finds its pages unchanged at each step.

use super::chain::{give_chain, len_of, next_of};
use crate::layout::{FIRST_MASK, PageWord, PinWord};
use crate::lock::{Me, ShardLock};
use crate::region::Region;
use crate::sync::{Ordering, W32};
use crate::sys::clock;

/// Frees the chains whose readers have gone, if there may be any, except in shards that are locked.
/// Call without locks.
#[inline(always)]
pub(crate) fn free_orphans(region: &Region, me: Me) {
    if region.may_have_orphans() {
        find_orphans(region, me);
    }
}

/// Frees them as [`free_orphans`] does, whether or not there may be any.
#[cold]
pub(crate) fn find_orphans(region: &Region, me: Me) {
    // Before the pins are read: a reader that leaves one meanwhile sets it again.
    region.superblock().orphans.store(0, Ordering::Release);
    for word in region.pins() {
        let PinWord::Left { first } = PinWord::decode(word.load(Ordering::Acquire)) else {
            continue;
        };
        match shard_of(region, first).map(|shard| ShardLock::try_acquire(region, shard, me)) {
            Some(Some(lock)) => end(&lock, word, first),
            Some(None) => region.expect_orphans(),
            // Damage: no chain begins there.
            None => drop(word.cas(left(first), 0, Ordering::Relaxed)),
        }
    }
}

fn left(first: u32) -> u32 {
    PinWord::Left { first }.encode()
}

/// Returns the shard of the chain that begins with a page.
fn shard_of(region: &Region, first: u32) -> Option<u32> {
    if !region.is_page(first) {
        return None;
    }
    match PageWord::decode(region.page_word(first).load(Ordering::Relaxed)) {
        PageWord::Large {
            shard, first: of, ..
        } if of == first & FIRST_MASK && shard < region.geometry().shards() => Some(shard),
        _ => None,
    }
}

fn end(lock: &ShardLock<'_>, word: &W32, first: u32) {
    // Pairs with the release in `take_off`. Another process may have been faster.
    let is_ours = shard_of(lock.region, first) == Some(lock.number)
        && word.cas(left(first), 0, Ordering::Acquire).is_ok();
    if is_ours
        && !lock.region.leave_to_reader(first)
        && let Some(pages) = len_of(lock.region, first)
    {
        let now = clock::monotonic_s() as u32;
        give_chain(lock.region, lock.me, first, pages, now);
    }
}

/// Keeps, in the recovery of a shard, the pinned chains that no item leads to. The chains that an
/// item leads to are marked by then. Returns the pages that are kept, in order.
pub(crate) fn keep_pinned(lock: &ShardLock<'_>) -> Vec<u32> {
    let region = lock.region;
    let mut kept = Vec::new();
    let states = || {
        region
            .pins()
            .map(|word| PinWord::decode(word.load(Ordering::Acquire)))
    };
    for state in states() {
        let Some(first) = state.first() else { continue };
        if shard_of(region, first) != Some(lock.number) || is_marked(region, first) {
            continue;
        }
        // The dead owner may have been about to leave the chain to a reader, or to free it.
        let is_left =
            |state| state == PinWord::Orphan { first } || state == PinWord::Left { first };
        if states().any(is_left) || region.leave_to_reader(first) {
            kept.extend(pages_of(region, first));
        }
    }
    kept.sort_unstable();
    kept.dedup();
    kept
}

fn is_marked(region: &Region, page: u32) -> bool {
    let word = region.page_word(page).load(Ordering::Relaxed);
    matches!(PageWord::decode(word), PageWord::Large { mark: true, .. })
}

/// Returns the pages of a chain, or none if the chain does not end.
fn pages_of(region: &Region, first: u32) -> impl Iterator<Item = u32> + '_ {
    let pages = len_of(region, first).unwrap_or(0);
    let mut page = first;
    (0..pages).map_while(move |_| {
        let this = page;
        page = next_of(region, first, this)?;
        Some(this)
    })
}

/// Returns how many pages of the shard belong to no item any more, and wait for their readers.
pub(crate) fn orphan_pages(region: &Region, shard: u32) -> u64 {
    let mut firsts = region
        .pins()
        .filter_map(|word| match PinWord::decode(word.load(Ordering::Acquire)) {
            PinWord::Orphan { first } | PinWord::Left { first } => Some(first),
            _ => None,
        })
        .filter(|first| shard_of(region, *first) == Some(shard))
        .collect::<Vec<_>>();
    firsts.sort_unstable();
    firsts.dedup();
    firsts
        .iter()
        .map(|first| u64::from(len_of(region, *first).unwrap_or(0)))
        .sum()
}

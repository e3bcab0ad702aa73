//! Removal of extents whose builder died before it raised the high-water mark. Nothing was ever at
//! their pages, so entry and page words just become free again.

use crate::layout::{ExtentState, PageWord};
use crate::lock::{ABANDONED, PoolLock, is_alive};
use crate::sync::Ordering;

/// Removes extents that begin at or above the high-water mark: their builder died before it raised
/// that. It was the one from which the pool's lock was stolen, or another dead one.
pub(super) fn undo_unraised(lock: &PoolLock<'_>, from: Option<u32>) {
    let region = lock.region;
    let most = region.pool().backed_words.load(Ordering::Relaxed);
    let most = most.min(region.geometry().max_pages);
    let is_over = |builder| {
        from == Some(builder) || from == Some(ABANDONED) || !is_alive(region, builder, lock.me)
    };
    let mut pages = 0;
    for (number, extent) in (0..).zip(region.extents()) {
        let run = extent.run();
        match extent.state() {
            ExtentState::Building { owner }
                if run.first >= region.high_water() && is_over(owner) =>
            {
                for page in run.first..run.end().min(most) {
                    let word = region.page_word(page);
                    if word.load(Ordering::Relaxed) == (PageWord::Extent { number }).encode() {
                        word.store(PageWord::Unused.encode(), Ordering::Relaxed);
                    }
                }
                extent.forget();
            }
            ExtentState::Free | ExtentState::Damaged => {}
            _ => pages += run.pages.min(region.geometry().max_pages),
        }
    }
    region.pool().extent_pages.store(pages, Ordering::Relaxed);
}

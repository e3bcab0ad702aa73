//! Extents whose builder died before it raised the high-water mark: their entries are forgotten.

use crate::layout::{ExtentState, PageWord};
use crate::lock::{ABANDONED, PoolLock, is_alive};
use crate::sync::Ordering;

/// An extent that begins at the high_water or behind it is one whose builder died before it raised
/// that: the one from whom the pool's lock was taken over, or another that is no more.
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

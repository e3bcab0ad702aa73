//! Prefetching cache lines before they are needed. Any ref is allowed: a prefetch never faults.

use super::Region;
use crate::layout::{PAGE, UNIT};
use crate::sync::prefetch;

/// The offset of the last word of the most usual item: one whose key and value are a word each.
const LAST_WORD: u64 = 16;
/// Bytes of a cache line.
const LINE: usize = 64;

impl Region {
    /// Prefetches a short item. Blocks are not multiples of a cache line: a quarter of the blocks
    /// of three words cross from one line into the next.
    #[inline(always)]
    pub(crate) fn prefetch_ref(&self, item_ref: u64) {
        let item = self.base().wrapping_add((item_ref * UNIT) as usize);
        let last_word = match self.fixed() {
            None => LAST_WORD,
            Some(fixed) => fixed.bytes().saturating_sub(8),
        };
        prefetch(item);
        prefetch(item.wrapping_add(last_word as usize));
    }

    /// Prefetches an item that a batch will read. With versions there are three words before its
    /// key, and few items fit in one line: the next line is fetched as well.
    #[inline(always)]
    pub(crate) fn prefetch_item(&self, item_ref: u64) {
        if !self.geometry.has_versions {
            return self.prefetch_ref(item_ref);
        }
        let item = self.base().wrapping_add((item_ref * UNIT) as usize);
        prefetch(item);
        prefetch(item.wrapping_add(LINE));
    }

    /// Prefetches what freeing the item at a ref will need: its page's word and the slab's bitmap.
    #[inline(always)]
    pub(crate) fn prefetch_slab(&self, item_ref: u64) {
        let page = item_ref * UNIT / PAGE;
        let word = self.geometry.page_table_off + page * 8;
        prefetch(self.base().wrapping_add(word as usize));
        let slab = self.base().wrapping_add((page * PAGE) as usize);
        prefetch(slab);
        prefetch(slab.wrapping_add(LINE));
    }
}

//! Having lines fetched before they are needed. Any ref is allowed: a prefetch never faults.

use super::Region;
use crate::layout::{PAGE, UNIT};
use crate::sync::prefetch;

/// Where the last word of an item begins whose key and value have a word each, the most usual.
const LAST_WORD: u64 = 16;
/// Bytes of a line.
const LINE: usize = 64;

impl Region {
    /// A short item. Blocks are no whole lines: a quarter of those of three words stand in two.
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

    /// An item that a batch will look at. With versions, three words stand before its key, and few
    /// items are in one line: the next one is fetched as well.
    #[inline(always)]
    pub(crate) fn prefetch_item(&self, item_ref: u64) {
        if !self.geometry.has_versions {
            return self.prefetch_ref(item_ref);
        }
        let item = self.base().wrapping_add((item_ref * UNIT) as usize);
        prefetch(item);
        prefetch(item.wrapping_add(LINE));
    }

    /// What freeing the item at a ref will need: its page's word and the slab's bitmap.
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

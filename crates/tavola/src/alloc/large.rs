//! Reading large items: those whose key and value do not fit in a block. The rest is in a chain of
//! pages (see `pieces`).

use super::Item;
use super::pieces::LargeStream;
use crate::layout::large_split;
use crate::region::Block;
use crate::sync::W64;

impl<'a> Item<'a> {
    /// Returns how many pages its chain has.
    pub(crate) fn pages(&self) -> u32 {
        if self.is_large() {
            large_split(self.payload()).1
        } else {
            0
        }
    }

    pub(super) fn pieces(&self) -> LargeStream<'a> {
        let (inline, pages) = large_split(self.payload());
        LargeStream {
            region: self.region,
            block: self.block,
            data: self.data,
            inline,
            first_page: self.first_page,
            pages,
            is_pinned: self.is_pinned,
        }
    }

    /// Returns a copy of a large item's block. The caller has pinned the chain, and rechecks
    /// afterwards that both still are the key's.
    pub(crate) fn copied_block(&self) -> Vec<W64> {
        let words = (0..self.block_bytes()).step_by(8);
        words.map(|at| W64::new(self.word(at))).collect()
    }

    /// Returns the same item with that copy of its block, whose pages are read through the mapping.
    pub(crate) fn pinned<'b>(&self, block: &'b [W64]) -> Item<'b>
    where
        'a: 'b,
    {
        Item {
            block: Block::copied(block),
            is_pinned: true,
            ..*self
        }
    }

    /// Appends the value as [`Self::copy_value`] does. Of a pinned large item it appends only what
    /// is in the block, and to `runs` offset and length of the rest.
    pub(crate) fn lend_value(&self, head: &mut Vec<u8>, runs: &mut Vec<(u64, u64)>) -> bool {
        match self.is_pinned {
            true => {
                let (key_len, len) = (self.key_len, self.value_len);
                self.pieces().lend(key_len, len, head, runs)
            }
            false => self.copy_value(head),
        }
    }

    /// Returns whether its chain consists of pages in the right states.
    pub(crate) fn chain_is_whole(&self) -> bool {
        !self.is_large() || self.pieces().pages().all(|page| page.is_some())
    }

    /// Returns the pages of a large item; ends early at a broken link.
    pub(crate) fn chain(&self) -> impl Iterator<Item = u32> + 'a {
        let pages = self.is_large().then(|| self.pieces().pages());
        pages.into_iter().flatten().map_while(|page| page)
    }
}

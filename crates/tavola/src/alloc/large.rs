//! Items whose key and value do not fit in a block, as they are read.

use super::Item;
use super::pieces::Pieces;
use crate::layout::large_split;
use crate::region::Block;
use crate::sync::W64;

impl<'a> Item<'a> {
    /// How many pages its chain has.
    pub(crate) fn pages(&self) -> u32 {
        if self.is_large() {
            large_split(self.payload()).1
        } else {
            0
        }
    }

    pub(super) fn pieces(&self) -> Pieces<'a> {
        let (inline, pages) = large_split(self.payload());
        Pieces {
            region: self.region,
            block: self.block,
            data: self.data,
            inline,
            first_page: self.first_page,
            pages,
            is_pinned: self.is_pinned,
        }
    }

    /// A copy of a large item's block. The caller has pinned its chain, and looks afterwards
    /// whether both still are the key's.
    pub(crate) fn copied_block(&self) -> Vec<W64> {
        let words = (0..self.block_bytes()).step_by(8);
        words.map(|at| W64::new(self.word(at))).collect()
    }

    /// The same item with that copy of its block, and its pages to be read where they stand.
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

    /// As [`Self::copy_value`]; but of a large item that is pinned only what is in its block, and
    /// where the rest stands is appended to `runs`: offset and length.
    pub(crate) fn lend_value(&self, head: &mut Vec<u8>, runs: &mut Vec<(u64, u64)>) -> bool {
        match self.is_pinned {
            true => {
                let (key_len, len) = (self.key_len, self.value_len);
                self.pieces().lend(key_len, len, (head, runs))
            }
            false => self.copy_value(head),
        }
    }

    /// Whether its chain consists of pages in the right states.
    pub(crate) fn chain_is_whole(&self) -> bool {
        !self.is_large() || self.pieces().pages().all(|page| page.is_some())
    }

    /// The pages of a large item; ends early at a broken link.
    pub(crate) fn chain(&self) -> impl Iterator<Item = u32> + 'a {
        let pages = self.is_large().then(|| self.pieces().pages());
        pages.into_iter().flatten().map_while(|page| page)
    }
}

//! A slab: a page of blocks of one class, with a bitmap in front.
//!
//! ```text
//! next u32 | prev u32 | used u32 | from u32 | class u32 | 0 u32 | bitmap u64 ... | blocks ...
//! ```
//!
//! All of this is derived from the index and the page word, and recovery rebuilds it. The class is
//! in the page word as well: code that takes or frees a block compares the two, so that blocks
//! never overlap even if one of them was damaged.

use super::assert_layout;
use crate::sync::{W32, W64};

/// The longest bitmap: that of a page of 16-byte blocks.
pub(crate) const MAX_WORDS: usize = 16;

/// The head of a slab page. The bits past the last block are always set.
#[repr(C)]
pub(crate) struct SlabPage {
    /// The next page of the class with a free block; 0: none.
    pub(crate) next: W32,
    /// The page before it in that list; 0: none.
    pub(crate) prev: W32,
    /// Blocks in use.
    pub(crate) used: W32,
    /// No word of the bitmap before this one has a free block.
    pub(crate) from: W32,
    /// The size class, as in the page word.
    pub(crate) class: W32,
    reserved: W32,
    /// One bit for each block, 1 = in use; as many words as the class needs.
    pub(crate) bitmap: [W64; MAX_WORDS],
}
assert_layout!(SlabPage, size 152, {
    next: 0, prev: 4, used: 8, from: 12, class: 16, reserved: 20, bitmap: 24,
});

/// Returns how many words the bitmap of a page with this number of blocks has.
pub(crate) const fn slab_words(blocks: u32) -> u32 {
    blocks.div_ceil(64)
}

/// Returns how many bytes are in front of the first block.
pub(super) const fn slab_header(blocks: u32) -> u32 {
    24 + 8 * slab_words(blocks)
}

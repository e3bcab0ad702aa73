//! A slab: a page of blocks of one class, its bitmap in front.
//!
//! ```text
//! next u32 | prev u32 | used u32 | from u32 | class u32 | 0 u32 | bitmap u64 ... | blocks ...
//! ```
//!
//! All of it is derived from the index and the page word: recovery rebuilds it. The class stands in
//! the page word; who takes or frees a block holds it against the one here, so that blocks never
//! overlap when either was damaged.

use super::assert_layout;
use crate::sync::{W32, W64};

/// The most words a bitmap has: pages of 16-byte blocks.
pub(crate) const MAX_WORDS: usize = 16;

/// The head of a slab page. Bits of blocks past the class's last are always set.
#[repr(C)]
pub(crate) struct SlabPage {
    /// The next page of the class with a free block; 0: none.
    pub(crate) next: W32,
    /// The one before; 0: none.
    pub(crate) prev: W32,
    /// Blocks in use.
    pub(crate) used: W32,
    /// No word of the bitmap before this one has a free block.
    pub(crate) from: W32,
    /// The size class, as in the page word.
    pub(crate) class: W32,
    reserved: W32,
    /// A bit a block, 1 = in use; as many words as the class needs.
    pub(crate) bitmap: [W64; MAX_WORDS],
}
assert_layout!(SlabPage, size 152, {
    next: 0, prev: 4, used: 8, from: 12, class: 16, reserved: 20, bitmap: 24,
});

/// Words of the bitmap of so many blocks.
pub(crate) const fn slab_words(blocks: u32) -> u32 {
    blocks.div_ceil(64)
}

/// Bytes in front of the first block.
pub(super) const fn slab_header(blocks: u32) -> u32 {
    24 + 8 * slab_words(blocks)
}

//! Size classes of blocks: few enough that a table of them is small, dense enough that little is
//! wasted. They rise in 8-byte steps to 128 B, then at most 12.5 % apart up to 1 KiB, then by whole
//! fractions of a page.

use super::PAGE;
use super::slab::{slab_header, slab_words};

/// How many size classes exist.
pub(crate) const CLASSES: usize = 54;
/// The largest block: a page without the slab's header.
pub(crate) const LARGEST_BLOCK: u32 = 16_352;

/// One size class.
#[derive(Clone, Copy)]
pub(crate) struct Class {
    /// Bytes of a block, a multiple of 8.
    pub(crate) block: u32,
    /// Blocks in a page.
    pub(crate) blocks: u32,
    /// Offset of the first block in the page.
    pub(crate) first: u32,
}

impl Class {
    const fn new(block: u32) -> Self {
        let mut blocks = (PAGE as u32) / block;
        while slab_header(blocks) + blocks * block > PAGE as u32 {
            blocks -= 1;
        }
        let header = slab_header(blocks);
        // Alignment, so that a block touches as few cache lines as possible.
        let first = header.next_multiple_of(natural(block));
        Self {
            block,
            blocks,
            first: if first + blocks * block <= PAGE as u32 {
                first
            } else {
                header
            },
        }
    }

    /// Returns the class of that number, or `None` if there is no such class: numbers come from
    /// page words, so they may be damaged.
    #[inline(always)]
    pub(crate) fn get(number: u32) -> Option<&'static Class> {
        TABLE.get(number as usize)
    }

    /// Returns how many words the bitmap of a page has.
    pub(crate) fn words(&self) -> u32 {
        slab_words(self.blocks)
    }

    /// Returns the block that begins at this offset in its page, if one does.
    pub(crate) fn block_at(&self, in_page: u32) -> Option<u32> {
        let from_first = in_page.checked_sub(self.first)?;
        let block = from_first / self.block;
        (block < self.blocks && block * self.block == from_first).then_some(block)
    }
}

/// Returns the largest power of two, up to 64, that divides the size of a block.
const fn natural(block: u32) -> u32 {
    let align = 1 << block.trailing_zeros();
    if align < 64 { align } else { 64 }
}

static TABLE: [Class; CLASSES] = build();
static BY_EIGHTS: [u8; 129] = by_eights();

const fn build() -> [Class; CLASSES] {
    let mut table = [Class {
        block: 0,
        blocks: 0,
        first: 0,
    }; CLASSES];
    let mut n = 0;
    let mut block = 16;
    while block <= 1024 {
        table[n] = Class::new(block);
        n += 1;
        let mut step = 8;
        while step * 16 <= block {
            step *= 2;
        }
        block += step;
    }
    let mut blocks: u32 = 15;
    while blocks >= 1 {
        table[n] = Class::new((LARGEST_BLOCK / blocks) & !7);
        n += 1;
        blocks -= 1;
    }
    assert!(n == CLASSES);
    table
}

const fn by_eights() -> [u8; 129] {
    let table = build();
    let mut map = [0; 129];
    let mut eights = 0;
    let mut class = 0;
    while eights <= 128 {
        while table[class].block < eights as u32 * 8 {
            class += 1;
        }
        map[eights] = class as u8;
        eights += 1;
    }
    map
}

/// Returns the smallest class whose blocks hold `bytes`, or `None` if they do not fit in a page.
#[inline(always)]
pub(crate) fn class_of(bytes: u64) -> Option<u32> {
    if bytes <= 1024 {
        return Some(u32::from(BY_EIGHTS[(bytes as usize).div_ceil(8)]));
    }
    if bytes > u64::from(LARGEST_BLOCK) {
        return None;
    }
    let rounded = (bytes as u32).next_multiple_of(8);
    // The classes above 1 KiB are numbered by blocks per page, from 15 down to 1.
    let blocks = (LARGEST_BLOCK / rounded).min(15);
    Some(CLASSES as u32 - blocks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_size_gets_the_smallest_class_that_holds_it() {
        for bytes in 0..=u64::from(LARGEST_BLOCK) {
            let class = class_of(bytes).unwrap() as usize;
            assert!(u64::from(TABLE[class].block) >= bytes, "{bytes}");
            assert!(
                class == 0 || u64::from(TABLE[class - 1].block) < bytes,
                "{bytes}"
            );
        }
        assert!(class_of(u64::from(LARGEST_BLOCK) + 1).is_none());
    }

    #[test]
    fn classes_rise_and_fit_their_page() {
        for pair in TABLE.windows(2) {
            assert!(pair[0].block < pair[1].block);
        }
        for class in &TABLE {
            assert_eq!(class.block % 8, 0);
            assert_eq!(class.first % 8, 0);
            assert!(class.first + class.blocks * class.block <= PAGE as u32);
            assert_eq!(class.block_at(class.first), Some(0));
            assert_eq!(
                class.block_at(class.first + 8),
                (class.block == 8).then_some(1)
            );
            let last = class.blocks - 1;
            assert_eq!(class.block_at(class.first + last * class.block), Some(last));
            assert_eq!(
                class.block_at(class.first + class.blocks * class.block),
                None
            );
        }
    }

    #[test]
    fn small_blocks_of_powers_of_two_lie_on_one_line() {
        for class in TABLE
            .iter()
            .filter(|class| [16, 32, 64].contains(&class.block))
        {
            assert_eq!(class.first % class.block, 0);
        }
    }

    #[test]
    fn little_is_wasted_below_two_kib() {
        for bytes in 129..=2048u64 {
            let block = u64::from(TABLE[class_of(bytes).unwrap() as usize].block);
            assert!((block - bytes) * 1000 <= bytes * 150, "{bytes} in {block}");
        }
    }
}

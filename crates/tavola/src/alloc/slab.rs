//! Slabs: pages of blocks of one size class, each with a bitmap of the blocks in use. Every class
//! of a shard has a list of the pages with a free block.
//!
//! All of it is written under the shard's lock; [`home_of`] works without it, too.

use super::{Step, Stop, corrupt, pool};
use crate::layout::{Class, PAGE, PAGE_SHIFT, PageWord, SlabPage, UNIT};
use crate::lock::ShardLock;
use crate::region::Region;
use crate::sync::Ordering;

/// The location of a block: its page, its class, its number in the page.
#[derive(Clone, Copy)]
pub(crate) struct BlockHome {
    pub(crate) page: u32,
    pub(crate) class_number: u32,
    pub(crate) class: &'static Class,
    pub(crate) block: u32,
}

/// Returns the block that a ref points to, if it is a block of that shard.
pub(crate) fn home_of(region: &Region, shard: u32, item_ref: u64) -> Option<BlockHome> {
    let offset = item_ref * UNIT;
    let page = u32::try_from(offset >> PAGE_SHIFT).ok()?;
    if !region.is_page(page) {
        return None;
    }
    let word = region.page_word(page).load(Ordering::Relaxed);
    let PageWord::Slab {
        shard: owner,
        class: class_number,
    } = PageWord::decode(word)
    else {
        return None;
    };
    let class = Class::get(class_number)?;
    let block = class.block_at((offset % PAGE) as u32)?;
    (owner == shard).then_some(BlockHome {
        page,
        class_number,
        class,
        block,
    })
}

fn ref_of(page: u32, class: &Class, block: u32) -> u64 {
    (u64::from(page) * PAGE + u64::from(class.first + block * class.block)) / UNIT
}

/// Allocates a block of the class; its bytes are arbitrary.
#[inline]
pub(crate) fn take_block(lock: &ShardLock<'_>, class_number: u32) -> Step<u64> {
    let Some(class) = Class::get(class_number) else {
        return corrupt("a size class");
    };
    let mut page = lock.head.classes[class_number as usize]
        .partial
        .load(Ordering::Relaxed);
    if page == 0 {
        page = add_page(lock, class_number, class)?;
    } else if !is_ours(lock, page, class_number) {
        return corrupt("a list of slabs");
    }
    take_from(lock, class_number, class, page)
}

/// Allocates as [`take_block`] does, but takes no page from the pool for it. Returns `None` if no
/// page of the class has a free block.
pub(crate) fn take_block_there(lock: &ShardLock<'_>, class_number: u32) -> Step<Option<u64>> {
    let head = lock.head.classes.get(class_number as usize);
    match head.map_or(0, |head| head.partial.load(Ordering::Relaxed)) {
        0 => Ok(None),
        _ => take_block(lock, class_number).map(Some),
    }
}

/// Allocates a block of a page that is in the list of its class.
#[inline(always)]
fn take_from(lock: &ShardLock<'_>, class_number: u32, class: &Class, page: u32) -> Step<u64> {
    let head = &lock.head.classes[class_number as usize];
    let slab = lock.region.slab(page);
    let words = class.words();
    let from = slab.from.load(Ordering::Relaxed).min(words);
    for w in from..words {
        let bits = slab.bitmap[w as usize].load(Ordering::Relaxed);
        if bits != u64::MAX {
            let bit = (!bits).trailing_zeros();
            if w * 64 + bit >= class.blocks {
                return corrupt("the bitmap of a slab");
            }
            slab.bitmap[w as usize].store(bits | 1 << bit, Ordering::Relaxed);
            if w != from {
                slab.from.store(w, Ordering::Relaxed);
            }
            slab.used.add_owned(1);
            head.used.add_owned(1);
            if slab.used.load(Ordering::Relaxed) >= class.blocks {
                unlink(lock, class_number, page);
            }
            return Ok(ref_of(page, class, w * 64 + bit));
        }
    }
    corrupt("the bitmap of a slab")
}

/// Returns whether a page is a slab of this shard and class, by its word and by its head.
#[inline(always)]
fn is_ours(lock: &ShardLock<'_>, page: u32, class_number: u32) -> bool {
    lock.region.is_page(page)
        && lock.region.page_word(page).load(Ordering::Relaxed)
            == PageWord::Slab {
                shard: lock.number,
                class: class_number,
            }
            .encode()
        && lock.region.slab(page).class.load(Ordering::Relaxed) == class_number
}

#[cold]
fn add_page(lock: &ShardLock<'_>, class_number: u32, class: &Class) -> Result<u32, Stop> {
    let state = PageWord::Slab {
        shard: lock.number,
        class: class_number,
    };
    let (page, _) = pool::take(lock.region, lock.me, state)?;
    forget_blocks(lock.region.slab(page), class_number, class);
    lock.head.classes[class_number as usize].pages.add_owned(1);
    link(lock, class_number, page);
    Ok(page)
}

/// Marks all blocks of a page as free. The bits after the last block are set permanently.
pub(crate) fn forget_blocks(slab: &SlabPage, class_number: u32, class: &Class) {
    slab.class.store(class_number, Ordering::Relaxed);
    let words = class.words();
    for w in 0..words {
        slab.bitmap[w as usize].store(beyond(class, w), Ordering::Relaxed);
    }
    slab.used.store(0, Ordering::Relaxed);
    slab.from.store(0, Ordering::Relaxed);
    slab.next.store(0, Ordering::Relaxed);
    slab.prev.store(0, Ordering::Relaxed);
}

/// Returns the bits of a bitmap's word that belong to no block.
fn beyond(class: &Class, word: u32) -> u64 {
    match class.blocks - word * 64 {
        0..64 => u64::MAX << (class.blocks - word * 64),
        _ => 0,
    }
}

fn link(lock: &ShardLock<'_>, class_number: u32, page: u32) {
    let head = &lock.head.classes[class_number as usize];
    let first = head.partial.load(Ordering::Relaxed);
    let slab = lock.region.slab(page);
    slab.next.store(first, Ordering::Relaxed);
    slab.prev.store(0, Ordering::Relaxed);
    if first != 0 && is_ours(lock, first, class_number) {
        lock.region.slab(first).prev.store(page, Ordering::Relaxed);
    }
    head.partial.store(page, Ordering::Relaxed);
}

fn unlink(lock: &ShardLock<'_>, class_number: u32, page: u32) {
    let slab = lock.region.slab(page);
    let (next, prev) = (
        slab.next.load(Ordering::Relaxed),
        slab.prev.load(Ordering::Relaxed),
    );
    if next != 0 && is_ours(lock, next, class_number) {
        lock.region.slab(next).prev.store(prev, Ordering::Relaxed);
    }
    if prev != 0 && is_ours(lock, prev, class_number) {
        lock.region.slab(prev).next.store(next, Ordering::Relaxed);
    } else {
        lock.head.classes[class_number as usize]
            .partial
            .store(next, Ordering::Relaxed);
    }
}

/// Frees a block. If it was the last one of its page, the page goes to the pool, unless it is the
/// only one in the list.
#[inline]
pub(crate) fn free_block(lock: &ShardLock<'_>, item_ref: u64) -> Step<()> {
    let Some(home) = home_of(lock.region, lock.number, item_ref) else {
        return corrupt("a ref that points to no block");
    };
    let slab = lock.region.slab(home.page);
    if slab.class.load(Ordering::Relaxed) != home.class_number {
        return corrupt("the size class of a slab");
    }
    let (w, bit) = (home.block / 64, home.block % 64);
    let bits = slab.bitmap[w as usize].load(Ordering::Relaxed);
    if bits & 1 << bit == 0 {
        return corrupt("a block that is freed twice");
    }
    slab.bitmap[w as usize].store(bits & !(1 << bit), Ordering::Relaxed);
    if slab.from.load(Ordering::Relaxed) > w {
        slab.from.store(w, Ordering::Relaxed);
    }
    let head = &lock.head.classes[home.class_number as usize];
    head.used.sub_owned(1);
    let was = slab.used.load(Ordering::Relaxed);
    slab.used.store(was.wrapping_sub(1), Ordering::Relaxed);
    if lock.head.source.load(Ordering::Relaxed) == home.page {
        // The page is in no list: nothing new is put there while it is being emptied.
        if was == 1 && is_empty(slab, home.class) {
            lock.head.source.store(0, Ordering::Relaxed);
            give_page(lock, home.class_number, home.page);
        }
        return Ok(());
    }
    if was >= home.class.blocks {
        link(lock, home.class_number, home.page);
    }
    let is_alone = slab.next.load(Ordering::Relaxed) == 0 && slab.prev.load(Ordering::Relaxed) == 0;
    if was == 1 && !is_alone && is_empty(slab, home.class) {
        // One empty page stays, so that setting and removing a key in turn does not fetch a page
        // each time.
        unlink(lock, home.class_number, home.page);
        give_page(lock, home.class_number, home.page);
    }
    Ok(())
}

/// Returns whether the bitmap agrees that no block of the page is in use: a counter alone may be
/// wrong.
fn is_empty(slab: &SlabPage, class: &Class) -> bool {
    (0..class.words()).all(|w| slab.bitmap[w as usize].load(Ordering::Relaxed) == beyond(class, w))
}

fn give_page(lock: &ShardLock<'_>, class_number: u32, page: u32) {
    lock.head.classes[class_number as usize].pages.sub_owned(1);
    pool::give(lock.region, lock.me, &[page]);
}

/// Gives back the empty page that a class may have kept.
pub(crate) fn lose_empty_page(lock: &ShardLock<'_>, class_number: u32) {
    let head = &lock.head.classes[class_number as usize];
    let page = head.partial.load(Ordering::Relaxed);
    if head.used.load(Ordering::Relaxed) == 0
        && page != 0
        && is_ours(lock, page, class_number)
        && Class::get(class_number).is_some_and(|class| is_empty(lock.region.slab(page), class))
    {
        unlink(lock, class_number, page);
        give_page(lock, class_number, page);
    }
}

/// How many pages of the list are compared to find the one with the fewest blocks in use.
const COMPARED_PAGES: u32 = 8;

/// Chooses the one of a class's first pages that has the fewest blocks in use, and removes it from
/// its list, to be emptied.
pub(crate) fn choose_source(lock: &ShardLock<'_>, class_number: u32) -> Option<u32> {
    let head = &lock.head.classes[class_number as usize];
    let mut page = head.partial.load(Ordering::Relaxed);
    let mut best: Option<(u32, u32)> = None;
    for _ in 0..COMPARED_PAGES {
        if page == 0 || !is_ours(lock, page, class_number) {
            break;
        }
        let slab = lock.region.slab(page);
        let used = slab.used.load(Ordering::Relaxed);
        if best.is_none_or(|(least, _)| used < least) {
            best = Some((used, page));
        }
        page = slab.next.load(Ordering::Relaxed);
    }
    let (_, page) = best?;
    unlink(lock, class_number, page);
    lock.region.slab(page).next.store(0, Ordering::Relaxed);
    lock.region.slab(page).prev.store(0, Ordering::Relaxed);
    lock.head.source_block.store(0, Ordering::Relaxed);
    lock.head.source.store(page, Ordering::Relaxed);
    Some(page)
}

/// Stops emptying a page: it is an ordinary page again.
pub(crate) fn spare_source(lock: &ShardLock<'_>) {
    let page = lock.head.source.load(Ordering::Relaxed);
    lock.head.source.store(0, Ordering::Relaxed);
    if !lock.region.is_page(page) {
        return;
    }
    let word = lock.region.page_word(page).load(Ordering::Relaxed);
    if let PageWord::Slab { class, .. } = PageWord::decode(word)
        && is_ours(lock, page, class)
        && let Some(shape) = Class::get(class)
    {
        match lock.region.slab(page).used.load(Ordering::Relaxed) {
            _ if is_empty(lock.region.slab(page), shape) => give_page(lock, class, page),
            used if used < shape.blocks => link(lock, class, page),
            _ => {}
        }
    }
}

/// Returns number and ref of the first block in use from `block` on.
pub(crate) fn next_used(
    lock: &ShardLock<'_>,
    page: u32,
    class: &Class,
    block: u32,
) -> Option<(u32, u64)> {
    let slab = lock.region.slab(page);
    (block..class.blocks).find_map(|b| {
        let bits = slab.bitmap[(b / 64) as usize].load(Ordering::Relaxed);
        (bits & 1 << (b % 64) != 0).then(|| (b, ref_of(page, class, b)))
    })
}

/// Marks, for recovery, a block that a slot points to. Returns false if it was already marked.
pub(crate) fn note_block(region: &Region, home: &BlockHome) -> bool {
    let slab = region.slab(home.page);
    let word = &slab.bitmap[(home.block / 64) as usize];
    let bits = word.load(Ordering::Relaxed);
    let bit = 1 << (home.block % 64);
    if bits & bit != 0 {
        return false;
    }
    word.store(bits | bit, Ordering::Relaxed);
    slab.used.add_owned(1);
    true
}

/// Returns whether the bitmap has the block as in use.
pub(crate) fn is_used(region: &Region, home: &BlockHome) -> bool {
    let bits = region.slab(home.page).bitmap[(home.block / 64) as usize].load(Ordering::Relaxed);
    bits & 1 << (home.block % 64) != 0
}

/// Counts, for recovery, a page whose blocks are all marked, and puts it into its list. Returns
/// whether it is in use.
pub(crate) fn reclaim_page(lock: &ShardLock<'_>, class_number: u32, page: u32) -> bool {
    let Some(class) = Class::get(class_number) else {
        return false;
    };
    let used = lock.region.slab(page).used.load(Ordering::Relaxed);
    if used == 0 {
        return false;
    }
    let head = &lock.head.classes[class_number as usize];
    head.pages.add_owned(1);
    head.used.add_owned(used);
    if used < class.blocks {
        link(lock, class_number, page);
    }
    true
}

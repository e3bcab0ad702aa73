//! Recovery of one shard: throws away everything that is derived, then rebuilds it from the slots.
//! The caller holds the shard's lock; readers continue meanwhile.
//!
//! 1. Slots that lead to changes of a transaction are led to what their keys have. The version of
//!    every bucket rises, and that of the layout word. The dead process may have
//!    stored a slot without raising the version, and a reader that still copies the old block must
//!    notice before the block is used again.
//! 2. Bitmaps, lists and counters of the shard are emptied, and marks are removed from its pages.
//! 3. The directory is scanned. Each slot that belongs marks its block or chain, and makes its uid
//!    `Live`; copies are cleared.
//! 4. The shard's pages are scanned. Unmarked pages go to the pool, except chains that readers have
//!    pinned; slabs with free blocks go to the lists of their classes.

use super::uids;
use crate::alloc::{
    Item, adopt_strays, chunk_page, forget_blocks, give, home_of, is_used, keep_pinned, note_block,
    reclaim_page, reclaim_pages,
};
use crate::error::Result;
use crate::index::{
    Hash, all_changed, current, entries, lookup, may_be_over, other_bucket, publish_layout,
};
use crate::journal::finish_record;
use crate::layout::{
    BUCKETS, Bucket, CLASSES, Class, DIR_INLINE, HINT_MAX, LayoutWord, PROTECTED, PageWord, SLOTS,
    Segment, SweepWord, ghost_age, is_key, pending_ref, slot_ref, slot_tag,
};
use crate::lock::{Me, ShardLock};
use crate::region::Region;
use crate::sync::{Ordering, fence};

/// How many pages are given back under one hold of the pool's lock.
const BATCH: usize = 64;

/// Recovers the shard, and returns how many keys were lost to damage. A death alone loses none.
pub(crate) fn recover(lock: &ShardLock<'_>) -> u64 {
    // Before anything moves (JRN-1). It cannot fail: this thread holds no lock but the shard's.
    let _ = finish_record(lock.region, lock.me);
    increment_versions(lock);
    forget_derived(lock);
    let mut scan = Scan {
        lock,
        items: 0,
        tags: 0,
        payload: 0,
        probationary: 0,
        mortal: false,
        lost: 0,
        key: Vec::new(),
    };
    scan.directory();
    uids::resolve(lock);
    let Scan {
        items,
        tags,
        payload,
        probationary,
        mortal,
        lost,
        ..
    } = scan;
    resolve_all(lock);
    lock.head.items.store(items, Ordering::Relaxed);
    lock.head.tags.store(tags, Ordering::Relaxed);
    lock.head.payload.store(payload, Ordering::Relaxed);
    lock.head
        .probationary
        .store(probationary, Ordering::Relaxed);
    let sweep = SweepWord {
        active: mortal,
        ..SweepWord::default()
    };
    lock.head.sweep.store(sweep.encode(), Ordering::Relaxed);
    lock.head.recoveries.add_owned(1);
    // The dead process may have changed a key without waking the watchers.
    all_changed(lock);
    lost
}

fn layout_of(lock: &ShardLock<'_>) -> LayoutWord {
    LayoutWord(lock.head.layout.load(Ordering::Relaxed))
}

/// Returns the range of pages that contains all of the shard's.
fn pages(region: &Region) -> core::ops::Range<u32> {
    region.geometry().first_page..region.high_water()
}

fn state_of(region: &Region, page: u32) -> PageWord {
    PageWord::decode(region.page_word(page).load(Ordering::Relaxed))
}

fn is_segment(lock: &ShardLock<'_>, page: u32) -> bool {
    lock.region.is_page(page) && lock.owns(page)
}

/// Step 1: makes every copy that a reader is making stale (IDX-1), and every entry of a uid
/// `InTransition`.
fn increment_versions(lock: &ShardLock<'_>) {
    for (_, page) in entries(lock.region, lock.number) {
        if is_segment(lock, page) {
            for bucket in &lock.region.segment(page).buckets {
                end_changes(lock.region, bucket);
                bucket.increment_version();
            }
        }
    }
    forget_deeper(lock, depth_of_layout(lock));
    raise_layout(lock);
    uids::forget(lock);
    // A scan may have passed one of two copies of a key, and recovery may clear the other.
    lock.head.moves.add_owned(1);
    fence(Ordering::Release);
}

/// Leads the slots that lead to changes of a dead transaction to what their keys have: their new
/// items if it had committed, else their old ones. The commit word stays as it is until all shards
/// are recovered (`reclaim`), so all of them are recovered alike.
fn end_changes(region: &Region, bucket: &Bucket) {
    for slot in &bucket.slots {
        let word = slot.load(Ordering::Relaxed);
        if pending_ref(word).is_some() {
            // A damaged change leads nowhere: its key is lost.
            let now = current(region, word).filter(|word| is_key(*word));
            slot.store(now.unwrap_or(0), Ordering::Release);
        }
    }
}

fn depth_of_layout(lock: &ShardLock<'_>) -> u32 {
    layout_of(lock).depth().min(lock.region.geometry().dir_log2)
}

/// Raises the layout word, since the directory has changed or may have (IDX-4).
fn raise_layout(lock: &ShardLock<'_>) {
    publish_layout(lock.head, depth_of_layout(lock));
}

/// Clears directory entries beyond the depth. A process that died in a split, before it raised the
/// depth, left such an entry, and a later split would make it visible.
fn forget_deeper(lock: &ShardLock<'_>, depth: u32) {
    let backed = lock.head.dir_backed.load(Ordering::Relaxed).max(DIR_INLINE);
    let until = (2u32 << depth)
        .min(1 << lock.region.geometry().dir_log2)
        .min(backed);
    for index in 1 << depth..until {
        lock.region
            .dir_entry(lock.number, index)
            .store(0, Ordering::Relaxed);
    }
}

/// Step 2: resets everything that step 3 counts and marks. Marks of an earlier recovery that died
/// are removed as well.
fn forget_derived(lock: &ShardLock<'_>) {
    for page in pages(lock.region) {
        let word = lock.region.page_word(page);
        match state_of(lock.region, page) {
            state @ PageWord::Slab { shard, class } if shard == lock.number => {
                if let Some(shape) = Class::get(class) {
                    // Damage may have set bits that have no meaning: encoding the state clears
                    // them.
                    word.store(state.encode(), Ordering::Relaxed);
                    forget_blocks(lock.region.slab(page), class, shape);
                }
            }
            PageWord::Segment { shard, mark: true } if shard == lock.number => {
                let state = PageWord::Segment { shard, mark: false };
                word.store(state.encode(), Ordering::Relaxed);
            }
            PageWord::Large {
                next,
                shard,
                mark: true,
                first,
            } if shard == lock.number => {
                let state = PageWord::Large {
                    next,
                    shard,
                    mark: false,
                    first,
                };
                word.store(state.encode(), Ordering::Relaxed);
            }
            _ => {}
        }
    }
    for class in &lock.head.classes {
        for word in [&class.partial, &class.pages, &class.used] {
            word.store(0, Ordering::Relaxed);
        }
    }
    lock.head
        .levels
        .iter()
        .for_each(|level| level.store(0, Ordering::Relaxed));
    lock.head.segments.store(0, Ordering::Relaxed);
    lock.head.source.store(0, Ordering::Relaxed);
}

struct Scan<'a> {
    lock: &'a ShardLock<'a>,
    items: u64,
    tags: u32,
    payload: u64,
    /// The part of `payload` that belongs to probationary keys of a cache.
    probationary: u64,
    /// Whether any key may expire.
    mortal: bool,
    lost: u64,
    key: Vec<u8>,
}

/// What recovery decided about a slot.
enum SlotFate {
    /// It leads to its item: the key's home bucket, and the bytes of key and value.
    Good { home: u32, payload: u64 },
    /// A copy that a split, merge or move left behind.
    Copy,
    /// It is damaged.
    Bad,
}

impl Scan<'_> {
    /// Step 3: scans the directory, removes entries that lead to no segment of the shard or to one
    /// that another entry has, and scans the segments.
    fn directory(&mut self) {
        let (region, shard) = (self.lock.region, self.lock.number);
        let mut is_changed = false;
        // The entries come first, so that `lookup` only finds segments that exist.
        for (index, page) in entries(region, shard) {
            let is_new = is_segment(self.lock, page)
                && matches!(
                    state_of(region, page),
                    PageWord::Segment { mark: false, .. }
                );
            if !is_new {
                region.dir_entry(shard, index).store(0, Ordering::Release);
                is_changed = true;
                self.lost += 1;
                continue;
            }
            let state = PageWord::Segment { shard, mark: true };
            region
                .page_word(page)
                .store(state.encode(), Ordering::Relaxed);
            self.lock.head.segments.add_owned(1);
            if index > 0 {
                self.lock.head.levels[index.ilog2() as usize].add_owned(1);
            }
        }
        if is_changed {
            raise_layout(self.lock);
        }
        for (index, page) in entries(region, shard) {
            self.segment(index, region.segment(page));
        }
    }

    /// Scans the slots of a segment: clears those that are copies or damaged, and computes the away
    /// bits and hints from those that are good.
    fn segment(&mut self, index: u32, segment: &Segment) {
        let is_cache = self.lock.region.is_cache();
        let mut hints = [0u8; BUCKETS];
        let mut aways = [0u32; BUCKETS];
        for (b, bucket) in segment.buckets.iter().enumerate() {
            let mut cleared = false;
            for i in 0..SLOTS {
                let word = bucket.slots[i].load(Ordering::Relaxed);
                if word == 0 || is_cache && ghost_age(word, 0).is_some() {
                    continue;
                }
                let outcome = self.slot(index, segment, b as u32, word);
                if let SlotFate::Good { payload, .. } = outcome
                    && is_cache
                    && bucket.state(i) & PROTECTED == 0
                {
                    self.probationary += payload;
                }
                match outcome {
                    SlotFate::Good { home, .. } if home == b as u32 => {}
                    SlotFate::Good { home, .. } => {
                        aways[b] |= 8 << (4 * i);
                        let hint = &mut hints[home as usize];
                        *hint = (*hint + 1).min(HINT_MAX as u8);
                    }
                    outcome => {
                        self.lost += u64::from(matches!(outcome, SlotFate::Bad));
                        bucket.slots[i].store(0, Ordering::Release);
                        cleared = true;
                    }
                }
            }
            if cleared {
                bucket.increment_version();
            }
        }
        for (b, bucket) in segment.buckets.iter().enumerate() {
            let kept = bucket.meta.load(Ordering::Relaxed) & 0x0777_7777;
            let meta = kept | aways[b] | u32::from(hints[b]) << 28;
            // Release: a reader that sees a lower hint also sees the version and layout word that
            // rose before.
            bucket.meta.store(meta, Ordering::Release);
        }
    }

    /// Decides what a slot is, and marks what a good one leads to: its block, the pages of its
    /// chain, its uid.
    ///
    /// Two slots with the same ref are a move that died half-way: the first one marks the block, so
    /// the second finds it in use and is the copy. A key that belongs to another segment is what a
    /// split or merge that died has left here; the directory leads to the segment that counts.
    fn slot(&mut self, index: u32, segment: &Segment, bucket: u32, word: u64) -> SlotFate {
        let (region, shard) = (self.lock.region, self.lock.number);
        let Some(block) = home_of(region, shard, slot_ref(word)) else {
            return SlotFate::Bad;
        };
        if is_used(region, &block) {
            return SlotFate::Copy;
        }
        let Some(item) = Item::at(region, slot_ref(word)) else {
            return SlotFate::Bad;
        };
        self.key.clear();
        let fits = item.block_bytes() <= u64::from(block.class.block)
            && item.chain_is_whole()
            && item.chain().all(|page| self.may_own(page));
        if !fits || !item.copy_key(&mut self.key) {
            return SlotFate::Bad;
        }
        let hash = Hash::of_item(&item, &self.key);
        let in_place = bucket == hash.home() || bucket == other_bucket(hash.home(), hash.tag());
        if hash.shard() != shard || hash.tag() != slot_tag(word) || !in_place {
            return SlotFate::Bad;
        }
        if lookup(region, shard, layout_of(self.lock).depth(), hash.tag()).0 != index {
            return SlotFate::Copy;
        }
        if self.is_found_before(segment, hash, word) {
            return SlotFate::Bad;
        }
        if !note_block(region, &block) {
            return SlotFate::Copy;
        }
        if item.is_large() {
            reclaim_pages(self.lock, item.first_page, item.pages(), true);
        }
        uids::claim(self.lock, &item);
        self.items += 1;
        self.payload += item.payload();
        self.tags += u32::from(item.is_tag());
        self.mortal |= may_be_over(&item);
        SlotFate::Good {
            home: hash.home(),
            payload: item.payload(),
        }
    }
}

impl Scan<'_> {
    /// Returns whether a read would find the same key in an earlier slot. This happens after damage
    /// to a hint: it hid the key in its other bucket, and the key was set again at home.
    fn is_found_before(&self, segment: &Segment, hash: Hash, word: u64) -> bool {
        let [home, away] =
            [hash.home(), hash.away()].map(|b| segment.buckets[b as usize].slots.iter());
        let words = home.chain(away).map(|slot| slot.load(Ordering::Relaxed));
        let before = words.take_while(|other| *other != word);
        let mut alike = before.filter(|other| is_key(*other) && slot_tag(*other) == hash.tag());
        alike.any(|other| {
            let item = Item::at(self.lock.region, slot_ref(other));
            item.is_some_and(|item| item.key_equals(&self.key) == Some(true))
        })
    }

    /// Returns whether a large item may own this page: no other item has claimed it.
    fn may_own(&self, page: u32) -> bool {
        match state_of(self.lock.region, page) {
            PageWord::Large { shard, mark, .. } => shard == self.lock.number && !mark,
            PageWord::Build { .. } => true,
            _ => false,
        }
    }
}

/// Step 4: gives the shard's pages that step 3 did not mark to the pool.
fn resolve_all(lock: &ShardLock<'_>) {
    let pinned = keep_pinned(lock);
    let mut batch = FreedPages {
        lock,
        pages: [0; BATCH],
        count: 0,
    };
    for page in pages(lock.region) {
        let is_unused = match state_of(lock.region, page) {
            PageWord::Slab { shard, class } if shard == lock.number => {
                !reclaim_page(lock, class, page)
            }
            PageWord::Segment { shard, mark: false } => shard == lock.number,
            PageWord::Large {
                shard, mark: false, ..
            } => shard == lock.number && pinned.binary_search(&page).is_err(),
            PageWord::Uids { shard, chunk } => {
                shard == lock.number && chunk_page(lock.region, shard, chunk) != Some(page)
            }
            _ => false,
        };
        if is_unused {
            batch.push(page);
        }
    }
    batch.flush();
}

/// Pages on their way to the pool, given back in batches.
struct FreedPages<'a> {
    lock: &'a ShardLock<'a>,
    pages: [u32; BATCH],
    count: usize,
}

impl FreedPages<'_> {
    fn push(&mut self, page: u32) {
        self.pages[self.count] = page;
        self.count += 1;
        if self.count == BATCH {
            self.flush();
        }
    }

    fn flush(&mut self) {
        if self.count > 0 {
            give(self.lock.region, self.lock.me, &self.pages[..self.count]);
            self.count = 0;
        }
    }
}

/// Gives pages whose page words make no sense back to the pool, and returns how many. For repair.
pub(crate) fn repair_pool(region: &Region, me: Me) -> Result<u64> {
    let shards = region.geometry().shards();
    adopt_strays(region, me, |state| match state {
        PageWord::Damaged | PageWord::Unused => true,
        PageWord::Slab { shard, class } => shard >= shards || class >= CLASSES as u32,
        PageWord::Segment { shard, .. }
        | PageWord::Large { shard, .. }
        | PageWord::Uids { shard, .. } => shard >= shards,
        _ => false,
    })
}

//! Scanning all keys without a lock, while other processes write.
//!
//! **Order.** A scan takes a shard's segments in the order of their reversed prefixes. A segment
//! that splits becomes two neighbours in this order, and a merge joins two neighbours. So what is
//! ahead of the cursor stays ahead, however the table grows or shrinks.
//!
//! **No key is missed.** Each bucket is copied whole and rechecked like a read. A key that moves
//! from a bucket ahead to one behind has raised the latter's version and the count `moves`: then
//! the buckets whose version has changed are read again. So a key that exists throughout is met at
//! least once; one that is moved or rewritten may be met again.
//!
//! **Damage.** A slot whose item cannot be read is skipped, as is a prefix that leads to no page.
//!
//! **Writers.** If they spoil the copies of a bucket again and again, it is copied under the
//! shard's lock; so are, in one go, the changed buckets of a segment in which keys keep moving.
//! Only a process that cannot lock has no such bound.

use super::decided::current;
use super::dir::{depth_of, layout_word, lookup, next_prefix};
use crate::alloc::Item;
use crate::layout::{BUCKETS, Bucket, LayoutWord, is_key, slot_ref};
use crate::lock::ShardLock;
use crate::region::{Pinned, Region};
use crate::sync::{Ordering, W64, fence, prefetch};

/// How many copies of a bucket writers may spoil before one is made under the shard's lock.
const MOST_SPOILED: u32 = 8;
/// How often keys may have moved in a segment at its end before it is read under the shard's lock.
const MOST_RESTARTS: u32 = 4;
/// How many buckets ahead of the scan items are prefetched.
const AHEAD: usize = 6;

/// The place to which a scan copies items, and what it needs of its process.
pub(crate) trait ScanTarget<'a> {
    /// How much was copied.
    type Mark: Copy;

    /// Locks a shard whose writers spoil every copy. Returns `None` if this process cannot.
    fn lock(&self, shard: u32) -> Option<ShardLock<'a>>;

    /// Pins the chain that begins with a page, if this process can.
    fn pin(&self, first_page: u32) -> Option<Pinned<'a>>;

    /// Copies an item, whose slot has this state. Returns `None`, and copies nothing, if it cannot
    /// be read.
    fn copy(&mut self, item: &Item<'_>, state: u32) -> Option<()>;

    fn mark(&self) -> Self::Mark;

    /// Drops what was copied after the mark.
    fn cut_back(&mut self, mark: Self::Mark);

    fn is_empty(&self) -> bool;

    /// Returns whether the scan should pause here.
    fn is_full(&self) -> bool;

    /// Notes what could not be read.
    fn note_damage(&mut self, what: &'static str);
}

/// How far a scan has come.
#[derive(Default)]
pub(crate) struct ScanPosition {
    shard: u32,
    /// Low bits of the tags of the segment that is being read, or is next.
    prefix: u32,
    pass: Option<SegmentScan>,
}

/// The position of reading within one segment.
struct SegmentScan {
    page: u32,
    layout: LayoutWord,
    moves: u32,
    /// How often keys had moved when its end was reached.
    restarts: u32,
    bucket: usize,
    /// The version at which each bucket was read.
    versions: Box<[Option<u32>; BUCKETS]>,
}

impl ScanPosition {
    /// Returns the shard that is being read.
    pub(crate) fn shard(&self) -> u32 {
        self.shard
    }

    /// Returns the position with this number, which is that of a segment.
    pub(crate) fn at(number: u64) -> Self {
        Self {
            shard: (number >> 32) as u32,
            prefix: number as u32,
            pass: None,
        }
    }

    /// Returns the number of a position between two segments.
    pub(crate) fn number(&self) -> Option<u64> {
        let is_between = self.pass.is_none();
        is_between.then_some(u64::from(self.shard) << 32 | u64::from(self.prefix))
    }

    /// Returns whether all shards are behind the position.
    pub(crate) fn is_end(&self, region: &Region) -> bool {
        self.shard >= region.geometry().shards()
    }

    /// Prepares for a pause of any length.
    pub(crate) fn rest(&mut self) {
        if let Some(pass) = &mut self.pass {
            // No shard has this layout word, so the directory is read first, to see whether the
            // page is still that of the segment.
            pass.layout = LayoutWord(u64::MAX);
        }
    }

    /// Moves to the end of the table.
    pub(crate) fn end(&mut self) {
        self.shard = u32::MAX;
        self.pass = None;
    }

    /// Copies items until the target is full, or a segment ends. Returns false at the end of the
    /// table.
    pub(crate) fn fill<'a>(
        &mut self,
        region: &'a Region,
        target: &mut impl ScanTarget<'a>,
    ) -> bool {
        let mut scan = Scan {
            region,
            at: self,
            target,
        };
        scan.fill()
    }
}

struct Scan<'a, 's, T> {
    region: &'a Region,
    at: &'s mut ScanPosition,
    target: &'s mut T,
}

/// A large item whose chain is pinned, and a copy of its block.
struct PinnedItem<'a> {
    item: Item<'a>,
    state: u32,
    block: Vec<W64>,
    _pin: Pinned<'a>,
}

impl<'a, T: ScanTarget<'a>> Scan<'a, '_, T> {
    fn fill(&mut self) -> bool {
        while self.at.shard < self.region.geometry().shards() {
            // A cursor may come from another table, with page numbers that this one does not have.
            let rested = self.at.pass.take();
            let begun = match rested.filter(|pass| self.region.is_page(pass.page)) {
                Some(pass) => Some(pass),
                None => self.begin(),
            };
            let Some(mut pass) = begun else {
                let depth = self.depth();
                let index = lookup(self.region, self.at.shard, depth, self.at.prefix).0;
                (self.at.shard, self.at.prefix) = self.next_after(depth, index);
                continue;
            };
            let lock = self.lock_after(pass.restarts, MOST_RESTARTS);
            if lock.is_some() {
                // The changed buckets are read once more, so earlier moves do not matter.
                pass.moves = self.moves();
            }
            while pass.bucket < BUCKETS {
                if !self.bucket(&mut pass) {
                    // The segment is gone; its keys are in the one that took its place.
                    self.at.pass = None;
                    return true;
                }
                if self.target.is_full() && lock.is_none() {
                    self.at.pass = Some(pass);
                    return true;
                }
            }
            // First the next prefix, then `moves`: a merge in between is noticed.
            let next = self.after(&pass);
            if self.must_rescan(&mut pass) {
                self.at.pass = Some(pass);
            } else {
                (self.at.shard, self.at.prefix) = next;
            }
            if !self.target.is_empty() {
                return true;
            }
        }
        false
    }

    /// Begins with the segment of the prefix. Returns `None` if there is none: the shard is empty;
    /// or a repair has removed its damaged root and kept other segments; or the directory is
    /// damaged.
    fn begin(&mut self) -> Option<SegmentScan> {
        // Its acquire pairs with the releases of moves, too.
        let layout = layout_word(self.region.shard(self.at.shard));
        let moves = self.moves();
        let page = self.page(layout);
        if page == 0 {
            return None;
        }
        if !self.region.is_page(page) {
            self.target.note_damage("a directory");
            return None;
        }
        let versions = Box::new([None; BUCKETS]);
        Some(SegmentScan {
            page,
            layout,
            moves,
            restarts: 0,
            bucket: 0,
            versions,
        })
    }

    /// Returns how often keys have moved in the shard.
    fn moves(&self) -> u32 {
        // Pairs with the release of the move.
        let head = self.region.shard(self.at.shard);
        head.moves.load(Ordering::Acquire)
    }

    /// Returns the lock of the shard after `most` tries, if this process can have it.
    fn lock_after(&self, tries: u32, most: u32) -> Option<ShardLock<'a>> {
        match tries < most {
            true => None,
            false => self.target.lock(self.at.shard),
        }
    }

    fn page(&self, layout: LayoutWord) -> u32 {
        lookup(self.region, self.at.shard, layout.depth(), self.at.prefix).1
    }

    /// Copies one bucket. Returns false if the directory has changed meanwhile.
    fn bucket(&mut self, pass: &mut SegmentScan) -> bool {
        let segment = self.region.segment(pass.page);
        let head = self.region.shard(self.at.shard);
        let bucket = &segment.buckets[pass.bucket];
        let mut spoiled = 0;
        loop {
            let lock = self.lock_after(spoiled, MOST_SPOILED);
            let layout = layout_word(head);
            if layout != pass.layout {
                // This comes before the bucket is touched: a scan may rest so long that the page of
                // a segment that is gone was given back to the system.
                if self.page(layout) != pass.page {
                    return false;
                }
                pass.layout = layout;
            }
            warm(self.region, &segment.buckets, pass.bucket);
            // Pairs with the release in `Bucket::increment_version`.
            let version = bucket.version.load(Ordering::Acquire);
            if pass.versions[pass.bucket] == Some(version) {
                pass.bucket += 1;
                return true;
            }
            let mark = self.target.mark();
            let mut large = Vec::new();
            let mut whole = self.copy(bucket, &mut large);
            #[cfg(test)]
            meanwhile::act();
            // Pairs with the release fences before the bytes of a block change.
            fence(Ordering::Acquire);
            let layout = LayoutWord(head.layout.load(Ordering::Relaxed));
            if layout == pass.layout && bucket.version.load(Ordering::Relaxed) == version {
                drop(lock);
                for held in &large {
                    let pinned = held.item.pinned(&held.block);
                    whole &= self.target.copy(&pinned, held.state).is_some();
                }
                if !whole {
                    self.target.note_damage("an item");
                }
                pass.versions[pass.bucket] = Some(version);
                pass.bucket += 1;
                return true;
            }
            drop(lock);
            self.target.cut_back(mark);
            spoiled += 1;
        }
    }

    /// Copies the small items that a bucket leads to, and pins the large ones, which are copied
    /// after the bucket was rechecked. Returns false if some could not be read.
    fn copy(&mut self, bucket: &Bucket, large: &mut Vec<PinnedItem<'a>>) -> bool {
        let mut whole = true;
        for (number, slot) in bucket.slots.iter().enumerate() {
            // Pairs with the release that published the item.
            let word = slot.load(Ordering::Acquire);
            if !is_key(word) {
                continue;
            }
            whole &= match current(self.region, word) {
                Some(word) if is_key(word) => {
                    let state = bucket.state(number);
                    self.copy_item(slot_ref(word), state, large).is_some()
                }
                now => now.is_some(),
            };
        }
        whole
    }

    /// Copies the item at a ref, or pins it. Returns `None` if it cannot be read.
    #[inline(always)]
    fn copy_item(
        &mut self,
        item_ref: u64,
        state: u32,
        large: &mut Vec<PinnedItem<'a>>,
    ) -> Option<()> {
        let item = Item::at(self.region, item_ref)?;
        if item.is_large()
            && let Some(pin) = self.target.pin(item.first_page)
        {
            large.push(PinnedItem {
                item,
                state,
                block: item.copied_block(),
                _pin: pin,
            });
            return Some(());
        }
        self.target.copy(&item, state)
    }

    /// Returns whether keys may have moved behind the cursor: then the changed buckets are read
    /// again.
    fn must_rescan(&self, pass: &mut SegmentScan) -> bool {
        #[cfg(test)]
        meanwhile::act();
        fence(Ordering::Acquire);
        let moves = self.moves();
        let moved = moves != pass.moves;
        pass.moves = moves;
        pass.restarts += u32::from(moved);
        pass.bucket = if moved { 0 } else { BUCKETS };
        moved
    }

    /// Returns the shard and prefix that follow in the order of reversed prefixes.
    fn after(&self, pass: &SegmentScan) -> (u32, u32) {
        let depth = self.depth();
        let (index, page) = lookup(self.region, self.at.shard, depth, self.at.prefix);
        if page != pass.page {
            // It was merged away meanwhile: its keys are in that other segment now.
            return (self.at.shard, self.at.prefix);
        }
        self.next_after(depth, index)
    }

    /// Returns the shard and prefix that follow the directory entry at `index`.
    fn next_after(&self, depth: u32, index: u32) -> (u32, u32) {
        let local = depth_of(self.region, self.at.shard, depth, index);
        match next_prefix(self.at.prefix, local) {
            Some(prefix) => (self.at.shard, prefix),
            None => (self.at.shard + 1, 0),
        }
    }

    fn depth(&self) -> u32 {
        let layout = layout_word(self.region.shard(self.at.shard));
        layout.depth().min(self.region.geometry().dir_log2)
    }
}

/// Prefetches the items that a bucket some way ahead leads to, and the bucket as far again ahead.
#[inline(always)]
fn warm(region: &Region, buckets: &[Bucket], at: usize) {
    if let Some(ahead) = buckets.get(at + AHEAD) {
        for slot in &ahead.slots {
            region.prefetch_ref(slot_ref(slot.load(Ordering::Relaxed)));
        }
        prefetch(core::ptr::from_ref(ahead).wrapping_add(AHEAD));
    }
}

#[cfg(test)]
mod meanwhile {
    use std::cell::RefCell;

    type Meanwhile = RefCell<Option<Box<dyn FnMut()>>>;

    std::thread_local! {
        /// What other writers do between the copy of a bucket, or of a whole segment, and the
        /// recheck.
        pub(super) static MEANWHILE: Meanwhile = const { Meanwhile::new(None) };
    }

    pub(super) fn act() {
        // The function may scan as well.
        let act = MEANWHILE.take();
        if let Some(mut act) = act {
            act();
            MEANWHILE.set(Some(act));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::meanwhile::MEANWHILE;
    use crate::sync::Ordering;
    use crate::{Error, Table};
    use std::rc::Rc;

    /// Keys of a table: in many buckets, all of which are written at each copy.
    const KEYS: u64 = 300;
    /// After so many copies in vain the scan has no end.
    const MOST: u64 = 100_000;

    /// Scans while a writer writes between every copy and its recheck, and returns how many entries
    /// were met. The writer is refused when the scan has the lock.
    fn scanned_beside(table: &Rc<Table>, write: impl Fn(&Table, u64) + 'static) -> usize {
        let writer = Rc::clone(table);
        let mut number = 0;
        MEANWHILE.set(Some(Box::new(move || {
            number += 1;
            assert!(number < MOST, "a scan without an end");
            write(&writer, number);
        })));
        let entries = table.iter().collect::<Result<Vec<_>, Error>>();
        MEANWHILE.set(None);
        assert!(table.check().unwrap().is_clean());
        entries.unwrap().len()
    }

    fn table() -> Rc<Table> {
        let table = Table::options().max_size(16 << 20).private().unwrap();
        for number in 0..KEYS {
            table
                .set(number.to_le_bytes(), number.to_le_bytes())
                .unwrap();
        }
        Rc::new(table)
    }

    #[test]
    fn buckets_that_are_rewritten_without_pause_are_scanned() {
        let met = scanned_beside(&table(), |table, number| {
            for key in 0..KEYS {
                let value = vec![0; number as usize % 50];
                let written = table.set(key.to_le_bytes(), value);
                assert!(
                    matches!(written, Ok(()) | Err(Error::Reentrant)),
                    "{written:?}"
                );
            }
        });
        assert!(met as u64 >= KEYS, "{met}");
    }

    #[test]
    fn segments_in_which_keys_move_without_pause_are_scanned() {
        let met = scanned_beside(&table(), |table, _| {
            let core = table.core().unwrap();
            for shard in 0..core.region().geometry().shards() {
                let Ok(_lock) = core.lock(shard, core.participant()) else {
                    continue;
                };
                let moves = &core.region().shard(shard).moves;
                let moved = moves.load(Ordering::Relaxed).wrapping_add(1);
                moves.store(moved, Ordering::Release);
            }
        });
        assert!(met as u64 >= KEYS, "{met}");
    }
}

//! Reading without a lock and without a store.
//!
//! 1. The layout word, the directory, the home bucket's version (each an acquire load).
//! 2. The slots whose tag fits; of each, the item's key; of the right one, the value, copied.
//! 3. An acquire fence, then version and layout word once more: the same, and the copy is good.
//!
//! Why (the writers' side is in `place`, `split`, `shrink`, and in docs/concurrency.md):
//! - A copy of bytes that had been freed: the writer who changed them fenced (release) before, and
//!   the bump that came with the freeing happened before that. Our fence is after our copy, so the
//!   second look sees the bump (I2).
//! - A miss while the key moved between its buckets: its new bucket was bumped before it left the
//!   old one (I3), and the home bucket is one of the two; we looked at the home bucket's version
//!   before its slots, so the second look differs. Moves from home to away need no version: the
//!   hint and the new slot were stored before the old one was cleared.
//! - A segment that was merged away, its page used for something else: the layout word rose (I4).

use super::dir::{layout_word, lookup};
use super::group::matches;
use super::hash::Hash;
use crate::alloc::Item;
use crate::error::{Result, corrupt};
use crate::layout::{Bucket, Header, LayoutWord, Segment, ShardHead, slot_ref, slot_tag};
use crate::region::Region;
use crate::sync::{Ordering, fence, prefetch, spin_hint};

enum Probe<T> {
    Hit(T),
    /// Not here; the version at which that was so.
    Miss(u32),
    /// Something changed meanwhile: begin again.
    Changed,
    /// Nothing changed, and yet it makes no sense.
    Damaged,
}

/// What one item turned out to be.
enum Look<T> {
    Found(T),
    /// Another key's.
    Other,
    /// No item at all, or one that cannot be followed.
    Impossible,
    /// The layout changed meanwhile.
    Moved,
}

/// Looks a key up and has `visit` copy what it wants of the item. `visit` may run several times,
/// and on bytes that turn out to be stale: only its last result is returned; `None` of it means
/// that the item could not be followed.
#[inline(always)]
pub(crate) fn read<T>(
    region: &Region,
    key: &[u8],
    hash: Hash,
    mut visit: impl FnMut(&Item<'_>) -> Option<T>,
) -> Result<Option<T>> {
    let head = region.shard(hash.shard);
    loop {
        let layout = layout_word(head);
        let (_, page) = lookup(region, hash.shard, layout.depth(), hash.tag);
        let Some(segment) = region.segment_at(page) else {
            if is_unchanged(head, layout) {
                return if page == 0 {
                    Ok(None)
                } else {
                    corrupt("a directory")
                };
            }
            continue;
        };
        let home = &segment.buckets[hash.home as usize];
        let view = View {
            region,
            head,
            layout,
            tag: hash.tag,
        };
        let before = match view.probe(home, key, &mut visit) {
            Probe::Hit(found) => return Ok(Some(found)),
            Probe::Miss(version) => version,
            Probe::Changed => continue,
            Probe::Damaged => return corrupt("an item"),
        };
        // Pairs with the release in `Bucket::hint_up`: the hint is read after the slots.
        fence(Ordering::Acquire);
        if home.hint() != 0 {
            let away = &segment.buckets[hash.away() as usize];
            match view.probe(away, key, &mut visit) {
                Probe::Hit(found) => return Ok(Some(found)),
                Probe::Miss(_) => {}
                Probe::Changed => continue,
                Probe::Damaged => return corrupt("an item"),
            }
        }
        if view.validate(home, before) {
            return Ok(None);
        }
        spin_hint();
    }
}

#[inline(always)]
fn is_unchanged(head: &ShardHead, layout: LayoutWord) -> bool {
    fence(Ordering::Acquire);
    LayoutWord(head.layout.load(Ordering::Relaxed)) == layout
}

struct View<'a> {
    region: &'a Region,
    head: &'a ShardHead,
    layout: LayoutWord,
    tag: u32,
}

impl View<'_> {
    #[inline(always)]
    fn probe<T>(
        &self,
        bucket: &Bucket,
        key: &[u8],
        visit: &mut impl FnMut(&Item<'_>) -> Option<T>,
    ) -> Probe<T> {
        // Pairs with the release in `Bucket::bump`.
        let version = bucket.version.load(Ordering::Acquire);
        let mut looked = false;
        for i in matches(bucket, self.tag) {
            // Pairs with the release that published the item: its bytes are seen.
            let word = bucket.slots[i].load(Ordering::Acquire);
            if slot_tag(word) != self.tag || slot_ref(word) == 0 {
                continue;
            }
            looked = true;
            let Some(block) = self.region.block(slot_ref(word)) else {
                return self.explain(bucket, version);
            };
            let header = Header::decode(block.first_word().load(Ordering::Relaxed));
            if header.flags != 0 {
                match self.special(slot_ref(word), key, visit) {
                    Look::Other => continue,
                    Look::Impossible => return self.explain(bucket, version),
                    Look::Moved => return Probe::Changed,
                    Look::Found(found) => return self.believe(bucket, version, found),
                }
            }
            let Some(item) = Item::plain(self.region, block, slot_ref(word), header) else {
                return self.explain(bucket, version);
            };
            if item.key_equals(key) {
                return match visit(&item) {
                    Some(found) => self.believe(bucket, version, found),
                    None => self.explain(bucket, version),
                };
            }
        }
        // A key that did not fit may have been another's bytes by then.
        if looked && !self.validate(bucket, version) {
            return Probe::Changed;
        }
        Probe::Miss(version)
    }

    /// As the rest of [`Self::probe`], for an item with fields. Copying a large one takes so long
    /// that many a reader is stopped there: so the layout is looked at before the bucket, whose
    /// segment may have been given back to the system meanwhile.
    #[cold]
    #[inline(never)]
    fn special<T>(
        &self,
        item_ref: u64,
        key: &[u8],
        visit: &mut impl FnMut(&Item<'_>) -> Option<T>,
    ) -> Look<T> {
        let look = match Item::at(self.region, item_ref) {
            None => Look::Impossible,
            Some(item) if !item.key_equals(key) => Look::Other,
            Some(item) => visit(&item).map_or(Look::Impossible, Look::Found),
        };
        if is_unchanged(self.head, self.layout) {
            look
        } else {
            Look::Moved
        }
    }

    #[inline(always)]
    fn believe<T>(&self, bucket: &Bucket, version: u32, found: T) -> Probe<T> {
        if self.validate(bucket, version) {
            Probe::Hit(found)
        } else {
            Probe::Changed
        }
    }

    #[inline(always)]
    fn validate(&self, bucket: &Bucket, version: u32) -> bool {
        // Pairs with the release fences of `alloc::item` before the bytes of a block change.
        fence(Ordering::Acquire);
        bucket.version.load(Ordering::Relaxed) == version
            && LayoutWord(self.head.layout.load(Ordering::Relaxed)) == self.layout
    }

    #[cold]
    fn explain<T>(&self, bucket: &Bucket, version: u32) -> Probe<T> {
        if self.validate(bucket, version) {
            Probe::Damaged
        } else {
            Probe::Changed
        }
    }
}

/// The first wave of a batch: has the home bucket fetched. Nothing is believed.
#[inline(always)]
pub(crate) fn warm_home(region: &Region, hash: Hash) -> Option<&Segment> {
    let layout = layout_word(region.shard(hash.shard));
    let (_, page) = lookup(region, hash.shard, layout.depth(), hash.tag);
    let segment = region.segment_at(page)?;
    prefetch(&segment.buckets[hash.home as usize]);
    Some(segment)
}

/// The second wave: has the item fetched that the home bucket leads to, or else the other bucket,
/// which then is to be looked at in a third. True: it is.
#[inline(always)]
pub(crate) fn warm_item(region: &Region, segment: &Segment, hash: Hash) -> bool {
    let home = &segment.buckets[hash.home as usize];
    if warm_first_match(region, home, hash.tag) || home.hint() == 0 {
        return false;
    }
    prefetch(&segment.buckets[hash.away() as usize]);
    true
}

/// The third wave: has the item fetched that the other bucket leads to.
#[inline(always)]
pub(crate) fn warm_away(region: &Region, segment: &Segment, hash: Hash) {
    warm_first_match(region, &segment.buckets[hash.away() as usize], hash.tag);
}

#[inline(always)]
fn warm_first_match(region: &Region, bucket: &Bucket, tag: u32) -> bool {
    match matches(bucket, tag).next() {
        Some(slot) => {
            region.prefetch_ref(slot_ref(bucket.slots[slot].load(Ordering::Relaxed)));
            true
        }
        None => false,
    }
}

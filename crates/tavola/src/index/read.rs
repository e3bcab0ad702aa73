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
use crate::layout::{Bucket, FLAG_UID, Header, LayoutWord, Segment, ShardHead, slot_ref, slot_tag};
use crate::region::Region;
use crate::sync::{Ordering, fence, prefetch, spin_hint};

/// What a read wants of an item: a `Vec` takes its value, `()` nothing.
pub(crate) trait Want {
    /// Called with the key's item, maybe several times, and on bytes that turn out to be stale:
    /// only the last call counts. False: the item could not be followed.
    fn take(&mut self, item: &Item<'_>) -> bool;
}

impl Want for Vec<u8> {
    #[inline(always)]
    fn take(&mut self, item: &Item<'_>) -> bool {
        self.clear();
        item.copy_value(self)
    }
}

impl Want for () {
    #[inline(always)]
    fn take(&mut self, _: &Item<'_>) -> bool {
        true
    }
}

enum Probe {
    Hit,
    /// Not here; the version at which that was so.
    Miss(u32),
    /// Something changed meanwhile: begin again.
    Changed,
    /// Nothing changed, and yet it makes no sense.
    Damaged,
}

/// What one item turned out to be.
enum Look {
    /// The key's; what was wanted of it was taken.
    Found,
    /// Another key's.
    Other,
    /// No item at all, or one that cannot be followed.
    Impossible,
    /// The layout changed meanwhile.
    Moved,
}

/// Looks a key up and takes what is wanted of its item; false: the key is missing.
#[inline(always)]
pub(crate) fn read(region: &Region, key: &[u8], hash: Hash, want: &mut impl Want) -> Result<bool> {
    let head = region.shard(hash.shard);
    loop {
        let layout = layout_word(head);
        let (_, page) = lookup(region, hash.shard, layout.depth(), hash.tag);
        let Some(segment) = region.segment_at(page) else {
            if is_unchanged(head, layout) {
                return if page == 0 {
                    Ok(false)
                } else {
                    corrupt("a directory")
                };
            }
            continue;
        };
        let view = View {
            region,
            head,
            layout,
            tag: hash.tag,
        };
        match view.probe_both(segment, key, hash, want) {
            Probe::Hit => return Ok(true),
            Probe::Miss(_) => return Ok(false),
            Probe::Damaged => return corrupt("an item"),
            Probe::Changed => spin_hint(),
        }
    }
}

#[inline(always)]
fn is_unchanged(head: &ShardHead, layout: LayoutWord) -> bool {
    fence(Ordering::Acquire);
    LayoutWord(head.layout.load(Ordering::Relaxed)) == layout
}

#[derive(Clone, Copy)]
struct View<'a> {
    region: &'a Region,
    head: &'a ShardHead,
    layout: LayoutWord,
    tag: u32,
}

impl View<'_> {
    /// The home bucket, then the other one if some key is away from home.
    #[inline(always)]
    fn probe_both(self, segment: &Segment, key: &[u8], hash: Hash, want: &mut impl Want) -> Probe {
        let home = &segment.buckets[hash.home as usize];
        let mut bucket = home;
        let mut at_home = None;
        loop {
            let version = match self.probe(bucket, key, want) {
                Probe::Miss(version) => version,
                other => return other,
            };
            if at_home.is_none() {
                at_home = Some(version);
                // Pairs with the release in `Bucket::hint_up`: the hint is read after the slots.
                fence(Ordering::Acquire);
                if home.hint() != 0 {
                    bucket = &segment.buckets[hash.away() as usize];
                    continue;
                }
            }
            return match at_home {
                Some(version) if self.validate(home, version) => Probe::Miss(version),
                _ => Probe::Changed,
            };
        }
    }

    #[inline(always)]
    fn probe(self, bucket: &Bucket, key: &[u8], want: &mut impl Want) -> Probe {
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
            match self.look(slot_ref(word), key, want) {
                Look::Other => {}
                Look::Moved => return Probe::Changed,
                Look::Found if self.validate(bucket, version) => return Probe::Hit,
                Look::Found => return Probe::Changed,
                Look::Impossible if self.validate(bucket, version) => return Probe::Damaged,
                Look::Impossible => return Probe::Changed,
            }
        }
        // A key that did not fit may have been another's bytes by then.
        if looked && !self.validate(bucket, version) {
            return Probe::Changed;
        }
        Probe::Miss(version)
    }

    /// Takes what is wanted of the item at a ref, if it is the key's.
    #[inline(always)]
    fn look(self, item_ref: u64, key: &[u8], want: &mut impl Want) -> Look {
        let Some(block) = self.region.block(item_ref) else {
            return Look::Impossible;
        };
        if let Some(fixed) = self.region.fixed() {
            return plain(Item::fixed(self.region, block, item_ref, fixed), key, want);
        }
        let header = Header::decode(block.first_word().load(Ordering::Relaxed));
        match header.flags {
            0 => plain(Item::plain(self.region, block, item_ref, header), key, want),
            FLAG_UID => {
                plain_with_uid(Item::plain(self.region, block, item_ref, header), key, want)
            }
            _ => special(self.region, self.head, self.layout, item_ref, key, want),
        }
    }

    #[inline(always)]
    fn validate(self, bucket: &Bucket, version: u32) -> bool {
        // Pairs with the release fences of `alloc::write` before the bytes of a block change.
        fence(Ordering::Acquire);
        bucket.version.load(Ordering::Relaxed) == version
            && LayoutWord(self.head.layout.load(Ordering::Relaxed)) == self.layout
    }
}

#[inline(always)]
fn plain(item: Option<Item<'_>>, key: &[u8], want: &mut impl Want) -> Look {
    let Some(item) = item else {
        return Look::Impossible;
    };
    match item.key_equals(key) {
        Some(false) => Look::Other,
        Some(true) if want.take(&item.with_key_len(key.len())) => Look::Found,
        _ => Look::Impossible,
    }
}

/// As [`plain`], for an item with a uid: by itself, so that the other stays as short as it is.
#[inline(never)]
fn plain_with_uid(item: Option<Item<'_>>, key: &[u8], want: &mut impl Want) -> Look {
    plain(item, key, want)
}

/// As [`View::look`], for an item with other fields. Copying a large one takes so long that many a
/// reader is stopped there: so the layout is looked at before the bucket, whose segment may have
/// been given back to the system meanwhile.
#[cold]
#[inline(never)]
fn special(
    region: &Region,
    head: &ShardHead,
    layout: LayoutWord,
    item_ref: u64,
    key: &[u8],
    want: &mut impl Want,
) -> Look {
    let item = Item::at(region, item_ref);
    let look = match item.and_then(|item| Some((item, item.key_equals(key)?))) {
        Some((_, false)) => Look::Other,
        Some((item, true)) if want.take(&item) => Look::Found,
        _ => Look::Impossible,
    };
    if is_unchanged(head, layout) {
        look
    } else {
        Look::Moved
    }
}

/// Has both buckets of a key fetched, for a writer: many a key is away from home, and many a home
/// is full. Nothing is believed.
#[inline(always)]
pub(crate) fn warm_both(region: &Region, hash: Hash) {
    let layout = layout_word(region.shard(hash.shard));
    let (_, page) = lookup(region, hash.shard, layout.depth(), hash.tag);
    if let Some(segment) = region.segment_at(page) {
        prefetch(&segment.buckets[hash.home as usize]);
        prefetch(&segment.buckets[hash.away() as usize]);
    }
}

/// A read that is done in steps, so that a batch of them waits for memory but once a step. What it
/// loads, and in which order, is what [`read`] does; where that ends otherwise than with the item
/// of the first slot that fits, [`read`] itself begins anew.
#[derive(Clone, Copy)]
pub(crate) struct Ahead<'a> {
    pub(crate) hash: Hash,
    layout: LayoutWord,
    segment: Option<&'a Segment>,
    /// The bucket with a slot that fits, its version before that was loaded, the ref it holds; 0:
    /// no such slot.
    bucket: u32,
    version: u32,
    item_ref: u64,
}

impl<'a> Ahead<'a> {
    /// What no step was done for.
    pub(crate) const NONE: Self = Self {
        hash: Hash {
            shard: 0,
            home: 0,
            tag: 0,
        },
        layout: LayoutWord(0),
        segment: None,
        bucket: 0,
        version: 0,
        item_ref: 0,
    };

    /// The first step: the home bucket is fetched.
    #[inline(always)]
    pub(crate) fn begin(region: &'a Region, key: &[u8]) -> Self {
        let hash = Hash::of(region, key);
        let layout = layout_word(region.shard(hash.shard));
        let (_, page) = lookup(region, hash.shard, layout.depth(), hash.tag);
        let segment = region.segment_at(page);
        if let Some(segment) = segment {
            prefetch(&segment.buckets[hash.home as usize]);
        }
        Self {
            hash,
            layout,
            segment,
            ..Self::NONE
        }
    }

    /// The second: the item is fetched, or else the other bucket, which then is to be looked at in
    /// a third. True: it is.
    #[inline(always)]
    pub(crate) fn look_home(&mut self, region: &Region) -> bool {
        let Some(segment) = self.segment else {
            return false;
        };
        if self.look_in(region, self.hash.home) || segment.buckets[self.bucket as usize].hint() == 0
        {
            return false;
        }
        prefetch(&segment.buckets[self.hash.away() as usize]);
        true
    }

    /// The third: the item is fetched that the other bucket leads to.
    #[inline(always)]
    pub(crate) fn look_away(&mut self, region: &Region) {
        self.look_in(region, self.hash.away());
    }

    #[inline(always)]
    fn look_in(&mut self, region: &Region, number: u32) -> bool {
        let Some(segment) = self.segment else {
            return false;
        };
        let bucket = &segment.buckets[number as usize];
        self.bucket = number;
        // Pairs with the release in `Bucket::bump`.
        self.version = bucket.version.load(Ordering::Acquire);
        let Some(slot) = matches(bucket, self.hash.tag).next() else {
            return false;
        };
        // Pairs with the release that published the item: its bytes are seen.
        let word = bucket.slots[slot].load(Ordering::Acquire);
        self.item_ref = if slot_tag(word) == self.hash.tag {
            slot_ref(word)
        } else {
            0
        };
        region.prefetch_ref(self.item_ref);
        true
    }

    /// The last step; as [`read`].
    #[inline(always)]
    pub(crate) fn finish(&self, region: &Region, key: &[u8], want: &mut impl Want) -> Result<bool> {
        if let (Some(segment), 1..) = (self.segment, self.item_ref) {
            let view = View {
                region,
                head: region.shard(self.hash.shard),
                layout: self.layout,
                tag: self.hash.tag,
            };
            let bucket = &segment.buckets[self.bucket as usize];
            if matches!(view.look(self.item_ref, key, want), Look::Found)
                && view.validate(bucket, self.version)
            {
                return Ok(true);
            }
        }
        read(region, key, self.hash, want)
    }
}

//! Reading without a lock and without a store. A reader copies first, and checks afterwards whether
//! what it copied was valid: a seqlock, except that writers never make the version odd.
//!
//! Keys and tags are read alike ([`Sought`]); the reads of keys are in `keys`, those of tags in
//! `tags`.
//!
//! 1. Load the layout word, the directory and the home bucket's version (acquire loads).
//! 2. Load the slots whose tag matches. Compare the key of each one's item, and copy the value of
//!    the right one.
//! 3. Fence (acquire), and load version and layout word again. The copy is valid if both are
//!    unchanged.
//!
//! Why this suffices (the writers' side is in `place`, `split`, `shrink`, and in
//! docs/internals/concurrency.md):
//! - *A copy of bytes that had been freed.* The writer that changed them incremented the bucket's
//!   version when it freed them, and fenced (release) before it changed them. Our fence is after
//!   our copy. So if we copied a changed byte, our second load sees the new version (IDX-2).
//! - *A miss while the key moved from its other bucket home.* The version of its new bucket rose
//!   before it left the old one (IDX-3), and that is the home bucket. We loaded the version of the
//!   home bucket before its slots, so the second load differs. A move from home to the other bucket
//!   does not need a version: the hint and the new slot were stored before the old slot was
//!   cleared.
//! - *A segment that was merged into another, and its page reused.* The layout word rose before
//!   (IDX-4).

use super::decided::current;
use super::dir::{layout_word, lookup, lookup_near};
use super::group::matches;
use super::hash::Hash;
use super::reading_process::ReadingProcess;
use super::sought::Sought;
use super::want::Want;
use crate::alloc::Item;
use crate::error::Result;
use crate::layout::{
    Bucket, FLAG_UID, Header, LayoutWord, Segment, ShardHead, is_key, slot_ref, slot_tag,
};
use crate::region::{Block, Region};
use crate::sync::{Ordering, fence, spin_hint};
use core::marker::PhantomData;

/// After this many invalid copies of a large item that is not pinned, the item is read under the
/// shard's lock.
pub(super) const MOST_SPOILED: u32 = 4;

enum Probe {
    Hit,
    /// The key is not in this bucket; the version at which that was so.
    Miss(u32),
    /// Something changed meanwhile: start again.
    Changed,
    /// Nothing changed, and yet the bytes make no sense.
    Damaged,
    /// The key's item is large and could not be pinned.
    Unpinned,
}

/// The result of examining one item.
pub(super) enum Examined {
    /// It is the key's; what was wanted of it was taken.
    Found,
    /// The same, of a large item, and the bucket need not be rechecked.
    Taken,
    /// It is another key's.
    Other,
    /// It is a large item, which has to be pinned first.
    Large,
    /// There is no item, or one that cannot be followed.
    Impossible,
    /// The layout changed meanwhile.
    Moved,
}

/// Looks a key or tag up as [`read_on`] does, if that takes few steps. Returns `None` if it did
/// not.
#[inline(always)]
pub(super) fn glance<S: Sought>(
    region: &Region,
    key: &[u8],
    hash: Hash,
    want: &mut impl Want,
) -> Option<bool> {
    let head = region.shard(hash.shard());
    let layout = layout_word(head);
    let (_, page) = lookup_near(region, head, hash.shard(), layout.depth(), hash.tag());
    let segment = region.segment_seen(page)?;
    let view = ShardView::<S>::new(region, head, layout, hash);
    view.glance(segment, hash, key, want)
}

/// Looks a key or tag up wherever it may be, and again whenever something changed meanwhile.
pub(super) fn read_on<S: Sought>(
    region: &Region,
    key: &[u8],
    hash: Hash,
    want: &mut impl Want,
    process: &dyn ReadingProcess,
) -> Result<bool> {
    let head = region.shard(hash.shard());
    let mut unpinned = None;
    loop {
        let layout = layout_word(head);
        let (_, page) = lookup(region, hash.shard(), layout.depth(), hash.tag());
        let Some(segment) = region.segment_at(page) else {
            if is_unchanged(head, layout) {
                return if page == 0 {
                    want.forget();
                    Ok(false)
                } else {
                    region.damaged("a directory")
                };
            }
            continue;
        };
        let view = ShardView::<S> {
            may_spoil: unpinned.is_some(),
            ..ShardView::new(region, head, layout, hash)
        };
        match view.probe_both(segment, key, hash, want) {
            Probe::Hit => return Ok(true),
            Probe::Miss(_) => {
                want.forget();
                return Ok(false);
            }
            Probe::Damaged => return region.damaged("an item"),
            Probe::Unpinned => {
                process.attach();
                unpinned = Some(0);
            }
            Probe::Changed => {
                spin_hint();
                let Some(spoiled) = &mut unpinned else {
                    continue;
                };
                *spoiled += 1;
                if *spoiled >= MOST_SPOILED
                    && let Some(found) =
                        process.read_locked(key, hash, &mut |item| want.take(item))?
                {
                    if !found {
                        want.forget();
                    }
                    return Ok(found);
                }
            }
        }
    }
}

#[inline(always)]
pub(super) fn is_unchanged(head: &ShardHead, layout: LayoutWord) -> bool {
    fence(Ordering::Acquire);
    LayoutWord(head.layout.load(Ordering::Relaxed)) == layout
}

/// A shard at a moment: what a read compares with at its end.
#[derive(Clone, Copy)]
pub(super) struct ShardView<'a, S> {
    pub(super) region: &'a Region,
    pub(super) head: &'a ShardHead,
    pub(super) layout: LayoutWord,
    tag: u32,
    /// Whether a large item that cannot be pinned is copied anyway.
    pub(super) may_spoil: bool,
    sought: PhantomData<S>,
}

impl<'a, S: Sought> ShardView<'a, S> {
    /// Creates a view for a read with this hash, which began with this layout word.
    #[inline(always)]
    pub(super) fn new(
        region: &'a Region,
        head: &'a ShardHead,
        layout: LayoutWord,
        hash: Hash,
    ) -> Self {
        Self {
            region,
            head,
            layout,
            tag: hash.tag(),
            may_spoil: false,
            sought: PhantomData,
        }
    }

    /// Returns whether the key is there, if the first slot that matches decides it.
    #[inline(always)]
    fn glance<W: Want>(
        self,
        segment: &Segment,
        hash: Hash,
        key: &[u8],
        want: &mut W,
    ) -> Option<bool> {
        let home = &segment.buckets[hash.home() as usize];
        // Pairs with the release in `Bucket::increment_version`.
        let version = home.version.load(Ordering::Acquire);
        if let Some(slot) = matches(home, self.tag).next() {
            return self.take_slot(home, version, slot, key, want);
        }
        // Pairs with the release in `Bucket::hint_up`: the hint is loaded after the slots.
        fence(Ordering::Acquire);
        if home.hint() != 0 {
            if W::STAYS {
                return None;
            }
            let away = &segment.buckets[hash.away() as usize];
            return self.glance_away(home, version, away, key, want);
        }
        self.recheck(home, version).then_some(false)
    }

    /// Continues [`Self::glance`] for a key that is not in its home bucket, which had that version:
    /// one key in seven if segments are full.
    #[inline(never)]
    fn glance_away(
        self,
        home: &Bucket,
        home_version: u32,
        away: &Bucket,
        key: &[u8],
        want: &mut impl Want,
    ) -> Option<bool> {
        // Pairs with the release in `Bucket::increment_version`.
        let version = away.version.load(Ordering::Acquire);
        match matches(away, self.tag).next() {
            Some(slot) => self.take_slot(away, version, slot, key, want),
            None => self.recheck(home, home_version).then_some(false),
        }
    }

    /// Takes what is wanted of the item that a slot leads to. Returns `Some(true)` if that is done,
    /// and `None` if the slow path has to decide.
    #[inline(always)]
    fn take_slot(
        self,
        bucket: &Bucket,
        version: u32,
        slot: usize,
        key: &[u8],
        want: &mut impl Want,
    ) -> Option<bool> {
        // Pairs with the release that published the item: we see its bytes. The tag need not be
        // compared again, as the whole key will be. The ref of a ghost leads into the superblock,
        // whose zeroes may look like an item, so the word is checked for being a key.
        let word = bucket.slots[slot].load(Ordering::Acquire);
        let is_taken = is_key(word)
            && self.take_short(slot_ref(word), key, want)
            && self.recheck(bucket, version);
        if is_taken {
            want.seen(bucket, slot);
        }
        is_taken.then_some(true)
    }

    /// Takes what is wanted of the item at a ref, if it is the key's, plain and short.
    #[inline(always)]
    pub(super) fn take_short<W: Want>(self, item_ref: u64, key: &[u8], want: &mut W) -> bool {
        const UID: u64 = (FLAG_UID as u64) << 24;
        let region = self.region;
        let Some(block) = region.block_seen(item_ref) else {
            return false;
        };
        if let Some(fixed) = region.fixed() {
            return short(Item::fixed(region, block, item_ref, fixed), key, want);
        }
        let header = block.first_word().load(Ordering::Relaxed);
        let key_len = key.len() as u64;
        // The length of the key, and flags.
        let kind = header >> 32;
        if kind == key_len {
            let item = Item::with_key(region, block, item_ref, header, key_len, false);
            short(item, key, want)
        } else if kind == key_len | UID {
            let item = Item::with_key(region, block, item_ref, header, key_len, true);
            short(item, key, want)
        } else {
            !W::STAYS
                && kind & 0xFF_FFFF == key_len
                && short_with_fields(region, block, item_ref, key, want)
        }
    }

    /// Looks in the home bucket, then in the other one if some key is away from home.
    #[inline(always)]
    fn probe_both(self, segment: &Segment, key: &[u8], hash: Hash, want: &mut impl Want) -> Probe {
        let home = &segment.buckets[hash.home() as usize];
        let mut bucket = home;
        let mut at_home = None;
        loop {
            let version = match self.probe(bucket, key, want) {
                Probe::Miss(version) => version,
                other => return other,
            };
            if at_home.is_none() {
                at_home = Some(version);
                // Pairs with the release in `Bucket::hint_up`: the hint is loaded after the slots.
                fence(Ordering::Acquire);
                if home.hint() != 0 {
                    bucket = &segment.buckets[hash.away() as usize];
                    continue;
                }
            }
            return match at_home {
                Some(version) if self.recheck(home, version) => Probe::Miss(version),
                _ => Probe::Changed,
            };
        }
    }

    #[inline(always)]
    fn probe(self, bucket: &Bucket, key: &[u8], want: &mut impl Want) -> Probe {
        // Pairs with the release in `Bucket::increment_version`.
        let version = bucket.version.load(Ordering::Acquire);
        let mut has_candidate = false;
        for i in matches(bucket, self.tag) {
            // Pairs with the release that published the item: we see its bytes.
            let word = bucket.slots[i].load(Ordering::Acquire);
            if slot_tag(word) != self.tag || !is_key(word) {
                continue;
            }
            has_candidate = true;
            let word = match current(self.region, word) {
                Some(word) if is_key(word) => word,
                Some(_) => continue,
                None if self.recheck(bucket, version) => return Probe::Damaged,
                None => return Probe::Changed,
            };
            let mut examined = self.examine(slot_ref(word), key, want);
            if matches!(examined, Examined::Large) {
                examined = self.read_large(bucket, version, slot_ref(word), key, want);
            }
            match examined {
                Examined::Other => {}
                Examined::Moved => return Probe::Changed,
                Examined::Found if self.recheck(bucket, version) => {
                    want.seen(bucket, i);
                    return Probe::Hit;
                }
                Examined::Found => return Probe::Changed,
                Examined::Taken => {
                    want.seen(bucket, i);
                    return Probe::Hit;
                }
                Examined::Large => return Probe::Unpinned,
                Examined::Impossible if self.recheck(bucket, version) => return Probe::Damaged,
                Examined::Impossible => return Probe::Changed,
            }
        }
        // An item with another key may have been read after its block was reused.
        if has_candidate && !self.recheck(bucket, version) {
            return Probe::Changed;
        }
        Probe::Miss(version)
    }

    /// Takes what is wanted of the item at a ref, if it is the key's.
    #[inline(always)]
    pub(super) fn examine(self, item_ref: u64, key: &[u8], want: &mut impl Want) -> Examined {
        let Some(block) = self.region.block(item_ref) else {
            return Examined::Impossible;
        };
        if let Some(fixed) = self.region.fixed() {
            return plain(Item::fixed(self.region, block, item_ref, fixed), key, want);
        }
        let header = Header::decode(block.first_word().load(Ordering::Relaxed));
        match header.flags {
            _ if S::IS_TAG => self.special(item_ref, key, want),
            0 => plain(Item::plain(self.region, block, item_ref, header), key, want),
            FLAG_UID => {
                plain_with_uid(Item::plain(self.region, block, item_ref, header), key, want)
            }
            _ => self.special(item_ref, key, want),
        }
    }

    /// Continues [`ShardView::examine`] for an item with other fields.
    #[cold]
    #[inline(never)]
    fn special(&self, item_ref: u64, key: &[u8], want: &mut impl Want) -> Examined {
        let examined = match Item::at(self.region, item_ref) {
            Some(item) if item.is_large() => Examined::Large,
            Some(item) => self.take_whole(&item, key, want),
            None => Examined::Impossible,
        };
        match is_unchanged(self.head, self.layout) {
            true => examined,
            false => Examined::Moved,
        }
    }

    /// Takes what is wanted of an item, if it is the key's and is not over (expired, or without a
    /// tag).
    pub(super) fn take_whole(&self, item: &Item<'_>, key: &[u8], want: &mut impl Want) -> Examined {
        if item.is_expired() || item.is_tag() != S::IS_TAG {
            return Examined::Other;
        }
        match (item.key_equals(key), S::is_over(item)) {
            (Some(false), _) | (Some(true), Some(true)) => Examined::Other,
            (Some(true), Some(false)) if want.take(item) => Examined::Found,
            _ => Examined::Impossible,
        }
    }

    #[inline(always)]
    pub(super) fn recheck(self, bucket: &Bucket, version: u32) -> bool {
        // Pairs with the release fences of `alloc::write` before the bytes of a block change.
        fence(Ordering::Acquire);
        bucket.version.load(Ordering::Relaxed) == version
            && LayoutWord(self.head.layout.load(Ordering::Relaxed)) == self.layout
    }
}

/// Takes what is wanted of an item, if it is the key's and short.
#[inline(always)]
fn short(item: Option<Item<'_>>, key: &[u8], want: &mut impl Want) -> bool {
    let Some(item) = item else {
        return false;
    };
    item.key_equals(key) == Some(true) && want.take_short(&item)
}

/// Does what [`short`] does for an item that has more fields than a uid, and a key of that length.
#[inline(never)]
fn short_with_fields(
    region: &Region,
    block: Block<'_>,
    item_ref: u64,
    key: &[u8],
    want: &mut impl Want,
) -> bool {
    let header = block.first_word().load(Ordering::Relaxed);
    let item = Item::with_fields(region, block, item_ref, header, key.len() as u64);
    short(item.filter(|item| !item.is_expired()), key, want)
}

#[inline(always)]
fn plain(item: Option<Item<'_>>, key: &[u8], want: &mut impl Want) -> Examined {
    let Some(item) = item else {
        return Examined::Impossible;
    };
    match item.key_equals(key) {
        Some(false) => Examined::Other,
        Some(true) if want.take(&item.with_key_len(key.len())) => Examined::Found,
        _ => Examined::Impossible,
    }
}

/// Does what [`plain`] does for an item with a uid. It is a function of its own, so that the
/// inlined code for an item without one stays short.
#[inline(never)]
fn plain_with_uid(item: Option<Item<'_>>, key: &[u8], want: &mut impl Want) -> Examined {
    plain(item, key, want)
}

//! Reading without a lock and without a store.
//!
//! 1. The layout word, the directory, the home bucket's version (each an acquire load).
//! 2. The slots whose tag fits; of each, the item's key; of the right one, the value, copied.
//! 3. An acquire fence, then version and layout word once more: the same, and the copy is good.
//!
//! Why (the writers' side is in `place`, `split`, `shrink`, and in docs/internals/concurrency.md):
//! - A copy of bytes that had been freed: the writer who changed them fenced (release) before, and
//!   the bump that came with the freeing happened before that. Our fence is after our copy, so the
//!   second look sees the bump (IDX-2).
//! - A miss while the key moved between its buckets: its new bucket was bumped before it left the
//!   old one (IDX-3), and the home bucket is one of the two; we looked at the home bucket's version
//!   before its slots, so the second look differs. Moves from home to away need no version: the
//!   hint and the new slot were stored before the old one was cleared.
//! - A segment that was merged away, its page used for something else: the layout word rose
//!   (IDX-4).

use super::dir::{layout_word, lookup, lookup_near};
use super::group::matches;
use super::hash::Hash;
use super::seat::{AsItIs, Seat};
use super::tags::is_over;
use super::want::Want;
use crate::alloc::Item;
use crate::error::Result;
use crate::layout::{
    Bucket, FLAG_UID, Header, LayoutWord, Segment, ShardHead, is_key, slot_ref, slot_tag,
};
use crate::region::{Block, Region};
use crate::sync::{Ordering, fence, spin_hint};

/// Copies of a large item that is not pinned, spoiled by writers one after the other, before one is
/// made under the shard's lock.
pub(super) const MOST_SPOILED: u32 = 4;

enum Probe {
    Hit,
    /// Not here; the version at which that was so.
    Miss(u32),
    /// Something changed meanwhile: begin again.
    Changed,
    /// Nothing changed, and yet it makes no sense.
    Damaged,
    /// It is a large item, which could not be pinned.
    Unpinned,
}

/// What one item turned out to be.
pub(super) enum Look {
    /// The key's; what was wanted of it was taken.
    Found,
    /// The same, of a large item, and the bucket need not be looked at again.
    Taken,
    /// Another key's.
    Other,
    /// A large item, to be pinned first.
    Large,
    /// No item at all, or one that cannot be followed.
    Impossible,
    /// The layout changed meanwhile.
    Moved,
}

/// Looks a key up and takes what is wanted of its item; false: the key is missing.
///
/// Nearly every key that is there stands in the first slot that fits, and its item is a plain one;
/// nearly every key that is not there has no slot that fits. So much is done here, in few steps
/// and, at home, without a call: two reads in a row overlap only as far as the processor looks
/// ahead, and the rate halves from 130 instructions a read to 180. Whatever else there is begins
/// anew in [`read_again`].
#[inline(always)]
pub(crate) fn read(region: &Region, key: &[u8], hash: Hash, want: &mut impl Want) -> Result<bool> {
    read_seated(region, key, hash, want, &AsItIs)
}

/// As [`read`], of a large item as the seat allows it.
#[inline(always)]
pub(crate) fn read_seated(
    region: &Region,
    key: &[u8],
    hash: Hash,
    want: &mut impl Want,
    seat: &dyn Seat,
) -> Result<bool> {
    match glance(region, key, hash, want) {
        Some(found) => Ok(found),
        None => read_again(region, key, want, seat),
    }
}

/// As [`read`], where that takes few steps; `None`: it was not done.
#[inline(always)]
pub(crate) fn glance(
    region: &Region,
    key: &[u8],
    hash: Hash,
    want: &mut impl Want,
) -> Option<bool> {
    let head = region.shard(hash.shard());
    let layout = layout_word(head);
    let (_, page) = lookup_near(region, head, hash.shard(), layout.depth(), hash.tag());
    let segment = region.segment_seen(page)?;
    let view = View {
        region,
        head,
        layout,
        tag: hash.tag(),
        of_tag: false,
        may_spoil: false,
    };
    view.glance(segment, hash, key, want)
}

/// As [`read`], of a tag, which is not a key.
pub(crate) fn read_tag(region: &Region, name: &[u8], want: &mut impl Want) -> Result<bool> {
    read_on(region, name, Hash::of_tag(region, name), want, &AsItIs)
}

/// The hash is made anew, as it would have to be kept until then.
#[inline(never)]
fn read_again(region: &Region, key: &[u8], want: &mut impl Want, seat: &dyn Seat) -> Result<bool> {
    read_on(region, key, Hash::of(region, key), want, seat)
}

/// As [`read`], wherever the key may stand, and as often as something changes meanwhile.
fn read_on(
    region: &Region,
    key: &[u8],
    hash: Hash,
    want: &mut impl Want,
    seat: &dyn Seat,
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
        let view = View {
            region,
            head,
            layout,
            tag: hash.tag(),
            of_tag: hash.is_of_tag(),
            may_spoil: unpinned.is_some(),
        };
        match view.probe_both(segment, key, hash, want) {
            Probe::Hit => return Ok(true),
            Probe::Miss(_) => {
                want.forget();
                return Ok(false);
            }
            Probe::Damaged => return region.damaged("an item"),
            Probe::Unpinned => {
                seat.take();
                unpinned = Some(0);
            }
            Probe::Changed => {
                spin_hint();
                let Some(spoiled) = &mut unpinned else {
                    continue;
                };
                *spoiled += 1;
                if *spoiled >= MOST_SPOILED
                    && let Some(found) = seat.read_locked(key, hash, &mut |item| want.take(item))?
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

/// A shard at a moment: what a read holds to from its first look to its last.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    pub(super) region: &'a Region,
    pub(super) head: &'a ShardHead,
    pub(super) layout: LayoutWord,
    pub(super) tag: u32,
    /// Whether a tag is looked for, and not a key.
    pub(super) of_tag: bool,
    /// Whether a large item that cannot be pinned is copied all the same.
    pub(super) may_spoil: bool,
}

impl View<'_> {
    /// Whether the key is there, where the first slot that fits can tell.
    #[inline(always)]
    fn glance<W: Want>(
        self,
        segment: &Segment,
        hash: Hash,
        key: &[u8],
        want: &mut W,
    ) -> Option<bool> {
        let home = &segment.buckets[hash.home() as usize];
        // Pairs with the release in `Bucket::bump`.
        let version = home.version.load(Ordering::Acquire);
        if let Some(slot) = matches(home, self.tag).next() {
            return self.take_slot(home, version, slot, key, want);
        }
        // Pairs with the release in `Bucket::hint_up`: the hint is read after the slots.
        fence(Ordering::Acquire);
        if home.hint() != 0 {
            if W::STAYS {
                return None;
            }
            let away = &segment.buckets[hash.away() as usize];
            return self.glance_away((home, version), away, key, want);
        }
        self.recheck(home, version).then_some(false)
    }

    /// As [`Self::glance`], of a key that is not in its home bucket, which had that
    /// version: a seventh of all, when segments are full.
    #[inline(never)]
    fn glance_away(
        self,
        (home, home_version): (&Bucket, u32),
        away: &Bucket,
        key: &[u8],
        want: &mut impl Want,
    ) -> Option<bool> {
        // Pairs with the release in `Bucket::bump`.
        let version = away.version.load(Ordering::Acquire);
        match matches(away, self.tag).next() {
            Some(slot) => self.take_slot(away, version, slot, key, want),
            None => self.recheck(home, home_version).then_some(false),
        }
    }

    /// `Some(true)`: what is wanted of the item that a slot leads to was taken.
    #[inline(always)]
    fn take_slot(
        self,
        bucket: &Bucket,
        version: u32,
        slot: usize,
        key: &[u8],
        want: &mut impl Want,
    ) -> Option<bool> {
        // Pairs with the release that published the item: its bytes are seen.
        // Its tag need not be looked at again: the whole key will be.
        // A ghost's ref leads into the superblock, whose zeroes may look like an item.
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
        // Length of the key, and flags.
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
                && short_with_fields(region, (block, item_ref), key, want)
        }
    }

    /// The home bucket, then the other one if some key is away from home.
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
                // Pairs with the release in `Bucket::hint_up`: the hint is read after the slots.
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
        // Pairs with the release in `Bucket::bump`.
        let version = bucket.version.load(Ordering::Acquire);
        let mut looked = false;
        for i in matches(bucket, self.tag) {
            // Pairs with the release that published the item: its bytes are seen.
            let word = bucket.slots[i].load(Ordering::Acquire);
            if slot_tag(word) != self.tag || !is_key(word) {
                continue;
            }
            looked = true;
            let mut look = self.examine(slot_ref(word), key, want);
            if matches!(look, Look::Large) {
                look = self.read_large((bucket, version), slot_ref(word), key, want);
            }
            match look {
                Look::Other => {}
                Look::Moved => return Probe::Changed,
                Look::Found if self.recheck(bucket, version) => {
                    want.seen(bucket, i);
                    return Probe::Hit;
                }
                Look::Found => return Probe::Changed,
                Look::Taken => {
                    want.seen(bucket, i);
                    return Probe::Hit;
                }
                Look::Large => return Probe::Unpinned,
                Look::Impossible if self.recheck(bucket, version) => return Probe::Damaged,
                Look::Impossible => return Probe::Changed,
            }
        }
        // A key that did not fit may have been another's bytes by then.
        if looked && !self.recheck(bucket, version) {
            return Probe::Changed;
        }
        Probe::Miss(version)
    }

    /// Takes what is wanted of the item at a ref, if it is the key's.
    #[inline(always)]
    pub(super) fn examine(self, item_ref: u64, key: &[u8], want: &mut impl Want) -> Look {
        let Some(block) = self.region.block(item_ref) else {
            return Look::Impossible;
        };
        if let Some(fixed) = self.region.fixed() {
            return plain(Item::fixed(self.region, block, item_ref, fixed), key, want);
        }
        let header = Header::decode(block.first_word().load(Ordering::Relaxed));
        match header.flags {
            _ if self.of_tag => self.special(item_ref, key, want),
            0 => plain(Item::plain(self.region, block, item_ref, header), key, want),
            FLAG_UID => {
                plain_with_uid(Item::plain(self.region, block, item_ref, header), key, want)
            }
            _ => self.special(item_ref, key, want),
        }
    }

    /// As [`View::look`], for an item with other fields.
    #[cold]
    #[inline(never)]
    fn special(&self, item_ref: u64, key: &[u8], want: &mut impl Want) -> Look {
        let look = match Item::at(self.region, item_ref) {
            Some(item) if item.is_large() => Look::Large,
            Some(item) => self.take_whole(&item, key, want),
            None => Look::Impossible,
        };
        match is_unchanged(self.head, self.layout) {
            true => look,
            false => Look::Moved,
        }
    }

    /// Takes what is wanted of an item, if it is the key's and not over.
    pub(super) fn take_whole(&self, item: &Item<'_>, key: &[u8], want: &mut impl Want) -> Look {
        if item.is_expired() || item.is_tag() != self.of_tag {
            return Look::Other;
        }
        match (item.key_equals(key), is_over(item)) {
            (Some(false), _) | (Some(true), Some(true)) => Look::Other,
            (Some(true), Some(false)) if want.take(item) => Look::Found,
            _ => Look::Impossible,
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

/// As [`short`], of an item that has more fields than a uid, and a key so long.
#[inline(never)]
fn short_with_fields(
    region: &Region,
    (block, item_ref): (Block<'_>, u64),
    key: &[u8],
    want: &mut impl Want,
) -> bool {
    let header = block.first_word().load(Ordering::Relaxed);
    let item = Item::with_fields(region, block, item_ref, header, key.len() as u64);
    short(item.filter(|item| !item.is_expired()), key, want)
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

//! Reading by uid: no hash, no tag, no key to compare.
//!
//! 1. The uid layout word, the chunk's page, the entry (each an acquire load).
//! 2. `Live`: the item; what is wanted of it, copied. `InTransition`: its key, copied.
//! 3. An acquire fence, then uid layout word, entry, uid layout word once more: the same, and the
//!    copy is good.
//! 4. After `InTransition`: a read by that key, which counts if the item it finds has the uid.
//!
//! Why: an entry changes after its key leads to another item, and before the old block is freed; a
//! reader who copied bytes that were changed since sees the entry changed. And it says
//! `InTransition` before the key's slot is stored, and until after: so what is read by key and what
//! is read by uid never contradict each other. The writers' side is in `alloc::uid`.

use super::hash::Hash;
use super::read::{MOST_SPOILED, read_seated, read_tag};
use super::seat::{AsItIs, Seat};
use super::tags::is_over;
use super::want::Want;
use crate::alloc::Item;
use crate::error::{Result, corrupt};
use crate::layout::{FLAG_TAG, FLAG_UID, Header, Hint, ShardHead, UID_FIRST, UID_HOLE};
use crate::layout::{UidEntry, UidLayout};
use crate::lock::ShardLock;
use crate::region::{Pinned, Region};
use crate::sync::{Ordering, W64, fence, spin_hint};

/// Wants nothing of an item but its key.
pub(crate) struct KeyOf<'a>(pub(crate) &'a mut Vec<u8>);

impl Want for KeyOf<'_> {
    #[inline(always)]
    fn take(&mut self, item: &Item<'_>) -> bool {
        self.0.clear();
        item.copy_key(self.0)
    }
}

/// Wants nothing of an item but its uid.
pub(crate) struct HintOf(pub(crate) Hint);

impl Want for HintOf {
    #[inline(always)]
    fn take(&mut self, item: &Item<'_>) -> bool {
        self.0 = item.hint();
        true
    }

    #[inline(always)]
    fn take_short(&mut self, item: &Item<'_>) -> bool {
        self.take(item)
    }
}

/// Takes what is wanted of an item that has the uid asked for.
struct Named<'a, W> {
    hint: Hint,
    want: &'a mut W,
    has_uid: bool,
}

impl<W: Want> Want for Named<'_, W> {
    const OF_TAG: bool = W::OF_TAG;

    fn take(&mut self, item: &Item<'_>) -> bool {
        self.has_uid = self.hint.means(item.hint());
        !self.has_uid || self.want.take(item)
    }

    fn keep(&mut self, pin: Pinned<'_>) {
        if self.has_uid {
            self.want.keep(pin);
        }
    }
}

enum Look {
    /// The item; what was wanted of it was taken.
    Found,
    /// The same, of a large item, and the entry need not be looked at again.
    Taken,
    /// The entry changed meanwhile.
    Changed,
    /// It is a large item, which could not be pinned.
    Unpinned,
    /// The uid is not given out, or not to the key that is meant.
    Missing,
    /// The key's slot may just be changing; its key was copied.
    InTransition(Vec<u8>),
    /// No item at all, or one that cannot be followed.
    Impossible,
}

/// Looks a uid up and takes what is wanted of its item; false: it is not given out, or not to the
/// key that is meant.
///
/// As in `read`, what nearly every read is is done in few steps where it is called.
#[inline(always)]
pub(crate) fn read_by_uid(region: &Region, hint: Hint, want: &mut impl Want) -> Result<bool> {
    read_by_uid_seated(region, hint, want, &AsItIs)
}

/// As [`read_by_uid`], of a large item as the seat allows it.
#[inline(always)]
pub(crate) fn read_by_uid_seated(
    region: &Region,
    hint: Hint,
    want: &mut impl Want,
    seat: &dyn Seat,
) -> Result<bool> {
    if View::seen(region, hint).is_some_and(|view| view.glance(hint, want)) {
        return Ok(true);
    }
    read_on(region, hint, want, seat)
}

#[inline(never)]
fn read_on(region: &Region, hint: Hint, want: &mut impl Want, seat: &dyn Seat) -> Result<bool> {
    let mut is_seated = false;
    let mut spoiled = 0;
    while let Some(mut view) = View::of(region, hint)? {
        view.may_spoil = is_seated;
        let look = view.examine(hint, want);
        if matches!(look, Look::Taken) {
            return Ok(true);
        }
        if matches!(look, Look::Unpinned) {
            seat.take();
            is_seated = true;
            continue;
        }
        if matches!(look, Look::Changed) || !view.recheck() {
            spin_hint();
            spoiled += u32::from(is_seated);
            if spoiled >= MOST_SPOILED {
                return read_by_name(region, hint, want, seat);
            }
            continue;
        }
        return match look {
            Look::Found | Look::Taken | Look::Changed | Look::Unpinned => Ok(true),
            Look::Missing => Ok(false),
            Look::InTransition(name) => read_in_transition(region, hint, &name, (want, seat)),
            Look::Impossible => region.damaged("the item of a uid"),
        };
    }
    Ok(false)
}

/// After copies of a large item were spoiled that cannot be pinned: by its key.
#[cold]
fn read_by_name(
    region: &Region,
    hint: Hint,
    want: &mut impl Want,
    seat: &dyn Seat,
) -> Result<bool> {
    let mut name = Vec::new();
    match read_by_uid(region, hint, &mut KeyOf(&mut name))? {
        true => read_in_transition(region, hint, &name, (want, seat)),
        false => Ok(false),
    }
}

#[cold]
fn read_in_transition<W: Want>(
    region: &Region,
    hint: Hint,
    name: &[u8],
    (want, seat): (&mut W, &dyn Seat),
) -> Result<bool> {
    let mut named = Named {
        hint,
        want,
        has_uid: false,
    };
    let found = match W::OF_TAG {
        true => read_tag(region, name, &mut named)?,
        false => {
            let hash = Hash::of(region, name);
            read_seated(region, name, hash, &mut named, seat)?
        }
    };
    Ok(found && named.has_uid)
}

/// One look at an entry, and what tells whether it counts.
struct View<'a> {
    region: &'a Region,
    head: &'a ShardHead,
    layout: UidLayout,
    entry: &'a W64,
    word: u64,
    /// Whether a large item that cannot be pinned is copied all the same.
    may_spoil: bool,
}

impl<'a> View<'a> {
    /// `None`: the uid was never given out, or its chunk was given back.
    #[inline(always)]
    fn of(region: &'a Region, hint: Hint) -> Result<Option<Self>> {
        let place = region.uid_place(hint.uid());
        let head = region.shard(place.shard);
        loop {
            // Pairs with the release in `alloc::uid`: who sees a count sees those chunks.
            let layout = UidLayout(head.uid_layout.load(Ordering::Acquire));
            if place.chunk >= layout.chunks() || place.entry < UID_FIRST {
                return Ok(None);
            }
            let dir_entry = region.uid_dir(place.shard, place.chunk);
            // Pairs with the release that published the chunk: its entries are seen.
            let page = dir_entry.load(Ordering::Acquire);
            if let Some(entry) = region.uid_entry(page, place.entry) {
                return Ok(Some(Self {
                    region,
                    head,
                    layout,
                    entry,
                    // Pairs with the releases of `alloc::uid`: the item's bytes are seen.
                    word: entry.load(Ordering::Acquire),
                    may_spoil: false,
                }));
            }
            fence(Ordering::Acquire);
            if head.uid_layout.load(Ordering::Relaxed) != layout.0 {
                continue;
            }
            return match page & UID_HOLE {
                0 => corrupt("a uid directory"),
                _ => Ok(None),
            };
        }
    }

    /// As [`Self::of`], if it can be told at once.
    #[inline(always)]
    fn seen(region: &'a Region, hint: Hint) -> Option<Self> {
        let place = region.uid_place(hint.uid());
        let head = region.shard(place.shard);
        // Pairs with the release in `alloc::uid`: who sees a count sees those chunks.
        let layout = UidLayout(head.uid_layout.load(Ordering::Acquire));
        if place.chunk >= layout.chunks() || place.entry < UID_FIRST {
            return None;
        }
        let dir_entry = region.uid_dir(place.shard, place.chunk);
        // Pairs with the release that published the chunk: its entries are seen.
        let page = dir_entry.load(Ordering::Acquire);
        let entry = region.uid_entry_seen(page, place.entry)?;
        Some(Self {
            region,
            head,
            layout,
            entry,
            // Pairs with the releases of `alloc::uid`: the item's bytes are seen.
            word: entry.load(Ordering::Acquire),
            may_spoil: false,
        })
    }

    /// Whether the uid leads to a plain short item that has it, and what is wanted was taken.
    #[inline(always)]
    fn glance<W: Want>(&self, hint: Hint, want: &mut W) -> bool {
        short(self.item_with(flags_of::<W>()), hint, want) && self.recheck()
    }

    /// The item the uid leads to, if that can be told at once and it has these flags, of which one
    /// is that of a uid.
    #[inline(always)]
    fn item_with(&self, flags: u8) -> Option<Item<'a>> {
        let UidEntry::Live { item_ref } = UidEntry::decode(self.word) else {
            return None;
        };
        let block = self.region.block_seen(item_ref)?;
        if let Some(fixed) = self.region.fixed() {
            return Item::fixed(self.region, block, item_ref, fixed);
        }
        let word = block.first_word().load(Ordering::Relaxed);
        let header = Header::decode(word);
        if header.flags != flags {
            return None;
        }
        let key_len = u64::from(header.key_len);
        Item::with_key(self.region, block, item_ref, word, key_len, true)
    }

    /// The layout before the entry, whose page may have been given back to the system meanwhile;
    /// and after it: if its versions have begun anew, the layout rose before.
    #[inline(always)]
    fn recheck(&self) -> bool {
        let layout = &self.head.uid_layout;
        // Pairs with the release fences of `alloc::write` before the bytes of a block change, and
        // of `alloc::pool` before those of a page do.
        fence(Ordering::Acquire);
        layout.load(Ordering::Relaxed) == self.layout.0
            // Pairs with the releases of `alloc::uid`: a layout that rose before is seen.
            && self.entry.load(Ordering::Acquire) == self.word
            && layout.load(Ordering::Relaxed) == self.layout.0
    }

    #[inline(always)]
    fn examine(&self, hint: Hint, want: &mut impl Want) -> Look {
        let UidEntry::Live { item_ref } = UidEntry::decode(self.word) else {
            return self.read_otherwise();
        };
        let Some(block) = self.region.block(item_ref) else {
            return Look::Impossible;
        };
        if let Some(fixed) = self.region.fixed() {
            return self.special(Item::fixed(self.region, block, item_ref, fixed), hint, want);
        }
        let header = Header::decode(block.first_word().load(Ordering::Relaxed));
        if header.flags != FLAG_UID {
            return self.special(Item::at(self.region, item_ref), hint, want);
        }
        match Item::plain(self.region, block, item_ref, header) {
            Some(item) => take(&item, hint, want),
            None => Look::Impossible,
        }
    }

    /// As the rest of [`Self::look`], for an item with more fields than its uid. The chain of a
    /// large one is pinned, as in `read`.
    #[cold]
    #[inline(never)]
    fn special(&self, item: Option<Item<'_>>, hint: Hint, want: &mut impl Want) -> Look {
        let Some(item) = item else {
            return Look::Impossible;
        };
        let pin = match item.is_large() {
            true => self.region.pin(item.first_page),
            false => None,
        };
        let Some(pin) = pin else {
            return match item.is_large() && !self.may_spoil {
                true => Look::Unpinned,
                false => take(&item, hint, want),
            };
        };
        let block = item.copied_block();
        if !self.recheck() {
            return Look::Changed;
        }
        match take(&item.pinned(&block), hint, want) {
            Look::Found => {
                want.keep(pin);
                Look::Taken
            }
            look => look,
        }
    }

    #[cold]
    fn read_otherwise(&self) -> Look {
        match UidEntry::decode(self.word) {
            UidEntry::Free { .. } => Look::Missing,
            UidEntry::InTransition { item_ref } => {
                let mut key = Vec::new();
                match Item::at(self.region, item_ref) {
                    Some(item) if KeyOf(&mut key).take(&item) => Look::InTransition(key),
                    _ => Look::Impossible,
                }
            }
            _ => Look::Impossible,
        }
    }
}

/// The flags of an item with a uid and nothing else.
#[inline(always)]
fn flags_of<W: Want>() -> u8 {
    FLAG_UID | if W::OF_TAG { FLAG_TAG } else { 0 }
}

/// Takes what is wanted of an item, if its uid is the one asked for, and it is short.
#[inline(always)]
fn short(item: Option<Item<'_>>, hint: Hint, want: &mut impl Want) -> bool {
    let Some(item) = item else {
        return false;
    };
    let has = item.hint();
    has.uid() == hint.uid() && hint.means(has) && want.take_short(&item)
}

/// Takes what is wanted of an item, if its uid is the one asked for.
#[inline(always)]
fn take<W: Want>(item: &Item<'_>, hint: Hint, want: &mut W) -> Look {
    let has = item.hint();
    if has.uid() != hint.uid() {
        return Look::Impossible;
    }
    if !hint.means(has) || item.is_tag() != W::OF_TAG {
        return Look::Missing;
    }
    match is_over(item) {
        Some(true) => Look::Missing,
        Some(false) if want.take(item) => Look::Found,
        _ => Look::Impossible,
    }
}

/// Under the shard's lock: the value of a uid's key, when it is one aligned word, which may be
/// changed in place then.
///
/// In few steps, as [`View::glance`]: so the processor asks for the entry of one call while the
/// item of the call before is still on its way.
#[inline(always)]
pub(crate) fn word_by_uid<'a>(lock: &ShardLock<'a>, hint: Hint) -> Option<&'a W64> {
    let item = View::seen(lock.region, hint)?.item_with(FLAG_UID)?;
    if hint.means(item.hint()) {
        item.value_word()
    } else {
        None
    }
}

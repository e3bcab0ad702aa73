//! Reading by uid: the uid leads to the item, so there is nothing to hash and no key to compare. As
//! in `read`, a reader copies first and checks afterwards whether the copy was valid.
//!
//! 1. Load the uid layout word, the chunk's page and the entry (acquire loads).
//! 2. If the entry is `Live`, copy what is wanted of the item. If it is `InTransition`, copy the
//!    item's key.
//! 3. Fence (acquire), and load uid layout word, entry and uid layout word again. The copy is valid
//!    if all are unchanged.
//! 4. After `InTransition`: read by that key. The result counts if the item found has the uid.
//!
//! Why this suffices: an entry changes after its key leads to another item, and before the old
//! block is freed. So a reader that copied bytes which were changed since sees that the entry has
//! changed. The entry is `InTransition` from before the key's slot is stored until after that: so
//! reads by key and reads by uid never contradict each other. The writers' side is in `alloc::uid`.

use super::read::{self, MOST_SPOILED};
use super::reading_process::{AsItIs, ReadingProcess};
use super::sought::Sought;
use super::want::Want;
use crate::alloc::Item;
use crate::error::{Result, corrupt};
use crate::layout::{FLAG_TAG, FLAG_UID, Header, Hint, ShardHead, UID_FIRST, UID_UNBACKED};
use crate::layout::{UidEntry, UidLayout};
use crate::lock::ShardLock;
use crate::region::{Pinned, Region};
use crate::sync::{Ordering, W64, fence, prefetch, spin_hint};

/// Takes the key of an item.
pub(crate) struct KeyOf<'a>(pub(crate) &'a mut Vec<u8>);

impl Want for KeyOf<'_> {
    #[inline(always)]
    fn take(&mut self, item: &Item<'_>) -> bool {
        self.0.clear();
        item.copy_key(self.0)
    }
}

/// Takes the uid of an item.
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

/// Takes what is wanted of an item if it has the uid that was asked for.
struct OfUid<'a, W> {
    hint: Hint,
    want: &'a mut W,
    has_uid: bool,
}

impl<W: Want> Want for OfUid<'_, W> {
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

enum Resolved {
    /// It is an item; what was wanted of it was taken.
    Found,
    /// The same, of a large item, and the entry need not be rechecked.
    Taken,
    /// The entry changed meanwhile.
    Changed,
    /// The item is large and could not be pinned.
    Unpinned,
    /// The uid is not in use, or belongs to another key than the one that is meant.
    Missing,
    /// The key's slot may be changing; its key was copied.
    InTransition(Vec<u8>),
    /// There is no item, or one that cannot be followed.
    Impossible,
}

/// Looks a uid up and takes what is wanted of its item. Returns false if the uid is not in use, or
/// belongs to another key, or tag, than the one that is meant.
#[inline(always)]
pub(super) fn read<S: Sought>(
    region: &Region,
    hint: Hint,
    want: &mut impl Want,
    process: &dyn ReadingProcess,
) -> Result<bool> {
    if UidView::seen(region, hint).is_some_and(|view| view.glance::<S>(hint, want)) {
        return Ok(true);
    }
    read_on::<S>(region, hint, want, process)
}

#[inline(never)]
fn read_on<S: Sought>(
    region: &Region,
    hint: Hint,
    want: &mut impl Want,
    process: &dyn ReadingProcess,
) -> Result<bool> {
    let mut is_attached = false;
    let mut spoiled = 0;
    while let Some(mut view) = UidView::of(region, hint)? {
        view.may_spoil = is_attached;
        let resolved = view.examine::<S>(hint, want);
        if matches!(resolved, Resolved::Taken) {
            return Ok(true);
        }
        if matches!(resolved, Resolved::Unpinned) {
            process.attach();
            is_attached = true;
            continue;
        }
        if matches!(resolved, Resolved::Changed) || !view.recheck() {
            spin_hint();
            spoiled += u32::from(is_attached);
            if spoiled >= MOST_SPOILED {
                return read_by_name::<S>(region, hint, want, process);
            }
            continue;
        }
        return match resolved {
            Resolved::Found | Resolved::Taken | Resolved::Changed | Resolved::Unpinned => Ok(true),
            Resolved::Missing => Ok(false),
            Resolved::InTransition(name) => {
                read_in_transition::<S>(region, hint, &name, want, process)
            }
            Resolved::Impossible => region.damaged("the item of a uid"),
        };
    }
    Ok(false)
}

/// Reads by the item's key, after several copies of a large item that cannot be pinned were
/// invalid.
#[cold]
fn read_by_name<S: Sought>(
    region: &Region,
    hint: Hint,
    want: &mut impl Want,
    process: &dyn ReadingProcess,
) -> Result<bool> {
    let mut name = Vec::new();
    match read::<S>(region, hint, &mut KeyOf(&mut name), &AsItIs)? {
        true => read_in_transition::<S>(region, hint, &name, want, process),
        false => Ok(false),
    }
}

#[cold]
fn read_in_transition<S: Sought>(
    region: &Region,
    hint: Hint,
    name: &[u8],
    want: &mut impl Want,
    process: &dyn ReadingProcess,
) -> Result<bool> {
    let mut named = OfUid {
        hint,
        want,
        has_uid: false,
    };
    let hash = S::hash(region, name);
    let found = read::read_on::<S>(region, name, hash, &mut named, process)?;
    Ok(found && named.has_uid)
}

/// An entry as it was loaded, and what is needed to recheck it.
struct UidView<'a> {
    region: &'a Region,
    head: &'a ShardHead,
    layout: UidLayout,
    entry: &'a W64,
    word: u64,
    /// Whether a large item that cannot be pinned is copied anyway.
    may_spoil: bool,
}

impl<'a> UidView<'a> {
    /// Loads the entry of a uid. Returns `None` if the uid was never used, or its chunk was freed.
    #[inline(always)]
    fn of(region: &'a Region, hint: Hint) -> Result<Option<Self>> {
        let place = region.uid_place(hint.uid());
        let head = region.shard(place.shard);
        loop {
            // Pairs with the release in `alloc::uid`: a reader that sees a count sees those chunks.
            let layout = UidLayout(head.uid_layout.load(Ordering::Acquire));
            if place.chunk >= layout.chunks() || place.entry < UID_FIRST {
                return Ok(None);
            }
            let dir_entry = region.uid_dir(place.shard, place.chunk);
            // Pairs with the release that published the chunk: we see its entries.
            let page = dir_entry.load(Ordering::Acquire);
            if let Some(entry) = region.uid_entry(page, place.entry) {
                return Ok(Some(Self {
                    region,
                    head,
                    layout,
                    entry,
                    // Pairs with the releases of `alloc::uid`: we see the item's bytes.
                    word: entry.load(Ordering::Acquire),
                    may_spoil: false,
                }));
            }
            fence(Ordering::Acquire);
            if head.uid_layout.load(Ordering::Relaxed) != layout.0 {
                continue;
            }
            return match page & UID_UNBACKED {
                0 => corrupt("a uid directory"),
                _ => Ok(None),
            };
        }
    }

    /// Loads the entry as [`Self::of`] does, if that takes one attempt without a check of the
    /// high-water mark.
    #[inline(always)]
    fn seen(region: &'a Region, hint: Hint) -> Option<Self> {
        let place = region.uid_place(hint.uid());
        let head = region.shard(place.shard);
        // Pairs with the release in `alloc::uid`: a reader that sees a count sees those chunks.
        let layout = UidLayout(head.uid_layout.load(Ordering::Acquire));
        if place.chunk >= layout.chunks() || place.entry < UID_FIRST {
            return None;
        }
        let dir_entry = region.uid_dir(place.shard, place.chunk);
        // Pairs with the release that published the chunk: we see its entries.
        let page = dir_entry.load(Ordering::Acquire);
        let entry = region.uid_entry_seen(page, place.entry)?;
        Some(Self {
            region,
            head,
            layout,
            entry,
            // Pairs with the releases of `alloc::uid`: we see the item's bytes.
            word: entry.load(Ordering::Acquire),
            may_spoil: false,
        })
    }

    /// Takes what is wanted if the uid leads to a plain short item that has it. Returns whether it
    /// did.
    #[inline(always)]
    fn glance<S: Sought>(&self, hint: Hint, want: &mut impl Want) -> bool {
        short(self.item_with(flags_of::<S>()), hint, want) && self.recheck()
    }

    /// Returns the item that the uid leads to, if it has exactly these flags, which include that of
    /// a uid, and can be read without a check of the high-water mark.
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

    /// Returns whether the entry and its layout are unchanged. The layout is loaded before the
    /// entry, as the entry's page may have been given back to the system meanwhile; and after it,
    /// because if the versions of its entries began again, the layout rose before that.
    #[inline(always)]
    fn recheck(&self) -> bool {
        let layout = &self.head.uid_layout;
        // Pairs with the release fences of `alloc::write` before the bytes of a block change, and
        // of `alloc::pool` before those of a page do.
        fence(Ordering::Acquire);
        layout.load(Ordering::Relaxed) == self.layout.0
            // Pairs with the releases of `alloc::uid`: we see a layout that rose before.
            && self.entry.load(Ordering::Acquire) == self.word
            && layout.load(Ordering::Relaxed) == self.layout.0
    }

    #[inline(always)]
    fn examine<S: Sought>(&self, hint: Hint, want: &mut impl Want) -> Resolved {
        let UidEntry::Live { item_ref } = UidEntry::decode(self.word) else {
            return self.read_otherwise();
        };
        let Some(block) = self.region.block(item_ref) else {
            return Resolved::Impossible;
        };
        if let Some(fixed) = self.region.fixed() {
            return self.special::<S>(Item::fixed(self.region, block, item_ref, fixed), hint, want);
        }
        let header = Header::decode(block.first_word().load(Ordering::Relaxed));
        if header.flags != FLAG_UID {
            return self.special::<S>(Item::at(self.region, item_ref), hint, want);
        }
        match Item::plain(self.region, block, item_ref, header) {
            Some(item) => take::<S>(&item, hint, want),
            None => Resolved::Impossible,
        }
    }

    /// Continues [`Self::examine`] for an item with more fields than its uid. The chain of a large
    /// one is pinned, as in `read`.
    #[cold]
    #[inline(never)]
    fn special<S: Sought>(
        &self,
        item: Option<Item<'_>>,
        hint: Hint,
        want: &mut impl Want,
    ) -> Resolved {
        let Some(item) = item else {
            return Resolved::Impossible;
        };
        let pin = match item.is_large() {
            true => self.region.pin(item.first_page),
            false => None,
        };
        let Some(pin) = pin else {
            return match item.is_large() && !self.may_spoil {
                true => Resolved::Unpinned,
                false => take::<S>(&item, hint, want),
            };
        };
        let block = item.copied_block();
        if !self.recheck() {
            return Resolved::Changed;
        }
        match take::<S>(&item.pinned(&block), hint, want) {
            Resolved::Found => {
                want.keep(pin);
                Resolved::Taken
            }
            resolved => resolved,
        }
    }

    #[cold]
    fn read_otherwise(&self) -> Resolved {
        match UidEntry::decode(self.word) {
            UidEntry::Free { .. } => Resolved::Missing,
            UidEntry::InTransition { item_ref } => {
                let mut key = Vec::new();
                match Item::at(self.region, item_ref) {
                    Some(item) if KeyOf(&mut key).take(&item) => Resolved::InTransition(key),
                    _ => Resolved::Impossible,
                }
            }
            _ => Resolved::Impossible,
        }
    }
}

/// Returns the flags of an item that has a uid and no other field.
#[inline(always)]
fn flags_of<S: Sought>() -> u8 {
    FLAG_UID | if S::IS_TAG { FLAG_TAG } else { 0 }
}

/// Takes what is wanted of an item, if it is short and its uid is the one that was asked for.
#[inline(always)]
fn short(item: Option<Item<'_>>, hint: Hint, want: &mut impl Want) -> bool {
    let Some(item) = item else {
        return false;
    };
    let has = item.hint();
    has.uid() == hint.uid() && hint.means(has) && want.take_short(&item)
}

/// Takes what is wanted of an item, if its uid is the one that was asked for.
#[inline(always)]
fn take<S: Sought>(item: &Item<'_>, hint: Hint, want: &mut impl Want) -> Resolved {
    let has = item.hint();
    if has.uid() != hint.uid() {
        return Resolved::Impossible;
    }
    if !hint.means(has) || item.is_tag() != S::IS_TAG {
        return Resolved::Missing;
    }
    match S::is_over(item) {
        Some(true) => Resolved::Missing,
        Some(false) if want.take(item) => Resolved::Found,
        _ => Resolved::Impossible,
    }
}

/// Returns the value of a uid's key, if it is one aligned word: under the shard's lock it may be
/// changed in place.
///
/// The path is as short as that of [`UidView::glance`]: so the processor can fetch the entry of one
/// call while the item of the call before is still coming from memory.
#[inline(always)]
pub(crate) fn word_by_uid<'a>(lock: &ShardLock<'a>, hint: Hint) -> Option<&'a W64> {
    let item = UidView::seen(lock.region, hint)?.item_with(FLAG_UID)?;
    if hint.means(item.hint()) {
        item.value_word()
    } else {
        None
    }
}

/// Fetches the entry of a uid, for a read that follows. What it holds now counts for nothing.
#[inline(always)]
pub(crate) fn fetch_uid_entry(region: &Region, hint: Hint) {
    let place = region.uid_place(hint.uid());
    let page = region.uid_dir(place.shard, place.chunk);
    if let Some(entry) = region.uid_entry_seen(page.load(Ordering::Relaxed), place.entry) {
        prefetch(entry);
    }
}

/// Fetches the item that a uid leads to now, for a read that follows.
#[inline(always)]
pub(crate) fn fetch_uid_item(region: &Region, hint: Hint) {
    if let Some(view) = UidView::seen(region, hint)
        && let UidEntry::Live { item_ref } = UidEntry::decode(view.word)
    {
        region.prefetch_item(item_ref);
    }
}

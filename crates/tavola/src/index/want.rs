//! What a read takes of an item it has found. Each kind of read (value, key, uid, nothing) is a
//! type, so that the shared read code compiles to just the copies that this kind needs.

use crate::alloc::{Item, Shown, Tags, unused_for};
use crate::layout::{Bucket, FLAG_TAGGED, Hint};
use crate::region::Pinned;
use crate::sync::{Ordering, SHORT};

/// What a read takes of an item. A `Vec`, which is empty at first, takes the value; `()` takes
/// nothing.
pub(crate) trait Want {
    /// Whether no function gets a reference to it, so that it can stay in registers. Then the short
    /// path leaves a key that is not in its home bucket, or has other fields than a uid, to the
    /// long one.
    const STAYS: bool = false;

    /// Takes what is wanted of the key's item. It may be called several times, and on bytes that
    /// turn out to be invalid: only the last call counts. Returns false if the item could not be
    /// followed.
    fn take(&mut self, item: &Item<'_>) -> bool;

    /// Does what [`Self::take`] does for an item that is neither large nor a counter, if that takes
    /// few steps. Returns whether it did.
    #[inline(always)]
    fn take_short(&mut self, _: &Item<'_>) -> bool {
        false
    }

    /// Receives the pin of the large item that was taken last. A reader that still needs the item's
    /// pages keeps the pin.
    fn keep(&mut self, _: Pinned<'_>) {}

    /// Discards what was taken last, as the key is missing.
    #[inline(always)]
    fn forget(&mut self) {}

    /// Confirms what was taken last: it is valid, and the key is in this slot.
    #[inline(always)]
    fn seen(&mut self, _: &Bucket, _: usize) {}
}

/// A read of a cache's key that also finds out whether to note for the cache that the key was read.
pub(crate) struct NotesRead<'w, W> {
    want: &'w mut W,
    /// The slot's word if a note changes something, else 0.
    pub(crate) word: u64,
    /// A tag of the key whose use was not noted lately, or [`Hint::NONE`].
    pub(crate) tag: Hint,
}

impl<'w, W: Want> NotesRead<'w, W> {
    pub(crate) fn new(want: &'w mut W) -> Self {
        Self {
            want,
            word: 0,
            tag: Hint::NONE,
        }
    }
}

/// Returns a tag of an item whose use was not noted lately, or [`Hint::NONE`].
#[cold]
fn unused_tag(item: &Item<'_>) -> Hint {
    let tags = item.tags();
    let unused = |tag: &Hint| unused_for(item.region(), *tag) != 0;
    tags.hints().find(unused).unwrap_or(Hint::NONE)
}

impl<W: Want> Want for NotesRead<'_, W> {
    #[inline(always)]
    fn take(&mut self, item: &Item<'_>) -> bool {
        if item.flags() & FLAG_TAGGED != 0 {
            self.tag = unused_tag(item);
        }
        self.want.take(item)
    }

    #[inline(always)]
    fn take_short(&mut self, item: &Item<'_>) -> bool {
        if item.flags() & FLAG_TAGGED != 0 {
            self.tag = unused_tag(item);
        }
        self.want.take_short(item)
    }

    fn keep(&mut self, pin: Pinned<'_>) {
        self.want.keep(pin);
    }

    #[inline(always)]
    fn forget(&mut self) {
        self.want.forget();
    }

    #[inline(always)]
    fn seen(&mut self, bucket: &Bucket, slot: usize) {
        if bucket.accessed(slot).is_some() {
            self.word = bucket.slots[slot].load(Ordering::Relaxed);
        }
    }
}

impl Want for Vec<u8> {
    #[inline(always)]
    fn take(&mut self, item: &Item<'_>) -> bool {
        self.clear();
        item.copy_value(self)
    }

    #[inline(always)]
    fn take_short(&mut self, item: &Item<'_>) -> bool {
        item.copy_short_value(self)
    }

    #[inline(always)]
    fn forget(&mut self) {
        self.clear();
    }
}

/// A value, as it is wanted, and the other fields of its item.
pub(crate) struct Stamped<W> {
    pub(crate) value: W,
    pub(crate) shown: Shown,
}

impl<W> Stamped<W> {
    pub(crate) fn of(value: W) -> Self {
        Self {
            value,
            shown: Shown::default(),
        }
    }
}

impl<W: Want> Want for Stamped<W> {
    fn take(&mut self, item: &Item<'_>) -> bool {
        self.shown = item.shown();
        self.value.take(item)
    }

    fn take_short(&mut self, item: &Item<'_>) -> bool {
        self.shown = item.shown();
        self.value.take_short(item)
    }

    fn keep(&mut self, pin: Pinned<'_>) {
        self.value.keep(pin);
    }

    fn forget(&mut self) {
        self.value.forget();
    }
}

impl<W: Want> Want for &mut W {
    fn take(&mut self, item: &Item<'_>) -> bool {
        (**self).take(item)
    }

    fn take_short(&mut self, item: &Item<'_>) -> bool {
        (**self).take_short(item)
    }

    fn keep(&mut self, pin: Pinned<'_>) {
        (**self).keep(pin);
    }

    fn forget(&mut self) {
        (**self).forget();
    }

    fn seen(&mut self, bucket: &Bucket, slot: usize) {
        (**self).seen(bucket, slot);
    }
}

impl Want for Shown {
    fn take(&mut self, item: &Item<'_>) -> bool {
        *self = item.shown();
        true
    }

    fn take_short(&mut self, item: &Item<'_>) -> bool {
        self.take(item)
    }
}

impl Want for Tags {
    fn take(&mut self, item: &Item<'_>) -> bool {
        *self = item.tags();
        true
    }

    fn take_short(&mut self, item: &Item<'_>) -> bool {
        self.take(item)
    }
}

impl Want for () {
    #[inline(always)]
    fn take(&mut self, _: &Item<'_>) -> bool {
        true
    }

    #[inline(always)]
    fn take_short(&mut self, _: &Item<'_>) -> bool {
        true
    }
}

/// A value that, if it is short, is allocated only when it is known to be valid.
#[derive(Default)]
pub(crate) struct Value {
    short: [u8; SHORT],
    /// The length of the value in `short`; `None` if the value is in `long`.
    len: Option<usize>,
    long: Vec<u8>,
}

impl Value {
    pub(crate) fn into_vec(self) -> Vec<u8> {
        match self.len {
            Some(len) => self.short[..len].to_vec(),
            None => self.long,
        }
    }
}

impl Want for Value {
    #[inline(always)]
    fn take(&mut self, item: &Item<'_>) -> bool {
        self.len = None;
        self.long.take(item)
    }

    #[inline(always)]
    fn take_short(&mut self, item: &Item<'_>) -> bool {
        self.len = item.short_value(&mut self.short);
        self.len.is_some()
    }
}

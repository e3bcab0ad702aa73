//! What a read takes of an item it has found.

use crate::alloc::{Item, Shown, Tags, unused_for};
use crate::layout::{Bucket, FLAG_TAGGED, Hint};
use crate::region::Pinned;
use crate::sync::{Ordering, SHORT};

/// What a read wants of an item: a `Vec`, which begins empty, takes its value, `()` nothing.
pub(crate) trait Want {
    /// Whether what is asked for by uid is a tag, and not a key.
    const OF_TAG: bool = false;
    /// Whether it is handed to no call, so that it can stay in registers: then a key that is not in
    /// its home bucket, or has other fields than a uid, is not looked at by a short read.
    const STAYS: bool = false;

    /// Called with the key's item, maybe several times, and on bytes that turn out to be stale:
    /// only the last call counts. False: the item could not be followed.
    fn take(&mut self, item: &Item<'_>) -> bool;

    /// As [`Self::take`], of an item that is neither large nor a counter, where that takes few
    /// steps. False: it was not done.
    #[inline(always)]
    fn take_short(&mut self, _: &Item<'_>) -> bool {
        false
    }

    /// What was taken last was of a large item that is pinned: whoever has to do with its pages
    /// still keeps the pin.
    fn keep(&mut self, _: Pinned<'_>) {}

    /// What was taken last counts no more, as the key is missing.
    #[inline(always)]
    fn forget(&mut self) {}

    /// What was taken last is good, and its key stands there.
    #[inline(always)]
    fn seen(&mut self, _: &Bucket, _: usize) {}
}

/// What is wanted of a cache's key, and whether the cache is to be told that it was read.
pub(crate) struct Noted<'w, W> {
    want: &'w mut W,
    /// The slot's word, where telling changes something; else 0.
    pub(crate) word: u64,
    /// A tag of the key of which nobody has noted lately that it is used; or none.
    pub(crate) tag: Hint,
}

impl<'w, W: Want> Noted<'w, W> {
    pub(crate) fn new(want: &'w mut W) -> Self {
        Self {
            want,
            word: 0,
            tag: Hint::NONE,
        }
    }
}

/// A tag of an item of which nobody has noted lately that it is used; or none.
#[cold]
fn unused_tag(item: &Item<'_>) -> Hint {
    let tags = item.tags();
    let unused = |tag: &Hint| unused_for(item.region(), *tag) != 0;
    tags.hints().find(unused).unwrap_or(Hint::NONE)
}

impl<W: Want> Want for Noted<'_, W> {
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

/// A value, as it is wanted, and what stands beside it.
pub(crate) struct Stamped<W> {
    pub(crate) value: W,
    pub(crate) told: Shown,
}

impl<W> Stamped<W> {
    pub(crate) fn of(value: W) -> Self {
        Self {
            value,
            told: Shown::default(),
        }
    }
}

impl<W: Want> Want for Stamped<W> {
    fn take(&mut self, item: &Item<'_>) -> bool {
        self.told = item.shown();
        self.value.take(item)
    }

    fn take_short(&mut self, item: &Item<'_>) -> bool {
        self.told = item.shown();
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

/// A value that gets an allocation of its own when it is known to be good, if it is short.
#[derive(Default)]
pub(crate) struct Value {
    short: [u8; SHORT],
    /// Of `short`; `None`: the value is in `long`.
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

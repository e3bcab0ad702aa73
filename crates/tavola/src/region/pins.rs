//! Pins: a reader says which chain of pages it reads, and nobody frees that meanwhile.
//!
//! A reader of a large item (1) stores the chain's first page in one of its participant's pins, (2)
//! fences, (3) looks whether the item still is the key's. A writer that frees a chain (1) has
//! stored the slot that leads elsewhere and raised the version, (2) fences, (3) looks at all pins.
//! Both fences are sequentially consistent, so one of them comes first: if the reader's, the writer
//! sees the pin; if the writer's, the reader sees the version and takes its pin off again. So the
//! pages of a chain whose pin was found good are not written before the pin is gone.
//!
//! A writer that finds a pin leaves the chain to it: `Orphan`. A reader that takes off such a pin
//! does not free the chain, as it waits for no lock: it leaves that to the next writer (`Left`).
//! A chain that two readers pin is left to one of them, then to the other. The states stand in
//! `layout::pin`, what happens to the pages in `alloc::orphans`.

use super::Region;
use crate::layout::{PARTICIPANTS, PINS, PinWord};
use crate::sync::{Ordering, W32, W64, fence};
use crate::sys;

/// Where this process pins: the slot of its participant.
pub(super) struct Seat {
    /// The process generation that has the slot; another one means a forked child, which has none.
    generation: W64,
    slot: W32,
    /// Where the next thread looks for a free pin first.
    next: W32,
}

impl Seat {
    pub(super) const fn new() -> Self {
        Self {
            generation: W64::new(0),
            slot: W32::new(0),
            next: W32::new(0),
        }
    }
}

/// A pin that a reader holds, to be given to [`Region::unpin`].
#[derive(Debug)]
pub(crate) struct Pin {
    slot: u32,
    index: u32,
    first: u32,
    generation: u64,
}

/// A pin that is taken off when it is dropped.
pub(crate) struct Pinned<'a> {
    region: &'a Region,
    pin: Option<Pin>,
}

impl Pinned<'_> {
    /// The pin, which stays.
    pub(crate) fn keep(mut self) -> Option<Pin> {
        self.pin.take()
    }
}

impl Drop for Pinned<'_> {
    fn drop(&mut self) {
        if let Some(pin) = self.pin.take() {
            self.region.unpin(pin);
        }
    }
}

impl Region {
    /// This process is the participant with that slot: its readers pin there.
    pub(crate) fn take_seat(&self, slot: u32) {
        self.seat.slot.store(slot, Ordering::Relaxed);
        // Pairs with the acquire in `seat`.
        let generation = sys::process::generation();
        self.seat.generation.store(generation, Ordering::Release);
    }

    /// It is no participant any more.
    pub(crate) fn leave_seat(&self) {
        self.seat.generation.store(0, Ordering::Release);
    }

    /// The slot at which readers of this process pin; `None`: it is no participant.
    pub(crate) fn seat(&self) -> Option<u32> {
        // Pairs with the release in `take_seat`.
        let generation = self.seat.generation.load(Ordering::Acquire);
        let is_ours = generation != 0 && generation == sys::process::generation();
        is_ours.then(|| self.seat.slot.load(Ordering::Relaxed))
    }

    /// Pins the chain that begins with a page. The caller looks afterwards whether the item that
    /// led there still does. `None`: this process is no participant, or all of its pins are in use.
    pub(crate) fn pin(&self, first: u32) -> Option<Pinned<'_>> {
        let slot = self.seat()?;
        if !self.is_page(first) {
            return None;
        }
        let held = PinWord::Held { first }.encode();
        let begin = self.seat.next.fetch_add(1, Ordering::Relaxed) as usize;
        let pins = &self.participant(slot).pins;
        let index = (0..PINS)
            .map(|i| (begin + i) % PINS)
            .find(|i| pins[*i].cas(0, held, Ordering::Relaxed).is_ok())?;
        // Pairs with the fence in `leave_to_reader`: see above.
        fence(Ordering::SeqCst);
        Some(Pinned {
            region: self,
            pin: Some(Pin {
                slot,
                index: index as u32,
                first,
                generation: sys::process::generation(),
            }),
        })
    }

    /// Takes a pin off; a forked child, whose parent's pin it is, does not.
    pub(crate) fn unpin(&self, pin: Pin) {
        if pin.generation == sys::process::generation() {
            let word = &self.participant(pin.slot).pins[pin.index as usize];
            self.take_off(word, pin.first);
        }
    }

    /// A death after the first exchange leaves an orphan of a dead participant, one after the
    /// second a chain that is found when pages run short.
    fn take_off(&self, word: &W32, first: u32) {
        let held = PinWord::Held { first }.encode();
        // Pairs with the acquire in `leave_to_reader`: the pages have been read.
        if word.cas(held, 0, Ordering::Release).is_ok() {
            return;
        }
        let orphan = PinWord::Orphan { first }.encode();
        let left = PinWord::Left { first }.encode();
        // Pairs with the acquire in `alloc::orphans`.
        if word.cas(orphan, left, Ordering::Release).is_ok() {
            self.expect_orphans();
        }
    }

    /// Takes off all pins of a participant that has ended, or is just beginning.
    pub(crate) fn take_pins_off(&self, slot: u32) {
        for word in &self.participant(slot).pins {
            match PinWord::decode(word.load(Ordering::Relaxed)) {
                PinWord::Held { first } | PinWord::Orphan { first } => self.take_off(word, first),
                PinWord::Left { .. } => self.expect_orphans(),
                // Damage.
                PinWord::Free => word.store(0, Ordering::Relaxed),
            }
        }
    }

    /// Chains are to be freed whose readers have gone.
    pub(crate) fn expect_orphans(&self) {
        self.superblock().orphans.store(1, Ordering::Relaxed);
    }

    /// Whether there may be such.
    #[inline(always)]
    pub(crate) fn may_have_orphans(&self) -> bool {
        self.superblock().orphans.load(Ordering::Relaxed) != 0
    }

    /// All pins of all who ever were participants.
    pub(crate) fn pins(&self) -> impl Iterator<Item = &W32> {
        let last = self.superblock().last_slot.load(Ordering::Relaxed);
        (1..=last.min(PARTICIPANTS - 1)).flat_map(|slot| self.participant(slot).pins.iter())
    }

    /// Leaves a chain that no item leads to any more to a reader that has it pinned. False: nobody
    /// has. Under the lock of the chain's shard.
    pub(crate) fn leave_to_reader(&self, first: u32) -> bool {
        let held = PinWord::Held { first }.encode();
        let orphan = PinWord::Orphan { first }.encode();
        // Pairs with the fence in `pin`: see above.
        fence(Ordering::SeqCst);
        self.pins().any(|word| {
            // Pairs with the release in `take_off`, by which the reader has read all it wanted.
            // Who takes a pin off just now, and pins the same page anew, finds it is not good.
            word.load(Ordering::Acquire) == held
                && word.cas(held, orphan, Ordering::Acquire).is_ok()
        })
    }

    /// Bytes of pages of a chain that the caller has pinned, and looked at since whether that pin
    /// is good, for as long as it is.
    pub(crate) fn lent(&self, offset: u64, len: u64) -> &[u8] {
        let start = self.bytes(offset, len);
        // SAFETY: inside the region, which stays mapped (REG-3); nobody writes to a chain that was
        // published as long as it is pinned.
        unsafe { std::slice::from_raw_parts(start, len as usize) }
    }
}

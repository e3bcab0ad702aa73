//! Pins: a reader names the chain of pages that it reads, and no writer frees the chain meanwhile.
//! Reader and writer each store, fence and load, so that at least one of them sees the other.
//!
//! A reader of a large item (1) stores the chain's first page in one of its participant's pins, (2)
//! fences, (3) checks whether the item is still the key's. A writer that frees a chain (1) has
//! stored the slot that leads elsewhere and incremented the version, (2) fences, (3) loads all
//! pins. Both fences are sequentially consistent, so one of them comes first. If the reader's does,
//! the writer sees the pin. If the writer's does, the reader sees the version and removes its pin
//! again. So once a reader has found its pin valid, the pages of the chain are not written before
//! the pin is removed (ALLOC-5).
//!
//! A writer that finds a pin leaves the chain to it: the pin becomes `Orphan`. A reader that
//! removes such a pin does not free the chain, as that would take a lock: it leaves it to the next
//! writer (`Left`). A chain that two readers have pinned is left to one of them, then to the other.
//! The states are in `layout::pin`, and what happens to the pages in `alloc::orphans`.

use super::Region;
use crate::layout::{PARTICIPANTS, PINS, PinWord};
use crate::sync::{Ordering, W32, W64, fence};
use crate::sys;

/// The participant slot in which readers of this process pin.
pub(super) struct PinSlot {
    /// The process generation that has the slot. In another one this is a forked child, which has
    /// none.
    generation: W64,
    slot: W32,
    /// Where the next thread starts its search for a free pin.
    next: W32,
}

impl PinSlot {
    pub(super) const fn new() -> Self {
        Self {
            generation: W64::new(0),
            slot: W32::new(0),
            next: W32::new(0),
        }
    }
}

/// A pin that a reader holds, which has to be passed to [`Region::unpin`].
#[derive(Debug)]
pub(crate) struct Pin {
    slot: u32,
    index: u32,
    first: u32,
    generation: u64,
}

/// A pin that is removed when it is dropped.
pub(crate) struct Pinned<'a> {
    region: &'a Region,
    pin: Option<Pin>,
}

impl Pinned<'_> {
    /// Returns the pin, which then is not removed.
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
    /// Notes that this process is the participant with that slot: its readers pin there.
    pub(crate) fn take_pin_slot(&self, slot: u32) {
        self.pin_slot.slot.store(slot, Ordering::Relaxed);
        // Pairs with the acquire in `pin_slot`.
        let generation = sys::process::generation();
        self.pin_slot
            .generation
            .store(generation, Ordering::Release);
    }

    /// Notes that the process is not a participant any more.
    pub(crate) fn leave_pin_slot(&self) {
        self.pin_slot.generation.store(0, Ordering::Release);
    }

    /// Returns the slot in which readers of this process pin, or `None` if it is not a participant.
    pub(crate) fn pin_slot(&self) -> Option<u32> {
        // Pairs with the release in `take_pin_slot`.
        let generation = self.pin_slot.generation.load(Ordering::Acquire);
        let is_ours = generation != 0 && generation == sys::process::generation();
        is_ours.then(|| self.pin_slot.slot.load(Ordering::Relaxed))
    }

    /// Pins the chain that begins with a page. The caller checks afterwards whether the item that
    /// led there still does. Returns `None` if this process is not a participant, or all its pins
    /// are in use.
    pub(crate) fn pin(&self, first: u32) -> Option<Pinned<'_>> {
        let slot = self.pin_slot()?;
        if !self.is_page(first) {
            return None;
        }
        let held = PinWord::Held { first }.encode();
        let begin = self.pin_slot.next.fetch_add(1, Ordering::Relaxed) as usize;
        let pins = &self.participant(slot).pins;
        let index = (0..PINS)
            .map(|i| (begin + i) % PINS)
            .find(|i| pins[*i].cas(0, held, Ordering::Relaxed).is_ok())?;
        // Pairs with the fence in `leave_to_reader`: see the head of this file.
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

    /// Removes a pin. A forked child does not, as the pin is its parent's.
    pub(crate) fn unpin(&self, pin: Pin) {
        if pin.generation == sys::process::generation() {
            let word = &self.participant(pin.slot).pins[pin.index as usize];
            self.take_off(word, pin.first);
        }
    }

    /// Removes the pin of a chain. If the participant dies before it, the pin is that of a dead
    /// participant. If it dies after the second exchange, the chain is found when pages run short.
    fn take_off(&self, word: &W32, first: u32) {
        let held = PinWord::Held { first }.encode();
        // Pairs with the acquire in `leave_to_reader`: the reader has read the pages by now.
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

    /// Removes all pins of a participant that has ended, or is just beginning.
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

    /// Notes that there are chains to free whose readers have gone.
    pub(crate) fn expect_orphans(&self) {
        self.superblock().orphans.store(1, Ordering::Relaxed);
    }

    /// Returns whether there may be such chains.
    #[inline(always)]
    pub(crate) fn may_have_orphans(&self) -> bool {
        self.superblock().orphans.load(Ordering::Relaxed) != 0
    }

    /// Returns the pins of all slots that were ever used.
    pub(crate) fn pins(&self) -> impl Iterator<Item = &W32> {
        let last = self.superblock().last_slot.load(Ordering::Relaxed);
        (1..=last.min(PARTICIPANTS - 1)).flat_map(|slot| self.participant(slot).pins.iter())
    }

    /// Leaves a chain that no item leads to any more to a reader that has pinned it. Returns false
    /// if no reader has. Under the lock of the chain's shard.
    pub(crate) fn leave_to_reader(&self, first: u32) -> bool {
        let held = PinWord::Held { first }.encode();
        let orphan = PinWord::Orphan { first }.encode();
        // Pairs with the fence in `pin`: see the head of this file.
        fence(Ordering::SeqCst);
        self.pins().any(|word| {
            // Pairs with the release in `take_off`: the reader has read all it wanted. If a reader
            // just now removes a pin and pins the same page again, it finds that its new pin is not
            // valid.
            word.load(Ordering::Acquire) == held
                && word.cas(held, orphan, Ordering::Acquire).is_ok()
        })
    }

    /// Returns bytes of a pinned chain. The caller has checked, after pinning, that the pin is
    /// valid, and uses the bytes only while the pin is held.
    pub(crate) fn lent(&self, offset: u64, len: u64) -> &[u8] {
        let start = self.bytes(offset, len);
        // SAFETY: inside the region, which stays mapped (REG-3); no process writes to a chain that
        // was published as long as it is pinned.
        unsafe { std::slice::from_raw_parts(start, len as usize) }
    }
}

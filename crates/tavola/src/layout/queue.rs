//! A pool of queues, in an extent: elements, an owner's word for each, and rings of element
//! numbers.
//!
//! ```text
//! 0          head                        64 B: numbers, from which all offsets are computed
//! queues     queue heads                 256 B each, the first `named` of which have names
//! owners     4 B an element              0: it is in a queue; else the participant that holds it
//! rings      4 B a slot, for each queue  numbers of elements, by position
//! elements   `stride` B each
//! ```
//!
//! A ring has at least as many slots as there are elements, and an element is in one queue at most:
//! so no ring is ever full.

use super::{MAX_SIZE, Name, assert_layout};
use crate::sync::{Ordering, W32, W64};

/// The most elements of a pool.
pub(crate) const MOST_ELEMENTS: u32 = 1 << 30;
/// The most queues of a pool.
pub(crate) const MOST_QUEUES: u32 = 1 << 16;
/// The name of a queue: 56 bytes at most.
pub(crate) type QueueName = Name<7>;

/// `TavolaQP`.
const MAGIC: u64 = u64::from_le_bytes(*b"TavolaQP");

/// The beginning of a pool. Only `named` ever changes.
#[repr(C, align(64))]
pub(crate) struct QueuePoolHead {
    /// `TavolaQP`.
    magic: W64,
    /// Elements.
    elements: W32,
    /// Bytes of an element.
    element_bytes: W32,
    /// Queues that there is room for.
    queues: W32,
    reserved: W32,
    /// Of the words before it.
    checksum: W64,
    /// How many queues, counted from the first, have names. Names never change. The number rises
    /// under the pool's lock, and never falls.
    named: W32,
    reserved_named: W32,
    unused: [W64; 3],
}
assert_layout!(QueuePoolHead, size 64, {
    magic: 0, elements: 8, element_bytes: 12, queues: 16, reserved: 20, checksum: 24, named: 32,
    reserved_named: 36, unused: 40,
});

/// One queue. Pushing and popping have a lock each, on cache lines of their own.
#[repr(C, align(64))]
pub(crate) struct QueueHead {
    /// The lock word for pushing.
    pub(crate) push_lock: W32,
    /// 1: a thread may be sleeping on `pushes`. Changed under the push lock.
    pub(crate) sleepers: W32,
    /// Rises before sleepers are woken.
    pub(crate) pushes: W32,
    reserved_push: W32,
    /// [`QueueJournal`] of a push that has begun.
    pub(crate) push_journal: W64,
    unused_push: [W64; 5],
    /// Elements ever pushed, modulo 2^32.
    pub(crate) tail: W32,
    reserved_tail: W32,
    unused_tail: [W64; 7],
    /// The lock word for popping.
    pub(crate) pop_lock: W32,
    /// Elements ever popped, modulo 2^32.
    pub(crate) head: W32,
    /// A copy of `tail` as a pop last read it. Changed under the pop lock.
    pub(crate) seen_tail: W32,
    reserved_pop: W32,
    /// [`QueueJournal`] of a pop that has begun.
    pub(crate) pop_journal: W64,
    unused_pop: [W64; 5],
    pub(crate) name: QueueName,
}
assert_layout!(QueueHead, size 256, {
    push_lock: 0, sleepers: 4, pushes: 8, reserved_push: 12, push_journal: 16, unused_push: 24,
    tail: 64, reserved_tail: 68, unused_tail: 72,
    pop_lock: 128, head: 132, seen_tail: 136, reserved_pop: 140, pop_journal: 144, unused_pop: 152,
    name: 192,
});

/// What a push or pop is about to move: `count 32 | position 32`. It is valid as long as `tail` or
/// `head` still has that position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct QueueJournal {
    pub(crate) position: u32,
    pub(crate) count: u32,
}

impl QueueJournal {
    pub(crate) fn encode(self) -> u64 {
        u64::from(self.position) | u64::from(self.count) << 32
    }

    pub(crate) fn decode(word: u64) -> Self {
        Self {
            position: word as u32,
            count: (word >> 32) as u32,
        }
    }
}

/// Offsets in a pool, all computed from three numbers. Part of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct QueueGeometry {
    pub(crate) elements: u32,
    pub(crate) element_bytes: u32,
    pub(crate) queues: u32,
    /// Slots of a ring minus 1.
    pub(crate) ring_mask: u32,
    /// Bytes from one element to the next.
    pub(crate) stride: u64,
    pub(crate) owners_off: u64,
    pub(crate) rings_off: u64,
    pub(crate) elements_off: u64,
    /// The length of the pool in bytes.
    pub(crate) len: u64,
}

impl QueueGeometry {
    /// Returns the geometry, or `None` if no such pool can be created.
    pub(crate) fn new(elements: u32, element_bytes: u32, queues: u32) -> Option<Self> {
        if !(1..=MOST_ELEMENTS).contains(&elements) || !(1..=MOST_QUEUES).contains(&queues) {
            return None;
        }
        let slots = elements.next_power_of_two();
        let stride = u64::from(element_bytes).next_multiple_of(8);
        let heads_end =
            size_of::<QueuePoolHead>() as u64 + u64::from(queues) * size_of::<QueueHead>() as u64;
        let owners_off = heads_end;
        let rings_off = (owners_off + u64::from(elements) * 4).next_multiple_of(64);
        let rings = (u64::from(slots) * 4).next_multiple_of(64);
        let elements_off = (rings_off + u64::from(queues) * rings).next_multiple_of(4096);
        let len = elements_off + u64::from(elements) * stride;
        (len < MAX_SIZE).then_some(Self {
            elements,
            element_bytes,
            queues,
            ring_mask: slots - 1,
            stride,
            owners_off,
            rings_off,
            elements_off,
            len,
        })
    }

    /// Returns the offset of a queue's head.
    pub(crate) fn queue_off(&self, queue: u32) -> u64 {
        size_of::<QueuePoolHead>() as u64 + u64::from(queue) * size_of::<QueueHead>() as u64
    }

    /// Returns the offset of a queue's ring.
    pub(crate) fn ring_off(&self, queue: u32) -> u64 {
        let ring = ((u64::from(self.ring_mask) + 1) * 4).next_multiple_of(64);
        self.rings_off + u64::from(queue) * ring
    }
}

impl QueuePoolHead {
    pub(crate) fn init(&self, geometry: &QueueGeometry, named: u32) {
        self.set_named(named);
        self.elements.store(geometry.elements, Ordering::Relaxed);
        self.element_bytes
            .store(geometry.element_bytes, Ordering::Relaxed);
        self.queues.store(geometry.queues, Ordering::Relaxed);
        self.magic.store(MAGIC, Ordering::Relaxed);
        self.checksum.store(self.sum(), Ordering::Relaxed);
    }

    /// Returns the geometry that the head describes, or `None` if the head is damaged.
    pub(crate) fn verify(&self) -> Option<QueueGeometry> {
        let is_whole = self.magic.load(Ordering::Relaxed) == MAGIC
            && self.checksum.load(Ordering::Relaxed) == self.sum();
        let [elements, bytes, queues] = self.numbers();
        QueueGeometry::new(elements, bytes, queues).filter(|_| is_whole)
    }

    /// Returns how many queues have names, or `None` if the number is damaged.
    pub(crate) fn named(&self, geometry: &QueueGeometry) -> Option<u32> {
        // Pairs with the release in `set_named`.
        let named = self.named.load(Ordering::Acquire);
        (1..=geometry.queues).contains(&named).then_some(named)
    }

    /// Sets how many queues have names, after these names were stored.
    pub(crate) fn set_named(&self, named: u32) {
        // Pairs with the acquire in `named`: a process that sees the count also sees the names.
        self.named.store(named, Ordering::Release);
    }

    fn numbers(&self) -> [u32; 3] {
        [&self.elements, &self.element_bytes, &self.queues].map(|word| word.load(Ordering::Relaxed))
    }

    fn sum(&self) -> u64 {
        let [elements, bytes, queues] = self.numbers().map(u64::from);
        super::fold::fold(&[MAGIC, elements, bytes, queues])
    }
}

impl QueueHead {
    pub(crate) fn init(&self, name: &[u8]) {
        let order = Ordering::Relaxed;
        for word in [
            &self.push_lock,
            &self.sleepers,
            &self.pushes,
            &self.tail,
            &self.pop_lock,
            &self.head,
            &self.seen_tail,
        ] {
            word.store(0, order);
        }
        self.push_journal.store(0, order);
        self.pop_journal.store(0, order);
        self.name.set(name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn areas_follow_one_another_and_a_ring_has_room_for_all() {
        for (elements, bytes, queues) in [(1, 0, 1), (100_000, 64, 3), (MOST_ELEMENTS, 9, 2)] {
            let g = QueueGeometry::new(elements, bytes, queues).unwrap();
            assert!(g.ring_mask + 1 >= elements && (g.ring_mask + 1).is_power_of_two());
            assert!(g.queue_off(queues) <= g.owners_off);
            assert!(g.owners_off + u64::from(elements) * 4 <= g.rings_off);
            assert!(g.ring_off(queues) <= g.elements_off);
            assert!(g.elements_off + u64::from(elements) * g.stride == g.len);
            assert!(g.stride >= u64::from(bytes) && g.stride.is_multiple_of(8));
        }
        assert!(QueueGeometry::new(0, 8, 1).is_none());
        assert!(QueueGeometry::new(1, 8, 0).is_none());
        assert!(QueueGeometry::new(MOST_ELEMENTS, u32::MAX, 1).is_none());
    }

    #[test]
    fn a_journal_survives_its_word() {
        let journal = QueueJournal {
            position: u32::MAX,
            count: 7,
        };
        assert_eq!(QueueJournal::decode(journal.encode()), journal);
    }
}

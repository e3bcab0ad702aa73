//! Pushing and popping: each is valid by one store, of `tail` or of `head`.
//!
//! Everything before that store can be undone, because a journal names the positions concerned. The
//! table in `queue/mod.rs` says what counts before and after the store.

use crate::error::{Error, Result, corrupt};
use crate::layout::{QueueGeometry, QueueHead, QueueJournal};
use crate::lock::{ABANDONED, End, EndLock, Me, Taken};
use crate::region::Region;
use crate::sync::{Ordering, W32, W64};

/// The most elements that are moved under one hold of a lock, which takes some microseconds.
pub(crate) const RUN: usize = 1024;

/// A queue's head, its ring, and the owner's words of all elements of its pool.
#[derive(Clone, Copy)]
pub(crate) struct Ends<'a> {
    pub(crate) region: &'a Region,
    pub(crate) head: &'a QueueHead,
    pub(crate) ring: &'a [W32],
    pub(crate) owners: &'a [W32],
}

impl<'a> Ends<'a> {
    #[inline(always)]
    pub(crate) fn of(region: &'a Region, base: u64, pool: &QueueGeometry, queue: u32) -> Self {
        Self {
            region,
            head: region.queue_head(base + pool.queue_off(queue)),
            ring: region.words(base + pool.ring_off(queue), pool.ring_mask + 1),
            owners: region.words(base + pool.owners_off, pool.elements),
        }
    }

    /// Returns the slot of a position. The number of slots is a power of two.
    #[inline(always)]
    pub(crate) fn slot(&self, position: u32) -> &'a W32 {
        &self.ring[position as usize & (self.ring.len() - 1)]
    }

    /// Returns the owner's word of an element, or `None` if the number, which comes from shared
    /// memory or from a caller, names no element.
    #[inline(always)]
    fn owner(&self, element: u32) -> Option<&'a W32> {
        self.owners.get(element as usize)
    }

    /// Returns whether this participant holds an element; the answer is the same at every queue of
    /// a pool.
    pub(crate) fn is_held(&self, me: Me, element: u32) -> bool {
        let word = self.owner(element);
        word.is_some_and(|word| word.load(Ordering::Relaxed) == me.id())
    }

    /// Locks the end at which elements are pushed. If its last owner died, undoes that one's push
    /// first.
    #[inline(always)]
    pub(crate) fn lock_push(&self, me: Me) -> Result<EndLock<'a>> {
        let (lock, taken) = EndLock::acquire(self.region, &self.head.push_lock, me, End::Push)?;
        if let Taken::FromDead { owner } = taken {
            self.finish_push(owner);
        }
        Ok(lock)
    }

    /// Locks the end at which elements are popped, in the same way.
    #[inline(always)]
    pub(crate) fn lock_pop(&self, me: Me) -> Result<EndLock<'a>> {
        let (lock, taken) = EndLock::acquire(self.region, &self.head.pop_lock, me, End::Pop)?;
        if let Taken::FromDead { .. } = taken {
            self.finish_pop();
        }
        Ok(lock)
    }

    /// Undoes a push that did not store `tail` (QUEUE-1): the dead pusher holds its elements again.
    #[cold]
    fn finish_push(&self, dead: u32) {
        let head = self.head;
        // A damaged lock word may name no owner.
        let dead = if dead == 0 { ABANDONED } else { dead };
        let tail = head.tail.load(Ordering::Relaxed);
        self.finish(&head.push_journal, tail, RUN as u32, |word| {
            if word.load(Ordering::Relaxed) == 0 {
                word.store(dead, Ordering::Relaxed);
            }
        });
        // The dead process may have pushed and died before it woke the sleepers: the next push
        // wakes them.
        head.sleepers.store(1, Ordering::Relaxed);
    }

    /// Undoes a pop that did not store `head` (QUEUE-1): its elements are in the queue again.
    #[cold]
    fn finish_pop(&self) {
        let queue = self.head;
        let head = queue.head.load(Ordering::Relaxed);
        // Pairs with the release in `push`.
        let there = queue.tail.load(Ordering::Acquire).wrapping_sub(head);
        self.finish(&queue.pop_journal, head, there, |word| {
            word.store(0, Ordering::Relaxed);
        });
    }

    /// Calls `back` with the owner's words that a journal names, if the journal still counts: its
    /// position is that of the end, so the store that makes the push or pop valid was not made.
    fn finish(&self, journal: &W64, position: u32, most: u32, back: impl Fn(&W32)) {
        let entry = QueueJournal::decode(journal.load(Ordering::Relaxed));
        if entry.position == position {
            for at in 0..entry.count.min(most).min(RUN as u32) {
                let element = self.slot(position.wrapping_add(at)).load(Ordering::Relaxed);
                self.owner(element).into_iter().for_each(&back);
            }
        }
        // Must happen before the lock is free: the journal must not be taken for that of a later
        // owner that dies.
        journal.store(0, Ordering::Relaxed);
    }

    /// Pushes at most [`RUN`] elements, all or none. Returns whether a thread may be sleeping until
    /// something is pushed.
    #[inline(always)]
    pub(crate) fn push(&self, me: Me, elements: &[u32]) -> Result<bool> {
        debug_assert!(elements.len() <= RUN, "a run that is too long");
        let head = self.head;
        let _lock = self.lock_push(me)?;
        let tail = head.tail.load(Ordering::Relaxed);
        let journal = |count: usize| {
            let count = count as u32;
            let position = tail;
            head.push_journal
                .store(QueueJournal { position, count }.encode(), Ordering::Relaxed);
        };
        for (at, element) in elements.iter().enumerate() {
            match self.owner(*element) {
                Some(word) if word.load(Ordering::Relaxed) == me.id() => {
                    // The order is slot, journal, word. So the ring names every element that the
                    // journal counts, and this participant held each of them, whatever its word
                    // says now.
                    self.slot(tail.wrapping_add(at as u32))
                        .store(*element, Ordering::Relaxed);
                    journal(at + 1);
                    word.store(0, Ordering::Relaxed);
                }
                _ => {
                    self.put_back(&elements[..at], me.id());
                    journal(0);
                    return Err(Error::NotHeld { element: *element });
                }
            }
        }
        // Pairs with the acquire in `pop`: a process that sees the new position also sees the
        // slots, the words and the bytes of the elements.
        head.tail
            .store(tail.wrapping_add(elements.len() as u32), Ordering::Release);
        let sleepers = head.sleepers.load(Ordering::Relaxed) != 0;
        if sleepers {
            head.sleepers.store(0, Ordering::Relaxed);
            head.pushes.add_owned(1);
        }
        Ok(sleepers)
    }

    /// Stores `owner` in the words of these elements again, after a push or pop that failed.
    #[cold]
    fn put_back(&self, elements: &[u32], owner: u32) {
        for element in elements {
            if let Some(word) = self.owner(*element) {
                word.store(owner, Ordering::Relaxed);
            }
        }
    }

    /// Pops at most [`RUN`] elements, and returns how many.
    #[inline(always)]
    pub(crate) fn pop(&self, me: Me, out: &mut [u32]) -> Result<usize> {
        let queue = self.head;
        if self.is_known_empty() {
            return Ok(0);
        }
        let _lock = self.lock_pop(me)?;
        let head = queue.head.load(Ordering::Relaxed);
        let wanted = out.len().min(RUN) as u32;
        let mut there = queue.seen_tail.load(Ordering::Relaxed).wrapping_sub(head);
        if there < wanted || there > self.owners.len() as u32 {
            // Pairs with the release in `push`.
            let tail = queue.tail.load(Ordering::Acquire);
            queue.seen_tail.store(tail, Ordering::Relaxed);
            there = tail.wrapping_sub(head);
        }
        if there > self.owners.len() as u32 {
            return corrupt("the positions of a queue");
        }
        let count = there.min(wanted);
        if count == 0 {
            return Ok(0);
        }
        let position = head;
        queue
            .pop_journal
            .store(QueueJournal { position, count }.encode(), Ordering::Relaxed);
        let popped = &mut out[..count as usize];
        for at in 0..count {
            let element = self.slot(head.wrapping_add(at)).load(Ordering::Relaxed);
            match self.owner(element) {
                Some(word) if word.load(Ordering::Relaxed) == 0 => {
                    word.store(me.id(), Ordering::Relaxed);
                }
                _ => {
                    self.put_back(&popped[..at as usize], 0);
                    queue.pop_journal.store(0, Ordering::Relaxed);
                    return corrupt("an element in a queue");
                }
            }
            popped[at as usize] = element;
        }
        // Pairs with the acquire in `len`.
        queue
            .head
            .store(head.wrapping_add(count), Ordering::Release);
        Ok(count as usize)
    }

    /// Returns whether the queue is empty, without the lock and without a store: polling does not
    /// dirty the cache line.
    #[inline(always)]
    fn is_known_empty(&self) -> bool {
        let head = self.head.head.load(Ordering::Relaxed);
        self.head.seen_tail.load(Ordering::Relaxed) == head && self.len() == 0
    }

    /// Returns how many elements are in the queue at this moment; others may push and pop
    /// meanwhile.
    pub(crate) fn len(&self) -> u32 {
        // The head comes first, so that the tail is not behind it. Pairs with the release stores of
        // both.
        let head = self.head.head.load(Ordering::Acquire);
        let tail = self.head.tail.load(Ordering::Acquire);
        tail.wrapping_sub(head).min(self.owners.len() as u32)
    }

    /// Announces that this thread is about to sleep until something is pushed.
    pub(crate) fn announce(&self, me: Me) -> Announced {
        let Some(_lock) = EndLock::try_acquire(&self.head.push_lock, me, End::Push) else {
            return Announced::NotNow;
        };
        if self.len() != 0 {
            return Announced::There;
        }
        self.head.sleepers.store(1, Ordering::Relaxed);
        Announced::Until(self.head.pushes.load(Ordering::Relaxed))
    }

    /// Passes a wake-up on, since others may be sleeping as well. Returns true if one of them must
    /// be woken: elements are left, or a push is under way and may add some.
    pub(crate) fn pass_on(&self, me: Me) -> bool {
        let Some(_lock) = EndLock::try_acquire(&self.head.push_lock, me, End::Push) else {
            return true;
        };
        let more = self.len() != 0;
        if more {
            self.head.pushes.add_owned(1);
        }
        self.head.sleepers.store(1, Ordering::Relaxed);
        more
    }
}

/// The answer to a thread that wants to sleep.
pub(crate) enum Announced {
    /// There is an element to pop.
    There,
    /// The thread may sleep as long as `pushes` has this value.
    Until(u32),
    /// Another thread holds the lock: the caller tries again later.
    NotNow,
}

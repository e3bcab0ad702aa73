//! Pushing and popping.

use crate::error::{Error, Result, corrupt};
use crate::layout::{Journal, QueueGeometry, QueueHead};
use crate::lock::{ABANDONED, End, EndLock, Me, Taken};
use crate::region::Region;
use crate::sync::{Ordering, W32, W64};

/// Elements moved under one hold of a lock: some microseconds.
pub(crate) const RUN: usize = 1024;

/// A queue's head, its ring, and the words of all elements of its pool.
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

    /// The slot of a position. The slots are a power of two.
    #[inline(always)]
    pub(crate) fn slot(&self, position: u32) -> &'a W32 {
        &self.ring[position as usize & (self.ring.len() - 1)]
    }

    /// The word of an element whose number was read from shared memory, or came from a caller.
    #[inline(always)]
    fn owner(&self, element: u32) -> Option<&'a W32> {
        self.owners.get(element as usize)
    }

    /// Whether a participant holds an element; every end of a pool tells the same.
    pub(crate) fn is_held(&self, me: Me, element: u32) -> bool {
        let word = self.owner(element);
        word.is_some_and(|word| word.load(Ordering::Relaxed) == me.id())
    }

    /// Locks where is pushed, settling what its last owner left if that one died.
    #[inline(always)]
    pub(crate) fn lock_push(&self, me: Me) -> Result<EndLock<'a>> {
        let (lock, taken) = EndLock::acquire(self.region, &self.head.push_lock, me, End::Push)?;
        if let Taken::FromDead { owner } = taken {
            self.finish_push(owner);
        }
        Ok(lock)
    }

    /// Locks where is popped.
    #[inline(always)]
    pub(crate) fn lock_pop(&self, me: Me) -> Result<EndLock<'a>> {
        let (lock, taken) = EndLock::acquire(self.region, &self.head.pop_lock, me, End::Pop)?;
        if let Taken::FromDead { .. } = taken {
            self.finish_pop();
        }
        Ok(lock)
    }

    /// QUEUE-1: a push that was not done has not begun; its elements are the dead one's.
    #[cold]
    fn finish_push(&self, dead: u32) {
        let head = self.head;
        // A lock word that was damaged names nobody.
        let dead = if dead == 0 { ABANDONED } else { dead };
        let tail = head.tail.load(Ordering::Relaxed);
        self.finish(&head.push_journal, tail, RUN as u32, |word| {
            if word.load(Ordering::Relaxed) == 0 {
                word.store(dead, Ordering::Relaxed);
            }
        });
        // It may have died before it woke those who wait for what it had pushed: the next push
        // does.
        head.sleepers.store(1, Ordering::Relaxed);
    }

    /// QUEUE-1: a pop that was not done has not begun; its elements stand in the queue.
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

    fn finish(&self, journal: &W64, position: u32, most: u32, back: impl Fn(&W32)) {
        let told = Journal::decode(journal.load(Ordering::Relaxed));
        if told.position == position {
            for at in 0..told.count.min(most).min(RUN as u32) {
                let element = self.slot(position.wrapping_add(at)).load(Ordering::Relaxed);
                self.owner(element).into_iter().for_each(&back);
            }
        }
        // Before the lock is free: another one's death must not find it.
        journal.store(0, Ordering::Relaxed);
    }

    /// Pushes at most [`RUN`] elements, all or none; says whether somebody may sleep for them.
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
                .store(Journal { position, count }.encode(), Ordering::Relaxed);
        };
        for (at, element) in elements.iter().enumerate() {
            match self.owner(*element) {
                Some(word) if word.load(Ordering::Relaxed) == me.id() => {
                    // The slot, then the journal, then the word: what the journal names is ours
                    // and stands in the ring, whatever its word says.
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
        // Pairs with the acquire in `pop`: who sees the position sees slots, words and what was
        // written to the elements.
        head.tail
            .store(tail.wrapping_add(elements.len() as u32), Ordering::Release);
        let sleepers = head.sleepers.load(Ordering::Relaxed) != 0;
        if sleepers {
            head.sleepers.store(0, Ordering::Relaxed);
            head.pushes.add_owned(1);
        }
        Ok(sleepers)
    }

    #[cold]
    fn put_back(&self, elements: &[u32], owner: u32) {
        for element in elements {
            if let Some(word) = self.owner(*element) {
                word.store(owner, Ordering::Relaxed);
            }
        }
    }

    /// Pops at most [`RUN`] elements; says how many.
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
            .store(Journal { position, count }.encode(), Ordering::Relaxed);
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

    /// Whether there is nothing to pop, without the lock: who asks again and again writes nothing.
    #[inline(always)]
    fn is_known_empty(&self) -> bool {
        let head = self.head.head.load(Ordering::Relaxed);
        self.head.seen_tail.load(Ordering::Relaxed) == head && self.len() == 0
    }

    /// Elements in the queue, in passing.
    pub(crate) fn len(&self) -> u32 {
        // The head first: the tail is not behind it then. Pairs with the releases of both.
        let head = self.head.head.load(Ordering::Acquire);
        let tail = self.head.tail.load(Ordering::Acquire);
        tail.wrapping_sub(head).min(self.owners.len() as u32)
    }

    /// Notes that this thread is about to sleep until something is pushed.
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

    /// After a sleep: others may sleep as well. True: there is more, or may be, as somebody just
    /// pushes; one of them is to be woken.
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

/// What a thread that wants to sleep is told.
pub(crate) enum Announced {
    /// There is something to pop.
    There,
    /// It may sleep as long as `pushes` holds this.
    Until(u32),
    /// Somebody holds the lock: it will be seen later.
    NotNow,
}

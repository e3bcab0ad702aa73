//! Taking and releasing.

use crate::layout::{LockRecord, MOST_SHARING};
use crate::lock::{ABANDONED, Me, PATIENCE, Taken, WAITERS, is_alive, sleep, wake};
use crate::region::Region;
#[cfg(feature = "shuttle")]
use crate::sync::model;
use crate::sync::{Ordering, W32, spin_hint};
use crate::sys::futex::WaitEnd;
use std::time::{Duration, Instant};

/// Turns of the spin loop before a waiter sleeps.
const SPINS: u32 = if cfg!(feature = "shuttle") { 2 } else { 100 };

/// How a lock was taken. It is one word, so that a guard stays in registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Held(u32);

impl Held {
    /// Exclusively.
    pub(crate) const EXCLUSIVE: Self = Self(u32::MAX);
    /// Exclusively, from a holder that had died.
    pub(crate) const FROM_DEAD: Self = Self(u32::MAX - 1);

    /// With others, at that place.
    #[inline]
    pub(crate) fn at_place(place: u32) -> Self {
        Self(place)
    }

    /// Returns its place if it is held with others.
    #[inline]
    pub(crate) fn place(self) -> Option<u32> {
        (self.0 < MOST_SHARING).then_some(self.0)
    }
}

/// The end of a wait.
struct Deadline(Option<Instant>);

impl Deadline {
    /// Without a limit it never ends.
    fn after(limit: Option<Duration>) -> Self {
        // A time that the clock cannot express is no limit.
        Self(limit.and_then(|limit| Instant::now().checked_add(limit)))
    }

    /// Returns how long to sleep now, or `None` if the time is up.
    fn left(&self) -> Option<Duration> {
        match self.0 {
            None => Some(PATIENCE),
            Some(end) => {
                let left = end.saturating_duration_since(Instant::now());
                (!left.is_zero()).then_some(left.min(PATIENCE))
            }
        }
    }
}

/// What a thread that waited for a word found.
enum Word {
    /// The word was 0, and still may be.
    Free,
    /// The thread has the word now.
    Mine(Taken),
}

/// A lock or semaphore, for one participant.
#[derive(Clone, Copy)]
pub(crate) struct Holder<'a> {
    pub(crate) region: &'a Region,
    pub(crate) record: &'a LockRecord,
    pub(crate) me: Me,
}

impl Holder<'_> {
    /// Takes a lock for this thread alone. Returns `None` if the time was up first; with a limit of
    /// 0 it does not wait.
    #[inline]
    pub(crate) fn take(&self, limit: Option<Duration>) -> Option<Held> {
        // LOCKS-1
        let is_free = self
            .record
            .word
            .cas(0, self.me.id(), Ordering::SeqCst)
            .is_ok();
        if is_free && self.record.reach.load(Ordering::SeqCst) == 0 {
            return Some(Held::EXCLUSIVE);
        }
        self.take_slowly(is_free, limit)
    }

    #[cold]
    fn take_slowly(self, has_word: bool, limit: Option<Duration>) -> Option<Held> {
        let deadline = Deadline::after(limit);
        if has_word {
            return self.own(Taken::Clean, &deadline);
        }
        loop {
            match self.wait_for_word(true, &deadline)? {
                Word::Mine(taken) => return self.own(taken, &deadline),
                Word::Free => {}
            }
        }
    }

    /// Completes an exclusive hold: this thread has the word, and waits for those who share.
    fn own(&self, taken: Taken, deadline: &Deadline) -> Option<Held> {
        if self.wait_for_sharers(deadline) {
            return Some(match taken {
                Taken::Clean => Held::EXCLUSIVE,
                Taken::FromDead { .. } => Held::FROM_DEAD,
            });
        }
        match taken {
            Taken::Clean => self.release(),
            // LOCKS-2
            Taken::FromDead { owner } => self.abandon(owner),
        }
        None
    }

    /// Returns the participants that hold it, one for each hold.
    pub(crate) fn owners(&self) -> Vec<u32> {
        let word = self.record.word.load(Ordering::Acquire) & !WAITERS;
        let sharing = self.record.sharing.iter();
        let sharing = sharing.map(|word| word.load(Ordering::Acquire));
        let all = std::iter::once(word).chain(sharing);
        all.filter(|owner| *owner != 0).collect()
    }

    /// Takes a lock together with others who share it.
    pub(crate) fn share(&self, limit: Option<Duration>) -> Option<Held> {
        let deadline = Deadline::after(limit);
        // A release of the word wakes all from now on, not only one.
        self.reach(1);
        loop {
            if self.record.word.load(Ordering::SeqCst) == 0 {
                match self.enter(MOST_SHARING) {
                    // LOCKS-1
                    Some(place) if self.record.word.load(Ordering::SeqCst) == 0 => {
                        return Some(Held::at_place(place));
                    }
                    Some(place) => self.leave(place),
                    None => {
                        self.wait_for_leave(&deadline, |asks| {
                            (0..MOST_SHARING).find(|place| self.is_vacant(*place, asks))
                        })?;
                        continue;
                    }
                }
            }
            match self.wait_for_word(false, &deadline)? {
                // LOCKS-2
                Word::Mine(taken) => return self.own(taken, &deadline),
                Word::Free => {}
            }
        }
    }

    /// Takes one of so many permits. Returns its place, and whether its holder before had died.
    pub(crate) fn take_permit(&self, permits: u32, limit: Option<Duration>) -> Option<(u32, bool)> {
        if let Some(place) = self.enter(permits) {
            return Some((place, false));
        }
        self.wait_for_leave(&Deadline::after(limit), |asks| {
            let entered = self.enter(permits).map(|place| (place, false));
            entered.or_else(|| Some((asks.then(|| self.inherit(permits)).flatten()?, true)))
        })
    }

    /// Gives a place back that this participant has.
    pub(crate) fn leave(&self, place: u32) {
        let record = self.record;
        record.sharing[place as usize].store(0, Ordering::SeqCst);
        // LOCKS-3
        if record.wanted.load(Ordering::SeqCst) != 0 {
            record.wanted.store(0, Ordering::SeqCst);
            record.leaves.fetch_add(1, Ordering::SeqCst);
            wake(&record.leaves, u32::MAX >> 1);
        }
    }

    /// Releases an exclusive hold.
    #[inline]
    pub(crate) fn release(&self) {
        let mine = self.me.id();
        if self.record.word.cas(mine, 0, Ordering::SeqCst).is_err() {
            self.release_to_waiters(0);
        }
    }

    /// Releases an exclusive hold after a panic: the next holder is informed.
    #[cold]
    pub(crate) fn abandon_after_panic(&self) {
        self.abandon(ABANDONED);
    }

    /// Leaves the word as a dead owner does.
    #[cold]
    fn abandon(&self, owner: u32) {
        self.release_to_waiters(owner | WAITERS);
    }

    #[cold]
    fn release_to_waiters(self, next: u32) {
        let word = &self.record.word;
        let mut seen = word.load(Ordering::Relaxed);
        while seen & !WAITERS == self.me.id() {
            match word.cas(seen, next, Ordering::SeqCst) {
                Ok(_) => {
                    let are_several = next != 0 || self.record.reach.load(Ordering::SeqCst) != 0;
                    wake(word, if are_several { u32::MAX >> 1 } else { 1 });
                    return;
                }
                Err(now) => seen = now,
            }
        }
    }

    /// Waits until the word is free, and takes it then if it `wants` it. The word of a dead owner
    /// is taken in any case. Returns `None` if the time was up.
    fn wait_for_word(&self, wants: bool, deadline: &Deadline) -> Option<Word> {
        let (word, mut mine, mut spins) = (&self.record.word, self.me.id(), 0);
        loop {
            let seen = word.load(Ordering::SeqCst);
            if seen == 0 {
                if !wants {
                    return Some(Word::Free);
                }
                if word.cas(0, mine, Ordering::SeqCst).is_ok() {
                    return Some(Word::Mine(Taken::Clean));
                }
                continue;
            }
            let Some(left) = deadline.left() else {
                let is_dead = !self.is_alive(seen);
                if is_dead && word.cas(seen, mine, Ordering::SeqCst).is_ok() {
                    let owner = seen & !WAITERS;
                    return Some(Word::Mine(Taken::FromDead { owner }));
                }
                if is_dead {
                    continue;
                }
                return None;
            };
            if spins < SPINS {
                spins += 1;
                spin_hint();
            } else if seen & WAITERS != 0
                || word.cas(seen, seen | WAITERS, Ordering::Relaxed).is_ok()
            {
                // Others may sleep as well, so the bit is kept.
                mine = self.me.id() | WAITERS;
                let seen = seen | WAITERS;
                let owner = seen & !WAITERS;
                let is_over = self.sleep(word, seen, left, || !self.is_alive(seen));
                if is_over && !self.is_alive(seen) && word.cas(seen, mine, Ordering::SeqCst).is_ok()
                {
                    return Some(Word::Mine(Taken::FromDead { owner }));
                }
            }
        }
    }

    /// Waits until nobody shares the lock, whose word this thread has. Returns false if the time
    /// was up first.
    fn wait_for_sharers(&self, deadline: &Deadline) -> bool {
        let is_empty = |asks| {
            // LOCKS-1
            let reach = self.record.reach.load(Ordering::SeqCst).min(MOST_SHARING);
            let mut places = 0..reach;
            places
                .all(|place| self.is_vacant(place, asks))
                .then_some(())
        };
        is_empty(false).is_some() || self.wait_for_leave(deadline, is_empty).is_some()
    }

    /// Waits until `look` returns something. It is asked to find out whether the holders of places
    /// live after a sleep without a wake-up, and at the end.
    fn wait_for_leave<T>(
        &self,
        deadline: &Deadline,
        look: impl Fn(bool) -> Option<T>,
    ) -> Option<T> {
        let record = self.record;
        let (mut asks, mut is_up) = (false, false);
        loop {
            // LOCKS-3
            let leaves = record.leaves.load(Ordering::SeqCst);
            record.wanted.store(1, Ordering::SeqCst);
            if let Some(found) = look(asks) {
                return Some(found);
            }
            if is_up {
                return None;
            }
            let left = deadline.left();
            is_up = left.is_none();
            asks = left
                .is_none_or(|left| self.sleep(&record.leaves, leaves, left, || self.has_dead()));
        }
    }

    /// Takes one of the first places for this participant.
    fn enter(&self, places: u32) -> Option<u32> {
        // Participants begin on different cache lines.
        let start = self.me.id().wrapping_mul(16) % places;
        let mut all = (start..places).chain(0..start);
        all.find(|place| {
            let word = &self.record.sharing[*place as usize];
            let is_free = word.load(Ordering::Relaxed) == 0;
            if is_free {
                // LOCKS-1
                self.reach(place + 1);
            }
            is_free && word.cas(0, self.me.id(), Ordering::SeqCst).is_ok()
        })
    }

    /// Takes over one of the first places from a dead participant.
    fn inherit(&self, places: u32) -> Option<u32> {
        (0..places).find(|place| {
            let word = &self.record.sharing[*place as usize];
            let owner = word.load(Ordering::SeqCst);
            owner != 0
                && !self.is_alive(owner)
                && word.cas(owner, self.me.id(), Ordering::SeqCst).is_ok()
        })
    }

    /// Returns whether nobody has a place. If it `asks`, a dead participant's is given back.
    fn is_vacant(&self, place: u32, asks: bool) -> bool {
        let word = &self.record.sharing[place as usize];
        let owner = word.load(Ordering::SeqCst);
        owner == 0 || asks && !self.is_alive(owner) && word.cas(owner, 0, Ordering::SeqCst).is_ok()
    }

    /// Raises `reach`.
    fn reach(&self, least: u32) {
        let reach = &self.record.reach;
        let mut seen = reach.load(Ordering::SeqCst);
        while seen < least {
            match reach.cas(seen, least, Ordering::SeqCst) {
                Ok(_) => return,
                Err(now) => seen = now,
            }
        }
    }

    fn is_alive(&self, word: u32) -> bool {
        is_alive(self.region, word & !WAITERS, self.me)
    }

    /// Sleeps, and returns whether it ended without a wake-up. Interrupted counts, too: with a fast
    /// timer no sleep of a process would ever time out. In a model the time is up at once if there
    /// `is_dead` somebody to find.
    fn sleep(&self, word: &W32, expected: u32, left: Duration, is_dead: impl Fn() -> bool) -> bool {
        #[cfg(feature = "shuttle")]
        if model::is_on() && is_dead() {
            spin_hint();
            return true;
        }
        let _ = is_dead;
        let end = sleep(word, expected, left);
        matches!(end, WaitEnd::TimedOut | WaitEnd::Interrupted)
    }

    /// Returns whether a place is that of a dead participant.
    fn has_dead(&self) -> bool {
        let owners = self
            .record
            .sharing
            .iter()
            .map(|word| word.load(Ordering::Relaxed));
        owners
            .filter(|owner| *owner != 0)
            .any(|owner| !self.is_alive(owner))
    }
}

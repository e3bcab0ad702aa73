//! Lock words: one short lock a shard, one for the page pool, two a queue, which outlive their
//! owners.
//!
//! | word | meaning | next |
//! |---|---|---|
//! | 0 | free | owner, by compare and exchange |
//! | owner | held; nobody sleeps | 0 by the owner; owner + waiters by a waiter |
//! | owner + waiters | held; somebody may sleep | 0 and a wake by the owner; a taker |
//! | abandoned (+ waiters) | a panic left the critical section half-way | a taker |
//!
//! An *owner* is a participant: slot 12 bits, generation 19 bits. A waiter spins briefly, then
//! sleeps on the word, at most [`PATIENCE`] at a time; each time it wakes by the clock it asks
//! whether the owner lives. Of several takers the compare and exchange lets one through. Who takes
//! a lock over is told so and must recover what it guards before anything else.
//!
//! **LOCK-1** Lock order: a shard, then the pool; never two shards. The end of a queue is locked
//! beside nothing else, but for [`AllEnds`]: all of a pool, in their order, and without waiting for
//! long. **LOCK-2** Nothing is called out while one is held: no callback, no I/O, and, but for
//! checks, no allocation of process memory. **LOCK-3** A thread that holds one and comes here again
//! (from a signal handler) is refused with [`Error::Reentrant`].

mod copied;
mod elsewhere;
mod gate;
mod holders;
mod me;
mod membership;
mod wait;

pub(crate) use copied::is_copied_in_use;
pub(crate) use gate::Gate;
pub(crate) use holders::holder;
pub use holders::on_long_wait;
pub(crate) use me::Me;
pub(crate) use membership::{
    ABANDONED, Membership, adopt, clear_resources, identity_of, is_alive, members, next_member,
    resources_of, retire, tallies, tally, timing,
};
pub(crate) use wait::{PATIENCE, sleep, wake};

use crate::error::{Error, Result};
use crate::layout::{PageWord, Segment, ShardHead};
use crate::region::Region;
#[cfg(feature = "shuttle")]
use crate::sync::model;
use crate::sync::{Ordering, W32, handler_fence};
#[cfg(not(feature = "shuttle"))]
use std::cell::Cell;
use std::time::Duration;
use wait::{wait, wait_with_backoff};

const WAITERS: u32 = 1 << 31;
/// How often, and how long each time, all ends of a pool are waited for.
const PAUSES: u32 = 100;
const PAUSE: Duration = Duration::from_millis(1);

const SHARD: u8 = 1;
const POOL: u8 = 2;
const GATE: u8 = 4;
const POP: u8 = 8;
const PUSH: u8 = 16;
const NOTED: u8 = 0;

/// The locks that a thread must not hold when it comes for one of this kind (LOCK-1, LOCK-3).
const fn excluded_by(kind: u8) -> u8 {
    match kind {
        // One of several that are noted as one.
        NOTED => 0,
        POOL => POOL | POP | PUSH,
        _ => SHARD | POOL | POP | PUSH,
    }
}

#[cfg(not(feature = "shuttle"))]
thread_local! {
    /// Which locks this thread holds (LOCK-3).
    static HELD: Cell<u8> = const { Cell::new(0) };
}
#[cfg(feature = "shuttle")]
static HELD: model::PerThread = model::PerThread;

/// How a lock was come by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Taken {
    /// It was free.
    Clean,
    /// Its owner had died: recover what it guards first.
    FromDead { owner: u32 },
}

/// A held lock word; dropped, it is released, or abandoned when its thread is panicking.
struct Held<'a> {
    word: &'a W32,
    kind: u8,
    was_panicking: bool,
}

impl<'a> Held<'a> {
    #[inline(always)]
    fn acquire(region: &Region, word: &'a W32, me: Me, kind: u8) -> Result<(Self, Taken)> {
        let held = HELD.get();
        if held & excluded_by(kind) != 0 {
            return Err(Error::Reentrant);
        }
        HELD.set(held | kind);
        handler_fence();
        // Pairs with the release in `drop`.
        let taken = match word.cas(0, me.id(), Ordering::Acquire) {
            Ok(_) => Taken::Clean,
            Err(_) => match wait(region, word, me, kind) {
                Ok(taken) => taken,
                Err(busy) => {
                    HELD.set(held);
                    return Err(busy);
                }
            },
        };
        let held = Self {
            word,
            kind,
            was_panicking: std::thread::panicking(),
        };
        if !region.reaches_high_water() {
            held.let_go(taken);
            return Err(region.out_of_reach());
        }
        Ok((held, taken))
    }

    /// Leaves a lock as it was found: what a dead one held is still to be recovered.
    #[cold]
    fn let_go(self, taken: Taken) {
        if let Taken::FromDead { owner } = taken {
            self.word.swap(owner | WAITERS, Ordering::Release);
            wake(self.word, u32::MAX >> 1);
            handler_fence();
            HELD.set(HELD.get() & !self.kind);
            std::mem::forget(self);
        }
    }
}

impl<'a> Held<'a> {
    /// Takes the word if it is free.
    #[inline(always)]
    fn try_acquire(word: &'a W32, me: Me, kind: u8) -> Option<Self> {
        let held = HELD.get();
        if held & excluded_by(kind) != 0 {
            return None;
        }
        // Before the word: a handler that comes in between would wait for its own thread.
        HELD.set(held | kind);
        handler_fence();
        // Pairs with the release in `drop`.
        if word.cas(0, me.id(), Ordering::Acquire).is_err() {
            HELD.set(held);
            return None;
        }
        Some(Self {
            word,
            kind,
            was_panicking: std::thread::panicking(),
        })
    }
}

impl Drop for Held<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        if std::thread::panicking() && !self.was_panicking {
            // The next one takes over and recovers, as after a death.
            self.word.swap(ABANDONED | WAITERS, Ordering::Release);
            wake(self.word, u32::MAX >> 1);
        } else if self.word.swap(0, Ordering::Release) & WAITERS != 0 {
            wake(self.word, 1);
        }
        handler_fence();
        HELD.set(HELD.get() & !self.kind);
    }
}

/// Proof that a shard is locked, and the way to what it guards.
pub(crate) struct ShardLock<'a> {
    pub(crate) region: &'a Region,
    pub(crate) number: u32,
    pub(crate) head: &'a ShardHead,
    /// The participant that holds it.
    pub(crate) me: Me,
    _held: Held<'a>,
}

impl<'a> ShardLock<'a> {
    /// Locks a shard. After [`Taken::FromDead`] it must be recovered before anything else.
    #[inline(always)]
    pub(crate) fn acquire(region: &'a Region, number: u32, me: Me) -> Result<(Self, Taken)> {
        let head = region.shard(number);
        let (held, taken) = Held::acquire(region, &head.lock, me, SHARD)?;
        Ok((
            Self {
                region,
                number,
                head,
                me,
                _held: held,
            },
            taken,
        ))
    }
}

impl<'a> ShardLock<'a> {
    /// Locks a shard if nobody holds it: for work that can be done another time, or another way.
    #[inline(always)]
    pub(crate) fn try_acquire(region: &'a Region, number: u32, me: Me) -> Option<Self> {
        let head = region.shard(number);
        let lock = Self {
            region,
            number,
            head,
            me,
            _held: Held::try_acquire(&head.lock, me, SHARD)?,
        };
        if region.reaches_high_water() {
            Some(lock)
        } else {
            None
        }
    }

    /// The shard's segment on that page; `None` when the page is no such thing.
    #[inline(always)]
    pub(crate) fn segment(&self, page: u32) -> Option<&'a Segment> {
        let segment = self.region.segment_at(page)?;
        self.owns(page).then_some(segment)
    }

    /// Whether a page, which is below the high_water, is a segment of the shard's.
    #[inline(always)]
    pub(crate) fn owns(&self, page: u32) -> bool {
        let word = self.region.page_word(page).load(Ordering::Relaxed);
        PageWord::is_segment_of(word, self.number)
    }
}

/// Proof that the page pool is locked.
pub(crate) struct PoolLock<'a> {
    pub(crate) region: &'a Region,
    /// The participant that holds it.
    pub(crate) me: Me,
    _held: Held<'a>,
}

impl<'a> PoolLock<'a> {
    /// Locks the pool. After [`Taken::FromDead`] it must be rebuilt before anything else.
    pub(crate) fn acquire(region: &'a Region, me: Me) -> Result<(Self, Taken)> {
        let (held, taken) = Held::acquire(region, &region.pool().lock, me, POOL)?;
        Ok((
            Self {
                region,
                me,
                _held: held,
            },
            taken,
        ))
    }
}

/// An end of a queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum End {
    Pop,
    Push,
}

impl End {
    #[inline(always)]
    fn kind(self) -> u8 {
        match self {
            End::Pop => POP,
            End::Push => PUSH,
        }
    }
}

/// Proof that an end of a queue is locked. Its word is a lock word without waiters: whoever waits
/// naps and looks again, so that letting go is a plain store: a push or pop of one element is
/// hardly more than the lock.
pub(crate) struct EndLock<'a> {
    word: &'a W32,
    was_panicking: bool,
    // Dropped when the word is free.
    _note: Note,
}

/// What a thread has noted that it holds.
struct Note(u8);

impl Drop for Note {
    #[inline(always)]
    fn drop(&mut self) {
        handler_fence();
        HELD.set(HELD.get() & !self.0);
    }
}

impl<'a> EndLock<'a> {
    /// Locks an end if nobody holds it.
    pub(crate) fn try_acquire(word: &'a W32, me: Me, end: End) -> Option<Self> {
        let held = HELD.get();
        if held & excluded_by(end.kind()) != 0 {
            return None;
        }
        HELD.set(held | end.kind());
        handler_fence();
        // Pairs with the release in `drop`.
        if word.cas(0, me.id(), Ordering::Acquire).is_err() {
            HELD.set(held);
            return None;
        }
        Some(Self::noted(word, end))
    }

    /// Locks an end. After [`Taken::FromDead`] it must be settled before anything else.
    #[inline(always)]
    pub(crate) fn acquire(
        region: &Region,
        word: &'a W32,
        me: Me,
        end: End,
    ) -> Result<(Self, Taken)> {
        let held = HELD.get();
        if held & excluded_by(end.kind()) != 0 {
            return Err(Error::Reentrant);
        }
        HELD.set(held | end.kind());
        handler_fence();
        // Pairs with the release in `drop`.
        let taken = match word.cas(0, me.id(), Ordering::Acquire) {
            Ok(_) => Taken::Clean,
            Err(_) => match wait_with_backoff(region, word, me) {
                Ok(taken) => taken,
                Err(busy) => {
                    HELD.set(held);
                    return Err(busy);
                }
            },
        };
        Ok((Self::noted(word, end), taken))
    }

    #[inline(always)]
    fn noted(word: &'a W32, end: End) -> Self {
        Self {
            word,
            was_panicking: std::thread::panicking(),
            _note: Note(end.kind()),
        }
    }
}

impl Drop for EndLock<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        let is_over = !std::thread::panicking() || self.was_panicking;
        // After a panic the next one takes over and settles, as after a death.
        let word = if is_over { 0 } else { ABANDONED };
        self.word.store(word, Ordering::Release);
    }
}

/// Proof that all ends of a pool's queues are locked.
pub(crate) struct AllEnds<'a> {
    // Dropped first: the note of this thread stays as long as it holds any.
    _others: Vec<Held<'a>>,
    _noted: Held<'a>,
}

impl<'a> AllEnds<'a> {
    /// Locks all of them, waiting for some milliseconds in all; `None`: one stayed locked.
    pub(crate) fn acquire(words: &[&'a W32], me: Me) -> Option<Self> {
        let mut pauses = 0;
        let mut get = |word: &'a W32, kind| {
            loop {
                if let Some(held) = Held::try_acquire(word, me, kind) {
                    return Some(held);
                }
                if pauses == PAUSES {
                    return None;
                }
                pauses += 1;
                std::thread::sleep(PAUSE);
            }
        };
        let (first, rest) = words.split_first()?;
        // Declared first, so dropped last, also when one of the others is not to be had.
        let noted = get(first, POP | PUSH)?;
        let mut others = Vec::with_capacity(rest.len());
        for word in rest {
            others.push(get(word, NOTED)?);
        }
        Some(Self {
            _others: others,
            _noted: noted,
        })
    }
}

/// The participant a lock word names; 0: none.
pub(crate) fn owner_of(word: &W32) -> u32 {
    // Pairs with the release of an unlock: who sees a shard free sees what its holder did.
    word.load(Ordering::Acquire) & !WAITERS
}

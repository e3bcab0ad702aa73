//! Lock words in shared memory: one per shard, one for the page pool, two per queue. A process may
//! die while it holds one; then a waiting process steals the lock and recovers what it guards.
//!
//! | word | meaning | next |
//! |---|---|---|
//! | 0 | free | owner, by compare and exchange |
//! | owner | held; nobody sleeps | 0 by the owner; owner + waiters by a waiter |
//! | owner + waiters | held; somebody may sleep | 0 and a wake by the owner; a stealer |
//! | abandoned (+ waiters) | a panic left the critical section half-way | a stealer |
//!
//! An *owner* is a participant: slot 12 bits, generation 19 bits. A waiter spins briefly, then
//! sleeps on the word, at most [`PATIENCE`] at a time. When a sleep has ended without a wake-up, it
//! asks whether the owner lives; if not, it replaces the owner by compare and exchange, so that
//! only one of several stealers succeeds. [`Taken::FromDead`] obliges it to recover what the lock
//! guards before anything else.
//!
//! **LOCK-1** Lock order: the turn, then those of the journal's files, then a shard, then the pool
//! or the journal. Only [`ShardLocks`] locks several
//! shards, in the order of their numbers. An end of a queue is never
//! locked together with any other lock, with one exception: [`AllEnds`] locks all ends of a pool,
//! in their order, and gives up after a short wait.
//!
//! **LOCK-2** A critical section calls no foreign code and does no I/O; except for checks, it does
//! not allocate process memory either.
//!
//! **LOCK-3** A thread that holds a lock and comes here again (from a signal handler) gets
//! [`Error::Reentrant`].

mod copied;
mod elsewhere;
mod gate;
mod holders;
mod journal;
mod last_user;
mod me;
mod membership;
mod several;
mod turn;
mod wait;

pub(crate) use copied::is_copied_in_use;
pub(crate) use gate::Gate;
pub(crate) use holders::holder;
pub use holders::on_long_wait;
pub(crate) use journal::{FileLock, JournalLock};
pub(crate) use last_user::{has_users, leave_as_last};
pub(crate) use me::Me;
pub(crate) use membership::{
    ABANDONED, Membership, adopt, clear_resources, identity_of, is_alive, members, next_member,
    resources_of, retire, tallies, tally, timing,
};
pub(crate) use several::ShardLocks;
pub(crate) use turn::Turn;
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

pub(crate) const WAITERS: u32 = 1 << 31;
/// How often [`AllEnds`] waits for ends in all, and how long each time.
const PAUSES: u32 = 100;
const PAUSE: Duration = Duration::from_millis(1);

const SHARD: u8 = 1;
const POOL: u8 = 2;
const GATE: u8 = 4;
const POP: u8 = 8;
const PUSH: u8 = 16;
const TURN: u8 = 32;
const JOURNAL: u8 = 64;
const FILE: u8 = 128;
const NOTED: u8 = 0;

/// Returns the locks that a thread must not hold when it acquires one of this kind (LOCK-1,
/// LOCK-3).
const fn excluded_by(kind: u8) -> u8 {
    match kind {
        // One of several that are noted as one.
        NOTED => 0,
        TURN => TURN | SHARD | POOL | GATE | POP | PUSH | JOURNAL | FILE,
        POOL | JOURNAL => POOL | POP | PUSH | JOURNAL,
        FILE => SHARD | POOL | POP | PUSH | JOURNAL | FILE,
        _ => SHARD | POOL | POP | PUSH | JOURNAL,
    }
}

#[cfg(not(feature = "shuttle"))]
thread_local! {
    /// The kinds of lock that this thread holds (LOCK-3).
    static HELD: Cell<u8> = const { Cell::new(0) };
}
#[cfg(feature = "shuttle")]
static HELD: model::PerThread = model::PerThread;

/// How a lock was acquired.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Taken {
    /// It was free.
    Clean,
    /// Its owner had died: recover what it guards first.
    FromDead { owner: u32 },
}

/// A held lock word. Dropping it releases the lock, or abandons it if its thread is panicking.
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
            held.put_back(taken);
            return Err(region.out_of_reach());
        }
        Ok((held, taken))
    }

    /// Returns a lock to the state in which it was found. If it was stolen, it names the dead owner
    /// again: what that one left is still to be recovered.
    #[cold]
    fn put_back(self, taken: Taken) {
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
    /// Acquires one more of several locks that are noted as one. The first one is of this kind.
    fn acquire_next(region: &Region, word: &'a W32, me: Me, kind: u8) -> Result<(Self, Taken)> {
        // Pairs with the release in `drop`.
        let taken = match word.cas(0, me.id(), Ordering::Acquire) {
            Ok(_) => Taken::Clean,
            Err(_) => wait(region, word, me, kind)?,
        };
        let held = Self {
            word,
            kind: NOTED,
            was_panicking: std::thread::panicking(),
        };
        if !region.reaches_high_water() {
            held.put_back(taken);
            return Err(region.out_of_reach());
        }
        Ok((held, taken))
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
        // Before the word: a handler that interrupts us in between would wait for its own thread.
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
            // The next owner steals the lock and recovers, as after a death.
            self.word.swap(ABANDONED | WAITERS, Ordering::Release);
            wake(self.word, u32::MAX >> 1);
        } else if self.word.swap(0, Ordering::Release) & WAITERS != 0 {
            wake(self.word, 1);
        }
        handler_fence();
        HELD.set(HELD.get() & !self.kind);
    }
}

/// Proof that a shard is locked, and access to what the lock guards.
pub(crate) struct ShardLock<'a> {
    pub(crate) region: &'a Region,
    pub(crate) number: u32,
    pub(crate) head: &'a ShardHead,
    /// The participant that holds it.
    pub(crate) me: Me,
    _held: Held<'a>,
}

impl<'a> ShardLock<'a> {
    /// Locks a shard. After [`Taken::FromDead`] the caller must recover it before anything else.
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
    /// Locks a shard if the lock is free: for work that can be done later, or in another way.
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

    /// Returns the shard's segment on that page, or `None` if the page is not a segment of this
    /// shard.
    #[inline(always)]
    pub(crate) fn segment(&self, page: u32) -> Option<&'a Segment> {
        let segment = self.region.segment_at(page)?;
        self.owns(page).then_some(segment)
    }

    /// Returns whether a page is a segment of this shard. The page must be below the high-water
    /// mark.
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
    /// Locks the pool. After [`Taken::FromDead`] the caller must rebuild it before anything else.
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

/// Proof that an end of a queue is locked. Its word is a lock word without the waiters bit: a
/// waiter sleeps for a short time and tries again, so that a release is a plain store. (The lock is
/// most of the cost of a push or pop of one element.)
pub(crate) struct EndLock<'a> {
    word: &'a W32,
    was_panicking: bool,
    // Dropped after the word has been freed.
    _note: Note,
}

/// What a thread has noted in [`HELD`].
struct Note(u8);

impl Drop for Note {
    #[inline(always)]
    fn drop(&mut self) {
        handler_fence();
        HELD.set(HELD.get() & !self.0);
    }
}

impl<'a> EndLock<'a> {
    /// Locks an end if the lock is free.
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

    /// Locks an end. After [`Taken::FromDead`] the caller must recover it before anything else.
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
        // After a panic the next owner steals the lock and recovers the end, as after a death.
        let word = if is_over { 0 } else { ABANDONED };
        self.word.store(word, Ordering::Release);
    }
}

/// Proof that all ends of a pool's queues are locked.
pub(crate) struct AllEnds<'a> {
    // Dropped first: the note of this thread stays as long as it holds any of them.
    _others: Vec<Held<'a>>,
    _noted: Held<'a>,
}

impl<'a> AllEnds<'a> {
    /// Locks all of them, waiting for 100 ms in all. Returns `None` if one stayed locked.
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
        // Declared first, so dropped last, also if one of the others stays locked.
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

/// Returns whether the holder of a lock died in a model.
#[cfg(feature = "shuttle")]
pub(crate) fn is_abandoned(word: &W32) -> bool {
    owner_of(word) == ABANDONED
}

/// Returns the participant that a lock word names, or 0 if the lock is free.
pub(crate) fn owner_of(word: &W32) -> u32 {
    // Pairs with the release of an unlock: a process that sees a shard free sees what its holder
    // did.
    word.load(Ordering::Acquire) & !WAITERS
}

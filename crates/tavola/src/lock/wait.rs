//! Waiting for a lock that another holds.

use super::holders::{LONG, holder, lock_of, notify};
use super::membership::is_alive;
use super::{POOL, Taken, WAITERS};
use crate::error::{Error, Lock, Result};
use crate::lock::Me;
use crate::region::Region;
#[cfg(feature = "shuttle")]
use crate::sync::model;
use crate::sync::{Ordering, W32, spin_hint};
use crate::sys::futex;
use std::time::{Duration, Instant};

/// Turns of the spin loop before a waiter sleeps: some microseconds, longer than nearly all holders
/// stay. To be woken takes several times as long.
const SPINS: u32 = if cfg!(feature = "shuttle") { 2 } else { 400 };
/// Turns between two looks at the word at most, whose line the holder works with.
const LONGEST_PAUSE: u32 = 32;
/// How long a waiter sleeps before it asks whether the owner lives.
pub(crate) const PATIENCE: Duration = Duration::from_millis(10);

/// The first backoff of who waits for the end of a queue, and the longest.
const BACKOFF: Duration = Duration::from_micros(20);
const LONGEST_BACKOFF: Duration = Duration::from_millis(1);

/// How long a lock has been waited for, and how long it may be.
struct Waited {
    since: Instant,
    /// A holder of the pool's lock is waited for as long as it lives: who waits holds a shard.
    limit: Option<Duration>,
    is_notified: bool,
}

impl Waited {
    fn begin(limit: Option<Duration>) -> Self {
        Self {
            since: Instant::now(),
            limit,
            is_notified: false,
        }
    }

    /// How long to sleep now, of so long at most.
    fn backoff(&self, most: Duration) -> Duration {
        let left = self.limit.map(|l| l.saturating_sub(self.since.elapsed()));
        left.map_or(most, |left| left.min(most))
    }

    /// After a sleep in which a living owner kept the lock: whether it was waited for long enough.
    fn check_owner(
        &mut self,
        region: &Region,
        (owner, me): (u32, Me),
        lock: impl Fn() -> Lock,
    ) -> Result<()> {
        let waited = self.since.elapsed();
        if self.limit.is_some_and(|limit| waited >= limit) {
            let holder = holder(region, lock(), owner, me);
            return Err(Error::Busy { holder, waited });
        }
        if waited >= LONG && !self.is_notified {
            self.is_notified = true;
            notify(|| holder(region, lock(), owner, me));
        }
        Ok(())
    }
}

#[cold]
pub(super) fn wait(region: &Region, word: &W32, me: Me, kind: u8) -> Result<Taken> {
    let mut mine = me.id();
    let mut spins = 0;
    let mut waited: Option<Waited> = None;
    loop {
        let seen = word.load(Ordering::Relaxed);
        if seen == 0 {
            // Pairs with the release in `drop`.
            if word.cas(0, mine, Ordering::Acquire).is_ok() {
                return Ok(Taken::Clean);
            }
        } else if spins < SPINS {
            let pause = (spins + 1).min(LONGEST_PAUSE);
            (0..pause).for_each(|_| spin_hint());
            spins += pause;
        } else if seen & WAITERS != 0 || word.cas(seen, seen | WAITERS, Ordering::Relaxed).is_ok() {
            // Others may sleep as well; whoever gets the lock after a sleep says so. Who gives up
            // or dies here leaves the bit: one wake too many.
            mine = me.id() | WAITERS;
            let limit = if kind == POOL {
                None
            } else {
                region.lock_limit()
            };
            let waited = waited.get_or_insert_with(|| Waited::begin(limit));
            let end = sleep(word, seen | WAITERS, waited.backoff(PATIENCE));
            let owner = seen & !WAITERS;
            // Interrupted: a process with a fast timer would never see a wait to its end.
            if matches!(end, futex::WaitEnd::TimedOut | futex::WaitEnd::Interrupted) {
                if !is_alive(region, owner, me) {
                    if word.cas(seen | WAITERS, mine, Ordering::Acquire).is_ok() {
                        return Ok(Taken::FromDead { owner });
                    }
                } else if word.load(Ordering::Relaxed) & !WAITERS == owner {
                    waited.check_owner(region, (owner, me), || lock_of(region, word, kind))?;
                }
            }
        }
    }
}

/// Sleeps while the word is `expected`, at most for `limit`.
pub(crate) fn sleep(word: &W32, expected: u32, limit: Duration) -> futex::WaitEnd {
    #[cfg(feature = "shuttle")]
    if model::is_on() {
        // Time runs out for those who wait for the dead, and for nobody else.
        if expected & !WAITERS == super::ABANDONED {
            spin_hint();
            return futex::WaitEnd::TimedOut;
        }
        model::sleep(word, expected);
        return futex::WaitEnd::Woken;
    }
    futex::wait(word.as_ptr(), expected, limit)
}

/// Wakes up to `count` of those who sleep on the word.
pub(crate) fn wake(word: &W32, count: u32) {
    #[cfg(feature = "shuttle")]
    model::wake(word, count);
    futex::wake(word.as_ptr(), count);
}

/// Waits for an end: spins, then naps, each time longer. Whether the owner lives is asked as often
/// as by those who sleep on a lock word.
#[cold]
pub(super) fn wait_with_backoff(region: &Region, word: &W32, me: Me) -> Result<Taken> {
    let (mut spins, mut backoff, mut slept) = (0, BACKOFF, Duration::ZERO);
    let mut waited: Option<Waited> = None;
    loop {
        let seen = word.load(Ordering::Relaxed);
        if seen == 0 {
            // Pairs with the release in `drop`.
            if word.cas(0, me.id(), Ordering::Acquire).is_ok() {
                return Ok(Taken::Clean);
            }
        } else if spins < SPINS {
            spins += 1;
            spin_hint();
        } else {
            let waited = waited.get_or_insert_with(|| Waited::begin(region.lock_limit()));
            let left = waited.backoff(PATIENCE);
            if slept >= PATIENCE || left.is_zero() || is_over_at_once(seen) {
                slept = Duration::ZERO;
                let owner = seen & !WAITERS;
                if !is_alive(region, owner, me) {
                    if word.cas(seen, me.id(), Ordering::Acquire).is_ok() {
                        return Ok(Taken::FromDead { owner });
                    }
                } else if word.load(Ordering::Relaxed) == seen {
                    waited.check_owner(region, (owner, me), || Lock::Queue)?;
                }
            }
            #[cfg(feature = "shuttle")]
            if model::is_on() {
                spin_hint();
                continue;
            }
            std::thread::sleep(backoff.min(left));
            slept += backoff;
            backoff = (2 * backoff).min(LONGEST_BACKOFF);
        }
    }
}

/// In the models time runs out for those who wait for the dead, and for nobody else.
fn is_over_at_once(seen: u32) -> bool {
    seen & !WAITERS == super::ABANDONED
}

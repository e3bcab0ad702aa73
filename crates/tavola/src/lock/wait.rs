//! Waiting for a lock that another participant holds. A waiter spins, then sleeps for short times;
//! between sleeps it asks whether the owner lives, and steals the lock of a dead one.

use super::holders::{LONG, holder, lock_of, notify};
use super::membership::is_alive;
use super::{JOURNAL, POOL, Taken, WAITERS};
use crate::error::{Error, Lock, Result};
use crate::lock::Me;
use crate::region::Region;
#[cfg(feature = "shuttle")]
use crate::sync::model;
use crate::sync::{Ordering, W32, spin_hint};
use crate::sys::futex;
use std::time::{Duration, Instant};

/// Turns of the spin loop before a waiter sleeps: some microseconds, longer than nearly all
/// critical sections. A wake-up takes several times as long.
const SPINS: u32 = if cfg!(feature = "shuttle") { 2 } else { 400 };
/// The most turns between two loads of the word: its cache line is the one that the holder works
/// with.
const LONGEST_PAUSE: u32 = 32;
/// How long a waiter sleeps before it asks whether the owner lives.
pub(crate) const PATIENCE: Duration = Duration::from_millis(10);

/// The first sleep of a process that waits for an end of a queue, and its longest.
const BACKOFF: Duration = Duration::from_micros(20);
const LONGEST_BACKOFF: Duration = Duration::from_millis(1);

/// How long a thread has waited for a lock, and how long it may.
struct Waited {
    since: Instant,
    /// Without it the wait lasts as long as the holder lives. So it is for the pool and the
    /// journal, as a thread that waits for one of them may hold a shard.
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

    /// Returns how long to sleep now, at most `most`.
    fn backoff(&self, most: Duration) -> Duration {
        let left = self.limit.map(|l| l.saturating_sub(self.since.elapsed()));
        left.map_or(most, |left| left.min(most))
    }

    /// Checks, after a sleep in which a living owner kept the lock, whether the wait has been too
    /// long: then it notifies, or fails.
    fn check_owner(
        &mut self,
        region: &Region,
        owner: u32,
        me: Me,
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
            // Others may sleep as well, so a thread that acquires the lock after a sleep keeps the
            // bit. A waiter that gives up or dies here leaves the bit: that costs one needless
            // wake-up.
            mine = me.id() | WAITERS;
            let limit = if kind == POOL || kind == JOURNAL {
                None
            } else {
                region.lock_limit()
            };
            let waited = waited.get_or_insert_with(|| Waited::begin(limit));
            let end = sleep(word, seen | WAITERS, waited.backoff(PATIENCE));
            let owner = seen & !WAITERS;
            // Interrupted counts, too: with a fast timer no sleep of a process would ever time out.
            if matches!(end, futex::WaitEnd::TimedOut | futex::WaitEnd::Interrupted) {
                if !is_alive(region, owner, me) {
                    if word.cas(seen | WAITERS, mine, Ordering::Acquire).is_ok() {
                        return Ok(Taken::FromDead { owner });
                    }
                } else if word.load(Ordering::Relaxed) & !WAITERS == owner {
                    waited.check_owner(region, owner, me, || lock_of(region, word, kind))?;
                }
            }
        }
    }
}

/// Sleeps while the word is `expected`, for at most `limit`.
pub(crate) fn sleep(word: &W32, expected: u32, limit: Duration) -> futex::WaitEnd {
    #[cfg(feature = "shuttle")]
    if model::is_on() {
        // In models a sleep times out only if the owner is dead.
        if expected & !WAITERS == super::ABANDONED {
            spin_hint();
            return futex::WaitEnd::TimedOut;
        }
        model::sleep(word, expected);
        return futex::WaitEnd::Woken;
    }
    futex::wait(word.as_ptr(), expected, limit)
}

/// Wakes up to `count` threads that sleep on the word.
pub(crate) fn wake(word: &W32, count: u32) {
    #[cfg(feature = "shuttle")]
    model::wake(word, count);
    futex::wake(word.as_ptr(), count);
}

/// Waits for an end of a queue: spins, then sleeps, each time longer. It asks whether the owner
/// lives every [`PATIENCE`], as a waiter that sleeps on a lock word does.
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
                    waited.check_owner(region, owner, me, || Lock::Queue)?;
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

/// Returns whether a model lets the time run out: only if the owner is dead.
fn is_over_at_once(seen: u32) -> bool {
    seen & !WAITERS == super::ABANDONED
}

//! The counts of commands: each thread counts for itself, and a reader sums them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::net::counters::Count;

/// An event that is counted.
#[derive(Clone, Copy, Debug)]
pub(super) enum Event {
    GetHit,
    GetMiss,
    Set,
    /// A value that became an item.
    Stored,
    Flush,
    Meta,
    TouchHit,
    TouchMiss,
    DeleteHit,
    DeleteMiss,
    IncrHit,
    IncrMiss,
    DecrHit,
    DecrMiss,
    CasHit,
    CasMiss,
    CasBadval,
    TooLarge,
    NoMemory,
    /// A client sent a name and a password, right or wrong.
    Auth,
    /// A name or a password was wrong.
    AuthError,
    /// A connection was closed after several wrong passwords.
    AuthClosed,
    /// A connection had to wait for others in the middle of its requests.
    Yield,
}

const EVENTS: usize = Event::Yield as usize + 1;

/// The counts of one thread, which no other thread changes.
#[derive(Debug, Default)]
pub(super) struct Tally([Count; EVENTS]);

impl Tally {
    pub(super) fn count(&self, event: Event) {
        self.0[event as usize].add(1);
    }
}

/// The counts of all threads.
#[derive(Debug, Default)]
pub(super) struct Tallies(Mutex<Inner>);

#[derive(Debug, Default)]
struct Inner {
    threads: Vec<Arc<Tally>>,
    /// The sums at the last reset, which are subtracted.
    base: Sums,
}

/// The number of times that each event happened.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sums([u64; EVENTS]);

impl Sums {
    pub(super) fn of(&self, event: Event) -> u64 {
        self.0[event as usize]
    }
}

impl Tallies {
    /// Adds the counts of one more thread, and returns them.
    pub(super) fn join(&self) -> Arc<Tally> {
        let tally = Arc::<Tally>::default();
        self.inner().threads.push(Arc::clone(&tally));
        tally
    }

    pub(super) fn sums(&self) -> Sums {
        let inner = self.inner();
        let mut sums = inner.sums();
        for (sum, base) in sums.0.iter_mut().zip(&inner.base.0) {
            *sum -= base;
        }
        sums
    }

    /// Resets all counts to 0.
    pub(super) fn reset(&self) {
        let mut inner = self.inner();
        inner.base = inner.sums();
    }

    pub(super) fn threads(&self) -> usize {
        self.inner().threads.len()
    }

    /// Locks the counts. A poisoned lock is fine, as nothing that panics runs under it.
    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn sums(&self) -> Sums {
        let mut sums = Sums::default();
        for tally in &self.threads {
            for (sum, count) in sums.0.iter_mut().zip(&tally.0) {
                *sum += count.get();
            }
        }
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_threads_are_summed_and_reset() {
        let tallies = Tallies::default();
        let (one, other) = (tallies.join(), tallies.join());
        one.count(Event::GetHit);
        other.count(Event::GetHit);
        other.count(Event::NoMemory);
        assert_eq!(tallies.sums().of(Event::GetHit), 2);
        assert_eq!(tallies.sums().of(Event::NoMemory), 1);
        tallies.reset();
        one.count(Event::GetHit);
        assert_eq!(tallies.sums().of(Event::GetHit), 1);
        assert_eq!(tallies.sums().of(Event::NoMemory), 0);
        assert_eq!(tallies.threads(), 2);
    }
}

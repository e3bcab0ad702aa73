//! What is counted of the commands: each thread for itself, summed when asked.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::net::counters::Count;

/// What happened.
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
    /// A client that said who it is, whether it is known or not.
    Auth,
    /// One that is not.
    AuthError,
    /// A connection that was closed after several of those.
    AuthClosed,
    /// A connection had to wait for the others in the middle of its requests.
    Yield,
}

const EVENTS: usize = Event::Yield as usize + 1;

/// The counts of one thread, which alone changes them.
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
    /// What is taken off, since the counts were last reset.
    base: Sums,
}

/// How often each event happened.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sums([u64; EVENTS]);

impl Sums {
    pub(super) fn of(&self, event: Event) -> u64 {
        self.0[event as usize]
    }
}

impl Tallies {
    /// The counts of one more thread.
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

    /// From now on all is counted from 0.
    pub(super) fn reset(&self) {
        let mut inner = self.inner();
        inner.base = inner.sums();
    }

    pub(super) fn threads(&self) -> usize {
        self.inner().threads.len()
    }

    /// Nothing that panics is done while the lock is held.
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

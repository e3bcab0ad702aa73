//! The counts of commands: each thread counts for itself, and a reader sums them.

use std::sync::{Arc, Mutex, PoisonError};

use crate::net::counters::Count;

/// The counts of one thread, which no other thread changes.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) commands: Count,
    pub(super) hits: Count,
    pub(super) misses: Count,
}

/// The counts of all threads.
#[derive(Debug, Default)]
pub(super) struct Tallies(Mutex<Vec<Arc<Tally>>>);

impl Tallies {
    /// Adds the counts of one more thread, and returns them.
    pub(super) fn join(&self) -> Arc<Tally> {
        let tally = Arc::<Tally>::default();
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.push(Arc::clone(&tally));
        tally
    }

    /// Returns the sum of one count.
    pub(super) fn sum(&self, count: impl Fn(&Tally) -> &Count) -> u64 {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter().map(|tally| count(tally).get()).sum()
    }
}

//! How long a handle waits for a lock.

use super::Region;
use crate::sync::{Ordering, W64};
use std::time::Duration;

/// A time in process memory: microseconds, or [`Self::NONE`] without a limit.
pub(super) struct LockLimit(W64);

impl LockLimit {
    const NONE: u64 = u64::MAX;

    pub(super) const fn new() -> Self {
        Self(W64::new(Self::NONE))
    }
}

impl Region {
    /// Returns how long to wait for a lock whose holder lives, or `None` for as long as it takes.
    pub(crate) fn lock_limit(&self) -> Option<Duration> {
        match self.lock_limit.0.load(Ordering::Relaxed) {
            LockLimit::NONE => None,
            us => Some(Duration::from_micros(us)),
        }
    }

    pub(crate) fn set_lock_limit(&self, limit: Option<Duration>) {
        let us = |limit: Duration| u64::try_from(limit.as_micros()).unwrap_or(LockLimit::NONE);
        let us = limit.map_or(LockLimit::NONE, us);
        self.lock_limit.0.store(us, Ordering::Relaxed);
    }
}

//! How much a write does for room before it says `Full`.

#[cfg(feature = "shuttle")]
use crate::sync::{model, spin_hint};
use crate::sys::clock;
use std::time::Duration;

/// How often a full table is scraped within one operation.
const SCRAPES: u32 = 2;
/// How often the writer of a cache that has nothing to evict waits for what others have in hand,
/// and for how long in the mean.
const NAPS: u32 = 100;
const NAP: Duration = Duration::from_millis(1);
/// How often one that holds the pages of a large value gives them up for others and begins again.
const STEPS_BACK: u32 = 6;

/// What an operation may still do.
pub(super) struct Effort {
    pub(super) scrapes: u32,
    naps: u32,
    most_naps: u32,
}

impl Effort {
    pub(super) const fn new() -> Self {
        Self {
            scrapes: SCRAPES,
            naps: NAPS,
            most_naps: NAPS,
        }
    }

    /// Of one that holds pages: others may be waiting for these, so it waits for nobody.
    pub(super) const fn holding() -> Self {
        Self {
            naps: 0,
            most_naps: 0,
            ..Self::new()
        }
    }

    /// Whether it may still wait for others.
    pub(super) fn may_wait(&self) -> bool {
        self.naps > 0
    }

    pub(super) fn nap(&mut self) {
        self.naps = self.naps.saturating_sub(1);
        nap(NAP);
    }

    /// Something could be evicted: what others had in hand they have published.
    pub(super) fn others_get_on(&mut self) {
        self.naps = self.most_naps;
    }
}

/// How often a write that held pages has begun again.
pub(super) struct StepsBack(u32);

impl StepsBack {
    pub(super) const fn new() -> Self {
        Self(0)
    }

    /// Waits, longer each time; false: it has begun again often enough.
    pub(super) fn take(&mut self) -> bool {
        if self.0 == STEPS_BACK {
            return false;
        }
        nap(NAP * (1 << self.0));
        self.0 += 1;
        true
    }
}

/// Waits for so long, give or take a half: those who met shall not meet again.
fn nap(mean: Duration) {
    #[cfg(feature = "shuttle")]
    if model::is_on() {
        spin_hint();
        return;
    }
    let chance = (clock::exact_ns() % 1024) as u32;
    std::thread::sleep(mean / 2 + mean * chance / 1024);
}

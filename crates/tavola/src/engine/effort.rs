//! How much a write does for room before it says `Full`.

use crate::error::{Result, corrupt};
#[cfg(feature = "shuttle")]
use crate::sync::{model, spin_hint};
use crate::sys::clock;
use std::time::Duration;

/// How often a full table is scraped within one operation.
const RECLAIMS: u32 = 2;
/// How often the writer of a cache that has nothing to evict waits for what others have in hand,
/// and for how long in the mean.
const BACKOFFS: u32 = 100;
const BACKOFF: Duration = Duration::from_millis(1);
/// How often one that holds the pages of a large value gives them up for others and begins again.
const STEPS_BACK: u32 = 6;
/// Reliefs of a shard, without a free page more, after which its counts must be wrong. (Each evicts
/// up to four keys. If each size class lacks one block for a page, some 6,000 have to go.)
const IN_VAIN: u32 = 4096;
/// A page that was won counts as so many reliefs: others may have taken it.
const PAGE_IN_VAIN: u32 = 4;
/// How often the counts are rebuilt within one operation.
const COUNTS: u32 = 1;

/// What an operation may still do.
pub(crate) struct Effort {
    pub(crate) reclaims: u32,
    backoffs: u32,
    most_backoffs: u32,
    /// Reliefs since there were more free pages than ever before.
    in_vain: u32,
    most_free: u32,
    /// Keys that all participants had written when reliefs were in vain for the last time.
    written: Option<u64>,
    counts: u32,
}

impl Effort {
    pub(crate) const fn new() -> Self {
        Self {
            reclaims: RECLAIMS,
            backoffs: BACKOFFS,
            most_backoffs: BACKOFFS,
            in_vain: 0,
            most_free: 0,
            written: None,
            counts: COUNTS,
        }
    }

    /// Of one that holds pages: others may be waiting for these, so it waits for nobody.
    pub(crate) const fn holding() -> Self {
        Self {
            backoffs: 0,
            most_backoffs: 0,
            ..Self::new()
        }
    }

    /// Whether it may still wait for others.
    pub(crate) fn may_wait(&self) -> bool {
        self.backoffs > 0
    }

    pub(crate) fn backoff(&mut self) {
        self.backoffs = self.backoffs.saturating_sub(1);
        backoff(BACKOFF);
    }

    /// Records a reclaimed, of a page or of keys, after which `free` pages are free. Returns true
    /// if so many reliefs were in vain that the counts of free space must be wrong.
    pub(crate) fn is_exhausted(&mut self, is_page: bool, free: u32, shards: u32) -> bool {
        if free > self.most_free {
            (self.most_free, self.in_vain) = (free, 0);
            return false;
        }
        self.in_vain += if is_page { PAGE_IN_VAIN } else { 1 };
        self.in_vain >= IN_VAIN.saturating_mul(shards)
    }

    /// Whether others have written keys since reliefs were in vain for the last time: they may have
    /// taken what was won. Then reliefs have a chance again.
    pub(crate) fn others_wrote(&mut self, written: u64) -> bool {
        let is_news = self.written != Some(written);
        if is_news {
            (self.in_vain, self.most_free) = (0, 0);
            self.written = Some(written);
        }
        is_news
    }

    /// Returns whether the counts may be rebuilt; reliefs then have a chance again.
    pub(crate) fn may_recount(&mut self) -> bool {
        if self.counts == 0 {
            return false;
        }
        self.counts -= 1;
        (self.in_vain, self.most_free) = (0, 0);
        true
    }

    /// Something could be evicted: what others had in hand they have published.
    pub(crate) fn others_get_on(&mut self) {
        self.backoffs = self.most_backoffs;
    }
}

/// Tries of one operation, all for the same state of a key, after which the state must be damaged.
const TRIES: u32 = 1 << 16;

/// The tries of an operation that looks at a key without the lock of its shard, and then does
/// something under the lock if the key still is as it was seen.
///
/// A try fails if others were faster: then the key was changed, and the next look finds another
/// state. If it finds the same one again and again, look and lock see different things.
pub(crate) struct Tries<T> {
    seen: Option<T>,
    failed: u32,
}

impl<T: PartialEq> Tries<T> {
    pub(crate) const fn new() -> Self {
        Self {
            seen: None,
            failed: 0,
        }
    }

    /// Notes that a try for a key in this state failed.
    pub(crate) fn fail(&mut self, seen: T) -> Result<()> {
        let seen = Some(seen);
        self.failed = if self.seen == seen {
            self.failed + 1
        } else {
            0
        };
        self.seen = seen;
        match self.failed {
            TRIES.. => corrupt("an item"),
            _ => Ok(()),
        }
    }
}

/// How often a write that held pages has begun again.
pub(crate) struct StepsBack(u32);

impl StepsBack {
    pub(crate) const fn new() -> Self {
        Self(0)
    }

    /// Waits, longer each time. Returns false if it has started again often enough.
    pub(crate) fn take(&mut self) -> bool {
        if self.0 == STEPS_BACK {
            return false;
        }
        backoff(BACKOFF * (1 << self.0));
        self.0 += 1;
        true
    }
}

/// Waits for so long, give or take a half: those who met shall not meet again.
fn backoff(mean: Duration) {
    #[cfg(feature = "shuttle")]
    if model::is_on() {
        spin_hint();
        return;
    }
    let chance = (clock::exact_ns() % 1024) as u32;
    std::thread::sleep(mean / 2 + mean * chance / 1024);
}

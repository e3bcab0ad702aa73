//! How much a write does to get room before it returns `Full`.
//!
//! All limits are counts kept in the process. So a write ends even if counts in shared memory are
//! damaged and promise room that is not there.

use crate::alloc::Need;
use crate::error::{Result, corrupt};
#[cfg(feature = "shuttle")]
use crate::sync::{model, spin_hint};
use crate::sys::clock;
use std::time::Duration;

/// The most pages that a cache reclaims at once for one operation: a segment, a page for the item,
/// a chunk of uids.
pub(super) const MOST_AT_ONCE: u32 = 3;
/// How many emergency reclaims one operation may do in a full table.
const RECLAIMS: u32 = 2;
/// How often a writer waits, if a cache has nothing to evict, for pages that other writers have
/// claimed; and the mean length of such a wait.
const BACKOFFS: u32 = 100;
const BACKOFF: Duration = Duration::from_millis(1);
/// How often a writer that holds the pages of a large value releases them for others and begins
/// again.
const STEPS_BACK: u32 = 6;
/// How many reclaims in one shard, without the number of free pages rising, mean that its counts
/// are wrong. (Each evicts up to four keys. If each size class lacks one block for a page, some
/// 6,000 keys must be evicted.)
const IN_VAIN: u32 = 4096;
/// A reclaimed page counts as this many reclaims, because another writer may have taken the page.
const PAGE_IN_VAIN: u32 = 4;
/// How often one operation rebuilds the counts.
const COUNTS: u32 = 1;

/// What an operation may still do.
pub(crate) struct Effort {
    pub(crate) reclaims: u32,
    backoffs: u32,
    most_backoffs: u32,
    /// Reclaims since the number of free pages last reached a new maximum.
    in_vain: u32,
    most_free: u32,
    /// How many keys all participants had written when reclaims were last found to be in vain.
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

    /// Returns the effort of an operation that holds pages: other writers may be waiting for these,
    /// so it waits for nobody.
    pub(crate) const fn holding() -> Self {
        Self {
            backoffs: 0,
            most_backoffs: 0,
            ..Self::new()
        }
    }

    /// Returns whether the operation may still wait for other writers.
    pub(crate) fn may_wait(&self) -> bool {
        self.backoffs > 0
    }

    pub(crate) fn backoff(&mut self) {
        self.backoffs = self.backoffs.saturating_sub(1);
        backoff(BACKOFF);
    }

    /// Counts one reclaim, of a page or of keys, after which `free` pages are free. Returns true if
    /// so many reclaims were in vain that the counts of free space must be wrong.
    pub(crate) fn is_exhausted(&mut self, is_page: bool, free: u32, shards: u32) -> bool {
        if free > self.most_free {
            (self.most_free, self.in_vain) = (free, 0);
            return false;
        }
        self.in_vain += if is_page { PAGE_IN_VAIN } else { 1 };
        self.in_vain >= IN_VAIN.saturating_mul(shards)
    }

    /// Returns whether other writers have written keys since reclaims were last found to be in
    /// vain. They may have taken what was reclaimed, so the count of reclaims in vain starts over.
    pub(crate) fn others_wrote(&mut self, written: u64) -> bool {
        let is_news = self.written != Some(written);
        if is_news {
            (self.in_vain, self.most_free) = (0, 0);
            self.written = Some(written);
        }
        is_news
    }

    /// Returns whether the operation may rebuild the counts; if so, the count of reclaims in vain
    /// starts over.
    pub(crate) fn may_recount(&mut self) -> bool {
        if self.counts == 0 {
            return false;
        }
        self.counts -= 1;
        (self.in_vain, self.most_free) = (0, 0);
        true
    }

    /// Notes that something could be evicted, so other writers have published what they had
    /// claimed: waiting for them makes sense again.
    pub(crate) fn others_get_on(&mut self) {
        self.backoffs = self.most_backoffs;
    }
}

/// After how many failed tries for the same state of a key that state must be damaged.
const TRIES: u32 = 1 << 16;

/// Counts the tries of an operation that reads a key without the lock of its shard, and then acts
/// under the lock if the key has not changed.
///
/// A try fails if another writer was faster; then the key has changed, and the next read finds
/// another state. If it finds the same state again and again, reading and locking see different
/// things, so something is damaged.
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

    /// Records that a try for a key in this state failed. Returns an error after too many.
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

/// The most rounds of one operation that no other writer explains.
const MOST_ROUNDS: u32 = 1 << 16;

/// Counts the rounds of one operation. In each, the step lacked something, which was then fetched
/// without the lock. Too many rounds are damage, if nothing else can cause them:
///
/// - **Pages.** Other writers may take those that were fetched, but all of them for 65,536 rounds
///   in a row, of which each fetches some, is no accident: the counts promise pages that are not
///   there.
/// - **Directories.** What was backed stays backed. A shard can outgrow it in between, but not more
///   often than a directory doubles.
/// - **Room in the journal.** Other writers may fill it again each time, for as long as a slow disk
///   keeps the ring full. Then the journal's tail has risen, and the round does not count. If the
///   tail is where it was, nobody has taken the room, and still the step did not find it.
/// - **Pieces.** Each snapshot that begins makes those in the journal void, as often as it likes.
///   Then the position from which pieces are kept has risen, and the round does not count.
pub(super) struct RoundCount {
    counted: u32,
    /// The journal's tail when a step last lacked room in it.
    tail: u64,
    /// The position from which pieces were kept when a step last lacked some.
    keep: u64,
}

impl RoundCount {
    pub(super) const fn new() -> Self {
        Self {
            counted: 0,
            tail: u64::MAX,
            keep: u64::MAX,
        }
    }

    /// Returns how many rounds counted.
    pub(super) fn counted(&self) -> u32 {
        self.counted
    }

    /// Counts a round in which the step lacked `need`. If that is in the journal, `at` is the
    /// position that rises when another process takes it. Returns an error after too many rounds.
    pub(super) fn count(&mut self, need: Need, at: u64) -> Result<()> {
        let seen = match need {
            Need::Journal { .. } => Some(&mut self.tail),
            Need::Pieces => Some(&mut self.keep),
            Need::Pages(_) | Need::Directory { .. } | Need::UidDirectory { .. } => None,
        };
        if let Some(seen) = seen
            && std::mem::replace(seen, at) != at
        {
            return Ok(());
        }
        self.counted += 1;
        match self.counted {
            ..MOST_ROUNDS => Ok(()),
            MOST_ROUNDS.. => corrupt(match need {
                Need::Journal { .. } | Need::Pieces => "the head of the journal",
                _ => "the counts of a shard or of the pool",
            }),
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

/// Sleeps for 0.5 to 1.5 times `mean`, at random, so that writers which collided do not collide
/// again.
fn backoff(mean: Duration) {
    #[cfg(feature = "shuttle")]
    if model::is_on() {
        spin_hint();
        return;
    }
    let chance = (clock::exact_ns() % 1024) as u32;
    std::thread::sleep(mean / 2 + mean * chance / 1024);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

    /// Returns what is reported as damaged after many rounds, if anything is.
    fn damage_of(need: Need, at: impl Fn(u32) -> u64) -> Option<&'static str> {
        let mut rounds = RoundCount::new();
        (0..3 * MOST_ROUNDS).find_map(|round| match rounds.count(need, at(round)) {
            Err(Error::Corrupt { what }) => Some(what),
            _ => None,
        })
    }

    #[test]
    fn only_rounds_that_others_do_not_explain_are_damage() {
        let journal = Need::Journal { bytes: 100 };
        // Another writer took the room, or another snapshot began, each time.
        assert_eq!(damage_of(journal, u64::from), None);
        assert_eq!(damage_of(Need::Pieces, u64::from), None);
        for need in [journal, Need::Pieces] {
            assert_eq!(damage_of(need, |_| 7), Some("the head of the journal"));
        }
        for need in [
            Need::Pages(1),
            Need::Directory {
                shard: 0,
                entries: 2,
            },
            Need::UidDirectory { shard: 0 },
        ] {
            let counts = "the counts of a shard or of the pool";
            assert_eq!(damage_of(need, |_| 0), Some(counts));
        }
    }
}

//! Syncing the files of a journal, and waiting for a sync.
//!
//! A process that waits for a position becomes the one that syncs, or sleeps until another one has.
//! All records that came meanwhile are synced by one call.
//!
//! **JRN-5** `synced` rises to what `written` was before a sync that succeeded. If a sync fails,
//! nothing more is known of what was written since the one before, and the kernel does not try
//! again: the journal fails, and later changes are refused. If the owner of the sync lock dies, its
//! sync may have failed unseen, so all bytes since `synced` are written again, as long as the ring
//! has them; otherwise the journal fails.
//!
//! When a sync ends, all who waited for it go on at once, and most of them write again. If the next
//! one began at once, they would all be late for it and wait for the one after: half of the writers
//! would share each sync. So the one who syncs first waits for those whom the last sync has woken,
//! for as long as a sync takes (`gather`). They are counted when they begin to wait. After others
//! did not come in time, the next syncs begin at once.
//! Nothing depends on these counts but how many records share a sync: the dead make them wrong.

use super::draft::Draft;
use super::files::{JournalFiles, RETIRED, wake_all};
use super::record::Kind;
use super::ring::{acquire, head, record_note, tail};
use crate::error::Result;
use crate::layout::JournalHead;
#[cfg(feature = "shuttle")]
use crate::lock::is_abandoned;
use crate::lock::{FileLock, Me, PATIENCE, Taken, sleep, wake};
use crate::region::Region;
use crate::sync::Ordering;
use std::io;
use std::time::{Duration, Instant};

/// The table's clock is recorded when it has run on for so long.
const CLOCK_EVERY_MS: u64 = 1000;
/// The one who syncs waits for others for at most so long, and for at most the mean time of a sync.
const LONGEST_GATHER: Duration = Duration::from_millis(1);
/// After others did not come in time, so many syncs begin at once: at first, and at most.
const FEWEST_SKIPPED: u32 = 8;
const MOST_SKIPPED: u32 = 256;

impl JournalFiles {
    /// Returns when all records before a position survive a power failure.
    pub(crate) fn sync_to(&self, region: &Region, me: Me, position: u64) -> Result<()> {
        let head = head(region);
        let mut since = Instant::now();
        let mut has_arrived = false;
        loop {
            // Before `synced`: a sync that ends in between has raised it.
            let syncs = head.syncs.load(Ordering::Acquire);
            if head.synced.load(Ordering::Acquire) >= position {
                return Ok(());
            }
            self.check(region)?;
            if let Some(lock) = FileLock::try_acquire(&head.sync_lock, me) {
                self.sync_and_wake(region, me, lock, Taken::Clean)?;
                continue;
            }
            if is_over(head, since) {
                // The owner may have died.
                since = Instant::now();
                let (lock, taken) = FileLock::acquire(region, &head.sync_lock, me)?;
                self.sync_and_wake(region, me, lock, taken)?;
                continue;
            }
            if !std::mem::replace(&mut has_arrived, true) {
                arrive(head);
            }
            head.sleepers.fetch_add(1, Ordering::SeqCst);
            if head.syncs.load(Ordering::SeqCst) == syncs {
                sleep(&head.syncs, syncs, PATIENCE);
            }
            head.sleepers.fetch_add(u32::MAX, Ordering::Relaxed);
        }
    }

    /// Syncs, unlocks, and wakes all who wait: those whose records came too late for this sync
    /// found the lock held, and one of them must take it now.
    fn sync_and_wake(
        &self,
        region: &Region,
        me: Me,
        lock: FileLock<'_>,
        taken: Taken,
    ) -> Result<()> {
        let again = match taken {
            Taken::Clean => Ok(()),
            Taken::FromDead { .. } => self
                .check(region)
                .and_then(|()| self.write_again(region, me))
                .inspect_err(|_| self.give_up(region)),
        };
        let synced = again.and_then(|()| self.sync_locked(region, me, &lock));
        drop(lock);
        wake_all(region);
        synced
    }

    /// Fails, if it has not: the next one who syncs would not know that there is something to write
    /// again.
    #[cold]
    fn give_up(&self, region: &Region) {
        let _ = self.fail(region, io::Error::from_raw_os_error(libc::EIO));
    }

    /// Writes everything again that may have been lost unseen (JRN-5).
    #[cold]
    fn write_again(&self, region: &Region, me: Me) -> Result<()> {
        let head = head(region);
        let (_lock, _) = FileLock::acquire_next(region, &head.write_lock, me)?;
        {
            // No record is appended between the two: it would overwrite those that are still to be
            // written.
            let _records = acquire(region, me)?;
            let synced = head.synced.load(Ordering::Relaxed);
            let ring = head.ring.load(Ordering::Relaxed);
            if head.tail.load(Ordering::Acquire).saturating_sub(synced) > ring {
                return Err(self.fail(region, io::Error::from_raw_os_error(libc::EIO)));
            }
            head.written.store(synced, Ordering::Release);
        }
        self.write_locked(region)
    }

    fn sync_locked(&self, region: &Region, me: Me, _: &FileLock<'_>) -> Result<()> {
        let head = head(region);
        // Asked under the lock: after a sync that failed, another one would succeed in vain.
        self.check(region)?;
        gather(head);
        self.record_clock(region, me);
        // Those who arrive from here on may wait for the next sync.
        let waiting = head.arrivals.swap(0, Ordering::Relaxed);
        {
            let (_lock, _) = FileLock::acquire_next(region, &head.write_lock, me)?;
            self.write_locked(region)?;
        }
        let segment = head.segment.load(Ordering::Relaxed).max(1);
        let from = head.synced.load(Ordering::Relaxed);
        let until = head.written.load(Ordering::Acquire);
        if from >= until {
            return Ok(());
        }
        let begun = Instant::now();
        for number in from / segment..=(until - 1) / segment {
            let synced = self.file(number)?.sync_data();
            synced.map_err(|source| self.fail(region, source))?;
        }
        head.sync_ns.add_owned(begun.elapsed().as_nanos() as u64);
        head.synced.store(until, Ordering::Release);
        let expected = waiting.saturating_add(head.arrivals.load(Ordering::Relaxed));
        head.expected.store(expected, Ordering::Relaxed);
        Ok(())
    }

    /// Refuses all later changes through this memory, when all earlier ones are on disk.
    pub(crate) fn retire(&self, region: &Region, me: Me) -> Result<()> {
        let head = head(region);
        while !self.is_retired(region) {
            self.sync_to(region, me, tail(region))?;
            // Meanwhile nobody makes a file, or appends a record; afterwards neither.
            let (_lock, _) = FileLock::acquire(region, &head.extend_lock, me)?;
            let _records = acquire(region, me)?;
            let end = head.tail.load(Ordering::Relaxed);
            if head.synced.load(Ordering::Acquire) == end {
                let _ = head.state.cas(0, RETIRED, Ordering::Release);
            }
        }
        Ok(())
    }

    /// Records the table's clock now and then, so that a rebuilt table does not go back in time.
    fn record_clock(&self, region: &Region, me: Me) {
        let head = head(region);
        let now_ms = region.now_ms();
        if now_ms.saturating_sub(head.clock_ms.load(Ordering::Relaxed)) < CLOCK_EVERY_MS {
            return;
        }
        head.clock_ms.store(now_ms, Ordering::Relaxed);
        let mut draft = Draft::default();
        draft.begin(Kind::Clock);
        draft.push_word(now_ms);
        // Without room, the next sync records it.
        let _ = record_note(region, me, &mut draft);
    }
}

/// Counts a thread that begins to wait for a sync, after its record is in the ring.
fn arrive(head: &JournalHead) {
    let count = head.arrivals.fetch_add(1, Ordering::SeqCst).wrapping_add(1);
    if count == head.gathering.load(Ordering::SeqCst) {
        wake(&head.arrivals, 1);
    }
}

/// Waits for those who waited for the last sync: their next records may share the next one. Under
/// the sync lock.
fn gather(head: &JournalHead) {
    let order = Ordering::Relaxed;
    let expected = head.expected.load(order);
    if expected == 0 || is_modelled() {
        return;
    }
    let skip = head.skip.load(order);
    if skip > 0 {
        head.skip.store(skip - 1, order);
        return;
    }
    let syncs = head.syncs.load(order).max(1);
    let mean = Duration::from_nanos(head.sync_ns.load(order) / u64::from(syncs));
    let limit = mean.min(LONGEST_GATHER);
    let begun = Instant::now();
    head.gathering.store(expected, Ordering::SeqCst);
    let all_came = loop {
        let arrived = head.arrivals.load(Ordering::SeqCst);
        let left = limit.saturating_sub(begun.elapsed());
        if arrived >= expected || left.is_zero() {
            break arrived >= expected;
        }
        sleep(&head.arrivals, arrived, left);
    };
    head.gathering.store(0, order);
    let skipped = match all_came {
        true => 0,
        false => (2 * head.skipped.load(order)).clamp(FEWEST_SKIPPED, MOST_SKIPPED),
    };
    head.skipped.store(skipped, order);
    head.skip.store(skipped, order);
}

/// Returns whether a model runs, in which no time passes.
fn is_modelled() -> bool {
    #[cfg(feature = "shuttle")]
    return crate::sync::model::is_on();
    #[cfg(not(feature = "shuttle"))]
    false
}

/// Returns whether a thread has waited for a sync for so long that its owner may be dead.
fn is_over(head: &JournalHead, since: Instant) -> bool {
    #[cfg(feature = "shuttle")]
    if crate::sync::model::is_on() {
        // In models only the dead are late.
        return is_abandoned(&head.sync_lock);
    }
    let _ = head;
    since.elapsed() >= PATIENCE
}

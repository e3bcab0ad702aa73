//! Housekeeping that is asked for: clearing, compaction, huge pages.

use super::Table;
use super::core::Core;
use crate::alloc::{GRACE_S, give_back};
use crate::error::Result;
use crate::index::{ClearCursor, Which, clear_buckets, may_expire};
use crate::layout::{BUCKETS, ExtentState, PAGE, PageWord};
use crate::lock::Me;
use crate::sync::{Ordering, W64};
use std::time::Duration;

/// What the kernel collapses at once.
const HUGE: u64 = 2 << 20;
const PAGES_OF_HUGE: u32 = (HUGE / PAGE) as u32;
/// Buckets cleared under one hold of a shard's lock: about 200 keys.
const CLEARED: usize = 32;
/// Items moved under one hold of a shard's lock by `compact`.
const MOVES: u32 = 64;
/// Pages given back in one call by `compact` and `maintain`.
const PAGES: u32 = 256;
/// Rounds of `compact`, which ends earlier when nothing is left to do.
const ROUNDS: u32 = 1 << 20;

/// How often `compact` waits for the grace of freed pages, and how long.
const WAITS: u32 = 5;
const WAIT: Duration = Duration::from_millis(GRACE_S as u64 * 500);

/// What a call of [`Table::maintain`] did.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default)]
pub struct Maintained {
    /// Bytes that were moved to huge pages, or were found to be on huge pages already.
    pub collapsed_bytes: u64,
    /// Bytes returned to the system.
    pub given_back_bytes: u64,
    /// Whether the kernel supports it: Linux 6.1 or newer, with transparent huge pages.
    pub huge_pages_supported: bool,
    /// Whether nothing is left to move to huge pages.
    pub done: bool,
}

/// How far collapsing has come in this process: the number of the next stretch.
pub(super) struct Collapsed(W64);

impl Collapsed {
    pub(super) const fn new() -> Self {
        Self(W64::new(0))
    }
}

impl Core {
    fn remove_all(&self, which: Which) -> Result<()> {
        let me = self.writer()?;
        let may_have = |shard: &u32| which == Which::All || may_expire(self.region().shard(*shard));
        for shard in (0..self.region().geometry().shards()).filter(may_have) {
            let mut cursor = ClearCursor::default();
            while let Some(next) = self.locked(shard, me, |lock| {
                clear_buckets(lock, cursor, CLEARED, which)
            })? {
                cursor = next;
            }
        }
        Ok(())
    }

    pub(super) fn clear(&self) -> Result<()> {
        // What is being computed is of before: it is not to be stored.
        let me = self.writer()?;
        self.end_all_leases(me)?;
        self.remove_all(Which::All)?;
        self.count_remove(me);
        Ok(())
    }

    pub(super) fn remove_expired(&self) -> Result<()> {
        self.remove_all(Which::Expired)
    }

    pub(super) fn compact(&self) -> Result<u64> {
        let me = self.writer()?;
        self.reap()?;
        // What is damaged does not keep the rest from being done.
        let swept = self.remove_expired();
        for shard in 0..self.region().geometry().shards() {
            // Twice idle: the first sweep may have begun in the middle. Each round does some of the
            // work there is; counters that were damaged promise more.
            let mut idle = 0;
            let items = self.region().shard(shard).items.load(Ordering::Relaxed);
            let most = 64 + 4 * u64::from(self.region().frontier()) + items / u64::from(MOVES);
            for _ in 0..most.min(u64::from(ROUNDS)) {
                idle = if self.tend_shard(shard, me, MOVES, true)? {
                    0
                } else {
                    idle + 1
                };
                if idle == 2 {
                    break;
                }
            }
        }
        let mut given = 0;
        let mut waits = 0;
        for _ in 0..ROUNDS {
            let (bytes, too_young) = give_back(self.region(), me, PAGES, true)?;
            given += bytes;
            if too_young && waits < WAITS {
                // Their grace: a reader may be about to look at them still.
                waits += 1;
                std::thread::sleep(WAIT);
            } else if bytes == 0 {
                break;
            }
        }
        swept?;
        Ok(given)
    }

    pub(super) fn maintain(&self, budget_bytes: u64) -> Result<Maintained> {
        let me = self.writer()?;
        self.look_at_name();
        for shard in 0..self.region().geometry().shards() {
            self.sweep_shard(shard, me, Some(BUCKETS));
        }
        self.shrink(me)?;
        self.collapse_some(me, budget_bytes)
    }

    fn collapse_some(&self, me: Me, budget_bytes: u64) -> Result<Maintained> {
        let (given_back_bytes, _) = give_back(self.region(), me, PAGES, false)?;
        let mut report = Maintained {
            given_back_bytes,
            done: true,
            ..Maintained::default()
        };
        report.huge_pages_supported = true;
        let stretches = u64::from(self.region().frontier() / PAGES_OF_HUGE);
        let cursor = &self.collapsed.0;
        loop {
            let stretch = cursor.load(Ordering::Relaxed);
            if stretch >= stretches {
                return Ok(report);
            }
            if report.collapsed_bytes + HUGE > budget_bytes {
                report.done = false;
                return Ok(report);
            }
            cursor.store(stretch + 1, Ordering::Relaxed);
            if !self.is_backed(stretch as u32 * PAGES_OF_HUGE) {
                continue;
            }
            match self.region().collapse(stretch * HUGE, HUGE) {
                Ok(()) => report.collapsed_bytes += HUGE,
                // EINVAL: the kernel does not know the call.
                Err(e) if e.raw_os_error() == Some(libc::EINVAL) => {
                    report.huge_pages_supported = false;
                    return Ok(report);
                }
                // No huge page to be had, or the stretch is in use just now: skip it.
                Err(_) => {}
            }
        }
    }

    /// Whether every page of the stretch holds something, so that collapsing adds no memory.
    fn is_backed(&self, first: u32) -> bool {
        let region = self.region();
        // The words of pages before the first are not backed by memory themselves.
        first >= region.geometry().first_page
            && (first..first + PAGES_OF_HUGE).all(|page| {
                let word = region.page_word(page).load(Ordering::Relaxed);
                match PageWord::decode(word) {
                    PageWord::Slab { .. }
                    | PageWord::Segment { .. }
                    | PageWord::Large { .. }
                    | PageWord::Uids { .. } => true,
                    PageWord::Extent { number } => {
                        let extent = region.extents().get(number as usize);
                        extent.is_some_and(|extent| extent.state() == ExtentState::Live)
                    }
                    _ => false,
                }
            })
    }
}

impl Table {
    /// Removes all keys.
    ///
    /// # Errors
    /// As [`Table::remove`].
    ///
    /// # Concurrency
    /// All keys that existed at the beginning are removed at the end; a key that is set meanwhile
    /// may stay. A lock is held for about 200 keys at a time, and at most 1,792 if others write all
    /// the time.
    pub fn clear(&self) -> Result<()> {
        self.core()?.clear()
    }

    /// Removes all expired keys from memory. Writes and [`Table::maintain`] also do this in small
    /// steps; readers never see expired keys.
    ///
    /// # Errors
    /// As [`Table::remove`].
    ///
    /// # Concurrency
    /// As [`Table::clear`].
    pub fn remove_expired(&self) -> Result<()> {
        self.core()?.remove_expired()
    }

    /// Returns all unused memory to the system, and returns the number of bytes. It removes expired
    /// keys, merges sparse parts of the index, empties sparse pages, and waits up to 2.5 seconds
    /// until freed pages are no longer in use by readers. 8 bytes of page table remain for each
    /// page of 16 KiB that the table ever had.
    ///
    /// # Errors
    /// As [`Table::remove`].
    ///
    /// # Concurrency
    /// Moves at most 64 items while it holds a lock.
    pub fn compact(&self) -> Result<u64> {
        self.core()?.compact()
    }

    /// Runs a step of maintenance: moves up to `budget_bytes` of the table to huge pages if the
    /// kernel supports it (`MADV_COLLAPSE`, Linux 6.1; about 1 s per GiB), searches up to 256
    /// buckets of each shard for expired keys, and returns some unused memory to the system.
    /// Shrinks a cache to its capacity, except for pages freed less than two seconds ago. Each call
    /// continues where the last one ended; `done` says that nothing is left to move.
    ///
    /// # Errors
    /// As [`Table::remove`].
    pub fn maintain(&self, budget_bytes: u64) -> Result<Maintained> {
        self.core()?.maintain(budget_bytes)
    }
}

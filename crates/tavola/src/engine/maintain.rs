//! Housekeeping on request: clearing, compaction, collapse to huge pages.

use super::core::Core;
use crate::alloc::{GRACE_PERIOD_S, give_back};
use crate::error::Result;
use crate::index::locate::{ClearCursor, ClearScope, SweepSize, clear_some, may_expire};
use crate::layout::{ExtentState, PAGE, PageWord};
use crate::lock::Me;
use crate::sync::Ordering;
use crate::values::Maintained;
use std::time::Duration;

/// The size of a huge page.
const HUGE: u64 = 2 << 20;
const PAGES_OF_HUGE: u32 = (HUGE / PAGE) as u32;
/// Items that `compact` moves under one hold of a shard's lock.
const MOVES: u32 = 64;
/// Pages that `compact` and `maintain` give back in one call.
const PAGES: u32 = 256;
/// The most rounds of `compact`, which ends earlier if nothing is left to do.
const ROUNDS: u32 = 1 << 20;
/// How often `compact` waits for freed pages to become old enough, and for how long.
const WAITS: u32 = 5;
const WAIT: Duration = Duration::from_millis(GRACE_PERIOD_S as u64 * 500);

impl Core {
    fn remove_all(&self, which: ClearScope) -> Result<()> {
        let me = self.writer()?;
        let may_have =
            |shard: &u32| which == ClearScope::All || may_expire(self.region().shard(*shard));
        for shard in (0..self.region().geometry().shards()).filter(may_have) {
            let mut cursor = ClearCursor::default();
            while let Some(next) = self.locked(shard, me, |lock| clear_some(lock, cursor, which))? {
                cursor = next;
            }
        }
        Ok(())
    }

    pub(crate) fn clear(&self) -> Result<()> {
        // Values that are being computed now belong to before the clear: they must not be stored.
        let me = self.writer()?;
        self.end_all_leases(me)?;
        self.in_batch(|| self.remove_all(ClearScope::All))?;
        self.count_remove(me);
        Ok(())
    }

    pub(crate) fn remove_expired(&self) -> Result<()> {
        self.remove_all(ClearScope::Expired)
    }

    pub(crate) fn compact(&self) -> Result<u64> {
        let me = self.writer()?;
        self.reclaim()?;
        // If it finds damage, the rest is still done; the error is returned at the end.
        let swept = self.remove_expired();
        for shard in 0..self.region().geometry().shards() {
            // Two idle rounds end the loop, because the first sweep may have begun in the middle.
            // The bound is more than the work there can be: without it, damaged counters could
            // promise more forever.
            let mut idle = 0;
            let items = self.region().shard(shard).items.load(Ordering::Relaxed);
            let most = 64 + 4 * u64::from(self.region().high_water()) + items / u64::from(MOVES);
            for _ in 0..most.min(u64::from(ROUNDS)) {
                idle = if self.maintain_shard(shard, me, MOVES, true)? {
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
                // They are too young to be given back: a reader may still use them.
                waits += 1;
                std::thread::sleep(WAIT);
            } else if bytes == 0 {
                break;
            }
        }
        swept?;
        Ok(given)
    }

    pub(crate) fn maintain(&self, budget_bytes: u64) -> Result<Maintained> {
        let me = self.writer()?;
        self.check_name_now();
        for shard in 0..self.region().geometry().shards() {
            self.sweep_shard(shard, me, SweepSize::Large);
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
        let stretches = u64::from(self.region().high_water() / PAGES_OF_HUGE);
        let cursor = &self.collapsed;
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
                // EINVAL: this kernel does not have the call.
                Err(e) if e.raw_os_error() == Some(libc::EINVAL) => {
                    report.huge_pages_supported = false;
                    return Ok(report);
                }
                // No huge page is available, or the stretch is in use at this moment: skip it.
                Err(_) => {}
            }
        }
    }

    /// Returns whether every page of the stretch is in use, so that collapsing it adds no memory.
    fn is_backed(&self, first: u32) -> bool {
        let region = self.region();
        // Page words before that of the first page are not backed by memory.
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

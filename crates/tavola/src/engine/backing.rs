//! Fetches what a step under a lock lacks: pages and backed directories; in a full table also
//! memory that can be reclaimed.
//!
//! Backing memory may block, so it is done without the lock. The caller then takes the lock again
//! and repeats the step, which finds what was fetched or asks once more.

use super::core::Core;
use super::effort::Effort;
use crate::alloc::{
    Chain, Need, find_orphans, free_orphans, give_back, provision, recompute_overhead,
};
use crate::error::{Error, Result};
use crate::index::locate::{SweepSize, allocate_directory, note_directory};
use crate::layout::large_split;
use crate::lock::Me;
use crate::recover::reclaim;
use crate::region::no_room;
use crate::sync::Ordering;

/// How many rounds of emergency reclaim a full table gets, and how many free pages end them early.
const RECLAIMS: u32 = 64;
const RECLAIMED_PAGES: u32 = 4;
/// Items moved in each shard in one of these rounds.
const RECLAIM_MOVES: u32 = 256;
/// Entries of a uid directory that are backed at once.
const UID_DIRECTORY_STEP: u32 = 1024;

impl Core {
    #[cold]
    pub(super) fn fetch(&self, need: Need, me: Me) -> Result<()> {
        match need {
            Need::Pages(count) => provision(self.region(), me, count),
            Need::Directory { shard, entries } => {
                let back = || self.back_directory(shard, entries, me);
                self.back_outside_pages(me, u64::from(entries) * 4, back)
            }
            Need::UidDirectory { shard } => {
                let back = || self.back_uid_directory(shard, me);
                self.back_outside_pages(me, u64::from(UID_DIRECTORY_STEP) * 4, back)
            }
            Need::Journal { bytes } => self.make_room_in_journal(me, bytes),
            Need::Pieces => unreachable!("who sends pieces sends them again"),
        }
    }

    /// Backs a directory with memory before it doubles.
    fn back_directory(&self, shard: u32, entries: u32, me: Me) -> Result<()> {
        allocate_directory(self.region(), shard, entries).map_err(no_room)?;
        note_directory(&self.lock(shard, me)?, entries);
        recompute_overhead(self.region(), me)
    }

    /// Backs the next part of a uid directory with memory.
    fn back_uid_directory(&self, shard: u32, me: Me) -> Result<()> {
        let region = self.region();
        let backed = &region.shard(shard).uid_backed;
        let from = backed.load(Ordering::Relaxed);
        let until = from
            .saturating_add(UID_DIRECTORY_STEP)
            .min(1 << region.geometry().uid_dir_log2);
        let len = u64::from(until.saturating_sub(from)) * 4;
        region
            .allocate(region.uid_dir_offset(shard, from), len)
            .map_err(no_room)?;
        let lock = self.lock(shard, me)?;
        if backed.load(Ordering::Relaxed) < until {
            backed.store(until, Ordering::Relaxed);
        }
        drop(lock);
        recompute_overhead(self.region(), me)
    }

    /// Returns `None` if the table was full and memory was reclaimed: try again. A cache that lacks
    /// pages evicts keys; otherwise the memory of dead processes and sparse pages is reclaimed.
    #[inline(always)]
    pub(super) fn or_make_room<T>(
        &self,
        me: Me,
        shard: Option<u32>,
        effort: &mut Effort,
        wanted: Option<u32>,
        outcome: Result<T>,
    ) -> Result<Option<T>> {
        match (outcome, wanted) {
            (Err(Error::Full { .. }), Some(wanted))
                if self.region().is_cache() && self.evict_for(shard, me, wanted, effort)? =>
            {
                Ok(None)
            }
            (Err(Error::Full { .. }), _) if effort.reclaims > 0 => {
                effort.reclaims -= 1;
                self.reclaim_for_room(me, wanted.unwrap_or(0))?;
                Ok(None)
            }
            (outcome, _) => outcome.map(Some),
        }
    }

    /// Writes the pages of a large item, and returns them as a chain that nothing leads to yet.
    pub(crate) fn chain(&self, me: Me, key: &[u8], value: &[u8]) -> Result<Chain<'_>> {
        free_orphans(self.region(), me);
        let mut effort = Effort::new();
        let wanted = large_split(key.len() as u64 + value.len() as u64).1;
        loop {
            let built = Chain::build(self.region(), me, key, value);
            match self.or_make_room(me, None, &mut effort, Some(wanted), built) {
                Ok(Some(chain)) => return Ok(chain),
                Ok(None) => {}
                Err(error) => {
                    // Pages that were allocated for it go back to the system: other processes may
                    // need them.
                    give_back(self.region(), me, u32::MAX, false)?;
                    return Err(error);
                }
            }
        }
    }

    /// Reclaims the memory of dead participants, orphans, expired keys and sparse pages, until the
    /// pool has enough free pages.
    #[cold]
    fn reclaim_for_room(&self, me: Me, wanted: u32) -> Result<()> {
        reclaim(self.region(), &self.membership.gate, me)?;
        find_orphans(self.region(), me);
        for _ in 0..RECLAIMS {
            for shard in 0..self.region().geometry().shards() {
                self.sweep_shard(shard, me, SweepSize::Large);
                self.maintain_shard(shard, me, RECLAIM_MOVES, false)?;
            }
            if self.region().pool().free_count.load(Ordering::Relaxed)
                >= wanted.max(RECLAIMED_PAGES)
            {
                break;
            }
        }
        Ok(())
    }
}

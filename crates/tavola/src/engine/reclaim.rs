//! Room for a write in a full cache: reclaims pages of a shard, by compacting items or by evicting
//! keys.
//!
//! No loop here ends only because of a count in shared memory, which may be damaged. Each reclaim
//! takes a page or a key from a shard, and how many reclaims an operation may do in vain is bounded
//! ([`Effort::is_exhausted`]). Counts that contradict the index are rebuilt from it.

use super::core::Core;
use super::effort::{Effort, MOST_AT_ONCE};
use crate::alloc::{
    Step, Stop, available, capacity, free_orphans, in_hand, lock_pool, may_hold, rebuild_pool,
    within_reach,
};
use crate::error::{Error, Result};
use crate::index::locate::{Compacted, compact_some, evict};
use crate::layout::{LARGEST_BLOCK, Participant};
use crate::lock::{Me, ShardLock, tallies};
use crate::recover::recover;
use crate::sync::Ordering;

/// Keys evicted at once, so that the next writes find room.
const EVICTED: u32 = 4;
/// The most bytes of keys and values that are evicted at once.
const MOST_EVICTED: u64 = 4096;
/// A shard has far less than its share, or than another shard, if it has less than one part in this
/// many; and how many other shards are looked at then.
const FAR_LESS: u64 = 4;
const OTHERS: u32 = 8;

/// What a reclaim returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reclaimed {
    /// A page, which is now in the pool.
    Page,
    /// Blocks of keys that were evicted.
    Keys,
    /// There is nothing to evict.
    Nothing,
}

impl Core {
    /// Makes room for this number of pages, preferably in that shard. Returns false if there is
    /// nothing to evict and other processes have released nothing meanwhile, or if the cache is too
    /// small.
    #[cold]
    pub(crate) fn evict_for(
        &self,
        shard: Option<u32>,
        me: Me,
        wanted: u32,
        effort: &mut Effort,
    ) -> Result<bool> {
        let region = self.region();
        if wanted > MOST_AT_ONCE && !may_hold(region, wanted) {
            return Ok(self.mend_counts(me)? && may_hold(region, wanted));
        }
        loop {
            free_orphans(region, me);
            let reclaimed = self.reclaim_some(shard, me)?;
            if reclaimed != Reclaimed::Nothing {
                effort.others_get_on();
                if self.is_in_vain(shard, me, reclaimed, effort)? {
                    return Ok(false);
                }
                // If one page is wanted, a freed block may be enough.
                if wanted <= 1 || available(region) >= wanted {
                    return Ok(true);
                }
                continue;
            }
            let is_there = || within_reach(region) >= wanted.max(1);
            if !effort.may_wait() || !is_there() && in_hand(region, me) == 0 {
                return self.mend_counts(me);
            }
            effort.backoff();
            if is_there() {
                return Ok(true);
            }
        }
    }

    /// Records what was reclaimed for an operation. If the count of free pages does not change for
    /// so long that the counts must be wrong, rebuilds them, once. Returns true if that was in
    /// vain, too.
    #[inline]
    fn is_in_vain(
        &self,
        shard: Option<u32>,
        me: Me,
        reclaimed: Reclaimed,
        effort: &mut Effort,
    ) -> Result<bool> {
        let shards = match shard {
            Some(_) => 1,
            None => self.region().geometry().shards(),
        };
        let is_page = reclaimed == Reclaimed::Page;
        if !effort.is_exhausted(is_page, available(self.region()), shards)
            || effort.others_wrote(self.written())
        {
            return Ok(false);
        }
        if !effort.may_recount() {
            return Ok(true);
        }
        self.recount(shard, me)?;
        Ok(false)
    }

    /// Returns how many keys all participants have written.
    #[cold]
    fn written(&self) -> u64 {
        let of = |p: &Participant| {
            let words = [&p.sets, &p.removes];
            words
                .map(|word| word.load(Ordering::Relaxed))
                .into_iter()
                .fold(0, u64::wrapping_add)
        };
        tallies(self.region()).map(of).fold(0, u64::wrapping_add)
    }

    /// Rebuilds the counts of free space: those of a shard, or of all shards, from the items that
    /// the index leads to, and then those of the pool.
    #[cold]
    fn recount(&self, shard: Option<u32>, me: Me) -> Result<()> {
        let all = 0..self.region().geometry().shards();
        for number in all.filter(|number| shard.is_none_or(|one| one == *number)) {
            recover(&self.lock(number, me)?);
        }
        self.mend_counts(me).map(drop)
    }

    /// Reclaims some memory, or counts the pages again if there is nothing to evict. Returns false
    /// if neither helps.
    pub(crate) fn reclaim_or_mend(
        &self,
        shard: Option<u32>,
        me: Me,
        effort: &mut Effort,
    ) -> Result<bool> {
        match self.reclaim_some(shard, me)? {
            Reclaimed::Nothing => self.mend_counts(me),
            reclaimed => Ok(!self.is_in_vain(shard, me, reclaimed, effort)?),
        }
    }

    /// Reclaims some memory, preferably in that shard, where the freed blocks can be used at once.
    fn reclaim_some(&self, shard: Option<u32>, me: Me) -> Result<Reclaimed> {
        let shards = self.region().geometry().shards();
        let first = self.shard_to_reclaim_from(shard);
        let mut key = Vec::with_capacity(LARGEST_BLOCK as usize);
        // The first pass skips shards that are locked, because the lock's owner may be stopped.
        // Only if no other shard had anything does the second pass wait for them.
        for is_patient in [false, true] {
            for turn in 0..shards {
                let number = first.wrapping_add(turn) % shards;
                let lock = match is_patient || shard == Some(number) {
                    true => Some(self.lock(number, me)?),
                    false => ShardLock::try_acquire(self.region(), number, me),
                };
                let Some(lock) = lock else { continue };
                let reclaimed = reclaim_some(&lock, &mut key)?;
                if reclaimed != Reclaimed::Nothing {
                    return Ok(reclaimed);
                }
            }
        }
        Ok(Reclaimed::Nothing)
    }

    /// Returns the shard to reclaim from first: the preferred one, or else each in turn.
    ///
    /// If it has far less than its share of the bytes, as is usual for a few large values, there
    /// may be a shard that has far more. Otherwise a key that shares its shard with few others
    /// would be evicted however often it is read, and would leave next to no room.
    fn shard_to_reclaim_from(&self, preferred: Option<u32>) -> u32 {
        let shards = self.region().geometry().shards();
        let in_turn = || self.reclaims_from.fetch_add(1, Ordering::Relaxed) % shards;
        let payload = |shard: u32| self.region().shard(shard).payload.load(Ordering::Relaxed);
        let first = preferred.unwrap_or_else(in_turn);
        let share = capacity(self.region()).unwrap_or(0) / u64::from(shards);
        let has = payload(first);
        if has >= share / FAR_LESS {
            return first;
        }
        (0..OTHERS)
            .map(|_| in_turn())
            .max_by_key(|other| payload(*other))
            .filter(|other| payload(*other) / FAR_LESS > has)
            .unwrap_or(first)
    }

    /// Counts the pages again, because damaged counts may report that there is no room. Returns
    /// true if they were damaged.
    fn mend_counts(&self, me: Me) -> Result<bool> {
        let region = self.region();
        let counts = || {
            let pool = region.pool();
            let unbacked = pool.unbacked_count.load(Ordering::Relaxed);
            (unbacked, pool.overhead.load(Ordering::Relaxed))
        };
        let before = counts();
        rebuild_pool(&lock_pool(region, me)?);
        Ok(counts() != before)
    }
}

/// Reclaims a page if a shard has enough free blocks, and evicts some keys if not. Each call except
/// the last takes a page or a key from the shard, whatever its counts say: counts that contradict
/// the index are rebuilt.
pub(crate) fn reclaim_some(lock: &ShardLock<'_>, key: &mut Vec<u8>) -> Result<Reclaimed> {
    match compact_some(lock, key) {
        Ok(Compacted::Page) => return Ok(Reclaimed::Page),
        Ok(Compacted::Nothing) | Err(Stop::Need(_)) => {}
        Ok(Compacted::Contradicted) | Err(Stop::Fail(Error::Corrupt { .. })) => {
            recover(lock);
        }
        Err(Stop::Fail(error)) => return Err(error),
    }
    match evict_some(lock) {
        Ok(0) | Err(Stop::Need(_)) => Ok(Reclaimed::Nothing),
        Ok(_) => Ok(Reclaimed::Keys),
        Err(Stop::Fail(error)) => Err(error),
    }
}

/// Evicts some keys and returns how many.
fn evict_some(lock: &ShardLock<'_>) -> Step<u32> {
    let mut bytes = 0;
    for number in 0..EVICTED {
        match evict(lock)? {
            Some(evicted) => bytes += evicted,
            None => return Ok(number),
        }
        if bytes >= MOST_EVICTED {
            return Ok(number + 1);
        }
    }
    Ok(EVICTED)
}

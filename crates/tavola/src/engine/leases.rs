//! Winning and ending leases, and recording failures, by means of the records in `claims`.
//!
//! Whether an owner lives is asked without the lock. The answer "dead" stays true, since a dead
//! participant does not come back.

use super::claims::{Claim, HashedKey, Tried, end_unrecorded, try_win, wake_at};
use super::core::Core;
use crate::alloc::recompute_overhead;
use crate::error::Result;
use crate::layout::{LEASE_ENDS, LEASES};
use crate::lock::{Me, is_alive};
use crate::region::no_room;
use crate::sync::Ordering;

/// A computation that failed, as it is reported to others.
#[derive(Clone, Copy)]
pub(crate) struct FailedCompute<'a> {
    /// How long no process gets the lease again.
    pub(crate) pause_ms: u64,
    pub(crate) error: &'a [u8],
}

impl Core {
    /// Takes the lease of a key that has not changed. Returns `None` if the caller must read it
    /// again.
    pub(crate) fn win(
        &self,
        me: Me,
        named: HashedKey<'_>,
        expiry_ms: Option<u64>,
        lease_ms: u64,
    ) -> Result<Option<Claim>> {
        let (region, shard) = (self.region(), named.hash.shard());
        if !region.has_leases() {
            self.back_outside_pages(me, region.geometry().leases().1, || {
                region.back_leases().map_err(no_room)
            })?;
            recompute_overhead(region, me)?;
        }
        let mut dead = Vec::new();
        loop {
            let tried = self.locked(shard, me, |lock| {
                try_win(lock, named, expiry_ms, lease_ms, &dead)
            })?;
            let known = dead.len();
            let is_gone = |owner: &u32| *owner != 0 && !is_alive(region, *owner, me);
            match tried {
                Tried::Won(claim) => {
                    // Wakes the waiters of the lease that this record held before.
                    wake_at(region, shard, claim.number);
                    return Ok(Some(claim));
                }
                Tried::Changed => return Ok(None),
                Tried::Held(owner) => dead.extend(Some(owner).filter(is_gone)),
                Tried::Crowded(owners, claim) => {
                    dead.extend(owners.into_iter().filter(is_gone));
                    if dead.len() == known {
                        let count = &region.superblock().leases_unrecorded;
                        count.fetch_add(1, Ordering::Relaxed);
                        return Ok(Some(claim));
                    }
                }
            }
            if dead.len() == known {
                return Ok(None);
            }
        }
    }

    /// Ends a lease. Returns false if it belongs to another process by now. A failed computation is
    /// reported to others for its back-off.
    pub(crate) fn end_lease(
        &self,
        me: Me,
        named: HashedKey<'_>,
        claim: &Claim,
        failed: Option<FailedCompute<'_>>,
    ) -> Result<bool> {
        let Some(number) = claim.number else {
            return Ok(true);
        };
        let shard = named.hash.shard();
        let ended = self.locked(shard, me, |lock| {
            if !claim.is_ours(lock) {
                return Ok(false);
            }
            let record = lock.region.lease(shard, number);
            match failed {
                Some(FailedCompute { pause_ms, error }) => {
                    let until = lock.region.now_ms().saturating_add(pause_ms);
                    record.fail(named.full, until, error);
                }
                None => _ = record.free(),
            }
            Ok(true)
        })?;
        if ended {
            wake_at(self.region(), shard, Some(number));
        }
        Ok(ended)
    }

    /// Ends all leases and recorded failures: their keys are removed, or the records may be
    /// damaged.
    pub(crate) fn end_all_leases(&self, me: Me) -> Result<()> {
        if !self.region().has_leases() {
            return Ok(());
        }
        for shard in 0..self.region().geometry().shards() {
            self.locked(shard, me, |lock| {
                for number in 0..LEASES {
                    lock.region.lease(shard, number).free();
                }
                (0..u64::from(LEASE_ENDS)).for_each(|part| end_unrecorded(lock, part));
                Ok(())
            })?;
            (0..LEASES).for_each(|n| wake_at(self.region(), shard, Some(n)));
        }
        Ok(())
    }
}

//! Lease records: who has the lease of a key. They are changed under the lock of their shard, and
//! read with and without it.
//!
//! | step, under the shard's lock | others find | a survivor finds, if we die after it |
//! |---|---|---|
//! | *the record told something:* its state says free | no lease | no lease |
//! | *the same:* `ends` rises | those who slept look again | the same |
//! | hash, time, owner of the state to come: the check | a free record | a free record |
//! | the state is stored | a lease, or a failure | a lease of a dead one: it passes on |
//!
//! Whether an owner lives is asked without the lock. What was found out stays so: a participant
//! that is no more does not come back.

use crate::alloc::{Step, reckon_anew};
use crate::error::Result;
use crate::index::{Hash, Spot, find, of_value};
use crate::layout::{LEASE_ENDS, LEASES, LeaseRecord, LeaseView};
use crate::lock::{Me, PATIENCE, ShardLock, is_alive, wake};
use crate::region::{Region, no_room};
use crate::sync::{Ordering, W64};
use crate::table::core::Core;

/// A key, by which its item and its lease are found.
#[derive(Clone, Copy)]
pub(in crate::table) struct Named<'a> {
    pub(super) key: &'a [u8],
    pub(super) hash: Hash,
    /// All bits of it.
    full: u64,
}

impl<'a> Named<'a> {
    pub(in crate::table) fn of(region: &Region, key: &'a [u8]) -> Self {
        Self {
            key,
            hash: Hash::of(region, key),
            full: of_value(region, key),
        }
    }
}

/// A lease, as its owner knows it.
#[derive(Clone, Copy, Debug)]
pub(in crate::table) struct Claim {
    /// Its record, or `None` if all records were in use.
    pub(super) number: Option<u32>,
    /// The record's state as long as the lease is its owner's; without a record, the key's
    /// count of ends as long as nobody has removed or changed a key that shares it.
    word: u64,
    /// All bits of the key's hash.
    full: u64,
    /// The expiry of the key, or `None` if it was missing.
    expiry_ms: Option<u64>,
}

impl Claim {
    /// Whether the lease is still its owner's.
    fn is_ours(&self, lock: &ShardLock<'_>) -> bool {
        match self.number {
            Some(number) => lock.region.lease(lock.number, number).is_still(self.word),
            None => ends_of(lock, self.full) == self.word,
        }
    }

    /// Whether a value may be stored: the lease is still its owner's, and nobody has set the key.
    /// (Who has removed it has ended the lease.)
    pub(in crate::table) fn holds(&self, lock: &ShardLock<'_>, spot: &Spot<'_>) -> Step<bool> {
        let is_same = match expiry_at(lock, spot)? {
            None => true,
            there => there == self.expiry_ms,
        };
        Ok(is_same && self.is_ours(lock))
    }
}

/// The key's count of ends: see [`end_unrecorded`].
fn ends_of(lock: &ShardLock<'_>, full: u64) -> u64 {
    let ends = &lock.head.lease_ends[full as usize % LEASE_ENDS as usize];
    u64::from(ends.load(Ordering::Relaxed))
}

/// Ends the leases of this key that have no record: what they compute is stale. Those of other keys
/// that share the count end, too: their values are computed once more.
fn end_unrecorded(lock: &ShardLock<'_>, full: u64) {
    lock.head.lease_ends[full as usize % LEASE_ENDS as usize].add_owned(1);
}

/// Returns the expiry of the key at a spot, or `None` if it is missing.
fn expiry_at(lock: &ShardLock<'_>, spot: &Spot<'_>) -> Step<Option<u64>> {
    match spot {
        Spot::Free(_) => Ok(None),
        Spot::Taken(found) => Ok(Some(found.item(lock)?.expiry_ms())),
    }
}

/// Participants that hold the leases of a shard; 0: none.
type Owners = [u32; LEASES as usize];

/// What came of a try to win a lease.
enum Tried {
    Won(Claim),
    /// Something is not what it was seen to be: look again.
    Changed,
    /// It is another's, who may be dead.
    Held(u32),
    /// All records are taken; some of their owners may be dead. If none is, that claim counts.
    Crowded(Owners, Claim),
}

/// Returns the number and the content of the record of this key.
pub(super) fn look(region: &Region, named: Named<'_>, now_ms: u64) -> Option<(u32, LeaseView)> {
    if !region.has_leases() {
        return None;
    }
    let shard = named.hash.shard();
    let told = |n| region.lease(shard, n).read_of(named.full);
    (0..LEASES)
        .find_map(|n| told(n).map(|view| (n, view)))
        .filter(|(_, view)| !view.is_over(now_ms))
}

/// Gives the lease of a key that is as it was seen, unless it is another's.
fn try_win(
    lock: &ShardLock<'_>,
    named: Named<'_>,
    expiry_ms: Option<u64>,
    lease_ms: u64,
    dead: &[u32],
) -> Step<Tried> {
    let spot = find(lock, named.hash, named.key)?;
    if expiry_at(lock, &spot)? != expiry_ms {
        return Ok(Tried::Changed);
    }
    let now = lock.region.now_ms();
    let record = |number| lock.region.lease(lock.number, number);
    let mut number = None;
    for n in 0..LEASES {
        let Some(view) = record(n).read_of(named.full) else {
            continue;
        };
        match view.owner() {
            _ if view.is_over(now) => {}
            Some(owner) if dead.contains(&owner) => {}
            Some(owner) => return Ok(Tried::Held(owner)),
            None => return Ok(Tried::Changed),
        }
        number = Some(n);
        break;
    }
    let number = match number.map_or_else(|| place(record, now, dead), Ok) {
        Ok(number) => number,
        Err(owners) => {
            let claim = Claim {
                number: None,
                word: ends_of(lock, named.full),
                full: named.full,
                expiry_ms,
            };
            return Ok(Tried::Crowded(owners, claim));
        }
    };
    let word = record(number).hold(lock.me.id(), named.full, now.saturating_add(lease_ms));
    Ok(Tried::Won(Claim {
        number: Some(number),
        word,
        full: named.full,
        expiry_ms,
    }))
}

/// A record that is free, or over; else that of the failure that is over first.
fn place<'a>(
    record: impl Fn(u32) -> &'a LeaseRecord,
    now_ms: u64,
    dead: &[u32],
) -> std::result::Result<u32, Owners> {
    let mut owners = Owners::default();
    let mut failed: Option<(u64, u32)> = None;
    for number in 0..LEASES {
        let Some(view) = record(number).read().filter(|view| !view.is_over(now_ms)) else {
            return Ok(number);
        };
        match view.owner() {
            Some(owner) if dead.contains(&owner) => return Ok(number),
            Some(owner) => owners[number as usize] = owner,
            None if failed.is_none_or(|first| view.until_ms < first.0) => {
                failed = Some((view.until_ms, number));
            }
            None => {}
        }
    }
    failed.map(|(_, number)| number).ok_or(owners)
}

/// Ends the record of this key, which is removed, and its leases without a record: they must not
/// store what was computed before. The caller wakes the sleepers of the record.
#[inline(always)]
pub(in crate::table) fn end_of(lock: &ShardLock<'_>, key: &[u8]) -> Option<u32> {
    // Under the lock: who won a lease before backed the records before.
    match lock.region.has_leases() {
        true => end_record_of(lock, key, |_| true),
        false => None,
    }
}

/// Ends the lease of a key whose value changes while its expiry, which would show the change, does
/// not: the owner of the lease computes from the older value. A value without an expiry is never
/// stale. No process sleeps for a key that exists.
#[inline(always)]
pub(in crate::table) fn end_of_changed(lock: &ShardLock<'_>, key: &[u8], expiry_ms: u64) {
    if expiry_ms != 0 && lock.region.has_leases() {
        // That it failed stays told.
        end_record_of(lock, key, |view| view.owner().is_some());
    }
}

#[cold]
#[inline(never)]
fn end_record_of(
    lock: &ShardLock<'_>,
    key: &[u8],
    is_ended: impl Fn(&LeaseView) -> bool,
) -> Option<u32> {
    let full = of_value(lock.region, key);
    let record = |number| lock.region.lease(lock.number, number);
    let is_one = |n: &u32| record(*n).read_of(full).is_some_and(|view| is_ended(&view));
    end_unrecorded(lock, full);
    let number = (0..LEASES).find(is_one)?;
    record(number).free();
    Some(number)
}

/// Wakes who sleeps until the lease in a record ends.
pub(in crate::table) fn wake_at(region: &Region, shard: u32, number: Option<u32>) {
    if let Some(number) = number {
        wake(&region.lease(shard, number).ends, u32::MAX);
    }
}

/// When this process last asked whether the owners of leases live, in milliseconds: who serves
/// stale values meanwhile asks now and then.
pub(in crate::table) struct Asked([W64; ASKED]);

/// Records of different shards that share a place delay each other by some 10 ms.
const ASKED: usize = 64;

impl Asked {
    pub(in crate::table) fn new() -> Self {
        Self(std::array::from_fn(|_| W64::new(0)))
    }

    /// Whether it was so long ago, of this record, that it is to be asked again.
    pub(super) fn is_due(&self, shard: u32, number: u32, now_ms: u64) -> bool {
        let last = &self.0[(shard.wrapping_mul(5).wrapping_add(number)) as usize % ASKED];
        let is_due = now_ms.abs_diff(last.load(Ordering::Relaxed)) >= PATIENCE.as_millis() as u64;
        if is_due {
            last.store(now_ms, Ordering::Relaxed);
        }
        is_due
    }
}

impl Core {
    /// Takes the lease of a key that has not changed. Returns `None` if the caller must look again.
    pub(in crate::table) fn win(
        &self,
        me: Me,
        named: Named<'_>,
        expiry_ms: Option<u64>,
        lease_ms: u64,
    ) -> Result<Option<Claim>> {
        let (region, shard) = (self.region(), named.hash.shard());
        if !region.has_leases() {
            self.back_beside_pages(me, region.geometry().leases().1, || {
                region.back_leases().map_err(no_room)
            })?;
            reckon_anew(region, me)?;
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
                    // Those of the lease that was there before.
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
    pub(in crate::table) fn end_lease(
        &self,
        (me, named): (Me, Named<'_>),
        claim: &Claim,
        failed: Option<(u64, &[u8])>,
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
                Some((pause_ms, error)) => {
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
    pub(in crate::table) fn end_all_leases(&self, me: Me) -> Result<()> {
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

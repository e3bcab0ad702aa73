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

use crate::alloc::Step;
use crate::index::{Hash, Spot, find, of_value};
use crate::layout::{LEASE_ENDS, LEASES, LeaseRecord, LeaseView};
use crate::lock::{ShardLock, wake};
use crate::region::Region;
use crate::sync::Ordering;

/// A key, by which its item and its lease are found.
#[derive(Clone, Copy)]
pub(crate) struct Named<'a> {
    pub(crate) key: &'a [u8],
    pub(crate) hash: Hash,
    /// All bits of it.
    pub(crate) full: u64,
}

impl<'a> Named<'a> {
    pub(crate) fn of(region: &Region, key: &'a [u8]) -> Self {
        Self {
            key,
            hash: Hash::of(region, key),
            full: of_value(region, key),
        }
    }
}

/// A lease, as its owner knows it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Claim {
    /// Its record, or `None` if all records were in use.
    pub(crate) number: Option<u32>,
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
    pub(crate) fn is_ours(&self, lock: &ShardLock<'_>) -> bool {
        match self.number {
            Some(number) => lock.region.lease(lock.number, number).is_still(self.word),
            None => ends_of(lock, self.full) == self.word,
        }
    }

    /// Whether a value may be stored: the lease is still its owner's, and nobody has set the key.
    /// (Who has removed it has ended the lease.)
    pub(crate) fn holds(&self, lock: &ShardLock<'_>, spot: &Spot<'_>) -> Step<bool> {
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
pub(crate) fn end_unrecorded(lock: &ShardLock<'_>, full: u64) {
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
pub(crate) enum Tried {
    Won(Claim),
    /// Something is not what it was seen to be: look again.
    Changed,
    /// It is another's, who may be dead.
    Held(u32),
    /// All records are taken; some of their owners may be dead. If none is, that claim counts.
    Crowded(Owners, Claim),
}

/// Returns the number and the content of the record of this key.
pub(crate) fn record_of(
    region: &Region,
    named: Named<'_>,
    now_ms: u64,
) -> Option<(u32, LeaseView)> {
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
pub(crate) fn try_win(
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
pub(crate) fn end_of(lock: &ShardLock<'_>, key: &[u8]) -> Option<u32> {
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
pub(crate) fn end_of_changed(lock: &ShardLock<'_>, key: &[u8], expiry_ms: u64) {
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
pub(crate) fn wake_at(region: &Region, shard: u32, number: Option<u32>) {
    if let Some(number) = number {
        wake(&region.lease(shard, number).ends, u32::MAX);
    }
}

//! Lease records: which participant has the lease of a key. Records are changed under the lock of
//! their shard, and read with and without it.
//!
//! A record is changed in two steps: it becomes free, then it gets its new contents, with the state
//! last. So it never mixes two leases, and a process that dies in between leaves a free record.
//!
//! | step, under the shard's lock | others find | a survivor finds, if we die after the step |
//! |---|---|---|
//! | *if the record was in use:* its state becomes `FREE` | no lease | no lease |
//! | *likewise:* `ends` rises | waiters check the record again | the same |
//! | hash, time and the check for the new state | a free record | a free record |
//! | the state is stored | a lease, or a failure | a dead owner's lease: another gets it |
//!
//! Whether an owner lives is asked without the lock. The answer "dead" stays true, since a dead
//! participant does not come back.

use crate::alloc::Step;
use crate::index::locate::{Hash, Spot, find, of_value};
use crate::layout::{LEASE_ENDS, LEASES, LeaseRecord, LeaseView};
use crate::lock::{ShardLock, wake};
use crate::region::Region;
use crate::sync::Ordering;

/// A key with its hashes, by which its item and its lease are found.
#[derive(Clone, Copy)]
pub(crate) struct HashedKey<'a> {
    pub(crate) key: &'a [u8],
    pub(crate) hash: Hash,
    /// All bits of the hash; `hash` keeps only those that the index needs.
    pub(crate) full: u64,
}

impl<'a> HashedKey<'a> {
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
    /// Returns whether the lease is still its owner's.
    pub(crate) fn is_ours(&self, lock: &ShardLock<'_>) -> bool {
        match self.number {
            Some(number) => lock.region.lease(lock.number, number).is_still(self.word),
            None => ends_of(lock, self.full) == self.word,
        }
    }

    /// Returns whether a value may be stored: the lease is still its owner's, and nobody has set
    /// the key meanwhile. (Removing the key would have ended the lease.)
    pub(crate) fn holds(&self, lock: &ShardLock<'_>, spot: &Spot<'_>) -> Step<bool> {
        let is_same = match expiry_at(lock, spot)? {
            None => true,
            there => there == self.expiry_ms,
        };
        Ok(is_same && self.is_ours(lock))
    }
}

/// Returns the key's count of ends: see [`end_unrecorded`].
fn ends_of(lock: &ShardLock<'_>, full: u64) -> u64 {
    let ends = &lock.head.lease_ends[full as usize % LEASE_ENDS as usize];
    u64::from(ends.load(Ordering::Relaxed))
}

/// Ends the leases of this key that have no record, as the values they compute are stale. Leases of
/// other keys that share the count end as well: their values are computed once more.
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

/// The participants that hold the leases of a shard; 0: no lease in that record.
type LeaseOwners = [u32; LEASES as usize];

/// The result of an attempt to win a lease.
pub(crate) enum Tried {
    Won(Claim),
    /// Something has changed since the caller read it: read again.
    Changed,
    /// Another participant has it, which may be dead.
    Held(u32),
    /// All records are in use; some of their owners may be dead. If all owners live, the claim is
    /// valid, without a record.
    Crowded(LeaseOwners, Claim),
}

/// Returns the number and the contents of this key's record, if its time is not over.
pub(crate) fn record_of(
    region: &Region,
    named: HashedKey<'_>,
    now_ms: u64,
) -> Option<(u32, LeaseView)> {
    if !region.has_leases() {
        return None;
    }
    let shard = named.hash.shard();
    let view_of = |n| region.lease(shard, n).read_of(named.full);
    (0..LEASES)
        .find_map(|n| view_of(n).map(|view| (n, view)))
        .filter(|(_, view)| !view.is_over(now_ms))
}

/// Takes the lease of a key, if the key is as the caller saw it and no other participant that is
/// not in `dead` has the lease.
pub(crate) fn try_win(
    lock: &ShardLock<'_>,
    named: HashedKey<'_>,
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

/// Returns a record that is free or over; if there is none, that of the failure which is over
/// first.
fn place<'a>(
    record: impl Fn(u32) -> &'a LeaseRecord,
    now_ms: u64,
    dead: &[u32],
) -> std::result::Result<u32, LeaseOwners> {
    let mut owners = LeaseOwners::default();
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

/// Ends the record of this key, which is removed, and its leases without a record: values computed
/// before must not be stored. Returns the record; the caller wakes its waiters.
#[inline(always)]
pub(crate) fn end_of(lock: &ShardLock<'_>, key: &[u8]) -> Option<u32> {
    // Correct under the lock: a process that won a lease before this had backed the records before.
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
        // A recorded failure stays recorded.
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

/// Wakes the threads that wait for the end of the lease in a record.
pub(crate) fn wake_at(region: &Region, shard: u32, number: Option<u32>) {
    if let Some(number) = number {
        wake(&region.lease(shard, number).ends, u32::MAX);
    }
}

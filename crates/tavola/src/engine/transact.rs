//! Committing a transaction: what it has read is compared with what is there, and all its changes
//! are made by one store.
//!
//! A transaction keeps its writes to itself, and notes what it reads. To commit, the locks of the
//! shards of all its keys are taken, in order. If a key is not as the transaction has read it, that
//! is a conflict, and nothing was changed. Otherwise the slot of each key is led to a change
//! (`index::pending`), the commit word is stored, and the slots are led to the new items.
//!
//! **TXN-1** All reads of a transaction that commits hold at one moment, and its changes are made
//! at that moment: from the first lock taken to the last one released, no other writer changes one
//! of the keys. **TXN-2** A reader sees all changes of a transaction or none: the slots of all its
//! keys lead to changes when the commit word is stored. **TXN-3** A commit word becomes free after
//! no slot leads to a change that names it. If its owner dies, all shards are recovered first.

use super::claims::{end_of, wake_at};
use super::core::Core;
use super::decide::Commit;
use super::effort::{Effort, RoundCount};
use super::plan::{Change, Plan, SeenValue};
use super::request::{Metadata, WriteCondition, WriteRequest};
use super::write::write_with_uid;
use crate::alloc::{Chain, Need, Stamp, Step, Stop, Tags, write_large, write_small};
use crate::error::{Error, Result};
use crate::index::locate::{Hash, New, Spot, find, finish, of_value, pend, undo};
use crate::journal::{Draft, most_inline};
use crate::lock::{Me, ShardLock, ShardLocks};
use crate::recover::{lock_shards, reclaim_dead};
use std::collections::BTreeMap;

/// What a transaction has read, and what it will write.
#[derive(Default)]
pub(crate) struct Work {
    pub(crate) reads: BTreeMap<Vec<u8>, Option<SeenValue>>,
    pub(crate) writes: BTreeMap<Vec<u8>, Change>,
}

/// A key that was read.
struct Read<'w> {
    key: &'w [u8],
    hash: Hash,
    seen: Option<SeenValue>,
}

impl Core {
    /// Commits. Returns false, and changes nothing, if a key is not as it was read.
    pub(crate) fn commit(&self, work: &Work) -> Result<bool> {
        let me = self.writer()?;
        let reads = self.reads_of(work);
        let mut plans = self.plans_of(work, me)?;
        let shard_of = |hash: Hash| hash.shard();
        let mut shards: Vec<u32> = reads.iter().map(|read| shard_of(read.hash)).collect();
        shards.extend(plans.iter().map(|plan| shard_of(plan.hash)));
        shards.sort_unstable();
        shards.dedup();
        // Allocated here, as little is allocated under locks (LOCK-2).
        let longest = reads.iter().filter_map(|read| read.seen).map(|s| s.len);
        let mut value = Vec::with_capacity(longest.max().unwrap_or(0));
        let commit = match plans.is_empty() {
            true => None,
            false => Some(Commit::open(self, me)?),
        };
        let mut draft = self.draft_for(me, &mut plans)?;
        let mut effort = Effort::holding();
        let mut rounds = RoundCount::new();
        loop {
            let locks = self.lock_all(&shards, me)?;
            if !all_hold(&locks, &reads, &mut value)? {
                return Ok(false);
            }
            let Some(commit) = &commit else {
                return Ok(true);
            };
            let decided = self
                .pend_all(&locks, &mut plans, commit)
                .and_then(|()| decide_all(&locks, &mut plans, commit, &mut draft));
            match decided {
                Ok(()) => {
                    // Whatever this returns, no round follows: the changes are made.
                    let finished = finish_all(&locks, &mut plans);
                    drop(locks);
                    let waited = self.after_commit(me, &plans);
                    return finished.and(waited).map(|()| true);
                }
                Err(Stop::Fail(error)) => return Err(error),
                Err(Stop::Need(Need::Pieces)) => {
                    drop(locks);
                    self.count_round(&mut rounds, Need::Pieces)?;
                    draft = self.draft_for(me, &mut plans)?;
                }
                Err(Stop::Need(need)) => {
                    drop(locks);
                    let round = rounds.counted();
                    self.count_round(&mut rounds, need)?;
                    self.fetch_more(me, need, round, &mut effort)?;
                }
            }
        }
    }

    fn reads_of<'w>(&self, work: &'w Work) -> Vec<Read<'w>> {
        let read_of = |(key, seen): (&'w Vec<u8>, &Option<SeenValue>)| Read {
            key,
            hash: Hash::of(self.region(), key),
            seen: *seen,
        };
        work.reads.iter().map(read_of).collect()
    }

    /// Returns the keys to change, in the order of their shards. Large values are written here.
    fn plans_of<'w>(&'w self, work: &'w Work, me: Me) -> Result<Vec<Plan<'w>>> {
        let mut plans = Vec::with_capacity(work.writes.len());
        for (key, change) in &work.writes {
            let chain = match change {
                Change::Set { value, .. } if self.needs_chain(key, value)? => {
                    Some(self.chain(me, key, value)?)
                }
                _ => None,
            };
            plans.push(Plan {
                key,
                hash: Hash::of(self.region(), key),
                change,
                chain,
                pieces: 0,
                pending: None,
                ended: None,
            });
        }
        plans.sort_by_key(|plan| plan.hash.shard());
        Ok(plans)
    }

    /// Locks the shards, whose numbers rise.
    fn lock_all(&self, shards: &[u32], me: Me) -> Result<ShardLocks<'_>> {
        loop {
            let (locks, dead) = lock_shards(self.region(), shards, me)?;
            let Some(dead) = dead else {
                return Ok(locks);
            };
            drop(locks);
            reclaim_dead(self.region(), &self.membership.gate, me, dead)?;
        }
    }

    /// Leads the slots of all keys to changes, or of none if a step lacks something.
    fn pend_all<'w>(
        &self,
        locks: &ShardLocks<'_>,
        plans: &mut [Plan<'w>],
        commit: &Commit<'_>,
    ) -> Step<()> {
        for at in 0..plans.len() {
            let lock = locks.of(plans[at].hash.shard());
            if let Err(stop) = self.pend_one(lock, &mut plans[at], commit) {
                return undo_all(locks, &mut plans[..at]).and(Err(stop));
            }
        }
        Ok(())
    }

    /// Leads the slot of one key to a change.
    fn pend_one(&self, lock: &ShardLock<'_>, plan: &mut Plan<'_>, commit: &Commit<'_>) -> Step<()> {
        let spot = find(lock, plan.hash, plan.key)?;
        let new = match plan.change {
            Change::Remove if matches!(spot, Spot::Free(_)) => return Ok(()),
            Change::Remove => None,
            Change::Set {
                value,
                stamp,
                tags,
                keep,
            } => {
                let tags = tags.as_deref().unwrap_or(&Tags::NONE);
                let metadata = Metadata::new(Stamp { tags, ..*stamp }, *keep);
                let request = WriteRequest {
                    participant: lock.me,
                    key: plan.key,
                    hash: plan.hash,
                    condition: WriteCondition::Always,
                    uid_policy: self.uid_policy,
                    metadata: Some(&metadata),
                };
                let new = write_item(lock, &request, &spot, value, plan.chain.as_ref())?;
                Some(New {
                    pieces: plan.pieces,
                    ..new
                })
            }
        };
        plan.pending = Some(pend(lock, plan.hash, spot, new, commit.number)?);
        Ok(())
    }

    /// Fetches what a step lacked, without locks: more each time, as each round begins again.
    #[cold]
    fn fetch_more(&self, me: Me, need: Need, round: u32, effort: &mut Effort) -> Result<()> {
        let need = match need {
            Need::Pages(count) => Need::Pages(count.max(1 << round.min(8))),
            other => other,
        };
        let wanted = match need {
            Need::Pages(count) => Some(count),
            Need::Directory { .. } | Need::UidDirectory { .. } => None,
            Need::Journal { .. } | Need::Pieces => None,
        };
        let fetched = self.fetch(need, me);
        self.or_make_room(me, None, effort, wanted, fetched)?;
        Ok(())
    }

    fn after_commit(&self, me: Me, plans: &[Plan<'_>]) -> Result<()> {
        for plan in plans {
            wake_at(self.region(), plan.hash.shard(), plan.ended);
        }
        plans.iter().try_for_each(|_| self.after_step(me))
    }

    /// Returns a record with room for all changes. Values that are too large for it are sent
    /// before, in pieces.
    fn draft_for(&self, me: Me, plans: &mut [Plan<'_>]) -> Result<Draft> {
        let mut draft = Draft::default();
        if !self.region().is_journaled() {
            return Ok(draft);
        }
        let inline: usize = plans.iter().map(|plan| plan.inline_bytes()).sum();
        let most = most_inline(self.region()) as usize;
        for plan in plans.iter_mut() {
            if let Change::Set { value, .. } = plan.change
                && (plan.chain.is_some() || inline > most)
            {
                plan.pieces = self.send_pieces(me, value)?;
            }
        }
        let bytes: usize = plans.iter().map(|plan| plan.inline_bytes()).sum();
        if bytes > most {
            // As many of these keys take as much as there may be.
            let limit = (plans.len() * most / bytes) as u32;
            return Err(Error::TransactionTooLarge { limit });
        }
        draft.reserve(bytes);
        Ok(draft)
    }

    /// Returns how a value looks that a transaction reads.
    pub(crate) fn seen(&self, version: u64, flags: u32, value: &[u8]) -> SeenValue {
        SeenValue {
            token: self.token(version, value).0,
            len: value.len(),
            flags,
        }
    }
}

/// Writes the item of a key that is set.
fn write_item(
    lock: &ShardLock<'_>,
    request: &WriteRequest<'_>,
    spot: &Spot<'_>,
    value: &[u8],
    chain: Option<&Chain<'_>>,
) -> Step<New> {
    let key = request.key;
    let mut room = None;
    let stamp = request.stamp(lock, spot, &mut room)?;
    let (item_ref, hint) = write_with_uid(lock, request.uid_policy, spot, |hint| match chain {
        Some(chain) => write_large(lock, chain, key, value, hint, &stamp),
        None => write_small(lock, key, value, hint, &stamp),
    })?;
    Ok(New::small(item_ref, key.len() + value.len(), hint))
}

/// Commits, or leads all slots to what their keys had.
fn decide_all(
    locks: &ShardLocks<'_>,
    plans: &mut [Plan<'_>],
    commit: &Commit<'_>,
    draft: &mut Draft,
) -> Step<()> {
    match commit.decide(locks, plans, draft) {
        Ok(()) => Ok(()),
        Err(stop) => undo_all(locks, plans).and(Err(stop)),
    }
}

/// Leads the slots of all keys to their new items, after the commit.
fn finish_all(locks: &ShardLocks<'_>, plans: &mut [Plan<'_>]) -> Result<()> {
    // Damage does not keep the other keys from their new items.
    let mut outcome = Ok(());
    for plan in plans {
        let lock = locks.of(plan.hash.shard());
        outcome = outcome.and(end_step(finish_one(lock, plan)));
    }
    outcome
}

/// Returns what a step returned that frees or reads, and so never lacks anything.
fn end_step<T>(step: Step<T>) -> Result<T> {
    match step {
        Ok(done) => Ok(done),
        Err(Stop::Fail(error)) => Err(error),
        Err(Stop::Need(_)) => unreachable!("what frees or reads lacks nothing"),
    }
}

/// Leads the slot of one key to its new item.
fn finish_one(lock: &ShardLock<'_>, plan: &mut Plan<'_>) -> Step<()> {
    if matches!(plan.change, Change::Remove) {
        // Values that are being computed now belong to before the removal.
        plan.ended = end_of(lock, plan.key);
    }
    let Some(pending) = plan.pending.take() else {
        return Ok(());
    };
    finish(lock, &pending, || {
        if let Some(chain) = plan.chain.take() {
            chain.publish_pages(lock);
        }
    })
}

fn undo_all(locks: &ShardLocks<'_>, plans: &mut [Plan<'_>]) -> Step<()> {
    for plan in plans.iter_mut().rev() {
        if let Some(pending) = plan.pending.take() {
            undo(locks.of(plan.hash.shard()), &pending)?;
        }
    }
    Ok(())
}

/// Returns whether all keys are as they were read.
fn all_hold(locks: &ShardLocks<'_>, reads: &[Read<'_>], value: &mut Vec<u8>) -> Result<bool> {
    for read in reads {
        if !end_step(holds(locks.of(read.hash.shard()), read, value))? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn holds(lock: &ShardLock<'_>, read: &Read<'_>, value: &mut Vec<u8>) -> Step<bool> {
    let found = find(lock, read.hash, read.key)?.found();
    let (Some(found), Some(seen)) = (found, read.seen) else {
        return Ok(found.is_none() && read.seen.is_none());
    };
    let item = found.item(lock)?;
    let shown = item.shown();
    if shown.client != seen.flags {
        return Ok(false);
    }
    if shown.version != 0 {
        return Ok(shown.version == seen.token);
    }
    value.clear();
    if !item.copy_value(value) {
        return crate::alloc::corrupt("an item");
    }
    Ok(value.len() == seen.len && of_value(lock.region, value) == seen.token)
}

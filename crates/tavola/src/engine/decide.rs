//! The one store by which a transaction commits.

use super::core::Core;
use super::plan::Plan;
use crate::alloc::{Need, Step, Stop};
use crate::error::Result;
use crate::index::locate::{is_lost, record_pending};
use crate::journal::{Appended, Draft, Kind, is_kept, record_all};
use crate::layout::{COMMITS, CommitWord};
use crate::lock::{Me, PATIENCE, ShardLocks, is_alive};
use crate::recover::reclaim_dead;
use crate::region::Region;
#[cfg(feature = "shuttle")]
use crate::sync::model;
use crate::sync::{Ordering, W64, spin_hint};
use std::time::Instant;

/// Records the changes of all keys and commits.
fn record_changes(
    region: &Region,
    commit: &Appended<'_>,
    plans: &[Plan<'_>],
    draft: &mut Draft,
    me: Me,
) -> Step<()> {
    write_changes(region, plans, draft)?;
    if draft.changes() == 0 {
        commit.place.store(commit.word, Ordering::Release);
        return Ok(());
    }
    record_all(region, me, commit, draft, |draft| {
        let stale = |plan: &Plan<'_>| plan.pieces != 0 && !is_kept(region, plan.pieces);
        if plans.iter().any(stale) {
            return Err(Stop::Need(Need::Pieces));
        }
        let lost = |plan: &Plan<'_>| {
            let new = plan.pending.as_ref().and_then(|pending| pending.new);
            new.is_some_and(|new| is_lost(region, new.item_ref))
        };
        if !plans.iter().any(lost) {
            return Ok(false);
        }
        write_changes(region, plans, draft)?;
        Ok(true)
    })
}

fn write_changes(region: &Region, plans: &[Plan<'_>], draft: &mut Draft) -> Step<()> {
    draft.begin(Kind::Commit);
    for pending in plans.iter().filter_map(|plan| plan.pending.as_ref()) {
        record_pending(region, draft, pending)?;
    }
    Ok(())
}

/// A commit word that this thread has.
pub(super) struct Commit<'a> {
    word: &'a W64,
    pub(super) number: u32,
    owner: u32,
    me: Me,
}

impl<'a> Commit<'a> {
    /// Opens a commit word, and waits for one if all are taken. Their owners hold them for a moment
    /// only; those of the dead are reclaimed.
    pub(super) fn open(core: &'a Core, me: Me) -> Result<Self> {
        let region = core.region();
        let open = CommitWord::Open { owner: me.id() }.encode();
        let since = Instant::now();
        let mut asked = since;
        loop {
            for number in 0..COMMITS as u32 {
                let Some(word) = region.superblock().commit_word(number) else {
                    continue;
                };
                // Pairs with the release in `drop`: its last changes are finished.
                if word.load(Ordering::Relaxed) == 0 && word.cas(0, open, Ordering::Acquire).is_ok()
                {
                    return Ok(Self {
                        word,
                        number,
                        owner: me.id(),
                        me,
                    });
                }
            }
            spin_hint();
            #[cfg(feature = "shuttle")]
            if model::is_on() {
                continue;
            }
            std::thread::yield_now();
            if asked.elapsed() >= PATIENCE {
                asked = Instant::now();
                reclaim_owners(core, region, me)?;
            }
        }
    }

    /// Commits: one store changes all keys. In a durable table it is recorded.
    pub(super) fn decide(
        &self,
        locks: &ShardLocks<'_>,
        plans: &[Plan<'_>],
        draft: &mut Draft,
    ) -> Step<()> {
        let owner = self.owner;
        let committed = CommitWord::Committed { owner }.encode();
        let Some(region) = plans.first().map(|plan| locks.of(plan.hash.shard()).region) else {
            return Ok(());
        };
        if !region.is_journaled() {
            // Pairs with the acquire in `index::pending`.
            self.word.store(committed, Ordering::Release);
            return Ok(());
        }
        let change = Appended {
            place: self.word,
            word: committed,
        };
        record_changes(region, &change, plans, draft, self.me)
    }
}

impl Drop for Commit<'_> {
    fn drop(&mut self) {
        // After a panic, slots may lead to changes that name it: then it stays until this process
        // is reclaimed, and all shards are recovered (TXN-3).
        if !std::thread::panicking() {
            self.word
                .store(CommitWord::Free.encode(), Ordering::Release);
        }
    }
}

/// Reclaims the dead among the owners of commit words.
#[cold]
fn reclaim_owners(core: &Core, region: &Region, me: Me) -> Result<()> {
    for number in 0..COMMITS as u32 {
        let word = region
            .superblock()
            .commit_word(number)
            .map_or(0, |word| word.load(Ordering::Relaxed));
        if let Some(owner) = CommitWord::decode(word).owner()
            && owner != me.id()
            && !is_alive(region, owner, me)
        {
            reclaim_dead(region, &core.membership.gate, me, owner)?;
        }
    }
    Ok(())
}

//! Reclaiming what dead participants held: their locks, the pages they had claimed, their slots.
//!
//! The order makes it safe. Shards come first, because recovery decides which pages the dead
//! process had published; only what is left then counts as claimed by it and is released.

use super::lock_shard;
use crate::alloc::release_claims;
use crate::error::Result;
use crate::layout::CommitWord;
use crate::lock::{
    Gate, Me, adopt, clear_resources, is_alive, members, owner_of, resources_of, retire,
};
use crate::region::Region;
use crate::sync::Ordering;
use std::time::Duration;

/// How often to look at a shard that is held, and the pause in between. The holder may only be
/// stopped, and must not hold this process up for long.
const ATTEMPTS: u32 = 50;
const PAUSE: Duration = Duration::from_millis(1);

/// Reclaims the resources of all dead participants, and returns how many there were.
pub(crate) fn reclaim(region: &Region, gate: &Gate, me: Me) -> Result<u32> {
    let mut reclaimed = 0;
    for member in members(region) {
        if member.id != me.id() && !is_alive(region, member.id, me) {
            reclaimed += u32::from(reclaim_dead(region, gate, me, member.id)?);
        }
    }
    Ok(reclaimed)
}

/// Reclaims the resources of one dead participant. Returns false if another process or thread is
/// doing that, or if it could not be finished.
pub(crate) fn reclaim_dead(region: &Region, gate: &Gate, me: Me, dead: u32) -> Result<bool> {
    let Some(_inside) = gate.try_enter() else {
        return Ok(false);
    };
    let Some(adopted) = adopt(region, dead, me) else {
        return Ok(false);
    };
    let outcome = reclaim_one(region, me, dead)
        .and_then(|reclaimed| Ok(reclaimed && reclaim_participant(region, me, dead)?));
    retire(region, adopted, matches!(outcome, Ok(true)));
    outcome
}

/// Reclaims the resources that participant `of` took over with its slot, if there are any. Returns
/// false if that could not be finished.
pub(crate) fn reclaim_participant(region: &Region, me: Me, of: u32) -> Result<bool> {
    let dead = resources_of(region, of);
    if dead == 0 {
        return Ok(true);
    }
    let reclaimed = reclaim_one(region, me, dead)?;
    if reclaimed {
        clear_resources(region, of);
    }
    Ok(reclaimed)
}

/// Releases the locks of a dead participant and the pages it had claimed. Returns false if the rest
/// must wait: another process may just be recovering what the dead one published, or more pages are
/// left than one call releases.
fn reclaim_one(region: &Region, me: Me, dead: u32) -> Result<bool> {
    // Shards first: pages that the dead process had published then belong to a shard, and are not
    // taken for claimed ones. The present owner of a shard may have taken the lock over from `dead`
    // and may still be recovering; the recovery is over once the lock was seen free, or was
    // acquired here.
    for shard in 0..region.geometry().shards() {
        let word = &region.shard(shard).lock;
        let mut seen_free = false;
        for _ in 0..ATTEMPTS {
            match owner_of(word) {
                0 => seen_free = true,
                owner if is_alive(region, owner, me) => std::thread::sleep(PAUSE),
                _ => {
                    drop(lock_shard(region, shard, me)?);
                    seen_free = true;
                }
            }
            if seen_free {
                break;
            }
        }
        if !seen_free {
            return Ok(false);
        }
    }
    free_commits(region, dead);
    release_claims(region, me, dead)
}

/// Frees the commit words of a dead participant. No slot leads to its changes any more, as all
/// shards were recovered.
fn free_commits(region: &Region, dead: u32) {
    for word in &region.superblock().commits {
        let seen = word.load(Ordering::Relaxed);
        if CommitWord::decode(seen).owner() == Some(dead) {
            // Pairs with the acquire in `Commit::open`.
            let _ = word.cas(seen, CommitWord::Free.encode(), Ordering::Release);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Table;

    #[test]
    fn commit_words_of_the_dead_are_free_again_and_others_stay() {
        let table = Table::options().max_size(1 << 20).private().unwrap();
        table.set("key", "value").unwrap();
        let core = table.core().unwrap();
        let (region, me) = (core.region(), core.writer().unwrap());
        let dead = me.id() + (1 << 12);
        let mine = CommitWord::Open { owner: me.id() };
        let states = [
            CommitWord::Open { owner: dead },
            CommitWord::Committed { owner: dead },
            mine,
        ];
        let words = &region.superblock().commits;
        for (word, state) in words.iter().zip(states) {
            word.store(state.encode(), Ordering::Release);
        }
        assert!(reclaim_one(region, me, dead).unwrap());
        let left = words.iter().map(|word| word.load(Ordering::Relaxed));
        let left: Vec<u64> = left.filter(|word| *word != 0).collect();
        assert_eq!(left, [mine.encode()]);
    }
}

//! Settling the estate of dead participants: their locks, the pages they had in hand, their slots.

use super::lock_shard;
use crate::alloc::release_claims;
use crate::error::Result;
use crate::lock::{
    Gate, Me, adopt, clear_resources, is_alive, members, owner_of, resources_of, retire,
};
use crate::region::Region;
use std::time::Duration;

/// How often a shard that is held is looked at, and the pause between two looks: a holder that is
/// merely stopped must not stop us for long.
const LOOKS: u32 = 50;
const PAUSE: Duration = Duration::from_millis(1);

/// Settles the estates of all participants that died; says how many.
pub(crate) fn reclaim(region: &Region, gate: &Gate, me: Me) -> Result<u32> {
    let mut reclaimed = 0;
    for member in members(region) {
        if member.id != me.id() && !is_alive(region, member.id, me) {
            reclaimed += u32::from(reclaim_dead(region, gate, me, member.id)?);
        }
    }
    Ok(reclaimed)
}

/// Settles the estate of one dead participant, unless somebody else does.
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

/// Settles the estate that participant `of` took over with its slot, if there is one.
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

/// What a dead participant left: its locks, and the pages it had in hand. False: somebody may just
/// be recovering what it published, and its pages must wait; or there are more of them.
fn reclaim_one(region: &Region, me: Me, dead: u32) -> Result<bool> {
    // First the shards: what it had published then counts as the shard's, not as in its hands. A
    // shard that another holds may have been taken over from `dead`: once it is seen free, or
    // passes through our hands, it is recovered.
    for shard in 0..region.geometry().shards() {
        let word = &region.shard(shard).lock;
        let mut seen_free = false;
        for _ in 0..LOOKS {
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
    release_claims(region, me, dead)
}

//! Which locks are held for long, and by whom.

use super::core::Core;
use crate::error::{Holder, Lock};
use crate::lock::{holder, owner_of};
use std::time::Duration;

/// How many snapshots of the locks are compared, and the pause in between. A lock is normally held
/// for less than a microsecond, so one that has the same owner in all of them is stuck.
const SNAPSHOTS: usize = 3;
const PAUSE: Duration = Duration::from_millis(20);

impl Core {
    /// Returns the locks that are held at this moment, and by which participants.
    fn held(&self) -> Vec<(Lock, u32)> {
        let region = self.region();
        let shards = (0..region.geometry().shards())
            .map(|number| (Lock::Shard(number), owner_of(&region.shard(number).lock)));
        let pool = (Lock::Pool, owner_of(&region.pool().lock));
        shards
            .chain([pool])
            .filter(|(_, owner)| *owner != 0)
            .collect()
    }

    pub(crate) fn lock_holders(&self) -> Vec<Holder> {
        let mut held = self.held();
        for _ in 1..SNAPSHOTS {
            if held.is_empty() {
                break;
            }
            std::thread::sleep(PAUSE);
            let now = self.held();
            held.retain(|one| now.contains(one));
        }
        let of = |(lock, owner)| holder(self.region(), lock, owner, self.participant());
        held.into_iter().map(of).collect()
    }
}

//! How many keys are live, and how many have expired but still take space.

use super::core::Core;
use super::stats::keys_of;
use crate::index::locate::{may_expire, sample_keys};
use crate::values::LiveKeys;

impl Core {
    pub(crate) fn live_keys(&self) -> LiveKeys {
        let region = self.region();
        let (mut keys, mut mortal, mut shards) = (0, 0, Vec::new());
        for shard in 0..region.geometry().shards() {
            let head = region.shard(shard);
            keys += keys_of(head);
            if may_expire(head) {
                mortal += keys_of(head);
                shards.push(shard);
            }
        }
        let sampled = sample_keys(region, &shards);
        let (seen, mut over) = (sampled.keys, sampled.over);
        if !sampled.is_all && seen > 0 {
            over = (u128::from(over) * u128::from(mortal) / u128::from(seen)) as u64;
        }
        let unreclaimed = over.min(keys);
        LiveKeys {
            live: keys - unreclaimed,
            unreclaimed,
            is_estimate: !sampled.is_all,
        }
    }
}

//! How many keys are live, and how many have expired but still take space.

use super::core::Core;
use super::stats::keys_of;
use crate::index::{entries, keys_on, may_expire};
use crate::values::LiveKeys;

/// The most segments to scan, which takes some milliseconds. If there are more, a sample of them,
/// evenly spaced.
const SEGMENTS: usize = 64;

impl Core {
    pub(crate) fn live_keys(&self) -> LiveKeys {
        let region = self.region();
        let (mut keys, mut mortal, mut pages) = (0, 0, Vec::new());
        for shard in 0..region.geometry().shards() {
            let head = region.shard(shard);
            keys += keys_of(head);
            if may_expire(head) {
                mortal += keys_of(head);
                pages.extend(entries(region, shard).map(|(_, page)| (shard, page)));
            }
        }
        let step = pages.len().div_ceil(SEGMENTS).max(1);
        let (mut seen, mut over) = (0, 0);
        for (shard, page) in pages.into_iter().step_by(step) {
            let found = keys_on(region, shard, page);
            seen += found.keys;
            over += found.over;
        }
        let is_estimate = step > 1;
        if is_estimate && seen > 0 {
            over = (u128::from(over) * u128::from(mortal) / u128::from(seen)) as u64;
        }
        let unreclaimed = over.min(keys);
        LiveKeys {
            live: keys - unreclaimed,
            unreclaimed,
            is_estimate,
        }
    }
}

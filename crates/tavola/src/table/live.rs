//! How many keys are live, and how many have expired and still take their room.

use super::Table;
use super::core::Core;
use super::stats::keys_of;
use crate::error::Result;
use crate::index::{entries, keys_on, may_expire};

/// Segments that are searched at most: some milliseconds. Of more, some in equal distances.
const SEGMENTS: usize = 64;

/// The number of live and expired keys; from [`Table::live_keys`].
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LiveKeys {
    /// Keys that a read finds.
    pub live: u64,
    /// Keys that have expired or were invalidated, and use memory until they are removed.
    pub unreclaimed: u64,
    /// Whether both numbers are estimates from a part of the keys, because many keys of the table
    /// expire.
    pub is_estimate: bool,
}

impl Core {
    fn live_keys(&self) -> LiveKeys {
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

impl Table {
    /// Counts the keys that a read finds, and those that have expired or were invalidated but are
    /// not removed yet. [`Stats::keys`](crate::Stats::keys) is the sum of both. It reads only keys
    /// that have a TTL or tags, and at most about 100,000 of them; beyond that the result is an
    /// estimate.
    ///
    /// # Examples
    /// ```
    /// # let table = tavola::Table::options().max_size(1 << 20).private()?;
    /// let tags = table.fetch_tags(&["group"])?;
    /// table.set_tagged(b"a", b"1", tavola::Attributes::default(), &tags)?;
    /// table.set(b"b", b"2")?;
    /// table.invalidate_tag(b"group")?;
    /// let keys = table.live_keys()?;
    /// assert_eq!((keys.live, keys.live + keys.unreclaimed), (1, table.len()?));
    /// # Ok::<(), tavola::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of mapping the table.
    ///
    /// # Concurrency
    /// Takes no lock. While others write, the numbers are not a snapshot of one moment.
    pub fn live_keys(&self) -> Result<LiveKeys> {
        Ok(self.core()?.live_keys())
    }
}

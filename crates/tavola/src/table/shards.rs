//! What each shard holds and does.

use super::Table;
use crate::engine::keys_of;
use crate::error::Result;
use crate::sync::Ordering;

/// Statistics of one shard; from [`Table::shard_stats`].
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ShardStats {
    /// Its number, from 0 on.
    pub number: u32,
    /// Keys.
    pub keys: u64,
    /// Bytes of their keys and values.
    pub payload_bytes: u64,
    /// Explicit sets, changes and removals of its keys since the table was created.
    pub writes: u64,
    /// Keys that were evicted from it since the table was created.
    pub evicted: u64,
    /// Recoveries after the death of a writer since the table was created.
    pub recoveries: u32,
}

impl Table {
    /// Returns statistics of each shard. While others write, they are not a snapshot of one moment.
    ///
    /// # Errors
    /// Currently none.
    pub fn shard_stats(&self) -> Result<Vec<ShardStats>> {
        let region = self.core()?.region();
        let order = Ordering::Relaxed;
        let of = |number| {
            let head = region.shard(number);
            let evicted = [&head.evicted_new, &head.evicted_old].map(|word| word.load(order));
            let writes = [&head.in_place, &head.changes].map(|word| word.load(order));
            ShardStats {
                number,
                keys: keys_of(head),
                payload_bytes: head.payload.load(order),
                writes: writes[0].wrapping_add(writes[1]),
                evicted: evicted[0].wrapping_add(evicted[1]),
                recoveries: head.recoveries.load(order),
            }
        };
        Ok((0..region.geometry().shards()).map(of).collect())
    }
}

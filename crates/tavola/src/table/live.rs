//! How many keys are live.

use super::Table;
use crate::error::Result;
use crate::values::LiveKeys;

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

//! How long reads and writes of a cache take.

use super::Table;
use crate::error::Result;
use crate::values::Latencies;

impl Table {
    /// Returns the sampled latencies of reads and writes of a cache. For other tables all counts
    /// are 0.
    ///
    /// # Errors
    /// Currently none.
    pub fn latencies(&self) -> Result<Latencies> {
        Ok(self.core()?.latencies())
    }
}

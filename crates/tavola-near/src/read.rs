//! Reads of a near cache: a hit takes no system call and no word of the daemon.

use crate::clock;
use crate::error::Result;
#[cfg(test)]
use crate::mistake::{Mistake, is_made};
use crate::shared::{Shared, Trust};
use crate::sync::{Ordering, fence, step};
use std::fmt;
use std::sync::Arc;
use tavola::Table;

/// Bytes after each value in the table: the epoch of its fill.
pub(crate) const MARK: usize = 8;

/// When a reader reads the clock, and what may happen between its steps.
pub(crate) trait Pace {
    /// Comes between two steps of a read.
    fn pause(&mut self) {}

    fn now_ms(&mut self) -> u64;
}

/// The pace of real readers: no pause, the clock of the last tick.
pub(crate) struct Coarse;

impl Pace for Coarse {
    #[inline(always)]
    fn now_ms(&mut self) -> u64 {
        clock::coarse_ms()
    }
}

/// Reads values that are fresh enough.
#[derive(Clone)]
pub(crate) struct Reader {
    table: Arc<Table>,
    shared: Shared,
}

impl fmt::Debug for Reader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Reader").field(&self.table.path()).finish()
    }
}

impl Reader {
    pub(crate) fn new(table: Arc<Table>, shared: Shared) -> Self {
        Self { table, shared }
    }

    pub(crate) fn table(&self) -> &Table {
        &self.table
    }

    /// Reads the value of a key into `out`. Returns false if the table has none that may be used.
    ///
    /// The order of the steps is part of the proof (docs/internals/near.md, N3): trust, then the
    /// epoch, then the value, then the clock.
    #[inline]
    pub(crate) fn find(&self, key: &[u8], out: &mut Vec<u8>, pace: &mut impl Pace) -> Result<bool> {
        // Pairs with `Owner::extend`: the removals that came before are seen.
        let trust = Trust::of(self.shared.trust().load(Ordering::Acquire));
        // After the load of trust: it is the epoch under which trust was given, or a later one.
        let epoch = self.shared.epoch().load(Ordering::Acquire);
        pace.pause();
        step();
        if !self.table.get_into(key, out)? {
            return Ok(false);
        }
        pace.pause();
        // The clock is read after the value: its loads do not move before those of the copy.
        fence(Ordering::Acquire);
        let now_ms = pace.now_ms();
        let Some((value, mark)) = out.split_last_chunk::<MARK>() else {
            return Ok(false);
        };
        let len = value.len();
        let is_of_epoch = u64::from_le_bytes(*mark) == epoch;
        let is_trusted = now_ms < trust.until_ms;
        #[cfg(test)]
        let is_trusted = is_trusted || is_made(Mistake::ReadsNoClock);
        out.truncate(len);
        Ok(is_of_epoch && is_trusted)
    }
}

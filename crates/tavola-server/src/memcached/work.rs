//! What the commands of one thread work with.

use std::sync::Arc;
use std::time::Instant;

use tavola::{Details, Result, Table};

use super::flush::Flush;
use super::tally::{Event, Tallies, Tally};
use crate::net::Meter;

/// What is to happen after a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum After {
    GoOn,
    Close,
}

/// A buffer that became larger is not kept for the next value.
const KEPT_BYTES: usize = 4 << 20;

/// What all threads share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) table: Arc<Table>,
    /// The bytes of the largest value.
    pub(super) value_bytes: usize,
    pub(super) flush: Flush,
    pub(super) tallies: Tallies,
    pub(super) started: Instant,
}

/// What one thread has.
#[derive(Debug)]
pub(super) struct Work {
    pub(super) shared: Arc<Shared>,
    pub(super) meter: Meter,
    /// A value on its way from the table to the output.
    value: Vec<u8>,
    /// The keys that are read together now.
    pub(super) wave: usize,
    tally: Arc<Tally>,
}

impl Work {
    pub(super) fn new(shared: Arc<Shared>, meter: Meter) -> Self {
        Self {
            tally: shared.tallies.join(),
            shared,
            meter,
            value: Vec::new(),
            wave: 1,
        }
    }

    pub(super) fn table(&self) -> &Table {
        &self.shared.table
    }

    pub(super) fn count(&self, event: Event) {
        self.tally.count(event);
    }

    /// A buffer for a value, to be given back.
    pub(super) fn borrow_value(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.value)
    }

    pub(super) fn give_back(&mut self, value: Vec<u8>) {
        if value.capacity() <= KEPT_BYTES {
            self.value = value;
        }
    }

    /// The unique number of an item that was read so.
    pub(super) fn cas_of(&self, details: &Details, value: &[u8]) -> Result<u64> {
        Ok(self.table().token(details, value)?.0)
    }
}

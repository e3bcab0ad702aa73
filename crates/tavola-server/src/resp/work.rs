//! The context that the commands of one thread work with.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;

use tavola::Table;

use super::rules::RespRules;
use super::tally::{Tallies, Tally};
use crate::net::Meter;

/// The largest buffer that is kept for the next value.
const KEPT_BYTES: usize = 4 << 20;

/// The state that all threads share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) table: Arc<Table>,
    pub(super) rules: RespRules,
    /// Whether the table evicts keys, and has no transactions.
    pub(super) is_cache: bool,
    pub(super) tallies: Tallies,
    pub(super) started: Instant,
    /// The number of the last client.
    clients: AtomicU64,
}

impl Shared {
    pub(super) fn new(table: Arc<Table>, rules: RespRules) -> Self {
        Self {
            is_cache: matches!(table.capacity(), Ok(Some(_))),
            table,
            rules,
            tallies: Tallies::default(),
            started: Instant::now(),
            clients: AtomicU64::new(0),
        }
    }

    /// Returns the number of a new client.
    pub(super) fn next_client(&self) -> u64 {
        self.clients.fetch_add(1, Relaxed) + 1
    }
}

/// The state of one thread.
#[derive(Debug)]
pub(super) struct Work {
    pub(super) shared: Arc<Shared>,
    pub(super) meter: Meter,
    pub(super) tally: Arc<Tally>,
    /// A value on its way from the table to the output.
    value: Vec<u8>,
}

impl Work {
    pub(super) fn new(shared: Arc<Shared>, meter: Meter) -> Self {
        Self {
            tally: shared.tallies.join(),
            shared,
            meter,
            value: Vec::new(),
        }
    }

    pub(super) fn table(&self) -> &Table {
        &self.shared.table
    }

    /// Counts a read of a key.
    pub(super) fn count_read(&self, has_found: bool) {
        match has_found {
            true => self.tally.hits.add(1),
            false => self.tally.misses.add(1),
        }
    }

    /// Lends the buffer for a value, until [`Work::give_back`].
    pub(super) fn borrow_value(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.value)
    }

    pub(super) fn give_back(&mut self, value: Vec<u8>) {
        if value.capacity() <= KEPT_BYTES {
            self.value = value;
        }
    }
}

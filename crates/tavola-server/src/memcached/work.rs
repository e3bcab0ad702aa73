//! The context that the commands of one thread work with.

use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::time::Instant;

use tavola::serving::{Marks, ServeTable};
use tavola::{CasToken, Condition, Details, Result, Table};
use tavola_proto::text::{Event as Kind, Watched};

use super::connections::Connections;
use super::crawler::{Crawler, Dump};
use super::exptime;
use super::flush::Flush;
use super::marks::{self, Kept};
use super::prefixes::{Deed, Prefixes};
use super::rules::Rules;
use super::tally::{Event, Tallies, Tally};
use super::watch::{Evicted, Stored, Watchers};
use crate::net::Meter;

/// What the service does after a request.
#[derive(Debug)]
pub(super) enum After {
    NextRequest,
    /// End the connection, as its client asked for it.
    Quit,
    /// End the connection, because something failed.
    Close,
    /// Count a wrong name or password.
    WrongPassword,
    /// List the keys before anything else.
    Dump(Box<Dump>),
    /// Send events to the client from now on, and read no requests.
    Watch(Watched),
}

/// The most keys that are read together, which is as many as the table does.
pub(super) const WAVE: usize = 32;
/// After a wave with more bytes of answers, the next has as many keys as fit into these.
const LARGE_WAVE_BYTES: usize = 256 * 1024;
/// The largest buffer that is kept for the next value.
const KEPT_BYTES: usize = 4 << 20;

/// Returns the size of the next wave, after one of `count` keys.
///
/// If values are large, their keys are read one by one: waiting for memory is then the smaller part
/// of the work, and a client that reads no answers holds few of them.
fn next_wave(wave: usize, count: usize, answered_bytes: usize) -> usize {
    match answered_bytes {
        0..=LARGE_WAVE_BYTES => (wave * 2).min(WAVE),
        _ => (count * LARGE_WAVE_BYTES / answered_bytes).clamp(1, wave),
    }
}

/// The state that all threads share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) table: Arc<Table>,
    pub(super) rules: Rules,
    pub(super) kept: Kept,
    pub(super) flush: Flush,
    pub(super) tallies: Tallies,
    pub(super) prefixes: Prefixes,
    pub(super) watchers: Arc<Watchers>,
    pub(super) connections: Arc<Connections>,
    pub(super) crawler: Arc<Crawler>,
    /// The verbosity that a client set, which has no effect.
    pub(super) verbosity: AtomicU32,
    pub(super) started: Instant,
}

/// The state of one thread.
#[derive(Debug)]
pub(super) struct Work {
    pub(super) shared: Arc<Shared>,
    pub(super) meter: Meter,
    /// A value on its way from the table to the output.
    value: Vec<u8>,
    /// The number of keys that are read together now.
    pub(super) wave: usize,
    /// The number of the connection that is served now.
    pub(super) descriptor: i32,
    /// The second since 1970 in which the current request is served.
    pub(super) now_s: u64,
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
            descriptor: 0,
            now_s: 0,
        }
    }

    pub(super) fn table(&self) -> &Table {
        &self.shared.table
    }

    /// Sets the size of the next wave, after one of `count` keys and `answered_bytes` bytes of
    /// answers.
    pub(super) fn fit_wave(&mut self, count: usize, answered_bytes: usize) {
        self.wave = next_wave(self.wave, count, answered_bytes);
    }

    pub(super) fn count(&self, event: Event) {
        self.tally.count(event);
    }

    /// Reports to watchers that a key was read, and how many bytes were found.
    pub(super) fn fetched(&self, key: &[u8], found: Option<usize>) {
        if self.shared.prefixes.is_on() {
            let deed = found.map_or(Deed::Miss, |_| Deed::Hit);
            self.shared.prefixes.count(key, deed);
        }
        self.log_fetch(key, found);
    }

    /// Writes a line about a key that was read, if there are watchers of fetches.
    pub(super) fn log_fetch(&self, key: &[u8], found: Option<usize>) {
        if self.shared.watchers.want(Kind::Fetchers) {
            let watchers = &self.shared.watchers;
            watchers.fetched(key, found, self.descriptor);
        }
    }

    /// Reads a key that is about to be changed, and writes a line about that, if there are watchers
    /// of fetches: memcached looks up each item before it stores, counts, touches or deletes, and
    /// logs that as a fetch. Reads nothing without such watchers.
    pub(super) fn log_lookup(&self, key: &[u8]) -> Result<()> {
        if self.shared.watchers.want(Kind::Fetchers) {
            let found = self.table().get_entry_to_slice(key, &mut [])?;
            self.log_fetch(key, found.map(|(size_bytes, _)| size_bytes));
        }
        Ok(())
    }

    /// Reports a store to watchers and counts it for its prefix. Calls `stored` only if there are
    /// watchers.
    pub(super) fn stored(&self, key: &[u8], stored: impl FnOnce() -> Stored) {
        if self.shared.prefixes.is_on() {
            self.shared.prefixes.count(key, Deed::Set);
        }
        self.log_stored(key, stored);
    }

    /// Reports a store to watchers, without counting it. Calls `stored` only if there are watchers.
    pub(super) fn log_stored(&self, key: &[u8], stored: impl FnOnce() -> Stored) {
        if self.shared.watchers.want(Kind::Mutations) {
            let watchers = &self.shared.watchers;
            watchers.stored(key, &stored(), self.descriptor);
        }
    }

    /// Notes that an item was read, if it has room for that.
    pub(super) fn used(&self, key: &[u8], details: &Details) {
        if self.shared.kept != Kept::All {
            return;
        }
        let Marks { clear, set } = marks::used(details.marks, self.now_s);
        if set != 0 {
            let found = Condition::Is(CasToken(details.version));
            // The answer is right without the mark: the table may have no room for a copy of the
            // item, which then counts as unused.
            let _ = self.table().mark(key, found, clear, set);
        }
    }

    /// Returns the marks of an item that is stored.
    pub(super) fn new_marks(&self, is_base64: bool) -> Option<Marks> {
        let key = if is_base64 { marks::BASE64 } else { 0 };
        match self.shared.kept {
            Kept::All => Some(Marks::only(marks::at(self.now_s) | key)),
            Kept::Flags if is_base64 => Some(Marks::only(key)),
            Kept::Flags | Kept::Nothing => None,
        }
    }

    /// Returns the marks of an item that gets another value and keeps the rest.
    pub(super) fn renewed_marks(&self) -> Option<Marks> {
        match self.shared.kept {
            Kept::Nothing => None,
            Kept::Flags => Some(Marks::only(0)),
            Kept::All => self.new_marks(false),
        }
    }

    /// Counts a request to delete a key.
    pub(super) fn deletes(&self, key: &[u8]) {
        if self.shared.prefixes.is_on() {
            self.shared.prefixes.count(key, Deed::Delete);
        }
    }

    /// Returns whether deletions have watchers.
    pub(super) fn has_deletion_watchers(&self) -> bool {
        self.shared.watchers.want(Kind::Deletions)
    }

    /// Makes the table note which keys it evicts, if evictions have watchers.
    pub(super) fn update_eviction_watch(&self) {
        let wants = || self.shared.watchers.want(Kind::Evictions);
        // If the table fails, the next request finds the error as well.
        let _ = self.table().watch_evictions(wants());
        if wants() {
            // A watcher may have come after the first read, and its thread may have called this
            // before the line above turned it off.
            let _ = self.table().watch_evictions(true);
        }
    }

    /// Writes lines about keys that were evicted, by any thread of this process.
    pub(super) fn report_evictions(&self) -> Result<()> {
        let watchers = &self.shared.watchers;
        if !watchers.want(Kind::Evictions) {
            return Ok(());
        }
        let lost = self.table().take_evictions(&mut |gone| {
            watchers.evicted(&Evicted {
                key: gone.key,
                is_fetched: gone.marks & marks::FETCHED != 0,
                ttl_s: exptime::left_s(gone.attributes.expiry),
                idle_s: marks::idle_s(gone.marks, self.now_s),
                size_bytes: gone.value_len,
            });
        })?;
        if lost > 0 {
            watchers.lost(lost);
        }
        Ok(())
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

    /// Returns the unique number of an item that was read with these details.
    pub(super) fn cas_of(&self, details: &Details, value: &[u8]) -> Result<u64> {
        Ok(self.table().token(details, value)?.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wave_of_large_values_is_followed_by_one_that_is_not_as_large() {
        assert_eq!(next_wave(1, 1, 0), 2);
        assert_eq!(next_wave(WAVE, WAVE, LARGE_WAVE_BYTES), WAVE);
        assert_eq!(next_wave(WAVE, WAVE, 4 * LARGE_WAVE_BYTES), WAVE / 4);
        assert_eq!(next_wave(WAVE, WAVE, WAVE << 20), 1);
        assert_eq!(next_wave(WAVE, 1, LARGE_WAVE_BYTES + 1), 1);
        assert_eq!(next_wave(1, 1, 1 << 30), 1);
    }
}

//! What the commands of one thread work with.

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

/// What is to happen after a request.
#[derive(Debug)]
pub(super) enum After {
    NextRequest,
    /// The connection ends as its client wishes.
    Quit,
    /// It ends for something that failed.
    Close,
    /// A name or a password was wrong.
    WrongPassword,
    /// All else waits until the keys are listed.
    Dump(Box<Dump>),
    /// From now on the client gets events, and its requests are not read.
    Watch(Watched),
}

/// The keys that are read together at most: as many as the table reads together.
pub(super) const WAVE: usize = 32;
/// After a wave with more bytes of answers, the next has as many keys as fit into these.
const LARGE_WAVE_BYTES: usize = 256 * 1024;
/// A buffer that became larger is not kept for the next value.
const KEPT_BYTES: usize = 4 << 20;

/// Where values are large, their keys are read one by one: to wait for memory is the smaller part
/// then, and a client that reads no answers holds few of them.
fn next_wave(wave: usize, count: usize, answered_bytes: usize) -> usize {
    match answered_bytes {
        0..=LARGE_WAVE_BYTES => (wave * 2).min(WAVE),
        _ => (count * LARGE_WAVE_BYTES / answered_bytes).clamp(1, wave),
    }
}

/// What all threads share.
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
    /// As a client set it; nothing goes by it.
    pub(super) verbosity: AtomicU32,
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
    /// The number of the connection that is served now.
    pub(super) descriptor: i32,
    /// The second since 1970 in which it is served.
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

    /// The wave after so many keys that were answered by so many bytes.
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

    /// Writes a line about a key that was read, for those who watch fetchers.
    pub(super) fn log_fetch(&self, key: &[u8], found: Option<usize>) {
        if self.shared.watchers.want(Kind::Fetchers) {
            let watchers = &self.shared.watchers;
            watchers.fetched(key, found, self.descriptor);
        }
    }

    /// Reads a key that is about to be changed, and writes a line about that, for those who watch
    /// fetchers: memcached looks up each item before it stores, counts, touches or deletes, and
    /// logs that as a fetch. Reads nothing if nobody watches them.
    pub(super) fn log_lookup(&self, key: &[u8]) -> Result<()> {
        if self.shared.watchers.want(Kind::Fetchers) {
            let found = self.table().get_entry_to_slice(key, &mut [])?;
            self.log_fetch(key, found.map(|(size_bytes, _)| size_bytes));
        }
        Ok(())
    }

    /// The same of a value that was stored or not. `stored` is not called where nobody listens.
    pub(super) fn stored(&self, key: &[u8], stored: impl FnOnce() -> Stored) {
        if self.shared.prefixes.is_on() {
            self.shared.prefixes.count(key, Deed::Set);
        }
        self.log_stored(key, stored);
    }

    /// The same, not counted as a store.
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
            // The answer is right without: an item that was not copied, as there was no room, is
            // one that nobody has used.
            let _ = self.table().mark(key, found, clear, set);
        }
    }

    /// The marks of an item that is stored again.
    pub(super) fn new_marks(&self, is_base64: bool) -> Option<Marks> {
        let key = if is_base64 { marks::BASE64 } else { 0 };
        match self.shared.kept {
            Kept::All => Some(Marks::only(marks::at(self.now_s) | key)),
            Kept::Flags if is_base64 => Some(Marks::only(key)),
            Kept::Flags | Kept::Nothing => None,
        }
    }

    /// The marks of an item that gets another value and keeps what is beside it.
    pub(super) fn renewed_marks(&self) -> Option<Marks> {
        match self.shared.kept {
            Kept::Nothing => None,
            Kept::Flags => Some(Marks::only(0)),
            Kept::All => self.new_marks(false),
        }
    }

    /// Counts a key that was to be deleted.
    pub(super) fn deletes(&self, key: &[u8]) {
        if self.shared.prefixes.is_on() {
            self.shared.prefixes.count(key, Deed::Delete);
        }
    }

    /// Whether anybody wants to hear of deletions.
    pub(super) fn has_deletion_watchers(&self) -> bool {
        self.shared.watchers.want(Kind::Deletions)
    }

    /// Has the table note which keys it evicts, if somebody watches that.
    pub(super) fn update_eviction_watch(&self) {
        let wants = || self.shared.watchers.want(Kind::Evictions);
        // A client gets the error of a table that fails when it asks for something.
        let _ = self.table().watch_evictions(wants());
        if wants() {
            // Perhaps another thread has seen to that before the line above.
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

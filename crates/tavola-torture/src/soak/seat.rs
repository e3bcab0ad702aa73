//! What a worker leaves where its supervisor finds it, whatever becomes of the worker.
//!
//! Before an operation the worker notes what it is about to do, afterwards what came of it. A
//! worker that is killed between the two leaves an operation that may have happened.

use super::history::{Event, NEVER};
use super::keys::{COUNTERS, LOGS};
use crate::system::{now_ns, shared_words};
use std::io;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// Operations noted between two audits.
pub(crate) const JOURNAL: usize = 60_000;
const ENTRY: usize = 5;

/// What an entry says.
const FOUND: u64 = 1;
const LEFT: u64 = 2;

/// A word of a seat.
#[derive(Clone, Copy)]
pub(crate) enum Word {
    /// Rises with every operation.
    Heartbeat,
    /// The audit it waits in; 0: it works.
    Parked,
    /// Entries of the journal.
    Len,
    /// Versions given out.
    Versions,
    Reads,
    Walks,
    /// The counter it is adding to, and how much: `by << 8 | counter + 1`.
    Adding,
    /// The first of those that say how much it has added to each counter.
    Added,
    /// The first of those that say how many records it has begun to append to each log.
    Begun = Word::Added as isize + COUNTERS as isize,
    /// The first of those that say how many of these had returned.
    Appended = Word::Begun as isize + LOGS as isize,
    Journal = Word::Appended as isize + LOGS as isize,
}

/// A worker's seat.
#[derive(Clone, Copy)]
pub(crate) struct Seat {
    pub(crate) number: usize,
    words: &'static [AtomicU64],
}

/// An operation that was begun.
#[derive(Clone, Copy)]
pub(crate) struct Begun(usize);

impl Seat {
    pub(crate) fn new(number: usize) -> io::Result<Self> {
        let words = shared_words(Word::Journal as usize + JOURNAL * ENTRY)?;
        Ok(Self { number, words })
    }

    pub(crate) fn word(&self, word: Word) -> &'static AtomicU64 {
        &self.words[word as usize]
    }

    /// One of several words that follow each other.
    pub(crate) fn nth(&self, first: Word, number: usize) -> &'static AtomicU64 {
        &self.words[first as usize + number]
    }

    pub(crate) fn get(&self, word: Word) -> u64 {
        self.word(word).load(Relaxed)
    }

    pub(crate) fn add(&self, word: Word, by: u64) {
        self.word(word).fetch_add(by, Relaxed);
    }

    /// A version nobody else writes; never 0.
    pub(crate) fn version(&self) -> u64 {
        let count = self.word(Word::Versions).fetch_add(1, Relaxed) + 1;
        (self.number as u64 + 1) << 48 | count
    }

    pub(crate) fn has_room(&self) -> bool {
        self.get(Word::Len) < JOURNAL as u64
    }

    fn entry(&self, number: usize) -> &'static [AtomicU64] {
        &self.words[Word::Journal as usize + number * ENTRY..][..ENTRY]
    }

    /// Notes an operation before it is done; `left`: what it may leave.
    pub(crate) fn begin(&self, key: u32, left: Option<Option<u64>>) -> Begun {
        let number = self.get(Word::Len) as usize;
        let entry = self.entry(number);
        let flags = if left.is_some() { LEFT } else { 0 };
        entry[0].store(u64::from(key) << 8 | flags, Relaxed);
        entry[2].store(NEVER, Relaxed);
        entry[3].store(left.flatten().unwrap_or(0), Relaxed);
        entry[4].store(0, Relaxed);
        entry[1].store(now_ns(), Relaxed);
        // A worker's memory is read after its death or while it is parked.
        self.word(Word::Len).store(number as u64 + 1, Release);
        Begun(number)
    }

    /// Notes what came of it.
    pub(crate) fn end(&self, begun: Begun, found: Option<Option<u64>>, left: Option<Option<u64>>) {
        let now = now_ns();
        let entry = self.entry(begun.0);
        let key = entry[0].load(Relaxed) >> 8;
        entry[3].store(left.flatten().unwrap_or(0), Relaxed);
        entry[4].store(found.flatten().unwrap_or(0), Relaxed);
        let flags = if found.is_some() { FOUND } else { 0 } | if left.is_some() { LEFT } else { 0 };
        // Killed between these two: it counts as done, with an end that is still open.
        entry[0].store(key << 8 | flags, Relaxed);
        entry[2].store(now, Release);
    }

    /// All entries: keys and events. While the worker is parked or dead.
    pub(crate) fn events(&self) -> impl Iterator<Item = (u32, Event)> + use<> {
        let seat = *self;
        let len = self.word(Word::Len).load(Acquire) as usize;
        (0..len).map(move |number| {
            let word = |i: usize| seat.entry(number)[i].load(Relaxed);
            let (flags, until) = (word(0) & 0xFF, word(2));
            let version = |v: u64| (v != 0).then_some(v);
            // What one that did not return saw, nobody knows.
            let found = (flags & FOUND != 0 && until != NEVER).then(|| version(word(4)));
            let event = Event {
                from: word(1),
                until,
                found,
                left: (flags & LEFT != 0).then(|| version(word(3))),
            };
            ((word(0) >> 8) as u32, event)
        })
    }

    /// Begins a new journal. While the worker is parked or dead.
    pub(crate) fn forget(&self) {
        self.word(Word::Len).store(0, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_read_back() {
        let seat = Seat::new(0).unwrap();
        let begun = seat.begin(7, Some(Some(70)));
        seat.end(begun, Some(None), Some(Some(70)));
        let failed = seat.begin(8, Some(Some(80)));
        seat.end(failed, None, None);
        seat.begin(9, Some(None));
        let events: Vec<(u32, Event)> = seat.events().collect();
        assert_eq!(events.len(), 3);
        assert_eq!(
            (events[0].1.found, events[0].1.left),
            (Some(None), Some(Some(70)))
        );
        assert!(events[0].1.until >= events[0].1.from);
        assert_eq!((events[1].1.found, events[1].1.left), (None, None));
        assert_eq!((events[2].1.until, events[2].1.left), (NEVER, Some(None)));
        assert_ne!(seat.version(), seat.version());
    }
}

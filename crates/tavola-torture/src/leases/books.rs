//! What all processes know of the keys: who has the lease, which versions there may be.

use super::{KEYS, WORKERS};
use crate::child::{Found, Outcome};
use crate::system::{now_ns, shared_words};
use crate::value::opened;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{AcqRel, Acquire, SeqCst};

/// By how much the table's clock may be off.
pub(super) const TICK_MS: u64 = 20;

/// What is counted, so that it shows that it happened.
#[derive(Clone, Copy)]
pub(super) enum What {
    Won,
    Stored,
    Refused,
    Waited,
    Stale,
    Failed,
}

const COUNTED: [&str; 6] = ["won", "stored", "refused", "waited", "stale", "failed"];

/// What all processes know, of each key except the last two.
#[derive(Clone, Copy)]
pub(super) struct Books {
    /// The last version that was begun, and one that is known to have been there.
    begun: &'static [AtomicU64],
    known: &'static [AtomicU64],
    /// The holder of the lease, a [`Note`]; 0: nobody, or unknown.
    notes: &'static [AtomicU64],
    /// Changes that may end a lease: those begun, those done.
    changing: &'static [AtomicU64],
    changed: &'static [AtomicU64],
    /// Of each worker the last of its lives that is over, or about to be.
    doomed: &'static [AtomicU64],
    counts: &'static [AtomicU64],
    origin_ns: u64,
}

/// A lease that somebody has.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Note {
    worker: u64,
    life: u64,
    /// Changes of the key before.
    changes: u64,
    until_ms: u64,
}

impl Note {
    fn encode(self) -> u64 {
        let holder = (self.worker + 1) | (self.life & 0xFFF) << 4;
        holder | (self.changes & 0xFFFF) << 16 | self.until_ms << 32
    }

    fn decode(word: u64) -> Option<Self> {
        Some(Self {
            worker: (word & 0xF).checked_sub(1)?,
            life: word >> 4 & 0xFFF,
            changes: word >> 16 & 0xFFFF,
            until_ms: word >> 32,
        })
    }
}

impl Books {
    pub(super) fn new() -> Outcome<Self> {
        let of_keys = || shared_words(KEYS as usize);
        Ok(Self {
            begun: of_keys()?,
            known: of_keys()?,
            notes: of_keys()?,
            changing: of_keys()?,
            changed: of_keys()?,
            doomed: shared_words(WORKERS as usize)?,
            counts: shared_words(COUNTED.len())?,
            origin_ns: now_ns(),
        })
    }

    /// What was counted, so far.
    pub(super) fn counted(&self) -> Vec<(&'static str, u64)> {
        let counts = self.counts.iter().map(|count| count.load(Acquire));
        COUNTED.into_iter().zip(counts).collect()
    }

    /// The life that a worker begins now.
    pub(super) fn next_life(&self, worker: u64) -> u64 {
        self.doomed[worker as usize].load(SeqCst) + 1
    }

    /// A worker is about to be killed.
    pub(super) fn doom(&self, worker: u64, life: u64) {
        self.doomed[worker as usize].store(life, SeqCst);
    }

    /// Notes that no worker lives, so nothing is being changed any more.
    pub(super) fn accept_unfinished(&self) {
        for (changing, changed) in self.changing.iter().zip(self.changed) {
            changed.store(changing.load(SeqCst), SeqCst);
        }
    }

    fn now_ms(&self) -> u64 {
        (now_ns() - self.origin_ns) / 1_000_000
    }

    pub(super) fn count(&self, what: What) {
        self.counts[what as usize].fetch_add(1, AcqRel);
    }

    /// Returns the number of changes of a key so far, or `None` during a change.
    fn changes(&self, number: u64) -> Option<u64> {
        let changed = self.changed[number as usize].load(SeqCst);
        let changing = self.changing[number as usize].load(SeqCst);
        (changing == changed).then_some(changed)
    }

    /// Does what may end the lease of a key.
    pub(super) fn change<T>(&self, number: u64, change: impl FnOnce() -> Found<T>) -> Found<T> {
        self.changing[number as usize].fetch_add(1, SeqCst);
        let done = change()?;
        self.changed[number as usize].fetch_add(1, SeqCst);
        Ok(done)
    }

    /// Returns what is to be noted of a lease that is asked for now, if anything.
    pub(super) fn note(&self, number: u64, worker: u64, life: u64, lease_ms: u64) -> Option<Note> {
        self.changes(number).map(|changes| Note {
            worker,
            life: life & 0xFFF,
            changes: changes & 0xFFFF,
            until_ms: self.now_ms() + lease_ms - TICK_MS,
        })
    }

    /// A lease was won: nobody else may have it. A worker that comes here late, after a stop, may
    /// have lost it again, and finds the note of the next.
    pub(super) fn won(&self, number: u64, note: Option<Note>) -> Found<()> {
        let place = &self.notes[number as usize];
        let before = Note::decode(place.swap(note.map_or(0, Note::encode), SeqCst));
        let is_ours = note.is_some_and(|note| !self.may_be_over(number, note));
        match before {
            Some(before) if is_ours && !self.may_be_over(number, before) => Err(format!(
                "TWO OWNERS of key {number}: worker {} in its life {} has it, too",
                before.worker, before.life
            )),
            _ => Ok(()),
        }
    }

    /// Whether the one before, who has not taken its note away, may have lost its lease.
    fn may_be_over(&self, number: u64, before: Note) -> bool {
        before.life != self.next_life(before.worker) & 0xFFF
            || before.changes != self.changing[number as usize].load(SeqCst) & 0xFFFF
            || before.until_ms <= self.now_ms()
    }

    /// A lease is about to be ended.
    pub(super) fn ends(&self, number: u64, note: Option<Note>) {
        let noted = note.map_or(0, Note::encode);
        let _ = self.notes[number as usize].compare_exchange(noted, 0, SeqCst, SeqCst);
    }

    pub(super) fn begin(&self, number: u64) -> u64 {
        self.begun[number as usize].fetch_add(1, AcqRel) + 1
    }

    pub(super) fn known(&self, number: u64) -> u64 {
        self.known[number as usize].load(Acquire)
    }

    pub(super) fn know(&self, number: u64, version: u64) {
        self.known[number as usize].fetch_max(version, AcqRel);
    }

    /// What is read is whole, and no older than what was known before.
    pub(super) fn judge(&self, number: u64, known: u64, value: &[u8]) -> Found<()> {
        let Some(version) = opened(&key_of(number), value) else {
            return Err(format!("TORN: key {number}, {} bytes", value.len()));
        };
        let begun = self.begun[number as usize].load(Acquire);
        if version < known || version > begun {
            return Err(format!("key {number}: {version} of {known} to {begun}"));
        }
        self.know(number, version);
        Ok(())
    }
}

pub(super) fn key_of(number: u64) -> Vec<u8> {
    format!("leased-{number}").into_bytes()
}

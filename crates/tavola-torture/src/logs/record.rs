//! What the processes of a soak note of their lines, in memory that all share.
//!
//! A writer is one thread of one process, and never comes again. Each of its lines that returned is
//! to be written out or counted.

use super::slate::LineId;
use crate::system::shared_words;
use std::io;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// Writers there is room for, between two audits.
pub(super) const WRITERS: u64 = 16_384;
/// Slow lines of a writer that are remembered, and late ones of all.
const SLOW: usize = 16;
const LATE: usize = 4096;
/// A line that took less is no late one's: a drain waits a tenth of a second.
const SLOW_NS: u64 = 80_000_000;

/// A word of one writer.
#[derive(Clone, Copy)]
pub(super) enum Of {
    Begun,
    Returned,
    /// Lines that were written out, 32 bits, and the last of them plus 1.
    Received,
    /// How many were slow; behind it the last of them.
    Slow,
}

/// A word of the whole.
#[derive(Clone, Copy)]
pub(super) enum All {
    /// The number of the next writer.
    Writers,
    /// Lines that were written out by passes that did not return.
    Unfinished,
    /// Lines that were written out again.
    Twice,
    /// Dropped lines that were reported to drains.
    Reported,
    /// Lines that were counted too often, beyond those of killed calls and passes.
    Excess,
    /// How many were late; behind it their writers and numbers.
    Late,
}

const OF_WRITER: usize = Of::Slow as usize + 1 + SLOW;
const ALL: usize = All::Late as usize + 1 + 2 * LATE;

#[derive(Clone, Copy)]
pub(super) struct Record {
    words: &'static [AtomicU64],
}

/// What the lines of all writers came to.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sum {
    pub(super) lines: u64,
    /// Lines that returned and were not written out.
    pub(super) missing: u64,
    /// Lines that did not return and were not written out.
    pub(super) unfinished_calls: u64,
}

impl Record {
    pub(super) fn new() -> io::Result<Self> {
        let words = shared_words(ALL + WRITERS as usize * OF_WRITER)?;
        Ok(Self { words })
    }

    pub(super) fn clear(&self) {
        let used = ALL + self.all(All::Writers).load(Relaxed) as usize * OF_WRITER;
        let words = &self.words[..used.min(self.words.len())];
        words.iter().for_each(|word| word.store(0, Relaxed));
    }

    pub(super) fn all(&self, word: All) -> &'static AtomicU64 {
        &self.words[word as usize]
    }

    pub(super) fn of(&self, writer: u64, word: Of) -> &'static AtomicU64 {
        &self.words[self.at(writer) + word as usize]
    }

    fn at(&self, writer: u64) -> usize {
        ALL + writer as usize * OF_WRITER
    }

    pub(super) fn writers(&self) -> u64 {
        self.all(All::Writers).load(Relaxed).min(WRITERS)
    }

    /// A line took so long.
    pub(super) fn took(&self, writer: u64, number: u64, ns: u64) {
        if ns >= SLOW_NS {
            let count = self.of(writer, Of::Slow).fetch_add(1, Relaxed) as usize;
            let at = self.at(writer) + Of::Slow as usize + 1 + count % SLOW;
            self.words[at].store(number + 1, Relaxed);
        }
    }

    pub(super) fn late(&self, line: LineId) {
        let count = self.all(All::Late).fetch_add(1, Relaxed) as usize;
        let at = All::Late as usize + 1 + 2 * (count % LATE);
        self.words[at].store(line.writer, Relaxed);
        self.words[at + 1].store(line.number, Relaxed);
    }

    /// Late lines whose writers were not held up in the middle of them.
    pub(super) fn too_late(&self) -> Vec<LineId> {
        let count = LATE.min(self.all(All::Late).load(Relaxed) as usize);
        let at = All::Late as usize + 1;
        let pairs = self.words[at..at + 2 * count].chunks(2);
        let late = pairs.map(|pair| LineId {
            writer: pair[0].load(Relaxed),
            number: pair[1].load(Relaxed),
        });
        late.filter(|line| !self.may_be_late(*line)).collect()
    }

    fn may_be_late(&self, line: LineId) -> bool {
        let LineId { writer, number } = line;
        let at = self.at(writer) + Of::Slow as usize + 1;
        let slow = &self.words[at..at + SLOW];
        // A process that was killed in the middle could not say how long it took.
        number >= self.of(writer, Of::Returned).load(Relaxed)
            || slow.iter().any(|word| word.load(Relaxed) == number + 1)
    }

    /// Lines of a kind, and the number after that of the last.
    fn counted(&self, writer: u64, of: Of) -> (u64, u64) {
        let word = self.of(writer, of).load(Relaxed);
        (word >> 32, word & 0xffff_ffff)
    }

    fn count(&self, line: LineId, of: Of) {
        let LineId { writer, number } = line;
        let count = self.counted(writer, of).0 + 1;
        self.of(writer, of)
            .store(count << 32 | (number + 1), Relaxed);
    }

    pub(super) fn received(&self, line: LineId) {
        match line.number >= self.counted(line.writer, Of::Received).1 {
            true => self.count(line, Of::Received),
            false => drop(self.all(All::Twice).fetch_add(1, Relaxed)),
        }
    }

    pub(super) fn sum(&self) -> Sum {
        let mut sum = Sum::default();
        for writer in 0..self.writers() {
            let word = |word| self.of(writer, word).load(Relaxed);
            let (count, next) = self.counted(writer, Of::Received);
            let lines = word(Of::Returned).max(next);
            sum.lines += lines;
            sum.missing += lines - count;
            sum.unfinished_calls += u64::from(word(Of::Begun) > lines);
        }
        sum
    }
}

//! Reading a log beside its drain, without changing it.

use super::{Log, LogLine};
use crate::layout::SheetState;
use crate::log::LineReader;
use crate::sys::clock::unix_ns;
use std::fmt;

/// Reads the lines of a log, including drained ones; from [`Log::reader`].
pub struct LogReader {
    log: Log,
    reader: LineReader,
    sheets: Vec<KnownSheet>,
    missed: u64,
}

/// What a reader knows of a sheet.
struct KnownSheet {
    sequence: u32,
    /// Words that were written when the reader last looked.
    seen: u32,
    /// How many of these words were read.
    read: u32,
}

impl Log {
    /// Returns a reader. Reading does not remove lines, and works with a log that is open
    /// read-only.
    pub fn reader(&self) -> LogReader {
        LogReader::new(self)
    }
}

impl LogReader {
    pub(super) fn new(log: &Log) -> Self {
        let ring = log.inner.ring();
        Self {
            log: log.clone(),
            reader: LineReader::default(),
            sheets: ring.states().map(KnownSheet::of).collect(),
            missed: 0,
        }
    }

    /// Returns the lines that this reader has not returned before, in time order.
    ///
    /// # Concurrency
    /// Lines that are being written may be missing and appear in the next call, after later ones;
    /// [`LogReader::follow`] waits for them.
    pub fn lines(&mut self) -> impl Iterator<Item = LogLine<'_>> {
        self.collect(Some(u64::MAX))
    }

    /// Returns new lines as [`LogReader::lines`], except those of the last millisecond, or longer
    /// if a writer is delayed in the middle of a line. So the time order holds across calls, as for
    /// a drain.
    pub fn follow(&mut self) -> impl Iterator<Item = LogLine<'_>> {
        self.collect(None)
    }

    /// Skips all existing lines.
    pub fn skip(&mut self) {
        self.collect(Some(u64::MAX)).for_each(drop);
    }

    fn collect(&mut self, until: Option<u64>) -> impl Iterator<Item = LogLine<'_>> {
        let ring = self.log.inner.ring();
        let now = unix_ns();
        let until = until.unwrap_or_else(|| self.reader.stable_until(&ring, now));
        let (sheets, missed) = (&mut self.sheets, &mut self.missed);
        self.reader.collect(&ring, now, until, |sheet, state| {
            let known = &mut sheets[sheet as usize];
            let turns = state.sequence.wrapping_sub(known.sequence);
            if turns != 0 {
                *missed += u64::from(turns - 1) + u64::from(known.read < known.seen);
                *known = KnownSheet::of(state);
            }
            known.seen = state.used;
            known.read
        });
        for done in &self.reader.read {
            self.sheets[done.sheet as usize].read = done.words;
        }
        let reader = &self.reader;
        let found = reader.found.iter();
        found.map(|found| LogLine::new(found.head, reader.text(found)))
    }

    /// Returns how many buffers of 16 KiB were overwritten before this reader had read them
    /// completely. The true number may be higher.
    pub fn missed(&self) -> u64 {
        self.missed
    }
}

impl KnownSheet {
    /// Returns a sheet of which nothing was read.
    fn of(state: SheetState) -> Self {
        Self {
            sequence: state.sequence,
            seen: state.used,
            read: 0,
        }
    }
}

impl fmt::Debug for LogReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LogReader").field(&self.log).finish()
    }
}

//! Writing a log's lines out.

use super::{Log, LogLine};
use crate::error::{Error, Result};
use crate::log::{Drained, begin_drain, end_drain};
use crate::sys::clock::unix_ns;
use std::cell::Cell;
use std::fmt;
use std::io;
use std::time::Duration;

/// Where a drain writes lines, and a reader.
pub trait LogSink {
    /// Takes a line.
    ///
    /// # Errors
    /// Those of writing; the line comes again then.
    fn line(&mut self, line: &LogLine<'_>) -> io::Result<()>;

    /// Reports how many lines were lost since the last report; the first of a drain may be of a
    /// time without one.
    ///
    /// # Errors
    /// Those of writing.
    fn dropped(&mut self, lines: u64) -> io::Result<()>;

    /// Writes out what it has taken: when this returns, the lines are the sink's.
    ///
    /// # Errors
    /// Those of writing; the lines come again then.
    fn flush(&mut self) -> io::Result<()>;
}

/// The one who writes a log's lines out; from [`Log::drain`]. Dropping it ends the drain.
///
/// # Concurrency
/// A pass copies what has not been written out, so it may take as much memory as the log has, and
/// 56 bytes a line; it looks at each of the log's pieces of 16 KiB.
///
/// Lines come in the order of their times. One that its writer, held up between reading the clock
/// and the end of the line, finishes a tenth of a second later may come after later ones, and so
/// may lines around the moment at which the clock of the machine is set back.
///
/// # Crash
/// A drain begins with the lines that none before it has written out, also those of a time without
/// a drain. If a drain dies in the middle of a pass, the next writes the lines of that pass again.
pub struct LogDrain {
    log: Log,
    me: u32,
    state: Drained,
}

impl LogDrain {
    pub(super) fn begin(log: &Log) -> Result<Self> {
        let me = log.inner.core.writer()?;
        match begin_drain(&log.inner.ring(), me) {
            Ok(()) => Ok(Self {
                log: log.clone(),
                me,
                state: Drained::default(),
            }),
            Err(_) => Err(Error::AlreadyDrained),
        }
    }

    /// Writes out the lines that are due: those of the last millisecond may not be. Says how many.
    ///
    /// # Errors
    /// [`Error::Sink`]; the lines come again then. [`Error::AlreadyDrained`] in a forked child.
    pub fn pass(&mut self, sink: &mut (impl LogSink + ?Sized)) -> Result<usize> {
        self.write_out(sink, None)
    }

    /// Writes out all lines that are there; for the end, when the writers have ended.
    ///
    /// # Errors
    /// As [`LogDrain::pass`].
    pub fn finish(&mut self, sink: &mut (impl LogSink + ?Sized)) -> Result<usize> {
        self.write_out(sink, Some(u64::MAX))
    }

    /// Sleeps for a while, 10 ms at most, unless much is written.
    pub fn wait(&self, limit: Duration) {
        self.log.inner.ring().idle(limit);
    }

    fn write_out(
        &mut self,
        sink: &mut (impl LogSink + ?Sized),
        until: Option<u64>,
    ) -> Result<usize> {
        let _within = Within::begin();
        self.hand_over(sink, until)
    }

    fn hand_over(
        &mut self,
        sink: &mut (impl LogSink + ?Sized),
        until: Option<u64>,
    ) -> Result<usize> {
        let inner = &self.log.inner;
        if !inner.core.is_participant(self.me) {
            return Err(Error::AlreadyDrained);
        }
        let ring = inner.ring();
        self.state.collect(&ring, unix_ns(), until);
        let failed = |source| Error::Sink { source };
        let reader = &self.state.reader;
        for found in &reader.found {
            let line = LogLine::new(found.head, reader.text(found));
            sink.line(&line).map_err(failed)?;
        }
        let lines = reader.found.len();
        if lines > 0 {
            sink.flush().map_err(failed)?;
        }
        self.state.finish(&ring);
        let (dropped, told) = ring.newly_dropped();
        if dropped > 0 {
            sink.dropped(dropped).map_err(failed)?;
            sink.flush().map_err(failed)?;
            ring.note_told(told);
        }
        Ok(lines)
    }
}

thread_local! {
    static IS_DRAINING: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread is in the middle of a pass: it is its sink that writes a line.
pub(super) fn is_draining() -> bool {
    IS_DRAINING.try_with(Cell::get).unwrap_or(false)
}

/// As long as it lives, this thread is in the middle of a pass.
struct Within;

impl Within {
    fn begin() -> Self {
        let _ = IS_DRAINING.try_with(|is| is.set(true));
        Self
    }
}

impl Drop for Within {
    fn drop(&mut self) {
        let _ = IS_DRAINING.try_with(|is| is.set(false));
    }
}

impl Drop for LogDrain {
    fn drop(&mut self) {
        let inner = &self.log.inner;
        if inner.core.is_participant(self.me) {
            end_drain(&inner.ring(), self.me);
        }
    }
}

impl fmt::Debug for LogDrain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LogDrain").field(&self.log).finish()
    }
}

//! The drain as its user has it: writes a log's lines out to a sink.

use super::draining::Within;
use super::{Log, LogLine};
use crate::error::{Error, Result};
use crate::lock::Me;
use crate::log::{DrainState, begin_drain, end_drain};
use crate::sys::clock::unix_ns;
use std::fmt;
use std::io;
use std::time::Duration;

/// The output of a drain.
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

/// Writes out the lines of a log; from [`Log::drain`]. Dropping it ends the drain.
///
/// # Concurrency
/// A pass copies all lines that are not written out yet, so it may need as much memory as the log,
/// plus 56 bytes per line. It scans all buffers of the log.
///
/// Lines are in time order, with two exceptions: a line whose writer was delayed by 100 ms or more
/// in the middle of writing it, and lines around a moment at which the clock of the machine is set
/// back.
///
/// # Crash
/// A drain starts with all lines that are not written out yet, including those written while there
/// was no drain. If a drain dies in the middle of a pass, the next one repeats the lines of that
/// pass.
pub struct LogDrain {
    log: Log,
    me: Me,
    state: DrainState,
}

impl Log {
    /// Makes the caller the drain of the log.
    ///
    /// # Errors
    /// [`Error::AlreadyDrained`]; [`Error::ReadOnly`].
    pub fn drain(&self) -> Result<LogDrain> {
        LogDrain::begin(self)
    }
}

impl LogDrain {
    pub(super) fn begin(log: &Log) -> Result<Self> {
        let me = log.inner.core.writer()?;
        match begin_drain(&log.inner.ring(), me) {
            Ok(()) => Ok(Self {
                log: log.clone(),
                me,
                state: DrainState::default(),
            }),
            Err(_) => Err(Error::AlreadyDrained),
        }
    }

    /// Writes out the pending lines, except those of the last millisecond, and returns how many.
    ///
    /// # Errors
    /// [`Error::Sink`]; the lines are then repeated. [`Error::AlreadyDrained`] in a forked child.
    pub fn pass(&mut self, sink: &mut (impl LogSink + ?Sized)) -> Result<usize> {
        self.write_out(sink, None)
    }

    /// Writes out all lines. Call it at the end, when the writers have ended.
    ///
    /// # Errors
    /// As [`LogDrain::pass`].
    pub fn finish(&mut self, sink: &mut (impl LogSink + ?Sized)) -> Result<usize> {
        self.write_out(sink, Some(u64::MAX))
    }

    /// Sleeps for at most 10 ms; returns earlier if many lines are written.
    pub fn wait(&self, limit: Duration) {
        self.log.inner.ring().idle(limit);
    }

    fn write_out(
        &mut self,
        sink: &mut (impl LogSink + ?Sized),
        until: Option<u64>,
    ) -> Result<usize> {
        let _within = Within::begin();
        self.deliver(sink, until)
    }

    fn deliver(&mut self, sink: &mut (impl LogSink + ?Sized), until: Option<u64>) -> Result<usize> {
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
        let (dropped, reported) = ring.newly_dropped();
        if dropped > 0 {
            sink.dropped(dropped).map_err(failed)?;
            sink.flush().map_err(failed)?;
            ring.note_reported(reported);
        }
        Ok(lines)
    }
}

impl Drop for LogDrain {
    fn drop(&mut self) {
        let inner = &self.log.inner;
        if inner.core.is_participant(self.me) {
            end_drain(&inner.ring(), self.me.id());
        }
    }
}

impl fmt::Debug for LogDrain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LogDrain").field(&self.log).finish()
    }
}

//! A log, as a user has it open.

use super::draining::is_draining;
use super::hands::{self, LineWriter};
use super::place::LogPlace;
use super::print::{LinePieces, LinePrinter};
use super::{Level, LogLine, Overload};
use crate::engine::Core;
use crate::error::{Error, Result};
use crate::layout::{ExtentKind, SHEET};
use crate::lock::Me;
use crate::log::{self, LogRing, NewLine, Put, is_drained};
use crate::sync::{Ordering, W32, W64};
use crate::sys;
use crate::table::Table;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// Nanoseconds between two checks whether the drain still lives.
const CHECK_EVERY_NS: u64 = 1_000_000_000;

/// A log in shared memory, which all processes can write to.
///
/// Each thread writes to its own buffer in the log, without a lock and without a system call. One
/// [`LogDrain`](crate::LogDrain) writes the lines out in time order. While there is no drain, each
/// line is also shown on the standard error of its writer, and stays for the next drain as long as
/// there is space. Lines can be read ([`Log::reader`]) until they are overwritten, even if their
/// writer has died.
///
/// Every line is in the log, was written out by a drain, or is counted as dropped ([`Log::stats`]).
/// [`Overload`] decides which lines are dropped when the log is full.
///
/// [`LogOptions`](crate::LogOptions) creates a log, in its own file or in the file of a table.
///
/// # Concurrency
/// All processes and threads can write at the same time. A signal handler may write a line, too, if
/// its thread has written to this log before, and not to four others since.
///
/// # Crash
/// When [`Log::line`] has returned, the line stays even if its writer dies. A line that was
/// interrupted is not in the log. The buffer of a dead thread is reused later. If a process is
/// killed in the few instructions in which it drops the oldest lines of a buffer, at most 682 lines
/// may be counted twice, or both counted and written out.
#[derive(Clone)]
pub struct Log {
    pub(super) inner: Arc<LogInner>,
}

/// The log, as one handle has it open; clones share it.
pub(super) struct LogInner {
    pub(super) core: Arc<Core>,
    place: LogPlace,
    /// 1: lines are not shown, even if there is no drain.
    is_quiet: W32,
    /// When this handle last checked whether the drain lives.
    drain_checked_ns: W64,
}

impl LogInner {
    #[inline]
    pub(super) fn ring(&self) -> LogRing<'_> {
        self.place.ring(&self.core)
    }

    fn is_quiet(&self) -> bool {
        self.is_quiet.load(Ordering::Relaxed) != 0
    }

    /// Returns whether a line must be shown because there is no drain.
    #[inline]
    fn is_shown(&self, ring: &LogRing<'_>) -> bool {
        ring.head.drain.load(Ordering::Relaxed) == 0
    }

    /// Notices a dead drain. Checks at most once a second.
    #[inline]
    fn find_drain(&self, ring: &LogRing<'_>, me: Me, now: u64) {
        let checked_ns = self.drain_checked_ns.load(Ordering::Relaxed);
        if now.abs_diff(checked_ns) > CHECK_EVERY_NS {
            self.drain_checked_ns.store(now, Ordering::Relaxed);
            is_drained(ring, me);
        }
    }

    /// Shows a line on standard error.
    #[cold]
    fn show(&self, level: Level, text: &[u8], me: Me, time: u64) {
        if self.is_quiet() {
            return;
        }
        let writer = LineWriter::of(me);
        let line = LogLine {
            unix_ns: time,
            pid: writer.pid,
            tid: writer.tid,
            level,
            is_shown: true,
            text,
            cut: 0,
        };
        let mut shown = StderrLine::new();
        LinePrinter::default().print(&line, &mut shown);
        shown.write_out();
    }
}

/// Collects a line for standard error, and writes it with one system call unless it is very long.
/// Does not use the heap, because a signal handler may have interrupted the allocator.
struct StderrLine {
    bytes: [u8; 2048],
    len: usize,
}

impl StderrLine {
    fn new() -> Self {
        Self {
            bytes: [0; 2048],
            len: 0,
        }
    }

    fn write_out(&mut self) {
        sys::file::to_standard_error(&self.bytes[..self.len]);
        self.len = 0;
    }
}

impl LinePieces for StderrLine {
    fn put(&mut self, mut piece: &[u8]) {
        while !piece.is_empty() {
            if self.len == self.bytes.len() {
                self.write_out();
            }
            let count = piece.len().min(self.bytes.len() - self.len);
            self.bytes[self.len..self.len + count].copy_from_slice(&piece[..count]);
            self.len += count;
            piece = &piece[count..];
        }
    }
}

impl Table {
    /// Opens a log in the file of this table.
    ///
    /// # Errors
    /// [`Error::NotThere`]; [`Error::Corrupt`].
    pub fn log(&self, name: &str) -> Result<Log> {
        Log::find(self, name)
    }

    /// Returns the names of the logs in the file of this table.
    ///
    /// # Errors
    /// Those of mapping the table.
    pub fn logs(&self) -> Result<Vec<String>> {
        Ok(self.core()?.side_names(ExtentKind::Log))
    }
}

impl Log {
    pub(super) fn find(table: &Table, name: &str) -> Result<Log> {
        let core = table.lazy.get()?;
        match log::open(core.region(), name.as_bytes())? {
            Some((base, geometry)) => Ok(Log {
                inner: Arc::new(LogInner {
                    core: Arc::clone(core),
                    place: LogPlace { base, geometry },
                    is_quiet: W32::new(0),
                    drain_checked_ns: W64::new(0),
                }),
            }),
            None => Err(Error::NotThere {
                what: ExtentKind::Log.what(),
                name: name.to_owned(),
            }),
        }
    }

    /// Writes a line. The text can be any bytes; it is cut after 16,360 bytes, which the line
    /// records.
    ///
    /// With [`Overload::Block`] the call may wait for the drain. So the draining thread should not
    /// write to the log between two passes or in a signal handler. Lines that a sink writes during
    /// a pass are dropped and counted if the log is full.
    ///
    /// # Errors
    /// [`Error::ReadOnly`]; [`Error::Full`] if threads are using all buffers of the log, in which
    /// case the line is lost; at the first write of a process, the errors of attaching, see
    /// [`Table::set`](crate::Table::set).
    ///
    /// # Crash
    /// The line is in the log completely or not at all.
    #[inline]
    pub fn line(&self, level: Level, text: impl AsRef<[u8]>) -> Result<()> {
        self.write(level, text.as_ref())
    }

    /// Formats a line and writes it, as [`Log::line`].
    ///
    /// # Errors
    /// As [`Log::line`].
    ///
    /// # Examples
    /// ```
    /// # let dir = std::env::temp_dir().join(format!("tavola-log-doc2-{}", std::process::id()));
    /// # std::fs::create_dir_all(&dir)?;
    /// # let log = tavola::LogOptions::new().open(dir.join("events"))?;
    /// # let _drain = log.drain()?;
    /// let items = 3;
    /// log.print(tavola::Level::Info, format_args!("{items} items"))?;
    /// # std::fs::remove_dir_all(&dir)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn print(&self, level: Level, text: fmt::Arguments<'_>) -> Result<()> {
        match text.as_str() {
            Some(text) => self.line(level, text),
            None => self.line(level, text.to_string()),
        }
    }

    #[inline]
    fn write(&self, level: Level, text: &[u8]) -> Result<()> {
        let inner = &self.inner;
        let me = inner.core.writer()?;
        let ring = inner.ring();
        loop {
            // Pairs with the release in `call_writers`: a pass of the drain after this load ends
            // the wait.
            let passes = ring.head.passes.load(Ordering::Acquire);
            let is_shown = inner.is_shown(&ring);
            let put = hands::with(&inner.core, inner.place, me, |hand, writer| {
                let line = NewLine {
                    level: level.code(),
                    is_shown,
                    pid: writer.pid,
                    tid: writer.tid,
                    text,
                };
                ring.put(me, hand, &line)
            });
            if let Put::Written { time } = put {
                inner.find_drain(&ring, me, time);
                if is_shown {
                    inner.show(level, text, me, time);
                }
                return Ok(());
            }
            let is_drained = is_drained(&ring, me);
            if !is_drained && !is_shown {
                // The drain has died: try again, with the line marked as shown.
                continue;
            }
            if self.is_to_wait(put, is_drained) {
                ring.wait_for_drain(passes);
                continue;
            }
            ring.head.dropped.fetch_add(1, Ordering::Relaxed);
            let is_seen = is_shown && !inner.is_quiet();
            if is_seen {
                inner.show(level, text, me, sys::clock::unix_ns());
            }
            return match put {
                Put::NoSheet if !is_seen => Err(Error::Full {
                    reason: "all buffers of the log are in use by threads; create a larger log",
                }),
                _ => Ok(()),
            };
        }
    }

    /// Returns whether the writer of a line that found no room must wait for the drain. A sink that
    /// writes to its own log would wait for itself.
    #[cold]
    fn is_to_wait(&self, put: Put, is_drained: bool) -> bool {
        let can_wait = is_drained && !is_draining();
        put == Put::NotDrained && can_wait && self.overload() == Overload::Block
    }

    /// Sets whether lines are shown on standard error while there is no drain; by default they are.
    /// Applies to this handle and its clones.
    ///
    /// A line that is dropped ([`Overload`]) is shown, too, and still counts as dropped.
    pub fn show_on_stderr(&self, shown: bool) {
        self.inner
            .is_quiet
            .store(u32::from(!shown), Ordering::Relaxed);
    }

    /// Returns the number of lines lost since the log was created: overwritten before a drain, or
    /// not written because the log was full, whether or not they were shown on standard error.
    pub fn dropped(&self) -> u64 {
        self.inner.ring().head.dropped.load(Ordering::Relaxed)
    }

    /// Returns whether a drain is running, or was at the last check.
    pub fn has_drain(&self) -> bool {
        !self.inner.is_shown(&self.inner.ring())
    }

    /// Returns the space for lines in bytes.
    pub fn bytes(&self) -> u64 {
        u64::from(self.inner.place.geometry.sheets) * SHEET
    }

    /// Returns what happens to a line when the log is full.
    pub fn overload(&self) -> Overload {
        Overload::of(self.inner.place.geometry.policy)
    }

    /// Returns the path of its file.
    pub fn path(&self) -> &Path {
        self.inner.core.path()
    }
}

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Log")
            .field("path", &self.path())
            .field("bytes", &self.bytes())
            .field("overload", &self.overload())
            .finish_non_exhaustive()
    }
}

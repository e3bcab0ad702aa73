//! A log, as a user holds it.

use super::drain::is_draining;
use super::hands::{self, Writer};
use super::text::{Pieces, Printer};
use super::{Level, LogDrain, LogLine, LogOptions, LogReader, Overload};
use crate::error::{Error, Result};
use crate::layout::{ExtentKind, LogGeometry, SHEET};
use crate::log::{self, Line, Put, Ring, is_drained};
use crate::sync::{Ordering, W32, W64};
use crate::sys;
use crate::table::core::Core;
use crate::table::{Table, beside};
use std::ffi::OsStr;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// Nanoseconds between two looks at whether the drain still lives.
const LOOK_EVERY_NS: u64 = 1_000_000_000;

/// Lines that all processes write, in shared memory.
///
/// Each thread writes on a piece of the log of its own, without a lock and without a system call.
/// One [`LogDrain`] writes the lines out in the order of their times; as long as there is none,
/// each line is also shown on the standard error of its writer, and stays for the next drain as
/// long as there is room. Whatever became of their writers, lines can be read ([`Log::reader`])
/// until they are overwritten.
///
/// Every line is still there, or was written out by a drain, or is counted as dropped
/// ([`Log::stats`]); what becomes of lines that find no room [`Overload`] says.
///
/// Made by [`LogOptions`], in a file of its own or beside a table.
///
/// # Concurrency
/// All processes and threads write at once. A signal handler may write a line, too, if its thread
/// has written one to this log before, and none to four others since.
///
/// # Crash
/// A line is there when [`Log::line`] returns, whatever becomes of its writer then; of a line under
/// way there is nothing. A dead thread's piece of the log is used again when its turn comes. A
/// process that is killed in the few instructions in which it drops the oldest lines of a piece may
/// leave these counted twice, or counted and written out: 682 lines at most.
#[derive(Clone)]
pub struct Log {
    pub(super) inner: Arc<Inner>,
}

/// Where a log stands in its region, and its geometry.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) base: u64,
    geometry: LogGeometry,
}

impl Place {
    pub(super) const NOWHERE: Self = Self {
        base: 0,
        geometry: LogGeometry::NONE,
    };

    #[inline]
    pub(super) fn ring<'a>(&'a self, core: &'a Core) -> Ring<'a> {
        Ring::of(core.region(), self.base, &self.geometry)
    }
}

/// One handle's view of a log.
pub(super) struct Inner {
    pub(super) core: Arc<Core>,
    place: Place,
    /// 1: lines that no drain will write are not shown.
    is_quiet: W32,
    /// When the drain was last seen alive, or nearly.
    looked: W64,
}

impl Inner {
    #[inline]
    pub(super) fn ring(&self) -> Ring<'_> {
        self.place.ring(&self.core)
    }

    fn is_quiet(&self) -> bool {
        self.is_quiet.load(Ordering::Relaxed) != 0
    }

    /// Whether a line is to be shown, as there is no drain.
    #[inline]
    fn is_shown(&self, ring: &Ring<'_>) -> bool {
        ring.head.drain.load(Ordering::Relaxed) == 0
    }

    /// Once a second.
    #[inline]
    fn look_for_drain(&self, ring: &Ring<'_>, me: u32, now: u64) {
        if now.abs_diff(self.looked.load(Ordering::Relaxed)) > LOOK_EVERY_NS {
            self.looked.store(now, Ordering::Relaxed);
            is_drained(ring, me);
        }
    }

    /// Shows a line on standard error.
    #[cold]
    fn show(&self, level: Level, text: &[u8], (me, time): (u32, u64)) {
        if self.is_quiet() {
            return;
        }
        let who = Writer::of(me);
        let line = LogLine {
            unix_ns: time,
            pid: who.pid,
            tid: who.tid,
            level,
            is_shown: true,
            text,
            cut: 0,
        };
        let mut shown = Shown::new();
        Printer::default().print(&line, &mut shown);
        shown.write_out();
    }
}

/// A line on its way to standard error: by one system call, unless it is very long, and without
/// the heap, as a signal handler may have interrupted it.
struct Shown {
    bytes: [u8; 2048],
    len: usize,
}

impl Shown {
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

impl Pieces for Shown {
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
    /// Opens a log beside this table.
    ///
    /// # Errors
    /// [`Error::NotThere`]; [`Error::Corrupt`].
    pub fn log(&self, name: &str) -> Result<Log> {
        Log::find(self, name)
    }

    /// The names of the logs beside this table.
    ///
    /// # Errors
    /// Those of mapping the table.
    pub fn logs(&self) -> Result<Vec<String>> {
        Ok(self.core()?.names_beside(ExtentKind::Log))
    }
}

impl Log {
    /// Opens a log that is there, in a file of its own.
    ///
    /// # Errors
    /// As [`Options::open_existing`](crate::Options::open_existing); [`Error::NotThere`] when that
    /// file has none.
    pub fn open(name: impl AsRef<OsStr>) -> Result<Log> {
        beside::open_existing::<LogOptions>(name.as_ref())
    }

    pub(super) fn find(table: &Table, name: &str) -> Result<Log> {
        let core = table.lazy.get()?;
        match log::open(core.region(), name.as_bytes())? {
            Some((base, geometry)) => Ok(Log {
                inner: Arc::new(Inner {
                    core: Arc::clone(core),
                    place: Place { base, geometry },
                    is_quiet: W32::new(0),
                    looked: W64::new(0),
                }),
            }),
            None => Err(Error::NotThere {
                what: ExtentKind::Log.what(),
                name: name.to_owned(),
            }),
        }
    }

    /// Writes a line. Its text is any bytes; beyond 16,360 they are cut, and the line says so.
    ///
    /// With [`Overload::Block`] it waits for the drain if it has to. So the thread that drains
    /// should not write to the log between two passes, nor in a signal handler; what a sink writes
    /// during a pass is dropped, and counted, if there is no room.
    ///
    /// # Errors
    /// [`Error::ReadOnly`]; [`Error::Full`] when living threads have every piece of the log in
    /// hand, and the line is shown nowhere; at a process's first write what attaching gives, see
    /// [`Table::set`](crate::Table::set).
    ///
    /// # Crash
    /// The line is there or not, and never a part of it.
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
            // Pairs with the release in `finish`: a pass that comes later ends the wait.
            let passes = ring.head.passes.load(Ordering::Acquire);
            let is_shown = inner.is_shown(&ring);
            let put = hands::with(&inner.core, inner.place, me, |hand, who| {
                let line = Line {
                    level: level.code(),
                    is_shown,
                    pid: who.pid,
                    tid: who.tid,
                    text,
                };
                ring.put(me, hand, &line)
            });
            if let Put::Written { time } = put {
                inner.look_for_drain(&ring, me, time);
                if is_shown {
                    inner.show(level, text, (me, time));
                }
                return Ok(());
            }
            let is_drained = is_drained(&ring, me);
            if !is_drained && !is_shown {
                // Once more, as one that is to be shown.
                continue;
            }
            if self.is_to_wait(put, is_drained) {
                ring.wait_for_drain(passes);
                continue;
            }
            ring.head.dropped.fetch_add(1, Ordering::Relaxed);
            let is_seen = is_shown && !inner.is_quiet();
            if is_seen {
                inner.show(level, text, (me, sys::clock::unix_ns()));
            }
            return match put {
                Put::NoSheet if !is_seen => Err(Error::Full {
                    reason: "all buffers of the log are in use by threads; create a larger log",
                }),
                _ => Ok(()),
            };
        }
    }

    /// Whether the writer of a line that found no room waits for the drain. A sink that writes to
    /// the log it is the sink of would wait for itself.
    #[cold]
    fn is_to_wait(&self, put: Put, is_drained: bool) -> bool {
        let can_wait = is_drained && !is_draining();
        put == Put::NotDrained && can_wait && self.overload() == Overload::Block
    }

    /// Whether lines are shown on standard error while there is no drain, as they are when this is
    /// not called. For this handle and its clones.
    ///
    /// A line that finds no room ([`Overload`]) is shown, too; it counts as dropped all the same.
    pub fn show_on_stderr(&self, shown: bool) {
        self.inner
            .is_quiet
            .store(u32::from(!shown), Ordering::Relaxed);
    }

    /// Becomes the log's drain.
    ///
    /// # Errors
    /// [`Error::AlreadyDrained`]; [`Error::ReadOnly`].
    pub fn drain(&self) -> Result<LogDrain> {
        LogDrain::begin(self)
    }

    /// Reads lines without taking them from anybody; a log that is open read-only will do.
    pub fn reader(&self) -> LogReader {
        LogReader::new(self)
    }

    /// Lines that were lost since the log was made: overwritten before a drain wrote them out, or
    /// not written for want of room, whether or not they were shown on standard error.
    pub fn dropped(&self) -> u64 {
        self.inner.ring().head.dropped.load(Ordering::Relaxed)
    }

    /// Whether a drain is at work, or was when it was last looked for.
    pub fn has_drain(&self) -> bool {
        !self.inner.is_shown(&self.inner.ring())
    }

    /// Bytes of all its lines together, at most.
    pub fn bytes(&self) -> u64 {
        u64::from(self.inner.place.geometry.sheets) * SHEET
    }

    /// What happens when a line finds no room.
    pub fn overload(&self) -> Overload {
        Overload::of(self.inner.place.geometry.policy)
    }

    /// The file it is in.
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

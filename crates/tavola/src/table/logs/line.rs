//! A line of a log, in the form that readers get.

use crate::layout::LineHead;
use std::fmt;
use std::time::{Duration, SystemTime};

/// The severity of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Something failed.
    Error = 1,
    /// Something may fail.
    Warn = 2,
    /// Information for users.
    Info = 3,
    /// Information for debugging.
    Debug = 4,
    /// Everything.
    Trace = 5,
}

impl Level {
    /// All levels, the most severe first.
    pub const ALL: [Self; 5] = [
        Self::Error,
        Self::Warn,
        Self::Info,
        Self::Debug,
        Self::Trace,
    ];

    /// Returns the name in a printed line: `ERROR`, `WARN`, `INFO`, `DEBUG` or `TRACE`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Error => "ERROR",
            Self::Warn => "WARN",
            Self::Info => "INFO",
            Self::Debug => "DEBUG",
            Self::Trace => "TRACE",
        }
    }

    pub(super) fn code(self) -> u8 {
        self as u8
    }

    /// Returns the level of a code. Readers have checked the code, so the fallback is never used.
    fn of(code: u8) -> Self {
        let found = Self::ALL.into_iter().find(|level| level.code() == code);
        found.unwrap_or(Self::Trace)
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl std::str::FromStr for Level {
    type Err = UnknownLevel;

    fn from_str(name: &str) -> Result<Self, UnknownLevel> {
        let found = Self::ALL
            .into_iter()
            .find(|level| level.name().eq_ignore_ascii_case(name));
        found.ok_or(UnknownLevel)
    }
}

/// The error for a text that is not the name of a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownLevel;

impl fmt::Display for UnknownLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a level is error, warn, info, debug or trace")
    }
}

impl std::error::Error for UnknownLevel {}

/// A line of a log.
///
/// Its `Display` is one line, in UTC, control characters escaped:
/// `2026-11-22T10:31:05.123456Z  INFO 4711/4712 text`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogLine<'a> {
    /// Nanoseconds since 1970-01-01 UTC, by the clock of the machine.
    pub unix_ns: u64,
    /// The process id of the writer, in its own pid namespace.
    pub pid: u32,
    /// The thread id of the writer, in its own pid namespace.
    pub tid: u32,
    /// How much it matters.
    pub level: Level,
    /// Whether the log had no drain when the line was written, so that the line was shown on the
    /// standard error of its writer (unless turned off). The next drain still writes it out.
    pub is_shown: bool,
    /// The text; any bytes.
    pub text: &'a [u8],
    /// The number of bytes cut off at the end: a line has at most 16,360 bytes.
    pub cut: u32,
}

impl<'a> LogLine<'a> {
    pub(super) fn new(head: LineHead, text: &'a [u8]) -> Self {
        Self {
            unix_ns: head.time,
            pid: head.pid,
            tid: head.tid,
            level: Level::of(head.level),
            is_shown: head.is_shown,
            text,
            cut: head.cut,
        }
    }

    /// Returns the time at which the line was written.
    pub fn time(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_nanos(self.unix_ns)
    }
}

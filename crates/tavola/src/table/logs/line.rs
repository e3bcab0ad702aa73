//! A line, as its readers see it.

use super::text::Printer;
use crate::layout::LineHead;
use std::fmt;
use std::time::{Duration, SystemTime};

/// How much a line matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Something failed.
    Error = 1,
    /// Something may fail.
    Warn = 2,
    /// What a user wants to know.
    Info = 3,
    /// What who looks for a fault wants to know.
    Debug = 4,
    /// Everything.
    Trace = 5,
}

impl Level {
    /// All levels, the gravest first.
    pub const ALL: [Self; 5] = [
        Self::Error,
        Self::Warn,
        Self::Info,
        Self::Debug,
        Self::Trace,
    ];

    /// As it stands in a printed line: `ERROR`, `WARN`, `INFO`, `DEBUG` or `TRACE`.
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

    /// Readers take no line for one that has another level.
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

/// What is no level's name.
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
    /// The process that wrote it, by its own number.
    pub pid: u32,
    /// The thread, by its own number.
    pub tid: u32,
    /// How much it matters.
    pub level: Level,
    /// Whether there was no drain when it was written, so that it was shown on its writer's
    /// standard error, unless that was not wanted. The next drain writes it out all the same.
    pub is_shown: bool,
    /// What was written; any bytes.
    pub text: &'a [u8],
    /// Bytes at the end that had no room: a line has 16,360 at most.
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

    /// When it was written.
    pub fn time(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_nanos(self.unix_ns)
    }
}

impl fmt::Display for LogLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut bytes = Vec::<u8>::with_capacity(64 + self.text.len());
        Printer::default().print(self, &mut bytes);
        // The line's end is its user's.
        bytes.pop();
        f.write_str(&String::from_utf8_lossy(&bytes))
    }
}

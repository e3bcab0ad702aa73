//! What is measured, and its bounds.

use std::ffi::OsString;
use std::path::PathBuf;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::texts;
use crate::{Error, Result};

/// How lines are logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Way {
    /// A log without a drain, that keeps the last lines and shows none.
    TavolaFlight,
    /// A log with a drain, that makes writers wait when it is full.
    TavolaBlock,
    /// A log with a drain, that drops the oldest lines when it is full.
    TavolaDrop,
    /// One write(2) a line to a file.
    Write,
    /// One datagram a line, as syslog(3) sends them.
    Syslog,
    /// tracing-appender's thread, a plain file behind it.
    TracingAppender,
    /// tracing-appender's thread, a buffer before the file.
    TracingBuffered,
    /// Events of `tracing`, printed by tracing-subscriber, to tracing-appender's thread.
    Tracing,
}

impl Way {
    /// All of them, in the order they run.
    pub const ALL: [Self; 8] = [
        Self::TavolaFlight,
        Self::TavolaBlock,
        Self::TavolaDrop,
        Self::Write,
        Self::Syslog,
        Self::TracingAppender,
        Self::TracingBuffered,
        Self::Tracing,
    ];

    /// As it is written on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::TavolaFlight => "tavola-flight",
            Self::TavolaBlock => "tavola-block",
            Self::TavolaDrop => "tavola-drop",
            Self::Write => "write",
            Self::Syslog => "syslog",
            Self::TracingAppender => "tracing-appender",
            Self::TracingBuffered => "tracing-buffered",
            Self::Tracing => "tracing",
        }
    }

    /// Why this program cannot measure it, if it cannot.
    pub fn left_out(self) -> Option<&'static str> {
        match self {
            Self::TracingAppender | Self::TracingBuffered | Self::Tracing
                if !cfg!(feature = "peers") =>
            {
                Some(
                    "built without it; to have it: \
                     cargo build --release --package tavola-cli --features peers",
                )
            }
            _ => None,
        }
    }

    /// Whether lines go through a log in shared memory.
    pub fn has_log(self) -> bool {
        matches!(
            self,
            Self::TavolaFlight | Self::TavolaBlock | Self::TavolaDrop
        )
    }
}

impl FromStr for Way {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let found = Self::ALL.into_iter().find(|way| way.name() == text);
        let names = Self::ALL.map(Self::name).join(", ");
        found.ok_or_else(|| format!("no way {text:?}: there are {names}"))
    }
}

/// What to measure.
#[derive(Clone, Debug)]
pub struct Config {
    /// Program and arguments that start a worker, which calls [`work`](super::work).
    pub worker: (PathBuf, Vec<OsString>),
    /// Where the log is made; where tables live by default when none is given.
    pub dir: Option<PathBuf>,
    /// Where the files are made; as the log when none is given.
    pub file_dir: Option<PathBuf>,
    /// Lines of all writers together; rounded up so that all log equally many.
    pub lines: u64,
    /// Bytes of a line's text.
    pub text_bytes: usize,
    /// Processes that log.
    pub procs: u32,
    /// Threads of each that log.
    pub threads: u32,
    /// Bytes of a log in shared memory.
    pub log_bytes: u64,
    /// The ways; all when none is given.
    pub ways: Vec<Way>,
    /// All processes stay on this CPU; the system places them when none is given.
    pub cpu: Option<usize>,
    /// How often everything is run, one way after the other each time; medians are reported.
    pub repeat: u32,
}

impl Config {
    /// What a line of a log has room for.
    const MOST_TEXT: usize = 16_360;

    /// Those that were asked for, in the order they run.
    pub fn ways(&self) -> impl Iterator<Item = Way> {
        let all = Way::ALL.into_iter();
        all.filter(|one| self.ways.is_empty() || self.ways.contains(one))
    }

    pub(super) fn writers(&self) -> u32 {
        self.procs * self.threads
    }

    /// Lines of each writer.
    pub(super) fn share(&self) -> u64 {
        self.lines.div_ceil(u64::from(self.writers()))
    }

    /// Lines of all writers.
    pub(super) fn all(&self) -> u64 {
        self.share() * u64::from(self.writers())
    }

    /// # Errors
    ///
    /// `BadOption` when a number is out of bounds.
    pub fn check(&self) -> Result<()> {
        let bad = |option, why: &str| {
            Err(Error::BadOption {
                option,
                why: why.to_owned(),
            })
        };
        let writers = self.procs.checked_mul(self.threads);
        match self {
            _ if !(1..=1 << 32).contains(&self.lines) => bad("lines", "1 to 2^32 can be logged"),
            _ if !(texts::FEWEST_BYTES..=Self::MOST_TEXT).contains(&self.text_bytes) => {
                bad("text-bytes", "8 to 16360 are needed")
            }
            _ if self.procs == 0 => bad("procs", "at least one is needed"),
            _ if self.threads == 0 => bad("threads", "at least one is needed"),
            _ if writers.is_none_or(|all| all > texts::MOST_WRITERS) => {
                bad("threads", "at most 256 threads can log, of all processes")
            }
            _ if self.repeat == 0 => bad("repeat", "at least one run is needed"),
            _ => Ok(()),
        }
    }
}

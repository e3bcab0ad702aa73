//! The one error of the crate.

use std::fmt;
use std::io;
use std::path::PathBuf;

use crate::command;

/// What every call of the crate returns.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a measurement has no result.
#[non_exhaustive]
#[derive(Debug)]
pub enum Error {
    /// The table refused.
    Table(tavola::Error),
    /// The system refused.
    Io {
        /// What was being done.
        doing: &'static str,
        /// The system's answer.
        source: io::Error,
    },
    /// A result line could not be written.
    Output(io::Error),
    /// The table gave an answer that cannot be right: the measurement is void.
    WrongAnswer {
        /// Where it was seen.
        phase: String,
        /// What was seen.
        what: String,
    },
    /// A worker process ended early, or answered out of turn.
    Worker {
        /// What is known about it.
        what: String,
    },
    /// A file is no trace.
    Trace {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The run was told to end; what was measured is kept.
    Interrupted,
    /// A file holds no results of a comparison.
    Results {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The table of a comparison cannot be written into a page.
    Page {
        /// The page.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// The command `tavola` is missing, whose server is to be measured.
    NoCommand,
    /// An option outside its bounds.
    BadOption {
        /// The option.
        option: &'static str,
        /// Its bounds.
        why: String,
    },
}

impl Error {
    /// Whether the reader of the results has gone away, which is no failure of the measurement.
    pub fn is_broken_pipe(&self) -> bool {
        matches!(self, Self::Output(source) if source.kind() == io::ErrorKind::BrokenPipe)
    }

    /// A wrong answer in a measurement.
    pub(crate) fn wrong(phase: &str, what: impl Into<String>) -> Self {
        Self::WrongAnswer {
            phase: phase.to_owned(),
            what: what.into(),
        }
    }

    /// A worker process cannot go on.
    pub(crate) fn worker(what: impl Into<String>) -> Self {
        Self::Worker { what: what.into() }
    }

    /// An option outside its bounds.
    pub(crate) fn option(option: &'static str, why: impl Into<String>) -> Self {
        Self::BadOption {
            option,
            why: why.into(),
        }
    }

    /// Ready for `map_err`: names what was being done.
    pub(crate) fn io(doing: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { doing, source }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Table(error) => error.fmt(f),
            Self::Io { doing, source } => write!(f, "{doing}: {source}"),
            Self::Output(source) => write!(f, "cannot write the result: {source}"),
            Self::WrongAnswer { phase, what } => {
                write!(
                    f,
                    "wrong answer in phase {phase}: {what}; the measurement is void"
                )
            }
            Self::Worker { what } => write!(f, "a worker process failed: {what}"),
            Self::Trace { path, why } | Self::Results { path, why } | Self::Page { path, why } => {
                write!(f, "{}: {why}", path.display())
            }
            Self::NoCommand => f.write_str(command::MISSING),
            Self::Interrupted => {
                f.write_str("ended before all was done; --resume goes on from here")
            }
            Self::BadOption { option, why } => write!(f, "--{option}: {why}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Table(error) => Some(error),
            Self::Io { source, .. } | Self::Output(source) => Some(source),
            _ => None,
        }
    }
}

impl From<tavola::Error> for Error {
    fn from(error: tavola::Error) -> Self {
        Self::Table(error)
    }
}

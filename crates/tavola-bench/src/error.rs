//! The one error of the crate.

use std::io;
use std::path::{Path, PathBuf};

use crate::command;

/// What every call of the crate returns.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a measurement has no result.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The table refused.
    #[error(transparent)]
    Table(#[from] tavola::Error),
    /// A constant file could not be written or read.
    #[error(transparent)]
    Constant(#[from] tavola_cdb::Error),
    /// The system refused.
    #[error("{doing}: {source}")]
    Io {
        /// What was being done.
        doing: &'static str,
        source: io::Error,
    },
    /// A result line could not be written.
    #[error("cannot write the result: {0}")]
    Output(#[source] io::Error),
    /// The table gave an answer that cannot be right.
    #[error("wrong answer in phase {phase}: {what}; the measurement is void")]
    WrongAnswer { phase: String, what: String },
    /// A worker process ended early, or answered out of turn.
    #[error("a worker process failed: {what}")]
    Worker { what: String },
    /// A file is not what it should be: a trace, results, a page.
    #[error("{}: {why}", path.display())]
    File { path: PathBuf, why: String },
    /// The run was asked to end.
    #[error("ended before all was done; the results have what was measured")]
    Interrupted,
    /// The command `tavola` is missing, whose server is to be measured.
    #[error("{}", command::MISSING)]
    NoCommand,
    /// An option outside its bounds.
    #[error("--{option}: {why}")]
    BadOption { option: &'static str, why: String },
}

impl Error {
    /// Whether the reader of the results has gone away, which is no failure of the measurement.
    pub fn is_broken_pipe(&self) -> bool {
        matches!(self, Self::Output(source) if source.kind() == io::ErrorKind::BrokenPipe)
    }

    pub fn wrong(phase: &str, what: impl Into<String>) -> Self {
        Self::WrongAnswer {
            phase: phase.to_owned(),
            what: what.into(),
        }
    }

    pub fn worker(what: impl Into<String>) -> Self {
        Self::Worker { what: what.into() }
    }

    pub fn file(path: &Path, why: impl Into<String>) -> Self {
        Self::File {
            path: path.to_owned(),
            why: why.into(),
        }
    }

    pub fn option(option: &'static str, why: impl Into<String>) -> Self {
        Self::BadOption {
            option,
            why: why.into(),
        }
    }

    /// Ready for `map_err`: names what was being done.
    pub fn io<E: Into<io::Error>>(doing: &'static str) -> impl FnOnce(E) -> Self {
        move |source| Self::Io {
            doing,
            source: source.into(),
        }
    }
}

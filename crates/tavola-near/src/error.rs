//! What can go wrong, as sentences.

use std::{fmt, io};

/// The result type of the crate.
pub type Result<T, E = NearError> = std::result::Result<T, E>;

/// The reason why a call failed. A missing key is not an error.
#[non_exhaustive]
#[derive(Debug)]
pub enum NearError {
    /// The table has no near cache.
    NotNear,
    /// The near cache of the table has another format version.
    Version {
        /// Its version.
        found: u64,
    },
    /// The near cache of the table belongs to another server, database or set of prefixes.
    OtherUpstream,
    /// The clock of this process is not that of the daemon.
    OtherClock,
    /// No daemon answers, and the table has no value that may be used.
    NoDaemon {
        /// The error of its socket.
        source: io::Error,
    },
    /// The server cannot be reached, or gave an error.
    Upstream {
        /// What it said, or what failed.
        why: String,
    },
    /// The server refuses what a near cache needs.
    Refused {
        /// What it said.
        why: String,
    },
    /// An address or option is invalid.
    BadOption {
        /// The option.
        option: &'static str,
        /// What is wrong with it.
        why: String,
    },
    /// The key is longer than a near cache can ask for: 1 MiB.
    KeyTooLong {
        /// Its bytes.
        bytes: usize,
    },
    /// The table failed.
    Table(tavola::Error),
    /// A socket of the daemon failed.
    Socket(io::Error),
}

impl fmt::Display for NearError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotNear => write!(
                f,
                "the table has no near cache; start 'tavola near' for it first"
            ),
            Self::Version { found } => write!(
                f,
                "the near cache of the table has format version {found}, which this program does \
                 not know; use the program that made it, or another table"
            ),
            Self::OtherUpstream => write!(
                f,
                "the near cache of the table belongs to another server, database or set of \
                 prefixes; use another table name, or remove the table with 'tavola drop'"
            ),
            Self::OtherClock => write!(
                f,
                "the daemon of the near cache has another clock (another time namespace, or it has \
                 not run since the machine was started); start both in the same time namespace"
            ),
            Self::NoDaemon { source } => write!(
                f,
                "no daemon of the near cache answers ({source}); start 'tavola near'"
            ),
            Self::Upstream { why } => write!(f, "the server of the near cache: {why}"),
            Self::Refused { why } => write!(f, "the server cannot be cached: {why}"),
            Self::BadOption { option, why } => write!(f, "invalid {option}: {why}"),
            Self::KeyTooLong { bytes } => write!(
                f,
                "the key has {bytes} bytes; a near cache takes keys of 1 MiB at most"
            ),
            Self::Table(error) => write!(f, "{error}"),
            Self::Socket(error) => write!(f, "the socket of the near cache failed ({error})"),
        }
    }
}

impl std::error::Error for NearError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Table(error) => Some(error),
            Self::NoDaemon { source } | Self::Socket(source) => Some(source),
            _ => None,
        }
    }
}

impl From<tavola::Error> for NearError {
    fn from(error: tavola::Error) -> Self {
        Self::Table(error)
    }
}

//! Why a client cannot be made, and why a call failed.

use crate::cause::FailureCause;
use crate::ring::RingError;
use crate::server::ServerError;
use std::fmt;

/// Why there is no client of some options.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BuildError {
    /// A server is not written as one.
    Server(ServerError),
    /// The servers make no ring.
    Ring(RingError),
    /// An option has a value that it cannot have.
    Option {
        /// Its name.
        name: &'static str,
        /// What is wrong, and what to give.
        why: &'static str,
    },
    /// The table in front of the fleet cannot be opened.
    Near {
        /// Its name.
        name: String,
        /// Why.
        why: String,
    },
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Server(error) => error.fmt(f),
            Self::Ring(error) => error.fmt(f),
            Self::Option { name, why } => write!(f, "the option {name} is invalid: {why}"),
            Self::Near { name, why } => {
                write!(
                    f,
                    "the table {name} cannot be put in front of the fleet: {why}"
                )
            }
        }
    }
}

impl std::error::Error for BuildError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Server(error) => Some(error),
            Self::Ring(error) => Some(error),
            Self::Option { .. } | Self::Near { .. } => None,
        }
    }
}

impl From<ServerError> for BuildError {
    fn from(error: ServerError) -> Self {
        Self::Server(error)
    }
}

impl From<RingError> for BuildError {
    fn from(error: RingError) -> Self {
        Self::Ring(error)
    }
}

/// Why a call failed. That a key is missing, or a condition does not hold, is no error.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The server, or the client itself, refused the request. Nothing was changed.
    Refused(String),
    /// The request was not sent: nothing was changed, and it can be repeated.
    Unsent {
        /// The name of the server.
        server: String,
        /// What kind of failure it is.
        cause: FailureCause,
        /// The same in words.
        why: String,
    },
    /// The request was sent, and no answer came: it may have been carried out or not.
    Unknown {
        /// The name of the server.
        server: String,
        /// What kind of failure it is.
        cause: FailureCause,
        /// The same in words.
        why: String,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(why) => write!(f, "the request was refused: {why}"),
            Self::Unsent { server, why, .. } => write!(
                f,
                "the request was not sent to {server}: {why}; it can be repeated"
            ),
            Self::Unknown { server, why, .. } => write!(
                f,
                "the answer of {server} is missing: {why}; the request may have been carried out, \
                 so read the key before you repeat it"
            ),
        }
    }
}

impl std::error::Error for Error {}

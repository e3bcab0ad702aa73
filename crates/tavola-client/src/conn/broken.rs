//! Why a connection cannot be used any more, or was not made.

use crate::cause::FailureCause;
use rustix::io::Errno;
use std::fmt;

/// Why a connection cannot be used any more, or was not made.
#[derive(Clone, Debug)]
pub(crate) struct Broken {
    pub(crate) cause: FailureCause,
    why: String,
}

impl Broken {
    pub(crate) fn of(cause: FailureCause, why: impl Into<String>) -> Self {
        let why = why.into();
        Self { cause, why }
    }

    pub(crate) fn late() -> Self {
        Self::of(FailureCause::TimedOut, "it did not answer in time")
    }

    pub(crate) fn unexpected(why: impl Into<String>) -> Self {
        Self::of(FailureCause::Protocol, why)
    }

    /// Adds to what is said.
    pub(crate) fn and(mut self, more: &str) -> Self {
        self.why = format!("{} {more}", self.why);
        self
    }

    pub(crate) fn closed() -> Self {
        Self::of(FailureCause::Closed, "it closed the connection")
    }

    pub(crate) fn ended(error: Errno) -> Self {
        let cause = match error {
            // Of a connection whose other end has gone silent.
            Errno::TIMEDOUT => FailureCause::TimedOut,
            Errno::HOSTUNREACH | Errno::NETUNREACH => FailureCause::Unreachable,
            _ => FailureCause::Reset,
        };
        Self::of(cause, format!("the connection broke: {error}"))
    }

    pub(crate) fn not_connected(error: Errno) -> Self {
        let cause = match error {
            Errno::CONNREFUSED | Errno::NOENT | Errno::CONNRESET => FailureCause::Refused,
            Errno::ACCESS | Errno::PERM => FailureCause::Local,
            Errno::TIMEDOUT => FailureCause::TimedOut,
            _ => FailureCause::Unreachable,
        };
        Self::of(cause, format!("it cannot be connected to: {error}"))
    }

    #[cfg(feature = "tls")]
    pub(crate) fn tls(error: &std::io::Error) -> Self {
        let cause = match error.kind() {
            // Without the end that TLS has.
            std::io::ErrorKind::UnexpectedEof => FailureCause::Closed,
            _ => FailureCause::Tls,
        };
        Self::of(cause, format!("TLS ended: {error}"))
    }

    pub(crate) fn local(what: &str, error: Errno) -> Self {
        Self::of(FailureCause::Local, format!("{what}: {error}"))
    }
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.why)
    }
}

impl From<tavola_proto::Error> for Broken {
    fn from(error: tavola_proto::Error) -> Self {
        Self::unexpected(error.to_string())
    }
}

//! Why a connection cannot be used any more, or was not made.

use rustix::io::Errno;
use std::fmt;

/// Why a connection cannot be used any more, or was not made.
#[derive(Clone, Debug)]
pub(crate) struct Broken {
    pub(crate) cause: Cause,
    why: String,
}

/// What a failure says about the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// Its machine answers, and nothing listens: the server is down.
    Refused,
    /// It cannot be reached, does not answer, or does not let this client in.
    Silent,
    /// It ended the connection, perhaps a long time ago.
    Ended,
    /// It sent what is no answer to what was asked, or the call was cancelled.
    Unexpected,
    /// This process cannot do what is needed.
    Local,
}

impl Broken {
    fn of(cause: Cause, why: impl Into<String>) -> Self {
        let why = why.into();
        Self { cause, why }
    }

    pub(crate) fn refused(why: impl Into<String>) -> Self {
        Self::of(Cause::Refused, why)
    }

    pub(crate) fn silent(why: impl Into<String>) -> Self {
        Self::of(Cause::Silent, why)
    }

    pub(crate) fn unexpected(why: impl Into<String>) -> Self {
        Self::of(Cause::Unexpected, why)
    }

    /// Adds to what is said.
    pub(crate) fn and(mut self, more: &str) -> Self {
        self.why = format!("{} {more}", self.why);
        self
    }

    pub(crate) fn closed() -> Self {
        Self::of(Cause::Ended, "it closed the connection")
    }

    pub(crate) fn ended(error: Errno) -> Self {
        let cause = match error {
            // Of a connection whose other end has gone silent.
            Errno::TIMEDOUT | Errno::HOSTUNREACH | Errno::NETUNREACH => Cause::Silent,
            _ => Cause::Ended,
        };
        Self::of(cause, format!("the connection broke: {error}"))
    }

    pub(crate) fn not_connected(error: Errno) -> Self {
        let cause = match error {
            Errno::CONNREFUSED | Errno::NOENT | Errno::CONNRESET => Cause::Refused,
            Errno::ACCESS | Errno::PERM => Cause::Local,
            _ => Cause::Silent,
        };
        Self::of(cause, format!("it cannot be connected to: {error}"))
    }

    #[cfg(feature = "tls")]
    pub(crate) fn tls(error: &std::io::Error) -> Self {
        Self::of(Cause::Ended, format!("TLS ended: {error}"))
    }

    pub(crate) fn local(what: &str, error: Errno) -> Self {
        Self::of(Cause::Local, format!("{what}: {error}"))
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

//! What kind of failure keeps a request from being answered.

use std::fmt;

/// What kind of failure keeps a request from being answered. Programs decide by it; the words of an
/// error are for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FailureCause {
    /// The name of the server has no address.
    Unresolved,
    /// Nothing listens there, or there is no such socket or table: the server is down.
    Refused,
    /// Its machine cannot be reached.
    Unreachable,
    /// It did not take a connection, or did not answer, in time.
    TimedOut,
    /// It closed the connection.
    Closed,
    /// The connection broke.
    Reset,
    /// There is no TLS with it: a certificate is not accepted, or it does not speak TLS.
    Tls,
    /// It asks for a user and a password, or does not accept those given.
    Authentication,
    /// It took the connection, and refused to serve it.
    Rejected,
    /// It sent what is no answer to what it was asked.
    Protocol,
    /// A proxy took the request, and lost the server behind it.
    Proxy,
    /// One of several copies refused what another carried out.
    Partial,
    /// All connections to it are in use by others.
    Busy,
    /// This process cannot do what is needed, or was forked during the call.
    Local,
}

impl FailureCause {
    /// All causes, for tables of them.
    pub const ALL: [Self; 14] = [
        Self::Unresolved,
        Self::Refused,
        Self::Unreachable,
        Self::TimedOut,
        Self::Closed,
        Self::Reset,
        Self::Tls,
        Self::Authentication,
        Self::Rejected,
        Self::Protocol,
        Self::Proxy,
        Self::Partial,
        Self::Busy,
        Self::Local,
    ];

    /// Whether the server ended the connection, perhaps a long time ago.
    pub(crate) fn has_ended(self) -> bool {
        matches!(self, Self::Closed | Self::Reset)
    }
}

impl fmt::Display for FailureCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unresolved => "its name has no address",
            Self::Refused => "nothing listens there",
            Self::Unreachable => "it cannot be reached",
            Self::TimedOut => "it did not answer in time",
            Self::Closed => "it closed the connection",
            Self::Reset => "the connection broke",
            Self::Tls => "there is no TLS with it",
            Self::Authentication => "it does not accept the user and password",
            Self::Rejected => "it refused to serve the connection",
            Self::Protocol => "it sent what is no answer",
            Self::Proxy => "a proxy lost the server behind it",
            Self::Partial => "one of several copies was refused",
            Self::Busy => "all connections are in use",
            Self::Local => "this process could not go on with the connection",
        })
    }
}

/// A server that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerFailure {
    /// Its place in the list of servers.
    pub server: usize,
    /// What kind of failure it is.
    pub cause: FailureCause,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_cause_is_in_the_list_once_in_its_order() {
        for (place, cause) in FailureCause::ALL.iter().enumerate() {
            assert_eq!(*cause as usize, place);
        }
        assert_eq!(FailureCause::Local as usize + 1, FailureCause::ALL.len());
    }
}

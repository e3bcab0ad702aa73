//! The one error of the crate: why a server did not start.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// The result of calls that start something.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a server did not start. Nothing is left behind: sockets bound before are closed again.
#[non_exhaustive]
#[derive(Debug)]
pub enum Error {
    /// The options name nothing to listen on.
    NothingToListenOn,
    /// Another program listens on this address.
    AddressInUse {
        /// The address.
        address: String,
    },
    /// The address does not belong to this machine.
    AddressNotAvailable {
        /// The address.
        address: String,
    },
    /// The system does not let this user listen on this address.
    Permission {
        /// The address.
        address: String,
        /// The system's answer.
        source: io::Error,
    },
    /// A file that is not a socket has the path of a Unix socket.
    NotASocket {
        /// The path of the file.
        path: PathBuf,
    },
    /// A path that cannot be the name of a Unix socket.
    BadPath {
        /// The path.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// A descriptor handed over is no listening stream socket.
    NotListening {
        /// Its number.
        descriptor: i32,
    },
    /// An environment variable, by which another process hands over sockets, is invalid.
    Environment {
        /// The variable.
        variable: &'static str,
        /// The value of the variable.
        value: String,
    },
    /// A file that TLS cannot be spoken with.
    Certificates {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// This process may not have as many files open as connections were asked for.
    FileLimit {
        /// The number of files needed.
        needed: u64,
        /// The most files that are allowed.
        allowed: u64,
    },
    /// The system refused a socket, a thread or something else a server needs.
    System {
        /// The operation that failed.
        action: &'static str,
        /// The system's answer.
        source: io::Error,
    },
}

impl Error {
    pub(crate) fn system(action: &'static str) -> impl FnOnce(rustix::io::Errno) -> Self {
        move |errno| Self::System {
            action,
            source: errno.into(),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NothingToListenOn => {
                write!(f, "no address to listen on: name at least one")
            }
            Self::AddressInUse { address } => write!(
                f,
                "another program listens on {address}: stop it, or choose another address"
            ),
            Self::AddressNotAvailable { address } => write!(
                f,
                "{address} is no address of this machine: choose one that `ip address` lists"
            ),
            Self::Permission { address, source } => write!(
                f,
                "may not listen on {address} ({source}): choose a port above 1023 or a folder \
                 this user may write to"
            ),
            Self::NotASocket { path } => write!(
                f,
                "{} is there and no socket: remove it, or choose another path",
                path.display()
            ),
            Self::BadPath { path, source } => write!(
                f,
                "cannot make a socket at {} ({source}): its folder must exist, and the path have \
                 fewer than 108 bytes",
                path.display()
            ),
            Self::NotListening { descriptor } => write!(
                f,
                "descriptor {descriptor} is no listening stream socket: hand over sockets that \
                 listen, of TCP or Unix"
            ),
            Self::Environment { variable, value } => write!(
                f,
                "{variable} is `{value}`, which is not a number: correct it in the \
                 program that started this one"
            ),
            Self::Certificates { path, why } => write!(f, "{}: {why}", path.display()),
            Self::FileLimit { needed, allowed } => write!(
                f,
                "the connections take {needed} open files and {allowed} are allowed: ask for \
                 fewer connections, or raise the hard limit (`ulimit -Hn`)"
            ),
            Self::System { action, source } => write!(f, "{action} failed: {source}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Permission { source, .. }
            | Self::BadPath { source, .. }
            | Self::System { source, .. } => Some(source),
            _ => None,
        }
    }
}

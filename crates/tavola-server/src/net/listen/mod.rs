//! Sockets that connections are accepted from.

mod inherited;
mod tcp;
mod unix;

use std::fmt;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::path::PathBuf;

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};

use crate::net::error::{Error, Result};

pub use inherited::from_environment;
pub(crate) use unix::SocketFile;

/// What to listen on.
#[derive(Debug)]
pub enum Listen {
    /// An address and a port; port 0 for any that is free.
    Tcp(SocketAddr),
    /// A Unix socket. What a server that is no more left at that path is replaced.
    Unix {
        /// Where it is to stand.
        path: PathBuf,
        /// The permissions of the file, which decide who may connect: 0o700 for this user alone.
        mode: u32,
    },
    /// A listening socket that this process was given, of TCP or Unix.
    Descriptor(OwnedFd),
    /// The same from a server that this one succeeds: the file of a Unix socket is now this one's
    /// to remove.
    Succeeded(OwnedFd),
}

/// What a server listens on, as it was really bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// An address and its port.
    Tcp(SocketAddr),
    /// The path of a Unix socket; empty for one without a path.
    Unix(PathBuf),
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => write!(f, "{address}"),
            Self::Unix(path) => write!(f, "{}", path.display()),
        }
    }
}

/// A socket that listens.
#[derive(Debug)]
pub(crate) struct Listener {
    pub(crate) socket: OwnedFd,
    pub(crate) address: Address,
    /// The file that goes when the server ends.
    pub(crate) file: Option<SocketFile>,
}

impl Listener {
    pub(crate) fn open(listen: Listen, backlog: u32) -> Result<Self> {
        let backlog = i32::try_from(backlog).unwrap_or(i32::MAX);
        match listen {
            Listen::Tcp(address) => tcp::open(address, backlog),
            Listen::Unix { path, mode } => unix::open(path, mode, backlog),
            Listen::Descriptor(socket) => inherited::open(socket),
            Listen::Succeeded(socket) => {
                let mut listener = inherited::open(socket)?;
                if let Address::Unix(path) = &listener.address {
                    listener.file = SocketFile::at(path);
                }
                Ok(listener)
            }
        }
    }
}

/// A new stream socket, not inherited by programs started later.
fn socket(family: AddressFamily) -> Result<OwnedFd> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    socket_with(family, SocketType::STREAM, flags, None).map_err(Error::system("making a socket"))
}

/// The error of a call that was to make a socket listen at `address`.
fn refused(address: impl fmt::Display, action: &'static str) -> impl FnOnce(Errno) -> Error {
    let address = address.to_string();
    move |errno| match errno {
        Errno::ADDRINUSE => Error::AddressInUse { address },
        Errno::ADDRNOTAVAIL => Error::AddressNotAvailable { address },
        Errno::ACCESS | Errno::PERM | Errno::ROFS => Error::Permission {
            address,
            source: errno.into(),
        },
        _ => Error::System {
            action,
            source: errno.into(),
        },
    }
}

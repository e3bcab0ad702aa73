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

/// An address or a socket to listen on.
#[derive(Debug)]
pub enum Listen {
    /// An address and a port; port 0 for any that is free.
    Tcp(SocketAddr),
    /// A Unix socket. It replaces a socket that a server left at that path when it ended.
    Unix {
        /// The path of its file.
        path: PathBuf,
        /// The permissions of the file, which decide who may connect: 0o700 for this user alone.
        mode: u32,
    },
    /// A listening socket that this process was given, of TCP or Unix.
    Descriptor(OwnedFd),
    /// A listening socket of a server that this one succeeds. If it is a Unix socket, this server
    /// removes its file in the end.
    Succeeded(OwnedFd),
}

/// The address of a listening socket, as it was bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// An address and its port.
    Tcp(SocketAddr),
    /// The path of a Unix socket, or an empty path if it has none.
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
    /// The file that is removed when the server ends.
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

/// Makes a stream socket that does not block. Programs started later do not inherit it.
fn socket(family: AddressFamily) -> Result<OwnedFd> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    socket_with(family, SocketType::STREAM, flags, None).map_err(Error::system("making a socket"))
}

/// Returns the error for a call that failed to make a socket listen at `address`.
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

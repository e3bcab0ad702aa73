//! Listening sockets that another process opened and handed over.

use std::env;
use std::ffi::OsStr;
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use rustix::io::{FdFlags, fcntl_setfd, ioctl_fionbio};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketType, getsockname, sockopt};

use super::{Address, Listen, Listener, tcp};
use crate::net::error::{Error, Result};

/// The first descriptor that is handed over, by the convention of systemd.
const FIRST: i32 = 3;

/// Takes the listening sockets that the starter of this process handed over, by the convention of
/// systemd's socket activation: `LISTEN_FDS` sockets from descriptor 3 on, if `LISTEN_PID` is this
/// process. Returns `None` for a process without such sockets, and at each call except the first.
/// The variables are not changed: `LISTEN_PID` keeps programs that this process starts from using
/// them.
///
/// # Errors
///
/// [`Error::Environment`] if the variables hold no numbers, [`Error::NotListening`] if a descriptor
/// is not open. [`crate::Options::start`] checks whether the descriptors are listening sockets.
pub fn from_environment() -> Result<Vec<Listen>> {
    static TAKEN: AtomicBool = AtomicBool::new(false);
    let (Some(process), Some(count)) = (number("LISTEN_PID")?, number("LISTEN_FDS")?) else {
        return Ok(Vec::new());
    };
    if process != i64::from(std::process::id()) || TAKEN.swap(true, Relaxed) {
        return Ok(Vec::new());
    }
    let count = i32::try_from(count).unwrap_or(0).min(i32::MAX - FIRST);
    (FIRST..FIRST + count)
        .map(|descriptor| own(descriptor).map(Listen::Descriptor))
        .collect()
}

fn number(variable: &'static str) -> Result<Option<i64>> {
    let Some(value) = env::var_os(variable) else {
        return Ok(None);
    };
    let value = value.to_string_lossy().into_owned();
    match value.parse() {
        Ok(number) => Ok(Some(number)),
        Err(_) => Err(Error::Environment { variable, value }),
    }
}

#[allow(unsafe_code)]
fn own(descriptor: i32) -> Result<OwnedFd> {
    // SAFETY: fcntl only checks whether a number is an open descriptor; it is not closed here.
    let borrowed = unsafe { std::os::fd::BorrowedFd::borrow_raw(descriptor) };
    fcntl_setfd(borrowed, FdFlags::CLOEXEC).map_err(|_| Error::NotListening { descriptor })?;
    // SAFETY: it is open, and the process that started this one and named it in LISTEN_PID gave it
    // the descriptors from 3 on to own. `TAKEN` lets each be taken once.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
}

pub(super) fn open(socket: OwnedFd) -> Result<Listener> {
    let not_listening = |_| Error::NotListening {
        descriptor: socket.as_raw_fd(),
    };
    let listens = sockopt::socket_acceptconn(&socket).map_err(not_listening)?;
    let kind = sockopt::socket_type(&socket).map_err(not_listening)?;
    let family = sockopt::socket_domain(&socket).map_err(not_listening)?;
    let name = getsockname(&socket).map_err(not_listening)?;
    let address = match family {
        AddressFamily::UNIX => SocketAddrUnix::try_from(name).ok().map(|name| {
            let path = name.path_bytes().unwrap_or_default();
            Address::Unix(PathBuf::from(OsStr::from_bytes(path)))
        }),
        _ => SocketAddr::try_from(name).ok().map(Address::Tcp),
    };
    let Some(address) = address.filter(|_| listens && kind == SocketType::STREAM) else {
        return Err(Error::NotListening {
            descriptor: socket.as_raw_fd(),
        });
    };
    if matches!(address, Address::Tcp(_)) {
        tcp::set_up(&socket).map_err(Error::system("setting options of a socket"))?;
    }
    ioctl_fionbio(&socket, true).map_err(Error::system("setting options of a socket"))?;
    Ok(Listener {
        socket,
        address,
        file: None,
    })
}

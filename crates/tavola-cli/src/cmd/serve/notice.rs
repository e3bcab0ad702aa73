//! Notices to systemd, if it started this process and asked for them.

use std::env;
use std::ffi::OsStr;
use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

/// Sends lines such as `READY=1`. Nothing happens where nobody listens: the server serves all the
/// same.
pub fn notify(state: &str) {
    if let Some(name) = env::var_os("NOTIFY_SOCKET") {
        let _ = send(&name, state);
    }
}

fn send(name: &OsStr, state: &str) -> io::Result<()> {
    let address = match name.as_bytes().strip_prefix(b"@") {
        Some(name) => SocketAddr::from_abstract_name(name)?,
        None => SocketAddr::from_pathname(name)?,
    };
    let socket = UnixDatagram::unbound()?;
    socket.send_to_addr(state.as_bytes(), &address)?;
    Ok(())
}

//! Listening on TCP addresses.

use std::net::SocketAddr;
use std::os::fd::AsFd;

use rustix::io;
use rustix::net::{AddressFamily, bind, getsockname, listen, sockopt};

use super::{Address, Listener, refused, socket};
use crate::net::error::Result;

pub(super) fn open(address: SocketAddr, backlog: i32) -> Result<Listener> {
    let family = match address {
        SocketAddr::V4(_) => AddressFamily::INET,
        SocketAddr::V6(_) => AddressFamily::INET6,
    };
    let socket = socket(family)?;
    let bound = || -> io::Result<SocketAddr> {
        // A server that starts again need not wait for connections of its predecessor to time out.
        sockopt::set_socket_reuseaddr(&socket, true)?;
        if address.is_ipv6() {
            // So that 0.0.0.0 and :: can both be listened on.
            sockopt::set_ipv6_v6only(&socket, true)?;
        }
        set_up(&socket)?;
        bind(&socket, &address)?;
        listen(&socket, backlog)?;
        getsockname(&socket)?.try_into()
    };
    let bound = bound().map_err(refused(address, "listening on a TCP address"))?;
    Ok(Listener {
        socket,
        address: Address::Tcp(bound),
        file: None,
    })
}

/// What connections take over from the socket they come through: answers go out at once, and
/// clients that are no more are found out in the end.
pub(super) fn set_up(socket: impl AsFd) -> io::Result<()> {
    sockopt::set_tcp_nodelay(&socket, true)?;
    sockopt::set_socket_keepalive(&socket, true)
}

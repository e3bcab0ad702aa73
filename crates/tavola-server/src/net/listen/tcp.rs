//! Listening on TCP addresses.

use std::net::SocketAddr;
use std::os::fd::AsFd;

use rustix::io;
use rustix::net::{AddressFamily, bind, getsockname, listen, sockopt};

use super::{Address, Listener, refused, socket};
use crate::net::error::Result;

/// The congestion control of connections on loopback, where nothing is lost or waits. It does the
/// least work; of others, `bbr` reads the time of each packet.
const LEAST_CONTROL: &str = "reno";

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
            // Without this, 0.0.0.0 and :: could not both be listened on.
            sockopt::set_ipv6_v6only(&socket, true)?;
        }
        set_up(&socket)?;
        if address.ip().is_loopback() {
            // If the kernel refuses, its default stays.
            let _ = sockopt::set_tcp_congestion(&socket, LEAST_CONTROL);
        }
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

/// Sets the options that a connection inherits from its listening socket: answers are sent without
/// delay, and probes find clients that vanished.
pub(super) fn set_up(socket: impl AsFd) -> io::Result<()> {
    sockopt::set_tcp_nodelay(&socket, true)?;
    sockopt::set_socket_keepalive(&socket, true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpStream;
    use std::{fs, io};

    /// Returns the congestion control of a connection that came through a listener on `address`.
    fn control(address: &str) -> io::Result<String> {
        let listener = open(address.parse().expect("an address"), 1).expect("listens");
        let Address::Tcp(mut bound) = listener.address else {
            panic!("a TCP address");
        };
        bound.set_ip([127, 0, 0, 1].into());
        let _client = TcpStream::connect(bound)?;
        let accepted = rustix::net::accept(&listener.socket)?;
        Ok(sockopt::tcp_congestion(accepted)?)
    }

    #[test]
    fn connections_on_loopback_have_the_least_control() {
        let default = control("0.0.0.0:0").expect("told");
        let got = control("127.0.0.1:0").expect("told");
        assert!(got == LEAST_CONTROL || got == default, "{got}");
        // Some containers do not have this file.
        let allowed = fs::read_to_string("/proc/sys/net/ipv4/tcp_allowed_congestion_control");
        let allowed = allowed.unwrap_or_default();
        if allowed.split_whitespace().any(|one| one == LEAST_CONTROL) {
            assert_eq!(got, LEAST_CONTROL);
        }
    }
}

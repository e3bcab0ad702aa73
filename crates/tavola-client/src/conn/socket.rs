//! Options of a socket, which are set before it is connected.

use super::stream::Address;
use rustix::fd::AsFd;
use rustix::io;
use rustix::net::sockopt;
use std::time::Duration;

/// The bounds of Linux.
const SHORTEST_IDLE: Duration = Duration::from_secs(1);
const LONGEST_IDLE: Duration = Duration::from_secs(32_767);

/// Options of sockets. `None` leaves the choice to the system, which also rounds sizes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SocketOptions {
    /// The size of the buffer for bytes that are sent.
    pub send_buffer_bytes: Option<usize>,
    /// The size of the buffer for bytes that are received.
    pub receive_buffer_bytes: Option<usize>,
    /// How long a TCP connection is idle before the system asks whether the other machine is still
    /// there: from 1 s to 32,767 s, else the nearest of both. It always asks at some time.
    pub keepalive: Option<Duration>,
}

impl SocketOptions {
    pub(super) fn apply(&self, fd: impl AsFd, address: &Address) -> io::Result<()> {
        if let Some(bytes) = self.send_buffer_bytes {
            sockopt::set_socket_send_buffer_size(&fd, bytes)?;
        }
        if let Some(bytes) = self.receive_buffer_bytes {
            sockopt::set_socket_recv_buffer_size(&fd, bytes)?;
        }
        if let Address::Tcp(_) = address {
            sockopt::set_tcp_nodelay(&fd, true)?;
            sockopt::set_socket_keepalive(&fd, true)?;
            if let Some(idle) = self.keepalive {
                sockopt::set_tcp_keepidle(&fd, idle.clamp(SHORTEST_IDLE, LONGEST_IDLE))?;
            }
        }
        Ok(())
    }
}

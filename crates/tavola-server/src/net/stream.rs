//! One connected socket: all reads and writes of a connection are in this file.

use std::io::{self, IoSlice};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::buffer::spare_capacity;
use rustix::io::Errno;
use rustix::net::{
    RecvFlags, SendAncillaryBuffer, SendFlags, Shutdown, recv, send, sendmsg, shutdown,
};

use crate::net::output::Output;
use crate::net::peek::Peek;
use crate::net::tls::{Session, Tls};

/// A connected socket that does not block.
#[derive(Debug)]
pub(crate) struct Stream {
    socket: OwnedFd,
    /// `None` without TLS.
    session: Option<Box<Session>>,
    /// `None` if bytes are taken out of the socket as soon as they are read.
    peek: Option<Peek>,
}

/// The result of a read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Received {
    /// The number of bytes read.
    pub(crate) size: usize,
    /// The bytes that were taken out of the socket; with TLS they are more than `size`.
    pub(crate) taken: usize,
    /// Whether the socket was empty after the read. The epoll reports bytes that come later.
    pub(crate) is_dry: bool,
    /// Why no bytes come after these, if none do. The socket is dry then as well.
    pub(crate) end: Option<End>,
}

/// The reason why no more bytes come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The client sends no more.
    Finished,
    #[cfg_attr(not(feature = "tls"), expect(dead_code, reason = "only TLS has it"))]
    /// The client broke the TLS protocol, or is not let in. It has got an alert, or gets it when
    /// the rest is sent.
    Broken,
}

impl Stream {
    /// Begins a connection, with TLS if `tls` is given.
    pub(crate) fn new(socket: OwnedFd, tls: Option<&Tls>) -> io::Result<Self> {
        let session = tls.map(Session::new).transpose()?;
        let peek = session.is_none().then(|| Peek::of(&socket)).flatten();
        Ok(Self {
            socket,
            peek,
            session: session.map(Box::new),
        })
    }

    /// Appends the bytes that have come to `bytes`, as far as its capacity allows, or a little
    /// more. With `peeks` they may also stay in a Unix socket until [`Stream::take_out`].
    pub(crate) fn receive(&mut self, bytes: &mut Vec<u8>, peeks: bool) -> io::Result<Received> {
        if let Some(session) = &mut self.session {
            return session.receive(&self.socket, bytes);
        }
        let offered = bytes.capacity() - bytes.len();
        let found = match &mut self.peek {
            Some(peek) => peek.receive(&self.socket, bytes, peeks),
            None => {
                let found = recv(&self.socket, spare_capacity(bytes), RecvFlags::empty());
                found.map(|(_, size)| (size, size == offered))
            }
        };
        let (size, is_more) = match found {
            Ok(found) => found,
            Err(Errno::AGAIN | Errno::INTR) => {
                return Ok(Received {
                    is_dry: true,
                    ..Received::default()
                });
            }
            Err(errno) => return Err(errno.into()),
        };
        Ok(Received {
            size,
            taken: size,
            is_dry: !is_more,
            end: (size == 0).then_some(End::Finished),
        })
    }

    /// Takes peeked bytes out of the socket. Called before the thread waits for an event of it.
    pub(crate) fn take_out(&mut self) -> io::Result<()> {
        if let Some(peek) = &mut self.peek {
            peek.take_out(&self.socket)?;
        }
        Ok(())
    }

    /// Reads and drops what comes after the end, by no protocol. Returns how many bytes that were,
    /// or `None` if no more come.
    pub(crate) fn throw_away(&mut self, bytes: &mut Vec<u8>) -> io::Result<Option<usize>> {
        match recv(&self.socket, spare_capacity(bytes), RecvFlags::empty()) {
            Ok((_, 0)) => Ok(None),
            Ok((_, size)) => Ok(Some(size)),
            Err(Errno::AGAIN | Errno::INTR) => Ok(Some(0)),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Sends as much as the socket takes now. Returns how many bytes left the output.
    pub(crate) fn send(&mut self, output: &mut Output) -> io::Result<usize> {
        if let Some(session) = &mut self.session {
            return session.send(&self.socket, output);
        }
        let mut sum = 0;
        while !output.is_empty() {
            let due = output.len();
            let mut offered = 0;
            let size = output.send_by(|slices| {
                offered = slices.iter().map(|slice| slice.len()).sum();
                send_slices(&self.socket, slices)
            })?;
            sum += size;
            if size < offered {
                break;
            }
            debug_assert!(output.len() < due, "each round sends something");
        }
        Ok(sum)
    }

    /// Returns whether bytes are sent without TLS.
    pub(crate) fn is_plain(&self) -> bool {
        self.session.is_none()
    }

    /// Returns whether bytes that left the output are not sent yet.
    pub(crate) fn is_pending(&self) -> bool {
        self.session.as_ref().is_some_and(|one| one.is_pending())
    }

    /// Returns whether the TLS handshake is not complete yet.
    pub(crate) fn is_handshaking(&self) -> bool {
        self.session
            .as_ref()
            .is_some_and(|one| one.is_handshaking())
    }

    /// Returns whether there is a TLS session that did not resume an earlier one.
    pub(crate) fn is_new_session(&self) -> bool {
        self.session.as_ref().is_some_and(|one| one.is_new())
    }

    /// Returns the bytes of memory that the TLS session holds.
    pub(crate) fn holds(&self) -> usize {
        self.session.as_ref().map_or(0, |one| one.holds())
    }

    /// Ends the TLS session; its last bytes may be pending afterwards.
    pub(crate) fn say_end(&mut self) {
        if let Some(session) = &mut self.session {
            session.finish(&self.socket);
        }
    }

    /// Closes the server's direction of the socket. Closing the whole socket would throw away
    /// answers on their way if the client has sent more than was read.
    pub(crate) fn finish(&mut self) {
        // Fails when the client is gone, which the next read reports.
        let _ = shutdown(&self.socket, Shutdown::Write);
    }
}

/// Sends as much as the socket takes at once. Returns how many bytes that were, 0 if it takes none
/// now.
pub(crate) fn send_slices(socket: &OwnedFd, slices: &[IoSlice<'_>]) -> io::Result<usize> {
    let sent = match slices {
        // Most answers are in one piece, and the call for that is shorter.
        [one] => send(socket, one, SendFlags::NOSIGNAL),
        all => {
            let mut control = SendAncillaryBuffer::default();
            sendmsg(socket, all, &mut control, SendFlags::NOSIGNAL)
        }
    };
    taken(sent)
}

/// Returns how many bytes a socket took, by the result of the system call. A socket that takes
/// nothing now is not an error.
pub(crate) fn taken(sent: Result<usize, Errno>) -> io::Result<usize> {
    match sent {
        Ok(size) => Ok(size),
        Err(Errno::AGAIN | Errno::INTR | Errno::NOBUFS) => Ok(0),
        Err(errno) => Err(errno.into()),
    }
}

impl AsFd for Stream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

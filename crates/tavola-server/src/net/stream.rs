//! One connected socket: all that is read and written goes through here.

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
    /// `None` if what is read is always taken out of the socket.
    peek: Option<Peek>,
}

/// What a read brought.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Received {
    /// The number of bytes.
    pub(crate) size: usize,
    /// The bytes that went out of the socket for it: of TLS that may be any number more.
    pub(crate) taken: usize,
    /// Nothing is there any more. If it is by now, the epoll reports it.
    pub(crate) is_dry: bool,
    /// Nothing more comes after these bytes; it is dry then as well.
    pub(crate) end: Option<End>,
}

/// Why nothing more comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The client sends no more.
    Finished,
    #[cfg_attr(not(feature = "tls"), expect(dead_code, reason = "only TLS has it"))]
    /// It does not keep to TLS, or is not let in. It has got an alert, or gets it when the rest is
    /// sent.
    Broken,
}

impl Stream {
    /// A connection that begins, by TLS or as it is.
    pub(crate) fn new(socket: OwnedFd, tls: Option<&Tls>) -> io::Result<Self> {
        let session = tls.map(Session::new).transpose()?;
        let peek = session.is_none().then(|| Peek::of(&socket)).flatten();
        Ok(Self {
            socket,
            peek,
            session: session.map(Box::new),
        })
    }

    /// Appends what has come to `bytes`, as far as its capacity goes, or a little more. With
    /// `peeks` it may stay in a Unix socket until [`Stream::take_out`].
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

    /// Takes out what was peeked at, before an event of the socket is waited for.
    pub(crate) fn take_out(&mut self) -> io::Result<()> {
        if let Some(peek) = &mut self.peek {
            peek.take_out(&self.socket)?;
        }
        Ok(())
    }

    /// Reads what comes after the end, by no protocol, and returns how much, or `None` if nothing
    /// more comes.
    pub(crate) fn throw_away(&mut self, bytes: &mut Vec<u8>) -> io::Result<Option<usize>> {
        match recv(&self.socket, spare_capacity(bytes), RecvFlags::empty()) {
            Ok((_, 0)) => Ok(None),
            Ok((_, size)) => Ok(Some(size)),
            Err(Errno::AGAIN | Errno::INTR) => Ok(Some(0)),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Sends what the socket takes now, and returns how much that was.
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

    /// Whether bytes go as they are, not by TLS.
    pub(crate) fn is_plain(&self) -> bool {
        self.session.is_none()
    }

    /// Whether something that left the output is not sent.
    pub(crate) fn is_pending(&self) -> bool {
        self.session.as_ref().is_some_and(|one| one.is_pending())
    }

    /// Whether client and server have not agreed yet how to talk.
    pub(crate) fn is_handshaking(&self) -> bool {
        self.session
            .as_ref()
            .is_some_and(|one| one.is_handshaking())
    }

    /// Whether it is a session of TLS that resumes no earlier one.
    pub(crate) fn is_new_session(&self) -> bool {
        self.session.as_ref().is_some_and(|one| one.is_new())
    }

    /// Bytes of memory that it holds.
    pub(crate) fn holds(&self) -> usize {
        self.session.as_ref().map_or(0, |one| one.holds())
    }

    /// Says by TLS that no more will come; it may be pending then.
    pub(crate) fn say_end(&mut self) {
        if let Some(session) = &mut self.session {
            session.finish(&self.socket);
        }
    }

    /// Says to the client that no more will come. Closing alone would do so too, but throws away
    /// what is on its way if the client has sent more than was read.
    pub(crate) fn finish(&mut self) {
        // Fails when the client is gone, which the next read reports.
        let _ = shutdown(&self.socket, Shutdown::Write);
    }
}

/// Sends what the socket takes at once; 0: nothing now.
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

/// What an answer of the system to a send means.
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

//! One connected socket: all that is read and written goes through here.

use std::io::{self, IoSlice};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::buffer::spare_capacity;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendAncillaryBuffer, SendFlags, Shutdown, recv, sendmsg, shutdown};

use crate::net::output::Output;

/// A connected socket that does not block.
#[derive(Debug)]
pub(crate) struct Stream {
    socket: OwnedFd,
}

/// What a read brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Received {
    /// That many bytes.
    Bytes(usize),
    /// Nothing is there now.
    Nothing,
    /// The client sends no more.
    End,
}

impl Stream {
    pub(crate) fn new(socket: OwnedFd) -> Self {
        Self { socket }
    }

    /// Appends what is there to `bytes`, as far as its capacity goes.
    pub(crate) fn receive(&mut self, bytes: &mut Vec<u8>) -> io::Result<Received> {
        match recv(&self.socket, spare_capacity(bytes), RecvFlags::empty()) {
            Ok((_, 0)) => Ok(Received::End),
            Ok((_, size)) => Ok(Received::Bytes(size)),
            Err(Errno::AGAIN | Errno::INTR) => Ok(Received::Nothing),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Sends what the socket takes now, and tells how much that was.
    pub(crate) fn send(&mut self, output: &mut Output) -> io::Result<usize> {
        let mut sum = 0;
        while !output.is_empty() {
            let due = output.len();
            let mut offered = 0;
            let size = output.send_by(|slices| {
                offered = slices.iter().map(|slice| slice.len()).sum();
                self.send_slices(slices)
            })?;
            sum += size;
            if size < offered {
                break;
            }
            debug_assert!(output.len() < due, "each round sends something");
        }
        Ok(sum)
    }

    fn send_slices(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        let mut control = SendAncillaryBuffer::default();
        match sendmsg(&self.socket, slices, &mut control, SendFlags::NOSIGNAL) {
            Ok(size) => Ok(size),
            Err(Errno::AGAIN | Errno::INTR | Errno::NOBUFS) => Ok(0),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Says to the client that no more will come. Closing alone would do so too, but throws away
    /// what is on its way if the client has sent more than was read.
    pub(crate) fn finish(&mut self) {
        // Fails when the client is gone, which the next read tells.
        let _ = shutdown(&self.socket, Shutdown::Write);
    }
}

impl AsFd for Stream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

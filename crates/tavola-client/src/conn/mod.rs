//! One connection to one server.
//!
//! A connection is used by one call at a time. Only one that has no answers outstanding goes back
//! to the pool (`pool`); any other is closed by being dropped, so that nobody can ever read the
//! answer to somebody else's request from it.
//!
//! - `stream`, `socket`, `tls`: sockets and their options
//! - `broken`: why a connection is of no use
//! - `buffer`: bytes received
//! - `auth`: the first requests on a connection
//! - `opening`: a connection in the making

mod auth;
mod broken;
mod buffer;
mod opening;
mod socket;
mod stream;
#[cfg(feature = "tls")]
mod tls;

pub(crate) use broken::Broken;
pub(crate) use buffer::ROOM;
pub(crate) use opening::{Opening, Progress};
pub use socket::SocketOptions;
pub(crate) use stream::Wait;
#[cfg(test)]
pub(crate) use stream::{calls, interrupt_before, set_resolver};
#[cfg(feature = "tls")]
pub use tls::{Tls, TlsError};

use crate::waiting::Waiting;
use buffer::Buffer;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::collections::VecDeque;
use std::time::{Duration, Instant};
use stream::Stream;
use tavola_proto::{Answer, AnswerDecoder, AnswerLimits, Protocol};

/// Memory for output that a connection keeps.
const MOST_IDLE_OUTPUT: usize = 256 << 10;

/// The protocol that a server speaks, as far as it is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Speaks {
    Meta,
    Text,
    Binary,
}

/// A connection that can be used.
#[derive(Debug)]
pub(crate) struct Conn {
    pub(crate) stream: Stream,
    pub(crate) speaks: Speaks,
    pub(crate) input: Buffer,
    pub(crate) decoder: AnswerDecoder,
    /// Bytes to send, of which the first `taken` are sent.
    pub(crate) output: Vec<u8>,
    taken: usize,
    /// All bytes ever taken by the socket.
    sent: u64,
    next_opaque: u64,
    /// Memory for the requests that wait for answers; empty while no lane has the connection.
    pub(crate) waiting: VecDeque<Waiting>,
    /// When it went back to the pool; `None` before that happened once.
    pub(crate) idle_since: Option<Instant>,
}

impl Conn {
    fn new(stream: Stream, limits: AnswerLimits, protocol: Protocol) -> Self {
        Self {
            stream,
            speaks: Speaks::Meta,
            input: Buffer::new(),
            decoder: AnswerDecoder::of(protocol, limits),
            output: Vec::new(),
            taken: 0,
            sent: 0,
            next_opaque: 1,
            waiting: VecDeque::new(),
            idle_since: None,
        }
    }

    /// A connection to nobody, for models of what is done with connections.
    #[cfg(all(test, feature = "shuttle"))]
    pub(crate) fn to_nobody() -> Box<Self> {
        let (own, _) = std::os::unix::net::UnixStream::pair().expect("a pair");
        let stream = Stream::of_socket(own.into());
        Box::new(Self::new(stream, AnswerLimits::default(), Protocol::Text))
    }

    /// Whether it served another call before, so that the server may have closed it since.
    pub(crate) fn is_reused(&self) -> bool {
        self.idle_since.is_some()
    }

    /// Returns the place in the stream where the next byte of the output goes.
    pub(crate) fn end_of_output(&self) -> u64 {
        self.sent + self.unsent() as u64
    }

    /// Returns how many bytes the socket has taken.
    pub(crate) fn sent(&self) -> u64 {
        self.sent
    }

    /// Returns how many bytes of the output wait to be sent.
    pub(crate) fn unsent(&self) -> usize {
        self.output.len() - self.taken
    }

    /// Returns a number that no request on this connection had.
    pub(crate) fn new_opaque(&mut self) -> u64 {
        let opaque = self.next_opaque;
        self.next_opaque += 1;
        opaque
    }

    /// Sends as much as the socket takes.
    pub(crate) fn send(&mut self) -> Result<(), Broken> {
        while self.taken < self.output.len() {
            match self.stream.send(&self.output[self.taken..])? {
                None => return Ok(()),
                Some(count) => {
                    self.taken += count;
                    self.sent += count as u64;
                }
            }
        }
        self.output.clear();
        self.output.shrink_to(MOST_IDLE_OUTPUT);
        self.taken = 0;
        self.stream.flush()
    }

    /// Receives what is here, or waits for it. Returns whether something came.
    pub(crate) fn receive(&mut self, wait: Wait) -> Result<bool, Broken> {
        let room = self.input.room();
        if room.is_empty() {
            return Err(Broken::unexpected("it sent an answer that is too long"));
        }
        let received = self.stream.receive(room, wait)?;
        if let Some(count) = received {
            self.input.fill(count);
        }
        Ok(received.is_some())
    }

    pub(crate) fn interest(&self) -> PollFlags {
        self.stream.interest(self.unsent() > 0)
    }

    /// Returns what to wait for; `None` if nothing has to be waited for.
    pub(crate) fn poll_fd(&self) -> Option<PollFd<'_>> {
        let fd = self.stream.fd()?;
        Some(PollFd::from_borrowed_fd(fd, self.interest()))
    }

    /// Waits until it can be read, or written if there is something to send.
    pub(crate) fn wait(&self, deadline: Instant) -> Result<(), Broken> {
        let is_ready = || match self.poll_fd() {
            Some(fd) => wait_for(&mut [fd], deadline),
            None => true,
        };
        // What is ready later is too late.
        match Instant::now() < deadline && is_ready() {
            true => Ok(()),
            false => Err(Broken::late()),
        }
    }

    /// Whether it may go back to the pool, as far as can be seen without a system call.
    pub(crate) fn is_quiet(&self) -> bool {
        self.unsent() == 0 && self.input.is_empty() && self.stream.is_own()
    }

    /// Whether the server has neither closed it nor sent something since it was used. This asks
    /// the system.
    pub(crate) fn is_alive(&mut self) -> bool {
        matches!(self.stream.receive(self.input.room(), Wait::No), Ok(None))
    }
}

/// Waits for one of several sockets. Returns whether one is ready.
pub(crate) fn wait_for(fds: &mut [PollFd<'_>], deadline: Instant) -> bool {
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        stream::count_call();
        match poll(fds, Some(&timespec(left))) {
            Ok(0) if left.is_zero() => return false,
            Ok(0) | Err(Errno::INTR) => {}
            Ok(_) => return true,
            // The system lacks memory for a moment; the deadline ends this.
            Err(_) if left.is_zero() => return false,
            Err(_) => std::thread::sleep(left.min(Duration::from_millis(1))),
        }
    }
}

fn timespec(duration: Duration) -> Timespec {
    Timespec {
        tv_sec: i64::try_from(duration.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(duration.subsec_nanos()),
    }
}

/// The beginning of an answer, for messages.
pub(crate) fn shown(answer: &Answer<'_>) -> String {
    let mut text = format!("{answer:?}");
    if let Some((end, _)) = text.char_indices().nth(80) {
        text.truncate(end);
        text.push_str("...");
    }
    text
}

//! What a server serves: the traits that a protocol implements.
//!
//! A [`Service`] makes one [`Worker`] for each thread; a worker is used by its thread alone, so it
//! may hold buffers and needs no locks. For each connection it opens a session.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use crate::net::counters::Meter;
use crate::net::output::Output;
use crate::net::shared::{Message, Shared};
use crate::net::thread::Token;

/// Makes the workers of a server.
pub trait Service: Send + 'static {
    /// The type that serves the connections of one thread.
    type Worker: Worker;

    /// Makes the worker of a thread; called on that thread, before its first connection.
    fn worker(&self, thread: &Thread) -> Self::Worker;
}

/// Serves the connections of one thread.
///
/// # Panics
///
/// A panic in `open` or `serve` ends that connection and no other; the session is dropped.
pub trait Worker {
    /// The state of one connection.
    type Session;

    /// Opens a session for a new connection.
    fn open(&mut self, peer: &Peer) -> Self::Session;

    /// Serves the requests that have arrived: reads as many whole requests as `input` holds, and
    /// writes the answers into `output`.
    ///
    /// Called once when bytes arrive, with all of them. Bytes that are not consumed come again,
    /// with more after them. To be fair to other connections, stop after some requests, and if
    /// [`Output::is_full`], with [`Next::Again`].
    ///
    /// After `Again` or [`Waker::wake`] this is called without new input. The input may be empty
    /// then, or shorter than was asked for.
    fn serve(&mut self, session: &mut Self::Session, input: &[u8], output: &mut Output) -> Served;

    /// Closes the session of a connection that is gone. Not called after a panic of the service.
    fn close(&mut self, session: Self::Session, gone: Gone) {
        let _ = gone;
        drop(session);
    }
}

/// The reason why a connection is gone.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gone {
    /// The client closed its side, or the service closed and the client knows.
    Done,
    /// The system reported that the client is gone.
    Lost,
    /// The TLS handshake failed or took too long.
    Handshake,
    /// No byte was received or sent for too long.
    Idle,
    /// The client sent more than the service accepts.
    Overlong,
    /// All connections together held too much memory, this one much of it.
    Memory,
    /// The time of a drain was over.
    CutOff,
    /// The service panicked.
    Panic,
}

/// The result of [`Worker::serve`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Served {
    /// The number of input bytes that are consumed.
    pub consumed: usize,
    /// What the server does next.
    pub next: Next,
}

/// What the server does after a call of [`Worker::serve`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Wait for input.
    Read {
        /// The next call makes sense when the input, with the bytes that were not consumed, has
        /// this many bytes; 0 if any byte helps. A large value is collected without a call in
        /// between. Without it, at most 64 KiB are kept: a longer line ends the connection.
        at_least: usize,
    },
    /// Call again without new input, when the output has room. Other connections have their turn
    /// before, unless the output was full early so that the first answers are sent.
    Again,
    /// Close the connection when the output is sent. Anything else that the client sends is
    /// dropped.
    Close,
    /// Close the connection after a time, in which nothing is read and nothing of the output is
    /// sent.
    CloseAfter(Duration),
}

impl Served {
    /// Returns that all of `input` was served.
    pub fn all(input: &[u8]) -> Self {
        Self::some(input.len())
    }

    /// Returns that `consumed` bytes were served, and that any more bytes may complete the next
    /// request.
    pub fn some(consumed: usize) -> Self {
        Self {
            consumed,
            next: Next::Read { at_least: 0 },
        }
    }
}

/// A thread that serves, as its worker sees it.
#[derive(Clone, Debug)]
pub struct Thread {
    /// The number of the thread, from 0.
    pub index: usize,
    /// Reads the counters of the whole server.
    pub meter: Meter,
}

/// The other end of a connection.
#[derive(Debug)]
pub struct Peer {
    /// The number of the listener it came through: its index in [`crate::Server::addresses`].
    pub listener: usize,
    /// The address of the client; `None` over a Unix socket.
    pub address: Option<SocketAddr>,
    /// The address of this machine that it came to; `None` over a Unix socket.
    pub local: Option<SocketAddr>,
    /// The file descriptor of its socket. Another connection may have it after this one.
    pub descriptor: i32,
    pub(crate) waker: Waker,
}

impl Peer {
    /// Returns a value by which any thread can have this connection served although nothing
    /// arrived, for events that a client has subscribed to.
    pub fn waker(&self) -> Waker {
        self.waker.clone()
    }
}

/// Has one connection served; see [`Peer::waker`].
#[derive(Clone)]
pub struct Waker {
    pub(crate) shared: Arc<Shared>,
    pub(crate) thread: usize,
    pub(crate) token: Token,
}

impl Waker {
    /// Makes the thread serve the connection soon. Does nothing if the connection is gone.
    pub fn wake(&self) {
        self.shared.threads[self.thread]
            .mailbox
            .push(Message::Wake(self.token));
    }
}

impl fmt::Debug for Waker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Waker")
            .field("thread", &self.thread)
            .finish_non_exhaustive()
    }
}

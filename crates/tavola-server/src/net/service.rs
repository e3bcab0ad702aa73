//! What is served: the traits that a protocol implements.
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
    /// What serves the connections of one thread.
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
    /// What is known of one connection.
    type Session;

    /// A connection has come.
    fn open(&mut self, peer: &Peer) -> Self::Session;

    /// Serves what has arrived: as many whole requests as `input` holds, answers into `output`.
    ///
    /// Called once when something arrives, with all of it. What is not consumed comes again, with
    /// more behind it. To be fair to others, stop after some requests, and when
    /// [`Output::is_full`], with [`Next::Again`].
    ///
    /// After `Again` or [`Waker::wake`] it is called without new input, which may be empty then,
    /// or shorter than was asked for.
    fn serve(&mut self, session: &mut Self::Session, input: &[u8], output: &mut Output) -> Served;

    /// The connection is gone, for whatever reason but a panic.
    fn close(&mut self, session: Self::Session, gone: Gone) {
        let _ = gone;
        drop(session);
    }
}

/// Why a connection is gone.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gone {
    /// As it should: the client closed its side, or the service closed and the client knows.
    Done,
    /// The system says that the client is gone.
    Lost,
    /// It was not agreed by TLS how to talk, in time.
    Handshake,
    /// Nothing went either way for too long.
    Idle,
    /// The service wanted no more of what came.
    Overlong,
    /// All together hold too much memory, this one much of it.
    Memory,
    /// The time of a drain was over.
    CutOff,
    /// The service panicked.
    Panic,
}

/// What [`Worker::serve`] did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Served {
    /// How many bytes of the input it is done with.
    pub consumed: usize,
    /// What is to happen now.
    pub next: Next,
}

/// What is to happen after a call of [`Worker::serve`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Wait for input.
    Read {
        /// The next call makes sense when the input, with what was not consumed, has that many
        /// bytes; 0 when any byte helps. A large value is collected without a call in between.
        /// Without it, at most 64 KiB are kept: a longer line ends the connection.
        at_least: usize,
    },
    /// Call again without new input, when the output has room; others have their turn before,
    /// unless the output was said to be full early, so that the first answers go out.
    Again,
    /// Close the connection when the output is sent; what else the client sends is thrown away.
    Close,
    /// The same after a time, until which nothing is read and nothing of the output is sent.
    CloseAfter(Duration),
}

impl Served {
    /// Everything was served.
    pub fn all(input: &[u8]) -> Self {
        Self::some(input.len())
    }

    /// That many bytes were served; any more may make the next request whole.
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
    /// Counts from 0.
    pub index: usize,
    /// Reads the counters of the whole server.
    pub meter: Meter,
}

/// The other end of a connection.
#[derive(Debug)]
pub struct Peer {
    /// Through which listener it came: its place among [`crate::Server::addresses`].
    pub listener: usize,
    /// From where; none over a Unix socket.
    pub address: Option<SocketAddr>,
    /// The address of this machine that it came to; none over a Unix socket.
    pub local: Option<SocketAddr>,
    /// The number of its socket among the open files of this process. Another connection has it
    /// after this one.
    pub descriptor: i32,
    pub(crate) waker: Waker,
}

impl Peer {
    /// Lets any thread have this connection served though nothing arrived: for what a client has
    /// subscribed to.
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
    /// Has the connection served soon. Nothing happens when it is gone.
    pub fn wake(&self) {
        self.shared.threads[self.thread]
            .post
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

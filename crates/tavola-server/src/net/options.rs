//! How a server is started.

use std::sync::Arc;
use std::time::Duration;

use crate::net::error::Result;
use crate::net::listen::{Address, Listen};
use crate::net::server::Server;
use crate::net::service::Service;
use crate::net::tls::Tls;

/// The options of a server: what it listens on, its threads and its limits.
#[derive(Debug)]
pub struct Options {
    pub(crate) listen: Vec<(Listen, Option<Arc<Tls>>)>,
    pub(crate) threads: usize,
    pub(crate) max_connections: usize,
    pub(crate) refusal: Option<Vec<u8>>,
    /// Answers of listeners that have their own, by their numbers.
    pub(crate) refusals: Vec<(usize, Vec<u8>)>,
    pub(crate) backlog: u32,
    pub(crate) limits: Limits,
}

/// The system calls that send answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Io {
    /// `Uring` if the system allows an io_uring, else `Epoll`.
    #[default]
    Auto,
    /// One call for each connection.
    Epoll,
    /// One call of an io_uring for several connections that had events in the same round.
    Uring,
}

/// The setup of a running server, as far as a service may report it to its clients.
#[non_exhaustive]
#[derive(Clone, Debug)]
pub struct Setup {
    /// The addresses that the server listens on.
    pub addresses: Vec<Address>,
    /// The TLS setup of each address; `None` for an address without TLS.
    pub tls: Vec<Option<Arc<Tls>>>,
    /// The permissions of the file of a Unix socket that the server made.
    pub socket_mode: Option<u32>,
    /// The file descriptors of the listening sockets.
    pub descriptors: Vec<i32>,
    /// How many connections there may be.
    pub max_connections: usize,
    /// Whether connections above the limit get an error and are closed; otherwise they wait.
    pub refuses: bool,
    /// How many connections may wait to be accepted.
    pub backlog: u32,
    /// The time after which an idle connection is closed.
    pub idle_timeout: Option<Duration>,
}

/// The limits of each connection, and the options of its thread.
#[derive(Clone, Debug)]
pub(crate) struct Limits {
    pub(crate) idle_timeout: Option<Duration>,
    pub(crate) handshake: Duration,
    pub(crate) spin: Duration,
    pub(crate) io: Io,
    pub(crate) output_bytes: usize,
    /// The same of listeners that have their own, by their numbers.
    pub(crate) output_bytes_of: Vec<(usize, usize)>,
    pub(crate) input_bytes: usize,
    /// The most bytes of memory that all connections may hold together.
    pub(crate) held_bytes: usize,
}

impl Limits {
    /// Returns the waiting bytes of answers from which on nothing more is read from a client of a
    /// listener.
    pub(crate) fn output_bytes_at(&self, listener: usize) -> usize {
        let all = self.output_bytes_of.iter();
        let own = all.rev().find(|(at, _)| *at == listener);
        own.map_or(self.output_bytes, |(_, bytes)| *bytes)
    }
}

impl Setup {
    /// Returns the TLS setup of the first address that has one.
    pub(crate) fn tls(&self) -> Option<&Arc<Tls>> {
        self.tls.iter().flatten().next()
    }
}

impl Default for Options {
    fn default() -> Self {
        Self::new()
    }
}

impl Options {
    /// Returns options with nothing to listen on yet, four threads and 1024 connections, as
    /// memcached has.
    pub fn new() -> Self {
        Self {
            listen: Vec::new(),
            threads: 4,
            max_connections: 1024,
            refusal: None,
            refusals: Vec::new(),
            backlog: 1024,
            limits: Limits {
                idle_timeout: None,
                handshake: Duration::from_secs(10),
                spin: Duration::ZERO,
                io: Io::Auto,
                output_bytes: 256 * 1024,
                output_bytes_of: Vec::new(),
                input_bytes: (1 << 30) + 64 * 1024,
                held_bytes: 2 << 30,
            },
        }
    }

    /// Returns the setup as far as it is known before the server listens.
    pub(crate) fn setup(&self) -> Setup {
        Setup {
            addresses: Vec::new(),
            tls: Vec::new(),
            socket_mode: None,
            descriptors: Vec::new(),
            max_connections: self.max_connections,
            refuses: self.refusal.is_some(),
            backlog: self.backlog,
            idle_timeout: self.limits.idle_timeout,
        }
    }

    /// Adds an address or a socket to accept connections from.
    pub fn listen(mut self, listen: Listen) -> Self {
        self.listen.push((listen, None));
        self
    }

    /// Adds an address or a socket that speaks TLS. Connections above the limit are closed there
    /// without an error message.
    pub fn listen_tls(mut self, listen: Listen, tls: &Arc<Tls>) -> Self {
        self.listen.push((listen, Some(Arc::clone(tls))));
        self
    }

    /// Sets how many threads serve, at least one.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads.max(1);
        self
    }

    /// Sets how many connections there may be at a time, at least one. At the limit no connection
    /// is accepted until one closes; meanwhile clients wait in the kernel's queue.
    pub fn max_connections(mut self, connections: usize) -> Self {
        self.max_connections = connections.max(1);
        self
    }

    /// Makes the server send `answer` to connections above the limit and close them, instead of
    /// letting them wait.
    pub fn refuse_with(mut self, answer: &[u8]) -> Self {
        self.refusal = Some(answer.to_vec());
        self
    }

    /// Replaces the answer of [`Options::refuse_with`] for the listener that was added last.
    ///
    /// # Panics
    /// If none was added.
    pub fn refuse_there_with(mut self, answer: &[u8]) -> Self {
        let last = self.listen.len().checked_sub(1).expect("a listener");
        self.refusals.push((last, answer.to_vec()));
        self
    }

    /// Sets how many connections may wait in the kernel's queue of each listener; 1024 by default.
    pub fn backlog(mut self, connections: u32) -> Self {
        self.backlog = connections;
        self
    }

    /// Closes connections on which no byte was received or sent for `timeout`.
    pub fn idle_timeout(mut self, timeout: Duration) -> Self {
        self.limits.idle_timeout = Some(timeout);
        self
    }

    /// Sets how long the TLS handshake of a client may take; 10 seconds by default.
    pub fn handshake_timeout(mut self, timeout: Duration) -> Self {
        self.limits.handshake = timeout;
        self
    }

    /// Sets how long a thread that was busy lately polls for events before it sleeps; 0 by default.
    /// Sleeping and waking up takes tens of microseconds on some machines, so 20 to 50 us may pay
    /// if a core is free for it. An idle thread sleeps at once.
    pub fn spin(mut self, time: Duration) -> Self {
        self.limits.spin = time;
        self
    }

    /// Sets the system calls that send answers; [`Io::Auto`] by default.
    pub fn io(mut self, io: Io) -> Self {
        self.limits.io = io;
        self
    }

    /// Sets the number of waiting bytes of answers from which on nothing more is read from a
    /// client; 256 KiB by default. See [`crate::Output::is_full`].
    pub fn output_bound(mut self, bytes: usize) -> Self {
        self.limits.output_bytes = bytes.max(1);
        self
    }

    /// Replaces the number of [`Options::output_bound`] for the listener that was added last: for
    /// protocols whose clients send many requests before they read an answer.
    ///
    /// # Panics
    /// If none was added.
    pub fn output_bound_there(mut self, bytes: usize) -> Self {
        let last = self.listen.len().checked_sub(1).expect("a listener");
        self.limits.output_bytes_of.push((last, bytes.max(1)));
        self
    }

    /// Sets the largest input that a service may ask for with [`crate::Next::Read`]; 1 GiB and 64
    /// KiB by default. A connection that asks for more is closed.
    pub fn input_bound(mut self, bytes: usize) -> Self {
        self.limits.input_bytes = bytes;
        self
    }

    /// Sets how many bytes of half-sent requests and unfetched answers all connections may hold
    /// together; 2 GiB by default. Above this limit, a connection that holds more than 64 KiB
    /// itself is closed.
    pub fn memory_bound(mut self, bytes: usize) -> Self {
        self.limits.held_bytes = bytes;
        self
    }

    /// Starts the threads, which accept connections from then on.
    ///
    /// # Errors
    ///
    /// If the server cannot listen on an address, if the process may not have as many open files as
    /// connections, or if an io_uring is required and the system refuses it. Nothing is left behind
    /// then.
    pub fn start(self, service: impl Service) -> Result<Server> {
        Server::start(self, service)
    }
}

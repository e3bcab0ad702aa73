//! How a server is started.

use std::sync::Arc;
use std::time::Duration;

use crate::net::error::Result;
use crate::net::listen::{Address, Listen};
use crate::net::server::Server;
use crate::net::service::Service;
use crate::net::tls::Tls;

/// What a server listens on and where its limits are.
#[derive(Debug)]
pub struct Options {
    pub(crate) listen: Vec<(Listen, Option<Arc<Tls>>)>,
    pub(crate) threads: usize,
    pub(crate) max_connections: usize,
    pub(crate) refusal: Option<Vec<u8>>,
    pub(crate) backlog: u32,
    pub(crate) limits: Limits,
}

/// By which calls answers go out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Io {
    /// As with `Uring` where the system lets the server have one, else as with `Epoll`.
    #[default]
    Auto,
    /// One call for each connection.
    Epoll,
    /// One call of an io_uring for several connections that were heard of at once.
    Uring,
}

/// How a server was started, as far as a service may report to its clients.
#[non_exhaustive]
#[derive(Clone, Debug)]
pub struct Setup {
    /// What is listened on.
    pub addresses: Vec<Address>,
    /// What TLS is spoken with at each of the addresses, where it is.
    pub tls: Vec<Option<Arc<Tls>>>,
    /// The permissions of the file of a Unix socket that the server made.
    pub socket_mode: Option<u32>,
    /// The numbers of the sockets that listen there, among the open files of this process.
    pub descriptors: Vec<i32>,
    /// How many connections there may be.
    pub max_connections: usize,
    /// Whether connections above the limit get an error and are closed; otherwise they wait.
    pub refuses: bool,
    /// How many connections may wait to be accepted.
    pub backlog: u32,
    /// After how long an idle connection is closed.
    pub idle_timeout: Option<Duration>,
}

/// The limits of each connection, and what its thread goes by.
#[derive(Clone, Debug)]
pub(crate) struct Limits {
    pub(crate) idle_timeout: Option<Duration>,
    pub(crate) handshake: Duration,
    pub(crate) spin: Duration,
    pub(crate) io: Io,
    pub(crate) output_bytes: usize,
    pub(crate) input_bytes: usize,
    /// What all connections hold at most.
    pub(crate) held_bytes: usize,
}

impl Setup {
    /// What TLS is spoken with at the first address where it is.
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
    /// Nothing to listen on yet; four threads and 1024 connections, as memcached has.
    pub fn new() -> Self {
        Self {
            listen: Vec::new(),
            threads: 4,
            max_connections: 1024,
            refusal: None,
            backlog: 1024,
            limits: Limits {
                idle_timeout: None,
                handshake: Duration::from_secs(10),
                spin: Duration::ZERO,
                io: Io::Auto,
                output_bytes: 256 * 1024,
                input_bytes: (1 << 30) + 64 * 1024,
                held_bytes: 2 << 30,
            },
        }
    }

    /// What is known of it before anything is listened on.
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

    /// One more address or socket to accept connections from.
    pub fn listen(mut self, listen: Listen) -> Self {
        self.listen.push((listen, None));
        self
    }

    /// The same, by TLS. A connection above the limit gets no error there.
    pub fn listen_tls(mut self, listen: Listen, tls: &Arc<Tls>) -> Self {
        self.listen.push((listen, Some(Arc::clone(tls))));
        self
    }

    /// How many threads serve, at least one.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads.max(1);
        self
    }

    /// How many connections there may be at a time, at least one. At the limit none is accepted
    /// until one closes; meanwhile clients wait in the kernel's queue.
    pub fn max_connections(mut self, connections: usize) -> Self {
        self.max_connections = connections.max(1);
        self
    }

    /// Instead of waiting, connections above the limit are sent `answer` and closed.
    pub fn refuse_with(mut self, answer: &[u8]) -> Self {
        self.refusal = Some(answer.to_vec());
        self
    }

    /// How many connections wait in the kernel's queue of each listener; 1024 by default.
    pub fn backlog(mut self, connections: u32) -> Self {
        self.backlog = connections;
        self
    }

    /// Closes connections on which no byte went either way for so long.
    pub fn idle_timeout(mut self, timeout: Duration) -> Self {
        self.limits.idle_timeout = Some(timeout);
        self
    }

    /// How long a client of TLS may take until it is agreed how to talk; 10 seconds by default.
    pub fn handshake_timeout(mut self, timeout: Duration) -> Self {
        self.limits.handshake = timeout;
        self
    }

    /// How long a thread that was busy lately looks for events before it sleeps. Sleeping and
    /// waking up takes tens of microseconds on some machines, so 20 to 50 us may pay where a
    /// core is free for it; an idle thread sleeps at once. 0 by default.
    pub fn spin(mut self, time: Duration) -> Self {
        self.limits.spin = time;
        self
    }

    /// By which calls answers go out; [`Io::Auto`] by default.
    pub fn io(mut self, io: Io) -> Self {
        self.limits.io = io;
        self
    }

    /// If a client does not fetch this many bytes of answers, nothing more is read from it;
    /// 256 KiB by default. See [`crate::Output::is_full`].
    pub fn output_bound(mut self, bytes: usize) -> Self {
        self.limits.output_bytes = bytes.max(1);
        self
    }

    /// The largest input that a service may ask for with [`crate::Next::Read`]; 1 GiB and 64 KiB
    /// by default. A connection that asks for more is closed.
    pub fn input_bound(mut self, bytes: usize) -> Self {
        self.limits.input_bytes = bytes;
        self
    }

    /// How many bytes of half-sent requests and unfetched answers all connections may hold
    /// together; 2 GiB by default. A connection that finds them beyond it and holds more than
    /// 64 KiB itself is closed.
    pub fn memory_bound(mut self, bytes: usize) -> Self {
        self.limits.held_bytes = bytes;
        self
    }

    /// Starts the threads; from then on connections are accepted.
    ///
    /// # Errors
    ///
    /// When an address cannot be listened on, there may not be as many open files as connections,
    /// or an io_uring was insisted on and is refused. Nothing is left behind then.
    pub fn start(self, service: impl Service) -> Result<Server> {
        Server::start(self, service)
    }
}

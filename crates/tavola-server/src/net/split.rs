//! Two services behind one set of threads, each with its own listeners.

use crate::net::output::Output;
use crate::net::service::{Gone, Peer, Served, Service, Thread, Worker};

/// A service that serves some listeners by one service and some by another. Threads, connections
/// and limits are common to both.
///
/// ```
/// use std::sync::Arc;
/// use tavola_server::memcached::Memcached;
/// use tavola_server::resp::Resp;
/// use tavola_server::{Listen, Options, Split};
///
/// let table = Arc::new(tavola::Table::options().max_size(1 << 20).private()?);
/// let memcached = Memcached::new(Arc::clone(&table));
/// let redis = Resp::new(table);
/// let any = || Ok::<_, std::net::AddrParseError>(Listen::Tcp("127.0.0.1:0".parse()?));
/// let options = Options::new().listen(any()?).listen(any()?).threads(1);
/// let server = options.start(Split::new(memcached, redis, &[1]))?;
/// println!("memcached on {}, Redis on {}", server.addresses()[0], server.addresses()[1]);
/// server.stop();
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Split<A, B> {
    first: A,
    second: B,
    /// The listeners of the second service.
    listeners: Vec<usize>,
}

/// The worker of a [`Split`].
#[derive(Debug)]
pub struct SplitWorker<A, B> {
    first: A,
    second: B,
    listeners: Vec<usize>,
}

/// The state of a connection of a [`Split`].
#[derive(Debug)]
pub enum SplitSession<A, B> {
    /// Of the first service.
    First(A),
    /// Of the second service.
    Second(B),
}

impl<A: Service, B: Service> Split<A, B> {
    /// Serves the listeners with these numbers ([`crate::Server::addresses`]) by `second`, and all
    /// others by `first`.
    pub fn new(first: A, second: B, listeners: &[usize]) -> Self {
        Self {
            first,
            second,
            listeners: listeners.to_vec(),
        }
    }
}

impl<A: Service, B: Service> Service for Split<A, B> {
    type Worker = SplitWorker<A::Worker, B::Worker>;

    fn worker(&self, thread: &Thread) -> Self::Worker {
        SplitWorker {
            first: self.first.worker(thread),
            second: self.second.worker(thread),
            listeners: self.listeners.clone(),
        }
    }
}

impl<A: Worker, B: Worker> Worker for SplitWorker<A, B> {
    type Session = SplitSession<A::Session, B::Session>;

    fn open(&mut self, peer: &Peer) -> Self::Session {
        match self.listeners.contains(&peer.listener) {
            false => SplitSession::First(self.first.open(peer)),
            true => SplitSession::Second(self.second.open(peer)),
        }
    }

    fn serve(&mut self, session: &mut Self::Session, input: &[u8], output: &mut Output) -> Served {
        match session {
            SplitSession::First(session) => self.first.serve(session, input, output),
            SplitSession::Second(session) => self.second.serve(session, input, output),
        }
    }

    fn close(&mut self, session: Self::Session, gone: Gone) {
        match session {
            SplitSession::First(session) => self.first.close(session, gone),
            SplitSession::Second(session) => self.second.close(session, gone),
        }
    }
}

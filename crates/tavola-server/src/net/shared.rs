//! What the threads of a server know of each other.

use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::sync::atomic::{
    AtomicBool, AtomicUsize,
    Ordering::{Relaxed, SeqCst},
};
use std::time::Instant;

use rustix::io;

use crate::net::counters::{Count, ThreadCounters};
use crate::net::options::Setup;
use crate::net::poll::Post;
use crate::net::thread::Token;

/// One for all threads of a server.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) setup: Setup,
    pub(crate) threads: Box<[Place]>,
    pub(crate) acceptor: Post<AcceptorMessage>,
    /// Set by the acceptor when it waits for a connection to close.
    acceptor_waits: AtomicBool,
    /// Bytes of memory that connections hold, of all threads.
    held: Held,
    /// Changed by the acceptor, as is the next.
    pub(crate) rejected: Count,
    pub(crate) accept_stops: Count,
}

/// In cache lines of its own: threads change it, and read what is beside it all the time.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Held(AtomicUsize);

/// What one serving thread shares; in cache lines of its own.
#[derive(Debug)]
#[repr(align(128))]
pub(crate) struct Place {
    pub(crate) post: Post<Message>,
    pub(crate) counters: ThreadCounters,
}

/// A message to a serving thread.
#[derive(Debug)]
pub(crate) enum Message {
    /// Serve this connection.
    Connection(Arrival),
    /// Serve the connection though nothing arrived.
    Wake(Token),
    /// Finish what was asked, by then.
    Drain(Instant),
    /// Close all.
    Stop,
}

/// A connection on its way to its thread.
#[derive(Debug)]
pub(crate) struct Arrival {
    pub(crate) socket: OwnedFd,
    pub(crate) listener: usize,
    pub(crate) address: Option<SocketAddr>,
}

/// A message to the acceptor.
#[derive(Debug)]
pub(crate) enum AcceptorMessage {
    /// A connection was closed.
    Closed,
    /// End; before, accept those that are in the queue, if it says so.
    End {
        /// Whether to.
        accept_queued: bool,
    },
}

impl Shared {
    pub(crate) fn new(threads: usize, setup: Setup) -> io::Result<Self> {
        let place = || {
            Ok(Place {
                post: Post::new()?,
                counters: ThreadCounters::default(),
            })
        };
        Ok(Self {
            setup,
            threads: (0..threads).map(|_| place()).collect::<io::Result<_>>()?,
            acceptor: Post::new()?,
            acceptor_waits: AtomicBool::new(false),
            held: Held::default(),
            rejected: Count::default(),
            accept_stops: Count::default(),
        })
    }

    /// How many connections there are.
    pub(crate) fn connections(&self) -> usize {
        let threads = self.threads.iter();
        // Pairs with leave(): either the count is lower here, or the acceptor is seen to wait.
        threads
            .map(|place| place.counters.connections.load(SeqCst))
            .sum()
    }

    /// The acceptor says whether it waits for [`Shared::leave`]; it looks at the count again after.
    pub(crate) fn await_leave(&self, waits: bool) {
        // Pairs with leave(), see there.
        self.acceptor_waits.store(waits, SeqCst);
    }

    /// A connection holds so many bytes, and had so many before.
    pub(crate) fn hold(&self, before: usize, now: usize) {
        // Wraps where it becomes less. Orders nothing: who looks may be some bytes late.
        self.held.0.fetch_add(now.wrapping_sub(before), Relaxed);
    }

    /// What all connections hold.
    pub(crate) fn held(&self) -> usize {
        // Pairs with nothing, see hold().
        self.held.0.load(Relaxed)
    }

    /// Hands a connection to the thread that has the fewest, in turn among equals.
    pub(crate) fn hand_on(&self, arrival: Arrival, turn: usize) {
        let count = self.threads.len();
        let order = (0..count).map(|step| &self.threads[(turn + step) % count]);
        let place = order
            .min_by_key(|place| place.counters.connections.load(SeqCst))
            .expect("there is at least one thread");
        // Pairs with nothing: the acceptor reads what it wrote itself.
        place.counters.connections.fetch_add(1, SeqCst);
        place.post.push(Message::Connection(arrival));
    }

    /// A thread has one connection fewer.
    pub(crate) fn leave(&self, thread: usize) {
        // First the count, then the look at the flag; await_leave() and connections() do it the
        // other way round, so that one of both sees the other.
        self.threads[thread]
            .counters
            .connections
            .fetch_sub(1, SeqCst);
        if self.acceptor_waits.load(SeqCst) && self.acceptor_waits.swap(false, SeqCst) {
            self.acceptor.push(AcceptorMessage::Closed);
        }
    }
}

//! What the threads of a server share.

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
use crate::net::poll::Mailbox;
use crate::net::thread::Token;

/// The state that all threads of a server share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) setup: Setup,
    pub(crate) threads: Box<[SharedThread]>,
    pub(crate) acceptor: Mailbox<AcceptorMessage>,
    /// Set by the acceptor while it waits for a connection to close.
    acceptor_waits: AtomicBool,
    /// The bytes of memory that the connections of all threads hold.
    held: Held,
    /// Changed by the acceptor alone, as is `accept_stops`.
    pub(crate) rejected: Count,
    pub(crate) accept_stops: Count,
}

/// A sum in cache lines of its own: all threads change it, and often read the fields beside it.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Held(AtomicUsize);

/// The part of the state that belongs to one serving thread, in cache lines of its own.
#[derive(Debug)]
#[repr(align(128))]
pub(crate) struct SharedThread {
    pub(crate) mailbox: Mailbox<Message>,
    pub(crate) counters: ThreadCounters,
}

/// A message to a serving thread.
#[derive(Debug)]
pub(crate) enum Message {
    /// Serve this connection.
    Connection(Arrival),
    /// Serve the connection although nothing arrived.
    Wake(Token),
    /// Answer the requests that have come, until this time at the latest.
    Drain(Instant),
    /// Close all connections.
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
    /// Stop accepting.
    End {
        /// Whether the connections in the queues of the kernel are accepted before.
        accept_queued: bool,
    },
}

impl Shared {
    pub(crate) fn new(threads: usize, setup: Setup) -> io::Result<Self> {
        let thread = || {
            Ok(SharedThread {
                mailbox: Mailbox::new()?,
                counters: ThreadCounters::default(),
            })
        };
        Ok(Self {
            setup,
            threads: (0..threads).map(|_| thread()).collect::<io::Result<_>>()?,
            acceptor: Mailbox::new()?,
            acceptor_waits: AtomicBool::new(false),
            held: Held::default(),
            rejected: Count::default(),
            accept_stops: Count::default(),
        })
    }

    /// Counts the connections of all threads.
    pub(crate) fn connections(&self) -> usize {
        let threads = self.threads.iter();
        // Pairs with leave(): either the count is lower here, or the acceptor is seen to wait.
        threads
            .map(|thread| thread.counters.connections.load(SeqCst))
            .sum()
    }

    /// Notes whether the acceptor waits for [`Shared::leave`]. The acceptor has to count the
    /// connections again after this call, because one may have closed just before it.
    pub(crate) fn await_leave(&self, waits: bool) {
        // Pairs with leave(), see there.
        self.acceptor_waits.store(waits, SeqCst);
    }

    /// Notes that a connection holds `now` bytes of memory, and held `before` bytes until now.
    pub(crate) fn hold(&self, before: usize, now: usize) {
        // Wraps if the sum becomes less. Orders nothing: a reader may see a sum that is some bytes
        // late.
        self.held.0.fetch_add(now.wrapping_sub(before), Relaxed);
    }

    /// Returns the bytes of memory that all connections hold.
    pub(crate) fn held(&self) -> usize {
        // Pairs with nothing, see hold().
        self.held.0.load(Relaxed)
    }

    /// Hands a connection to the thread that has the fewest; threads with equally few get them in
    /// turn.
    pub(crate) fn hand_on(&self, arrival: Arrival, turn: usize) {
        let count = self.threads.len();
        let order = (0..count).map(|step| &self.threads[(turn + step) % count]);
        let thread = order
            .min_by_key(|thread| thread.counters.connections.load(SeqCst))
            .expect("there is at least one thread");
        // Pairs with nothing: the acceptor reads what it wrote itself.
        thread.counters.connections.fetch_add(1, SeqCst);
        thread.mailbox.push(Message::Connection(arrival));
    }

    /// Notes that a thread has one connection fewer, and wakes the acceptor if it waits for that.
    pub(crate) fn leave(&self, thread: usize) {
        // This changes the count before it reads the flag. The acceptor sets the flag in
        // await_leave() before it counts in connections(). So at least one of the two sees what the
        // other wrote.
        self.threads[thread]
            .counters
            .connections
            .fetch_sub(1, SeqCst);
        if self.acceptor_waits.load(SeqCst) && self.acceptor_waits.swap(false, SeqCst) {
            self.acceptor.push(AcceptorMessage::Closed);
        }
    }
}

//! The thread that accepts connections and hands them on.
//!
//! The epoll is level-triggered: it reports a listener until its queue is empty. While no more
//! connections may be accepted, the listeners are taken out of the epoll; otherwise the thread
//! would spin.

use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::event::epoll::EventFlags;
use rustix::io::{self, Errno};
use rustix::net::{
    RecvFlags, SendFlags, Shutdown, SocketFlags, acceptfrom_with, recv, send, shutdown,
};

use crate::net::poll::Poll;
use crate::net::shared::{AcceptorMessage, Arrival, Shared};

/// The token of the eventfd that wakes the thread; listeners have their numbers as tokens.
const WAKE_UP: u64 = u64::MAX;
/// The most connections of one listener that are accepted in a row.
const ROW: usize = 64;
/// The most rows of each listener at the end: more than usual queues hold.
const LAST_ROWS: usize = 64;
/// How long the thread accepts nothing after the system had no files or memory for more.
const PAUSE: Duration = Duration::from_millis(50);

#[derive(Debug)]
pub(crate) struct Acceptor {
    poll: Poll,
    shared: Arc<Shared>,
    listeners: Arc<[OwnedFd]>,
    max_connections: usize,
    refusal: Refusal,
    /// Whether the listeners are in the epoll.
    listening: bool,
    /// Whether there are as many connections as there may be.
    full: bool,
    /// The time until which nothing is accepted, after the system was short of files or memory.
    paused: Option<Instant>,
    /// The number of connections accepted, by which threads with equally few get them in turn.
    turn: usize,
}

/// The answers to connections above the limit.
#[derive(Debug)]
pub(crate) struct Refusal {
    /// `None` if connections above the limit wait.
    pub(crate) usual: Option<Vec<u8>>,
    /// Those of listeners that have their own, by their numbers.
    pub(crate) of_listeners: Vec<(usize, Vec<u8>)>,
}

impl Refusal {
    /// Returns the answer of a listener.
    fn at(&self, listener: usize) -> Option<&[u8]> {
        let usual = self.usual.as_deref()?;
        let own = self.of_listeners.iter().find(|(at, _)| *at == listener);
        Some(own.map_or(usual, |(_, answer)| answer))
    }
}

/// Why a row of accepts ended.
enum Stop {
    /// The queue is empty.
    Empty,
    /// The row was as long as it may be: other listeners have their turn.
    Row,
    /// There are as many connections as there may be.
    Full,
    /// The system is short of files or memory.
    Short,
}

impl Acceptor {
    pub(crate) fn new(
        shared: Arc<Shared>,
        listeners: Arc<[OwnedFd]>,
        max_connections: usize,
        refusal: Refusal,
    ) -> io::Result<Self> {
        let poll = Poll::new()?;
        poll.add(shared.acceptor.eventfd(), WAKE_UP, EventFlags::IN)?;
        Ok(Self {
            poll,
            shared,
            listeners,
            max_connections,
            refusal,
            listening: false,
            full: false,
            paused: None,
            turn: 0,
        })
    }

    /// Accepts until a message asks it to end.
    pub(crate) fn run(mut self) {
        loop {
            self.listen_if_possible();
            let pause = self.paused.map(left);
            self.poll.wait(pause);
            for number in 0..self.poll.events() {
                let (token, _) = self.poll.event(number);
                if token != WAKE_UP {
                    self.accept_row(token as usize);
                } else if let Some(accept_queued) = self.read_messages() {
                    if accept_queued {
                        self.accept_queued();
                    }
                    return;
                }
            }
        }
    }

    /// Reads messages. If one of them ends the thread, returns whether to accept the connections in
    /// the queues before.
    fn read_messages(&mut self) -> Option<bool> {
        let mut end = None;
        for message in self.shared.acceptor.take() {
            match message {
                AcceptorMessage::Closed => self.paused = None,
                AcceptorMessage::End { accept_queued } => end = Some(accept_queued),
            }
        }
        end
    }

    fn is_full(&self) -> bool {
        self.shared.connections() >= self.max_connections
    }

    fn listen_if_possible(&mut self) {
        if self.paused.is_some_and(|until| left(until).is_zero()) {
            self.paused = None;
        }
        if self.full {
            // Sets the flag before it counts, see Shared::leave().
            self.shared.await_leave(true);
            self.full = self.is_full();
        }
        let listens = !self.full && self.paused.is_none();
        if listens == self.listening {
            return;
        }
        for (number, listener) in self.listeners.iter().enumerate() {
            let done = match listens {
                true => self.poll.add(listener, number as u64, EventFlags::IN),
                false => self.poll.remove(listener),
            };
            // The kernel may be short of memory: all of this is tried again after a pause.
            if done.is_err() && listens {
                self.paused = Some(Instant::now() + PAUSE);
                for added in &self.listeners[..number] {
                    let _ = self.poll.remove(added);
                }
                return;
            }
        }
        self.listening = listens;
    }

    fn accept_row(&mut self, number: usize) {
        let stop = self.accept_some(number);
        match stop {
            Stop::Empty | Stop::Row => return,
            Stop::Full if self.full => return,
            Stop::Full => self.full = true,
            Stop::Short if self.paused.is_some() => return,
            Stop::Short => {
                self.paused = Some(Instant::now() + PAUSE);
                // The thread may be waiting for a connection to close.
                self.shared.await_leave(true);
            }
        }
        self.shared.accept_stops.add(1);
    }

    fn accept_some(&mut self, number: usize) -> Stop {
        for _ in 0..ROW {
            let full = self.is_full();
            if full && self.refusal.usual.is_none() {
                return Stop::Full;
            }
            let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
            let (socket, address) = match acceptfrom_with(&self.listeners[number], flags) {
                Ok(accepted) => accepted,
                Err(Errno::AGAIN) => return Stop::Empty,
                Err(errno) if is_of_one_connection(errno) => continue,
                Err(_) => return Stop::Short,
            };
            match self.refusal.at(number) {
                Some(answer) if full => {
                    let is_plain = self.shared.setup.tls[number].is_none();
                    refuse(&socket, if is_plain { answer } else { &[] });
                    self.shared.rejected.add(1);
                }
                _ => {
                    let arrival = Arrival {
                        socket,
                        listener: number,
                        address: address.and_then(|any| SocketAddr::try_from(any).ok()),
                    };
                    self.shared.hand_on(arrival, self.turn);
                    self.turn = self.turn.wrapping_add(1);
                }
            }
        }
        Stop::Row
    }

    /// Accepts the connections that came before the end, as far as the limit allows.
    fn accept_queued(&mut self) {
        for number in 0..self.listeners.len() {
            for _ in 0..LAST_ROWS {
                if !matches!(self.accept_some(number), Stop::Row) {
                    break;
                }
            }
        }
    }
}

/// Returns whether an error concerns one connection and not the listener: see accept(2).
fn is_of_one_connection(errno: Errno) -> bool {
    matches!(
        errno,
        Errno::INTR
            | Errno::CONNABORTED
            | Errno::PROTO
            | Errno::PERM
            | Errno::NETDOWN
            | Errno::NETUNREACH
            | Errno::HOSTDOWN
            | Errno::HOSTUNREACH
            | Errno::NONET
            | Errno::NOPROTOOPT
            | Errno::OPNOTSUPP
    )
}

/// Sends as much of `answer` as a new socket takes at once, and closes the socket.
fn refuse(socket: &OwnedFd, answer: &[u8]) {
    // If this fails the client is gone.
    let _ = send(socket, answer, SendFlags::NOSIGNAL);
    let _ = shutdown(socket, Shutdown::Write);
    // Unread bytes of the client would make the kernel throw the answer away.
    let _ = recv(socket, &mut [0_u8; 4096], RecvFlags::empty());
}

fn left(until: Instant) -> Duration {
    until.saturating_duration_since(Instant::now())
}

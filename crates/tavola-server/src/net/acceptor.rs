//! The thread that accepts connections and hands them on.
//!
//! Level-triggered as all threads are: a listener with connections in its queue is reported until
//! it is empty, so that when no more may be accepted it is taken out of the epoll, not left to
//! spin.

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

/// The token of the bell; listeners have their numbers.
const BELL: u64 = u64::MAX;
/// Connections of one listener that are accepted in a row.
const ROW: usize = 64;
/// Rows of each listener at the end: more than usual queues hold.
const LAST_ROWS: usize = 64;
/// How long nothing is accepted when the system has no files or memory for more.
const PAUSE: Duration = Duration::from_millis(50);

#[derive(Debug)]
pub(crate) struct Acceptor {
    poll: Poll,
    shared: Arc<Shared>,
    listeners: Arc<[OwnedFd]>,
    max_connections: usize,
    refusal: Option<Vec<u8>>,
    /// Whether the listeners are in the epoll.
    listening: bool,
    /// At the limit.
    full: bool,
    /// Short of files or memory, until then.
    paused: Option<Instant>,
    /// Connections accepted, so that threads with as many get them in turn.
    turn: usize,
}

/// Why a row of accepts ended.
enum Stop {
    /// The queue is empty.
    Empty,
    /// Others have their turn.
    Row,
    /// As many connections as there may be.
    Full,
    /// The system cannot accept more for now.
    Short,
}

impl Acceptor {
    pub(crate) fn new(
        shared: Arc<Shared>,
        listeners: Arc<[OwnedFd]>,
        max_connections: usize,
        refusal: Option<Vec<u8>>,
    ) -> io::Result<Self> {
        let poll = Poll::new()?;
        poll.add(shared.acceptor.bell(), BELL, EventFlags::IN)?;
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
                if token != BELL {
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

    /// Reads messages. Returns whether to accept what is in the queues, if it is to end.
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
            // The flag first, see Shared::leave().
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
            // Memory of the kernel may be short: tried again, all of them, after a pause.
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
                // A connection that closes may be what is waited for.
                self.shared.await_leave(true);
            }
        }
        self.shared.accept_stops.add(1);
    }

    fn accept_some(&mut self, number: usize) -> Stop {
        for _ in 0..ROW {
            let full = self.is_full();
            if full && self.refusal.is_none() {
                return Stop::Full;
            }
            let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
            let (socket, address) = match acceptfrom_with(&self.listeners[number], flags) {
                Ok(accepted) => accepted,
                Err(Errno::AGAIN) => return Stop::Empty,
                Err(errno) if is_of_one_connection(errno) => continue,
                Err(_) => return Stop::Short,
            };
            match &self.refusal {
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

    /// Those who connected before the end are served, as far as the limit allows.
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

/// Errors that say something of one connection, not of the listener: see accept(2).
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

/// Sends what a new socket takes at once, and closes it.
fn refuse(socket: &OwnedFd, answer: &[u8]) {
    // Whatever fails here, the client is gone.
    let _ = send(socket, answer, SendFlags::NOSIGNAL);
    let _ = shutdown(socket, Shutdown::Write);
    // What was sent already would make the kernel throw the answer away.
    let _ = recv(socket, &mut [0_u8; 4096], RecvFlags::empty());
}

fn left(until: Instant) -> Duration {
    until.saturating_duration_since(Instant::now())
}

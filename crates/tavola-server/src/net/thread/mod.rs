//! A thread that serves connections: it waits for events and gives each connection its turn.
//!
//! A round is one wait and one turn for each connection that has something to do: an event, or a
//! place in `ready` since its service said `Again`. So each connection has its turn before any has
//! a second one. The only exception is a connection that was alone in a round, which may be read a
//! few more times before the next wait. How turns read and send, and how the thread waits, is
//! decided in [`strategy`]. How connections end, and their deadlines, are in `ending`.

mod batch;
mod connection;
mod ending;
mod slots;
mod spin;
mod state;
mod strategy;

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::event::epoll::EventFlags;
use rustix::io;
use rustix::net::getsockname;

use crate::net::counters::ThreadCounters;
use crate::net::input::BATCH_BYTES;
use crate::net::options::Limits;
use crate::net::output::Output;
use crate::net::poll::Poll;
use crate::net::ring::Ring;
use crate::net::service::{Gone, Peer, Waker, Worker};
use crate::net::shared::{Arrival, Message, Shared};
use crate::net::stream::Stream;

use connection::{Connection, Workspace};
use slots::Slots;
use state::{Opening, Pending, Stage, Wants};
use strategy::{REREADS, Reading, Strategy, Turn};

pub(crate) use slots::Token;

/// The token of the eventfd that wakes the thread. No connection has it, as there are fewer than
/// 2^32.
const WAKE_UP: u64 = u64::MAX;
/// The loop of one thread.
#[derive(Debug)]
pub(crate) struct Loop<W: Worker> {
    index: usize,
    poll: Poll,
    strategy: Strategy,
    shared: Arc<Shared>,
    space: Workspace<W>,
    connections: Slots<Connection<W::Session>>,
    /// The connections that have a turn in the next round without an event.
    ready: VecDeque<Token>,
    /// The time of the next check of deadlines, if any connection may have one.
    next_check: Option<Instant>,
    phase: Phase,
}

/// The stage of the thread: it serves, may drain, and stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Serving,
    /// The thread ends when all connections have ended, or at this time.
    Draining {
        until: Instant,
    },
    Stopped,
}

impl<W: Worker> Loop<W> {
    /// Makes the epoll of a thread. The thread that starts it calls this, and so can report an
    /// error.
    pub(crate) fn poll(shared: &Shared, index: usize) -> io::Result<Poll> {
        let poll = Poll::new()?;
        poll.add(
            shared.threads[index].mailbox.eventfd(),
            WAKE_UP,
            EventFlags::IN,
        )?;
        Ok(poll)
    }

    pub(crate) fn new(
        index: usize,
        poll: Poll,
        ring: Option<Ring>,
        shared: Arc<Shared>,
        worker: W,
        limits: Limits,
    ) -> Self {
        let now = Instant::now();
        Self {
            index,
            poll,
            strategy: Strategy::new(limits.spin, ring),
            shared,
            connections: Slots::new(),
            ready: VecDeque::new(),
            next_check: limits.idle_timeout.map(|_| now),
            phase: Phase::Serving,
            space: Workspace {
                worker,
                input: Vec::new(),
                output: Output::new(limits.output_bytes),
                spare: Vec::new(),
                limits,
                now,
            },
        }
    }

    /// Serves until a message stops the thread or a drain is complete.
    pub(crate) fn run(mut self) {
        while self.is_running() {
            self.reread();
            let timeout = self.timeout();
            self.strategy.wait(&mut self.poll, timeout);
            self.space.now = Instant::now();
            // A connection that becomes ready in this round has its next turn in the next one.
            let ready = self.ready.len();
            let has_rung = self.turns_by_events();
            for _ in 0..ready {
                let token = self.ready.pop_front().expect("counted");
                if let Some(connection) = self.connections.get_mut(token) {
                    connection.pending = Pending::Nothing;
                    self.turn(token, Turn::PLAIN);
                }
            }
            if has_rung {
                self.take_messages();
            }
            if self.next_check.is_some_and(|at| self.space.now >= at) {
                self.check_deadlines();
            }
        }
        for token in self.connections.tokens() {
            self.close(token, Gone::Done);
        }
    }

    fn is_running(&self) -> bool {
        match self.phase {
            Phase::Serving => true,
            Phase::Draining { .. } => self.connections.len() > 0,
            Phase::Stopped => false,
        }
    }

    fn is_draining(&self) -> bool {
        matches!(self.phase, Phase::Draining { .. })
    }

    /// Reads the connection that was alone in the last round again, without a wait, as long as
    /// requests come. Takes peeked requests out of its socket at the end.
    fn reread(&mut self) {
        let Some(token) = self.strategy.take_reread() else {
            return;
        };
        let peeks = Turn {
            reading: Reading::Peek,
            ..Turn::PLAIN
        };
        for number in 1..=REREADS {
            if !self.can_reread(token) {
                break;
            }
            let before = self.counters().read.get();
            // The last turn takes requests out of the socket as it reads them, by one call.
            let turn = if number < REREADS { peeks } else { Turn::PLAIN };
            self.turn(token, turn);
            let has_found = self.counters().read.get() != before;
            if !self.strategy.note_reread(has_found) {
                break;
            }
        }
        if let Some(connection) = self.connections.get_mut(token)
            && connection.stream.take_out().is_err()
        {
            self.close(token, Gone::Lost);
        }
    }

    fn can_reread(&self, token: Token) -> bool {
        let is_reading = self.connections.get(token).is_some_and(|connection| {
            connection.stage == Stage::Open && connection.interest == EventFlags::IN
        });
        is_reading && self.ready.is_empty() && !self.is_draining()
    }

    /// Gives a turn to each connection that has an event. Returns whether the thread has messages.
    fn turns_by_events(&mut self) -> bool {
        let events = self.poll.events();
        let (ready, is_draining) = (self.ready.len(), self.is_draining());
        let planned = self.strategy.begin_round(events, ready, is_draining);
        let (mut has_rung, mut alone) = (false, None);
        for number in 0..events {
            let (word, flags) = self.poll.event(number);
            if word == WAKE_UP {
                has_rung = true;
                continue;
            }
            let token = Token::from_word(word);
            alone = Some(token).filter(|_| planned.reading == Reading::Peek);
            let mut turn = planned;
            if flags == EventFlags::OUT && !is_draining {
                turn.reading = Reading::Nothing;
            }
            let connection = self.connections.get(token);
            if connection.is_some_and(|connection| connection.pending != Pending::NextTurn) {
                self.turn(token, turn);
            }
        }
        self.send_batch();
        self.strategy.end_round(alone);
        has_rung
    }

    /// Returns how long to wait for events at most.
    fn timeout(&self) -> Option<Duration> {
        if !self.ready.is_empty() {
            return Some(Duration::ZERO);
        }
        let next = self.next_check.filter(|_| self.connections.len() > 0)?;
        Some(next.saturating_duration_since(Instant::now()))
    }

    /// Handles messages. This is the last step of a round, so that a slot freed in a round is not
    /// used again before all events of that round are handled.
    fn take_messages(&mut self) {
        for message in self.shared.threads[self.index].mailbox.take() {
            match message {
                Message::Connection(arrival) => self.arrive(arrival),
                Message::Wake(token) => {
                    if let Some(connection) = self.connections.get_mut(token)
                        && matches!(connection.stage, Stage::Open | Stage::Ended)
                    {
                        connection.wants = Wants::Turn;
                        self.end_turn(token);
                    }
                }
                Message::Drain(until) => {
                    if self.phase != Phase::Stopped {
                        self.phase = Phase::Draining { until };
                    }
                    self.check_deadlines_at(self.space.now);
                    for token in self.connections.tokens() {
                        self.turn(token, Turn::PLAIN);
                    }
                }
                Message::Stop => self.phase = Phase::Stopped,
            }
        }
    }

    fn arrive(&mut self, arrival: Arrival) {
        self.counters().total.add(1);
        let tls = self.shared.setup.tls[arrival.listener].as_deref();
        let Ok(stream) = Stream::new(arrival.socket, tls) else {
            return self.shared.leave(self.index);
        };
        let peer = Peer {
            listener: arrival.listener,
            address: arrival.address,
            local: local_address(&stream),
            descriptor: stream.as_fd().as_raw_fd(),
            waker: Waker {
                shared: Arc::clone(&self.shared),
                thread: self.index,
                token: self.connections.next(),
            },
        };
        let worker = &mut self.space.worker;
        let Ok(session) = catch_unwind(AssertUnwindSafe(|| worker.open(&peer))) else {
            self.counters().panics.add(1);
            return self.shared.leave(self.index);
        };
        let Workspace { limits, now, .. } = &self.space;
        let connection = Connection::new(stream, session, limits, arrival.listener, *now);
        if let Opening::Handshake { until } = connection.opening {
            self.check_deadlines_at(until);
        }
        let token = self.connections.insert(connection);
        let Some(Connection { stream, .. }) = self.connections.get_mut(token) else {
            return;
        };
        let word = token.to_word();
        if self.poll.add(&*stream, word, EventFlags::IN).is_err() {
            // The kernel is short of memory.
            self.close(token, Gone::Done);
        }
    }

    fn turn(&mut self, token: Token, turn: Turn) {
        let Some(connection) = self.connections.get_mut(token) else {
            return;
        };
        let counters = &self.shared.threads[self.index].counters;
        let space = &mut self.space;
        let turn = AssertUnwindSafe(|| connection.turn(space, counters, turn));
        match catch_unwind(turn) {
            Ok(Ok(())) if connection.pending == Pending::BatchedSend => {
                if self.strategy.batch.push(token) {
                    self.send_batch();
                }
            }
            Ok(Ok(())) => self.end_turn(token),
            Ok(Err(gone)) => self.close(token, gone),
            Err(_) => self.close(token, Gone::Panic),
        }
    }

    /// Sends the answers of the batch, and ends the turns of its connections.
    fn send_batch(&mut self) {
        let batch = &mut self.strategy.batch;
        let connections = &self.connections;
        let sent = batch.send(|token| connections.get(token).map(Connection::batched_send));
        let mut number = 0;
        while let Some(token) = self.strategy.batch.token(number) {
            let connection = self.connections.get_mut(token);
            let connection = connection.expect("none is closed before its turn ends");
            let sent = sent.as_ref().map(|sent| sent[number]);
            let counters = &self.shared.threads[self.index].counters;
            match connection.end_batched_turn(&mut self.space, counters, sent) {
                Ok(()) => self.end_turn(token),
                Err(gone) => self.close(token, gone),
            }
            number += 1;
        }
        self.strategy.batch.clear();
    }

    /// Ends a turn: closes a connection that is done, or sets what it waits for.
    fn end_turn(&mut self, token: Token) {
        let now = self.space.now;
        let Some(connection) = self.connections.get_mut(token) else {
            return;
        };
        let held = connection.holds();
        if held != connection.held {
            self.shared.hold(connection.held, held);
            connection.held = held;
        }
        if held > BATCH_BYTES && self.shared.held() > self.space.limits.held_bytes {
            return self.close(token, Gone::Memory);
        }
        if connection.is_handshaking() && !connection.stream.is_handshaking() {
            connection.opening = Opening::first_request(now);
            let is_new = u64::from(connection.stream.is_new_session());
            self.shared.threads[self.index]
                .counters
                .tls_sessions
                .add(is_new);
        }
        let wants_turn = connection.wants == Wants::Turn;
        let is_quiet = connection.is_sent() && !wants_turn;
        if connection.stage == Stage::Ended && is_quiet {
            return self.close(token, Gone::Done);
        }
        let mut is_ready = wants_turn && !connection.output.is_full();
        let is_draining = matches!(self.phase, Phase::Draining { .. });
        if is_draining && connection.stage == Stage::Open && is_quiet {
            let asks = !connection.input.is_empty() || connection.awaits_first(now);
            if connection.has_read_all && !asks {
                connection.stage = Stage::CLOSING_IDLE;
            }
            // Bytes may have come since the last read.
            is_ready |= !connection.has_read_all;
        }
        let deadline = connection.end_side(now);
        if is_ready && connection.pending == Pending::Nothing {
            connection.pending = Pending::NextTurn;
            self.ready.push_back(token);
        }
        if let Some(until) = deadline {
            self.check_deadlines_at(until);
        }
        self.watch(token);
    }

    /// Changes what the epoll waits for, if needed.
    fn watch(&mut self, token: Token) {
        let Some(connection) = self.connections.get_mut(token) else {
            return;
        };
        let reads = match connection.stage {
            Stage::Open => !connection.output.is_full(),
            Stage::Ended | Stage::Held { .. } | Stage::Closing { .. } => false,
            Stage::Lingering { .. } => true,
        };
        let is_held = matches!(connection.stage, Stage::Held { .. });
        let writes = !connection.is_sent() && !is_held;
        let mut interest = EventFlags::empty();
        interest.set(EventFlags::IN, reads);
        interest.set(EventFlags::OUT, writes);
        if interest == connection.interest {
            return;
        }
        connection.interest = interest;
        let word = token.to_word();
        if self
            .poll
            .change(&connection.stream, word, interest)
            .is_err()
        {
            self.close(token, Gone::Done);
        }
    }

    fn close(&mut self, token: Token, gone: Gone) {
        let Some(connection) = self.connections.remove(token) else {
            return;
        };
        self.shared.hold(connection.held, 0);
        let counters = &self.shared.threads[self.index].counters;
        match gone {
            Gone::Done | Gone::Lost => {}
            // Counted below, with all others that end during a handshake.
            Gone::Handshake => {}
            Gone::Idle => counters.idle_closed.add(1),
            Gone::Overlong => counters.overlong_closed.add(1),
            Gone::Memory => counters.memory_closed.add(1),
            Gone::CutOff => counters.cut_off.add(1),
            Gone::Panic => counters.panics.add(1),
        }
        if connection.is_handshaking() {
            counters.tls_handshake_errors.add(1);
        }
        let Connection {
            mut stream,
            session,
            stage,
            ..
        } = connection;
        if !matches!(stage, Stage::Lingering { .. }) {
            stream.say_end();
        }
        // Fails when the client is gone.
        let _ = stream.take_out();
        drop(stream);
        if gone != Gone::Panic {
            self.space.worker.close(session, gone);
        }
        self.shared.leave(self.index);
    }

    fn counters(&self) -> &ThreadCounters {
        &self.shared.threads[self.index].counters
    }
}

/// Returns the address of this machine that a connection came to. Returns `None` over a Unix
/// socket, or if the connection is gone again.
fn local_address(socket: impl AsFd) -> Option<SocketAddr> {
    SocketAddr::try_from(getsockname(socket).ok()?).ok()
}

//! A thread that serves connections: waits for events, gives each connection its turn.
//!
//! A round is one wait and one turn for each connection that has something to do: an event, or a
//! place in `ready` since its service said `Again`. Nothing else decides about order, so that each
//! has its turn before any has a second, but for one thing: who was alone in a round may be read a
//! few times more without a wait, as it mostly is who asks next (`guess`); what it sent over a Unix
//! socket is taken out of that at the end (`left`). With an io_uring, short answers of a round wait
//! until those of 32 connections or of all are there (`together`). How connections end, and which
//! of them have to by a time, is in `ending`.

mod connection;
mod ending;
mod guess;
mod slots;
mod spin;
mod together;

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

use connection::{Connection, Desk, Stage, Way};
use guess::{Guess, IN_A_ROW};
use slots::Slots;
use spin::Spin;
use together::Together;

pub(crate) use slots::Token;

/// The word of the bell among events; no token has it, as there are fewer than 2^32 connections.
const BELL: u64 = u64::MAX;
/// The loop of one thread.
#[derive(Debug)]
pub(crate) struct Loop<W: Worker> {
    index: usize,
    poll: Poll,
    together: Together,
    shared: Arc<Shared>,
    desk: Desk<W>,
    connections: Slots<Connection<W::Session>>,
    /// Who has a turn in the next round without an event.
    ready: VecDeque<Token>,
    spin: Spin,
    guess: Guess,
    /// When times are looked at again.
    next_look: Instant,
    /// Connections that are held or linger.
    timed: u32,
    /// Connections whose handshake of TLS is under way.
    handshaking: usize,
    draining: Option<Instant>,
    stopping: bool,
}

impl<W: Worker> Loop<W> {
    /// The epoll of a thread: made before the thread, so that errors are told by who starts it.
    pub(crate) fn poll(shared: &Shared, index: usize) -> io::Result<Poll> {
        let poll = Poll::new()?;
        poll.add(shared.threads[index].post.bell(), BELL, EventFlags::IN)?;
        Ok(poll)
    }

    pub(crate) fn new(
        index: usize,
        (poll, ring): (Poll, Option<Ring>),
        shared: Arc<Shared>,
        worker: W,
        limits: Limits,
    ) -> Self {
        let now = Instant::now();
        Self {
            index,
            poll,
            together: Together::by(ring),
            shared,
            connections: Slots::new(),
            ready: VecDeque::new(),
            spin: Spin::new(limits.spin),
            guess: Guess::default(),
            next_look: now,
            timed: 0,
            handshaking: 0,
            draining: None,
            stopping: false,
            desk: Desk {
                worker,
                input: Vec::new(),
                output: Output::new(limits.output_bytes),
                spare: Vec::new(),
                limits,
                now,
            },
        }
    }

    /// Serves until told to end.
    pub(crate) fn run(mut self) {
        while !self.stopping && (self.draining.is_none() || self.connections.len() > 0) {
            self.guess();
            let timeout = self.timeout();
            self.spin.wait(&mut self.poll, timeout);
            self.desk.now = Instant::now();
            // Who comes to be ready in this round has its next turn in the next.
            let ready = self.ready.len();
            let rung = self.turns_by_events();
            for _ in 0..ready {
                let token = self.ready.pop_front().expect("counted");
                if let Some(connection) = self.connections.get_mut(token) {
                    connection.queued = false;
                    self.turn(token, Way::READ);
                }
            }
            if rung {
                self.look_at_post();
            }
            if self.desk.now >= self.next_look {
                self.look_at_times();
            }
        }
        for token in self.connections.tokens() {
            self.close(token, Gone::Done);
        }
    }

    /// Turns for who was alone in the last round, without a wait, as long as something comes.
    fn guess(&mut self) {
        let Some(token) = self.guess.who() else {
            return;
        };
        for turn in 1..=IN_A_ROW {
            if !self.may_guess(token) {
                break;
            }
            let before = self.counters().read.get();
            let way = Way {
                leaves: turn < IN_A_ROW,
                ..Way::READ
            };
            self.turn(token, way);
            let came = self.counters().read.get() != before;
            self.guess.was(came);
            if !came {
                break;
            }
        }
        if let Some(connection) = self.connections.get_mut(token)
            && connection.stream.take_out().is_err()
        {
            self.close(token, Gone::Lost);
        }
    }

    fn may_guess(&mut self, token: Token) -> bool {
        let is_reading = self.connections.get_mut(token).is_some_and(|connection| {
            connection.stage == Stage::Open && connection.interest == (true, false)
        });
        is_reading && self.guess.pays() && self.ready.is_empty() && self.draining.is_none()
    }

    /// A turn for each connection that has an event, and tells whether the bell was rung.
    fn turns_by_events(&mut self) -> bool {
        let (mut rung, mut number, mut lone) = (false, 0, None);
        let draining = self.draining.is_some();
        let alone = self.poll.event(1).is_none();
        let together = self.together.is_possible() && !draining && !alone;
        let alone = alone && self.ready.is_empty();
        let leaves = alone && !draining && self.guess.begin();
        while let Some((word, flags)) = self.poll.event(number) {
            number += 1;
            if word == BELL {
                rung = true;
                continue;
            }
            let token = Token::from_word(word);
            lone = Some(token).filter(|_| leaves);
            let connection = self.connections.get_mut(token);
            // Who is in the list has a turn by that.
            if connection.is_some_and(|connection| !connection.queued) {
                let way = Way {
                    readable: flags != EventFlags::OUT || draining,
                    together,
                    leaves,
                    early: alone && self.spin.is_apart(),
                };
                self.turn(token, way);
            }
        }
        self.send_together();
        self.guess.asks_next(lone);
        rung
    }

    /// How long to wait for events at most.
    fn timeout(&self) -> Option<Duration> {
        if !self.ready.is_empty() {
            return Some(Duration::ZERO);
        }
        let idle_timeout = self.desk.limits.idle_timeout.is_some();
        let ends = self.timed > 0 || self.handshaking > 0 || self.draining.is_some();
        let look = idle_timeout || ends;
        (look && self.connections.len() > 0)
            .then(|| self.next_look.saturating_duration_since(Instant::now()))
    }

    /// Messages come last in a round: a place that becomes free in a round is not used again
    /// before the events of that round are dealt with.
    fn look_at_post(&mut self) {
        for message in self.shared.threads[self.index].post.take() {
            match message {
                Message::Connection(arrival) => self.arrive(arrival),
                Message::Wake(token) => {
                    if let Some(connection) = self.connections.get_mut(token)
                        && matches!(connection.stage, Stage::Open | Stage::Ended)
                    {
                        connection.again = true;
                        self.settle(token);
                    }
                }
                Message::Drain(until) => {
                    self.draining = Some(until);
                    self.next_look = self.desk.now;
                    for token in self.connections.tokens() {
                        self.turn(token, Way::READ);
                    }
                }
                Message::Stop => self.stopping = true,
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
        let worker = &mut self.desk.worker;
        let Ok(session) = catch_unwind(AssertUnwindSafe(|| worker.open(&peer))) else {
            self.counters().panics.add(1);
            return self.shared.leave(self.index);
        };
        let connection = Connection::new(stream, session, &self.desk.limits, self.desk.now);
        if let Some(until) = connection.handshake {
            self.handshaking += 1;
            self.next_look = self.next_look.min(until);
        }
        let token = self.connections.insert(connection);
        let Some(Connection { stream, .. }) = self.connections.get_mut(token) else {
            return;
        };
        let word = token.to_word();
        if self.poll.add(&*stream, word, EventFlags::IN).is_err() {
            // Memory of the kernel is short.
            self.close(token, Gone::Done);
        }
    }

    fn turn(&mut self, token: Token, way: Way) {
        let Some(connection) = self.connections.get_mut(token) else {
            return;
        };
        let counters = &self.shared.threads[self.index].counters;
        let desk = &mut self.desk;
        let turn = AssertUnwindSafe(|| connection.turn(desk, counters, way));
        match catch_unwind(turn) {
            Ok(Ok(())) if connection.is_due => {
                if self.together.add(token) {
                    self.send_together();
                }
            }
            Ok(Ok(())) => self.settle(token),
            Ok(Err(gone)) => self.close(token, gone),
            Err(_) => self.close(token, Gone::Panic),
        }
    }

    /// Sends what is due, and ends the turns of those that it goes to.
    fn send_together(&mut self) {
        let connections = &self.connections;
        let sent = self
            .together
            .send(|token| connections.get(token).map(Connection::due));
        let mut number = 0;
        while let Some(token) = self.together.token(number) {
            let connection = self.connections.get_mut(token);
            let connection = connection.expect("none is closed before its turn ends");
            let sent = sent.as_ref().map(|sent| sent[number]);
            let counters = &self.shared.threads[self.index].counters;
            match connection.end_turn(&mut self.desk, counters, sent) {
                Ok(()) => self.settle(token),
                Err(gone) => self.close(token, gone),
            }
            number += 1;
        }
        self.together.clear();
    }

    /// After a turn: closes what is done, and says what is waited for.
    fn settle(&mut self, token: Token) {
        let now = self.desk.now;
        let Some(connection) = self.connections.get_mut(token) else {
            return;
        };
        let held = connection.holds();
        if held != connection.held {
            self.shared.hold(connection.held, held);
            connection.held = held;
        }
        if held > BATCH_BYTES && self.shared.held() > self.desk.limits.held_bytes {
            return self.close(token, Gone::Memory);
        }
        if connection.handshake.is_some() && !connection.stream.is_handshaking() {
            connection.shook_hands(now);
            self.handshaking -= 1;
            let is_new = u64::from(connection.stream.is_new_session());
            self.shared.threads[self.index]
                .counters
                .tls_sessions
                .add(is_new);
        }
        let quiet = connection.is_sent() && !connection.again;
        if connection.stage == Stage::Ended && quiet {
            return self.close(token, Gone::Done);
        }
        let mut queue = connection.again && !connection.output.is_full();
        if self.draining.is_some() && connection.stage == Stage::Open && quiet {
            let asks = !connection.input.is_empty() || connection.awaits_first(now);
            if connection.dry && !asks {
                connection.stage = Stage::Closing;
                connection.is_retired = true;
            }
            // Something may have come since it was last read.
            queue |= !connection.dry;
        }
        if let Some(until) = connection.end_side(now) {
            self.timed += u32::from(!std::mem::replace(&mut connection.is_timed, true));
            self.next_look = self.next_look.min(until);
        }
        if queue && !connection.queued {
            connection.queued = true;
            self.ready.push_back(token);
        }
        self.watch(token);
    }

    /// Tells the epoll what is waited for, if that has changed.
    fn watch(&mut self, token: Token) {
        let Some(connection) = self.connections.get_mut(token) else {
            return;
        };
        let reads = match connection.stage {
            Stage::Open => !connection.output.is_full(),
            Stage::Ended | Stage::Held { .. } | Stage::Closing => false,
            Stage::Lingering { .. } => true,
        };
        let is_held = matches!(connection.stage, Stage::Held { .. });
        let interest = (reads, !connection.is_sent() && !is_held);
        if interest == connection.interest {
            return;
        }
        connection.interest = interest;
        let mut flags = EventFlags::empty();
        flags.set(EventFlags::IN, interest.0);
        flags.set(EventFlags::OUT, interest.1);
        let word = token.to_word();
        if self.poll.change(&connection.stream, word, flags).is_err() {
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
            // Counted below, with all others that end in the middle of one.
            Gone::Handshake => {}
            Gone::Idle => counters.idle_closed.add(1),
            Gone::Overlong => counters.overlong_closed.add(1),
            Gone::Memory => counters.memory_closed.add(1),
            Gone::CutOff => counters.cut_off.add(1),
            Gone::Panic => counters.panics.add(1),
        }
        self.timed -= u32::from(connection.is_timed);
        if connection.handshake.is_some() {
            self.handshaking -= 1;
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
            self.desk.worker.close(session, gone);
        }
        self.shared.leave(self.index);
    }

    fn counters(&self) -> &ThreadCounters {
        &self.shared.threads[self.index].counters
    }
}

/// None over a Unix socket, and where the connection is gone again.
fn local_address(socket: impl AsFd) -> Option<SocketAddr> {
    SocketAddr::try_from(getsockname(socket).ok()?).ok()
}

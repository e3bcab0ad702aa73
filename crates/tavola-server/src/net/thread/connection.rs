//! One connection, and one turn of it: send, read, serve, send. [`Turn`] says how it reads and
//! when it sends.

use std::io;
use std::os::fd::AsFd;
use std::time::Instant;

use rustix::event::epoll::EventFlags;

use crate::net::counters::ThreadCounters;
use crate::net::input::{BATCH_BYTES, Input};
use crate::net::options::Limits;
use crate::net::output::Output;
use crate::net::ring::{Send, Sent};
use crate::net::service::{Gone, Next, Worker};
use crate::net::stream::{End, Stream, taken};

use super::state::{Opening, Pending, Stage, Wants};
use super::strategy::{Reading, Sending, Turn};

/// The most bytes of a value being collected that one turn reads.
const TURN_BYTES: usize = 1024 * 1024;

/// The longest answers that are sent with those of other connections. Longer ones take more time to
/// send than the call for it.
const BATCHED_BYTES: usize = 4 * 1024;
/// The largest buffer that a thread keeps for answers that are sent with those of others.
const SPARE_BYTES: usize = 2 * BATCHED_BYTES;

/// The bytes of requests that take about as long as waking the client up.
const LONG_BYTES: usize = 1024;
/// The bytes of answers from which on they are sent early.
const EARLY_BYTES: usize = 256;

/// A connection of a thread.
#[derive(Debug)]
pub(super) struct Connection<S> {
    pub(super) stream: Stream,
    pub(super) session: S,
    pub(super) input: Input,
    pub(super) output: Output,
    /// The waiting bytes from which on the output is full, whichever buffer that is.
    output_bytes: usize,
    pub(super) stage: Stage,
    pub(super) opening: Opening,
    pub(super) wants: Wants,
    pub(super) pending: Pending,
    /// Whether the last turn read all that was in the socket.
    pub(super) has_read_all: bool,
    /// Bytes of memory that it held after its last turn.
    pub(super) held: usize,
    /// The time at which the last byte was received or sent.
    pub(super) last_byte: Instant,
    /// The events that the epoll waits for.
    pub(super) interest: EventFlags,
}

impl From<io::Error> for Gone {
    /// Returns [`Gone::Lost`] for each error of the system.
    fn from(_: io::Error) -> Self {
        Self::Lost
    }
}

/// The buffers and the worker that a thread lends its connections for a turn.
#[derive(Debug)]
pub(super) struct Workspace<W> {
    pub(super) worker: W,
    pub(super) input: Vec<u8>,
    pub(super) output: Output,
    /// More output buffers, for the connections of a batch.
    pub(super) spare: Vec<Output>,
    pub(super) limits: Limits,
    pub(super) now: Instant,
}

impl<S> Connection<S> {
    pub(super) fn new(
        stream: Stream,
        session: S,
        limits: &Limits,
        listener: usize,
        now: Instant,
    ) -> Self {
        let output_bytes = limits.output_bytes_at(listener);
        Self {
            session,
            input: Input::default(),
            output: Output::new(output_bytes),
            output_bytes,
            stage: Stage::Open,
            opening: match stream.is_handshaking() {
                true => Opening::Handshake {
                    until: now + limits.handshake,
                },
                false => Opening::first_request(now),
            },
            wants: Wants::Input { at_least: 1 },
            pending: Pending::Nothing,
            has_read_all: false,
            held: 0,
            stream,
            last_byte: now,
            interest: EventFlags::IN,
        }
    }

    /// Returns the bytes of memory that the connection holds.
    pub(super) fn holds(&self) -> usize {
        self.input.capacity() + self.output.capacity() + self.stream.holds()
    }

    /// Returns whether all answers were handed to the kernel.
    pub(super) fn is_sent(&self) -> bool {
        self.output.is_empty() && !self.stream.is_pending()
    }

    /// Returns whether a drain waits for the first request of the client.
    pub(super) fn awaits_first(&self, now: Instant) -> bool {
        match self.opening {
            Opening::Handshake { .. } => true,
            Opening::FirstRequest { until } => now < until,
            Opening::Done => false,
        }
    }

    pub(super) fn is_handshaking(&self) -> bool {
        matches!(self.opening, Opening::Handshake { .. })
    }

    /// Returns whether the connection has nothing to read, serve or send.
    pub(super) fn is_idle(&self) -> bool {
        self.stage == Stage::Open
            && !self.is_handshaking()
            && self.input.is_empty()
            && self.is_sent()
            && self.wants != Wants::Turn
    }

    /// Takes one turn: sends what waits, reads once, calls the service, sends the answers.
    pub(super) fn turn<W: Worker<Session = S>>(
        &mut self,
        space: &mut Workspace<W>,
        counters: &ThreadCounters,
        turn: Turn,
    ) -> Result<(), Gone> {
        self.has_read_all = false;
        match self.stage {
            Stage::Lingering { .. } => return self.throw_away(space, counters),
            // The epoll waits for nothing here, so this is the end of the connection.
            Stage::Held { .. } => return Err(Gone::Lost),
            Stage::Open | Stage::Ended | Stage::Closing { .. } => {}
        }
        self.send(space.now, counters)?;
        if matches!(self.stage, Stage::Closing { .. }) || self.output.is_full() {
            return Ok(());
        }
        if self.output.is_empty() {
            std::mem::swap(&mut self.output, &mut space.output);
            self.output.bind(self.output_bytes);
        }
        let served = self.read_and_serve(space, counters, turn);
        if turn.sending == Sending::InBatch && served.is_ok() && self.can_be_batched() {
            self.pending = Pending::BatchedSend;
            if let Some(spare) = space.spare.pop() {
                space.output = spare;
            }
            return Ok(());
        }
        let sent = served.and_then(|()| self.send(space.now, counters));
        if self.output.is_empty() {
            std::mem::swap(&mut self.output, &mut space.output);
        }
        self.output.shrink();
        sent
    }

    fn can_be_batched(&self) -> bool {
        let piece = self.output.piece();
        self.stage == Stage::Open
            && self.wants != Wants::Turn
            && self.stream.is_plain()
            && piece.is_some_and(|piece| (1..=BATCHED_BYTES).contains(&piece.len()))
    }

    /// Returns the bytes that a batch sends to the client.
    pub(super) fn batched_send(&self) -> Send<'_> {
        Send {
            socket: self.stream.as_fd(),
            bytes: self.output.piece().unwrap_or_default(),
        }
    }

    /// Ends a turn whose answers were in a batch; `sent` is what the socket took, or `None` if
    /// they have to be sent now.
    pub(super) fn end_batched_turn<W>(
        &mut self,
        space: &mut Workspace<W>,
        counters: &ThreadCounters,
        sent: Option<Sent>,
    ) -> Result<(), Gone> {
        self.pending = Pending::Nothing;
        match sent {
            None => self.send(space.now, counters)?,
            Some(sent) => {
                let size = taken(sent)?;
                counters.together.add(1);
                self.output.advance(size);
                self.count_sent(size, space.now, counters);
            }
        }
        if self.output.is_empty() && self.output.capacity() <= SPARE_BYTES {
            let none = Output::new(space.limits.output_bytes);
            space.spare.push(std::mem::replace(&mut self.output, none));
        }
        self.output.shrink();
        Ok(())
    }

    fn read_and_serve<W: Worker<Session = S>>(
        &mut self,
        space: &mut Workspace<W>,
        counters: &ThreadCounters,
        turn: Turn,
    ) -> Result<(), Gone> {
        if let Wants::Input { at_least } = self.wants {
            if turn.reading == Reading::Nothing || self.stage != Stage::Open {
                return Ok(());
            }
            self.input.borrow(&mut space.input, at_least);
            let size = self.read(at_least, turn.reading);
            let has_come = size.as_ref().is_ok_and(|&size| size > 0);
            if let Ok(size) = size {
                counters.read.add(size as u64);
            }
            if has_come {
                self.last_byte = space.now;
                if !self.is_handshaking() {
                    self.opening = Opening::Done;
                }
            }
            if matches!(self.stage, Stage::Closing { .. }) {
                counters.tls_errors.add(u64::from(!self.is_handshaking()));
                self.input = Input::default();
                self.output.clear();
                return Ok(());
            }
            if !has_come || self.input.len() < at_least {
                self.input.give_back(&mut space.input);
                return size.map(drop).map_err(Gone::from);
            }
        }
        let is_long = self.input.len() >= LONG_BYTES && self.output.is_empty();
        let served = if turn.sending == Sending::FirstEarly && is_long {
            self.serve_early(space, counters)
        } else {
            self.serve(space)
        };
        if self.wants != Wants::Turn {
            self.input.give_back(&mut space.input);
        }
        served
    }

    /// Serves the requests, and sends the first answers before the rest is carried out.
    fn serve_early<W: Worker<Session = S>>(
        &mut self,
        space: &mut Workspace<W>,
        counters: &ThreadCounters,
    ) -> Result<(), Gone> {
        let early = EARLY_BYTES.min(self.output_bytes);
        let bound = self.output.bind(early);
        let served = self.serve(space);
        let was_full = self.output.is_full();
        self.output.bind(bound);
        served?;
        if self.wants != Wants::Turn || !was_full {
            return Ok(());
        }
        // A client that is gone has asked for the rest anyway.
        let sent = self.send(space.now, counters);
        if self.output.is_full() {
            return sent;
        }
        self.serve(space).and(sent)
    }

    /// Reads until the input has `at_least` bytes, or no more are there for now. Returns how many
    /// came.
    fn read(&mut self, at_least: usize, reading: Reading) -> io::Result<usize> {
        let (mut sum, mut taken) = (0, 0);
        while taken < TURN_BYTES {
            let bytes = self.input.room(at_least);
            let received = self.stream.receive(bytes, reading == Reading::Peek)?;
            sum += received.size;
            taken += received.taken;
            self.has_read_all = received.is_dry;
            match received.end {
                None => {}
                Some(End::Finished) => self.stage = Stage::Ended,
                Some(End::Broken) => self.stage = Stage::CLOSING,
            }
            if self.has_read_all || self.input.len() >= at_least {
                break;
            }
        }
        Ok(sum)
    }

    fn serve<W: Worker<Session = S>>(&mut self, space: &mut Workspace<W>) -> Result<(), Gone> {
        let served = space
            .worker
            .serve(&mut self.session, self.input.bytes(), &mut self.output);
        self.input.consume(served.consumed);
        match served.next {
            Next::Read { at_least } => {
                let left = self.input.len();
                if at_least > space.limits.input_bytes || (at_least <= left && left >= BATCH_BYTES)
                {
                    return Err(Gone::Overlong);
                }
                let at_least = at_least.max(left + 1);
                self.wants = Wants::Input { at_least };
            }
            Next::Again => self.wants = Wants::Turn,
            Next::Close => self.end_service(Stage::CLOSING),
            Next::CloseAfter(pause) => {
                let until = space.now + pause;
                self.end_service(Stage::Held { until });
            }
        }
        Ok(())
    }

    /// Ends the service of the connection: nothing more is read for it, and it is not called again.
    fn end_service(&mut self, stage: Stage) {
        self.stage = stage;
        self.wants = Wants::Input { at_least: 1 };
        self.input = Input::default();
    }

    fn send(&mut self, now: Instant, counters: &ThreadCounters) -> Result<(), Gone> {
        if self.is_sent() || matches!(self.stage, Stage::Held { .. }) {
            return Ok(());
        }
        let size = self.stream.send(&mut self.output)?;
        self.count_sent(size, now, counters);
        Ok(())
    }

    /// Counts `size` bytes that went to the client.
    fn count_sent(&mut self, size: usize, now: Instant, counters: &ThreadCounters) {
        if size > 0 {
            counters.written.add(size as u64);
            self.last_byte = now;
        }
    }

    /// Reads and drops what the client sends after the end. If it stayed unread, the kernel would
    /// throw away the last answers.
    fn throw_away<W>(
        &mut self,
        space: &mut Workspace<W>,
        counters: &ThreadCounters,
    ) -> Result<(), Gone> {
        space.input.clear();
        space.input.reserve_exact(BATCH_BYTES);
        let thrown = self.stream.throw_away(&mut space.input)?;
        counters.read.add(thrown.ok_or(Gone::Done)? as u64);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::OwnedFd;

    use rustix::io::{ioctl_fionread, write};
    use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

    use super::*;
    use crate::net::options::Options;
    use crate::net::service::{Peer, Served};

    /// Answers each 16 bytes, a bounded number a call; notes what has reached the client by then.
    struct Answerer {
        answer: Vec<u8>,
        most: usize,
        client: OwnedFd,
        reached: Vec<u64>,
    }

    impl Worker for Answerer {
        type Session = ();

        fn open(&mut self, _: &Peer) {}

        fn serve(&mut self, (): &mut (), input: &[u8], output: &mut Output) -> Served {
            self.reached
                .push(ioctl_fionread(&self.client).expect("told"));
            let mut consumed = 0;
            for (number, request) in input.chunks_exact(16).enumerate() {
                if output.is_full() || number == self.most {
                    let next = Next::Again;
                    return Served { consumed, next };
                }
                output.extend(&self.answer);
                consumed += request.len();
            }
            let next = Next::Read { at_least: 0 };
            Served { consumed, next }
        }
    }

    /// Returns how many bytes had reached the client at each call in a turn of `requests` requests,
    /// and how many bytes are still to be served.
    fn reached(requests: usize, early: bool, answer: &[u8], most: usize) -> (Vec<u64>, usize) {
        let flags = SocketFlags::NONBLOCK;
        let pair = socketpair(AddressFamily::UNIX, SocketType::STREAM, flags, None);
        let (server, client) = pair.expect("a pair of sockets");
        let limits = Options::new().limits;
        let now = Instant::now();
        let stream = Stream::new(server, None).expect("a stream");
        let mut connection = Connection::new(stream, (), &limits, 0, now);
        let sent = vec![b'x'; 16 * requests];
        assert_eq!(write(&client, &sent), Ok(sent.len()));
        let mut space = Workspace {
            worker: Answerer {
                answer: answer.to_vec(),
                most,
                client,
                reached: Vec::new(),
            },
            input: Vec::new(),
            output: Output::new(limits.output_bytes),
            spare: Vec::new(),
            limits,
            now,
        };
        let sending = match early {
            true => Sending::FirstEarly,
            false => Sending::AtEnd,
        };
        let turn = Turn {
            sending,
            ..Turn::PLAIN
        };
        let turn = connection.turn(&mut space, &ThreadCounters::default(), turn);
        assert!(turn.is_ok());
        (space.worker.reached, connection.input.len() / 16)
    }

    #[test]
    fn of_many_answers_the_first_may_go_out_early() {
        let (much, early) = (LONG_BYTES / 16, EARLY_BYTES as u64);
        let reached = |requests, early| reached(requests, early, &[b'x'; 16], usize::MAX);
        assert_eq!(reached(much, true), (vec![0, early], 0));
        assert_eq!(reached(2 * much, true), (vec![0, early], 0));
        assert_eq!(reached(much - 1, true), (vec![0], 0));
        assert_eq!(reached(2 * much, false), (vec![0], 0));
    }

    #[test]
    fn a_connection_without_early_answers_has_one_turn() {
        let much = LONG_BYTES / 16;
        assert_eq!(reached(much, true, b"", much / 2), (vec![0], much / 2));
    }

    #[test]
    fn a_client_that_does_not_read_is_served_no_further() {
        let much = LONG_BYTES / 16;
        let large = vec![b'x'; 4 << 20];
        assert_eq!(reached(much, true, &large, usize::MAX), (vec![0], much - 1));
    }
}

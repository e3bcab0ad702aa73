//! One connection, and one turn of it: send, read, serve, send; of much that was asked the first
//! answers are sent before the rest is served.

use std::io;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use crate::net::counters::ThreadCounters;
use crate::net::input::{BATCH_BYTES, Input};
use crate::net::options::Limits;
use crate::net::output::Output;
use crate::net::ring::{Send, Sent};
use crate::net::service::{Gone, Next, Worker};
use crate::net::stream::{End, Stream, taken};

/// What one turn reads at most of a value that is being collected.
const TURN_BYTES: usize = 1024 * 1024;

/// Answers that are no longer than that may go out with those of others. Of longer ones the call is
/// a small part.
const DUE_BYTES: usize = 4 * 1024;
/// The largest buffer that a thread keeps for answers that go out with those of others.
const SPARE_BYTES: usize = 2 * DUE_BYTES;

/// Requests of so many bytes are enough to be carried out while the client wakes up.
const MUCH_BYTES: usize = 1024;
/// From so many bytes on answers go out early.
const EARLY_BYTES: usize = 256;

/// How long after a connection was made a drain waits for its first request, which may be on its
/// way: who has just connected to a server is not to find that it is replaced.
const FIRST: Duration = Duration::from_secs(1);

/// A connection of a thread.
#[derive(Debug)]
pub(super) struct Connection<S> {
    pub(super) stream: Stream,
    pub(super) session: S,
    pub(super) input: Input,
    /// How many bytes the input must have before it is served again.
    wants: usize,
    pub(super) output: Output,
    /// Its answers go out with those of others.
    pub(super) is_due: bool,
    pub(super) stage: Stage,
    /// To be served without new input.
    pub(super) again: bool,
    /// Nothing was left in the socket when this turn had read it.
    pub(super) dry: bool,
    /// Bytes of memory that it held after its last turn.
    pub(super) held: usize,
    /// Whether it stands in the list of those that have a turn without an event.
    pub(super) queued: bool,
    /// Whether it is counted among those that are held or linger.
    pub(super) is_timed: bool,
    /// Whether a drain ended it while nothing was under way.
    pub(super) is_retired: bool,
    /// Until when the handshake of TLS has to be done; none: it is, or there is none.
    pub(super) handshake: Option<Instant>,
    /// Until when a drain waits for the first request; none: something has come.
    pub(super) first_until: Option<Instant>,
    /// When a byte went either way for the last time.
    pub(super) last_byte: Instant,
    /// What the epoll is told: whether reading and writing are waited for.
    pub(super) interest: (bool, bool),
}

/// How far a connection is.
///
/// | stage | reads | serves | goes on to |
/// |---|---|---|---|
/// | `Open` | while the output has room | yes | `Ended`, `Closing` |
/// | `Ended`: by the client | no | while the service says `Again` | closed when all is sent |
/// | `Held`: by the service, which will close | no | no | `Closing`, when its time has come |
/// | `Closing`: by the service, or what comes is not TLS | no | no | `Lingering` when all is sent |
/// | `Lingering`: for the client to close | and throws away | no | closed, soon at the latest |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    Open,
    Ended,
    Held { until: Instant },
    Closing,
    Lingering { until: Instant },
}

/// How a turn is taken.
#[derive(Clone, Copy, Debug)]
pub(super) struct Way {
    /// Something may have come.
    pub(super) readable: bool,
    /// Few answers are left for [`Connection::end_turn`].
    pub(super) together: bool,
    /// What is read may be left in the socket, until `take_out` of the stream.
    pub(super) leaves: bool,
    /// The first answers to much may go out before the rest is carried out: a client that has a CPU
    /// of its own wakes up meanwhile.
    pub(super) early: bool,
}

impl Way {
    pub(super) const READ: Self = Self {
        readable: true,
        together: false,
        leaves: false,
        early: false,
    };
}

impl From<io::Error> for Gone {
    /// Whatever the system calls it.
    fn from(_: io::Error) -> Self {
        Self::Lost
    }
}

/// What a thread lends its connections for a turn.
#[derive(Debug)]
pub(super) struct Desk<W> {
    pub(super) worker: W,
    pub(super) input: Vec<u8>,
    pub(super) output: Output,
    /// More of the same, as many as connections whose answers go out together.
    pub(super) spare: Vec<Output>,
    pub(super) limits: Limits,
    pub(super) now: Instant,
}

impl<S> Connection<S> {
    pub(super) fn new(stream: Stream, session: S, limits: &Limits, now: Instant) -> Self {
        Self {
            session,
            input: Input::default(),
            wants: 1,
            output: Output::new(limits.output_bytes),
            is_due: false,
            stage: Stage::Open,
            again: false,
            dry: false,
            held: 0,
            queued: false,
            is_timed: false,
            is_retired: false,
            handshake: stream.is_handshaking().then(|| now + limits.handshake),
            first_until: Some(now + FIRST),
            stream,
            last_byte: now,
            interest: (true, false),
        }
    }

    /// Bytes of memory that it holds.
    pub(super) fn holds(&self) -> usize {
        self.input.capacity() + self.output.capacity() + self.stream.holds()
    }

    /// Whether all answers are on their way to the client.
    pub(super) fn is_sent(&self) -> bool {
        self.output.is_empty() && !self.stream.is_pending()
    }

    /// It was agreed by TLS how to talk.
    pub(super) fn shook_hands(&mut self, now: Instant) {
        self.handshake = None;
        self.first_until = Some(now + FIRST);
    }

    /// Whether a drain is to wait for what the client says first.
    pub(super) fn awaits_first(&self, now: Instant) -> bool {
        self.handshake.is_some() || self.first_until.is_some_and(|until| now < until)
    }

    /// Whether nothing is under way.
    pub(super) fn is_idle(&self) -> bool {
        self.stage == Stage::Open
            && self.handshake.is_none()
            && self.input.is_empty()
            && self.is_sent()
            && !self.again
    }

    /// One turn: sends what waits, reads once what is there, has it served, sends the answers.
    pub(super) fn turn<W: Worker<Session = S>>(
        &mut self,
        desk: &mut Desk<W>,
        counters: &ThreadCounters,
        way: Way,
    ) -> Result<(), Gone> {
        self.dry = false;
        match self.stage {
            Stage::Lingering { .. } => return self.throw_away(desk, counters),
            // Nothing is waited for, so this is the end of the connection.
            Stage::Held { .. } => return Err(Gone::Lost),
            Stage::Open | Stage::Ended | Stage::Closing => {}
        }
        self.send(desk.now, counters)?;
        if self.stage == Stage::Closing || self.output.is_full() {
            return Ok(());
        }
        if self.output.is_empty() {
            std::mem::swap(&mut self.output, &mut desk.output);
        }
        let served = self.read_and_serve(desk, counters, way);
        if way.together && served.is_ok() && self.may_be_due() {
            self.is_due = true;
            if let Some(spare) = desk.spare.pop() {
                desk.output = spare;
            }
            return Ok(());
        }
        let sent = served.and_then(|()| self.send(desk.now, counters));
        if self.output.is_empty() {
            std::mem::swap(&mut self.output, &mut desk.output);
        }
        self.output.shrink();
        sent
    }

    fn may_be_due(&self) -> bool {
        let piece = self.output.piece();
        self.stage == Stage::Open
            && !self.again
            && self.stream.is_plain()
            && piece.is_some_and(|piece| (1..=DUE_BYTES).contains(&piece.len()))
    }

    /// What goes out with the answers of others.
    pub(super) fn due(&self) -> Send<'_> {
        Send {
            socket: self.stream.as_fd(),
            bytes: self.output.piece().unwrap_or_default(),
        }
    }

    /// The end of a turn whose answers were due; `sent`: what became of them, if they were sent.
    pub(super) fn end_turn<W>(
        &mut self,
        desk: &mut Desk<W>,
        counters: &ThreadCounters,
        sent: Option<Sent>,
    ) -> Result<(), Gone> {
        self.is_due = false;
        match sent {
            None => self.send(desk.now, counters)?,
            Some(sent) => {
                let size = taken(sent)?;
                counters.together.add(1);
                self.output.advance(size);
                self.went(size, desk.now, counters);
            }
        }
        if self.output.is_empty() && self.output.capacity() <= SPARE_BYTES {
            let none = Output::new(desk.limits.output_bytes);
            desk.spare.push(std::mem::replace(&mut self.output, none));
        }
        self.output.shrink();
        Ok(())
    }

    fn read_and_serve<W: Worker<Session = S>>(
        &mut self,
        desk: &mut Desk<W>,
        counters: &ThreadCounters,
        way: Way,
    ) -> Result<(), Gone> {
        if !self.again {
            if !way.readable || self.stage != Stage::Open {
                return Ok(());
            }
            self.input.borrow(&mut desk.input, self.wants);
            let size = self.read(way.leaves);
            let serve = size.as_ref().is_ok_and(|&size| size > 0) && self.input.len() >= self.wants;
            if let Ok(size) = size {
                counters.read.add(size as u64);
                if size > 0 {
                    self.last_byte = desk.now;
                    self.first_until = None;
                }
            }
            if self.stage == Stage::Closing {
                counters.tls_errors.add(u64::from(self.handshake.is_none()));
                self.input = Input::default();
                self.output.clear();
                return Ok(());
            }
            if !serve {
                self.input.give_back(&mut desk.input);
                return size.map(drop).map_err(Gone::from);
            }
        }
        let is_much = self.input.len() >= MUCH_BYTES && self.output.is_empty();
        let served = if way.early && is_much {
            self.serve_early(desk, counters)
        } else {
            self.serve(desk)
        };
        if !self.again {
            self.input.give_back(&mut desk.input);
        }
        served
    }

    /// Sends the first answers before the rest is carried out.
    fn serve_early<W: Worker<Session = S>>(
        &mut self,
        desk: &mut Desk<W>,
        counters: &ThreadCounters,
    ) -> Result<(), Gone> {
        let early = EARLY_BYTES.min(desk.limits.output_bytes);
        let bound = self.output.bind(early);
        let served = self.serve(desk);
        let is_cut = self.output.is_full();
        self.output.bind(bound);
        served?;
        if !self.again || !is_cut {
            return Ok(());
        }
        // A client that is gone has asked for the rest all the same.
        let sent = self.send(desk.now, counters);
        if self.output.is_full() {
            return sent;
        }
        self.serve(desk).and(sent)
    }

    /// Reads until there is as much as wanted, or no more for now, and tells how much that was.
    fn read(&mut self, leaves: bool) -> io::Result<usize> {
        let (mut sum, mut taken) = (0, 0);
        while taken < TURN_BYTES {
            let bytes = self.input.room(self.wants);
            let received = self.stream.receive(bytes, leaves)?;
            sum += received.size;
            taken += received.taken;
            self.dry = received.is_dry;
            match received.end {
                None => {}
                Some(End::Finished) => self.stage = Stage::Ended,
                Some(End::Broken) => self.stage = Stage::Closing,
            }
            if self.dry || self.input.len() >= self.wants {
                break;
            }
        }
        Ok(sum)
    }

    fn serve<W: Worker<Session = S>>(&mut self, desk: &mut Desk<W>) -> Result<(), Gone> {
        let served = desk
            .worker
            .serve(&mut self.session, self.input.bytes(), &mut self.output);
        self.input.consume(served.consumed);
        self.again = served.next == Next::Again;
        match served.next {
            Next::Read { at_least } => {
                let left = self.input.len();
                if at_least > desk.limits.input_bytes || (at_least <= left && left >= BATCH_BYTES) {
                    return Err(Gone::Overlong);
                }
                self.wants = at_least.max(left + 1);
            }
            Next::Again => self.wants = self.input.len() + 1,
            Next::Close => {
                self.stage = Stage::Closing;
                self.input = Input::default();
            }
            Next::CloseAfter(pause) => {
                let until = desk.now + pause;
                self.stage = Stage::Held { until };
                self.input = Input::default();
            }
        }
        Ok(())
    }

    fn send(&mut self, now: Instant, counters: &ThreadCounters) -> Result<(), Gone> {
        if self.is_sent() || matches!(self.stage, Stage::Held { .. }) {
            return Ok(());
        }
        let size = self.stream.send(&mut self.output)?;
        self.went(size, now, counters);
        Ok(())
    }

    /// So many bytes went to the client.
    fn went(&mut self, size: usize, now: Instant, counters: &ThreadCounters) {
        if size > 0 {
            counters.written.add(size as u64);
            self.last_byte = now;
        }
    }

    /// Reads what the client sends after the end, so that the kernel does not take it for a reason
    /// to throw away the last answers.
    fn throw_away<W>(&mut self, desk: &mut Desk<W>, counters: &ThreadCounters) -> Result<(), Gone> {
        desk.input.clear();
        desk.input.reserve_exact(BATCH_BYTES);
        let thrown = self.stream.throw_away(&mut desk.input)?;
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

    /// Answers each 16 bytes, at most so many a call; notes what has reached the client by then.
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

    /// What had reached the client at each call of a turn, of so many requests, and what of them
    /// is still to be served.
    fn reached(requests: usize, early: bool, answer: &[u8], most: usize) -> (Vec<u64>, usize) {
        let flags = SocketFlags::NONBLOCK;
        let pair = socketpair(AddressFamily::UNIX, SocketType::STREAM, flags, None);
        let (server, client) = pair.expect("a pair of sockets");
        let limits = Options::new().limits;
        let now = Instant::now();
        let stream = Stream::new(server, None).expect("a stream");
        let mut connection = Connection::new(stream, (), &limits, now);
        let sent = vec![b'x'; 16 * requests];
        assert_eq!(write(&client, &sent), Ok(sent.len()));
        let mut desk = Desk {
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
        let way = Way { early, ..Way::READ };
        let turn = connection.turn(&mut desk, &ThreadCounters::default(), way);
        assert!(turn.is_ok());
        (desk.worker.reached, connection.input.len() / 16)
    }

    #[test]
    fn of_many_answers_the_first_may_go_out_early() {
        let (much, early) = (MUCH_BYTES / 16, EARLY_BYTES as u64);
        let reached = |requests, early| reached(requests, early, &[b'x'; 16], usize::MAX);
        assert_eq!(reached(much, true), (vec![0, early], 0));
        assert_eq!(reached(2 * much, true), (vec![0, early], 0));
        assert_eq!(reached(much - 1, true), (vec![0], 0));
        assert_eq!(reached(2 * much, false), (vec![0], 0));
    }

    #[test]
    fn who_has_no_answer_to_send_early_has_one_turn() {
        let much = MUCH_BYTES / 16;
        assert_eq!(reached(much, true, b"", much / 2), (vec![0], much / 2));
    }

    #[test]
    fn a_client_that_does_not_read_is_served_no_further() {
        let much = MUCH_BYTES / 16;
        let large = vec![b'x'; 4 << 20];
        assert_eq!(reached(much, true, &large, usize::MAX), (vec![0], much - 1));
    }
}

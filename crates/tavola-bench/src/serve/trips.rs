//! Sending what a script says and comparing what comes.

use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};

use super::client::Done;
use super::script::Script;
use crate::clock::monotonic_ns;
use crate::compare::servers::Listening;
use crate::latency::Latency;
use crate::{Error, Result};

/// A server that says nothing for so long has failed.
const PATIENCE: Duration = Duration::from_secs(20);
/// What a message about a wrong answer shows of it.
const SHOWN_BYTES: usize = 80;

/// A connection and what came over it in answer to the trip under way.
#[derive(Debug)]
pub(super) struct Link {
    /// The socket; reading and writing are the same calls.
    socket: File,
    received: Vec<u8>,
    len: usize,
}

impl Link {
    pub(super) fn to(address: &Listening) -> Result<Self> {
        let doing = "connecting to a server";
        let socket = match address {
            Listening::Port(port) => {
                let stream = TcpStream::connect(("127.0.0.1", *port)).map_err(Error::io(doing))?;
                stream.set_nodelay(true).map_err(Error::io(doing))?;
                let timed = stream.set_read_timeout(Some(PATIENCE));
                timed.map_err(Error::io(doing))?;
                OwnedFd::from(stream)
            }
            Listening::Socket(path) => {
                let stream = UnixStream::connect(path).map_err(Error::io(doing))?;
                let timed = stream.set_read_timeout(Some(PATIENCE));
                timed.map_err(Error::io(doing))?;
                OwnedFd::from(stream)
            }
        };
        Ok(Self {
            socket: File::from(socket),
            received: Vec::new(),
            len: 0,
        })
    }

    /// Has room for the longest answer of a script, and bytes that must not come.
    fn prepare(&mut self, script: &Script) {
        self.received.clear();
        self.received.resize(script.longest() + SHOWN_BYTES, 0);
        self.len = 0;
    }

    fn ask(&mut self, script: &Script, trip: usize) -> Result<()> {
        self.len = 0;
        let (ask, _) = script.trip_at(trip);
        self.socket
            .write_all(ask)
            .map_err(Error::io("sending requests"))
    }

    /// Reads once; true when all is answered, and rightly.
    fn hear(&mut self, script: &Script, trip: usize) -> Result<bool> {
        let (_, expected) = script.trip_at(trip);
        let from = self.len;
        let read = self.socket.read(&mut self.received[from..]);
        let size = match read {
            Ok(0) => return Err(wrong("the server closed the connection".to_owned())),
            Ok(size) => size,
            Err(error) if error.kind() == ErrorKind::Interrupted => return Ok(false),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                let due = expected.len() - from;
                return Err(wrong(format!("{due} bytes of an answer did not come")));
            }
            Err(source) => {
                return Err(Error::io("reading answers")(source));
            }
        };
        self.len += size;
        let received = &mut self.received[..self.len];
        script.forget_numbers(received, from);
        if expected.get(from..self.len) != Some(&received[from..]) {
            return Err(wrong(difference(expected, received)));
        }
        Ok(self.len == expected.len())
    }

    /// One trip.
    pub(super) fn trip(&mut self, script: &Script, trip: usize) -> Result<()> {
        self.ask(script, trip)?;
        while !self.hear(script, trip)? {}
        Ok(())
    }

    /// All trips of a script, once.
    pub(super) fn all(&mut self, script: &Script) -> Result<()> {
        self.prepare(script);
        (0..script.trips()).try_for_each(|trip| self.trip(script, trip))
    }
}

fn wrong(what: String) -> Error {
    Error::wrong("serve", what)
}

/// Where what came is no longer what was to come.
fn difference(expected: &[u8], received: &[u8]) -> String {
    let same = expected.iter().zip(received);
    let at = same.take_while(|(one, other)| one == other).count();
    let shown = |bytes: &[u8]| {
        let from = at.saturating_sub(SHOWN_BYTES / 2).min(bytes.len());
        let until = (from + SHOWN_BYTES).min(bytes.len());
        bytes[from..until].escape_ascii().to_string()
    };
    format!(
        "byte {at} of an answer: \"{}\" came where \"{}\" was to come",
        shown(received),
        shown(expected)
    )
}

/// Trips over one connection after the other, or over several at a time, for so long.
pub(super) fn run(links: &mut [Link], script: &Script, depth: usize, seconds: f64) -> Result<Done> {
    links.iter_mut().for_each(|link| link.prepare(script));
    let mut latency = Latency::of_waiting();
    let begin = monotonic_ns();
    let end = begin + (seconds * 1e9) as u64;
    let trips = match links {
        [link] => one_by_one(link, script, end, &mut latency)?,
        links => side_by_side(links, script, end, &mut latency)?,
    };
    Ok(Done {
        ops: trips * depth as u64,
        ns: monotonic_ns() - begin,
        latency: latency.summary(),
    })
}

fn one_by_one(link: &mut Link, script: &Script, end: u64, latency: &mut Latency) -> Result<u64> {
    let mut trips = 0;
    let mut at = 0;
    let mut now = monotonic_ns();
    while now < end {
        link.trip(script, at)?;
        let then = std::mem::replace(&mut now, monotonic_ns());
        latency.record(now - then);
        trips += 1;
        at = (at + 1) % script.trips();
    }
    Ok(trips)
}

/// Each connection waits for its own answers; none is asked for more at the end.
fn side_by_side(
    links: &mut [Link],
    script: &Script,
    end: u64,
    latency: &mut Latency,
) -> Result<u64> {
    let doing = "waiting for answers";
    let refused = |errno: rustix::io::Errno| Error::Io {
        doing,
        source: errno.into(),
    };
    let epoll = epoll::create(CreateFlags::CLOEXEC).map_err(refused)?;
    let mut pending = Vec::with_capacity(links.len());
    let count = links.len();
    for (at, link) in links.iter_mut().enumerate() {
        let data = EventData::new_u64(at as u64);
        epoll::add(&epoll, &link.socket, data, EventFlags::IN).map_err(refused)?;
        let trip = at * script.trips() / count;
        pending.push((trip, monotonic_ns()));
        link.ask(script, trip)?;
    }
    let (mut trips, mut left) = (0, count);
    let mut events: Vec<Event> = Vec::with_capacity(count);
    while left > 0 {
        events.clear();
        let room = rustix::buffer::spare_capacity(&mut events);
        epoll::wait(&epoll, room, None).map_err(refused)?;
        for event in &events {
            let at = event.data.u64() as usize;
            let (trip, then) = pending[at];
            if !links[at].hear(script, trip)? {
                continue;
            }
            let now = monotonic_ns();
            latency.record(now - then);
            trips += 1;
            if now >= end {
                left -= 1;
                continue;
            }
            let trip = (trip + 1) % script.trips();
            pending[at] = (trip, now);
            links[at].ask(script, trip)?;
        }
    }
    Ok(trips)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::serve::Load;
    use crate::serve::keys::Kind;
    use crate::serve::script::Sort;
    use std::io::{BufRead, BufReader};
    use std::net::TcpListener;

    const SORT: Sort = Sort {
        kind: Kind::Read,
        generation: 3,
        value_bytes: 20,
    };

    /// A server that answers each line of a script as it says, but that the trip `spoilt` is
    /// answered as `spoil` says.
    fn against(spoilt: usize, spoil: impl Fn(&mut Vec<u8>) + Sync) -> Result<()> {
        let script = Script::of(Load::Get, 100, 1, SORT);
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("its address");
        let address = Listening::Port(address.port());
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let (socket, _) = listener.accept().expect("the client");
                let mut lines = BufReader::new(socket);
                let mut line = Vec::new();
                for trip in 0..script.trips() {
                    line.clear();
                    if lines.read_until(b'\n', &mut line).unwrap_or(0) == 0 {
                        return;
                    }
                    let (ask, answer) = script.trip_at(trip);
                    assert_eq!(line, ask);
                    let mut answer = answer.to_vec();
                    if trip == spoilt {
                        spoil(&mut answer);
                    }
                    let _ = lines.get_mut().write_all(&answer);
                }
            });
            let mut link = Link::to(&address)?;
            link.all(&script)
        })
    }

    #[test]
    fn right_answers_are_taken_and_wrong_ones_are_not() {
        against(1000, |_| {}).expect("all are right");
        let spoils: [fn(&mut Vec<u8>); 4] = [
            |answer| *answer = b"END\r\n".to_vec(),
            |answer| answer[40] ^= 1,
            |answer| answer.extend_from_slice(b"END\r\n"),
            |answer| *answer = b"SERVER_ERROR out of memory\r\n".to_vec(),
        ];
        for spoil in spoils {
            let error = against(70, spoil).expect_err("one is wrong");
            assert!(matches!(error, Error::WrongAnswer { .. }), "{error}");
        }
    }
}

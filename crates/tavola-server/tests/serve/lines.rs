//! The service that the tests talk to, a line a request, and its clients.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tavola_server::{
    Address, Gone, Listen, Next, Options, Output, Peer, Served, Server, Service, Thread, Waker,
    Worker,
};

/// Nothing in these tests takes so long.
pub const LONG: Duration = Duration::from_secs(60);

/// So long the server waits, when it is to end, for what a client that has just come says first,
/// and after the end of a connection for the client to close its side.
pub const WAITS: Duration = Duration::from_secs(1);

/// Requests that one call serves.
const TURN: usize = 20;

/// Answers each line. Some lines it knows:
///
/// | line | answer |
/// |---|---|
/// | `big N` | N bytes and the end of a line |
/// | `stream N` | N lines, as many at a time as there is room for |
/// | `value N`, and N bytes and the end of a line behind it | how many, and their sum |
/// | `calls` | how often the session was served |
/// | `peer` | through which listener, from where, on which thread |
/// | `subscribe` | a line each time the wakers are used |
/// | `pause N` | itself, N milliseconds later: meanwhile others ask |
/// | `hold` | itself, as soon as the gate is free |
/// | `close` | `bye`, and the end |
/// | `panic` | none |
/// | any other | itself |
#[derive(Clone, Debug, Default)]
pub struct Lines {
    /// The wakers of those that subscribed.
    pub wakers: Arc<Mutex<Vec<Waker>>>,
    /// How many sessions were closed.
    pub closed: Arc<Mutex<usize>>,
    /// While it is held, threads that were asked to hold wait.
    pub gate: Arc<Mutex<()>>,
    /// How often a thread came to the gate.
    pub held: Arc<AtomicUsize>,
}

pub struct LinesWorker {
    lines: Lines,
    thread: usize,
}

pub struct Session {
    peer: String,
    waker: Waker,
    subscribed: bool,
    stream: usize,
    calls: usize,
}

impl Service for Lines {
    type Worker = LinesWorker;

    fn worker(&self, thread: &Thread) -> LinesWorker {
        LinesWorker {
            lines: self.clone(),
            thread: thread.index,
        }
    }
}

impl Worker for LinesWorker {
    type Session = Session;

    fn open(&mut self, peer: &Peer) -> Session {
        let from = peer.address.map(|address| address.ip().to_string());
        Session {
            peer: format!("{} {from:?} {}", peer.listener, self.thread),
            waker: peer.waker(),
            subscribed: false,
            stream: 0,
            calls: 0,
        }
    }

    fn serve(&mut self, session: &mut Session, input: &[u8], output: &mut Output) -> Served {
        session.calls += 1;
        if input.is_empty() && session.subscribed && session.stream == 0 {
            output.extend(b"woken\n");
        }
        let mut consumed = 0;
        for _ in 0..TURN {
            if !session.write_stream(output) || output.is_full() {
                return Served {
                    consumed,
                    next: Next::Again,
                };
            }
            let rest = &input[consumed..];
            let Some(length) = rest.iter().position(|&byte| byte == b'\n') else {
                return Served::some(consumed);
            };
            let line = std::str::from_utf8(&rest[..length]).expect("tests send text");
            let behind = &rest[length + 1..];
            consumed += length + 1;
            match line.split_once(' ').unwrap_or((line, "")) {
                ("value", size) => {
                    let size: usize = size.parse().expect("a size");
                    if behind.len() <= size {
                        return Served {
                            consumed: consumed - length - 1,
                            next: Next::Read {
                                at_least: length + 1 + size + 1,
                            },
                        };
                    }
                    let sum: usize = behind[..size].iter().map(|&byte| usize::from(byte)).sum();
                    output.extend(format!("{size} {sum}\n").as_bytes());
                    consumed += size + 1;
                }
                ("close", _) => {
                    output.extend(b"bye\n");
                    return Served {
                        consumed,
                        next: Next::Close,
                    };
                }
                (word, rest) => self.answer(session, word, rest, line, output),
            }
        }
        Served {
            consumed,
            next: Next::Again,
        }
    }

    fn close(&mut self, _session: Session, _gone: Gone) {
        *self.lines.closed.lock().expect("no panics in here") += 1;
    }
}

impl LinesWorker {
    fn answer(
        &self,
        session: &mut Session,
        word: &str,
        rest: &str,
        line: &str,
        output: &mut Output,
    ) {
        match word {
            "big" => {
                output.push(vec![b'b'; rest.parse().expect("a size")]);
                output.extend(b"\n");
            }
            "stream" => {
                session.stream = rest.parse().expect("a count");
                session.write_stream(output);
            }
            "calls" => output.extend(format!("{}\n", session.calls).as_bytes()),
            "peer" => output.extend(format!("{}\n", session.peer).as_bytes()),
            "subscribe" => {
                session.subscribed = true;
                let mut wakers = self.lines.wakers.lock().expect("no panics in here");
                wakers.push(session.waker.clone());
                output.extend(b"subscribed\n");
            }
            "panic" => panic!("as the client asked"),
            _ => {
                if word == "pause" {
                    let time = Duration::from_millis(rest.parse().expect("a number"));
                    std::thread::sleep(time);
                }
                if line == "hold" {
                    self.lines.held.fetch_add(1, Relaxed);
                    drop(self.lines.gate.lock());
                }
                output.extend(line.as_bytes());
                output.extend(b"\n");
            }
        }
    }
}

impl Session {
    /// Whether the stream is at its end.
    fn write_stream(&mut self, output: &mut Output) -> bool {
        for _ in 0..1000 {
            if self.stream == 0 || output.is_full() {
                break;
            }
            self.stream -= 1;
            output.extend(format!("{}\n", self.stream).as_bytes());
        }
        self.stream == 0
    }
}

/// Options with one thread, which listen on a free port of loopback.
pub fn options() -> Options {
    let any: SocketAddr = "127.0.0.1:0".parse().expect("an address");
    Options::new().threads(1).listen(Listen::Tcp(any))
}

pub fn start(options: Options) -> Server {
    options.start(Lines::default()).expect("starts")
}

pub fn port(server: &Server) -> SocketAddr {
    match server.addresses()[0] {
        Address::Tcp(address) => address,
        Address::Unix(_) => panic!("the first address is of TCP"),
    }
}

pub fn connect(server: &Server) -> TcpStream {
    let stream = TcpStream::connect(port(server)).expect("connects");
    stream.set_read_timeout(Some(LONG)).expect("set");
    stream.set_write_timeout(Some(LONG)).expect("set");
    stream
}

/// One line without its end; what came before the end of the connection if there is none.
pub fn line(stream: &mut impl Read) -> String {
    let mut bytes = Vec::new();
    let mut byte = [0];
    while stream.read(&mut byte).expect("an answer in time") == 1 && byte[0] != b'\n' {
        bytes.push(byte[0]);
    }
    String::from_utf8(bytes).expect("text")
}

pub fn ask(stream: &mut (impl Read + Write), request: &str) -> String {
    stream
        .write_all(format!("{request}\n").as_bytes())
        .expect("sent");
    line(stream)
}

/// Whether the line is answered by itself: not if the server has closed the connection.
pub fn is_answered(stream: &mut (impl Read + Write), request: &str) -> bool {
    let line = format!("{request}\n");
    let mut found = vec![0; line.len()];
    let sent = stream.write_all(line.as_bytes());
    let read = sent.and_then(|()| stream.read_exact(&mut found));
    read.is_ok() && found == line.as_bytes()
}

/// Whether the one thread reads from anybody but this client, which it serves. In each of its
/// rounds all have a turn whose bytes are there and are to be read.
pub fn reads_of_others(server: &Server, client: &mut (impl Read + Write)) -> bool {
    let before = server.counters().bytes_read;
    for _ in 0..100 {
        assert_eq!(ask(client, "hello"), "hello");
    }
    server.counters().bytes_read != before + 600
}

pub fn exactly(stream: &mut impl Read, size: usize) -> Vec<u8> {
    let mut bytes = vec![0; size];
    stream.read_exact(&mut bytes).expect("as many bytes");
    bytes
}

pub fn to_the_end(stream: &mut impl Read) -> Vec<u8> {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).expect("ends in time");
    bytes
}

/// Tries until it goes well. An attempt that did not proves nothing if it took so long that the
/// server need not have waited for it: this machine stood still meanwhile.
#[track_caller]
pub fn unless_late(within: Duration, mut attempt: impl FnMut() -> bool) {
    let start = Instant::now();
    loop {
        let begun = Instant::now();
        if attempt() {
            return;
        }
        assert!(begun.elapsed() >= within, "it did not go well");
        assert!(start.elapsed() < 3 * LONG, "it was never in time");
    }
}

/// Waits until it is so, and fails if that takes too long.
pub fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < LONG, "never: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

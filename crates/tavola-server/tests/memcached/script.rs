//! Scripts of what a client sends and what it is answered, run against both servers.
//!
//! A script is lines. `> ` begins what is sent, `< ` what is to come back; `\r\n` is added to
//! either. `~ 2` waits until the server's clock is so many seconds further. In what is expected,
//! `#` stands for any number; in what is sent, for the last such. Whatever is sent in a row goes
//! out by one write; what is expected has to come exactly. `- ` begins a note.
//!
//! Times are answered in whole seconds, those of memcached by a clock that it looks at once a
//! second. A script that fails where another second has begun since it last waited may be right,
//! and is tried again from its beginning.

use std::cell::Cell;
use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

use tavola::Table;
use tavola_server::memcached::Memcached;
use tavola_server::{Address, Listen, Options, Server};

/// Waiting for an answer ends a test after so long.
pub const PATIENCE: Duration = Duration::from_secs(60);
const BUSY: &[u8] = b"BUSY currently processing crawler request\r\n";

/// A server of ours and the table behind it.
pub struct Ours {
    pub table: Arc<Table>,
    pub address: SocketAddr,
    pub server: Server,
}

impl Ours {
    pub fn start() -> Self {
        let options = Table::options().max_size(256 << 20).versions(true);
        Self::over(options.private().expect("a table"))
    }

    pub fn over(table: Table) -> Self {
        let table = Arc::new(table);
        let listen = Listen::Tcp("127.0.0.1:0".parse().expect("an address"));
        let options = Options::new().listen(listen).threads(2);
        let server = options.start(Memcached::new(Arc::clone(&table)));
        let server = server.expect("a server");
        let Address::Tcp(address) = server.addresses()[0] else {
            panic!("it listens on TCP");
        };
        Self {
            table,
            address,
            server,
        }
    }

    pub fn connect(&self) -> Client {
        Client::connect(self.address)
    }
}

/// memcached itself, ended with the value.
pub struct Theirs {
    child: Child,
    pub address: SocketAddr,
}

impl Theirs {
    /// None where memcached is not installed.
    pub fn start() -> Option<Self> {
        // It takes a port that is free and returns it in a file of a folder of this user's own.
        let folder = tempfile::tempdir().expect("a folder");
        let port_file = folder.path().join("port");
        let child = Command::new("memcached")
            .args(["-l", "127.0.0.1", "-U", "0", "-u", "root", "-p", "-1"])
            .env("MEMCACHED_PORT_FILENAME", &port_file)
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let child = match child {
            Err(error) if error.kind() == ErrorKind::NotFound => return None,
            child => child.expect("memcached starts"),
        };
        let address = SocketAddr::from(([127, 0, 0, 1], 0));
        let mut theirs = Self { child, address };
        let start = Instant::now();
        // The file is whole as soon as it is there, and the port is listened on by then.
        let text = loop {
            if let Ok(text) = fs::read_to_string(&port_file) {
                break text;
            }
            let ended = theirs.child.try_wait().expect("a child");
            let starts = ended.is_none() && start.elapsed() < PATIENCE;
            assert!(starts, "memcached does not start: {ended:?}");
            sleep(Duration::from_millis(5));
        };
        let port = text.trim().strip_prefix("TCP INET: ").expect("a port");
        theirs.address.set_port(port.parse().expect("a port"));
        Some(theirs)
    }
}

impl Theirs {
    /// The last part of its version.
    pub fn patch(&self) -> u32 {
        let mut client = Client::connect(self.address);
        client.send(b"version\r\nquit\r\n");
        let answer = text(&client.rest());
        let version = answer.trim_end_matches(r"\r\n");
        let patch = version.strip_prefix("VERSION 1.6.").and_then(|rest| {
            let digits = rest.split(|symbol: char| !symbol.is_ascii_digit()).next()?;
            digits.parse().ok()
        });
        patch.expect("a memcached 1.6")
    }
}

impl Drop for Theirs {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// One connection.
pub struct Client(pub TcpStream);

impl Client {
    pub fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).expect("a connection");
        stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        stream.set_nodelay(true).expect("no delay");
        Self(stream)
    }

    pub fn send(&mut self, bytes: &[u8]) {
        self.0.write_all(bytes).expect("sent");
    }

    /// The same where the other side may have ended the connection.
    pub fn try_send(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.0.write_all(bytes)
    }

    /// Whether something has come already.
    pub fn has_answer(&self) -> bool {
        self.0.set_nonblocking(true).expect("set");
        let come = self.0.peek(&mut [0]);
        self.0.set_nonblocking(false).expect("set");
        come.is_ok()
    }

    /// What comes until the connection ends, however that happens.
    pub fn rest_if_open(mut self) -> Vec<u8> {
        let mut rest = Vec::new();
        match self.0.read_to_end(&mut rest) {
            Err(error) if error.kind() != ErrorKind::ConnectionReset => panic!("no end: {error}"),
            _ => rest,
        }
    }

    /// Sends, and gives so many bytes of what comes back.
    pub fn ask(&mut self, bytes: &[u8], size: usize) -> Vec<u8> {
        self.send(bytes);
        let mut answer = vec![0; size];
        self.0.read_exact(&mut answer).expect("an answer");
        answer
    }

    /// Sends, and checks what comes back.
    pub fn expect(&mut self, bytes: &[u8], expected: &[u8]) {
        let answer = self.ask(bytes, expected.len());
        assert_eq!(text(&answer), text(expected), "after {:?}", text(bytes));
    }

    /// Sends what ends with `version`, and gives what comes back before its answer.
    pub fn ask_until_version(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.send(bytes);
        let mut all = Vec::new();
        let mut part = [0; 4096];
        loop {
            let line = all.strip_suffix(b"\r\n").map(|all: &[u8]| {
                let start = all.iter().rposition(|byte| *byte == b'\n');
                start.map_or(0, |start| start + 1)
            });
            if let Some(start) = line.filter(|start| all[*start..].starts_with(b"VERSION ")) {
                all.truncate(start);
                return all;
            }
            let size = self.0.read(&mut part).expect("an answer");
            assert!(size > 0, "the connection ended after {}", text(&all));
            all.extend_from_slice(&part[..size]);
        }
    }

    /// What comes until the connection ends.
    pub fn rest(mut self) -> Vec<u8> {
        let mut rest = Vec::new();
        self.0.read_to_end(&mut rest).expect("an end");
        rest
    }
}

pub fn text(bytes: &[u8]) -> String {
    bytes.escape_ascii().to_string()
}

/// The clock of the server, in seconds.
fn clock_s(client: &mut Client) -> u64 {
    let stats = client.ask_until_version(b"stats\r\nversion\r\n");
    let stats = String::from_utf8(stats).expect("text");
    let mut lines = stats.lines();
    let time = lines.find_map(|line| line.strip_prefix("STAT time "));
    time.expect("a time").parse().expect("a number")
}

/// What goes by whole seconds of a server's clock.
pub struct Second<'a> {
    address: SocketAddr,
    /// When it began, by that clock.
    began_s: &'a Cell<u64>,
}

impl Second<'_> {
    /// Waits until the clock is so many seconds further; another one begins.
    fn wait(&self, seconds: u64) {
        let mut client = Client::connect(self.address);
        let until = clock_s(&mut client) + seconds;
        let start = Instant::now();
        while clock_s(&mut client) < until {
            assert!(start.elapsed() < PATIENCE, "its clock stands still");
            sleep(Duration::from_millis(20));
        }
        self.began_s.set(clock_s(&mut client));
    }
}

/// Runs what expects that no second begins meanwhile by the server's clock, and runs it again if
/// that was so and it failed. `start` makes a server for each time.
pub fn in_one_second<T>(
    start: impl Fn() -> Option<(T, SocketAddr)>,
    run: impl Fn(SocketAddr, &Second<'_>),
) {
    let begun = Instant::now();
    while let Some((_server, address)) = start() {
        let began_s = Cell::new(clock_s(&mut Client::connect(address)));
        let second = Second {
            address,
            began_s: &began_s,
        };
        let Err(failed) = catch_unwind(AssertUnwindSafe(|| run(address, &second))) else {
            return;
        };
        let went_on = clock_s(&mut Client::connect(address)) != began_s.get();
        if !went_on || begun.elapsed() > 2 * PATIENCE {
            resume_unwind(failed);
        }
    }
}

/// Ours to [`in_one_second`].
pub fn ours() -> Option<(Ours, SocketAddr)> {
    let ours = Ours::start();
    let address = ours.address;
    Some((ours, address))
}

/// memcached to [`in_one_second`]; none: it is not there, or before 1.6.`patch`.
pub fn theirs_since(patch: u32) -> Option<(Theirs, SocketAddr)> {
    let theirs = Theirs::start().filter(|theirs| theirs.patch() >= patch)?;
    let address = theirs.address;
    Some((theirs, address))
}

/// Runs a script against both.
pub fn run(script: &str) {
    run_since(0, script);
}

/// The same; a memcached before 1.6.`patch` does otherwise and is left out.
pub fn run_since(patch: u32, script: &str) {
    in_one_second(ours, |address, second| {
        run_against(address, script, "this server", second);
    });
    in_one_second(
        || theirs_since(patch),
        |address, second| run_against(address, script, "memcached", second),
    );
}

fn run_against(address: SocketAddr, script: &str, server_name: &str, second: &Second<'_>) {
    let mut client = Client::connect(address);
    let (mut sent, mut expected) = (Vec::new(), Vec::new());
    let mut answers = 0;
    let mut number = Vec::new();
    for line in script.lines().map(str::trim_start).chain(["- the end"]) {
        let mut step = line.chars();
        let kind = step.next();
        let rest = step.as_str().strip_prefix(' ').unwrap_or_default();
        if kind != Some('<') && !expected.is_empty() {
            check(&mut client, &sent, &expected, &mut number, server_name);
            answers += 1;
            sent.clear();
            expected.clear();
        }
        match kind {
            None | Some('-') => {}
            Some('>') => sent.extend(unescape(rest)),
            Some('<') => expected.extend(unescape(rest)),
            Some('~') => second.wait(rest.parse().expect("seconds")),
            _ => panic!("no step of a script: {line:?}"),
        }
    }
    assert!(sent.is_empty(), "what is sent last has no answer");
    assert!(answers > 0, "a script without answers");
}

/// What was sent is followed by a command whose answer shows where the others end.
fn check(
    client: &mut Client,
    sent: &[u8],
    expected: &[u8],
    number: &mut Vec<u8>,
    server_name: &str,
) {
    let mut bytes = Vec::new();
    for byte in sent {
        match byte {
            b'#' => bytes.extend_from_slice(number),
            other => bytes.push(*other),
        }
    }
    bytes.extend_from_slice(b"version\r\n");
    let start = Instant::now();
    let mut answer = client.ask_until_version(&bytes);
    // memcached's crawler goes to work by itself as well, and is asked again when it is done.
    while answer == BUSY && expected != BUSY && start.elapsed() < PATIENCE {
        sleep(Duration::from_millis(5));
        answer = client.ask_until_version(&bytes);
    }
    if !matches(&answer, expected, number) {
        // So that a difference in length alone shows as well.
        answer.extend_from_slice(b"<end>");
        let expected = [expected, b"<end>"].concat();
        let sent = text(&bytes);
        assert_eq!(
            text(&answer),
            text(&expected),
            "{server_name} after {sent:?}"
        );
    }
}

/// `#` in what is expected stands for any number, which is kept.
fn matches(answer: &[u8], expected: &[u8], number: &mut Vec<u8>) -> bool {
    let mut rest = answer;
    for byte in expected {
        if *byte == b'#' {
            let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
            if digits == 0 {
                return false;
            }
            *number = rest[..digits].to_vec();
            rest = &rest[digits..];
        } else {
            let Some(after) = rest.strip_prefix(&[*byte]) else {
                return false;
            };
            rest = after;
        }
    }
    rest.is_empty()
}

/// The bytes of a line and its end; `\x00`, `\r`, `\n` and `\\` as in Rust, and a `\` at the end
/// of the line says that the line has none.
fn unescape(line: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = line.chars();
    while let Some(symbol) = rest.next() {
        if symbol != '\\' {
            bytes.extend(symbol.to_string().into_bytes());
            continue;
        }
        match rest.next() {
            None => return bytes,
            Some('r') => bytes.push(b'\r'),
            Some('n') => bytes.push(b'\n'),
            Some('0') => bytes.push(0),
            Some(other) => bytes.extend(other.to_string().into_bytes()),
        }
    }
    bytes.extend(b"\r\n");
    bytes
}

//! Scripts of what a client sends and what it is answered, run against both servers.
//!
//! A script is lines. `> ` begins what is sent, `< ` what is to come back; `\r\n` is added to
//! either. `~ 200` waits so many milliseconds. In what is expected, `#` stands for any number; in
//! what is sent, for the last such. Whatever is sent in a row goes out by one write; what is
//! expected has to come exactly. `- ` begins a note.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

use tavola::Table;
use tavola_server::memcached::Memcached;
use tavola_server::{Address, Listen, Options, Server};

/// Waiting for an answer ends a test after so long.
const PATIENCE: Duration = Duration::from_secs(20);

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
        for _ in 0..5 {
            let free = TcpListener::bind("127.0.0.1:0").expect("a port");
            let address = free.local_addr().expect("an address");
            drop(free);
            let port = address.port().to_string();
            let child = Command::new("memcached")
                .args(["-l", "127.0.0.1", "-U", "0", "-u", "nobody", "-p", &port])
                .stdin(Stdio::null())
                .stderr(Stdio::null())
                .spawn();
            let mut child = match child {
                Err(error) if error.kind() == ErrorKind::NotFound => return None,
                child => child.expect("memcached starts"),
            };
            let until = Instant::now() + PATIENCE;
            while Instant::now() < until && child.try_wait().expect("a child").is_none() {
                if TcpStream::connect(address).is_ok() {
                    return Some(Self { child, address });
                }
                sleep(Duration::from_millis(5));
            }
            // Another took the port, perhaps.
            let _ = child.kill();
            let _ = child.wait();
        }
        panic!("memcached does not start");
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

/// Runs a script against both.
pub fn run(script: &str) {
    run_since(0, script);
}

/// The same; a memcached before 1.6.`patch` does otherwise and is left out.
pub fn run_since(patch: u32, script: &str) {
    let ours = Ours::start();
    run_against(ours.address, script, "this server");
    let theirs = Theirs::start();
    if let Some(theirs) = theirs.filter(|theirs| theirs.patch() >= patch) {
        run_against(theirs.address, script, "memcached");
    }
}

fn run_against(address: SocketAddr, script: &str, who: &str) {
    let mut client = Client::connect(address);
    let (mut sent, mut expected) = (Vec::new(), Vec::new());
    let mut answers = 0;
    let mut number = Vec::new();
    for line in script.lines().map(str::trim_start).chain(["- the end"]) {
        let mut step = line.chars();
        let kind = step.next();
        let rest = step.as_str().strip_prefix(' ').unwrap_or_default();
        if kind != Some('<') && !expected.is_empty() {
            check(&mut client, &sent, &expected, &mut number, who);
            answers += 1;
            sent.clear();
            expected.clear();
        }
        match kind {
            None | Some('-') => {}
            Some('>') => sent.extend(unescape(rest)),
            Some('<') => expected.extend(unescape(rest)),
            Some('~') => {
                let time = rest.parse().expect("milliseconds");
                sleep(Duration::from_millis(time));
            }
            _ => panic!("no step of a script: {line:?}"),
        }
    }
    assert!(sent.is_empty(), "what is sent last has no answer");
    assert!(answers > 0, "a script without answers");
}

/// What was sent is followed by a command whose answer shows where the others end.
fn check(client: &mut Client, sent: &[u8], expected: &[u8], number: &mut Vec<u8>, who: &str) {
    let mut bytes = Vec::new();
    for byte in sent {
        match byte {
            b'#' => bytes.extend_from_slice(number),
            other => bytes.push(*other),
        }
    }
    bytes.extend_from_slice(b"version\r\n");
    let mut answer = client.ask_until_version(&bytes);
    if !matches(&answer, expected, number) {
        // So that a difference in length alone shows as well.
        answer.extend_from_slice(b"<end>");
        let expected = [expected, b"<end>"].concat();
        let sent = text(&bytes);
        assert_eq!(text(&answer), text(&expected), "{who} after {sent:?}");
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

//! Bytes that a client receives from a server: whatever they are, each request ends once, and a
//! value is reported only for a request whose key and number the bytes before it name. That is
//! found out by a plain search, which knows nothing of the client.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;
use tavola_client::{Batch, Client, GetOptions, Outcome, Protocol, Reply, Sink, StoreOptions};

/// The bytes at the front of an input that say how the rest is used.
const SETTINGS: usize = 3;
/// The most requests of a batch.
const MOST: usize = 6;
/// Keys of different lengths; the last one is no word, so that meta has it as base64.
const KEYS: [&[u8]; 5] = [b"a", b"b", b"key:0", b"key:1", b"k v"];
/// The first answer of a server of the binary protocol: the no-op, with the client's number.
const BINARY_NOOP: [u8; 24] = [
    0x81, 0x0a, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, b'o', b'p', b'e', b'n', 0, 0, 0, 0, 0, 0, 0, 0,
];

/// What the server does with the next connection: the first answer, then these bytes in two parts.
struct Script {
    greeting: &'static [u8],
    parts: [Vec<u8>; 2],
}

/// What a client said.
struct Seen {
    values: Vec<Vec<u8>>,
    outcomes: Vec<Option<Outcome>>,
}

impl Sink for Seen {
    fn room(&mut self, index: usize, len: usize, _flags: u32) -> Option<&mut [u8]> {
        assert!(self.values[index].is_empty(), "memory is asked for once");
        self.values[index] = vec![0; len];
        Some(&mut self.values[index])
    }

    fn done(&mut self, index: usize, outcome: Outcome) {
        let before = self.outcomes[index].replace(outcome);
        assert_eq!(before, None, "a request ends once");
    }
}

/// Has a client ask for a few keys, and answers with the input.
///
/// # Panics
/// If a value is reported that is not that of the key, or a request does not end.
pub fn run(input: &[u8]) {
    let Some((settings, sent)) = input.split_first_chunk::<SETTINGS>() else {
        return;
    };
    let (protocol, greeting): (_, &[u8]) = match settings[0] % 3 {
        0 => (Protocol::Meta, b"MN\r\n"),
        1 => (Protocol::Text, b"VERSION 1\r\n"),
        _ => (Protocol::Binary, &BINARY_NOOP),
    };
    let (first, second) = sent.split_at(sent.len() * usize::from(settings[2]) / 255);
    let parts = [first.to_vec(), second.to_vec()];
    let address = serve(Script { greeting, parts });
    let client = Client::builder()
        .server(&address.to_string(), 1.0)
        .protocol(protocol)
        .max_value(1 << 16)
        .io_timeout(Duration::from_secs(60))
        .build()
        .expect("a client");
    let mut batch = Batch::new();
    let mut keys = Vec::new();
    for place in 0..1 + usize::from(settings[1]) % MOST {
        let key = KEYS[(usize::from(settings[1]) / MOST + place) % KEYS.len()];
        match (settings[1] >> 6, place) {
            (3, 1) => batch.set(key, b"value", StoreOptions::default()),
            (2, 2) => batch.delete(key, Reply::None),
            _ => batch.get(key, GetOptions::default()),
        };
        keys.push(key);
    }
    let mut seen = Seen {
        values: vec![Vec::new(); keys.len()],
        outcomes: vec![None; keys.len()],
    };
    client.execute(&mut batch, &mut seen);
    for (place, outcome) in seen.outcomes.iter().enumerate() {
        let outcome = outcome.as_ref().expect("each request ends");
        if let Outcome::Hit { .. } = outcome {
            let value = &seen.values[place];
            let number = place + 1;
            let is_own = (0..sent.len()).any(|at| match protocol {
                Protocol::Text => is_text(&sent[at..], keys[place], value),
                Protocol::Binary => is_binary(&sent[at..], keys[place], number, value),
                _ => is_meta(&sent[at..], keys[place], number, value),
            });
            assert!(
                is_own,
                "{:?} of request {number} is foreign: {value:?}",
                keys[place]
            );
        }
    }
}

/// Whether the bytes begin with an answer of meta to this request, with this value.
fn is_meta(bytes: &[u8], key: &[u8], number: usize, value: &[u8]) -> bool {
    let Some((line, rest)) = line(bytes) else {
        return false;
    };
    let mut words = line
        .split(|byte| *byte == b' ')
        .filter(|word| !word.is_empty());
    let is_value = words.next() == Some(b"VA");
    let facts: Vec<&[u8]> = words.skip(1).collect();
    let has = |flag: u8, fact: &[u8]| {
        facts
            .iter()
            .any(|word| word.split_first() == Some((&flag, fact)))
    };
    // A key that is no word is not returned: the number alone says whose it is.
    let has_key = key.contains(&b' ') || has(b'k', key);
    let number_is = |word: &&[u8]| {
        let digits = word
            .strip_prefix(b"O")
            .and_then(|digits| std::str::from_utf8(digits).ok());
        digits.and_then(|digits| digits.parse().ok()) == Some(number)
    };
    is_value && has_key && facts.iter().any(number_is) && follows(rest, value)
}

/// The same of the classic text.
fn is_text(bytes: &[u8], key: &[u8], value: &[u8]) -> bool {
    let Some((line, rest)) = line(bytes) else {
        return false;
    };
    let mut words = line
        .split(|byte| *byte == b' ')
        .filter(|word| !word.is_empty());
    words.next() == Some(b"VALUE") && words.next() == Some(key) && follows(rest, value)
}

/// The same of the binary protocol.
fn is_binary(bytes: &[u8], key: &[u8], number: usize, value: &[u8]) -> bool {
    let Some((head, body)) = bytes.split_first_chunk::<24>() else {
        return false;
    };
    let key_bytes = usize::from(u16::from_be_bytes([head[2], head[3]]));
    let is_its = head[..2] == [0x81, 0x0c] && head[12..16] == (number as u32).to_be_bytes();
    let rest = body.get(usize::from(head[4])..).unwrap_or_default();
    let (found, rest) = rest.split_at(key_bytes.min(rest.len()));
    is_its && found == key && rest.starts_with(value)
}

fn line(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = bytes.iter().position(|byte| *byte == b'\n')?;
    let line = &bytes[..end];
    Some((line.strip_suffix(b"\r").unwrap_or(line), &bytes[end + 1..]))
}

fn follows(bytes: &[u8], value: &[u8]) -> bool {
    bytes
        .strip_prefix(value)
        .is_some_and(|rest| rest.starts_with(b"\r\n"))
}

/// Gives the server its next script, and returns its address.
fn serve(script: Script) -> SocketAddr {
    static SCRIPT: Mutex<Option<Script>> = Mutex::new(None);
    static ADDRESS: OnceLock<SocketAddr> = OnceLock::new();
    *SCRIPT.lock().unwrap_or_else(PoisonError::into_inner) = Some(script);
    *ADDRESS.get_or_init(|| {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let script = SCRIPT.lock().unwrap_or_else(PoisonError::into_inner).take();
                // A second connection is closed: what is asked again is not answered.
                if let Some(script) = script {
                    // The client may end the connection at any time.
                    let _ = follow(stream, &script);
                }
            }
        });
        address
    })
}

fn follow(mut stream: TcpStream, script: &Script) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut memory = [0; 4096];
    if stream.read(&mut memory)? == 0 {
        return Ok(());
    }
    stream.write_all(script.greeting)?;
    if stream.read(&mut memory)? == 0 {
        return Ok(());
    }
    for part in &script.parts {
        stream.write_all(part)?;
    }
    stream.shutdown(Shutdown::Write)?;
    // The client has what was sent before the connection is reset.
    while stream.read(&mut memory)? > 0 {}
    Ok(())
}

//! A server that delays, cuts, repeats, reorders and falsifies what it answers, and a client that
//! must never take what it sends for the value of another key or an older request.
//!
//! A value has its key and a count of the requests that the server has seen. A hit is foreign if
//! the key is another, or the count is of a time before the call.

use super::set_rule_one_off;
use crate::batch::{Batch, GetOptions, Outcome, Sink, StoreOptions};
use crate::client::Client;
use crate::options::Protocol;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

/// Rounds, unless the environment says how many.
const ROUNDS: u64 = 400;
const HOW_MANY: &str = "TAVOLA_HOSTILE_ROUNDS";
/// The most clients at once. Each has a server and a seed of its own.
const MOST_CLIENTS: u64 = 16;
/// Keys that are asked for; those with an odd number are missing.
const KEYS: u64 = 12;
/// How long a client waits for an answer.
const PATIENCE: Duration = Duration::from_millis(25);

/// Numbers that follow from a seed.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ mixed >> 31) % end.max(1) as u64) as usize
    }
}

/// What the server and the test share.
#[derive(Default)]
struct Shared {
    /// Requests seen so far.
    count: AtomicU64,
    /// Whether answers are falsified; not while a connection begins.
    faults: AtomicU64,
    is_over: AtomicBool,
}

struct Hostile {
    address: SocketAddr,
    shared: Arc<Shared>,
}

impl Hostile {
    fn start(seed: u64, has_meta: bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let shared = Arc::new(Shared::default());
        let (state, mut number) = (Arc::clone(&shared), seed);
        thread::spawn(move || {
            for stream in listener.incoming() {
                if state.is_over.load(Ordering::Relaxed) {
                    return;
                }
                let Ok(stream) = stream else { continue };
                number += 1;
                let connection = Connection {
                    stream,
                    shared: Arc::clone(&state),
                    random: Random(number),
                    has_meta,
                    input: Vec::new(),
                    old: Vec::new(),
                };
                thread::spawn(move || connection.serve());
            }
        });
        Self { address, shared }
    }
}

impl Drop for Hostile {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Relaxed);
        let _ = TcpStream::connect(self.address);
    }
}

struct Connection {
    stream: TcpStream,
    shared: Arc<Shared>,
    random: Random,
    has_meta: bool,
    input: Vec<u8>,
    /// An answer of a time before.
    old: Vec<u8>,
}

impl Connection {
    /// Answers what comes. Any error ends it, as the client closes what it does not trust.
    fn serve(mut self) {
        let _ = self.stream.set_nodelay(true);
        let mut memory = [0; 4096];
        let mut is_first = true;
        while let Ok(count @ 1..) = self.stream.read(&mut memory) {
            self.input.extend_from_slice(&memory[..count]);
            let mut answers = Vec::new();
            while let Some(answer) = self.answer() {
                answers.extend(answer);
            }
            let sent = match std::mem::take(&mut is_first) {
                true => self.stream.write_all(&answers.concat()),
                false => self.send(answers),
            };
            if sent.is_err() {
                return;
            }
        }
    }

    /// The right answers to the first request, if it is whole.
    fn answer(&mut self) -> Option<Vec<Vec<u8>>> {
        if self.input.first() == Some(&0x80) {
            return Some(vec![self.answer_binary()?]);
        }
        let end = self.input.windows(2).position(|pair| pair == b"\r\n")? + 2;
        let line = String::from_utf8(self.input[..end - 2].to_vec()).expect("plain keys");
        let words: Vec<&str> = line.split(' ').collect();
        let mut used = end;
        let count = self.shared.count.fetch_add(1, Ordering::Relaxed);
        let answer = match words[0] {
            "mn" if self.has_meta => "MN\r\n".to_string(),
            "mn" => "ERROR\r\n".to_string(),
            "ms" => {
                used += words[2].parse::<usize>().expect("a size") + 2;
                format!("HD k{}{}\r\n", words[1], returned(&words))
            }
            "mg" if is_there(words[1]) => {
                let value = value_of(words[1], count);
                let (size, key) = (value.len(), words[1]);
                format!("VA {size} f0 k{key}{}\r\n{value}\r\n", returned(&words))
            }
            "mg" if words.contains(&"q") => String::new(),
            "mg" => format!("EN k{}{}\r\n", words[1], returned(&words)),
            "get" => {
                self.input.drain(..used);
                let there = words[1..].iter().filter(|key| is_there(key));
                let values = there.map(|key| {
                    let value = value_of(key, count);
                    format!("VALUE {key} 0 {}\r\n{value}\r\n", value.len()).into_bytes()
                });
                return Some(values.chain([b"END\r\n".to_vec()]).collect());
            }
            "set" => {
                used += words[4].parse::<usize>().expect("a size") + 2;
                "STORED\r\n".to_string()
            }
            "version" => "VERSION 1\r\n".to_string(),
            _ => "ERROR\r\n".to_string(),
        };
        if self.input.len() < used {
            return None;
        }
        self.input.drain(..used);
        Some(vec![answer.into_bytes()])
    }

    /// The same in the binary protocol.
    fn answer_binary(&mut self) -> Option<Vec<u8>> {
        let head = self.input.first_chunk::<24>()?;
        let (opcode, opaque) = (head[1], head[12..16].to_vec());
        let key_bytes = usize::from(u16::from_be_bytes([head[2], head[3]]));
        let extras = usize::from(head[4]);
        let body = u32::from_be_bytes([head[8], head[9], head[10], head[11]]) as usize;
        let request = self.input.get(24..24 + body)?;
        let key = String::from_utf8(request[extras..extras + key_bytes].to_vec());
        let key = key.expect("plain keys");
        self.input.drain(..24 + body);
        let count = self.shared.count.fetch_add(1, Ordering::Relaxed);
        let is_get = opcode == 0x0c;
        let is_found = is_get && is_there(&key);
        let [extras, value] = match is_found {
            true => [vec![0; 4], value_of(&key, count).into_bytes()],
            false => [Vec::new(), Vec::new()],
        };
        let key = if is_get { key } else { String::new() };
        let body = [extras, key.clone().into_bytes(), value].concat();
        let size = (body.len() as u32).to_be_bytes();
        let status = u8::from(is_get && !is_found);
        let extras = if is_found { 4 } else { 0 };
        let front = [0x81, opcode, 0, key.len() as u8, extras, 0, 0, status];
        Some([&front[..], &size, &opaque, &[0; 8], &body].concat())
    }

    /// Sends answers, not always as they should be.
    fn send(&mut self, mut answers: Vec<Vec<u8>>) -> std::io::Result<()> {
        answers.retain(|answer| !answer.is_empty());
        if answers.is_empty() {
            return Ok(());
        }
        let count = answers.len();
        let [one, another] = [self.random.below(count), self.random.below(count)];
        let kept = answers[one].clone();
        let fault = self.random.below(24);
        match fault {
            0 => answers.swap(one, another),
            1 => answers.insert(another, kept.clone()),
            2 => answers.push(kept.clone()),
            3 => answers.insert(0, self.old.clone()),
            4 => answers.push(self.old.clone()),
            5 => falsify(&mut answers[one], b" O", 15, &mut self.random),
            6 => falsify(&mut answers[one], b" kkey:", 32, &mut self.random),
            7 => drop(answers.remove(one)),
            8 => answers.reverse(),
            _ => {}
        }
        if fault < 14 {
            self.shared.faults.fetch_add(1, Ordering::Relaxed);
        }
        self.old = kept;
        let bytes = answers.concat();
        let place = self.random.below(bytes.len() + 1);
        match fault {
            9 => {
                // Cut: no more will come.
                self.stream.write_all(&bytes[..place])?;
                Err(std::io::ErrorKind::BrokenPipe.into())
            }
            10 => {
                // Late: the rest comes when nobody waits for it any more.
                self.stream.write_all(&bytes[..place])?;
                thread::sleep(PATIENCE * 2);
                self.stream.write_all(&bytes[place..])
            }
            11 => {
                self.stream.write_all(&bytes)?;
                thread::sleep(Duration::from_micros(200));
                self.stream.write_all(&self.old)
            }
            12 | 13 => bytes
                .chunks(1)
                .try_for_each(|byte| self.stream.write_all(byte)),
            14 => bytes
                .chunks(1 + place)
                .try_for_each(|part| self.stream.write_all(part)),
            _ => self.stream.write_all(&bytes),
        }
    }
}

/// Changes the byte behind a mark, or at a place in an answer of the binary protocol.
fn falsify(answer: &mut [u8], mark: &[u8], place: usize, random: &mut Random) {
    let found = match answer[0] {
        0x81 => Some(place),
        _ => answer
            .windows(mark.len())
            .position(|part| part == mark)
            .map(|place| place + mark.len()),
    };
    if let Some(byte) = found.and_then(|place| answer.get_mut(place)) {
        *byte = b'1' + (byte.wrapping_sub(b'0').wrapping_add(random.below(8) as u8)) % 9;
    }
}

fn returned(words: &[&str]) -> String {
    let opaque = words.iter().skip(2).find(|word| word.starts_with('O'));
    opaque.map_or(String::new(), |opaque| format!(" {opaque}"))
}

fn is_there(key: &str) -> bool {
    let number = key
        .rsplit(':')
        .next()
        .and_then(|text| text.parse::<u64>().ok());
    number.is_some_and(|number| number.is_multiple_of(2))
}

/// Values of different lengths, some larger than a connection's buffer.
fn value_of(key: &str, count: u64) -> String {
    let size = match count % 16 {
        0 => 40_000,
        rest => rest as usize * 20,
    };
    format!("{key}={count};{}", "x".repeat(size))
}

/// What the client said of a batch.
struct Seen {
    values: Vec<Vec<u8>>,
    outcomes: Vec<Vec<Outcome>>,
}

impl Sink for Seen {
    fn room(&mut self, index: usize, len: usize, _flags: u32) -> Option<&mut [u8]> {
        assert!(self.values[index].is_empty(), "memory is asked for once");
        self.values[index] = vec![0; len];
        Some(&mut self.values[index])
    }

    fn done(&mut self, index: usize, outcome: Outcome) {
        self.outcomes[index].push(outcome);
    }
}

#[derive(Debug, Default)]
struct Tally {
    foreign: u64,
    hits: u64,
    misses: u64,
    failed: u64,
    faults: u64,
}

/// How a client asks.
#[derive(Clone, Copy, Debug)]
struct Asks {
    protocol: Protocol,
    multi_key_gets: bool,
}

impl Asks {
    /// Whether answers have a number by which an older value of the same key is known.
    fn has_numbers(self) -> bool {
        self.protocol != Protocol::Text && !self.multi_key_gets
    }
}

impl From<Protocol> for Asks {
    fn from(protocol: Protocol) -> Self {
        let multi_key_gets = false;
        Self {
            protocol,
            multi_key_gets,
        }
    }
}

const IN_LINES: Asks = Asks {
    protocol: Protocol::Auto,
    multi_key_gets: true,
};

fn run(seed: u64, asks: Asks, rounds: u64) -> Tally {
    let protocol = asks.protocol;
    let server = Hostile::start(seed << 32, protocol == Protocol::Auto);
    let client = Client::builder()
        .server(&server.address.to_string(), 1.0)
        .protocol(protocol)
        .multi_key_gets(asks.multi_key_gets)
        .io_timeout(PATIENCE)
        .max_failures(u32::MAX)
        .build()
        .expect("a client");
    let mut random = Random(seed);
    let mut tally = Tally::default();
    let keys: Vec<String> = (0..KEYS).map(|number| format!("key:{number}")).collect();
    for _ in 0..rounds {
        let count = 1 + random.below(6);
        let mut batch = Batch::new();
        let mut asked = Vec::new();
        for _ in 0..count {
            let key = &keys[random.below(keys.len())];
            match random.below(5) {
                0 => batch.set(key.as_bytes(), b"value", StoreOptions::default()),
                _ => batch.get(key.as_bytes(), GetOptions::default()),
            };
            asked.push(key);
        }
        let mut seen = Seen {
            values: vec![Vec::new(); count],
            outcomes: vec![Vec::new(); count],
        };
        let before = match asks.has_numbers() {
            true => server.shared.count.load(Ordering::Relaxed),
            false => 0,
        };
        client.execute(&mut batch, &mut seen);
        for (index, key) in asked.iter().enumerate() {
            let [outcome] = &seen.outcomes[index][..] else {
                panic!("a request ends once: {:?}", seen.outcomes[index]);
            };
            match outcome {
                Outcome::Hit { .. } => {
                    tally.hits += 1;
                    let is_own = is_of(&seen.values[index], key, before);
                    tally.foreign += u64::from(!is_own);
                }
                Outcome::Miss => tally.misses += 1,
                Outcome::Unsent(_) | Outcome::Unknown(_) => tally.failed += 1,
                Outcome::Stored => {}
                outcome => panic!("{outcome:?} is no answer to {key}"),
            }
        }
    }
    tally.faults = server.shared.faults.load(Ordering::Relaxed);
    tally
}

/// Whether a value is that of a key, and of this time.
fn is_of(value: &[u8], key: &str, since: u64) -> bool {
    let text = std::str::from_utf8(value).unwrap_or_default();
    let rest = text
        .strip_prefix(key)
        .and_then(|rest| rest.strip_prefix('='));
    let count = rest.and_then(|rest| rest.split(';').next());
    count.is_some_and(|count| count.parse::<u64>().is_ok_and(|count| count >= since))
}

/// Runs all rounds, by several clients if they are many, and demands that no value is foreign.
fn run_all(seed: u64, asks: Asks) {
    let rounds = rounds();
    let clients = (rounds / ROUNDS).clamp(1, MOST_CLIENTS);
    let run_one = |client| run(seed + client * 16, asks, rounds / clients);
    let tallies: Vec<Tally> = thread::scope(|scope| {
        let threads: Vec<_> = (0..clients)
            .map(|client| scope.spawn(move || run_one(client)))
            .collect();
        let joined = threads.into_iter().map(|thread| thread.join());
        joined.map(|tally| tally.expect("a tally")).collect()
    });
    let mut sum = Tally::default();
    for tally in tallies {
        sum.foreign += tally.foreign;
        sum.hits += tally.hits;
        sum.misses += tally.misses;
        sum.failed += tally.failed;
        sum.faults += tally.faults;
    }
    println!("{rounds} rounds, {asks:?}: {sum:?}");
    assert_eq!(sum.foreign, 0, "{sum:?}");
    // The servers did their worst, and the clients were of use nevertheless.
    assert!(sum.faults * 4 > rounds, "{sum:?}");
    assert!(sum.hits * 2 > rounds && sum.failed > rounds / 20, "{sum:?}");
}

fn rounds() -> u64 {
    let count = std::env::var(HOW_MANY);
    count.map_or(ROUNDS, |count| count.parse().expect("a number"))
}

#[test]
fn a_hostile_server_never_passes_off_a_value_as_that_of_another_key() {
    run_all(1, Protocol::Auto.into());
}

#[test]
fn a_hostile_server_of_old_text_is_not_believed_either() {
    run_all(2, Protocol::Text.into());
}

#[test]
fn a_hostile_server_of_the_binary_protocol_is_not_believed_either() {
    run_all(3, Protocol::Binary.into());
}

#[test]
fn a_client_that_trusts_in_the_order_of_answers_is_found_out() {
    set_rule_one_off(true);
    let tally = run(1, Protocol::Auto.into(), ROUNDS);
    set_rule_one_off(false);
    assert!(tally.foreign > 0, "{tally:?}");
}

#[test]
fn a_hostile_server_that_is_asked_for_many_keys_by_one_line_is_not_believed_either() {
    run_all(4, IN_LINES);
}

#[test]
fn a_client_that_trusts_in_the_order_of_keys_in_a_line_is_found_out() {
    set_rule_one_off(true);
    let tally = run(4, IN_LINES, ROUNDS);
    set_rule_one_off(false);
    assert!(tally.foreign > 0, "{tally:?}");
}

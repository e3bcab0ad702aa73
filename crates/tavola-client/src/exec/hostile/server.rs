//! The server: right answers, and what it makes of them.
//!
//! It stores nothing. Keys with an odd number are missing, and what it returns follows from the
//! key and the count of the requests before.

use super::{KEYS, PATIENCE, Random};
use std::collections::HashSet;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// What the server and the test share.
#[derive(Default)]
pub(super) struct Shared {
    /// Requests seen so far.
    pub(super) count: AtomicU64,
    /// Answers that were falsified; none while a connection begins.
    pub(super) faults: AtomicU64,
    /// The values of requests without an answer, each of which is sent once.
    held: Mutex<HashSet<String>>,
    /// How many of those came, and how many came again.
    pub(super) held_count: AtomicU64,
    pub(super) repeated: AtomicU64,
    is_over: AtomicBool,
}

impl Shared {
    fn note_held(&self, value: &[u8]) {
        let value = String::from_utf8_lossy(value).into_owned();
        let is_new = self.held.lock().expect("no panic").insert(value);
        self.held_count.fetch_add(1, Ordering::Relaxed);
        self.repeated
            .fetch_add(u64::from(!is_new), Ordering::Relaxed);
    }
}

pub(super) struct Hostile {
    pub(super) address: SocketAddr,
    pub(super) shared: Arc<Shared>,
}

impl Hostile {
    pub(super) fn start(seed: u64, has_meta: bool) -> Self {
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
        let size = match words[0] {
            "ms" => words[2].parse::<usize>().expect("a size") + 2,
            "set" | "cas" => words[4].parse::<usize>().expect("a size") + 2,
            _ => 0,
        };
        let data = self.input.get(end..end + size)?;
        if words[0] == "set" && words.ends_with(&["noreply"]) {
            self.shared.note_held(data);
        }
        self.input.drain(..end + size);
        let count = self.shared.count.fetch_add(1, Ordering::Relaxed);
        let answers = match words[0] {
            "mn" if self.has_meta => vec!["MN\r\n".to_string()],
            "mn" => vec!["ERROR\r\n".to_string()],
            "mg" | "ms" | "md" | "ma" => vec![answer_meta(&words, count)],
            _ => answer_text(&words, count),
        };
        Some(answers.into_iter().map(String::into_bytes).collect())
    }

    /// The same in the binary protocol.
    fn answer_binary(&mut self) -> Option<Vec<u8>> {
        let head = *self.input.first_chunk::<24>()?;
        let (opcode, opaque, cas) = (head[1], &head[12..16], &head[16..24]);
        let key_bytes = usize::from(u16::from_be_bytes([head[2], head[3]]));
        let extras = usize::from(head[4]);
        let body = u32::from_be_bytes([head[8], head[9], head[10], head[11]]) as usize;
        let request = self.input.get(24..24 + body)?;
        let key = String::from_utf8(request[extras..extras + key_bytes].to_vec());
        let key = key.expect("plain keys");
        self.input.drain(..24 + body);
        let count = self.shared.count.fetch_add(1, Ordering::Relaxed);
        let cas = u64::from_be_bytes(cas.try_into().expect("8 bytes"));
        let status = match opcode {
            0x01 if cas == 0 => 0,
            0x01 if is_there(&key) && !is_fresh(cas) => 2,
            0x01 | 0x04 | 0x05 | 0x0c | 0x1c => u8::from(!is_there(&key)),
            _ => 0,
        };
        let [extras, value] = match opcode {
            0x0c if status == 0 => [vec![0; 4], value_of(&key, count).into_bytes()],
            0x05 if status == 0 => [Vec::new(), mark_of(&key, count).to_be_bytes().to_vec()],
            _ => [Vec::new(), Vec::new()],
        };
        let extras_bytes = extras.len() as u8;
        let new_cas = mark_of(&key, count).to_be_bytes();
        let key = if opcode == 0x0c { key } else { String::new() };
        let body = [extras, key.clone().into_bytes(), value].concat();
        let size = (body.len() as u32).to_be_bytes();
        let front = [0x81, opcode, 0, key.len() as u8, extras_bytes, 0, 0, status];
        Some([&front[..], &size, opaque, &new_cas, &body].concat())
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
            9 => {
                // Each has the other's place and number, and its own key.
                answers.swap(one, another);
                swap_numbers(&mut answers, one, another);
            }
            _ => {}
        }
        if fault < 15 {
            self.shared.faults.fetch_add(1, Ordering::Relaxed);
        }
        self.old = kept;
        let bytes = answers.concat();
        let place = self.random.below(bytes.len() + 1);
        match fault {
            10 => {
                // Cut: no more will come.
                self.stream.write_all(&bytes[..place])?;
                Err(std::io::ErrorKind::BrokenPipe.into())
            }
            11 => {
                // Late: the rest comes when nobody waits for it any more.
                self.stream.write_all(&bytes[..place])?;
                thread::sleep(PATIENCE * 2);
                self.stream.write_all(&bytes[place..])
            }
            12 => {
                self.stream.write_all(&bytes)?;
                thread::sleep(Duration::from_micros(200));
                self.stream.write_all(&self.old)
            }
            13 | 14 => bytes
                .chunks(1)
                .try_for_each(|byte| self.stream.write_all(byte)),
            15 => bytes
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

/// Exchanges the opaque numbers of two answers to meta commands, except of one key: nobody could
/// know.
fn swap_numbers(answers: &mut [Vec<u8>], one: usize, another: usize) {
    let place_of = |answer: &[u8], mark: &[u8]| answer.windows(2).position(|part| part == mark);
    let number_of = |answer: &[u8]| {
        let start = place_of(answer, b" O")?;
        Some(start..start + place_of(&answer[start..], b"\r\n")?)
    };
    let key_of =
        |answer: &[u8]| Some(answer[place_of(answer, b" k")?..place_of(answer, b" O")?].to_vec());
    if key_of(&answers[one]) == key_of(&answers[another]) {
        return;
    }
    if let [Some(first), Some(second)] = [one, another].map(|place| number_of(&answers[place])) {
        let second_text = answers[another][second.clone()].to_vec();
        let first_text: Vec<u8> = answers[one].splice(first, second_text).collect();
        answers[another].splice(second, first_text);
    }
}

/// The right answer to a meta command that has a key.
fn answer_meta(words: &[&str], count: u64) -> String {
    let (key, flags) = (words[1], &words[2..]);
    let mark = mark_of(key, count);
    let has = |flag| flags.contains(&flag);
    let cas = flags.iter().find_map(|flag| flag.strip_prefix('C'));
    let is_stale = cas.is_some_and(|cas| !is_fresh(cas.parse().expect("a number")));
    let opaque = flags.iter().find(|flag| flag.starts_with('O'));
    let end = opaque.map_or(String::new(), |opaque| format!(" {opaque}"));
    match (words[0], is_there(key)) {
        ("mg", false) if has("q") => String::new(),
        ("mg", false) => format!("EN k{key}{end}\r\n"),
        ("mg", true) if has("v") => {
            let value = value_of(key, count);
            let cas = if has("c") {
                format!(" c{mark}")
            } else {
                String::new()
            };
            format!("VA {} f0{cas} k{key}{end}\r\n{value}\r\n", value.len())
        }
        ("ms", true) if is_stale => format!("EX k{key}{end}\r\n"),
        ("ms", false) if cas.is_none() => format!("HD k{key}{end}\r\n"),
        (_, false) => format!("NF k{key}{end}\r\n"),
        ("ma", true) => {
            let number = mark.to_string();
            format!("VA {} k{key}{end}\r\n{number}\r\n", number.len())
        }
        _ => format!("HD k{key}{end}\r\n"),
    }
}

/// The right answers to a request of text: several only to a get.
fn answer_text(words: &[&str], count: u64) -> Vec<String> {
    let is_there_word = words.get(1).is_some_and(|key| is_there(key));
    let answer = match words[0] {
        "get" | "gets" => {
            let there = words[1..].iter().filter(|key| is_there(key));
            let values = there.map(|key| {
                let value = value_of(key, count);
                let cas = match words[0] {
                    "gets" => format!(" {}", mark_of(key, count)),
                    _ => String::new(),
                };
                format!("VALUE {key} 0 {}{cas}\r\n{value}\r\n", value.len())
            });
            return values.chain(["END\r\n".to_string()]).collect();
        }
        _ if words.ends_with(&["noreply"]) => "",
        "set" => "STORED",
        "version" => "VERSION 1",
        "cas" | "delete" | "touch" | "incr" if !is_there_word => "NOT_FOUND",
        "cas" if is_fresh(words[5].parse().expect("a number")) => "STORED",
        "cas" => "EXISTS",
        "delete" => "DELETED",
        "touch" => "TOUCHED",
        "incr" => return vec![format!("{}\r\n", mark_of(words[1], count))],
        _ => "ERROR",
    };
    let end = if answer.is_empty() { "" } else { "\r\n" };
    vec![format!("{answer}{end}")]
}

fn number_of(key: &str) -> Option<u64> {
    key.rsplit(':').next()?.parse().ok()
}

pub(super) fn is_there(key: &str) -> bool {
    number_of(key).is_some_and(|number| number.is_multiple_of(2))
}

/// The number that a key has after so many requests: what a counter says, and the item's unique
/// number.
fn mark_of(key: &str, count: u64) -> u64 {
    (count + 1) * KEYS + number_of(key).unwrap_or_default()
}

/// Whether a number is that of a key, and of this time.
pub(super) fn is_mark_of(mark: u64, key: &str, since: u64) -> bool {
    number_of(key) == Some(mark % KEYS) && mark / KEYS > since
}

/// Whether an item with this unique number is taken to be unchanged.
pub(super) fn is_fresh(cas: u64) -> bool {
    (cas / KEYS).is_multiple_of(2)
}

/// Values of different lengths, some larger than a connection's buffer.
fn value_of(key: &str, count: u64) -> String {
    let size = match count % 16 {
        0 => 40_000,
        rest => rest as usize * 20,
    };
    format!("{key}={count};{}", "x".repeat(size))
}

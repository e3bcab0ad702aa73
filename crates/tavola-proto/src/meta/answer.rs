//! Answers to the meta commands, appended to what is to be sent. Each repeats flags of the request
//! in their order, with what they ask for.

use super::request::Item;
use crate::key::{Key, KeyRoom, write_base64};
use crate::number;

/// To `mn`.
pub const NOOP: &[u8] = b"MN\r\n";
/// To `me` of a key that has no item.
pub const MISS: &[u8] = b"EN\r\n";
/// To `ma` of a value that is no number.
pub const NON_NUMERIC: &[u8] = crate::text::answer::NON_NUMERIC;

/// What became of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// `HD`: done; or found, and the value not asked for.
    Done,
    /// `EN`: `mg` found nothing.
    Miss,
    /// `NF`: others found nothing.
    NotFound,
    /// `NS`: the condition does not hold.
    NotStored,
    /// `EX`: the unique number is another.
    Exists,
}

impl Status {
    fn code(self) -> &'static [u8; 2] {
        match self {
            Self::Done => b"HD",
            Self::Miss => b"EN",
            Self::NotFound => b"NF",
            Self::NotStored => b"NS",
            Self::Exists => b"EX",
        }
    }
}

/// What is known of an item that `mg` found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found<'a> {
    /// Its value.
    pub value: &'a [u8],
    /// Whether the value is returned: `v` asks for it, and `C` does not know it.
    pub with_value: bool,
    /// Whether its key was base64 when it was stored.
    pub is_key_base64: bool,
    /// What the client stored beside the value.
    pub client_flags: u32,
    /// Its unique number.
    pub cas: u64,
    /// The seconds it has to live; `None` if it lives forever.
    pub ttl_s: Option<u32>,
    /// The seconds since it was used.
    pub idle_s: u32,
    /// Whether it was read before.
    pub is_fetched: bool,
    /// Whether another was asked to bring a new value: `Z`.
    pub is_token_sent: bool,
    /// Whether the value is stale: `X`.
    pub is_stale: bool,
    /// Whether this client is asked to bring a new value: `W`.
    pub is_winner: bool,
}

/// The facts about an item that `ms` returns: its unique number and the bytes of its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stored {
    /// Its unique number, 0 where nothing was stored.
    pub cas: u64,
    /// The bytes of its value, after appending as well.
    pub size_bytes: usize,
}

/// What is known of a number that `ma` changed or made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted {
    /// The new number.
    pub value: u64,
    /// The item's unique number.
    pub cas: u64,
    /// The seconds it has to live; `None` if it lives forever.
    pub ttl_s: Option<u32>,
}

/// To `mg` that found something.
pub fn found(out: &mut Vec<u8>, item: &Item<'_>, found: &Found<'_>) {
    begin_with(out, found.with_value.then_some(found.value.len()));
    for word in item.flags.words() {
        match word[0] {
            b's' => field(out, b's', found.value.len()),
            b't' => ttl(out, found.ttl_s),
            b'c' => field(out, b'c', found.cas),
            b'f' => field(out, b'f', found.client_flags),
            b'l' => field(out, b'l', found.idle_s),
            b'h' => field(out, b'h', u8::from(found.is_fetched)),
            b'O' => repeat(out, word),
            b'k' => key(out, item.key, found.is_key_base64),
            _ => {}
        }
    }
    for (is_set, mark) in [
        (found.is_token_sent, b" Z"),
        (found.is_stale, b" X"),
        (found.is_winner, b" W"),
    ] {
        if is_set {
            out.extend_from_slice(mark);
        }
    }
    out.extend_from_slice(b"\r\n");
    if found.with_value {
        out.extend_from_slice(found.value);
        out.extend_from_slice(b"\r\n");
    }
}

/// To `ms`, whatever became of it.
pub fn stored(out: &mut Vec<u8>, status: Status, item: &Item<'_>, stored: Stored) {
    out.extend_from_slice(status.code());
    for word in item.flags.words() {
        match word[0] {
            b'O' => repeat(out, word),
            b'k' => key(out, item.key, item.key.is_base64()),
            b'c' => field(out, b'c', stored.cas),
            b's' => field(out, b's', stored.size_bytes),
            _ => {}
        }
    }
    out.extend_from_slice(b"\r\n");
}

/// To `ma` that changed or made a number.
pub fn counted(out: &mut Vec<u8>, item: &Item<'_>, counted: Counted) {
    let mut digits = itoa::Buffer::new();
    let digits = digits.format(counted.value);
    let with_value = item.flags.has(b'v');
    begin_with(out, with_value.then_some(digits.len()));
    for word in item.flags.words() {
        match word[0] {
            b'c' => field(out, b'c', counted.cas),
            b't' => ttl(out, counted.ttl_s),
            b'O' => repeat(out, word),
            b'k' => key(out, item.key, item.key.is_base64()),
            _ => {}
        }
    }
    out.extend_from_slice(b"\r\n");
    if with_value {
        out.extend_from_slice(digits.as_bytes());
        out.extend_from_slice(b"\r\n");
    }
}

/// To `md`, and to `mg` and `ma` that found nothing or another unique number.
pub fn bare(out: &mut Vec<u8>, status: Status, item: &Item<'_>) {
    out.extend_from_slice(status.code());
    for word in item.flags.words() {
        match word[0] {
            b'O' => repeat(out, word),
            b'k' => key(out, item.key, item.key.is_base64()),
            _ => {}
        }
    }
    out.extend_from_slice(b"\r\n");
}

/// To `me`: the key, and `NAME=VALUE` for each of `facts`.
pub fn debug(out: &mut Vec<u8>, asked: Key<'_>, is_key_base64: bool, facts: &[(&str, &str)]) {
    out.extend_from_slice(b"ME ");
    write_key(out, asked, is_key_base64);
    for (name, value) in facts {
        out.push(b' ');
        out.extend_from_slice(name.as_bytes());
        out.push(b'=');
        out.extend_from_slice(value.as_bytes());
    }
    out.extend_from_slice(b"\r\n");
}

fn begin_with(out: &mut Vec<u8>, size_bytes: Option<usize>) {
    match size_bytes {
        Some(size_bytes) => {
            out.extend_from_slice(b"VA ");
            number::write(out, size_bytes);
        }
        None => out.extend_from_slice(Status::Done.code()),
    }
}

fn field(out: &mut Vec<u8>, letter: u8, value: impl itoa::Integer) {
    out.extend_from_slice(&[b' ', letter]);
    number::write(out, value);
}

fn ttl(out: &mut Vec<u8>, ttl_s: Option<u32>) {
    match ttl_s {
        Some(ttl_s) => field(out, b't', ttl_s),
        None => field(out, b't', -1),
    }
}

fn repeat(out: &mut Vec<u8>, word: &[u8]) {
    out.push(b' ');
    out.extend_from_slice(word);
}

fn key(out: &mut Vec<u8>, asked: Key<'_>, is_base64: bool) {
    out.extend_from_slice(b" k");
    write_key(out, asked, is_base64);
    if is_base64 {
        out.extend_from_slice(b" b");
    }
}

fn write_key(out: &mut Vec<u8>, asked: Key<'_>, is_base64: bool) {
    let mut room = KeyRoom::default();
    let bytes = asked.bytes(&mut room);
    if is_base64 {
        write_base64(out, bytes);
    } else {
        out.extend_from_slice(bytes);
    }
}

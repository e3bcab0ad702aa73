//! However the bytes of a server arrive, a client finds the same in them.

use crate::answers::{read, read_by};
use crate::numbers::Numbers;
use tavola_proto::{AnswerLimits, Protocol};

const LIMITS: AnswerLimits = AnswerLimits {
    value_bytes: 40,
    line_bytes: 120,
};
const STREAMS: u64 = 3000;

const WORDS: [&[u8]; 40] = [
    b"VALUE",
    b"VA",
    b"HD",
    b"EN",
    b"NF",
    b"NS",
    b"EX",
    b"MN",
    b"ME",
    b"END",
    b"STORED",
    b"NOT_STORED",
    b"OK",
    b"STAT",
    b"ITEM",
    b"PREFIX",
    b"VERSION",
    b"ERROR",
    b"CLIENT_ERROR",
    b"SERVER_ERROR:",
    b"BUSY",
    b"mg",
    b"key=a",
    b"ts=1",
    b"key",
    b"0",
    b"3",
    b"41",
    b"-1",
    b"x",
    b"[3",
    b"b;",
    b"s]",
    b"kYQEy",
    b"b",
    b"c7",
    b"t-1",
    b"f4294967296",
    b"Oop",
    b"W",
];
const ENDS: [&[u8]; 4] = [b"\r\n", b"\n", b"\r\nabc\r\n", b"\r\nabcd\r\n"];

fn text(numbers: &mut Numbers) -> Vec<u8> {
    let mut out = Vec::new();
    for _ in 0..numbers.below(8) {
        match numbers.below(8) {
            // An answer that is right, so that values are read as such.
            0 => out.extend_from_slice(b"VALUE key 0 3\r\nabc\r\n"),
            1 => out.extend_from_slice(b"VA 3 c7 kYQEy b Oop\r\nabc\r\n"),
            2 => out.extend_from_slice(b"ITEM key [3 b; 0 s]\r\nEND\r\n"),
            3 => out.extend_from_slice(b"VALUE key 0 41\r\n"),
            4 | 5 => {
                out.extend_from_slice(numbers.pick(&WORDS));
                out.extend_from_slice(b"\r\n");
            }
            _ => {
                let line = (0..=numbers.below(6)).map(|_| numbers.pick(&WORDS));
                out.extend_from_slice(&line.collect::<Vec<_>>().join(&b' '));
                out.extend_from_slice(numbers.pick(&ENDS));
            }
        }
    }
    out.resize(out.len() + numbers.below(2) * numbers.below(140), b'x');
    out
}

fn binary(numbers: &mut Numbers) -> Vec<u8> {
    let mut out = Vec::new();
    for _ in 0..=numbers.below(6) {
        let opcode = numbers.below(0x28) as u8;
        let key = numbers.below(5);
        let extras = [0, 4, 4, 4, 8][numbers.below(5)];
        let value = [0, 8, 8, 3, 41][numbers.below(5)];
        let body = (extras + key + value).saturating_sub(numbers.below(8) / 7);
        let status = numbers.pick(&[0, 0, 1, 0x21, 0x99]);
        out.extend_from_slice(&[0x81, opcode, 0, key as u8, extras as u8, 0, 0, status]);
        out.extend_from_slice(&(body as u32).to_be_bytes());
        out.resize(out.len() + 12 + body, 1);
    }
    out
}

#[test]
fn the_same_is_found_however_the_bytes_arrive() {
    let (mut answers, mut errors) = (0, 0);
    for seed in 1..=STREAMS {
        let mut numbers = Numbers::of(seed);
        let protocol = numbers.pick(&[Protocol::Text, Protocol::Text, Protocol::Binary]);
        let sent = match protocol {
            Protocol::Binary => binary(&mut numbers),
            Protocol::Text => text(&mut numbers),
        };
        let whole = read(protocol, LIMITS, &sent, sent.len().max(1));
        let shown = sent.escape_ascii();
        let single = read(protocol, LIMITS, &sent, 1);
        assert_eq!(single, whole, "one by one: {shown}");
        for most in [2, 7, 30] {
            let split = read_by(protocol, LIMITS, &sent, || 1 + numbers.below(most));
            assert_eq!(split, whole, "up to {most}: {shown}");
        }
        answers += whole.0.len();
        errors += usize::from(whole.1.is_err());
    }
    // The streams have enough of both.
    assert!(answers > 2000 && errors > 1000, "{answers}, {errors}");
}

#[test]
fn arbitrary_bytes_are_answers_or_an_error() {
    for seed in 1..=STREAMS {
        let mut numbers = Numbers::of(seed);
        let mut sent = numbers.bytes(80);
        for protocol in [Protocol::Text, Protocol::Binary] {
            let whole = read(protocol, LIMITS, &sent, sent.len().max(1));
            assert_eq!(read(protocol, LIMITS, &sent, 1), whole);
            // Where the header is right more is read.
            sent.insert(0, 0x81);
        }
    }
}

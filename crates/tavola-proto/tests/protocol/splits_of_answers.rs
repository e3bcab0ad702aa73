//! However the bytes of a server arrive, a client finds the same in them.

use crate::answers::{read, read_by};
use crate::numbers::Numbers;
use tavola_proto::{Answer, AnswerDecoder, AnswerHead, AnswerLimits, AnswerStep, Error, Protocol};
use tavola_proto::{meta, text};

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

fn text_stream(numbers: &mut Numbers) -> Vec<u8> {
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

fn binary_stream(numbers: &mut Numbers) -> Vec<u8> {
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

fn stream(numbers: &mut Numbers) -> (Protocol, Vec<u8>) {
    let protocol = numbers.pick(&[Protocol::Text, Protocol::Text, Protocol::Binary]);
    let sent = match protocol {
        Protocol::Binary => binary_stream(numbers),
        Protocol::Text => text_stream(numbers),
    };
    (protocol, sent)
}

#[test]
fn the_same_is_found_however_the_bytes_arrive() {
    let (mut answers, mut errors) = (0, 0);
    for seed in 1..=STREAMS {
        let mut numbers = Numbers::of(seed);
        let (protocol, sent) = stream(&mut numbers);
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

/// What a caller that takes values by itself finds is what `step` finds.
#[test]
fn heads_and_values_make_the_same_answers() {
    let (mut values, mut errors) = (0, 0);
    for seed in 1..=STREAMS {
        let mut numbers = Numbers::of(seed);
        let (protocol, sent) = stream(&mut numbers);
        let [mut heads, mut steps] = [(); 2].map(|()| AnswerDecoder::of(protocol, LIMITS));
        let mut rest = &sent[..];
        while !rest.is_empty() {
            let shown = sent.escape_ascii();
            let step = steps.step(rest);
            let used = match (heads.head(rest), &step) {
                (Err(head), Err(step)) => {
                    assert_eq!(head, *step, "{shown}");
                    errors += 1;
                    break;
                }
                (Ok(AnswerHead::More { .. }), Ok(AnswerStep::More { .. })) => break,
                (
                    Ok(AnswerHead::Head {
                        answer,
                        used,
                        value_bytes: None,
                        ..
                    }),
                    step,
                ) => {
                    assert_eq!(*step, Ok(AnswerStep::Answer { answer, used }), "{shown}");
                    used
                }
                (
                    Ok(AnswerHead::Head {
                        used,
                        value_bytes: Some(size),
                        end,
                        ..
                    }),
                    step,
                ) => {
                    let total = used + size + end.len();
                    match step {
                        Ok(AnswerStep::Answer {
                            answer,
                            used: whole,
                        }) => {
                            assert_eq!(*whole, total, "{shown}");
                            assert_eq!(value_of(answer), Some(&rest[used..used + size]), "{shown}");
                            assert!(rest[used + size..total] == *end, "{shown}");
                            values += 1;
                            total
                        }
                        Ok(AnswerStep::More { needed }) => {
                            assert!(rest.len() < total && *needed <= total, "{shown}");
                            break;
                        }
                        Err(error) => {
                            assert_eq!(*error, Error::NotAnAnswer, "{shown}");
                            assert!(rest[used + size..total] != *end, "{shown}");
                            break;
                        }
                    }
                }
                (head, step) => panic!("{head:?}, {step:?}: {shown}"),
            };
            rest = &rest[used..];
        }
    }
    assert!(values > 500 && errors > 500, "{values}, {errors}");
}

fn value_of<'a>(answer: &Answer<'a>) -> Option<&'a [u8]> {
    match answer {
        Answer::Text(text::Answer::Value(value)) => Some(value.data),
        Answer::Meta(meta::Answer::Item(item)) => item.value,
        Answer::Binary(answer) => Some(answer.value),
        _ => None,
    }
}

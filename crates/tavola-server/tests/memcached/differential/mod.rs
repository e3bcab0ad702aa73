//! Random requests, right and wrong, to this server and to memcached: the same bytes come back.
//!
//! A sequence follows from its number alone. It goes out in random pieces, and to this server a
//! second time in one piece. Where memcached is not installed the two are compared with each other.
//! A sequence with different answers is made as short as it can be before it is reported.
//!
//! What cannot be the same is made so: unique numbers, the version, and times that are left, by as
//! much as a second may change them.

mod answers;
mod binary;
mod random;
mod text;
mod wrong;

use std::net::{Shutdown, SocketAddr};

use super::script::{Client, Ours, Theirs, text as shown};
use random::Random;

/// Sequences of each protocol, unless the environment says how many.
const SEQUENCES: u64 = 1500;
const HOW_MANY: &str = "TAVOLA_DIFFERENTIAL";
/// Sequences with different answers that are reported.
const MOST_FOUND: usize = 12;
/// Requests of a sequence at most.
const LONGEST: u64 = 24;
/// The last part of the version of the least memcached 1.6 that is asked wrong things, of kinds
/// that it refuses as the newest does.
const OLDEST: u32 = 18;
/// The same of the least whose refusals are all those of the newest.
const NEWEST: u32 = 40;

/// Requests, each a part of the stream that is sent.
type Sequence = Vec<Vec<u8>>;

/// What kind of requests make a sequence.
#[derive(Clone, Copy)]
struct Style {
    /// The last part of the version of the memcached that is asked: what it knows, and which wrong
    /// ones it refuses alike.
    patch: u32,
    /// Whether they change numbers and read values at the end alone, or read and change none.
    /// memcached makes a new item for a number whose old one it is still sending, without the
    /// spaces behind a shorter number, and leaves out what flags say of times: which of both it
    /// does depends on how fast it sends.
    counts: bool,
}

/// A protocol's side of the test.
struct Protocol {
    name: &'static str,
    /// One more request.
    request: fn(&mut Random, Style) -> Vec<u8>,
    /// Reads all keys.
    read: fn() -> Vec<u8>,
    /// The answers as they are compared.
    normal: fn(&[u8]) -> Vec<u8>,
    /// A request that ends a sequence, and the answer to it.
    end: &'static [u8],
    end_answer: &'static [u8],
}

#[test]
fn lines_are_answered_as_memcached_answers_them() {
    compare(&Protocol {
        name: "text",
        request: text::request,
        read: text::read,
        normal: answers::lines,
        end: b"mn\r\n",
        end_answer: b"MN\r\n",
    });
}

#[test]
fn binary_requests_are_answered_as_memcached_answers_them() {
    compare(&Protocol {
        name: "binary",
        request: binary::request,
        read: binary::read,
        normal: answers::headers,
        end: b"\x80\x0a\0\0\0\0\0\0\0\0\0\0last\0\0\0\0\0\0\0\0",
        end_answer: b"\x81\x0a\0\0\0\0\0\0\0\0\0\0last\0\0\0\0\0\0\0\0",
    });
}

fn compare(protocol: &Protocol) {
    let ours = Ours::start();
    let theirs = Theirs::start();
    let patch = theirs.as_ref().map_or(NEWEST, Theirs::patch);
    let count = std::env::var(HOW_MANY).map(|count| count.parse().expect("a number"));
    let other_address = theirs
        .as_ref()
        .map_or(ours.address, |theirs| theirs.address);
    let (mut bytes, mut found) = (0, Vec::new());
    for number in 0..count.unwrap_or(SEQUENCES) {
        let mut random = Random::new(number);
        let length = 1 + random.below(LONGEST);
        let style = Style {
            patch,
            counts: random.once_in(2),
        };
        let requests = (0..length).map(|_| (protocol.request)(&mut random, style));
        let requests: Sequence = requests.chain([(protocol.read)()]).collect();
        let differs = |requests: &Sequence| {
            let (mine, other) = ask(protocol, number, ours.address, other_address, requests);
            let is_same = match [&mine, &other].map(|answers| is_ended(protocol, answers)) {
                // Both ended the connection, with or without answers to what came before.
                [false, false] => mine.starts_with(&other) || other.starts_with(&mine),
                _ => mine == other,
            };
            (!is_same).then_some((mine, other))
        };
        bytes += requests.concat().len();
        // What does not come again is of its timing: answers that it drops as it closes.
        if (0..3).all(|_| differs(&requests).is_some()) {
            let requests = shortened(requests, |shorter| differs(shorter).is_some());
            let (mine, other) = differs(&requests).unwrap_or_default();
            let end = (protocol.normal)(protocol.end_answer);
            let without_end = |answers: &[u8]| {
                let mut answers = answers;
                while let Some(shorter) = answers.strip_suffix(&end[..]) {
                    answers = shorter;
                }
                shown(answers)
            };
            let (mine, other) = (without_end(&mine), without_end(&other));
            let sent = shown(&requests.concat());
            found.push(format!(
                "{number}: after {sent}\n  ours: {mine}\ntheirs: {other}"
            ));
        }
        if found.len() >= MOST_FOUND {
            break;
        }
    }
    assert!(found.is_empty(), "{} {}", protocol.name, found.join("\n"));
    assert!(bytes > 1000, "nothing was asked");
    assert_eq!(ours.server.counters().panics, 0);
}

/// The answers of both, to this server in pieces and in one piece.
fn ask(
    protocol: &Protocol,
    number: u64,
    ours: SocketAddr,
    other: SocketAddr,
    requests: &Sequence,
) -> (Vec<u8>, Vec<u8>) {
    let mut stream = requests.concat();
    let mut whole = answer(protocol, ours, &stream, None);
    // What is cut off at the end may be answered or not: it is brought to an end.
    for _ in 0..10 {
        stream.extend(protocol.end.repeat(20));
        whole = answer(protocol, ours, &stream, None);
        if is_ended(protocol, &whole) {
            break;
        }
    }
    let mut random = Random::new(!number);
    let mine = answer(protocol, ours, &stream, Some(&mut random));
    assert_eq!(
        shown(&mine),
        shown(&whole),
        "{} {number} in pieces",
        protocol.name
    );
    (mine, answer(protocol, other, &stream, Some(&mut random)))
}

/// Whether the answers are those to all that was sent.
fn is_ended(protocol: &Protocol, answers: &[u8]) -> bool {
    answers.ends_with(&(protocol.normal)(protocol.end_answer))
}

/// Leaves out what is not needed for a difference.
fn shortened(mut requests: Sequence, differs: impl Fn(&Sequence) -> bool) -> Sequence {
    let mut at = 0;
    while at < requests.len() {
        let mut shorter = requests.clone();
        shorter.remove(at);
        if differs(&shorter) {
            requests = shorter;
        } else {
            at += 1;
        }
    }
    requests
}

/// Sends the requests to an empty server and gives all that comes back.
fn answer(
    protocol: &Protocol,
    address: SocketAddr,
    stream: &[u8],
    pieces: Option<&mut Random>,
) -> Vec<u8> {
    Client::connect(address).expect(b"flush_all\r\n", b"OK\r\n");
    let mut client = Client::connect(address);
    let mut rest = stream;
    if let Some(random) = pieces {
        for _ in 0..random.below(8) {
            let (piece, after) = rest.split_at(random.below(rest.len() as u64 + 1) as usize);
            // The other side may have closed the connection.
            if client.try_send(piece).is_err() {
                break;
            }
            rest = after;
        }
    }
    let _ = client.try_send(rest);
    let _ = client.0.shutdown(Shutdown::Write);
    (protocol.normal)(&client.rest_if_open())
}

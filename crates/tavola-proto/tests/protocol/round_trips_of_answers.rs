//! A client reads what a server answers, however the bytes arrive.

use crate::answers::read_by;
use crate::meta_plan::{Plan, is_plain, key};
use crate::numbers::Numbers;
use tavola_proto::binary::{self, Header, Outcome};
use tavola_proto::meta::answer::{self as meta_answer, Counted, Found, Stored};
use tavola_proto::meta::{self, Facts, Item, ItemAnswer, Status, Ttl};
use tavola_proto::text::answer as text_answer;
use tavola_proto::{
    Answer, AnswerLimits, Decoder, Error, KeyRoom, Limits, Protocol, Request, Step, text,
};

const STREAMS: u64 = 2000;
const ANSWERS: usize = 12;

/// An answer as words, the same for what is written and for what is read.
fn described(answer: &Answer<'_>) -> String {
    match answer {
        Answer::Meta(meta::Answer::Item(item)) => {
            let mut item = item.clone();
            let mut room = KeyRoom::default();
            let key = item.facts.key.take();
            let is_base64 = key.is_some_and(|key| key.is_base64());
            let key = key.as_ref().map(|key| key.bytes(&mut room));
            described_item(&item, key, is_base64)
        }
        Answer::Meta(meta::Answer::Debug { key, facts }) => {
            described_debug(key, &facts.clone().collect::<Vec<_>>())
        }
        other => format!("{other:?}"),
    }
}

fn described_item(item: &ItemAnswer<'_>, key: Option<&[u8]>, is_base64: bool) -> String {
    format!("{item:?} {key:?} {is_base64}")
}

fn described_debug(key: &[u8], facts: &[&[u8]]) -> String {
    format!("me {key:?} {facts:?}")
}

/// Appends an answer to a classic command, and returns what it is.
fn text(numbers: &mut Numbers, out: &mut Vec<u8>) -> String {
    let (key, data) = (numbers.plain_key(), numbers.bytes(40));
    let answer = match numbers.below(6) {
        0 => {
            let (flags, cas) = (numbers.wide() as u32, numbers.maybe(Numbers::wide));
            text_answer::value(out, &key, flags, &data, cas);
            text::Answer::Value(text::Value {
                key: &key,
                flags,
                data: &data,
                cas,
            })
        }
        1 => {
            let value = numbers.wide();
            text_answer::count(out, value);
            text::Answer::Count(value)
        }
        2 => {
            text_answer::stat(out, "name", &key);
            text::Answer::Stat {
                name: b"name",
                value: &key,
            }
        }
        3 => {
            let (size_bytes, expires) = (numbers.wide() as usize, numbers.wide());
            text_answer::dumped(out, &key, size_bytes, expires);
            text::Answer::Dumped {
                key: &key,
                size_bytes: size_bytes as u64,
                expires,
            }
        }
        4 => {
            text_answer::version(out, "1.6.45");
            text::Answer::Version(b"1.6.45")
        }
        _ => {
            let (line, answer) = numbers.pick(&LINES);
            out.extend_from_slice(line);
            return format!("{:?}", Answer::Text(answer()));
        }
    };
    format!("{:?}", Answer::Text(answer))
}

type Line = (&'static [u8], fn() -> text::Answer<'static>);

/// The lines that a server has at hand.
const LINES: [Line; 17] = [
    (text_answer::STORED, || text::Answer::Stored),
    (text_answer::NOT_STORED, || text::Answer::NotStored),
    (text_answer::EXISTS, || text::Answer::Exists),
    (text_answer::NOT_FOUND, || text::Answer::NotFound),
    (text_answer::DELETED, || text::Answer::Deleted),
    (text_answer::TOUCHED, || text::Answer::Touched),
    (text_answer::OK, || text::Answer::Ok),
    (text_answer::RESET, || text::Answer::Reset),
    (text_answer::END, || text::Answer::End),
    (text_answer::ERROR, || text::Answer::Error(b"")),
    (text_answer::NON_NUMERIC, || {
        text::Answer::ClientError(b"cannot increment or decrement non-numeric value")
    }),
    (text_answer::TOO_LARGE, || {
        text::Answer::ServerError(b"object too large for cache")
    }),
    (text_answer::NO_MEMORY, || {
        text::Answer::ServerError(b"out of memory storing object")
    }),
    (text_answer::SHUTDOWN_OFF, || {
        text::Answer::ServerError(b"shutdown not enabled")
    }),
    (text_answer::SHUTDOWN_MODE, || {
        text::Answer::ClientError(b"invalid shutdown mode")
    }),
    (text_answer::FLUSH_OFF, || {
        text::Answer::ClientError(b"flush_all not allowed")
    }),
    (text_answer::AUTH_FAILED, || {
        text::Answer::ClientError(b"authentication failure")
    }),
];

/// Appends an answer to a meta command, and returns what it is; nothing where the command has too
/// many flags.
fn meta(numbers: &mut Numbers, out: &mut Vec<u8>) -> Option<String> {
    let key = key(numbers);
    if numbers.below(8) == 0 {
        return Some(debug(numbers, out));
    }
    let plan = Plan::generated(numbers);
    let mut sent = Vec::new();
    match meta::ask::delete(&mut sent, &key, &plan.flags()) {
        Ok(()) => {}
        Err(Error::TooManyFlags) => return None,
        Err(error) => panic!("{error}"),
    }
    let mut decoder = Decoder::new(Limits::default());
    let Step::Request {
        request: Request::Meta(request),
        ..
    } = decoder.step(&sent)
    else {
        panic!("{}", sent.escape_ascii());
    };
    let item = request.item().expect("a command about an item");
    Some(match numbers.below(4) {
        0 => found(numbers, out, item, &plan, &key),
        1 => stored(numbers, out, item, &plan, &key),
        2 => counted(numbers, out, item, &plan, &key),
        _ => {
            let status = status(numbers);
            meta_answer::bare(out, status, item);
            let facts = Facts::default();
            let item = item_answer(status, None, facts, &plan);
            with_key(&item, &plan, &key, !is_plain(&key))
        }
    })
}

fn debug(numbers: &mut Numbers, out: &mut Vec<u8>) -> String {
    let key = numbers.plain_key();
    let mut sent = Vec::new();
    meta::ask::debug(&mut sent, &key).expect("a key");
    let mut decoder = Decoder::new(Limits::default());
    let Step::Request {
        request: Request::Meta(meta::Request::Debug { key: asked }),
        ..
    } = decoder.step(&sent)
    else {
        panic!("{}", sent.escape_ascii());
    };
    meta_answer::debug(out, asked, false, &[("exp", "-1"), ("la", "7")]);
    described_debug(&key, &[b"exp=-1", b"la=7"])
}

fn status(numbers: &mut Numbers) -> Status {
    numbers.pick(&[
        Status::Done,
        Status::Miss,
        Status::NotFound,
        Status::NotStored,
        Status::Exists,
    ])
}

/// An answer with the facts of an item and the opaque of the request.
fn item_answer<'a>(
    status: Status,
    value: Option<&'a [u8]>,
    facts: Facts<'a>,
    plan: &'a Plan,
) -> ItemAnswer<'a> {
    let opaque = plan.opaque.as_deref();
    ItemAnswer {
        status,
        value,
        facts: Facts { opaque, ..facts },
    }
}

/// The same as words, with the key where the request asks for it.
fn with_key(item: &ItemAnswer<'_>, plan: &Plan, key: &[u8], is_base64: bool) -> String {
    let is_asked = plan.plain.contains(&b'k');
    described_item(item, is_asked.then_some(key), is_asked && is_base64)
}

fn ttl(ttl_s: Option<u32>) -> Ttl {
    ttl_s.map_or(Ttl::Endless, Ttl::Seconds)
}

fn found(
    numbers: &mut Numbers,
    out: &mut Vec<u8>,
    item: &Item<'_>,
    plan: &Plan,
    key: &[u8],
) -> String {
    let value = numbers.bytes(40);
    let is_short = key.len() <= 186;
    let found = Found {
        value: &value,
        with_value: numbers.coin(),
        is_key_base64: !is_plain(key) || is_short && numbers.coin(),
        client_flags: numbers.wide() as u32,
        cas: numbers.wide(),
        ttl_s: numbers.maybe(|numbers| numbers.wide() as u32),
        idle_s: numbers.wide() as u32,
        is_fetched: numbers.coin(),
        is_token_sent: numbers.coin(),
        is_stale: numbers.coin(),
        is_winner: numbers.coin(),
    };
    meta_answer::found(out, item, &found);
    let asks = |letter| plan.plain.contains(&letter);
    let facts = Facts {
        cas: asks(b'c').then_some(found.cas),
        client_flags: asks(b'f').then_some(found.client_flags),
        is_fetched: asks(b'h').then_some(found.is_fetched),
        idle_s: asks(b'l').then_some(found.idle_s),
        size_bytes: asks(b's').then_some(value.len() as u64),
        ttl: asks(b't').then_some(ttl(found.ttl_s)),
        is_winner: found.is_winner,
        is_stale: found.is_stale,
        is_token_sent: found.is_token_sent,
        ..Facts::default()
    };
    let value = found.with_value.then_some(found.value);
    let item = item_answer(Status::Done, value, facts, plan);
    with_key(&item, plan, key, found.is_key_base64)
}

fn stored(
    numbers: &mut Numbers,
    out: &mut Vec<u8>,
    item: &Item<'_>,
    plan: &Plan,
    key: &[u8],
) -> String {
    let status = status(numbers);
    let (cas, size_bytes) = (numbers.wide(), numbers.below(1000));
    meta_answer::stored(out, status, item, Stored { cas, size_bytes });
    let facts = Facts {
        cas: plan.plain.contains(&b'c').then_some(cas),
        size_bytes: plan.plain.contains(&b's').then_some(size_bytes as u64),
        ..Facts::default()
    };
    let item = item_answer(status, None, facts, plan);
    with_key(&item, plan, key, !is_plain(key))
}

fn counted(
    numbers: &mut Numbers,
    out: &mut Vec<u8>,
    item: &Item<'_>,
    plan: &Plan,
    key: &[u8],
) -> String {
    let counted = Counted {
        value: numbers.wide(),
        cas: numbers.wide(),
        ttl_s: numbers.maybe(|numbers| numbers.wide() as u32),
    };
    meta_answer::counted(out, item, counted);
    let facts = Facts {
        cas: plan.plain.contains(&b'c').then_some(counted.cas),
        ttl: plan.plain.contains(&b't').then_some(ttl(counted.ttl_s)),
        ..Facts::default()
    };
    let digits = counted.value.to_string();
    let value = plan.plain.contains(&b'v').then_some(digits.as_bytes());
    let item = item_answer(Status::Done, value, facts, plan);
    with_key(&item, plan, key, !is_plain(key))
}

/// An answer of this opcode with nothing but its header.
fn bare(opcode: u8, opaque: [u8; 4]) -> binary::Answer<'static> {
    binary::Answer {
        header: Header { opcode, opaque },
        outcome: Outcome::Done,
        cas: 0,
        flags: 0,
        key: b"",
        value: b"",
    }
}

/// Appends an answer to a binary request, and returns what it is.
fn binary(numbers: &mut Numbers, out: &mut Vec<u8>) -> String {
    use binary::answer;
    let (key, data) = (numbers.any_key(), numbers.bytes(40));
    let (cas, flags, number) = (numbers.wide(), numbers.wide() as u32, numbers.wide());
    let digits = number.to_be_bytes();
    let (key, value) = (key.as_slice(), data.as_slice());
    let of = |opcode| bare(opcode, flags.to_le_bytes());
    let written = match numbers.below(8) {
        0 => binary::Answer { cas, ..of(0x01) },
        1 => binary::Answer { value, ..of(0x0b) },
        2 => binary::Answer {
            cas,
            flags,
            key,
            value,
            ..of(0x24)
        },
        3 => binary::Answer {
            outcome: Outcome::Failed(binary::Status::NotFound),
            key,
            ..of(0x0c)
        },
        4 => binary::Answer {
            cas,
            flags,
            ..of(0x1c)
        },
        5 => binary::Answer {
            cas,
            value: &digits,
            ..of(0x15)
        },
        6 => binary::Answer {
            key,
            value,
            ..of(0x10)
        },
        _ => return refused(numbers, out, value, of(0x21)),
    };
    let header = &written.header;
    match header.opcode {
        0x01 => answer::done(out, header, cas),
        0x0b => answer::text(out, header, value),
        0x24 => answer::value(out, header, key, flags, value, cas),
        0x0c => answer::miss_of(out, header, key),
        0x1c => answer::touched(out, header, flags, cas),
        0x15 => answer::count(out, header, number, cas),
        _ => answer::stat(out, header, key, value),
    }
    format!("{:?}", Answer::Binary(written))
}

fn refused<'a>(
    numbers: &mut Numbers,
    out: &mut Vec<u8>,
    value: &'a [u8],
    bare: binary::Answer<'a>,
) -> String {
    use binary::Status;
    let header = &bare.header;
    if numbers.coin() {
        binary::answer::challenge(out, header, value);
        let outcome = Outcome::Continue;
        let answer = binary::Answer {
            outcome,
            value,
            ..bare
        };
        return format!("{:?}", Answer::Binary(answer));
    }
    let (status, value) = numbers.pick(&[
        (Status::NotFound, "Not found"),
        (Status::Exists, "Data exists for key."),
        (Status::TooLarge, "Too large."),
        (Status::InvalidArguments, "Invalid arguments"),
        (Status::NotStored, "Not stored."),
        (
            Status::NonNumeric,
            "Non-numeric server-side value for incr or decr",
        ),
        (Status::AuthFailure, "Auth failure."),
        (Status::UnknownCommand, "Unknown command"),
        (Status::OutOfMemory, "Out of memory"),
    ]);
    binary::answer::error(out, header, status);
    let answer = binary::Answer {
        outcome: Outcome::Failed(status),
        value: value.as_bytes(),
        ..bare
    };
    format!("{:?}", Answer::Binary(answer))
}

#[test]
fn a_client_reads_what_a_server_answers() {
    let mut count = 0;
    for seed in 1..=STREAMS {
        let mut numbers = Numbers::of(seed);
        let protocol = numbers.pick(&[Protocol::Text, Protocol::Text, Protocol::Binary]);
        let (mut sent, mut written) = (Vec::new(), Vec::new());
        for _ in 0..ANSWERS {
            written.extend(match protocol {
                Protocol::Binary => Some(binary(&mut numbers, &mut sent)),
                Protocol::Text if numbers.coin() => Some(text(&mut numbers, &mut sent)),
                Protocol::Text => meta(&mut numbers, &mut sent),
            });
        }
        for most in [sent.len(), 1, 7, 60] {
            let is_whole = most == sent.len();
            let next = || {
                if is_whole {
                    most
                } else {
                    1 + numbers.below(most)
                }
            };
            let (read, end) = read_by(protocol, AnswerLimits::default(), &sent, next);
            assert_eq!(end, Ok(sent.len()), "{}", sent.escape_ascii());
            assert_eq!(read.len(), written.len());
            for (read, written) in read.iter().zip(&written) {
                assert_eq!(&described(read), written);
            }
        }
        count += written.len();
    }
    assert!(count > 15_000, "{count} answers");
}

#[test]
fn a_noop_is_answered() {
    let (read, end) = read_by(
        Protocol::Text,
        AnswerLimits::default(),
        meta_answer::NOOP,
        || 4,
    );
    assert_eq!((read, end), (vec![Answer::Meta(meta::Answer::Noop)], Ok(4)));
}

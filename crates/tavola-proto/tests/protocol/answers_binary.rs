//! Answers to binary requests, as literal bytes that memcached 1.6.45 sends.

use crate::answers::{found, refused};
use tavola_proto::binary::{Answer, Header, Outcome, Status};
use tavola_proto::{Answer as Any, AnswerDecoder, AnswerLimits, AnswerStep, Error, Protocol};

const LIMITS: AnswerLimits = AnswerLimits {
    value_bytes: 100,
    line_bytes: 200,
};

/// An answer with nothing but its header.
fn bare(opcode: u8, outcome: Outcome) -> Answer<'static> {
    Answer {
        header: Header {
            opcode,
            opaque: [0xde, 0xad, 0xbe, 0xef],
        },
        outcome,
        cas: 0,
        flags: 0,
        key: b"",
        value: b"",
    }
}

fn check(received: &[u8], expected: Answer<'_>) {
    found(Protocol::Binary, LIMITS, received, |answers| {
        assert_eq!(answers, [Any::Binary(expected)]);
    });
}

#[test]
fn items_have_flags_and_perhaps_their_key() {
    let found = Answer {
        cas: 0x1a,
        flags: 5,
        value: b"val",
        ..bare(0x00, Outcome::Done)
    };
    check(
        b"\x81\0\0\0\x04\0\0\0\0\0\0\x07\xde\xad\xbe\xef\0\0\0\0\0\0\0\x1a\0\0\0\x05val",
        found,
    );
    check(
        b"\x81\x23\0\x02\x04\0\0\0\0\0\0\x09\xde\xad\xbe\xef\0\0\0\0\0\0\0\x1a\0\0\0\x05bkval",
        Answer {
            key: b"bk",
            ..found_by(0x23, found)
        },
    );
    check(
        b"\x81\x1c\0\0\x04\0\0\0\0\0\0\x04\xde\xad\xbe\xef\0\0\0\0\0\0\0\x1a\0\0\0\x05",
        Answer {
            value: b"",
            ..found_by(0x1c, found)
        },
    );
}

/// The same, found by another opcode.
fn found_by(opcode: u8, found: Answer<'_>) -> Answer<'_> {
    Answer {
        header: Header {
            opcode,
            ..found.header
        },
        ..found
    }
}

#[test]
fn misses_have_a_text_or_the_key() {
    check(
        b"\x81\0\0\0\0\0\0\x01\0\0\0\x09\xde\xad\xbe\xef\0\0\0\0\0\0\0\0Not found",
        Answer {
            value: b"Not found",
            ..bare(0x00, Outcome::Failed(Status::NotFound))
        },
    );
    check(
        b"\x81\x0c\0\x02\0\0\0\x01\0\0\0\x02\xde\xad\xbe\xef\0\0\0\0\0\0\0\0nk",
        Answer {
            key: b"nk",
            ..bare(0x0c, Outcome::Failed(Status::NotFound))
        },
    );
}

#[test]
fn counts_are_numbers_where_they_succeed() {
    let received = b"\x81\x05\0\0\0\0\0\0\0\0\0\x08\xde\xad\xbe\xef\0\0\0\0\0\0\0\x1c\
        \0\0\0\0\0\0\x01\x08";
    found(Protocol::Binary, LIMITS, received, |answers| {
        let [Any::Binary(answer)] = answers else {
            panic!("{answers:?}");
        };
        assert_eq!((answer.count(), answer.cas), (Some(264), 0x1c));
    });
    let received = b"\x81\x05\0\0\0\0\0\x06\0\0\0\x2e\xde\xad\xbe\xef\0\0\0\0\0\0\0\0\
        Non-numeric server-side value for incr or decr";
    found(Protocol::Binary, LIMITS, received, |answers| {
        let [Any::Binary(answer)] = answers else {
            panic!("{answers:?}");
        };
        assert_eq!(answer.count(), None);
        assert_eq!(answer.outcome, Outcome::Failed(Status::NonNumeric));
    });
}

#[test]
fn figures_come_one_by_one_until_one_without_a_name() {
    let received = b"\x81\x10\0\x0c\0\0\0\0\0\0\0\x14\xde\xad\xbe\xef\0\0\0\0\0\0\0\0\
        sizes_statusdisabled\
        \x81\x10\0\0\0\0\0\0\0\0\0\0\xde\xad\xbe\xef\0\0\0\0\0\0\0\0";
    let figure = Answer {
        key: b"sizes_status",
        value: b"disabled",
        ..bare(0x10, Outcome::Done)
    };
    let end = bare(0x10, Outcome::Done);
    found(Protocol::Binary, LIMITS, received, |answers| {
        assert_eq!(answers, [Any::Binary(figure), Any::Binary(end)]);
        assert!(!answers[0].is_last() && answers[1].is_last());
    });
}

#[test]
fn statuses_are_named_where_memcached_has_them() {
    for (status, outcome) in [
        (0x02, Outcome::Failed(Status::Exists)),
        (0x03, Outcome::Failed(Status::TooLarge)),
        (0x04, Outcome::Failed(Status::InvalidArguments)),
        (0x05, Outcome::Failed(Status::NotStored)),
        (0x20, Outcome::Failed(Status::AuthFailure)),
        (0x21, Outcome::Continue),
        (0x81, Outcome::Failed(Status::UnknownCommand)),
        (0x82, Outcome::Failed(Status::OutOfMemory)),
        (0x86, Outcome::Other(0x86)),
    ] {
        let mut received = *b"\x81\x21\0\0\0\0\0\0\0\0\0\0\xde\xad\xbe\xef\0\0\0\0\0\0\0\0";
        received[7] = status;
        check(&received, bare(0x21, outcome));
    }
}

#[test]
fn what_is_no_answer_is_an_error() {
    for (received, error) in [
        (
            &b"ERROR Too many open connections\r\n"[..],
            Error::NotAnAnswer,
        ),
        (b"\x80", Error::NotAnAnswer),
        // A key longer than the body.
        (
            b"\x81\0\0\x02\0\0\0\x01\0\0\0\x01\0\0\0\0\0\0\0\0\0\0\0\0",
            Error::NotAnAnswer,
        ),
        // An item without flags, and a count that is none.
        (
            b"\x81\0\0\0\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0\0\0\0\0\0",
            Error::NotAnAnswer,
        ),
        (
            b"\x81\x05\0\0\0\0\0\0\0\0\0\x07\0\0\0\0\0\0\0\0\0\0\0\0",
            Error::NotAnAnswer,
        ),
        (
            b"\x81\0\0\0\x04\0\0\0\xff\xff\xff\xff\0\0\0\0\0\0\0\0\0\0\0\0",
            Error::LargeAnswer,
        ),
        (
            b"\x81\x10\xff\xff\0\0\0\0\0\0\xff\xff\0\0\0\0\0\0\0\0\0\0\0\0",
            Error::LongAnswerLine,
        ),
    ] {
        let found = refused(Protocol::Binary, LIMITS, received);
        assert_eq!(found, error, "{}", received.escape_ascii());
    }
}

#[test]
fn what_is_needed_is_known_from_the_header() {
    let mut decoder = AnswerDecoder::of(Protocol::Binary, LIMITS);
    let more = |needed| Ok(AnswerStep::More { needed });
    assert_eq!(decoder.step(b""), more(1));
    assert_eq!(decoder.step(b"\x81"), more(24));
    let header = b"\x81\0\0\0\x04\0\0\0\0\0\0\x07\0\0\0\0\0\0\0\0\0\0\0\0";
    assert_eq!(decoder.step(header), more(31));
    assert_eq!(decoder.step(&header[..5]), more(31));
}

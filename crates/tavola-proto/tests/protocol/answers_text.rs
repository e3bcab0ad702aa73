//! Answers to classic commands, as literal bytes that memcached 1.6.45 and 1.6.18 send.

use crate::answers::{found, refused};
use tavola_proto::text::{Answer, Value};
use tavola_proto::{Answer as Any, AnswerLimits, Error, KeyRoom, Protocol};

/// Reads all of `received` however it is split, and compares.
fn check(received: &[u8], expected: &[Answer<'_>]) {
    let expected: Vec<_> = expected.iter().cloned().map(Any::Text).collect();
    found(
        Protocol::Text,
        AnswerLimits::default(),
        received,
        |answers| {
            assert_eq!(answers, expected, "in {}", received.escape_ascii());
        },
    );
}

fn value<'a>(key: &'a [u8], flags: u32, data: &'a [u8], cas: Option<u64>) -> Answer<'a> {
    Answer::Value(Value {
        key,
        flags,
        data,
        cas,
    })
}

#[test]
fn values_come_one_by_one_until_their_end() {
    check(
        b"VALUE a 7 5\r\nhello\r\nVALUE noreply 0 1\r\nx\r\nEND\r\n",
        &[
            value(b"a", 7, b"hello", None),
            value(b"noreply", 0, b"x", None),
            Answer::End,
        ],
    );
    check(
        b"VALUE a 4294967295 0 18446744073709551615\r\n\r\nEND\r\n",
        &[value(b"a", u32::MAX, b"", Some(u64::MAX)), Answer::End],
    );
    // A value may look like answers.
    check(
        b"VALUE END 0 15 2\r\nx\r\nEND\r\nVALUE\r\n\r\nEND\r\n",
        &[
            value(b"END", 0, b"x\r\nEND\r\nVALUE\r\n", Some(2)),
            Answer::End,
        ],
    );
}

#[test]
fn one_word_answers_are_distinguished() {
    check(
        b"STORED\r\nNOT_STORED\r\nEXISTS\r\nNOT_FOUND\r\nDELETED\r\nTOUCHED\r\nOK\r\nRESET\r\n",
        &[
            Answer::Stored,
            Answer::NotStored,
            Answer::Exists,
            Answer::NotFound,
            Answer::Deleted,
            Answer::Touched,
            Answer::Ok,
            Answer::Reset,
        ],
    );
    check(
        b"15\r\n0\r\n18446744073709551615\r\n",
        &[Answer::Count(15), Answer::Count(0), Answer::Count(u64::MAX)],
    );
    check(b"VERSION 1.6.45\r\n", &[Answer::Version(b"1.6.45")]);
}

#[test]
fn refusals_have_a_text() {
    check(
        b"ERROR\r\nERROR Too many open connections\r\nERROR: shutdown not enabled\r\n",
        &[
            Answer::Error(b""),
            Answer::Error(b"Too many open connections"),
            Answer::Error(b"shutdown not enabled"),
        ],
    );
    check(
        b"CLIENT_ERROR bad data chunk\r\nSERVER_ERROR out of memory storing object\r\n\
          SERVER_ERROR: shutdown not enabled\r\n",
        &[
            Answer::ClientError(b"bad data chunk"),
            Answer::ServerError(b"out of memory storing object"),
            Answer::ServerError(b"shutdown not enabled"),
        ],
    );
    for line in [
        &b"MEMLIMIT_TOO_SMALL cannot set maxbytes to less than 8m"[..],
        b"BADCLASS invalid class id",
        b"NOSPARE source class has no spare pages",
        b"SAME src and dst class are identical",
        b"BUSY currently processing crawler request",
    ] {
        check(&[line, b"\r\n"].concat(), &[Answer::Unable(line)]);
    }
}

#[test]
fn figures_come_line_by_line() {
    check(
        b"STAT 11:addr unix:/run/m\r\nSTAT 12:addr ?:<AF 0>\r\nSTAT none \r\nEND\r\n",
        &[
            Answer::Stat {
                name: b"11:addr",
                value: b"unix:/run/m",
            },
            Answer::Stat {
                name: b"12:addr",
                value: b"?:<AF 0>",
            },
            Answer::Stat {
                name: b"none",
                value: b"",
            },
            Answer::End,
        ],
    );
    check(
        b"PREFIX p get 1 hit 0 set 0 del 0\r\nITEM a [5 b; 1795459294 s]\r\nEND\r\n",
        &[
            Answer::Prefix(b"p get 1 hit 0 set 0 del 0"),
            Answer::Dumped {
                key: b"a",
                size_bytes: 5,
                expires: 1_795_459_294,
            },
            Answer::End,
        ],
    );
}

#[test]
fn lines_of_the_crawler_and_of_watch_end_without_a_carriage_return() {
    let crawled = &b"key=a%012 exp=-1 la=1795459101 cas=11 fetch=yes cls=1 size=64"[..];
    let newer = [crawled, b" flags=0 "].concat();
    check(
        &[b"OK\r\n", crawled, b"\n", &newer, b"\nEND\r\n"].concat(),
        &[
            Answer::Ok,
            Answer::Crawled(crawled),
            Answer::Crawled(&newer),
            Answer::End,
        ],
    );
    let event = &b"ts=1795459112.241496 gid=8 type=deleted key=w cmd=delete clsid=1 size=1"[..];
    check(&[event, b"\n"].concat(), &[Answer::Event(event)]);
}

#[test]
fn dumped_keys_may_be_base64() {
    found(
        Protocol::Text,
        AnswerLimits::default(),
        b"mg n\r\nmg YQEy b\r\n",
        |answers| {
            let keys = answers.iter().map(|answer| match answer {
                Any::Text(Answer::Key(key)) => key.bytes(&mut KeyRoom::default()).to_vec(),
                other => panic!("{other:?}"),
            });
            assert_eq!(keys.collect::<Vec<_>>(), [&b"n"[..], b"a\x012"]);
        },
    );
}

#[test]
fn answers_say_whether_more_follow() {
    for (received, is_last) in [
        (&b"VALUE a 0 1\r\nx\r\n"[..], false),
        (b"STAT a 0\r\n", false),
        (b"ITEM a [1 b; 0 s]\r\n", false),
        (b"PREFIX p get 1\r\n", false),
        (b"key=a\n", false),
        (b"mg a\r\n", false),
        (b"ts=1\n", false),
        (b"END\r\n", true),
        (b"STORED\r\n", true),
        (b"5\r\n", true),
        (b"ERROR\r\n", true),
        (b"SERVER_ERROR out of memory writing get response\r\n", true),
    ] {
        found(Protocol::Text, AnswerLimits::default(), received, |found| {
            assert_eq!(found[0].is_last(), is_last, "{}", received.escape_ascii());
        });
    }
}

#[test]
fn what_is_no_answer_is_an_error() {
    for received in [
        &b"\r\n"[..],
        b"\n",
        b"STORED now\r\n",
        b"STOREDX\r\n",
        b"stored\r\n",
        b" END\r\n",
        b"VALUE a 0\r\n",
        b"VALUE a 0 1 2 3\r\nx\r\n",
        b"VALUE a x 1\r\nx\r\n",
        b"VALUE a 0 -1\r\n",
        b"VALUE a 0 1 x\r\nx\r\n",
        b"VALUE a 0 1\r\nxyz",
        b"VALUE a 0 1\r\nx\n\n",
        b"VALUE a 4294967296 1\r\nx\r\n",
        b"15 \r\n",
        b"18446744073709551616\r\n",
        b"-1\r\n",
        b"ITEM a\r\n",
        b"ITEM a [x b; 0 s]\r\n",
        b"ITEM a [1 b; 0 s] more\r\n",
        b"ITEM  [1 b; 0 s]\r\n",
        b"mg\r\n",
        b"mg YQ b\r\n",
        b"mg a c\r\n",
        b"HTTP/1.1 400 Bad Request\r\n",
        b"\x81\0\0\0\n",
    ] {
        let error = refused(Protocol::Text, AnswerLimits::default(), received);
        assert_eq!(error, Error::NotAnAnswer, "{}", received.escape_ascii());
    }
}

#[test]
fn lines_and_values_have_limits() {
    let limits = AnswerLimits {
        value_bytes: 4,
        line_bytes: 24,
    };
    for (received, error) in [
        (&b"VALUE a 0 5\r\n"[..], Error::LargeAnswer),
        (b"VALUE a 0 99999999999\r\n", Error::LargeAnswer),
        (b"STAT abcdefghijklmnopqrst", Error::LongAnswerLine),
        (b"STAT abcdefghijklmnopqrs\r\n", Error::LongAnswerLine),
    ] {
        let found = refused(Protocol::Text, limits, received);
        assert_eq!(found, error, "{}", received.escape_ascii());
    }
    found(
        Protocol::Text,
        limits,
        b"VALUE a 0 4\r\nabcd\r\nSTAT abcdefghijklmnopqr\r\n",
        |answers| {
            assert_eq!(answers.len(), 2);
        },
    );
    let endless = AnswerLimits {
        value_bytes: usize::MAX,
        line_bytes: usize::MAX,
    };
    let huge = refused(
        Protocol::Text,
        endless,
        b"VALUE a 0 18446744073709551615\r\n",
    );
    assert_eq!(huge, Error::LargeAnswer);
}

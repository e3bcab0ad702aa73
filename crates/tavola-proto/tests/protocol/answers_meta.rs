//! Answers to meta commands, as literal bytes that memcached 1.6.45 and 1.6.18 send.

use crate::answers::{found, refused};
use tavola_proto::meta::{Answer, Facts, ItemAnswer, Status, Ttl};
use tavola_proto::{Answer as Any, AnswerLimits, Error, KeyRoom, Protocol, text};

const LIMITS: AnswerLimits = AnswerLimits {
    value_bytes: 100,
    line_bytes: 200,
};

/// Calls `check` with the one item of `received`.
fn check_item(received: &[u8], check: impl FnOnce(&ItemAnswer<'_>)) {
    found(Protocol::Text, LIMITS, received, |answers| match answers {
        [Any::Meta(Answer::Item(item))] => check(item),
        other => panic!("{other:?}"),
    });
}

/// Checks what is answered about an item without its key.
fn check(received: &[u8], status: Status, value: Option<&[u8]>, facts: Facts<'_>) {
    let expected = ItemAnswer {
        status,
        value,
        facts,
    };
    check_item(received, |item| assert_eq!(item, &expected));
}

#[test]
fn statuses_are_two_letters() {
    for (received, status) in [
        (&b"HD\r\n"[..], Status::Done),
        (b"EN\r\n", Status::Miss),
        (b"NF\r\n", Status::NotFound),
        (b"NS\r\n", Status::NotStored),
        (b"EX\r\n", Status::Exists),
    ] {
        check(received, status, None, Facts::default());
    }
    found(Protocol::Text, LIMITS, b"MN\r\n", |answers| {
        assert_eq!(answers, [Any::Meta(Answer::Noop)]);
    });
}

#[test]
fn facts_are_letters_with_what_belongs_to_them() {
    let facts = Facts {
        ttl: Some(Ttl::Endless),
        client_flags: Some(0),
        size_bytes: Some(2),
        cas: Some(15),
        idle_s: Some(1),
        is_fetched: Some(false),
        opaque: Some(b"9"),
        ..Facts::default()
    };
    check(
        b"VA 2 t-1 f0 s2 c15 l1 h0 O9\r\nab\r\n",
        Status::Done,
        Some(b"ab"),
        facts,
    );
    let facts = Facts {
        cas: Some(17),
        ttl: Some(Ttl::Seconds(30)),
        is_stale: true,
        is_winner: true,
        ..Facts::default()
    };
    check(
        b"VA 5 c17 t30 X W\r\nhello\r\n",
        Status::Done,
        Some(b"hello"),
        facts,
    );
    let facts = Facts {
        ttl: Some(Ttl::Seconds(30)),
        is_token_sent: true,
        ..Facts::default()
    };
    check(b"VA 0 t30 Z\r\n\r\n", Status::Done, Some(b""), facts);
    let facts = Facts {
        is_fetched: Some(true),
        idle_s: Some(0),
        ..Facts::default()
    };
    check(b"HD l0 h1\r\n", Status::Done, None, facts);
}

#[test]
fn keys_are_returned_as_they_are_or_as_base64() {
    let mut room = KeyRoom::default();
    check_item(b"NF kzz Oq\r\n", |item| {
        let key = item.facts.key.expect("a key");
        assert_eq!(key.bytes(&mut room), b"zz");
        assert_eq!(item.facts.opaque, Some(&b"q"[..]));
        assert_eq!(item.facts.opaque_number(), None);
    });
    let mut room = KeyRoom::default();
    check_item(b"HD kYQEy b c15 O77\r\n", |item| {
        let key = item.facts.key.expect("a key");
        assert!(key.is_base64());
        assert_eq!(key.bytes(&mut room), b"a\x012");
        assert_eq!(item.facts.opaque_number(), Some(77));
    });
}

#[test]
fn flags_of_later_servers_are_passed_over() {
    let facts = Facts {
        size_bytes: Some(2),
        ..Facts::default()
    };
    check(b"HD y5 s2 Y Lx Px\r\n", Status::Done, None, facts);
}

#[test]
fn what_a_person_asks_for_is_words() {
    let received = b"ME YQEy exp=-1 la=7 cas=15 fetch=yes cls=1 size=64\r\nEN\r\n";
    found(Protocol::Text, LIMITS, received, |answers| {
        let Any::Meta(Answer::Debug { key, facts }) = &answers[0] else {
            panic!("{answers:?}");
        };
        assert_eq!(*key, b"YQEy");
        assert_eq!(facts.clone().nth(2), Some(&b"cas=15"[..]));
        assert_eq!(facts.clone().count(), 6);
    });
}

#[test]
fn refusals_are_those_of_text() {
    let received =
        b"CLIENT_ERROR duplicate flag\r\nHD\r\nSERVER_ERROR object too large for cache\r\n";
    found(Protocol::Text, LIMITS, received, |answers| {
        let refused = text::Answer::ClientError(b"duplicate flag");
        assert_eq!(answers[0], Any::Text(refused));
        let refused = text::Answer::ServerError(b"object too large for cache");
        assert_eq!(answers[2], Any::Text(refused));
    });
}

#[test]
fn what_is_no_answer_is_an_error() {
    for received in [
        &b"VA\r\n"[..],
        b"VA x\r\n",
        b"VA -1\r\n",
        b"VA 2 s\r\nab\r\n",
        b"VA 2\r\nabc\r\n",
        b"HD c\r\n",
        b"HD cx\r\n",
        b"HD c18446744073709551616\r\n",
        b"HD t\r\n",
        b"HD t-2\r\n",
        b"HD h\r\n",
        b"HD h2\r\n",
        b"HD f4294967296\r\n",
        b"HD kYQ b\r\n",
        b"HDx\r\n",
        b"ME\r\n",
    ] {
        let error = refused(Protocol::Text, LIMITS, received);
        assert_eq!(error, Error::NotAnAnswer, "{}", received.escape_ascii());
    }
    assert_eq!(
        refused(Protocol::Text, LIMITS, b"VA 101\r\n"),
        Error::LargeAnswer
    );
}

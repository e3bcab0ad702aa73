//! What answers to meta commands return, and what the letters of their flags mean.

use tavola_proto::meta::answer::{self, Counted, Found};
use tavola_proto::meta::{Item, Mode};
use tavola_proto::{Decoder, KeyRoom, Limits, Request, Step, meta};

fn decoded(sent: &[u8], check: impl FnOnce(&meta::Request<'_>)) {
    match Decoder::new(Limits::default()).step(sent) {
        Step::Request {
            request: Request::Meta(request),
            used,
        } => {
            assert_eq!(used, sent.len());
            check(&request);
        }
        other => panic!("{other:?}"),
    }
}

fn written(sent: &[u8], write: impl FnOnce(&mut Vec<u8>, &Item<'_>)) -> Vec<u8> {
    let mut out = Vec::new();
    decoded(sent, |request| {
        write(&mut out, request.item().expect("a command with an item"));
    });
    out
}

const FOUND: Found<'_> = Found {
    value: b"ab",
    with_value: false,
    is_key_base64: false,
    client_flags: 5,
    cas: 18,
    ttl_s: None,
    idle_s: 3,
    is_fetched: true,
    is_token_sent: false,
    is_stale: false,
    is_winner: false,
};

#[test]
fn facts_are_returned_in_the_order_of_the_flags() {
    let found = written(b"mg a s v t f c k Oq h l\r\n", |out, item| {
        let with_value = item.flags.has(b'v');
        answer::found(
            out,
            item,
            &Found {
                with_value,
                ..FOUND
            },
        );
    });
    assert_eq!(found, b"VA 2 s2 t-1 f5 c18 ka Oq h1 l3\r\nab\r\n");
    let found = written(b"mg a O9 t R30 N30 u q\r\n", |out, item| {
        answer::found(
            out,
            item,
            &Found {
                ttl_s: Some(7),
                is_token_sent: true,
                is_stale: true,
                is_winner: true,
                ..FOUND
            },
        );
    });
    assert_eq!(found, b"HD O9 t7 Z X W\r\n");
}

#[test]
fn a_key_is_returned_as_it_was_stored() {
    let found = written(b"mg foo k\r\n", |out, item| {
        answer::found(
            out,
            item,
            &Found {
                is_key_base64: true,
                ..FOUND
            },
        );
    });
    assert_eq!(found, b"HD kZm9v b\r\n");
    let found = written(b"mg Zm9v b k\r\n", |out, item| {
        answer::found(out, item, &FOUND)
    });
    assert_eq!(found, b"HD kfoo\r\n");
    let facts = [("exp", "-1"), ("cls", "1")];
    let mut out = Vec::new();
    decoded(b"me Zm9v b\r\n", |request| {
        let meta::Request::Debug { key } = request else {
            panic!("{request:?}");
        };
        assert_eq!(key.bytes(&mut KeyRoom::default()), b"foo");
        answer::debug(&mut out, *key, true, &facts);
    });
    assert_eq!(out, b"ME Zm9v exp=-1 cls=1\r\n");
}

#[test]
fn a_number_is_returned_if_it_is_asked_for() {
    let counted = Counted {
        value: 7,
        cas: 14,
        ttl_s: None,
    };
    let sent = b"ma a N0 J7 v t c k O1\r\n";
    let found = written(sent, |out, item| answer::counted(out, item, counted));
    assert_eq!(found, b"VA 1 t-1 c14 ka O1\r\n7\r\n");
    let found = written(b"ma a D3 c\r\n", |out, item| {
        answer::counted(out, item, counted)
    });
    assert_eq!(found, b"HD c14\r\n");
}

#[test]
fn quiet_hides_what_says_little() {
    for (sent, hidden, shown) in [
        (&b"mg a q\r\n"[..], meta::Status::Miss, meta::Status::Done),
        (
            b"ms a 0 q\r\n\r\n",
            meta::Status::Done,
            meta::Status::NotStored,
        ),
        (b"md a q\r\n", meta::Status::Done, meta::Status::NotFound),
        (b"ma a q\r\n", meta::Status::Done, meta::Status::NotFound),
    ] {
        decoded(sent, |request| {
            assert!(request.hides(hidden) && !request.hides(shown));
        });
    }
}

#[test]
fn modes_are_letters() {
    for (letter, expected) in [
        ("S", Mode::Set),
        ("E", Mode::Add),
        ("R", Mode::Replace),
        ("A", Mode::Append),
        ("P", Mode::Prepend),
    ] {
        decoded(format!("ms a 1 M{letter}\r\nx\r\n").as_bytes(), |request| {
            let meta::Request::Set { mode, data, .. } = request else {
                panic!("{request:?}");
            };
            assert_eq!((*mode, *data), (expected, &b"x"[..]));
        });
    }
    for (letter, expected) in [("I", false), ("+", false), ("D", true), ("-", true)] {
        decoded(format!("ma a M{letter}\r\n").as_bytes(), |request| {
            let meta::Request::Arithmetic { down, .. } = request else {
                panic!("{request:?}");
            };
            assert_eq!(*down, expected);
        });
    }
}

//! What the meta commands answer to wrong and odd input, byte for byte as memcached 1.6.45 does.

mod empty_server;

use empty_server::{OPEN, Row, play};
use tavola_proto::meta::answer::{self, Counted, Found};
use tavola_proto::meta::{Item, Mode};
use tavola_proto::{Decoder, KeyRoom, Limits, Request, Step, meta};

const OBSERVED: &[Row] = &[
    (b"mn\r\n", b"MN\r\n", OPEN),
    (b"mn x y\r\n", b"MN\r\n", OPEN),
    (b"mg\r\n", b"CLIENT_ERROR bad command line format\r\n", OPEN),
    (b"mg a\r\n", b"EN\r\n", OPEN),
    (b"mg a v v\r\n", b"CLIENT_ERROR duplicate flag\r\n", OPEN),
    (
        b"mg a !\r\n",
        b"CLIENT_ERROR bad command line format\r\n",
        OPEN,
    ),
    (
        b"mg a {\r\n",
        b"CLIENT_ERROR bad command line format\r\n",
        OPEN,
    ),
    (b"mg a 5\r\n", b"CLIENT_ERROR invalid flag\r\n", OPEN),
    (b"mg a g\r\n", b"CLIENT_ERROR invalid flag\r\n", OPEN),
    (
        b"mg a \x80\r\n",
        b"CLIENT_ERROR bad command line format\r\n",
        OPEN,
    ),
    (b"mg a _\r\n", b"CLIENT_ERROR invalid flag\r\n", OPEN),
    (b"mg a S\r\n", b"CLIENT_ERROR invalid flag\r\n", OPEN),
    (
        b"mg a T\r\n",
        b"CLIENT_ERROR bad token in command line format\r\n",
        OPEN,
    ),
    (
        b"mg a Tx\r\n",
        b"CLIENT_ERROR bad token in command line format\r\n",
        OPEN,
    ),
    (b"mg a T-\r\n", b"EN\r\n", OPEN),
    (b"mg a T-1\r\n", b"EN\r\n", OPEN),
    (
        b"mg a N\r\n",
        b"CLIENT_ERROR bad token in command line format\r\n",
        OPEN,
    ),
    (
        b"mg a F\r\n",
        b"CLIENT_ERROR bad command line format\r\n",
        OPEN,
    ),
    (b"mg a Fx v v\r\n", b"CLIENT_ERROR duplicate flag\r\n", OPEN),
    (b"mg a Tx g\r\n", b"CLIENT_ERROR invalid flag\r\n", OPEN),
    (
        b"mg a Fx Tx\r\n",
        b"CLIENT_ERROR bad token in command line format\r\n",
        OPEN,
    ),
    (
        b"mg a q Tx\r\nmn\r\n",
        b"CLIENT_ERROR bad token in command line format\r\nMN\r\n",
        OPEN,
    ),
    (b"mg a q\r\nmn\r\n", b"MN\r\n", OPEN),
    (b"mg a k Oabc q\r\nmn\r\n", b"MN\r\n", OPEN),
    (b"mg a k Oabc\r\n", b"EN ka Oabc\r\n", OPEN),
    (b"mg a Oabc k\r\n", b"EN Oabc ka\r\n", OPEN),
    (b"mg a O\r\n", b"EN O\r\n", OPEN),
    (b"mg a MX\r\n", b"EN\r\n", OPEN),
    (
        b"mg a Jx\r\n",
        b"CLIENT_ERROR invalid numeric initial value\r\n",
        OPEN,
    ),
    (
        b"mg a D\r\n",
        b"CLIENT_ERROR invalid numeric delta value\r\n",
        OPEN,
    ),
    (
        b"mg a Oxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\r\n",
        b"EN Oxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\r\n",
        OPEN,
    ),
    (
        b"mg a Oxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\r\n",
        b"CLIENT_ERROR opaque token too long\r\n",
        OPEN,
    ),
    (
        b"mg a q Oxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\r\n",
        b"CLIENT_ERROR opaque token too long\r\n",
        OPEN,
    ),
    (
        b"mg a v v v v v v v v v v v v v v v v v v \r\n",
        b"CLIENT_ERROR duplicate flag\r\n",
        OPEN,
    ),
    (
        b"mg a v v v v v v v v v v v v v v v v v v v \r\n",
        b"CLIENT_ERROR options flags are too long\r\n",
        OPEN,
    ),
    (
        b"mg a v v v v v v v v v v v v v v v v v v ! \r\n",
        b"CLIENT_ERROR bad command line format\r\n",
        OPEN,
    ),
    (b"mg a s t c f l h u x I L P v\r\n", b"EN\r\n", OPEN),
    (b"mg Zm9v b k\r\n", b"EN kZm9v b\r\n", OPEN),
    (b"mg Zm9v k b\r\n", b"EN kZm9v b\r\n", OPEN),
    (
        b"mg Zm9 b k\r\n",
        b"CLIENT_ERROR error decoding key\r\n",
        OPEN,
    ),
    (b"mg Z!m9v b k\r\n", b"EN kZm9v b\r\n", OPEN),
    (b"mg Zg==Zg== b k\r\n", b"EN kZg== b\r\n", OPEN),
    (b"mg Z=g= b k\r\n", b"EN kZA== b\r\n", OPEN),
    (
        b"mg ==== b k\r\n",
        b"CLIENT_ERROR error decoding key\r\n",
        OPEN,
    ),
    (b"mg Zh== b k\r\n", b"EN kZg== b\r\n", OPEN),
    (
        b"mg A=== b k\r\n",
        b"CLIENT_ERROR error decoding key\r\n",
        OPEN,
    ),
    (
        b"mg Zm9 b Tx\r\n",
        b"CLIENT_ERROR bad token in command line format\r\n",
        OPEN,
    ),
    (b"ms\r\n", b"CLIENT_ERROR bad command line format\r\n", OPEN),
    (
        b"ms a\r\n",
        b"CLIENT_ERROR bad command line format\r\n",
        OPEN,
    ),
    (
        b"ms a x\r\nmn\r\n",
        b"CLIENT_ERROR bad command line format\r\nMN\r\n",
        OPEN,
    ),
    (
        b"ms a -1\r\nmn\r\n",
        b"CLIENT_ERROR bad command line format\r\nMN\r\n",
        OPEN,
    ),
    (b"ms a 2\r\nab\r\nmn\r\n", b"HD\r\nMN\r\n", OPEN),
    (b"ms a 2 q\r\nab\r\nmn\r\n", b"MN\r\n", OPEN),
    (
        b"ms a 2 !\r\nab\r\nmn\r\n",
        b"CLIENT_ERROR bad command line format\r\nERROR\r\nMN\r\n",
        OPEN,
    ),
    (
        b"ms a 2 g\r\nab\r\nmn\r\n",
        b"CLIENT_ERROR invalid flag\r\nMN\r\n",
        OPEN,
    ),
    (
        b"ms a 2 q\r\nabc\r\nmn\r\n",
        b"CLIENT_ERROR bad data chunk\r\nCLIENT_ERROR bad command line format\r\nMN\r\n",
        OPEN,
    ),
    (
        b"ms a 2 k O1\r\nabc\r\nmn\r\n",
        b"CLIENT_ERROR bad data chunk\r\nCLIENT_ERROR bad command line format\r\nMN\r\n",
        OPEN,
    ),
    (
        b"ms a 2 M\r\nab\r\nmn\r\n",
        b"CLIENT_ERROR invalid mode for ms M token\r\nMN\r\n",
        OPEN,
    ),
    (
        b"ms a 2 MX\r\nab\r\nmn\r\n",
        b"CLIENT_ERROR invalid mode for ms M token\r\nMN\r\n",
        OPEN,
    ),
    (
        b"ms a 2 Me\r\nab\r\nmn\r\n",
        b"CLIENT_ERROR invalid mode for ms M token\r\nMN\r\n",
        OPEN,
    ),
    (b"ms a 2 ME\r\nab\r\nmn\r\n", b"HD\r\nMN\r\n", OPEN),
    (b"ms a 2 MSET q\r\nab\r\nmn\r\n", b"MN\r\n", OPEN),
    (b"ms a 2 MR k O1\r\nab\r\n", b"NS ka O1\r\n", OPEN),
    (b"ms a 2 MA k\r\nab\r\n", b"NS ka\r\n", OPEN),
    (b"ms a 2 MP k\r\nab\r\n", b"NS ka\r\n", OPEN),
    (
        b"ms a 2 S100\r\nab\r\nmn\r\n",
        b"CLIENT_ERROR invalid flag\r\nMN\r\n",
        OPEN,
    ),
    (
        b"ms a 2 T0 F5 I k Oxy s\r\nab\r\nmn\r\n",
        b"HD ka Oxy s2\r\nMN\r\n",
        OPEN,
    ),
    (
        b"ms Zm9v 2 b k s Oq\r\nab\r\n",
        b"HD kZm9v b s2 Oq\r\n",
        OPEN,
    ),
    (
        b"ms a 2 b\r\nab\r\nmn\r\n",
        b"CLIENT_ERROR error decoding key\r\nMN\r\n",
        OPEN,
    ),
    (
        b"ms a 2 Oxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx q\r\nab\r\nmn\r\n",
        b"CLIENT_ERROR opaque token too long\r\nMN\r\n",
        OPEN,
    ),
    (b"ms a 2 C1\r\nab\r\nmn\r\n", b"NF\r\nMN\r\n", OPEN),
    (
        b"ms a S2\r\nab\r\nmn\r\n",
        b"CLIENT_ERROR bad command line format\r\nERROR\r\nMN\r\n",
        OPEN,
    ),
    (
        b"ms a 2 C5 k O1 s\r\nab\r\nmn\r\n",
        b"NF ka O1 s2\r\nMN\r\n",
        OPEN,
    ),
    (
        b"ms a 2 T\r\nab\r\nmn\r\n",
        b"CLIENT_ERROR bad token in command line format\r\nMN\r\n",
        OPEN,
    ),
    (
        b"ms a 2 F-1\r\nab\r\nmn\r\n",
        b"CLIENT_ERROR bad command line format\r\nMN\r\n",
        OPEN,
    ),
    (
        b"ms a 2 F4294967296\r\nab\r\nmn\r\n",
        b"CLIENT_ERROR bad command line format\r\nMN\r\n",
        OPEN,
    ),
    (
        b"ms a 2 E77 q\nab\r\nmn\n\n\n",
        b"CLIENT_ERROR bad command line format\r\n\
          CLIENT_ERROR bad command line format\r\nCLIENT_ERROR bad command line format\r\n",
        OPEN,
    ),
    (b"md\r\n", b"CLIENT_ERROR bad command line format\r\n", OPEN),
    (b"md a\r\n", b"NF\r\n", OPEN),
    (b"md a q\r\nmn\r\n", b"NF\r\nMN\r\n", OPEN),
    (b"md a q k O1\r\n", b"NF ka O1\r\n", OPEN),
    (
        b"md a Tx\r\n",
        b"CLIENT_ERROR bad token in command line format\r\n",
        OPEN,
    ),
    (b"md a g q\r\n", b"CLIENT_ERROR invalid flag\r\n", OPEN),
    (b"md a MX\r\n", b"NF\r\n", OPEN),
    (
        b"md a Oxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\r\n",
        b"CLIENT_ERROR opaque token too long\r\n",
        OPEN,
    ),
    (b"ma\r\n", b"CLIENT_ERROR bad command line format\r\n", OPEN),
    (b"ma a\r\n", b"NF\r\n", OPEN),
    (b"ma a q\r\n", b"NF\r\n", OPEN),
    (
        b"ma a MX\r\n",
        b"CLIENT_ERROR invalid mode for ma M token\r\n",
        OPEN,
    ),
    (
        b"ma a M\r\n",
        b"CLIENT_ERROR invalid mode for ma M token\r\n",
        OPEN,
    ),
    (
        b"ma a Mi\r\n",
        b"CLIENT_ERROR invalid mode for ma M token\r\n",
        OPEN,
    ),
    (
        b"ma a Md\r\n",
        b"CLIENT_ERROR invalid mode for ma M token\r\n",
        OPEN,
    ),
    (b"ma a MI\r\n", b"NF\r\n", OPEN),
    (b"ma a M+\r\n", b"NF\r\n", OPEN),
    (b"ma a M- k O1\r\n", b"NF ka O1\r\n", OPEN),
    (
        b"ma a D\r\n",
        b"CLIENT_ERROR invalid or duplicate flag\r\n",
        OPEN,
    ),
    (
        b"ma a Dx\r\n",
        b"CLIENT_ERROR invalid or duplicate flag\r\n",
        OPEN,
    ),
    (
        b"ma a Jx\r\n",
        b"CLIENT_ERROR invalid or duplicate flag\r\n",
        OPEN,
    ),
    (
        b"ma a g\r\n",
        b"CLIENT_ERROR invalid or duplicate flag\r\n",
        OPEN,
    ),
    (
        b"ma a D1 D2\r\n",
        b"CLIENT_ERROR invalid or duplicate flag\r\n",
        OPEN,
    ),
    (
        b"ma a q D1 D2\r\n",
        b"CLIENT_ERROR invalid or duplicate flag\r\n",
        OPEN,
    ),
    (
        b"ma a Oxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\r\n",
        b"CLIENT_ERROR opaque token too long\r\n",
        OPEN,
    ),
    (
        b"ma a !\r\n",
        b"CLIENT_ERROR bad command line format\r\n",
        OPEN,
    ),
    (b"me\r\n", b"CLIENT_ERROR bad command line format\r\n", OPEN),
    (b"me a\r\n", b"EN\r\n", OPEN),
    (
        b"me Zm9 b x\r\n",
        b"CLIENT_ERROR bad command line format\r\n",
        OPEN,
    ),
    (b"me Zm9 x\r\n", b"EN\r\n", OPEN),
    (
        b"me a !\r\n",
        b"CLIENT_ERROR bad command line format\r\n",
        OPEN,
    ),
    (b"me a v v\r\n", b"EN\r\n", OPEN),
];

#[test]
fn answers_are_those_of_memcached() {
    play(OBSERVED);
}

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
fn what_is_found_is_told_in_the_order_of_the_flags() {
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
fn a_key_is_told_as_it_was_stored() {
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
fn a_number_is_told_where_it_is_asked_for() {
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

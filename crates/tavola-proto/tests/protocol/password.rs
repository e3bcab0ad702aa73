//! Where a password is asked for: what memcached 1.6.45 answers with `-Y`.

use crate::empty_server::{CLOSED, OPEN, Row, ask};
use tavola_proto::{Decoder, Limits, Request, Step, text};

/// The binary protocol is no way around the password.
fn locked() -> Decoder {
    let mut decoder = Decoder::new(Limits::default());
    decoder.set_locked(true);
    decoder
}

const UNAUTHENTICATED: &[u8] = b"CLIENT_ERROR unauthenticated\r\n";

const OBSERVED: &[Row] = &[
    (b"get a\r\n", UNAUTHENTICATED, OPEN),
    (b"version\r\n", UNAUTHENTICATED, OPEN),
    (b"abcde\r\n", UNAUTHENTICATED, OPEN),
    (b"abcdef\n", UNAUTHENTICATED, OPEN),
    (b"set a 0 0 x\r\n", UNAUTHENTICATED, OPEN),
    (b"set a 0 0\r\n", UNAUTHENTICATED, OPEN),
    (b"set a 0 0 -1\r\n", UNAUTHENTICATED, OPEN),
    (b"set a 0 0 3\n", UNAUTHENTICATED, OPEN),
    (b"get\r\n", b"", CLOSED),
    (b"mn\r\n", b"", CLOSED),
    (b"abcd\r\n", b"", CLOSED),
    (b"\x80\x0a\r\n\r\n\r\n\r\n", b"", CLOSED),
    (
        b"set a 0 0 16385\r\n",
        b"CLIENT_ERROR auth token too long\r\n",
        OPEN,
    ),
    (
        b"settle a 0 0 3\r\nabc\r\n",
        b"CLIENT_ERROR bad authentication token format\r\n",
        OPEN,
    ),
    (
        b"set a 0 0 2 noreply\r\nab\r\n",
        b"CLIENT_ERROR bad authentication token format\r\n",
        OPEN,
    ),
    (
        b"set a 0 0 3\r\na b\n\n",
        b"CLIENT_ERROR bad command line termination\r\n",
        OPEN,
    ),
    (
        b"set a 0 0 3\r\na b\r\n",
        b"CLIENT_ERROR authentication failure\r\n",
        OPEN,
    ),
];

#[test]
fn answers_are_those_of_memcached() {
    for (sent, answer, is_closed) in OBSERVED {
        for chunk in [sent.len(), 1] {
            let found = ask(locked(), sent, chunk);
            let shown = sent.escape_ascii();
            assert_eq!(found, (answer.to_vec(), *is_closed), "to {shown}");
        }
    }
    let endless = [b'x'; 2049];
    assert_eq!(ask(locked(), &endless, endless.len()), (Vec::new(), CLOSED));
}

#[test]
fn commands_are_read_once_the_password_is_accepted() {
    let mut decoder = locked();
    let sent = b"set key 1 2 13\r\nada two words\r\nget a\r\n";
    let Step::Request {
        request: Request::Text(text::Request::Authenticate { name, password }),
        used,
    } = decoder.step(sent)
    else {
        panic!("a name and a password");
    };
    assert_eq!((name, password, used), (&b"ada"[..], &b"two words"[..], 31));
    decoder.set_locked(false);
    let Step::Request { request, .. } = decoder.step(&sent[used..]) else {
        panic!("a command");
    };
    assert!(matches!(request, Request::Text(text::Request::Get(_))));
}
